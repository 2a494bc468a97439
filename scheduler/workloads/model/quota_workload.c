#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/workloads/model/quota_store.h"

struct workload *quota_workload_add(struct quota_model *q, struct str key)
{
	struct workload *w = xmalloc_zero(1, sizeof(*w));

	assert(quota_workload_find(q, key) == NULL);
	w->object.arena = arena_create(512);
	w->object.uid = "";
	w->object.active = true;
	w->object.created = MODEL_TIME_NONE;
	w->flags.evicted_at = w->flags.preempted_at = MODEL_TIME_NONE;
	w->flags.reserved_at = w->flags.requeue_at = MODEL_TIME_NONE;
	w->holding.node = MODEL_NONE;
	w->pending.queue = w->pending.local = MODEL_NONE;
	w->pending.where = QUOTA_NOWHERE;
	w->due.at = INT64_MAX;
	/* Ids are given again: a record that may outlive the Workload has its serial. */
	w->serial = ++q->serials;
	w->id = slots_add(&q->workloads, w);
	strmap_set(q->workload_of, key, w);
	/* The map owns the key, which lives as long as the Workload is in it. */
	w->key = strmap_key(q->workload_of, key);
	return w;
}

struct workload *quota_workload_find(const struct quota_model *q, struct str key)
{
	return strmap_get(q->workload_of, key);
}

const char *quota_workload_name(const struct workload *w)
{
	return strchr(w->key, '/') + 1;
}

/* The id is used again: the next Workload that has it must not wait for this one's backoff. */
static void forget_timer(struct quota_model *q, const struct workload *w)
{
	for (size_t i = 0; w->pending.timed && i < q->timers.n; i++) {
		if (q->timers.v[i] == w->id) {
			vec_swap_remove(&q->timers, i);
			return;
		}
	}
}

void quota_workload_remove(struct quota_model *q, struct workload *w)
{
	assert(w->holding.node == MODEL_NONE && w->pending.where == QUOTA_NOWHERE);
	forget_timer(q, w);
	strmap_remove(q->workload_of, str_of(w->key));
	slots_remove(&q->workloads, w->id);
	quota_amounts_finish(&w->holding.usage);
	vec_finish(&w->holding.assigned);
	vec_finish(&w->pending.tried);
	vec_finish(&w->pending.preempted_by);
	arena_destroy(w->object.arena);
	free(w);
}
