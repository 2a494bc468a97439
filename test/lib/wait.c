#include "lib/wait.h"

#include <poll.h>
#include <stddef.h>

#include "base/clock.h"

#define PAUSE_MS 20

int64_t wait_deadline(int64_t ns)
{
	return clock_mono(clock_real()) + ns;
}

bool wait_until(int64_t deadline)
{
	if (clock_mono(clock_real()) >= deadline) {
		return false;
	}
	(void)poll(NULL, 0, PAUSE_MS);
	return true;
}
