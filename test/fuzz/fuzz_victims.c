/* Random quota worlds and a workload that does not fit, from bytes: victims are eligible, needed
 * and enough, the search changes nothing, and no victim preempts its preemptor in turn. */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "lib/workloads/victims_random.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf problems = STRBUF_INIT;
	CLEANUP(victims_random_finish) struct victims_random x;
	struct victims found;

	victims_random_init(&x, data, size);
	if (x.is_blocked && !victims_random_check(&x, arena, &found, &problems)) {
		fprintf(stderr, "%s%s", x.text.p, problems.p);
		abort();
	}
	return 0;
}
