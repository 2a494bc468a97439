#include "webhook/admit/admit.h"

#include "lib/unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/err.h"

static void test_first_denial_stays(void **state)
{
	struct arena *arena = arena_create(0);
	struct admit_answer a;

	(void)state;
	admit_answer_init(&a);
	assert_true(a.allowed);
	admit_deny_forbidden(&a, arena, "queue \"%s\"", "q");
	admit_deny_invalid(&a, arena, "second");
	assert_false(a.allowed);
	assert_int_equal(a.code, 403);
	assert_string_equal(a.reason, "Forbidden");
	assert_string_equal(a.message, "queue \"q\"");
	admit_answer_finish(&a);
	arena_destroy(arena);
}

static void test_long_text(void **state)
{
	struct arena *arena = arena_create(0);
	struct admit_answer a;
	char text[3000];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	admit_answer_init(&a);
	admit_deny_invalid(&a, arena, "%s", text);
	assert_string_equal(a.message, text);
	admit_answer_finish(&a);
	arena_destroy(arena);
}

static void test_warning_limit(void **state)
{
	struct arena *arena = arena_create(0);
	struct admit_answer a;

	(void)state;
	admit_answer_init(&a);
	for (int i = 0; i < ADMISSION_MAX_WARNINGS + 1; i++) {
		admit_warn(&a, arena, "%d", i);
	}
	assert_int_equal(a.warning_count, ADMISSION_MAX_WARNINGS);
	assert_string_equal(a.warnings[ADMISSION_MAX_WARNINGS - 1], "15");
	admit_answer_finish(&a);
	arena_destroy(arena);
}

static void test_patch_text(void **state)
{
	struct admit_answer a;

	(void)state;
	admit_answer_init(&a);
	admit_patch_close(&a);
	assert_int_equal(a.patch.len, 0);
	admit_patch_add(&a, "/metadata/annotations", "a/b~c");
	json_out_str(&a.out, "x\"y");
	admit_patch_end(&a);
	admit_patch_remove(&a, "/spec", NULL);
	admit_patch_close(&a);
	assert_string_equal(a.patch.p,
			    "[{\"op\":\"add\",\"path\":\"/metadata/annotations/a~1b~0c\","
			    "\"value\":\"x\\\"y\"},{\"op\":\"remove\",\"path\":\"/spec\"}]");
	admit_answer_finish(&a);
}

static void test_find(void **state)
{
	struct api_queue a = { .meta.name = "a" };
	struct api_queue c = { .meta.name = "c", .status.state = "Closed" };
	struct admit_namespace n = { .name = "n" };
	const struct api_queue *const queues[] = { &a, &c };
	const struct admit_namespace *const spaces[] = { &n };
	struct admit_view v = {
		.queues = queues, .queue_count = 2, .namespaces = spaces, .namespace_count = 1
	};
	struct admit_view none = { 0 };

	(void)state;
	assert_ptr_equal(admit_find_queue(&v, "a"), &a);
	assert_ptr_equal(admit_find_queue(&v, "c"), &c);
	assert_null(admit_find_queue(&v, "b"));
	assert_null(admit_find_queue(&none, "a"));
	assert_ptr_equal(admit_find_namespace(&v, "n"), &n);
	assert_null(admit_find_namespace(&v, NULL));
	assert_null(admit_find_namespace(&none, "n"));
	assert_true(admit_queue_is_open(&a));
	assert_false(admit_queue_is_open(&c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_denial_stays),
		cmocka_unit_test(test_long_text),
		cmocka_unit_test(test_warning_limit),
		cmocka_unit_test(test_patch_text),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
