#include "scheduler/workloads/conf/kueue_conf_owners.h"

#include "api/meta/validate.h"
#include "api/volcano/keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "enc/config.h"

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

static int read_framework(struct config_reader *r, const struct jdoc *d, void *at, struct err *err)
{
	struct kueue_conf_owners *o = at;
	const char *name = jdoc_str_or(d, "");

	for (size_t i = 0; i < ARRAY_LEN(frameworks); i++) {
		if (str_streq(frameworks[i].name, name)) {
			/* Others Kueue has and Headgate has not: no controller queues for them. */
			o->jobs = o->jobs || str_streq(name, "batch/job");
			o->pods = o->pods || str_streq(name, "pod");
			return 0;
		}
	}
	return config_fail(r, NULL, err, "no such integration: \"%s\"", name);
}

/* Kind.version.group, as in "AppWrapper.v1beta2.workload.codeflare.dev". */
static int read_external(struct config_reader *r, const struct jdoc *d, void *at, struct err *err)
{
	struct kueue_conf_owners_kind *other = at;
	struct str rest = str_of(jdoc_str_or(d, "")), kind = str_next(&rest, '.');
	struct str version = str_next(&rest, '.');

	if (kind.len == 0 || version.len == 0 || rest.len == 0) {
		return config_fail(r, NULL, err, "\"%s\" is not Kind.version.group",
				   jdoc_str_or(d, ""));
	}
	/* The version does not count: an owner reference may name any. */
	other->group = arena_str(r->arena, rest).p;
	other->kind = arena_str(r->arena, kind).p;
	return 0;
}

static int read_label_key(struct config_reader *r, const struct jdoc *d, void *at, struct err *err)
{
	const char *key = jdoc_str_or(d, "");

	*(const char **)at = arena_dup(r->arena, key);
	return validate_is_qualified_name(str_of(key))
		       ? 0
		       : config_fail(r, NULL, err, "\"%s\" is not the key of a label", key);
}

int kueue_conf_owners_read_selector(struct config_reader *r, const struct jdoc *d, void *at,
				    struct err *err)
{
	return selector_from_json(d, r->arena, at, err) < 0 ? err_wrap(err, "%s", r->path.p) : 0;
}

#define AT(type, member) CONFIG_AT(struct kueue_conf_owners, type, member)
#define FLAG(member) CONFIG_FLAG(struct kueue_conf_owners, member)
#define ITEMS(list, count) CONFIG_ITEMS_AT(struct kueue_conf_owners, LIST, list, count)
static const struct config_row integrations[] = {
	{ "frameworks", .type = CONFIG_LIST, .read = read_framework, .absent = FLAG(jobs) },
	{ "externalFrameworks", ITEMS(others, nothers), .read = read_external },
	{ "labelKeysToCopy", ITEMS(label_keys.v, label_keys.n), .read = read_label_key },
	{ .type = CONFIG_END },
};
const struct config_row kueue_conf_owners_rows[] = {
	{ "namespace", AT(TEXT, own_namespace) },
	{ "manageJobsWithoutQueueName", AT(BOOL, without_queue_name) },
	{ "managedJobsNamespaceSelector",
	  CONFIG_CUSTOM_AT(struct kueue_conf_owners, JDOC_OBJECT, kueue_conf_owners_read_selector,
			   namespaces),
	  .present = FLAG(some_namespaces) },
	{ "integrations", .type = CONFIG_OBJECT, .rows = integrations },
	{ .type = CONFIG_END },
};

void kueue_conf_owners_finish(struct kueue_conf_owners *o, struct arena *arena)
{
	struct selector_requirement *requirement = arena_zero(arena, 1, sizeof(*requirement));
	const char **names = arena_zero(arena, 2, sizeof(*names));

	if (!o->some_namespaces) {
		/* Kueue's default: pods of the cluster itself do not wait for quota. */
		names[0] = "kube-system";
		names[1] = o->own_namespace;
		requirement->key = KEYS_NAMESPACE_NAME;
		requirement->op = SELECTOR_NOT_IN;
		requirement->values.v = names;
		requirement->values.n = o->own_namespace == NULL ? 1 : 2;
		o->namespaces = (struct selector){ .requirements = requirement, .n = 1 };
	}
}

int kueue_conf_owners_read(const struct jdoc *d, struct arena *arena, struct kueue_conf_owners *ret,
			   struct err *err)
{
	CLEANUP(config_finish) struct config_reader r = { .arena = arena, .path = STRBUF_INIT };
	struct kueue_conf_owners out = { .own_namespace = NULL };

	if (config_read(&r, kueue_conf_owners_rows, d, &out, err) < 0) {
		return -ERR_INVALID;
	}
	kueue_conf_owners_finish(&out, arena);
	*ret = out;
	return 0;
}
