#include "scheduler/ctl/multikueue/worker_parallel.h"

#include "lib/unit.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/attrs.h"

#define MANY 100

static atomic_int called[MANY];

static void count(void *ctx, size_t i)
{
	assert_ptr_equal(ctx, called);
	atomic_fetch_add(&called[i], 1);
}

static void each_is_called_once(void **state UNUSED)
{
	static const size_t rows[] = { 0, 1, 2, WORKER_PARALLEL_THREADS, MANY };

	for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
		unit_row_number(r);
		for (size_t i = 0; i < MANY; i++) {
			atomic_store(&called[i], 0);
		}
		worker_parallel_run(rows[r], count, called);
		for (size_t i = 0; i < MANY; i++) {
			assert_int_equal(atomic_load(&called[i]), i < rows[r]);
		}
	}
}

static void meet(void *ctx, size_t i UNUSED)
{
	(void)pthread_barrier_wait(ctx);
}

/* Each of them waits for all others, as for workers that do not answer. */
static void they_run_at_the_same_time(void **state UNUSED)
{
	pthread_barrier_t barrier;

	assert_int_equal(pthread_barrier_init(&barrier, NULL, WORKER_PARALLEL_THREADS), 0);
	worker_parallel_run(WORKER_PARALLEL_THREADS, meet, &barrier);
	pthread_barrier_destroy(&barrier);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_called_once),
		cmocka_unit_test(they_run_at_the_same_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
