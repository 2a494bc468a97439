#include "scheduler/ctl/manifest/other_objects.h"

#include "api/kueue/kueue_keys.h"
#include "api/volcano/gate.h"
#include "api/volcano/keys.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "scheduler/ctl/sim/sim_input.h"
#include "scheduler/workloads/conf/kueue_conf_owners.h"

static bool is_queued(const struct jdoc *object)
{
	return jdoc_str_or(jdoc_get(jdoc_path(object, "metadata.labels"), KUEUE_QUEUE_NAME),
			   "")[0] != '\0';
}

/* Whether it opted in, and names one of these schedulers. */
static bool is_gated_for(const struct jdoc *pod, const char *const *gate_schedulers)
{
	const char *scheduler = jdoc_path_str(pod, "spec.schedulerName");
	const struct jdoc *annotations = jdoc_path(pod, "metadata.annotations");
	const struct gate_row *row;
	bool opted_in = false;

	for (size_t i = 0; (row = gate_at(i)) != NULL; i++) {
		opted_in |= jdoc_is_str(jdoc_get(annotations, row->annotation), "true");
	}
	for (; opted_in && gate_schedulers != NULL && *gate_schedulers != NULL; gate_schedulers++) {
		if (str_streq(*gate_schedulers, scheduler)) {
			return true;
		}
	}
	return false;
}

const char *other_objects_label_in_vain(const struct jdoc *pod,
					const struct kueue_conf_owners *owners)
{
	return is_queued(pod) && !owners->pods ? "its label " KUEUE_QUEUE_NAME
						 " has no effect: the configuration does not "
						 "integrate pods (integrations.frameworks)"
					       : NULL;
}

/* NULL: a pod that is scheduled here, or that has a place already. */
static const char *why_not_pod(const struct jdoc *pod, const struct kueue_conf_owners *owners,
			       const char *const *gate_schedulers)
{
	const char *scheduler = jdoc_path_str(pod, "spec.schedulerName");
	const char *phase = jdoc_path_str(pod, "status.phase");
	const char *node = jdoc_path_str(pod, "spec.nodeName");
	const struct jdoc *labels = jdoc_path(pod, "metadata.labels");
	const char *in_vain;

	/* With the mark of managed pods it has a Workload, whatever scheduler places it later. */
	if (str_streq(scheduler, KEYS_DEFAULT_SCHEDULER) || (node != NULL && node[0] != '\0') ||
	    (phase != NULL && !str_streq(phase, "Pending")) ||
	    jdoc_is_str(jdoc_get(labels, KUEUE_MANAGED), "true") ||
	    is_gated_for(pod, gate_schedulers)) {
		return NULL;
	}
	in_vain = other_objects_label_in_vain(pod, owners);
	if (in_vain != NULL) {
		return in_vain;
	}
	return scheduler == NULL || str_streq(scheduler, OTHER_OBJECTS_KUBE_SCHEDULER)
		       ? "its schedulerName is not " KEYS_DEFAULT_SCHEDULER
			 ": Kubernetes' own scheduler places it"
		       : "its schedulerName is not " KEYS_DEFAULT_SCHEDULER
			 ": another scheduler places it";
}

static const char *why_not_job(const struct jdoc *job, const struct kueue_conf_owners *owners)
{
	if (!owners->jobs) {
		return "the configuration does not integrate batch/job "
		       "(integrations.frameworks)";
	}
	return is_queued(job) || owners->without_queue_name ? NULL
							    : "it has no label " KUEUE_QUEUE_NAME
							      ": it does not queue";
}

bool other_objects_job_queues(const struct jdoc *job, const struct kueue_conf_owners *owners)
{
	return why_not_job(job, owners) == NULL;
}

struct sim_report_other *other_objects_list(struct sim_input *in,
					    const struct kueue_conf_owners *owners,
					    const char *const *gate_schedulers, size_t *ret_n)
{
	size_t n, found = 0;
	struct sim_object *const *objects = sim_input_objects(in, &n);
	struct sim_report_other *out = xmalloc_zero(n + 1, sizeof(*out));

	for (size_t i = 0; i < n; i++) {
		const struct sim_object *o = objects[i];
		const char *why =
			o->kind == SCHED_PODS ? why_not_pod(o->json, owners, gate_schedulers)
			: o->kind == SCHED_JOBS && !o->has_pods ? why_not_job(o->json, owners)
								: NULL;

		if (why != NULL) {
			out[found++] = (struct sim_report_other){ o->kind, o->key, why };
		}
	}
	*ret_n = found;
	return out;
}
