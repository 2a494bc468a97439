#include "scheduler/pods/model/volume_limits.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler/pods/model/model.h"

static int by_driver(const void *a, const void *b)
{
	const struct volume_limit *x = a, *y = b;
	int r = strcmp(x->driver, y->driver);

	return r != 0 ? r : (x->count > y->count) - (x->count < y->count);
}

void volume_limits_sort(struct volume_limit *limits, size_t n)
{
	if (n > 1) {
		qsort(limits, n, sizeof(*limits), by_driver);
	}
}

const struct volume_limit *volume_limits_find(const struct node *n, const char *driver)
{
	size_t from = 0, to = n->limits.n;

	/* The first one that is not below: of several the least. */
	while (driver != NULL && from < to) {
		size_t mid = from + (to - from) / 2;

		if (strcmp(n->limits.v[mid].driver, driver) < 0) {
			from = mid + 1;
		} else {
			to = mid;
		}
	}
	return driver != NULL && from < n->limits.n && n->limits.v[from].driver == driver
		       ? &n->limits.v[from]
		       : NULL;
}
