#include "scheduler/workloads/conf/kueue_conf_owners.h"

#include "api/meta/validate.h"
#include "api/volcano/keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "enc/json/jdoc.h"

#define FRAMEWORKS "integrations.frameworks"
#define EXTERNAL "integrations.externalFrameworks"
#define LABEL_KEYS "integrations.labelKeysToCopy"
#define SELECTOR "managedJobsNamespaceSelector"

/* Kueue's names of its integrations. */
static const struct {
	const char *name;
	struct kueue_conf_owners_kind kind;
} frameworks[] = {
	{ "batch/job", { "batch", "Job" } },
	{ "deployment", { "apps", "Deployment" } },
	{ "jobset.x-k8s.io/jobset", { "jobset.x-k8s.io", "JobSet" } },
	{ "kubeflow.org/jaxjob", { "kubeflow.org", "JAXJob" } },
	{ "kubeflow.org/mpijob", { "kubeflow.org", "MPIJob" } },
	{ "kubeflow.org/paddlejob", { "kubeflow.org", "PaddleJob" } },
	{ "kubeflow.org/pytorchjob", { "kubeflow.org", "PyTorchJob" } },
	{ "kubeflow.org/tfjob", { "kubeflow.org", "TFJob" } },
	{ "kubeflow.org/xgboostjob", { "kubeflow.org", "XGBoostJob" } },
	{ "leaderworkerset.x-k8s.io/leaderworkerset",
	  { "leaderworkerset.x-k8s.io", "LeaderWorkerSet" } },
	{ "pod", { "", "Pod" } },
	{ "ray.io/raycluster", { "ray.io", "RayCluster" } },
	{ "ray.io/rayjob", { "ray.io", "RayJob" } },
	{ "ray.io/rayservice", { "ray.io", "RayService" } },
	{ "sparkoperator.k8s.io/sparkapplication", { "sparkoperator.k8s.io", "SparkApplication" } },
	{ "statefulset", { "apps", "StatefulSet" } },
	{ "trainer.kubeflow.org/trainjob", { "trainer.kubeflow.org", "TrainJob" } },
	{ "workload.codeflare.dev/appwrapper", { "workload.codeflare.dev", "AppWrapper" } },
};

const struct kueue_conf_owners_kind *kueue_conf_owners_unsupported(size_t i)
{
	for (size_t f = 0; f < ARRAY_LEN(frameworks); f++) {
		bool is_ours = str_streq(frameworks[f].name, "batch/job") ||
			       str_streq(frameworks[f].name, "pod");

		if (!is_ours && i-- == 0) {
			return &frameworks[f].kind;
		}
	}
	return NULL;
}

struct reading {
	struct kueue_conf_owners *out;
	struct kueue_conf_owners_kind *others;
	const char **label_keys;
	struct arena *arena;
};

static void add_other(struct reading *r, const char *group, const char *kind)
{
	r->others[r->out->nothers++] = (struct kueue_conf_owners_kind){ group, kind };
}

static int read_framework(struct reading *r, const struct jdoc *d, struct err *err)
{
	const char *name = jdoc_str_or(d, "");

	for (size_t i = 0; i < ARRAY_LEN(frameworks); i++) {
		if (!str_streq(frameworks[i].name, name)) {
			continue;
		}
		if (str_streq(name, "batch/job")) {
			r->out->jobs = true;
		} else if (str_streq(name, "pod")) {
			r->out->pods = true;
		}
		return 0; /* one that Kueue has and Headgate has not: no controller queues for it */
	}
	return err_set(err, ERR_INVALID, FRAMEWORKS ": no such integration: \"%s\"", name);
}

/* Kind.version.group, as in "AppWrapper.v1beta2.workload.codeflare.dev". */
static int read_external(struct reading *r, const struct jdoc *d, struct err *err)
{
	struct str rest = str_of(jdoc_str_or(d, "")), kind = str_next(&rest, '.');
	struct str version = str_next(&rest, '.');

	if (kind.len == 0 || version.len == 0 || rest.len == 0) {
		return err_set(err, ERR_INVALID, EXTERNAL ": \"%s\" is not Kind.version.group",
			       jdoc_str_or(d, ""));
	}
	add_other(r, arena_str(r->arena, rest).p, arena_str(r->arena, kind).p);
	return 0;
}

static int read_label_key(struct reading *r, const struct jdoc *d, struct err *err)
{
	const char *key = jdoc_str_or(d, "");

	if (!validate_is_qualified_name(str_of(key))) {
		return err_set(err, ERR_INVALID, LABEL_KEYS ": \"%s\" is not the key of a label",
			       key);
	}
	r->label_keys[r->out->label_keys.n++] = arena_dup(r->arena, key);
	return 0;
}

static int read_list(struct reading *r, const struct jdoc *list, const char *field,
		     int (*read)(struct reading *, const struct jdoc *, struct err *),
		     struct err *err)
{
	int code = 0;

	if (jdoc_kind(list) != JDOC_NULL && jdoc_kind(list) != JDOC_ARRAY) {
		return err_set(err, ERR_INVALID, "%s: must be a list", field);
	}
	if (jdoc_count(list) > KUEUE_CONF_OWNERS_MAX_KINDS) {
		return err_set(err, ERR_INVALID, "%s: more than %d items", field,
			       KUEUE_CONF_OWNERS_MAX_KINDS);
	}
	for (const struct jdoc *d = jdoc_first(list); code == 0 && d != NULL; d = jdoc_next(d)) {
		code = read(r, d, err);
	}
	return code;
}

static int read_integrations(struct reading *r, const struct jdoc *d, struct err *err)
{
	const struct jdoc *list = jdoc_path(d, FRAMEWORKS), *external = jdoc_path(d, EXTERNAL);
	const struct jdoc *keys = jdoc_path(d, LABEL_KEYS);
	size_t most = jdoc_count(list) + jdoc_count(external);
	int code;

	r->others = arena_zero(r->arena, most + 1, sizeof(*r->others));
	r->out->others = r->others;
	r->label_keys = arena_zero(r->arena, jdoc_count(keys) + 1, sizeof(*r->label_keys));
	r->out->label_keys.v = r->label_keys;
	r->out->jobs = jdoc_kind(list) == JDOC_NULL;
	code = read_list(r, list, FRAMEWORKS, read_framework, err);
	code = code < 0 ? code : read_list(r, external, EXTERNAL, read_external, err);
	return code < 0 ? code : read_list(r, keys, LABEL_KEYS, read_label_key, err);
}

static void default_selector(struct reading *r, const struct jdoc *d)
{
	const char *own = jdoc_str_or(jdoc_get(d, "namespace"), "");
	struct selector_req *req = arena_zero(r->arena, 1, sizeof(*req));
	const char **names = arena_zero(r->arena, 2, sizeof(*names));

	names[0] = "kube-system";
	names[1] = arena_dup(r->arena, own);
	req->key = KEYS_NAMESPACE_NAME;
	req->op = SELECTOR_NOT_IN;
	req->values.v = names;
	req->values.n = own[0] == '\0' ? 1 : 2;
	r->out->namespaces = (struct selector){ .reqs = req, .n = 1 };
}

static int read_selector(struct reading *r, const struct jdoc *d, struct err *err)
{
	const struct jdoc *selector = jdoc_get(d, SELECTOR);
	int code;

	if (jdoc_kind(selector) == JDOC_NULL) {
		default_selector(r, d);
		return 0;
	}
	code = selector_read(selector, r->arena, &r->out->namespaces, err);
	return code < 0 ? err_wrap(err, SELECTOR) : 0;
}

int kueue_conf_owners_read(const struct jdoc *d, struct arena *arena, struct kueue_conf_owners *ret,
			   struct err *err)
{
	const struct jdoc *without = jdoc_get(d, "manageJobsWithoutQueueName");
	struct kueue_conf_owners out = { .without_queue_name = jdoc_bool(without, false) };
	struct reading r = { &out, NULL, NULL, arena };
	int code = 0;

	if (jdoc_kind(without) != JDOC_NULL && jdoc_kind(without) != JDOC_BOOL) {
		return err_set(err, ERR_INVALID, "manageJobsWithoutQueueName: must be a boolean");
	}
	code = read_selector(&r, d, err);
	code = code < 0 ? code : read_integrations(&r, d, err);
	if (code == 0) {
		*ret = out;
	}
	return code;
}
