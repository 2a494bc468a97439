#include "scheduler/pods/session/hooks_fallback.h"

#include <stdio.h>

#include "base/attrs.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"

static char text[16][32];
static size_t used;

/* The model owns its names; here they live until the next test. */
static char *own(const char *s)
{
	char *p = text[used++ % ARRAY_LEN(text)];

	snprintf(p, sizeof(text[0]), "%s", s);
	return p;
}

static int sign(int r)
{
	return r < 0 ? -1 : r > 0;
}

static void test_tasks(void **state)
{
	static const struct {
		const char *what;
		struct {
			const char *name, *uid;
			int64_t created;
		} a, b;
		int expected;
	} rows[] = {
		{ "numbers, not text", { "j-w-2", "b", 9 }, { "j-w-10", "a", 1 }, -1 },
		{ "across roles", { "j-ps-3", "a", 1 }, { "j-worker-1", "b", 2 }, 1 },
		{ "equal numbers: time", { "j-ps-1", "b", 1 }, { "j-worker-1", "a", 2 }, -1 },
		{ "two parts only: time", { "j-2", "a", 5 }, { "j-1", "b", 6 }, -1 },
		{ "one side has two parts", { "j-2", "a", 5 }, { "j-w-1", "b", 6 }, -1 },
		{ "one side has no number", { "j-w-x", "a", 5 }, { "j-w-1", "b", 6 }, -1 },
		{ "no number at the end", { "j-w-", "a", 5 }, { "j-w-1", "b", 4 }, 1 },
		{ "equal time: uid", { "x", "b", 5 }, { "y", "a", 5 }, 1 },
		{ "equal uid: name", { "x", "a", 5 }, { "y", "a", 5 }, -1 },
		{ "the same", { "x", "a", 5 }, { "x", "a", 5 }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct task a = { .namespace_ = "ns",
				  .name = own(rows[i].a.name),
				  .uid = rows[i].a.uid,
				  .created = rows[i].a.created };
		struct task b = { .namespace_ = "ns",
				  .name = own(rows[i].b.name),
				  .uid = rows[i].b.uid,
				  .created = rows[i].b.created };

		print_message("%s\n", rows[i].what);
		assert_int_equal(sign(hooks_fallback_task(&a, &b)), rows[i].expected);
		assert_int_equal(sign(hooks_fallback_task(&b, &a)), -rows[i].expected);
	}
}

static void test_task_namespace_counts_before_name(void **state)
{
	struct task a = { .namespace_ = "b", .name = own("x"), .uid = "" };
	struct task b = { .namespace_ = "a", .name = own("y"), .uid = "" };

	(void)state;
	assert_true(hooks_fallback_task(&a, &b) > 0);
}

static void test_podgroups(void **state)
{
	struct podgroup a = { .namespace_ = "a", .name = own("x"), .uid = own("2"), .created = 1 };
	struct podgroup b = { .namespace_ = "a", .name = own("x"), .uid = own("1"), .created = 2 };

	(void)state;
	assert_true(hooks_fallback_podgroup(&a, &b) < 0);
	b.created = 1;
	assert_true(hooks_fallback_podgroup(&a, &b) > 0);
	b.uid = NULL; /* no PodGroup yet */
	assert_true(hooks_fallback_podgroup(&a, &b) > 0);
	a.uid = NULL;
	assert_int_equal(hooks_fallback_podgroup(&a, &b), 0);
	b.namespace_ = "b";
	assert_true(hooks_fallback_podgroup(&a, &b) < 0);
	b.namespace_ = "a";
	b.name = own("y");
	assert_true(hooks_fallback_podgroup(&a, &b) < 0);
}

static void test_queues(void **state)
{
	struct queue a = { .name = own("x"), .uid = own("2"), .created = 1, .parent = MODEL_NONE };
	struct queue b = { .name = own("y"), .uid = own("1"), .created = 2, .parent = MODEL_NONE };

	(void)state;
	assert_true(hooks_fallback_queue(NULL, &a, &b) < 0);
	b.created = 1;
	assert_true(hooks_fallback_queue(NULL, &a, &b) > 0);
	a.uid = b.uid = NULL;
	assert_true(hooks_fallback_queue(NULL, &a, &b) < 0);
	assert_int_equal(hooks_fallback_queue(NULL, &a, &a), 0);
}

/* root - old (1) - o1 (9) - o2 (2), root - young (5) - y1 (3) */
static void test_queues_go_by_their_branches(void **state)
{
	static const char *const order[] = { "root", "old", "o1", "o2", "young", "y1" };
	struct cluster *c = cluster_create();
	const struct queue *v[ARRAY_LEN(order)];

	(void)state;
	cluster_fixture_queue(c, "old", NULL, -1)->created = 1;
	cluster_fixture_queue(c, "young", NULL, -1)->created = 5;
	cluster_fixture_queue(c, "o1", "old", -1)->created = 9;
	cluster_fixture_queue(c, "o2", "o1", -1)->created = 2;
	cluster_fixture_queue(c, "y1", "young", -1)->created = 3;
	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		v[i] = queue_find(c, str_of(order[i]));
	}
	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		for (size_t k = 0; k < ARRAY_LEN(order); k++) {
			assert_int_equal(sign(hooks_fallback_queue(c, v[i], v[k])),
					 (i > k) - (i < k));
		}
	}
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_task_namespace_counts_before_name),
		cmocka_unit_test(test_podgroups),
		cmocka_unit_test(test_queues),
		cmocka_unit_test(test_queues_go_by_their_branches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
