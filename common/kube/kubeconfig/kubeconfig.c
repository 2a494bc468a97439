#include "kube/kubeconfig/kubeconfig.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "kube/kubeconfig/kubeconfig_private.h"
#include "process/file.h"
#include "process/log.h"

/* The kubelet mounts the service account of a pod here. */
#define ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"
/* Name of the extension of a cluster that is for its users' credential plugins. */
#define PLUGIN_EXTENSION "client.authentication.k8s.io/exec"

/* Kubeconfigs that count as one: the first one that has an entry or a value decides. */
struct source {
	struct jdoc *doc;
	char *dir; /* of its relative paths; may be NULL */
};
struct sources VEC(struct source);

static const char *const top_members[] = {
	"apiVersion",  "clusters", "contexts", "current-context", "extensions", "kind",
	"preferences", "users",    NULL,
};
static const char *const context_members[] = { "cluster", "extensions", "namespace", "user", NULL };
/* Answers are never compressed: disable-compression needs nothing. */
static const char *const cluster_members[] = {
	"certificate-authority",
	"certificate-authority-data",
	"disable-compression",
	"extensions",
	"insecure-skip-tls-verify",
	"proxy-url",
	"server",
	"tls-server-name",
	NULL,
};
static const struct kubeconfig_options no_options;

void kubeconfig_destroy(struct kubeconfig *c)
{
	if (c == NULL) {
		return;
	}
	free(c->server);
	free(c->namespace_);
	free(c->token);
	free(c->token_file);
	free(c->proxy_url);
	kubeconfig_read_free(&c->headers);
	kubeconfig_exec_free(c->exec);
	kubeconfig_read_free(&c->warnings);
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

static bool same_texts(const struct kubeconfig_strings *a, const struct kubeconfig_strings *b)
{
	if (a->n != b->n) {
		return false;
	}
	for (size_t i = 0; i < a->n; i++) {
		if (!str_streq(a->v[i], b->v[i])) {
			return false;
		}
	}
	return true;
}

bool kubeconfig_equal(const struct kubeconfig *a, const struct kubeconfig *b)
{
	bool same = str_streq(a->server, b->server) && str_streq(a->token, b->token) &&
		    str_streq(a->token_file, b->token_file) &&
		    str_streq(a->proxy_url, b->proxy_url) && same_texts(&a->headers, &b->headers) &&
		    a->tls.insecure_skip_verify == b->tls.insecure_skip_verify && a->exec == NULL &&
		    b->exec == NULL;

	for (int i = 0; i < KUBECONFIG_OWNED_; i++) {
		same = same && str_streq(a->owned[i], b->owned[i]);
	}
	return same;
}

void kubeconfig_log_warnings(const struct kubeconfig *c)
{
	for (size_t i = 0; i < c->warnings.n; i++) {
		log_warn("kubeconfig", LOG_STR("warning", c->warnings.v[i]));
	}
}

static void sources_finish(struct sources *all)
{
	for (size_t i = 0; i < all->n; i++) {
		jdoc_destroy(all->v[i].doc);
		free(all->v[i].dir);
	}
	vec_finish(all);
}

/* tls borrows from owned[]; call it after each change there. */
static void point_tls(struct kubeconfig *c)
{
	c->tls.ca_file = c->owned[KUBECONFIG_CA_FILE];
	c->tls.ca_pem = str_of(c->owned[KUBECONFIG_CA_PEM]);
	c->tls.cert_file = c->owned[KUBECONFIG_CERT_FILE];
	c->tls.cert_pem = str_of(c->owned[KUBECONFIG_CERT_PEM]);
	c->tls.key_file = c->owned[KUBECONFIG_KEY_FILE];
	c->tls.key_pem = str_of(c->owned[KUBECONFIG_KEY_PEM]);
	c->tls.server_name = c->owned[KUBECONFIG_SERVER_NAME];
}

static void replace(char **member, const char *text)
{
	free(*member);
	*member = text == NULL ? NULL : xmalloc_dup(text);
}

void kubeconfig_set_credential(struct kubeconfig *c, const char *token, const char *cert,
			       const char *key)
{
	replace(&c->token, token);
	/* A file would take precedence over the token. */
	replace(&c->token_file, NULL);
	if (cert != NULL) {
		replace(&c->owned[KUBECONFIG_CERT_FILE], NULL);
		replace(&c->owned[KUBECONFIG_CERT_PEM], cert);
		replace(&c->owned[KUBECONFIG_KEY_FILE], NULL);
		replace(&c->owned[KUBECONFIG_KEY_PEM], key);
	}
	point_tls(c);
}

/* Finds the entry of `list` ("clusters", ...) with this name; *ret is its `inner` object. */
static int find_named(const struct sources *all, const char *list, const char *name,
		      const struct source **ret_source, const struct jdoc **ret, struct err *err)
{
	const char *inner = str_streq(list, "clusters")   ? "cluster"
			    : str_streq(list, "contexts") ? "context"
							  : "user";
	bool found = false;

	for (size_t s = 0; s < all->n && !found; s++) {
		const struct jdoc *i = jdoc_first(jdoc_get(all->v[s].doc, list));

		for (; i != NULL; i = jdoc_next(i)) {
			if (!jdoc_is_str(jdoc_get(i, "name"), name)) {
				continue;
			}
			if (found) {
				/* Two files may have the same name, and the first one decides;
				 * within a file it is ambiguous. */
				return err_set(err, ERR_INVALID, "%s: two entries named \"%s\"",
					       list, name);
			}
			found = true;
			*ret_source = &all->v[s];
			*ret = jdoc_get(i, inner);
			if (jdoc_kind(*ret) != JDOC_OBJECT && jdoc_kind(*ret) != JDOC_NULL) {
				return err_set(err, ERR_INVALID, "%s[%s].%s: not a mapping", list,
					       name, inner);
			}
		}
	}
	return found ? 0 : err_set(err, ERR_INVALID, "%s: no entry named \"%s\"", list, name);
}

/* "https://host:port/" -> "https://host:port"; only http and https. */
static int set_server(struct kubeconfig *c, const char *url, struct err *err)
{
	struct str s = str_of(url);

	if ((!str_has_prefix(s, "https://") || s.len == 8) &&
	    (!str_has_prefix(s, "http://") || s.len == 7)) {
		return err_set(err, ERR_INVALID, "server: not an http or https URL: \"%s\"", url);
	}
	/* The path of a request begins with a slash. */
	while (s.len > 0 && s.p[s.len - 1] == '/') {
		s.len--;
	}
	free(c->server);
	c->server = xmalloc_dup_n(s.p, s.len);
	return 0;
}

static int read_server(struct kubeconfig *c, const struct jdoc *cluster, const char *instead,
		       struct err *err)
{
	const char *server = instead;
	int r = server != NULL ? 0 : kubeconfig_read_str(cluster, "server", &server, err);

	if (r < 0) {
		return r;
	}
	return server == NULL ? err_set(err, ERR_INVALID, "server: missing")
			      : set_server(c, server, err);
}

static int read_proxy(struct kubeconfig *c, const struct jdoc *cluster, struct err *err)
{
	static const char *const schemes[] = { "http://", "https://", "socks5://" };
	int r = kubeconfig_read_dup(cluster, "proxy-url", &c->proxy_url, err);

	if (r < 0 || c->proxy_url == NULL) {
		return r;
	}
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		if (str_has_prefix(str_of(c->proxy_url), schemes[i]) &&
		    c->proxy_url[strlen(schemes[i])] != '\0') {
			return 0;
		}
	}
	return err_set(err, ERR_INVALID, "proxy-url: not an http, https or socks5 URL: \"%s\"",
		       c->proxy_url);
}

static int read_cluster(struct kubeconfig *c, const struct jdoc *cluster, const char *dir,
			const struct kubeconfig_options *opt, struct err *err)
{
	int r = read_server(c, cluster, opt->server, err);

	if (r == 0) {
		r = read_proxy(c, cluster, err);
	}
	if (r == 0) {
		r = kubeconfig_read_pem(cluster, "certificate-authority", dir,
					&c->owned[KUBECONFIG_CA_FILE], &c->owned[KUBECONFIG_CA_PEM],
					err);
	}
	if (r == 0) {
		r = kubeconfig_read_dup(cluster, "tls-server-name",
					&c->owned[KUBECONFIG_SERVER_NAME], err);
	}
	return r < 0 ? r
		     : kubeconfig_read_bool(cluster, "insecure-skip-tls-verify",
					    &c->tls.insecure_skip_verify, err);
}

static int load_cluster(struct kubeconfig *c, const struct sources *all, const char *name,
			const struct kubeconfig_options *opt, const struct jdoc **ret,
			struct err *err)
{
	CLEANUP(xmalloc_freep) char *where = xmalloc_printf("clusters[%s].cluster.", name);
	const struct source *source = NULL;
	int r = find_named(all, "clusters", name, &source, ret, err);

	if (r < 0) {
		return r;
	}
	kubeconfig_read_unknown(c, *ret, where, cluster_members);
	/* Relative paths belong to the file in which the entry was found. */
	r = read_cluster(c, *ret, source->dir, opt, err);
	return r < 0 ? err_path(err, "%s", where) : 0;
}

static int load_user(struct kubeconfig *c, const struct sources *all, const char *name,
		     const struct kubeconfig_options *opt, struct err *err)
{
	CLEANUP(xmalloc_freep) char *where = xmalloc_printf("users[%s].user.", name);
	struct kubeconfig_user from = { .where = where, .opt = opt };
	const struct source *source = NULL;
	int r = find_named(all, "users", name, &source, &from.user, err);

	if (r < 0) {
		return r;
	}
	from.dir = source->dir;
	r = kubeconfig_user_read(c, &from, err);
	return r < 0 ? err_path(err, "%s", where) : 0;
}

/* The extension for credential plugins, for a plugin that gets the cluster. */
static void add_plugin_config(struct kubeconfig *c, const struct jdoc *cluster)
{
	const struct jdoc *e = jdoc_first(jdoc_get(cluster, "extensions"));
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	while (e != NULL && !jdoc_is_str(jdoc_get(e, "name"), PLUGIN_EXTENSION)) {
		e = jdoc_next(e);
	}
	if (c->exec != NULL && jdoc_get(e, "extension") != NULL) {
		jdoc_format(jdoc_get(e, "extension"), &text);
		c->exec->cluster_config = strbuf_steal(&text, NULL);
	}
}

static int load_user_of(struct kubeconfig *c, const struct sources *all, const char *name,
			const struct kubeconfig_options *opt, struct err *err)
{
	const struct kubeconfig_user alone = { .where = "", .opt = opt };

	return name != NULL ? load_user(c, all, name, opt, err)
			    : kubeconfig_user_read(c, &alone, err);
}

/* The parts of a context, the options before its members:
 *   1. the names of the cluster and the user;
 *   2. the cluster, or only an address;
 *   3. the user, or only the credentials of the options;
 *   4. the cluster's extension for the plugin, which is known only after the user. */
static int load_parts(struct kubeconfig *c, const struct sources *all, const struct jdoc *context,
		      const struct kubeconfig_options *opt, struct err *err)
{
	const char *cluster_name = opt->cluster, *user_name = opt->user;
	const struct jdoc *cluster = NULL;
	int r = kubeconfig_read_dup(context, "namespace", &c->namespace_, err);

	if (r == 0 && cluster_name == NULL) {
		r = kubeconfig_read_str(context, "cluster", &cluster_name, err);
	}
	if (r == 0 && user_name == NULL) {
		r = kubeconfig_read_str(context, "user", &user_name, err);
	}
	if (r < 0) {
		return r;
	}
	if (c->namespace_ == NULL) {
		c->namespace_ = xmalloc_dup("default");
	}
	if (cluster_name == NULL && opt->server == NULL) {
		return err_set(err, ERR_INVALID, "cluster: missing");
	}
	r = cluster_name != NULL ? load_cluster(c, all, cluster_name, opt, &cluster, err)
				 : set_server(c, opt->server, err);
	if (r == 0) {
		r = load_user_of(c, all, user_name, opt, err);
	}
	if (r == 0) {
		add_plugin_config(c, cluster);
	}
	return r;
}

/* The name of the context to use. Cluster or server may be given without one: *ret stays NULL. */
static int find_context(const struct sources *all, const struct kubeconfig_options *opt,
			const char **ret, struct err *err)
{
	int r = 0;

	*ret = opt->context;
	for (size_t i = 0; r == 0 && *ret == NULL && i < all->n; i++) {
		r = kubeconfig_read_str(all->v[i].doc, "current-context", ret, err);
	}
	if (r == 0 && *ret == NULL && opt->cluster == NULL && opt->server == NULL) {
		return err_set(err, ERR_INVALID, "current-context: missing");
	}
	return r;
}

static int load_sources(const struct sources *all, const struct kubeconfig_options *opt,
			struct kubeconfig **ret, struct err *err)
{
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = xmalloc_zero(1, sizeof(*c));
	const struct source *source = NULL;
	const struct jdoc *context = NULL;
	const char *name = NULL;
	int r = find_context(all, opt, &name, err);

	if (r == 0 && name != NULL) {
		r = find_named(all, "contexts", name, &source, &context, err);
	}
	if (r < 0) {
		return r;
	}
	for (size_t i = 0; i < all->n; i++) {
		kubeconfig_read_unknown(c, all->v[i].doc, "", top_members);
	}
	kubeconfig_read_unknown(c, context, "context.", context_members);
	r = load_parts(c, all, context, opt, err);
	if (r < 0) {
		return name == NULL ? r : err_wrap(err, "context %s", name);
	}
	point_tls(c);
	c->tls.insecure_skip_verify |= opt->insecure_skip_verify;
	*ret = take_ptr(&c);
	return 0;
}

static int parse_source(struct str text, const char *dir, struct sources *all, struct err *err)
{
	struct source s = { 0 };
	int r;

	if (text.len > KUBECONFIG_MAX_BYTES) {
		return err_set(err, ERR_INVALID, "more than %u bytes", KUBECONFIG_MAX_BYTES);
	}
	/* A kubeconfig in JSON is YAML as well. */
	r = yaml_parse(text, &s.doc, err);
	if (r < 0) {
		return r;
	}
	if (jdoc_kind(s.doc) != JDOC_OBJECT) {
		jdoc_destroy(s.doc);
		return err_set(err, ERR_INVALID, "not a mapping");
	}
	s.dir = dir == NULL ? NULL : xmalloc_dup(dir);
	vec_push(all, s);
	return 0;
}

int kubeconfig_parse(struct str text, const char *dir, const struct kubeconfig_options *opt,
		     struct kubeconfig **ret, struct err *err)
{
	CLEANUP(sources_finish) struct sources all = VEC_INIT;
	int r = parse_source(text, dir, &all, err);

	return r < 0 ? r : load_sources(&all, opt == NULL ? &no_options : opt, ret, err);
}

static int read_source(const char *path, struct sources *all, struct err *err)
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
	r = parse_source(strbuf_str(&text), dir, all, err);
	return r < 0 ? err_wrap(err, "kubeconfig %s", path) : 0;
}

/* list: paths separated by colons; those that do not exist are skipped. */
static int load_files(const char *list, const struct kubeconfig_options *opt,
		      struct kubeconfig **ret, struct err *err)
{
	CLEANUP(sources_finish) struct sources all = VEC_INIT;
	struct str rest = str_of(list);
	int r = 0;

	while (r == 0 && rest.p != NULL) {
		struct str part = str_next(&rest, ':');
		CLEANUP(xmalloc_freep) char *path = xmalloc_dup_n(part.p, part.len);

		if (part.len > 0 && access(path, F_OK) == 0) {
			r = read_source(path, &all, err);
		}
	}
	if (r == 0 && all.n == 0) {
		return err_set(err, ERR_NOT_FOUND, "kubeconfig: no file of $KUBECONFIG exists: %s",
			       list);
	}
	if (r == 0 && load_sources(&all, opt, ret, err) < 0) {
		return err_wrap(err, "kubeconfig %s", list);
	}
	return r;
}

static int load_file(const char *path, const struct kubeconfig_options *opt,
		     struct kubeconfig **ret, struct err *err)
{
	CLEANUP(sources_finish) struct sources all = VEC_INIT;
	int r = read_source(path, &all, err);

	if (r == 0 && load_sources(&all, opt, ret, err) < 0) {
		return err_wrap(err, "kubeconfig %s", path);
	}
	return r;
}

int kubeconfig_of_account(const char *dir, const char *host, const char *port,
			  struct kubeconfig **ret, struct err *err)
{
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = xmalloc_zero(1, sizeof(*c));
	CLEANUP(xmalloc_freep) char *ns_file = xmalloc_printf("%s/namespace", dir);
	CLEANUP(strbuf_finish) struct strbuf ns = STRBUF_INIT;
	struct str name;

	c->token_file = xmalloc_printf("%s/token", dir);
	c->owned[KUBECONFIG_CA_FILE] = xmalloc_printf("%s/ca.crt", dir);
	/* Noticed here, so that load_default can look elsewhere, and not with the first
	 * request. */
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

static bool is_given(const char *text)
{
	return text != NULL && text[0] != '\0';
}

/* Applies opt where there is no kubeconfig: in a cluster, or at a bare address, for
 * instance that of kubectl proxy. */
static int adjust(struct kubeconfig *c, const struct kubeconfig_options *opt, struct err *err)
{
	int r = load_user_of(c, NULL, NULL, opt, err);

	c->tls.insecure_skip_verify |= opt->insecure_skip_verify;
	return r < 0 || opt->server == NULL ? r : set_server(c, opt->server, err);
}

/* The usual places, the first one that exists: the files of $KUBECONFIG, the service account of the
 * pod, ~/.kube/config. Files of $KUBECONFIG that cannot be used are an error, and the others are
 * not tried. */
static int load_default(const struct kubeconfig_options *opt, struct kubeconfig **ret,
			struct err *err)
{
	const char *list = getenv("KUBECONFIG"), *home = getenv("HOME");
	CLEANUP(xmalloc_freep) char *path = NULL;
	int r;

	if (is_given(list)) {
		return load_files(list, opt, ret, err);
	}
	r = kubeconfig_in_cluster(ret, err);
	if (r == 0) {
		return adjust(*ret, opt, err);
	}
	path = home == NULL ? NULL : xmalloc_printf("%s/.kube/config", home);
	if (path != NULL && access(path, F_OK) == 0) {
		return load_file(path, opt, ret, err);
	}
	if (err != NULL) {
		(void)err_wrap(err, "no kubeconfig found ($KUBECONFIG is not set, there is no "
				    "~/.kube/config)");
	}
	return r;
}

int kubeconfig_load(const struct kubeconfig_options *opt, struct kubeconfig **ret, struct err *err)
{
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
	struct kubeconfig_options o = *opt;
	int r;

	o.server = is_given(o.server) ? o.server : NULL;
	r = is_given(o.path) ? load_file(o.path, &o, &c, err) : load_default(&o, &c, err);
	/* Where there is no kubeconfig at all, an address is enough. */
	if (r == -ERR_NOT_FOUND && o.server != NULL && !is_given(o.path)) {
		c = xmalloc_zero(1, sizeof(*c));
		c->namespace_ = xmalloc_dup("default");
		r = adjust(c, &o, err);
	}
	if (r < 0) {
		return r;
	}
	*ret = take_ptr(&c);
	return 0;
}
