#include "scheduler/ctl/multikueue/worker_parallel.h"

#include <pthread.h>
#include <stdatomic.h>

struct work {
	atomic_size_t next;
	size_t n;
	void (*fn)(void *ctx, size_t i);
	void *ctx;
};

static void *run(void *ctx)
{
	struct work *w = ctx;
	size_t i;

	while ((i = atomic_fetch_add(&w->next, 1)) < w->n) {
		w->fn(w->ctx, i);
	}
	return NULL;
}

void worker_parallel_run(size_t n, void (*fn)(void *ctx, size_t i), void *ctx)
{
	struct work w = { .n = n, .fn = fn, .ctx = ctx };
	pthread_t threads[WORKER_PARALLEL_THREADS];
	size_t started = 0;

	while (started < n && started < WORKER_PARALLEL_THREADS &&
	       pthread_create(&threads[started], NULL, run, &w) == 0) {
		started++;
	}
	/* The rest, when there are no more threads to be had. */
	if (started == 0) {
		run(&w);
	}
	for (size_t i = 0; i < started; i++) {
		pthread_join(threads[i], NULL);
	}
}
