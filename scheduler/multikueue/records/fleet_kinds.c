#include "scheduler/multikueue/records/fleet_kinds.h"

#include "api/core/batch.h"
#include "api/core/pod.h"
#include "api/kueue/kueue_workload.h"
#include "kube/reflector/reflector.h"
#include "scheduler/base/message.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/base/message_json.h"

const enum sched_resource *fleet_kinds_watched(bool manages, bool pods)
{
	static const enum sched_resource kinds[] = { SCHED_PODS,
						     SCHED_NAMESPACES,
						     SCHED_JOBS,
						     SCHED_WORKLOADS,
						     SCHED_ADMISSION_CHECKS,
						     SCHED_MULTIKUEUE_CONFIGS,
						     SCHED_MULTIKUEUE_CLUSTERS,
						     SCHED_SECRETS,
						     SCHED_RESOURCE_COUNT_ };

	return manages && pods ? kinds : manages ? kinds + 1 : kinds + 3;
}

bool fleet_kinds_has_all(bool manages, bool pods, unsigned kinds)
{
	const enum sched_resource *all = fleet_kinds_watched(manages, pods);

	for (size_t i = 0; all[i] != SCHED_RESOURCE_COUNT_; i++) {
		if ((kinds & 1u << all[i]) == 0) {
			return false;
		}
	}
	return true;
}

bool fleet_kinds_is_object(const struct sched_msg *m)
{
	return m->kind == SCHED_MSG_UPSERT || m->kind == SCHED_MSG_DELETE ||
	       m->kind == SCHED_MSG_BAD_OBJECT;
}

bool fleet_kinds_is_state(const struct sched_msg *m)
{
	return m->resource == SCHED_CUSTOM && !fleet_kinds_is_object(m) &&
	       m->kind != SCHED_MSG_REQUEST_DONE;
}

/* The manager makes replicas, Jobs and pods of the whole objects. */
static bool is_whole(const struct sched_msg *m)
{
	const struct api_workload *w = m->object;
	const struct api_job *job = m->object;

	switch ((unsigned)m->resource) {
	case SCHED_WORKLOADS:
		return w->status.admission_checks.n > 0;
	case SCHED_JOBS:
		return str_streq(job->spec.managed_by, KUEUE_MULTIKUEUE_CONTROLLER);
	case SCHED_PODS:
		return pod_has_gate(m->object, KUEUE_GATE_ADMISSION);
	default:
		return false;
	}
}

struct sched_msg *fleet_kinds_message(bool manages, enum sched_resource r,
				      const struct reflector_event *event)
{
	struct sched_msg *m = message_decode_event(r, event);

	if (manages && m != NULL && m->kind == SCHED_MSG_UPSERT && is_whole(m)) {
		message_json_keep(m, event->object);
	}
	return m;
}
