/* scheduler/workloads/engine/queue_refresh_throttle.h: throttle for statuses and gauges of queues.
 * Recomputing them looks at every Workload that waits or holds quota, so it takes a two-hundredth
 * of the time at most, or is done once a second. Writing them is followed by a pause as long as it
 * took, of a few seconds at most, in which the API server serves writes of Workloads. Pure: times
 * are given (monotonic ns). */
#ifndef SCHEDULER_WORKLOADS_ENGINE_QUEUE_REFRESH_THROTTLE_H
#define SCHEDULER_WORKLOADS_ENGINE_QUEUE_REFRESH_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

struct queue_refresh_throttle {
	int64_t from, made, answered; /* of the last round; zeroed: there was none */
	bool pauses;
};

/* A recomputation began and ended. pauses: its writes are followed by a pause. */
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
