#include "scheduler/orchestrate/price_model.h"

#include <assert.h>
#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "scheduler/orchestrate/replica.h"
#include "scheduler/workloads/ingest/workload_cache.h"
#include "scheduler/workloads/model/quota_store.h"

struct price_model {
	struct workload_cache *cache;
	struct VEC(struct price_facts) facts; /* by id of the Workload */
	int64_t newest;                       /* creation of a Workload; 0: none */
	size_t bad;
	bool rules_complete, complete;
};

/* --- what the model of the engine does not have ------------------------------------------------*/

static int64_t admitted_at(const struct api_workload *w)
{
	const struct api_condition *c = meta_condition(&w->status.conditions, KUEUE_ADMITTED);

	return c != NULL && str_streq(c->status, "True") ? c->last_transition : MODEL_TIME_NONE;
}

/* Kueue: an assignment without a count is of all pods of its pod set, which has one by default. */
static int64_t count_of(const struct api_workload *w, const struct api_pod_set *set)
{
	const char *name = set->name == NULL ? "main" : set->name;
	const struct api_pod_set_assignment *a = kueue_workload_assignment(w, name);
	int64_t count = set->count == FIELD_NO_I32 ? 1 : set->count;
	int64_t left;

	if (a != NULL && a->count != FIELD_NO_I32) {
		count = a->count;
	}
	left = count - kueue_workload_reclaimable(w, name);
	return left < 0 ? 0 : left;
}

static struct price_facts read_facts(const struct api_workload *w)
{
	const struct api_scheduling_stats *stats = w->status.scheduling_stats;
	struct price_facts f = { .admitted_at = admitted_at(w) };

	for (size_t i = 0; i < w->spec.pod_sets.n; i++) {
		const struct api_pod_set *set = &w->spec.pod_sets.v[i];
		int64_t grace = set->template_.spec.grace;

		grace = grace == FIELD_NO_I64 ? PRICE_DEFAULT_GRACE_S : grace;
		f.grace_s = grace > f.grace_s ? grace : f.grace_s;
		f.pods += count_of(w, set);
	}
	for (size_t i = 0; stats != NULL && i < stats->evictions.n; i++) {
		int32_t count = stats->evictions.v[i].count; /* absent: FIELD_NO_I32 */

		f.evictions += count < 0 ? 0 : count;
	}
	return f;
}

static void on_workload(void *ctx, uint32_t id, struct str key UNUSED, struct sched_msg *msg)
{
	static const struct price_facts none = { .admitted_at = MODEL_TIME_NONE };
	struct price_model *m = ctx;

	while (m->facts.n <= id) {
		vec_push(&m->facts, none);
	}
	m->facts.v[id] = msg == NULL ? none : read_facts(msg->object);
}

static void on_bad_object(void *ctx, enum sched_resource r UNUSED, struct str key UNUSED,
			  const char *text UNUSED)
{
	struct price_model *m = ctx;

	m->bad++;
}

/* --- objects -----------------------------------------------------------------------------------*/

struct price_model *price_model_create(const struct kueue_conf *conf)
{
	struct price_model *m = xmalloc_zero(1, sizeof(*m));
	const struct workload_cache_listener listener = { .on_workload = on_workload,
							  .on_bad_object = on_bad_object,
							  .ctx = m };

	m->cache = workload_cache_create(conf, &listener);
	return m;
}

void price_model_destroy(struct price_model *m)
{
	if (m != NULL) {
		workload_cache_destroy(m->cache);
		vec_finish(&m->facts);
		free(m);
	}
}

/* Kueue copies the quota of a variant to the Workload that it was made of, where it does not count
 * (concurrent admission). */
static bool counts_twice(const struct sched_msg *msg)
{
	const struct api_workload *w = msg->object;

	return msg->kind == SCHED_MSG_UPSERT && msg->resource == SCHED_WORKLOADS &&
	       str_streq(field_map_get(&w->meta.labels, KUEUE_VARIANTS_PARENT), "true") &&
	       kueue_workload_is_true(w, KUEUE_QUOTA_RESERVED);
}

void price_model_take(struct price_model *m, struct sched_msg *msg)
{
	assert(!m->complete && (msg->resource == SCHED_WORKLOADS) == m->rules_complete);
	if (msg->kind == SCHED_MSG_BAD_OBJECT) {
		m->bad++;
	} else if (msg->resource == SCHED_WORKLOADS) {
		const struct api_workload *w = msg->object;

		m->newest = clock_later(m->newest, w->meta.created);
	}
	if (!counts_twice(msg)) {
		workload_cache_apply(m->cache, msg, 0);
	}
	message_free(msg);
}

static void synced(struct price_model *m, enum sched_resource r)
{
	struct sched_msg *msg = message_new(SCHED_MSG_SYNCED);

	msg->resource = r;
	workload_cache_apply(m->cache, msg, m->newest);
	message_free(msg);
}

void price_model_rules_complete(struct price_model *m)
{
	/* All of them: the cache waits for every kind that the engine watches, also for those that
	 * change nothing in the model. */
	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		if (r != SCHED_WORKLOADS) {
			synced(m, (enum sched_resource)r);
		}
	}
	m->rules_complete = true;
}

void price_model_complete(struct price_model *m)
{
	assert(m->rules_complete);
	synced(m, SCHED_WORKLOADS);
	(void)workload_cache_settle(m->cache, m->newest);
	m->complete = true;
}

size_t price_model_bad(const struct price_model *m)
{
	return m->bad;
}

/* --- prices ------------------------------------------------------------------------------------*/

static int64_t clock_of(const struct price_model *m, const struct workload *w)
{
	const struct workload_status *s = workload_cache_status(m->cache, w);
	int64_t now = m->newest;

	for (size_t i = 0; s != NULL && i < s->conditions.n; i++) {
		now = clock_later(now, s->conditions.v[i].at);
	}
	return now;
}

void price_model_find(struct price_model *m, struct str key, const char *const *promised,
		      size_t npromised, struct arena *arena, struct price *ret)
{
	struct price_request r = { .forest = workload_cache_forest(m->cache),
				   .w = quota_workload_find(workload_cache_model(m->cache), key),
				   .facts = m->facts.v,
				   .nfacts = m->facts.n,
				   .promised = promised,
				   .npromised = npromised };

	assert(m->complete);
	if (r.w == NULL) {
		*ret = (struct price){ .message = "there is no such Workload",
				       .cost = REPLICA_COST_UNKNOWN };
		return;
	}
	r.now = clock_of(m, r.w);
	price_find(&r, arena, ret);
}
