#include "model/resources.h"

#include <assert.h>
#include <stdlib.h>

#include "base/strmap.h"
#include "base/xmalloc.h"

struct res_names {
	char *names[RES_MAX];
	unsigned count;
	struct strmap *left_out; /* names; values mean nothing */
};

_Static_assert(RES_MAX <= 32, "res_mask returns one bit per dimension in 32 bits");

struct res_names *res_names_create(void)
{
	static const char *const always[] = {
		[RES_CPU] = "cpu",
		[RES_MEMORY] = "memory",
		[RES_PODS] = "pods",
		[RES_EPHEMERAL] = "ephemeral-storage",
	};
	struct res_names *n = xmalloc_zero(1, sizeof(*n));

	_Static_assert(sizeof(always) / sizeof(always[0]) == RES_FIRST_NAMED,
		       "every fixed dimension has its name");
	n->left_out = strmap_create(NULL);
	for (unsigned i = 0; i < RES_FIRST_NAMED; i++) {
		n->names[n->count++] = xmalloc_dup(always[i]);
	}
	return n;
}

void res_names_destroy(struct res_names *n)
{
	if (n == NULL) {
		return;
	}
	for (unsigned i = 0; i < n->count; i++) {
		free(n->names[i]);
	}
	strmap_destroy(n->left_out);
	free(n);
}

unsigned res_names_count(const struct res_names *n)
{
	return n->count;
}

const char *res_names_get(const struct res_names *n, unsigned dim)
{
	assert(dim < n->count);
	return n->names[dim];
}

int res_names_find(const struct res_names *n, struct str name)
{
	for (unsigned i = 0; i < n->count; i++) {
		if (str_eq_c(name, n->names[i])) {
			return (int)i;
		}
	}
	return -1;
}

int res_names_add(struct res_names *n, struct str name)
{
	int dim = res_names_find(n, name);

	if (dim >= 0) {
		return dim;
	}
	if (n->count == RES_MAX) {
		strmap_set(n->left_out, name, NULL);
		return -1;
	}
	n->names[n->count] = xmalloc_dup_n(name.p, name.len);
	return (int)n->count++;
}

size_t res_names_left_out(const struct res_names *n)
{
	return strmap_count(n->left_out);
}

static int64_t sum(int64_t a, int64_t b)
{
	int64_t r;

	if (__builtin_add_overflow(a, b, &r)) {
		return b > 0 ? INT64_MAX : INT64_MIN;
	}
	return r;
}

static int64_t difference(int64_t a, int64_t b)
{
	int64_t r;

	if (__builtin_sub_overflow(a, b, &r)) {
		return b < 0 ? INT64_MAX : INT64_MIN;
	}
	return r;
}

void res_add(struct res *a, const struct res *b)
{
	for (unsigned i = 0; i < RES_MAX; i++) {
		if (a->v[i] == RES_UNLIMITED || b->v[i] == RES_UNLIMITED) {
			a->v[i] = RES_UNLIMITED;
		} else {
			a->v[i] = sum(a->v[i], b->v[i]);
		}
	}
}

void res_sub(struct res *a, const struct res *b)
{
	for (unsigned i = 0; i < RES_MAX; i++) {
		a->v[i] = difference(a->v[i], b->v[i]);
	}
}

void res_sub_floor(struct res *a, const struct res *b)
{
	for (unsigned i = 0; i < RES_MAX; i++) {
		if (a->v[i] != RES_UNLIMITED) {
			int64_t d = difference(a->v[i], b->v[i]);

			a->v[i] = d < 0 ? 0 : d;
		}
	}
}

void res_max(struct res *a, const struct res *b)
{
	for (unsigned i = 0; i < RES_MAX; i++) {
		if (b->v[i] > a->v[i]) {
			a->v[i] = b->v[i];
		}
	}
}

void res_min(struct res *a, const struct res *b)
{
	for (unsigned i = 0; i < RES_MAX; i++) {
		if (b->v[i] < a->v[i]) {
			a->v[i] = b->v[i];
		}
	}
}

void res_fill(struct res *a, int64_t value)
{
	for (unsigned i = 0; i < RES_MAX; i++) {
		a->v[i] = value;
	}
}

bool res_eq(const struct res *a, const struct res *b)
{
	return memcmp(a->v, b->v, sizeof(a->v)) == 0;
}

bool res_is_zero(const struct res *a)
{
	int64_t any = 0;

	for (unsigned i = 0; i < RES_MAX; i++) {
		any |= a->v[i];
	}
	return any == 0;
}

uint32_t res_mask(const struct res *a)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < RES_MAX; i++) {
		mask |= (uint32_t)(a->v[i] > 0) << i;
	}
	return mask;
}

uint32_t res_over(const struct res *used, const struct res *req, const struct res *limit,
		  uint32_t mask)
{
	uint32_t over = 0;

	/* An unlimited dimension needs no case of its own: nothing saturates beyond INT64_MAX. */
	for (; mask != 0; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctz(mask);

		if (sum(used->v[i], req->v[i]) > limit->v[i]) {
			over |= UINT32_C(1) << i;
		}
	}
	return over;
}

double res_share(const struct res *used, const struct res *total, uint32_t mask)
{
	double share = 0;

	for (; mask != 0; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctz(mask);
		double s = 0;

		if (used->v[i] <= 0 || total->v[i] == RES_UNLIMITED) {
			continue;
		}
		s = total->v[i] <= 0 ? 1 : (double)used->v[i] / (double)total->v[i];
		if (s > share) {
			share = s;
		}
	}
	return share;
}
