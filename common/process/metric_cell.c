#include "process/metric_cell.h"

#include <assert.h>

/* Atomics have no addition of doubles. A failed exchange has put the present value into old. */
static void add_double(_Atomic double *cell, double n)
{
	double old = atomic_load_explicit(cell, memory_order_relaxed);

	while (!atomic_compare_exchange_weak_explicit(cell, &old, old + n, memory_order_relaxed,
						      memory_order_relaxed)) {
	}
}

void metric_cell_add(struct metric_cell *c, int64_t n)
{
	assert(c->type != METRIC_HISTOGRAM);
	if (c->type == METRIC_COUNTER) {
		atomic_fetch_add_explicit(&c->count, n, memory_order_relaxed);
	} else {
		add_double(&c->value, (double)n);
	}
}

/* The cell remembers the round, by which metric_end finds the cells that were not set in it. */
void metric_cell_set(struct metric_cell *c, double value)
{
	assert(c->type == METRIC_GAUGE);
	atomic_store_explicit(&c->value, value, memory_order_relaxed);
	atomic_store_explicit(&c->set_in, atomic_load_explicit(c->round, memory_order_relaxed),
			      memory_order_relaxed);
}

void metric_cell_observe(struct metric_cell *c, double value)
{
	size_t i = 0;

	assert(c->type == METRIC_HISTOGRAM);
	/* Not value > bound: NaN, too, goes to the last bucket. */
	while (i < c->nbounds && !(value <= c->bounds[i])) {
		i++;
	}
	/* The three are not changed together: exposition computes the count from the buckets. */
	atomic_fetch_add_explicit(&c->above[i], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&c->count, 1, memory_order_relaxed);
	add_double(&c->value, value);
}

double metric_cell_get(const struct metric_cell *c)
{
	if (c->type == METRIC_COUNTER) {
		return (double)atomic_load_explicit(&c->count, memory_order_relaxed);
	}
	return atomic_load_explicit(&c->value, memory_order_relaxed);
}

uint64_t metric_cell_observations(const struct metric_cell *c)
{
	return (uint64_t)atomic_load_explicit(&c->count, memory_order_relaxed);
}

uint64_t metric_cell_bucket(const struct metric_cell *c, size_t i)
{
	assert(c->type == METRIC_HISTOGRAM && i <= c->nbounds);
	return atomic_load_explicit(&c->above[i], memory_order_relaxed);
}

bool metric_cell_is_of_round(const struct metric_cell *c, uint64_t round)
{
	return atomic_load_explicit(&c->set_in, memory_order_relaxed) == round;
}
