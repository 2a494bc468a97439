/* test/bench/growth.h: how the time of something grows with its size: the exponent e of the power
 * law time = c * size^e that fits best (least squares of the logarithms). Owner: the benchmark. */
#ifndef TEST_BENCH_GROWTH_H
#define TEST_BENCH_GROWTH_H

#include <stddef.h>

struct growth { /* zero: nothing measured yet */
	size_t n;
	double x, y, xx, xy; /* sums over the logarithms */
};

void growth_add(struct growth *g, double size, double time);
double growth_exponent(const struct growth *g); /* of at least two sizes; else 0 */
/* CPU time of this thread, so that other load on the machine does not count. */
double growth_now_ms(void);

#endif
