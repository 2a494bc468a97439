#include "scheduler/base/message_decode.h"

#include "api/kinds.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "enc/json/cut.h"
#include "kube/reflector/reflector.h"

/* A ClusterQueue with one odd amount in its status would be missing altogether after a restart, and
 * its Workloads with it. The next status that is written mends it. */
static bool decodes_without_status(const struct field_table *table, struct str json,
				   struct arena *arena)
{
	struct field rows[FIELD_TABLE_MAX];
	struct field_table rest = { rows, 0, table->size };

	for (size_t i = 0; i < table->count; i++) {
		if (!str_streq(table->rows[i].name, "status")) {
			rows[rest.count++] = table->rows[i];
		}
	}
	return decode_text(&rest, json, arena_zero(arena, 1, table->size), arena, NULL) == 0;
}

struct sched_msg *message_decode(enum sched_resource r, struct str key, struct str json,
				 int64_t resource_version)
{
	struct sched_msg *m = message_new(SCHED_MSG_UPSERT);
	const struct field_table *table = sched_kinds_get(r)->fields;
	void *object = arena_zero(m->arena, 1, table->size);
	struct err err = ERR_INIT;

	m->resource = r;
	m->key = arena_str(m->arena, key);
	m->resource_version = resource_version;
	if (decode_text(table, json, object, m->arena, &err) < 0) {
		/* The cache charges a pod by the part of it that can be read. */
		(void)decode_partial(table, json, object, m->arena, NULL);
		if (!sched_kinds_get(r)->reports ||
		    !decodes_without_status(table, json, m->arena)) {
			m->kind = SCHED_MSG_BAD_OBJECT;
			m->text = arena_dup(m->arena, err.text);
		}
	}
	m->object = object;
	return m;
}

struct sched_msg *message_decode_item(enum sched_resource r, struct str object,
				      const struct cut_meta *meta)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	if (sched_kinds_names(r)->namespaced) {
		strbuf_add_str(&key, meta->namespace_);
		strbuf_add_ch(&key, '/');
	}
	strbuf_add_str(&key, meta->name);
	return message_decode(r, strbuf_str(&key), object, 0);
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
