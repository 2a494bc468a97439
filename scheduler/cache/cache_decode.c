#include "api/namespace.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/scheduling.h"
#include "base/arena.h"
#include "base/err.h"
#include "cache/cache.h"
#include "enc/decode.h"
#include "kube/reflector.h"

static const struct field_table *table_of(enum sched_resource r)
{
	switch (r) {
	case SCHED_PODS:
		return &pod_fields;
	case SCHED_NODES:
		return &node_fields;
	case SCHED_QUEUES:
		return &scheduling_queue_fields;
	case SCHED_PODGROUPS:
		return &scheduling_pod_group_fields;
	case SCHED_PRIORITY_CLASSES:
		return &scheduling_priority_class_fields;
	case SCHED_NAMESPACES:
		return &namespace_fields;
	case SCHED_RESOURCE_COUNT_:
		break;
	}
	return NULL;
}

struct sched_msg *cache_decode(enum sched_resource r, struct str key, struct str json,
			       int64_t resource_version)
{
	struct sched_msg *m = message_new(SCHED_MSG_UPSERT);
	const struct field_table *table = table_of(r);
	void *object = arena_zero(m->arena, 1, table->size);
	struct err err = ERR_INIT;

	m->resource = r;
	m->key = arena_str(m->arena, key);
	m->resource_version = resource_version;
	if (decode_text(table, json, object, m->arena, &err) < 0) {
		m->kind = SCHED_MSG_BAD_OBJECT;
		m->text = arena_dup(m->arena, err.text);
		return m;
	}
	m->object = object;
	return m;
}

struct sched_msg *cache_decode_event(enum sched_resource r, const struct reflector_event *event)
{
	struct sched_msg *m;

	switch (event->kind) {
	case REFLECTOR_UPSERT:
		return cache_decode(r, event->key, event->object, event->resource_version);
	case REFLECTOR_DELETE:
		m = message_new(SCHED_MSG_DELETE);
		m->key = arena_str(m->arena, event->key);
		m->resource_version = event->resource_version;
		break;
	case REFLECTOR_SYNCED:
		m = message_new(SCHED_MSG_SYNCED);
		break;
	case REFLECTOR_RELISTED:
	default:
		return NULL;
	}
	m->resource = r;
	return m;
}
