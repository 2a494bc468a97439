#include "base/clock.h"
#include "scheduler/workloads/model/quota_store.h"

/* A Workload that was evicted because its pods were late, or by a check, queues from the time of
 * its eviction. Without sorting by priority in the cohort, a victim of reclaim while borrowing
 * would be admitted first and preempted again, so it also queues from its eviction (Kueue:
 * queue-order timestamp). */
int64_t workload_queue_time(const struct quota_model *q, const struct workload *w)
{
	if (w->flags.evicted && w->flags.evicted_by_timeout && !q->options.timestamp_creation) {
		return w->flags.evicted_at;
	}
	if (w->flags.evicted && w->flags.evicted_by_check) {
		return w->flags.evicted_at;
	}
	if (!q->options.priority_sorting && w->flags.reclaimed_while_borrowing) {
		return w->flags.preempted_at + CLOCK_NS_PER_MS;
	}
	return w->object.created;
}
