#include "scheduler/app/standby.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/base/message.h"
#include "scheduler/base/message_json.h"

struct seen {
	struct strmap *latest;    /* key -> the message that is kept */
	struct sched_msg *synced; /* NULL: not listed yet */
	bool refreshed;
};

struct standby {
	struct seen of[SCHED_RESOURCE_COUNT_];
	enum sched_resource watched[SCHED_RESOURCE_COUNT_];
	unsigned n; /* of watched */
};

struct standby *standby_create(void)
{
	return xmalloc_zero(1, sizeof(struct standby));
}

void standby_add(struct standby *s, enum sched_resource r)
{
	s->of[r].latest = strmap_create(NULL);
	s->watched[s->n++] = r;
}

static void free_one(void *ctx UNUSED, struct sched_msg *m)
{
	message_free(m);
}

void standby_destroy(struct standby *s)
{
	if (s == NULL) {
		return;
	}
	standby_hand_over(s, free_one, NULL);
	for (unsigned i = 0; i < s->n; i++) {
		strmap_destroy(s->of[s->watched[i]].latest);
	}
	free(s);
}

bool standby_take(struct standby *s, struct sched_msg *m)
{
	struct seen *seen = &s->of[m->resource];

	switch (m->kind) {
	case SCHED_MSG_UPSERT:
	case SCHED_MSG_BAD_OBJECT:
		/* Of each object the latest version is kept: a standby needs the memory of one
		 * list. */
		message_free(strmap_take(seen->latest, m->key));
		free(message_json_take(m));
		strmap_set(seen->latest, m->key, m);
		return true;
	case SCHED_MSG_DELETE:
		/* The engine begins without objects: one that is gone needs no message. */
		message_free(strmap_take(seen->latest, m->key));
		message_free(m);
		return true;
	case SCHED_MSG_SYNCED:
		message_free(seen->synced);
		seen->synced = m;
		return true;
	case SCHED_MSG_REFRESHED:
		seen->refreshed = true;
		message_free(m);
		return true;
	case SCHED_MSG_REQUEST_DONE:
	case SCHED_MSG_LEASE:
	case SCHED_MSG_CONF:
	case SCHED_MSG_SNAPSHOT:
	case SCHED_MSG_GATE_FIELDS:
	case SCHED_MSG_WATCH:
	case SCHED_MSG_RESOURCE:
	case SCHED_MSG_SURVEY:
	case SCHED_MSG_STOP:
	case SCHED_MSG_KIND_COUNT_:
		break;
	}
	return false;
}

bool standby_is_complete(const struct standby *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		const struct seen *seen = &s->of[s->watched[i]];

		if (seen->synced == NULL || !seen->refreshed) {
			return false;
		}
	}
	return true;
}

struct receiver {
	void (*handle)(void *ctx, struct sched_msg *m);
	void *ctx;
};

static bool pass_on(struct str key UNUSED, void *value, void *ctx)
{
	const struct receiver *r = ctx;

	r->handle(r->ctx, value);
	return true;
}

void standby_hand_over(struct standby *s, void (*handle)(void *ctx, struct sched_msg *m), void *ctx)
{
	struct receiver r = { handle, ctx };

	for (unsigned i = 0; i < s->n; i++) {
		struct seen *seen = &s->of[s->watched[i]];

		/* In no order, as the objects of a LIST come in. Each message passes to handle: the
		 * map only forgets it. */
		strmap_each(seen->latest, pass_on, &r);
		strmap_clear(seen->latest);
		if (seen->synced != NULL) {
			handle(ctx, seen->synced);
			seen->synced = NULL;
		}
	}
}
