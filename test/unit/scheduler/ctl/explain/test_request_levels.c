#include "scheduler/ctl/explain/request_levels.h"

#include "lib/unit.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/quota/quota_world.h"

/* "name: quota 4 used 1 asked 7 left 6 <- why" per line; in whole CPUs. */
static void expect(const char *world, const char *queue, const char *asked, const char *expected)
{
	CLEANUP(quota_world_finish) struct quota_world w;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct request_levels levels = { NULL, 0, 0 };
	struct quota_amount need;

	quota_world_init(&w, world);
	need = (struct quota_amount){ quota_world_pair(&w, "default", "cpu"),
				      quota_world_amount("cpu", asked) };
	request_levels_add(w.f, quota_world_id(&w, queue), need, arena, &levels);
	strbuf_add_c(&text, "");
	for (size_t i = 0; i < levels.n; i++) {
		const struct request_level *l = &levels.v[i];

		strbuf_printf(&text,
			      "%s: quota %" PRId64 " used %" PRId64 " asked %" PRId64
			      " left %" PRId64 "%s%s\n",
			      w.q->nodes.v[l->node]->name, l->quota / 1000, l->used / 1000,
			      l->asked / 1000, l->available / 1000,
			      l->shortage == NULL ? "" : " <- ",
			      l->shortage == NULL ? "" : l->shortage);
	}
	assert_string_equal(text.p, expected);
	vec_finish(&levels);
}

/* The example that the docs do by hand. */
#define BY_HAND                                                                                    \
	"cohort all\nquota cohort/all default cpu nominal=2\n"                                     \
	"queue a cohort=all\nquota a default cpu nominal=4 borrow=3\n"                             \
	"queue b cohort=all\nquota b default cpu nominal=6 lend=4\n"                               \
	"workload ns/a1 queue=a cpu=1 holds=default\n"                                             \
	"workload ns/b1 queue=b cpu=3 holds=default\n"

static void test_where_it_ends(void **state)
{
	(void)state;
	expect(BY_HAND, "a", "6",
	       "a: quota 4 used 1 asked 6 left 6\nall: quota 10 used 2 asked 6 left 8\n");
	expect(BY_HAND, "a", "7",
	       "a: quota 4 used 1 asked 7 left 6 <- short by 1 because of borrowingLimit\n"
	       "all: quota 10 used 2 asked 7 left 8\n");
	expect(BY_HAND, "b", "9",
	       "b: quota 6 used 3 asked 9 left 8\nall: quota 10 used 2 asked 9 left 8 <- short by "
	       "1\n");
}

/* Usage within the quota that a queue does not lend is not counted above it. */
static void test_private_quota_stays_below(void **state)
{
	(void)state;
	expect("cohort all\nqueue b cohort=all\nquota b default cpu nominal=6 lend=4\n", "b", "5",
	       "b: quota 6 used 0 asked 5 left 6\nall: quota 4 used 0 asked 3 left 4\n");
	expect("cohort all\nqueue b cohort=all\nquota b default cpu nominal=6 lend=4\n", "b", "2",
	       "b: quota 6 used 0 asked 2 left 6\nall: quota 4 used 0 asked 0 left 4\n");
}

static void test_limits_of_cohorts(void **state)
{
	(void)state;
	expect("cohort root\ncohort side parent=root\nqueue a cohort=side\n"
	       "quota a default cpu nominal=1\n"
	       "quota cohort/side default cpu nominal=1 borrow=2\n"
	       "quota cohort/root default cpu nominal=9\n",
	       "a", "5",
	       "a: quota 1 used 0 asked 5 left 4\n"
	       "side: quota 2 used 0 asked 5 left 4 <- short by 1 because of borrowingLimit\n"
	       "root: quota 11 used 0 asked 5 left 11\n");
}

/* More is used than there is, after the quota was lowered. */
static void test_nothing_is_left_of_what_is_overused(void **state)
{
	(void)state;
	expect("queue a\nquota a default cpu nominal=1\n"
	       "workload ns/w queue=a cpu=3 holds=default\n",
	       "a", "1", "a: quota 1 used 3 asked 1 left 0 <- short by 1\n");
}

/* The rest of a request that is too large to be counted is not known either. */
static void test_requests_beyond_what_is_counted(void **state)
{
	(void)state;
	expect("cohort all\nqueue a cohort=all\nquota a default cpu nominal=4 lend=1 borrow=2\n"
	       "quota cohort/all default cpu nominal=10\n",
	       "a", "9223372036854775806m",
	       "a: quota 4 used 0 asked 9223372036854775 left 6 <- short by more than 9P because "
	       "of borrowingLimit\n"
	       "all: quota 11 used 0 asked 9223372036854775 left 11 <- short by more than 9P\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_where_it_ends),
		cmocka_unit_test(test_private_quota_stays_below),
		cmocka_unit_test(test_limits_of_cohorts),
		cmocka_unit_test(test_nothing_is_left_of_what_is_overused),
		cmocka_unit_test(test_requests_beyond_what_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
