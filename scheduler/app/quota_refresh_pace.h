/* scheduler/app/quota_refresh_pace.h: when what is told of queues may be made out anew: that looks
 * at every Workload that waits or holds quota, and takes a two-hundredth of the time at most, or is
 * done once a second. What is then written is followed by a pause as long as it took, of a few
 * seconds at most: the API server has it for Workloads. Pure: times are given (monotonic ns). */
#ifndef SCHEDULER_APP_QUOTA_REFRESH_PACE_H
#define SCHEDULER_APP_QUOTA_REFRESH_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct quota_refresh_pace {
	int64_t from, made, answered; /* of the last round; zeroed: there was none */
	bool pauses;
};

/* It began, and was made out. pauses: others are to have their turn after it. */
void quota_refresh_pace_made(struct quota_refresh_pace *r, int64_t from, int64_t to, bool pauses);
void quota_refresh_pace_answer(struct quota_refresh_pace *r, int64_t now); /* one of its writes */
/* The earliest time of the next one, when all of its writes are answered. */
int64_t quota_refresh_pace_next(const struct quota_refresh_pace *r);
/* The same for gauges, which are scraped a few times a minute: between one and ten seconds after
 * the last one, by how long it took. */
int64_t quota_refresh_pace_next_gauges(const struct quota_refresh_pace *r);

#endif
