#include "scheduler/pods/ledger/attempts.h"

int64_t attempts_pause(int64_t min_ns, int64_t held_ns, uint32_t attempts)
{
	int64_t wait = held_ns > min_ns ? held_ns : min_ns;

	/* It ends at the limit, since a large number of attempts would overflow. */
	for (uint32_t i = 1; i < attempts && wait < ATTEMPTS_MAX_WAIT_NS; i++) {
		wait *= 2;
	}
	return wait < ATTEMPTS_MAX_WAIT_NS ? wait : ATTEMPTS_MAX_WAIT_NS;
}
