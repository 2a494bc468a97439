#include "app/quota_rounds.h"

#include "base/clock.h"

#define INTERVAL_NS CLOCK_NS_PER_S
#define MAKING_SHARE 50                       /* one part in so many */
#define LONGEST_PAUSE_NS (5 * CLOCK_NS_PER_S) /* for others who write */

void quota_rounds_made(struct quota_rounds *r, int64_t from, int64_t to)
{
	*r = (struct quota_rounds){ from, to, from };
}

void quota_rounds_answer(struct quota_rounds *r, int64_t now)
{
	r->answered = now;
}

int64_t quota_rounds_next(const struct quota_rounds *r)
{
	int64_t making = r->made - r->from, writing = r->answered - r->from;
	int64_t pause = clock_earlier(writing, LONGEST_PAUSE_NS);

	if (r->made == 0) {
		return 0;
	}
	return clock_later(r->from + clock_later(INTERVAL_NS, making * MAKING_SHARE),
			   r->answered + pause);
}
