/* scheduler/workloads/engine/queue_refresh_throttle.h: when the statuses and gauges of queues may
 * be computed again. This visits every Workload, so it may use 0.5 % of the time, or run once a
 * second. Writing the statuses is followed by a pause of the same length, a few seconds at most,
 * which leaves the API server time for writes of Workloads. Pure: times are given (monotonic ns).
 */
#ifndef SCHEDULER_WORKLOADS_ENGINE_QUEUE_REFRESH_THROTTLE_H
#define SCHEDULER_WORKLOADS_ENGINE_QUEUE_REFRESH_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

struct queue_refresh_throttle {
	int64_t from, made, answered; /* of the last round; zeroed: there was none */
	bool pauses;
};

/* A round ran from `from` to `to`. pauses: leave time for other writes afterwards. */
void queue_refresh_throttle_made(struct queue_refresh_throttle *r, int64_t from, int64_t to,
				 bool pauses);
void queue_refresh_throttle_answer(struct queue_refresh_throttle *r,
				   int64_t now); /* one of its writes */
/* The earliest time of the next one, when all of its writes are answered. */
int64_t queue_refresh_throttle_next(const struct queue_refresh_throttle *r);
/* The same for gauges, which are scraped a few times a minute: between one and ten seconds after
 * the last one, by how long it took. */
int64_t queue_refresh_throttle_next_gauges(const struct queue_refresh_throttle *r);

#endif
