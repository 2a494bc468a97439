#include "scheduler/workloads/engine/queue_refresh_throttle.h"

#include "base/clock.h"

#define MAKING_SHARE 200 /* one part in so many */
/* A bound, because other processes may hold up the recomputation that is measured. */
#define MAKING_MAX_NS CLOCK_NS_PER_S
#define GAUGES_MIN_NS CLOCK_NS_PER_S
#define GAUGES_MAX_NS (10 * CLOCK_NS_PER_S)
#define LONGEST_PAUSE_NS (5 * CLOCK_NS_PER_S) /* for other writes */

void queue_refresh_throttle_made(struct queue_refresh_throttle *r, int64_t from, int64_t to,
				 bool pauses)
{
	/* `answered` begins as the time of the round: one that writes nothing is followed by no
	 * pause. */
	*r = (struct queue_refresh_throttle){ from, to, from, pauses };
}

void queue_refresh_throttle_answer(struct queue_refresh_throttle *r, int64_t now)
{
	r->answered = now;
}

int64_t queue_refresh_throttle_next(const struct queue_refresh_throttle *r)
{
	int64_t making = r->made - r->from, writing = r->answered - r->from;
	int64_t pause = r->pauses ? clock_earlier(writing, LONGEST_PAUSE_NS) : 0;

	if (r->made == 0) {
		return 0;
	}
	/* The computation has its share of our time, the pause is the API server's: both are kept
	 * to. */
	return clock_later(r->from + clock_earlier(making * MAKING_SHARE, MAKING_MAX_NS),
			   r->answered + pause);
}

int64_t queue_refresh_throttle_next_gauges(const struct queue_refresh_throttle *r)
{
	int64_t making = (r->made - r->from) * MAKING_SHARE;

	return r->made == 0
		       ? 0
		       : r->from + clock_later(GAUGES_MIN_NS, clock_earlier(making, GAUGES_MAX_NS));
}
