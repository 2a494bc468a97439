#include "scheduler/ctl/multikueue/worker_account.h"

#include <assert.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/rest.h"
#include "scheduler/multikueue/worker_config.h"

#define RBAC "rbac.authorization.k8s.io"
#define NAMED "{name: " WORKER_ACCOUNT_NAME "}"
#define NAMED_IN "{name: " WORKER_ACCOUNT_NAME ", namespace: '@'}"

static const struct {
	const char *kind, *group, *version, *plural;
	const char *name; /* NULL: that of the namespace */
	bool namespaced;
	const char *text; /* @: the namespace */
} objects[WORKER_ACCOUNT_OBJECTS] = {
	{ "Namespace", "", "v1", "namespaces", NULL, false,
	  "{apiVersion: v1, kind: Namespace, metadata: {name: '@'}}" },
	{ "ServiceAccount", "", "v1", "serviceaccounts", WORKER_ACCOUNT_NAME, true,
	  "{apiVersion: v1, kind: ServiceAccount, metadata: " NAMED_IN "}" },
	{ "ClusterRole", RBAC, "v1", "clusterroles", WORKER_ACCOUNT_NAME, false,
	  "{apiVersion: " RBAC "/v1, kind: ClusterRole, metadata: " NAMED "}" },
	{ "ClusterRoleBinding", RBAC, "v1", "clusterrolebindings", WORKER_ACCOUNT_NAME, false,
	  "{apiVersion: " RBAC "/v1, kind: ClusterRoleBinding, metadata: " NAMED
	  ", roleRef: {apiGroup: " RBAC ", kind: ClusterRole, name: " WORKER_ACCOUNT_NAME
	  "}, subjects: [{kind: ServiceAccount, name: " WORKER_ACCOUNT_NAME ", namespace: '@'}]}" },
	[WORKER_ACCOUNT_TOKEN] = { "Secret", "", "v1", "secrets", WORKER_ACCOUNT_NAME, true,
				   "{apiVersion: v1, kind: Secret, type: "
				   "kubernetes.io/service-account-token, metadata: "
				   "{name: " WORKER_ACCOUNT_NAME ", namespace: '@', annotations: "
				   "{kubernetes.io/service-account.name: " WORKER_ACCOUNT_NAME
				   "}}}" },
};

/* The object of this text, with the namespace in the places of @. */
static struct jdoc *make(const char *pattern, const char *namespace_)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct str rest = str_of(pattern);
	struct jdoc *json = NULL;
	int r;

	while (rest.p != NULL) {
		strbuf_add_str(&text, str_next(&rest, '@'));
		strbuf_add_c(&text, rest.p == NULL ? "" : namespace_);
	}
	r = yaml_parse(strbuf_str(&text), &json, NULL);
	assert(r == 0);
	(void)r;
	return json;
}

void worker_account_init(struct worker_account *ret, const struct worker_role *role,
			 const char *namespace_)
{
	for (size_t i = 0; i < WORKER_ACCOUNT_OBJECTS; i++) {
		ret->v[i] = (struct worker_account_object){
			.kind = objects[i].kind,
			.namespace_ = objects[i].namespaced ? namespace_ : NULL,
			.name = objects[i].name == NULL ? namespace_ : objects[i].name,
			.json = make(objects[i].text, namespace_),
		};
		if (str_streq(objects[i].kind, "ClusterRole")) {
			jdoc_set_take(ret->v[i].json, "rules", jdoc_copy(worker_role_rules(role)));
		}
	}
}

void worker_account_finish(struct worker_account *a)
{
	for (size_t i = 0; i < WORKER_ACCOUNT_OBJECTS; i++) {
		jdoc_destroy(a->v[i].json);
		a->v[i].json = NULL;
	}
}

void worker_account_path(const struct worker_account_object *o, struct strbuf *out)
{
	for (size_t i = 0; i < WORKER_ACCOUNT_OBJECTS; i++) {
		if (str_streq(objects[i].kind, o->kind)) {
			rest_path(out, objects[i].group, objects[i].version, o->namespace_,
				  objects[i].plural, o->name, NULL);
		}
	}
}

/* --- for the manager ---------------------------------------------------------------------------*/

static void set_base64(struct jdoc *object, const char *key, struct str bytes)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	base64_encode(bytes, &text);
	jdoc_set_str(object, key, text.len == 0 ? "" : text.p);
}

/* The entry {name: NAME, MEMBER: {}} of a list of a kubeconfig; returns the inner object. */
static struct jdoc *add_entry(struct jdoc *config, const char *list, const char *name,
			      const char *member)
{
	struct jdoc *entry = jdoc_append_take(jdoc_ensure_array(config, list), jdoc_new_object());

	jdoc_set_str(entry, "name", name);
	return jdoc_ensure_object(entry, member);
}

static void format_kubeconfig(const struct worker_account_access *a, struct strbuf *out)
{
	CLEANUP(jdoc_destroyp) struct jdoc *config = jdoc_new_object();
	CLEANUP(xmalloc_freep) char *token = xmalloc_dup_n(a->token.p, a->token.len);
	struct jdoc *entry;

	jdoc_set_str(config, "apiVersion", "v1");
	jdoc_set_str(config, "kind", "Config");
	entry = add_entry(config, "clusters", a->cluster, "cluster");
	jdoc_set_str(entry, "server", a->server);
	if (a->server_name != NULL) {
		jdoc_set_str(entry, "tls-server-name", a->server_name);
	}
	set_base64(entry, "certificate-authority-data", a->ca);
	entry = add_entry(config, "users", WORKER_ACCOUNT_NAME, "user");
	jdoc_set_str(entry, "token", token);
	entry = add_entry(config, "contexts", a->cluster, "context");
	jdoc_set_str(entry, "cluster", a->cluster);
	jdoc_set_str(entry, "user", WORKER_ACCOUNT_NAME);
	jdoc_set_str(config, "current-context", a->cluster);
	yaml_format(config, out);
}

static struct jdoc *new_object(const char *api_version, const char *kind, const char *name)
{
	struct jdoc *d = jdoc_new_object();

	jdoc_set_str(d, "apiVersion", api_version);
	jdoc_set_str(d, "kind", kind);
	jdoc_set_str(jdoc_ensure_object(d, "metadata"), "name", name);
	return d;
}

int worker_account_manifests(const struct worker_account_access *a, const char *namespace_,
			     struct strbuf *out, struct err *err)
{
	CLEANUP(xmalloc_freep) char *name = xmalloc_printf("%s-kubeconfig", a->cluster);
	CLEANUP(jdoc_destroyp) struct jdoc *secret = new_object("v1", "Secret", name);
	CLEANUP(jdoc_destroyp)
	struct jdoc *cluster = new_object(KUEUE_API_VERSION, "MultiKueueCluster", a->cluster);
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *parsed = NULL;
	CLEANUP(strbuf_wipe) struct strbuf text = STRBUF_INIT;
	struct jdoc *source;
	const char *reason;
	int r;

	format_kubeconfig(a, &text);
	r = worker_config_parse(strbuf_str(&text), &parsed, &reason, err);
	if (r < 0) {
		return err_wrap(err, "the manager would refuse the kubeconfig (%s)", reason);
	}
	jdoc_set_str(jdoc_ensure_object(secret, "metadata"), "namespace", namespace_);
	set_base64(jdoc_ensure_object(secret, "data"), WORKER_ACCOUNT_SECRET_KEY,
		   strbuf_str(&text));
	source = jdoc_ensure_object(
		jdoc_ensure_object(jdoc_ensure_object(cluster, "spec"), "clusterSource"),
		"kubeConfig");
	jdoc_set_str(source, "location", name);
	jdoc_set_str(source, "locationType", "Secret");
	yaml_format(secret, out);
	strbuf_add_c(out, "---\n");
	yaml_format(cluster, out);
	return 0;
}
