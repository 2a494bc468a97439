/* scheduler/app/quota_rounds.h: when the next round of statuses and gauges of queues is due: a
 * second after the last one began, and later where a round is expensive. Making one out looks at
 * every Workload: that takes a fiftieth of the time at most. Writing it is followed by a pause as
 * long, of a few seconds at most: the API server has it for Workloads. Pure: times are given
 * (monotonic ns). */
#ifndef SCHEDULER_APP_QUOTA_ROUNDS_H
#define SCHEDULER_APP_QUOTA_ROUNDS_H

#include <stdint.h>

struct quota_rounds {
	int64_t from, made, answered; /* of the last round; zeroed: there was none */
};

void quota_rounds_made(struct quota_rounds *r, int64_t from, int64_t to); /* began, made out */
void quota_rounds_answer(struct quota_rounds *r, int64_t now);            /* one of its writes */
/* The earliest time of the next one, when all of its writes are answered. */
int64_t quota_rounds_next(const struct quota_rounds *r);

#endif
