/* test/lib/workloads/victims_random.h: a quota world and a workload that does not fit into it, from
 * bytes: random bytes in a unit test, the fuzzer's otherwise. Any bytes will do. Owner: the test.
 */
#ifndef TEST_LIB_WORKLOADS_VICTIMS_RANDOM_H
#define TEST_LIB_WORKLOADS_VICTIMS_RANDOM_H

#include "lib/quota/quota_world.h"
#include "lib/workloads/victims_fixture.h"

#define VICTIMS_RANDOM_BYTES 400 /* enough for the largest world */

struct victims_random {
	struct quota_world w;
	struct victims_fixture v;
	struct strbuf text; /* of the world */
	bool is_blocked;    /* the workload does not fit; else no search is needed */
};

void victims_random_init(struct victims_random *x, const uint8_t *bytes, size_t n);
void victims_random_finish(struct victims_random *x);
/* Searches for victims, twice, and checks the answer and that nothing changed; then applies it,
 * and searches for each victim in turn: none of them may get the preemptor. Errors are appended to
 * problems. */
bool victims_random_check(struct victims_random *x, struct arena *arena, struct victims *ret,
			  struct strbuf *problems);

#endif
