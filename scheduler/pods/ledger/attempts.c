#include "scheduler/pods/ledger/attempts.h"

int64_t attempts_wait(int64_t least, int64_t held, uint32_t attempts)
{
	int64_t wait = held > least ? held : least;

	for (uint32_t i = 1; i < attempts && wait < ATTEMPTS_MAX_WAIT_NS; i++) {
		wait *= 2;
	}
	return wait < ATTEMPTS_MAX_WAIT_NS ? wait : ATTEMPTS_MAX_WAIT_NS;
}
