/* common/process/metric_cell.h: the number behind a counter, a gauge or a histogram, which any
 * layer may change. obs/metric registers families and makes their cells. Any thread: relaxed
 * atomics. */
#ifndef COMMON_PROCESS_METRIC_CELL_H
#define COMMON_PROCESS_METRIC_CELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

/* private; the struct is open for obs/metric, which fills the constant members */
struct metric_cell {
	enum metric_type type;
	const double *bounds; /* histograms: ascending upper bounds; borrowed */
	size_t nbounds;
	_Atomic uint64_t *above; /* histograms: nbounds + 1 buckets, not cumulated; borrowed */
	const _Atomic uint64_t *round; /* gauges: the family's current round; borrowed */
	_Atomic uint64_t set_in;       /* gauges: the round when it was set last */
	_Atomic int64_t count;         /* counters: the value; histograms: the observations */
	_Atomic double value;          /* gauges: the value; histograms: the sum */
};

void metric_cell_add(struct metric_cell *c, int64_t n);        /* counters and gauges */
void metric_cell_set(struct metric_cell *c, double value);     /* gauges */
void metric_cell_observe(struct metric_cell *c, double value); /* histograms */
double metric_cell_get(const struct metric_cell *c);           /* histogram: the sum */
uint64_t metric_cell_observations(const struct metric_cell *c);
/* Observations in bucket i alone (<= nbounds, the last has no bound), not cumulated. */
uint64_t metric_cell_bucket(const struct metric_cell *c, size_t i);
/* Whether the gauge was set in this round (metric_begin). */
bool metric_cell_is_of_round(const struct metric_cell *c, uint64_t round);

#endif
