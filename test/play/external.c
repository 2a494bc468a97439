#include "play/external.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "lib/wait.h"
#include "process/file.h"

#define CALL_NS (120 * CLOCK_NS_PER_S)
#define WAIT_NS (300 * CLOCK_NS_PER_S)
#define JSON "application/json"
#define GATE "scheduling.volcano.sh/queue-allocation-gate"
#define VOLCANO "/apis/scheduling.volcano.sh/v1beta1"
#define HOOKS "/apis/admissionregistration.k8s.io/v1"

struct names VEC(char *);

const char *external_kubeconfig(void)
{
	const char *path = getenv("HEADGATE_TEST_KUBECONFIG");

	return path == NULL || path[0] == '\0' ? NULL : path;
}

static int call(struct transport *t, enum http_method m, const char *path, const char *body,
		struct err *err)
{
	const char *type = body == NULL      ? NULL
			   : m == HTTP_PATCH ? "application/merge-patch+json"
					     : JSON;

	return rest_call(t, m, path, type, str_of(body), CALL_NS, NULL, err);
}

/* Repeats the request until it succeeds or fails for good: webhooks that were removed may still be
 * called for a while. */
static int insist(struct transport *t, enum http_method m, const char *path, const char *body,
		  struct err *err)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	int r;

	while ((r = call(t, m, path, body, err)) < 0 && r != -ERR_NOT_FOUND &&
	       wait_until(deadline)) {
	}
	return r == -ERR_NOT_FOUND ? 0 : r;
}

static int create(struct transport *t, const char *path, const char *body, struct err *err)
{
	int r = call(t, HTTP_POST, path, body, err);

	return r == -ERR_CONFLICT ? 0 : r; /* it is there */
}

static int ensure_crd(struct transport *t, const char *path, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT, body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	int r = file_read_all(path, YAML_MAX_BYTES, &text, err);

	r = r < 0 ? r : yaml_parse(strbuf_str(&text), &doc, err);
	if (r < 0) {
		return r;
	}
	jdoc_format(doc, &body);
	return create(t, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body.p, err);
}

static int await_served(struct transport *t, const char *path, struct err *err)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	int r;

	while ((r = call(t, HTTP_GET, path, NULL, err)) < 0 && wait_until(deadline)) {
	}
	return r;
}

static int ensure_crds(struct transport *t, const char *source, struct err *err)
{
	CLEANUP(xmalloc_freep)
	char *folder = xmalloc_printf("%s/charts/headgate/files/crds", source);
	DIR *dir = opendir(folder);
	struct dirent *e;
	int r = 0;

	if (dir == NULL) {
		return err_set(err, ERR_NOT_FOUND, "cannot read %s", folder);
	}
	while (r == 0 && (e = readdir(dir)) != NULL) {
		CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/%s", folder, e->d_name);

		if (str_has_suffix(str_of(path), ".yaml")) {
			r = ensure_crd(t, path, err);
		}
	}
	closedir(dir);
	r = r < 0 ? r : await_served(t, VOLCANO "/queues?limit=1", err);
	return r < 0 ? r : await_served(t, VOLCANO "/podgroups?limit=1", err);
}

static void add_name(void *ctx, const struct jdoc *item)
{
	struct names *names = ctx;

	vec_push(names, xmalloc_dup(jdoc_str_or(jdoc_path(item, "metadata.name"), "")));
}

static void free_names(struct names *names)
{
	for (size_t i = 0; i < names->n; i++) {
		free(names->v[i]);
	}
	vec_finish(names);
}

static bool is_of_the_server(const char *namespace_)
{
	return str_streq(namespace_, "default") || str_has_prefix(str_of(namespace_), "kube-");
}

/* There is no namespace controller to finalise it. */
static int remove_namespace(struct transport *t, const char *name, struct err *err)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("/api/v1/namespaces/%s", name);
	CLEANUP(xmalloc_freep) char *finalize = xmalloc_printf("%s/finalize", path);
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{"
				    "\"name\":\"%s\"},\"spec\":{\"finalizers\":[]}}",
				    name);
	int r = insist(t, HTTP_DELETE, path, NULL, err);

	return r < 0 ? r : insist(t, HTTP_PUT, finalize, body, err);
}

static int clear_namespace(struct transport *t, const char *name, struct err *err)
{
	static const char *const paths[] = {
		"/api/v1/namespaces/%s/pods",
		VOLCANO "/namespaces/%s/podgroups",
		"/apis/batch/v1/namespaces/%s/jobs",
		"/apis/apps/v1/namespaces/%s/replicasets",
		"/api/v1/namespaces/%s/configmaps",
		"/api/v1/namespaces/%s/secrets",
		"/apis/coordination.k8s.io/v1/namespaces/%s/leases",
		"/api/v1/namespaces/%s/events",
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(paths); i++) {
		struct str rest = str_of(paths[i]);
		struct str head = str_next(&rest, '%');
		CLEANUP(xmalloc_freep)
		char *path = xmalloc_printf(STR_FMT "%s%s", STR_ARG(head), name, rest.p + 1);

		r = insist(t, HTTP_DELETE, path, "{\"gracePeriodSeconds\":0}", err);
	}
	return r == 0 && !is_of_the_server(name) ? remove_namespace(t, name, err) : r;
}

static int clear_namespaces(struct transport *t, struct err *err)
{
	CLEANUP(free_names) struct names names = VEC_INIT;
	int r = rest_list(t, "/api/v1/namespaces", CALL_NS, add_name, &names, err);

	for (size_t i = 0; r == 0 && i < names.n; i++) {
		r = str_has_prefix(str_of(names.v[i]), "kube-")
			    ? 0
			    : clear_namespace(t, names.v[i], err);
	}
	return r;
}

static int clear_classes(struct transport *t, struct err *err)
{
	static const char path[] = "/apis/scheduling.k8s.io/v1/priorityclasses";
	CLEANUP(free_names) struct names names = VEC_INIT;
	int r = rest_list(t, path, CALL_NS, add_name, &names, err);

	for (size_t i = 0; r == 0 && i < names.n; i++) {
		CLEANUP(xmalloc_freep) char *one = xmalloc_printf("%s/%s", path, names.v[i]);

		if (!str_has_prefix(str_of(names.v[i]), "system-")) {
			r = insist(t, HTTP_DELETE, one, NULL, err);
		}
	}
	return r;
}

static int ensure_account(struct transport *t, const char *namespace_, struct err *err)
{
	CLEANUP(xmalloc_freep)
	char *path = xmalloc_printf("/api/v1/namespaces/%s/serviceaccounts", namespace_);

	return create(t, path,
		      "{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\",\"metadata\":{\"name\":"
		      "\"default\"}}",
		      err);
}

int external_prepare(struct transport *t, const char *source, struct err *err)
{
	static const char *const cluster_wide[] = { VOLCANO "/queues", "/api/v1/nodes" };
	int r = insist(t, HTTP_DELETE, HOOKS "/mutatingwebhookconfigurations", NULL, err);

	r = r < 0 ? r : insist(t, HTTP_DELETE, HOOKS "/validatingwebhookconfigurations", NULL, err);
	r = r < 0 ? r : ensure_crds(t, source, err);
	r = r < 0 ? r : clear_namespaces(t, err);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(cluster_wide); i++) {
		r = insist(t, HTTP_DELETE, cluster_wide[i], NULL, err);
	}
	r = r < 0 ? r : clear_classes(t, err);
	r = r < 0 ? r : ensure_account(t, "default", err);
	return r < 0 ? err_wrap(err, "preparing the API server") : 0;
}

int external_created(struct transport *t, const struct jdoc *object, struct err *err)
{
	if (!jdoc_is_str(jdoc_get(object, "kind"), "Namespace")) {
		return 0;
	}
	return ensure_account(t, jdoc_str_or(jdoc_path(object, "metadata.name"), ""), err);
}

/* A dry run of a pod that opts in comes back with our gate. */
static bool pods_are_gated(struct transport *t, struct err *err)
{
	static const char body[] =
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"probe\","
		"\"annotations\":{\"" GATE "\":\"true\"}},\"spec\":{\"schedulerName\":\"volcano\","
		"\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}";
	CLEANUP(jdoc_destroyp) struct jdoc *pod = NULL;
	int r = rest_call(t, HTTP_POST, "/api/v1/namespaces/default/pods?dryRun=All", JSON,
			  str_of(body), CALL_NS, &pod, err);

	return r == 0 && jdoc_first(jdoc_path(pod, "spec.schedulingGates")) != NULL;
}

/* The last registration of the chart, that of PodGroups, refuses a queue that does not exist. */
static bool groups_are_judged(struct transport *t, struct err *err)
{
	static const char body[] =
		"{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"PodGroup\","
		"\"metadata\":{\"name\":\"probe\"},\"spec\":{\"queue\":\"not-there\"}}";

	return call(t, HTTP_POST, VOLCANO "/namespaces/default/podgroups?dryRun=All", body, err) <
		       0 &&
	       strstr(err->text, "not-there") != NULL;
}

int external_wait_webhooks(struct transport *t, struct err *err)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	struct err last = ERR_INIT;

	while (!pods_are_gated(t, &last) || !groups_are_judged(t, &last)) {
		if (!wait_until(deadline)) {
			return err_set(err, ERR_TIMEOUT, "the webhook is not called: %s",
				       last.text);
		}
	}
	return 0;
}
