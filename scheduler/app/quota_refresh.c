#include "app/quota_refresh.h"

#include <stdlib.h>

#include "app/quota_gauges.h"
#include "app/quota_refresh_pace.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "cache/quota_cache.h"
#include "controllers/quota_status.h"
#include "kube/pool.h"

#define LOOK_NS (CLOCK_NS_PER_S / 10) /* whether the writes are done: one may back off */

struct quota_refresh {
	const struct clock *clock;
	const struct quota_cache *cache;
	struct quota_families *metrics;
	struct quota_status *queues;
	struct quota_refresh_pace gauges, statuses;
	uint64_t noticed; /* changes of the world that the next two know of */
	bool ungauged;    /* gauges do not show all of them */
	int64_t tell_at;  /* statuses have something to tell; CLOCK_NEVER: nothing */
};

struct quota_refresh *quota_refresh_create(const struct pool_options *base,
					   void (*post)(void *ctx, struct sched_msg *msg),
					   const struct quota_cache *cache,
					   struct quota_families *metrics)
{
	struct quota_refresh *t = xmalloc_zero(1, sizeof(*t));

	t->clock = base->clock;
	t->cache = cache;
	t->metrics = metrics;
	t->queues = quota_status_create(base, post);
	t->tell_at = CLOCK_NEVER;
	return t;
}

void quota_refresh_destroy(struct quota_refresh *t)
{
	if (t != NULL) {
		quota_status_destroy(t->queues);
		free(t);
	}
}

struct pool *quota_refresh_pool(struct quota_refresh *t)
{
	return quota_status_pool(t->queues);
}

void quota_refresh_seen(struct quota_refresh *t, enum sched_resource r, const struct api_meta *meta,
			const struct api_condition *active)
{
	if (quota_status_seen(t->queues, r, meta, active)) {
		t->tell_at = 0;
	}
}

void quota_refresh_gone(struct quota_refresh *t, enum sched_resource r, struct str key)
{
	quota_status_gone(t->queues, r, key);
}

void quota_refresh_done(struct quota_refresh *t, const struct sched_msg *m)
{
	quota_refresh_pace_answer(&t->statuses, clock_mono(t->clock));
	if (quota_status_done(t->queues, m)) {
		t->tell_at = 0;
	}
}

void quota_refresh_changed(struct quota_refresh *t)
{
	t->noticed = 0;
}

static int64_t tell_gauges(struct quota_refresh *t)
{
	int64_t from = clock_mono(t->clock);
	int64_t at = quota_refresh_pace_next_gauges(&t->gauges);

	if (!t->ungauged) {
		return CLOCK_NEVER;
	}
	if (at > from) {
		return at;
	}
	quota_gauges_tell(t->metrics, t->cache);
	quota_refresh_pace_made(&t->gauges, from, clock_mono(t->clock), false);
	t->ungauged = false;
	return CLOCK_NEVER;
}

static int64_t statuses_at(const struct quota_refresh *t)
{
	return t->tell_at == CLOCK_NEVER
		       ? CLOCK_NEVER
		       : clock_later(t->tell_at, quota_refresh_pace_next(&t->statuses));
}

static int64_t tell_statuses(struct quota_refresh *t)
{
	struct quota_status_time now = { .wall = clock_wall(t->clock),
					 .mono = clock_mono(t->clock) };
	bool news;

	if (statuses_at(t) > now.mono) {
		return statuses_at(t);
	}
	/* Each is to tell of the moment at which it is sent. One that backs off waits alone. */
	if (!quota_status_is_idle(t->queues)) {
		return now.mono + LOOK_NS;
	}
	t->tell_at = quota_status_run(t->queues, quota_cache_forest(t->cache), &now, &news);
	quota_refresh_pace_made(&t->statuses, now.mono, clock_mono(t->clock), !news);
	return statuses_at(t);
}

int64_t quota_refresh_step(struct quota_refresh *t)
{
	uint64_t changes = quota_cache_changes(t->cache);

	if (t->noticed != changes) {
		t->noticed = changes;
		t->ungauged = true;
		t->tell_at = 0;
	}
	return clock_earlier(tell_gauges(t), tell_statuses(t));
}
