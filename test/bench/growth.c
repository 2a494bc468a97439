#include "bench/growth.h"

#include <math.h>
#include <time.h>

void growth_add(struct growth *g, double size, double time)
{
	double x = log(size), y = log(time);

	g->n++;
	g->x += x;
	g->y += y;
	g->xx += x * x;
	g->xy += x * y;
}

double growth_exponent(const struct growth *g)
{
	double n = (double)g->n, spread = n * g->xx - g->x * g->x;

	return g->n < 2 || spread <= 0 ? 0 : (n * g->xy - g->x * g->y) / spread;
}

double growth_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}
