/* scheduler/ctl/multikueue/worker_parallel.h: asks several worker clusters at the same time, so
 * that one that does not answer does not hold the others back. */
#ifndef SCHEDULER_CTL_MULTIKUEUE_WORKER_PARALLEL_H
#define SCHEDULER_CTL_MULTIKUEUE_WORKER_PARALLEL_H

#include <stddef.h>

/* Calls fn for each i below n, up to WORKER_PARALLEL_THREADS at a time and in any order, each on a
 * thread of its own; returns when all have returned. */
#define WORKER_PARALLEL_THREADS 32
void worker_parallel_run(size_t n, void (*fn)(void *ctx, size_t i), void *ctx);

#endif
