#include "scheduler/base/message_json.h"

#include <stdlib.h>

#include "api/core/batch.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/cut.h"
#include "scheduler/base/message.h"

typedef bool (*keeps_fn)(struct str key);

static bool is_not_managed_fields(struct str key)
{
	return !str_eq_c(key, "managedFields");
}

static bool is_version(struct str key)
{
	return str_eq_c(key, "resourceVersion");
}

static bool is_any(struct str key UNUSED)
{
	return true;
}

static bool is_of_status(struct str key)
{
	return str_eq_c(key, "metadata") || str_eq_c(key, "status");
}

/* Copies the members of an object that are kept; those of metadata by a rule of their own (NULL:
 * the value is copied as it is). False: it is no object. */
static bool copy(struct str object, keeps_fn keeps, keeps_fn keeps_meta, struct strbuf *out)
{
	const char *separator = "";
	struct str key, value;
	struct cut c;

	cut_init(&c, object);
	if (!cut_open(&c, '{')) {
		return false;
	}
	strbuf_add_ch(out, '{');
	while (cut_member(&c, &key, &value)) {
		bool is_meta = keeps_meta != NULL && str_eq_c(key, "metadata");

		if (!keeps(key)) {
			continue;
		}
		strbuf_printf(out, "%s\"%.*s\":", separator, (int)key.len, key.p);
		separator = ",";
		if (!is_meta) {
			strbuf_add_str(out, value);
		} else if (!copy(value, keeps_meta, NULL, out)) {
			return false;
		}
	}
	strbuf_add_ch(out, '}');
	return !c.failed;
}

static void keep(struct sched_msg *m, struct str object, keeps_fn keeps, keeps_fn keeps_meta)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	if (copy(object, keeps, keeps_meta, &text)) {
		m->json = arena_str(m->arena, strbuf_str(&text));
	}
}

void message_json_keep(struct sched_msg *m, struct str object)
{
	keep(m, object, is_any, is_not_managed_fields);
}

void message_json_keep_status(struct sched_msg *m, struct str object)
{
	keep(m, object, is_of_status, is_version);
}

void message_json_lend(struct sched_msg *m, struct str object)
{
	if (m->kind == SCHED_MSG_UPSERT && m->resource == SCHED_JOBS &&
	    batch_is_suspended(m->object) && batch_finished(m->object) == NULL) {
		m->payload = xmalloc_dup_n(object.p, object.len);
		m->free_payload = free;
	}
}

char *message_json_take(struct sched_msg *m)
{
	char *text = m->payload;

	m->payload = NULL;
	return text;
}
