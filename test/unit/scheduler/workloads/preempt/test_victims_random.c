/* Invariants of any set of victims, in random worlds. */
#include "scheduler/workloads/preempt/victims.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/rng.h"
#include "lib/workloads/victims_random.h"

#define WORLDS 4000

struct seen {
	unsigned blocked, found, several, reasons[4];
};

static void one_world(uint64_t seed, struct seen *seen)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf problems = STRBUF_INIT;
	CLEANUP(victims_random_finish) struct victims_random x;
	uint8_t bytes[VICTIMS_RANDOM_BYTES];
	struct victims found;
	struct rng rng;

	rng_init(&rng, seed);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (uint8_t)rng_next(&rng);
	}
	victims_random_init(&x, bytes, sizeof(bytes));
	if (!x.is_blocked) {
		return;
	}
	if (!victims_random_check(&x, arena, &found, &problems)) {
		print_error("%s", x.text.p);
		fail_msg("world %llu: %s", (unsigned long long)seed, problems.p);
	}
	seen->blocked++;
	seen->found += found.n > 0;
	seen->several += found.n > 1;
	for (size_t i = 0; i < found.n; i++) {
		seen->reasons[found.v[i].reason]++;
	}
}

static void test_random_worlds(void **state)
{
	struct seen seen = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= WORLDS; seed++) {
		one_world(seed, &seen);
	}
	print_message("%u blocked, %u with victims, %u with several; reasons %u %u %u %u\n",
		      seen.blocked, seen.found, seen.several, seen.reasons[0], seen.reasons[1],
		      seen.reasons[2], seen.reasons[3]);
	/* Each kind of result must be frequent. */
	assert_true(seen.blocked > WORLDS / 4);
	assert_true(seen.found > WORLDS / 10);
	assert_true(seen.several > WORLDS / 50);
	for (int i = 0; i < 4; i++) {
		assert_true(seen.reasons[i] > WORLDS / 50);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_worlds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
