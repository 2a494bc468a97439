#include "scheduler/base/message_decode.h"

#include "api/batch.h"
#include "api/kueue.h"
#include "api/kueue_workload.h"
#include "api/limit_range.h"
#include "api/namespace.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/runtime_class.h"
#include "api/scheduling.h"
#include "base/arena.h"
#include "base/err.h"
#include "enc/decode.h"
#include "kube/reflector.h"

static const struct field_table *const tables[SCHED_RESOURCE_COUNT_] = {
	[SCHED_PODS] = &pod_fields,
	[SCHED_NODES] = &node_fields,
	[SCHED_QUEUES] = &scheduling_queue_fields,
	[SCHED_PODGROUPS] = &scheduling_pod_group_fields,
	[SCHED_PRIORITY_CLASSES] = &scheduling_priority_class_fields,
	[SCHED_NAMESPACES] = &namespace_fields,
	[SCHED_FLAVORS] = &kueue_resource_flavor_fields,
	[SCHED_CLUSTER_QUEUES] = &kueue_cluster_queue_fields,
	[SCHED_COHORTS] = &kueue_cohort_fields,
	[SCHED_LOCAL_QUEUES] = &kueue_local_queue_fields,
	[SCHED_WORKLOADS] = &kueue_workload_fields,
	[SCHED_WORKLOAD_PRIORITY_CLASSES] = &kueue_workload_priority_class_fields,
	[SCHED_ADMISSION_CHECKS] = &kueue_admission_check_fields,
	[SCHED_LIMIT_RANGES] = &limit_range_fields,
	[SCHED_RUNTIME_CLASSES] = &runtime_class_fields,
	[SCHED_JOBS] = &batch_job_fields,
};

struct sched_msg *message_decode(enum sched_resource r, struct str key, struct str json,
				 int64_t resource_version)
{
	struct sched_msg *m = message_new(SCHED_MSG_UPSERT);
	const struct field_table *table = tables[r];
	void *object = arena_zero(m->arena, 1, table->size);
	struct err err = ERR_INIT;

	m->resource = r;
	m->key = arena_str(m->arena, key);
	m->resource_version = resource_version;
	if (decode_text(table, json, object, m->arena, &err) < 0) {
		m->kind = SCHED_MSG_BAD_OBJECT;
		m->text = arena_dup(m->arena, err.text);
		(void)decode_partial(table, json, object, m->arena, NULL);
	}
	m->object = object;
	return m;
}

struct sched_msg *message_decode_event(enum sched_resource r, const struct reflector_event *event)
{
	struct sched_msg *m;

	switch (event->kind) {
	case REFLECTOR_UPSERT:
		return message_decode(r, event->key, event->object, event->resource_version);
	case REFLECTOR_DELETE:
		m = message_new(SCHED_MSG_DELETE);
		m->key = arena_str(m->arena, event->key);
		m->resource_version = event->resource_version;
		break;
	case REFLECTOR_SYNCED:
		m = message_new(SCHED_MSG_SYNCED);
		break;
	case REFLECTOR_REFRESHED:
		m = message_new(SCHED_MSG_REFRESHED);
		break;
	case REFLECTOR_RELISTED:
	default:
		return NULL;
	}
	m->resource = r;
	return m;
}
