#include "scheduler/workloads/engine/queue_refresh.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/xmalloc.h"
#include "kube/pool.h"
#include "scheduler/workloads/engine/queue_refresh_throttle.h"
#include "scheduler/workloads/ingest/workload_cache.h"
#include "scheduler/workloads/metrics/queue_gauges.h"
#include "scheduler/workloads/writes/queue_statuses.h"

#define LOOK_NS (CLOCK_NS_PER_S / 10) /* until the next check whether the writes are done */

struct queue_refresh {
	const struct clock *clock;
	const struct workload_cache *cache;
	struct metric_families *metrics;
	struct queue_statuses *queues;
	struct queue_refresh_throttle gauges, statuses;
	uint64_t noticed; /* changes of the model that the next two know of */
	bool gauges_dirty;
	int64_t write_at; /* statuses are due; CLOCK_NEVER: nothing to write */
};

struct queue_refresh *queue_refresh_create(const struct pool_options *base,
					   void (*post)(void *ctx, struct sched_msg *msg),
					   const struct workload_cache *cache,
					   struct metric_families *metrics)
{
	struct queue_refresh *t = xmalloc_zero(1, sizeof(*t));

	t->clock = base->clock;
	t->cache = cache;
	t->metrics = metrics;
	t->queues = queue_statuses_create(base, post);
	t->write_at = CLOCK_NEVER;
	return t;
}

void queue_refresh_destroy(struct queue_refresh *t)
{
	if (t != NULL) {
		queue_statuses_destroy(t->queues);
		free(t);
	}
}

struct pool *queue_refresh_pool(struct queue_refresh *t)
{
	return queue_statuses_pool(t->queues);
}

void queue_refresh_seen(struct queue_refresh *t, enum sched_resource r, const struct api_meta *meta,
			const struct api_condition *active)
{
	if (queue_statuses_seen(t->queues, r, meta, active)) {
		/* 0 is as soon as the throttle allows: statuses_at takes the later of both times.
		 */
		t->write_at = 0;
	}
}

void queue_refresh_gone(struct queue_refresh *t, enum sched_resource r, struct str key)
{
	queue_statuses_gone(t->queues, r, key);
}

void queue_refresh_done(struct queue_refresh *t, const struct sched_msg *m)
{
	queue_refresh_throttle_answer(&t->statuses, clock_mono(t->clock));
	if (queue_statuses_done(t->queues, m)) {
		t->write_at = 0;
	}
}

void queue_refresh_changed(struct queue_refresh *t)
{
	t->noticed = 0;
}

static int64_t refresh_gauges(struct queue_refresh *t)
{
	int64_t from = clock_mono(t->clock);
	int64_t at = queue_refresh_throttle_next_gauges(&t->gauges);

	if (!t->gauges_dirty) {
		return CLOCK_NEVER;
	}
	if (at > from) {
		return at;
	}
	queue_gauges_set(t->metrics, t->cache);
	queue_refresh_throttle_made(&t->gauges, from, clock_mono(t->clock), false);
	t->gauges_dirty = false;
	return CLOCK_NEVER;
}

static int64_t statuses_at(const struct queue_refresh *t)
{
	return t->write_at == CLOCK_NEVER
		       ? CLOCK_NEVER
		       : clock_later(t->write_at, queue_refresh_throttle_next(&t->statuses));
}

static int64_t refresh_statuses(struct queue_refresh *t)
{
	struct queue_statuses_time now = { .wall = clock_wall(t->clock),
					   .mono = clock_mono(t->clock) };
	bool news;

	if (statuses_at(t) > now.mono) {
		return statuses_at(t);
	}
	/* Each status shows the moment at which it is sent, so a new round waits until the last one
	 * is sent. A write that backs off does not hold up the others. */
	if (!queue_statuses_is_idle(t->queues)) {
		return now.mono + LOOK_NS;
	}
	t->write_at = queue_statuses_run(t->queues, workload_cache_forest(t->cache), &now, &news);
	/* No pause after news: a round sends a few statuses only, so more news may wait. */
	queue_refresh_throttle_made(&t->statuses, now.mono, clock_mono(t->clock), !news);
	return statuses_at(t);
}

/* The count of changes does not say which queue they are about: gauges and statuses of all are due,
 * and the throttles gather changes. */
int64_t queue_refresh_step(struct queue_refresh *t)
{
	uint64_t changes = workload_cache_changes(t->cache);

	if (t->noticed != changes) {
		t->noticed = changes;
		t->gauges_dirty = true;
		t->write_at = 0;
	}
	return clock_earlier(refresh_gauges(t), refresh_statuses(t));
}
