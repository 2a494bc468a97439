#include "kube/kubeconfig.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "process/file.h"

#define ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

/* Indices into owned[]: the strings that `tls` points to. */
enum { OWN_CA_FILE, OWN_CA_PEM, OWN_CERT_FILE, OWN_CERT_PEM, OWN_KEY_FILE, OWN_KEY_PEM, OWN_NAME };

void kubeconfig_destroy(struct kubeconfig *c)
{
	if (c == NULL) {
		return;
	}
	free(c->server);
	free(c->namespace_);
	free(c->token);
	free(c->token_file);
	for (int i = 0; i < KUBECONFIG_OWNED_; i++) {
		free(c->owned[i]);
	}
	free(c);
}

void kubeconfig_destroyp(struct kubeconfig **pc)
{
	kubeconfig_destroy(*pc);
	*pc = NULL;
}

static char *in_dir(const char *dir, const char *path)
{
	if (path[0] == '/' || dir == NULL || dir[0] == '\0') {
		return xmalloc_dup(path);
	}
	return xmalloc_printf("%s/%s", dir, path);
}

/* Finds the entry of `list` ("clusters", ...) with this name; *ret is its `inner` object. */
static int find_named(const struct jdoc *doc, const char *list, const char *inner, const char *name,
		      const struct jdoc **ret, struct err *err)
{
	const struct jdoc *items = jdoc_get(doc, list);

	for (const struct jdoc *i = jdoc_first(items); i != NULL; i = jdoc_next(i)) {
		if (jdoc_is_str(jdoc_get(i, "name"), name)) {
			*ret = jdoc_get(i, inner);
			return 0;
		}
	}
	return err_set(err, ERR_INVALID, "%s: no entry named \"%s\"", list, name);
}

/* A string member; absent and "" give NULL; another kind is an error. */
static int get_str(const struct jdoc *obj, const char *key, const char **ret, struct err *err)
{
	const struct jdoc *d = jdoc_get(obj, key);
	const char *text = jdoc_str(d);

	if (text == NULL && jdoc_kind(d) != JDOC_NULL) {
		return err_set(err, ERR_INVALID, "%s: not a string", key);
	}
	*ret = text == NULL || text[0] == '\0' ? NULL : text;
	return 0;
}

static int refuse(const struct jdoc *obj, const char *key, const char *why, struct err *err)
{
	const struct jdoc *d = jdoc_get(obj, key);

	if (jdoc_kind(d) == JDOC_NULL || jdoc_is_str(d, "")) {
		return 0;
	}
	return err_set(err, ERR_INVALID, "%s: %s", key, why);
}

/* Loads a PEM that is given inline ("KEY-data", base64, takes precedence) or as a path ("KEY"). */
static int load_pem(const struct jdoc *obj, const char *key, const char *dir, char **ret_file,
		    char **ret_pem, struct err *err)
{
	CLEANUP(xmalloc_freep) char *data_key = xmalloc_printf("%s-data", key);
	CLEANUP(strbuf_finish) struct strbuf pem = STRBUF_INIT;
	const char *data, *path;
	int r;

	r = get_str(obj, data_key, &data, err);
	if (r < 0) {
		return r;
	}
	r = get_str(obj, key, &path, err);
	if (r < 0) {
		return r;
	}
	if (data != NULL) {
		r = base64_decode(str_of(data), &pem, err);
		if (r < 0) {
			return err_wrap(err, "%s", data_key);
		}
		*ret_pem = strbuf_steal(&pem, NULL);
	} else if (path != NULL) {
		*ret_file = in_dir(dir, path);
	}
	return 0;
}

static void point_tls(struct kubeconfig *c)
{
	c->tls.ca_file = c->owned[OWN_CA_FILE];
	c->tls.ca_pem = str_of(c->owned[OWN_CA_PEM]);
	c->tls.cert_file = c->owned[OWN_CERT_FILE];
	c->tls.cert_pem = str_of(c->owned[OWN_CERT_PEM]);
	c->tls.key_file = c->owned[OWN_KEY_FILE];
	c->tls.key_pem = str_of(c->owned[OWN_KEY_PEM]);
	c->tls.server_name = c->owned[OWN_NAME];
}

/* "https://host:port/" -> "https://host:port"; only http and https. */
static int set_server(struct kubeconfig *c, const char *url, struct err *err)
{
	struct str s = str_of(url);

	if ((!str_has_prefix(s, "https://") || s.len == 8) &&
	    (!str_has_prefix(s, "http://") || s.len == 7)) {
		return err_set(err, ERR_INVALID, "server: not an http or https URL: \"%s\"", url);
	}
	while (s.len > 0 && s.p[s.len - 1] == '/') {
		s.len--;
	}
	free(c->server);
	c->server = xmalloc_dup_n(s.p, s.len);
	return 0;
}

static int load_cluster(struct kubeconfig *c, const struct jdoc *cluster, const char *dir,
			struct err *err)
{
	const char *server, *name;
	int r;

	r = refuse(cluster, "proxy-url", "proxies are not supported", err);
	if (r < 0) {
		return r;
	}
	r = get_str(cluster, "server", &server, err);
	if (r < 0) {
		return r;
	}
	if (server == NULL) {
		return err_set(err, ERR_INVALID, "server: missing");
	}
	r = set_server(c, server, err);
	if (r < 0) {
		return r;
	}
	r = load_pem(cluster, "certificate-authority", dir, &c->owned[OWN_CA_FILE],
		     &c->owned[OWN_CA_PEM], err);
	if (r < 0) {
		return r;
	}
	r = get_str(cluster, "tls-server-name", &name, err);
	if (r < 0) {
		return r;
	}
	c->owned[OWN_NAME] = name == NULL ? NULL : xmalloc_dup(name);
	c->tls.insecure_skip_verify =
		jdoc_bool(jdoc_get(cluster, "insecure-skip-tls-verify"), false);
	return 0;
}

static int load_tokens(struct kubeconfig *c, const struct jdoc *user, const char *dir,
		       struct err *err)
{
	const char *token, *file;
	int r;

	r = get_str(user, "token", &token, err);
	if (r < 0) {
		return r;
	}
	r = get_str(user, "tokenFile", &file, err);
	if (r < 0) {
		return r;
	}
	c->token = token == NULL ? NULL : xmalloc_dup(token);
	c->token_file = file == NULL ? NULL : in_dir(dir, file);
	return 0;
}

static int load_user(struct kubeconfig *c, const struct jdoc *user, const char *dir,
		     struct err *err)
{
	static const struct {
		const char *key, *why;
	} refused[] = {
		{ "exec", "credential plugins are not supported; use a token or a certificate" },
		{ "auth-provider",
		  "auth providers are not supported; use a token or a certificate" },
		{ "username",
		  "basic authentication is not supported (Kubernetes dropped it in 1.19)" },
	};
	int r;

	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		r = refuse(user, refused[i].key, refused[i].why, err);
		if (r < 0) {
			return r;
		}
	}
	r = load_pem(user, "client-certificate", dir, &c->owned[OWN_CERT_FILE],
		     &c->owned[OWN_CERT_PEM], err);
	if (r < 0) {
		return r;
	}
	r = load_pem(user, "client-key", dir, &c->owned[OWN_KEY_FILE], &c->owned[OWN_KEY_PEM], err);
	if (r < 0) {
		return r;
	}
	return load_tokens(c, user, dir, err);
}

static int load_parts(struct kubeconfig *c, const struct jdoc *doc, const struct jdoc *context,
		      const char *dir, struct err *err)
{
	const struct jdoc *cluster, *user;
	const char *cluster_name, *user_name, *ns;
	int r;

	r = get_str(context, "cluster", &cluster_name, err);
	if (r < 0) {
		return r;
	}
	r = get_str(context, "user", &user_name, err);
	if (r < 0) {
		return r;
	}
	r = get_str(context, "namespace", &ns, err);
	if (r < 0) {
		return r;
	}
	c->namespace_ = xmalloc_dup(ns == NULL ? "default" : ns);
	if (cluster_name == NULL) {
		return err_set(err, ERR_INVALID, "cluster: missing");
	}
	r = find_named(doc, "clusters", "cluster", cluster_name, &cluster, err);
	if (r < 0) {
		return r;
	}
	r = load_cluster(c, cluster, dir, err);
	if (r < 0) {
		return err_path(err, "clusters[%s].cluster.", cluster_name);
	}
	if (user_name == NULL) {
		return 0;
	}
	r = find_named(doc, "users", "user", user_name, &user, err);
	if (r < 0) {
		return r;
	}
	r = load_user(c, user, dir, err);
	return r < 0 ? err_path(err, "users[%s].user.", user_name) : 0;
}

int kubeconfig_parse(struct str text, const char *dir, const char *context, struct kubeconfig **ret,
		     struct err *err)
{
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = xmalloc_zero(1, sizeof(*c));
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	const struct jdoc *ctx;
	int r;

	if (text.len > KUBECONFIG_MAX_BYTES) {
		return err_set(err, ERR_INVALID, "more than %u bytes", KUBECONFIG_MAX_BYTES);
	}
	r = yaml_parse(text, &doc, err);
	if (r < 0) {
		return r;
	}
	if (jdoc_kind(doc) != JDOC_OBJECT) {
		return err_set(err, ERR_INVALID, "not a mapping");
	}
	if (context == NULL) {
		r = get_str(doc, "current-context", &context, err);
		if (r < 0) {
			return r;
		}
	}
	if (context == NULL) {
		return err_set(err, ERR_INVALID, "current-context: missing");
	}
	r = find_named(doc, "contexts", "context", context, &ctx, err);
	if (r < 0) {
		return r;
	}
	r = load_parts(c, doc, ctx, dir, err);
	if (r < 0) {
		return err_wrap(err, "context %s", context);
	}
	point_tls(c);
	*ret = take_ptr(&c);
	return 0;
}

static int load_file(const char *path, const char *context, struct kubeconfig **ret,
		     struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *dir = NULL;
	const char *slash = strrchr(path, '/');
	int r;

	r = file_read_all(path, KUBECONFIG_MAX_BYTES, &text, err);
	if (r < 0) {
		return err_wrap(err, "kubeconfig");
	}
	dir = slash == NULL ? xmalloc_dup(".")
			    : xmalloc_dup_n(path, slash == path ? 1 : (size_t)(slash - path));
	r = kubeconfig_parse(strbuf_str(&text), dir, context, ret, err);
	return r < 0 ? err_wrap(err, "kubeconfig %s", path) : 0;
}

int kubeconfig_of_account(const char *dir, const char *host, const char *port,
			  struct kubeconfig **ret, struct err *err)
{
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = xmalloc_zero(1, sizeof(*c));
	CLEANUP(xmalloc_freep) char *ns_file = xmalloc_printf("%s/namespace", dir);
	CLEANUP(strbuf_finish) struct strbuf ns = STRBUF_INIT;
	struct str name;

	c->token_file = xmalloc_printf("%s/token", dir);
	c->owned[OWN_CA_FILE] = xmalloc_printf("%s/ca.crt", dir);
	if (access(c->token_file, R_OK) != 0) {
		return err_set(err, ERR_NOT_FOUND, "in-cluster configuration: cannot read %s",
			       c->token_file);
	}
	/* An IPv6 address needs brackets in a URL. */
	c->server = strchr(host, ':') == NULL ? xmalloc_printf("https://%s:%s", host, port)
					      : xmalloc_printf("https://[%s]:%s", host, port);
	if (file_read_all(ns_file, 4096, &ns, NULL) == 0) {
		name = str_trim(strbuf_str(&ns));
	} else {
		name = STR_LIT("default");
	}
	c->namespace_ = xmalloc_dup_n(name.p, name.len);
	point_tls(c);
	*ret = take_ptr(&c);
	return 0;
}

int kubeconfig_in_cluster(struct kubeconfig **ret, struct err *err)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST");
	const char *port = getenv("KUBERNETES_SERVICE_PORT");

	if (host == NULL || host[0] == '\0' || port == NULL || port[0] == '\0') {
		return err_set(
			err, ERR_NOT_FOUND,
			"in-cluster configuration: KUBERNETES_SERVICE_HOST and _PORT are not "
			"set");
	}
	return kubeconfig_of_account(ACCOUNT_DIR, host, port, ret, err);
}

/* The first existing file of a list separated by colons; NULL: none. */
static char *first_existing(const char *list)
{
	struct str rest = str_of(list);

	while (rest.p != NULL) {
		struct str part = str_next(&rest, ':');
		char *path = xmalloc_dup_n(part.len == 0 ? "" : part.p, part.len);

		if (part.len > 0 && access(path, F_OK) == 0) {
			return path;
		}
		free(path);
	}
	return NULL;
}

static int load_default(const char *context, struct kubeconfig **ret, struct err *err)
{
	const char *list = getenv("KUBECONFIG"), *home = getenv("HOME");
	CLEANUP(xmalloc_freep) char *path = NULL;
	int r;

	if (list != NULL && list[0] != '\0') {
		path = first_existing(list);
		if (path == NULL) {
			return err_set(err, ERR_NOT_FOUND,
				       "kubeconfig: no file of $KUBECONFIG "
				       "exists: %s",
				       list);
		}
		return load_file(path, context, ret, err);
	}
	r = kubeconfig_in_cluster(ret, err);
	if (r != -ERR_NOT_FOUND || home == NULL) {
		return r;
	}
	path = xmalloc_printf("%s/.kube/config", home);
	if (access(path, F_OK) != 0) {
		return r;
	}
	return load_file(path, context, ret, err);
}

int kubeconfig_load(const char *path, const char *context, const char *master,
		    struct kubeconfig **ret, struct err *err)
{
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
	bool has_master = master != NULL && master[0] != '\0';
	int r;

	if (path != NULL && path[0] != '\0') {
		r = load_file(path, context, &c, err);
	} else {
		r = load_default(context, &c, err);
	}
	if (r == -ERR_NOT_FOUND && has_master && (path == NULL || path[0] == '\0')) {
		/* A bare address, for instance that of kubectl proxy. */
		c = xmalloc_zero(1, sizeof(*c));
		c->namespace_ = xmalloc_dup("default");
		r = 0;
	}
	if (r < 0) {
		return r;
	}
	if (has_master) {
		r = set_server(c, master, err);
		if (r < 0) {
			return err_wrap(err, "master");
		}
	}
	*ret = take_ptr(&c);
	return 0;
}
