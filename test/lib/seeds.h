/* test/lib/seeds.h: the seeds that a random test plays. One thread. */
#ifndef TEST_LIB_SEEDS_H
#define TEST_LIB_SEEDS_H

#include <stdbool.h>
#include <stdint.h>

struct seeds {
	uint64_t first, last; /* both included */
	bool usual;           /* as many as usual: the run as a whole may be judged too */
};

/* 1 to usual, or those of SEEDS=FIRST..LAST in the environment; a value that cannot be read ends
 * the program. */
struct seeds seeds_of_run(uint64_t usual);
/* The same for worlds that are slow under a sanitizer: usually as many as FLEET_WORLDS says. */
struct seeds seeds_of_sampled_run(uint64_t usual);
/* False: text is not FIRST..LAST. */
bool seeds_parse(const char *text, struct seeds *ret);

#endif
