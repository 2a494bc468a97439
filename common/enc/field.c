#include "enc/field.h"

#include <string.h>

/* Index of key in n items of size bytes that begin with their key, sorted; -1: absent. */
static int64_t find(const void *items, size_t n, size_t size, const char *key)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const char *at;
		int c;

		memcpy(&at, (const char *)items + mid * size, sizeof(at));
		c = strcmp(at, key);
		if (c == 0) {
			return (int64_t)mid;
		}
		if (c < 0) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return -1;
}

const char *field_map_get(const struct field_map *m, const char *key)
{
	int64_t i = find(m->v, m->n, sizeof(m->v[0]), key);

	return i < 0 ? NULL : m->v[i].value;
}

bool field_map_is(const struct field_map *m, const char *key, const char *value)
{
	const char *is = field_map_get(m, key);

	return is != NULL && strcmp(is, value) == 0;
}

const struct quantity *field_resources_get(const struct field_resources *r, const char *name)
{
	int64_t i = find(r->v, r->n, sizeof(r->v[0]), name);

	return i < 0 ? NULL : &r->v[i].amount;
}
