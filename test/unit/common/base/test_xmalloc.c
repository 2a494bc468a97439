#include "base/xmalloc.h"

#include "lib/unit.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile size_t huge = SIZE_MAX;

static void ask_product(void)
{
	xmalloc_freep(&(void *){ xmalloc_zero(huge / 2, 3) });
}

static void ask_resize(void)
{
	xmalloc_freep(&(void *){ xmalloc_resize(NULL, 3, huge / 2) });
}

static void ask_dup(void)
{
	xmalloc_freep(&(char *){ xmalloc_dup_n("x", huge) });
}

static void ask_array(void)
{
	xmalloc_freep(&(void *){ xmalloc_dup_array("x", huge / 2, 3) });
}

/* Runs fn in a child with a closed stderr; true if it was ended by abort(). */
static bool aborts(void (*fn)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct rlimit no_core = { 0, 0 };

		setrlimit(RLIMIT_CORE, &no_core);
		close(STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void test_overflow_aborts(void **state)
{
	static void (*const cases[])(void) = { ask_product, ask_resize, ask_dup, ask_array };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		unit_row_number(i);
		assert_true(aborts(cases[i]));
	}
}

static void test_zero_size_is_unique(void **state)
{
	CLEANUP(xmalloc_freep) char *a = xmalloc(0);
	CLEANUP(xmalloc_freep) char *b = xmalloc_zero(0, 8);
	CLEANUP(xmalloc_freep) char *c = xmalloc_resize(NULL, 8, 0);

	(void)state;
	assert_non_null(a);
	assert_non_null(b);
	assert_non_null(c);
	assert_ptr_not_equal(a, b);
	assert_ptr_not_equal(b, c);
}

static void test_zeroed_and_resized(void **state)
{
	CLEANUP(xmalloc_freep) int *v = xmalloc_zero(4, sizeof(int));

	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(v[i], 0);
		v[i] = i;
	}
	v = xmalloc_resize(v, 4000, sizeof(int));
	for (int i = 0; i < 4; i++) {
		assert_int_equal(v[i], i);
	}
}

static void test_text(void **state)
{
	CLEANUP(xmalloc_freep) char *a = xmalloc_dup("queue");
	CLEANUP(xmalloc_freep) char *b = xmalloc_dup_n("queue-a", 5);
	CLEANUP(xmalloc_freep) char *c = xmalloc_dup_n(NULL, 0);
	CLEANUP(xmalloc_freep) char *d = xmalloc_printf("%s-%d", "pod", 7);

	(void)state;
	assert_string_equal(a, "queue");
	assert_string_equal(b, "queue");
	assert_string_equal(c, "");
	assert_string_equal(d, "pod-7");
}

static void test_freep_clears(void **state)
{
	char *p = xmalloc(8);

	(void)state;
	xmalloc_freep(&p);
	assert_null(p);
	xmalloc_freep(&p);
	assert_null(p);
}

static void test_arrays_are_copied(void **state)
{
	const int numbers[] = { 1, 2, 3 };
	int *copy = xmalloc_dup_array(numbers, 3, sizeof(numbers[0]));

	(void)state;
	assert_memory_equal(copy, numbers, sizeof(numbers));
	assert_null(xmalloc_dup_array(numbers, 0, sizeof(numbers[0])));
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overflow_aborts),
		cmocka_unit_test(test_arrays_are_copied),
		cmocka_unit_test(test_zero_size_is_unique),
		cmocka_unit_test(test_zeroed_and_resized),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_freep_clears),
	};

	return cmocka_run_group_tests_name("xmalloc", tests, NULL, NULL);
}
