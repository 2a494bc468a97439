#include "scheduler/pods/values/resources.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/saturating.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"

#define SLACK_BYTES (1u << 18) /* not worth a sweep */

struct res_more {
	struct res_names *owner; /* NULL: one of the constants below */
	struct res_more *next;   /* of the same owner */
	bool marked;
	uint32_t n;
	int64_t rest; /* of all dimensions after the n */
	int64_t v[];  /* from RES_DENSE on */
};

struct res_names {
	struct VEC(char *) names;
	struct strmap *dims;     /* values: dim + 1 */
	struct strmap *left_out; /* names; values mean nothing */
	struct res_more *more;   /* all there are */
	size_t bytes, bytes_swept;
};

_Static_assert(RES_DENSE == 31, "a mask has one bit per dense dimension and one for the others");

/* Vectors that are the same in every dimension need no names. */
static struct res_more all_unlimited = { .rest = RES_UNLIMITED };
static struct res_more all_minus_one = { .rest = -1 };

static struct res_more *constant(int64_t value)
{
	return value == 0 ? NULL : value < 0 ? &all_minus_one : &all_unlimited;
}

static void add_name(struct res_names *n, struct str name)
{
	vec_push(&n->names, xmalloc_dup_n(name.p, name.len));
	strmap_set(n->dims, name, (void *)n->names.n);
}

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
	n->dims = strmap_create(NULL);
	n->left_out = strmap_create(NULL);
	for (unsigned i = 0; i < RES_FIRST_NAMED; i++) {
		add_name(n, str_of(always[i]));
	}
	return n;
}

void res_names_destroy(struct res_names *n)
{
	if (n == NULL) {
		return;
	}
	for (size_t i = 0; i < n->names.n; i++) {
		free(n->names.v[i]);
	}
	vec_finish(&n->names);
	strmap_destroy(n->dims);
	strmap_destroy(n->left_out);
	while (n->more != NULL) {
		struct res_more *m = n->more;

		n->more = m->next;
		free(m);
	}
	free(n);
}

unsigned res_names_count(const struct res_names *n)
{
	return (unsigned)n->names.n;
}

const char *res_names_get(const struct res_names *n, unsigned dim)
{
	assert(dim < n->names.n);
	return n->names.v[dim];
}

/* The map has dim + 1, so that absence, NULL, becomes -1. */
int res_names_find(const struct res_names *n, struct str name)
{
	return (int)(uintptr_t)strmap_get(n->dims, name) - 1;
}

int res_names_add(struct res_names *n, struct str name)
{
	int dim = res_names_find(n, name);

	if (dim >= 0) {
		return dim;
	}
	if (n->names.n == RES_NAMES_MAX) {
		/* Remembered, so that each is counted once. */
		strmap_set(n->left_out, name, NULL);
		return -1;
	}
	add_name(n, name);
	return (int)n->names.n - 1;
}

size_t res_names_left_out(const struct res_names *n)
{
	return strmap_count(n->left_out);
}

/* When as much again was allocated as the last sweep left: sweeps then cost no more than the
 * allocations did. */
bool res_names_wants_sweep(const struct res_names *n)
{
	return n->bytes > 2 * n->bytes_swept + SLACK_BYTES;
}

void res_names_mark(const struct res *r)
{
	if (r->more != NULL && r->more->owner != NULL) {
		r->more->marked = true;
	}
}

static size_t bytes_of(uint32_t n)
{
	return sizeof(struct res_more) + n * sizeof(int64_t);
}

void res_names_sweep(struct res_names *n)
{
	struct res_more **at = &n->more;

	n->bytes = 0;
	while (*at != NULL) {
		struct res_more *m = *at;

		if (m->marked) {
			m->marked = false;
			n->bytes += bytes_of(m->n);
			at = &m->next;
		} else {
			*at = m->next;
			free(m);
		}
	}
	n->bytes_swept = n->bytes;
}

static void more_own(struct res_names *owner, struct res_more *m)
{
	m->next = owner->more;
	owner->more = m;
	owner->bytes += bytes_of(m->n);
}

static struct res_more *more_new(struct res_names *owner, uint32_t n, int64_t rest)
{
	struct res_more *m = xmalloc_zero(1, bytes_of(n));

	assert(owner != NULL); /* of the operands, one has further dimensions */
	m->owner = owner;
	m->n = n;
	m->rest = rest;
	more_own(owner, m);
	return m;
}

/* Of dimension RES_DENSE + i. */
static int64_t more_get(const struct res_more *m, uint32_t i)
{
	return m == NULL ? 0 : i < m->n ? m->v[i] : m->rest;
}

static uint32_t more_n(const struct res_more *m)
{
	return m == NULL ? 0 : m->n;
}

int64_t res_get(const struct res *r, unsigned dim)
{
	return dim < RES_DENSE ? r->v[dim] : more_get(r->more, dim - RES_DENSE);
}

unsigned res_width(const struct res *r)
{
	return RES_DENSE + more_n(r->more);
}

struct res_edit res_edit_begin(struct res_names *names, struct res *r)
{
	return (struct res_edit){ .r = r, .names = names };
}

int64_t res_edit_get(const struct res_edit *e, unsigned dim)
{
	return e->more == NULL || dim < RES_DENSE ? res_get(e->r, dim)
						  : more_get(e->more, dim - RES_DENSE);
}

/* Room for n further dimensions. Vectors are immutable, since other structs may share them: what r
 * has is copied, and stays until a sweep. */
static void edit_reserve(struct res_edit *e, uint32_t n)
{
	const struct res_more *from = e->more != NULL ? e->more : e->r->more;
	struct res_more *m;

	n = n > more_n(from) ? n : more_n(from);
	if (e->more != NULL && n <= e->room) {
		return;
	}
	/* The first set may be the only one. */
	e->room = e->more == NULL ? n : 2 * n;
	m = xmalloc_zero(1, bytes_of(e->room));
	m->owner = e->names;
	m->n = more_n(from);
	m->rest = from == NULL ? 0 : from->rest;
	for (uint32_t i = 0; i < m->n; i++) {
		m->v[i] = from->v[i];
	}
	free(e->more);
	e->more = m;
}

void res_edit_set(struct res_edit *e, unsigned dim, int64_t value)
{
	if (dim < RES_DENSE) {
		e->r->v[dim] = value;
		return;
	}
	if (res_edit_get(e, dim) == value) {
		return;
	}
	dim -= RES_DENSE;
	edit_reserve(e, dim + 1);
	while (e->more->n <= dim) {
		e->more->v[e->more->n++] = e->more->rest;
	}
	e->more->v[dim] = value;
}

void res_edit_end(struct res_edit *e)
{
	if (e->more != NULL) {
		assert(e->names != NULL);
		e->r->more = xmalloc_resize(e->more, 1, bytes_of(e->more->n));
		more_own(e->names, e->r->more);
	}
}

/* Unlimited is a value of its own here, not a number that can grow or shrink. */
static inline int64_t add_one(int64_t a, int64_t b)
{
	return a == RES_UNLIMITED || b == RES_UNLIMITED ? RES_UNLIMITED : saturating_add(a, b);
}

static inline int64_t sub_floor_one(int64_t a, int64_t b)
{
	int64_t d;

	if (a == RES_UNLIMITED) {
		return a;
	}
	d = saturating_sub(a, b);
	return d < 0 ? 0 : d;
}

static inline int64_t max_one(int64_t a, int64_t b)
{
	return b > a ? b : a;
}

static inline int64_t min_one(int64_t a, int64_t b)
{
	return b < a ? b : a;
}

static inline int64_t inherit_one(int64_t a, int64_t b)
{
	return a == RES_UNLIMITED ? b : a;
}

/* Of sums that are kept: up saturating, down not below 0. */
static int64_t book_up(int64_t a, int64_t b)
{
	return saturating_add(a, b);
}

static int64_t book_down(int64_t a, int64_t b)
{
	return a > b ? a - b : 0;
}

/* Of the further dimensions of a and b, one by one. */
static struct res_more *combine(const struct res_more *a, const struct res_more *b,
				int64_t (*op)(int64_t a, int64_t b))
{
	uint32_t n = more_n(a) > more_n(b) ? more_n(a) : more_n(b);
	int64_t rest = op(more_get(a, n), more_get(b, n)), differs = 0;
	struct res_names *owner = a != NULL && a->owner != NULL ? a->owner
				  : b == NULL                   ? NULL
								: b->owner;
	struct res_more *m;

	for (uint32_t i = 0; i < n; i++) {
		differs |= op(more_get(a, i), more_get(b, i)) ^ rest;
	}
	/* A result that is the same in every dimension takes no memory. */
	if (differs == 0 && (owner == NULL || rest == 0 || rest == -1 || rest == RES_UNLIMITED)) {
		return constant(rest);
	}
	m = more_new(owner, n, rest);
	for (uint32_t i = 0; i < n; i++) {
		m->v[i] = op(more_get(a, i), more_get(b, i));
	}
	return m;
}

#define COMBINE(a, b, op)                                                                          \
	do {                                                                                       \
		for (unsigned i_ = 0; i_ < RES_DENSE; i_++) {                                      \
			(a)->v[i_] = op((a)->v[i_], (b)->v[i_]);                                   \
		}                                                                                  \
		if ((a)->more != NULL || (b)->more != NULL) {                                      \
			(a)->more = combine((a)->more, (b)->more, op);                             \
		}                                                                                  \
	} while (0)

void res_add(struct res *a, const struct res *b)
{
	COMBINE(a, b, add_one);
}

void res_sub(struct res *a, const struct res *b)
{
	COMBINE(a, b, saturating_sub);
}

void res_sub_floor(struct res *a, const struct res *b)
{
	COMBINE(a, b, sub_floor_one);
}

void res_max(struct res *a, const struct res *b)
{
	COMBINE(a, b, max_one);
}

void res_min(struct res *a, const struct res *b)
{
	COMBINE(a, b, min_one);
}

void res_inherit(struct res *a, const struct res *b)
{
	COMBINE(a, b, inherit_one);
}

void res_fill(struct res *a, int64_t value)
{
	for (unsigned i = 0; i < RES_DENSE; i++) {
		a->v[i] = value;
	}
	a->more = constant(value);
}

bool res_eq(const struct res *a, const struct res *b)
{
	uint32_t n = more_n(a->more) > more_n(b->more) ? more_n(a->more) : more_n(b->more);

	if (memcmp(a->v, b->v, sizeof(a->v)) != 0) {
		return false;
	}
	/* Up to and with n: there both have their rest. */
	for (uint32_t i = 0; a->more != b->more && i <= n; i++) {
		if (more_get(a->more, i) != more_get(b->more, i)) {
			return false;
		}
	}
	return true;
}

bool res_is_zero(const struct res *a)
{
	static const struct res zero;
	int64_t any = 0;

	for (unsigned i = 0; i < RES_DENSE; i++) {
		any |= a->v[i];
	}
	return any == 0 && (a->more == NULL || res_eq(a, &zero));
}

int64_t res_more_sum(const struct res *a, const struct res *b, int sign)
{
	struct res r = { .more = NULL };

	if (a->more != NULL || b->more != NULL) {
		r.more = combine(a->more, b->more, sign > 0 ? book_up : book_down);
	}
	return r.more_word;
}

static bool is_more_positive(const struct res_more *m)
{
	/* Including the value of all dimensions after the n. */
	for (uint32_t i = 0; m != NULL && i <= m->n; i++) {
		if (more_get(m, i) > 0) {
			return true;
		}
	}
	return false;
}

uint32_t res_mask(const struct res *a)
{
	uint32_t mask = a->more != NULL && is_more_positive(a->more) ? RES_FURTHER : 0;

	for (unsigned i = 0; i < RES_DENSE; i++) {
		mask |= (uint32_t)(a->v[i] > 0) << i;
	}
	return mask;
}

static bool is_more_over(const struct res_more *used, const struct res_more *req,
			 const struct res_more *limit)
{
	/* Dimensions that are not requested cannot be over, unless the sum itself is compared with
	 * the limit. */
	uint32_t n = more_n(req == NULL ? used : req);

	for (uint32_t i = 0; i <= n; i++) {
		int64_t need = more_get(req, i);

		if ((req == NULL || need > 0) &&
		    saturating_add(more_get(used, i), need) > more_get(limit, i)) {
			return true;
		}
	}
	return false;
}

uint32_t res_over(const struct res *used, const struct res *req, const struct res *limit,
		  uint32_t mask)
{
	uint32_t over = 0;

	if ((mask & RES_FURTHER) != 0) {
		over = is_more_over(used->more, req->more, limit->more) ? RES_FURTHER : 0;
		mask &= ~RES_FURTHER;
	}
	/* An unlimited dimension needs no case of its own: nothing saturates beyond INT64_MAX. */
	for (; mask != 0; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctz(mask);

		if (saturating_add(used->v[i], req->v[i]) > limit->v[i]) {
			over |= UINT32_C(1) << i;
		}
	}
	return over;
}

uint32_t res_exceeds(const struct res *a, const struct res *limit, uint32_t mask)
{
	static const struct res nothing;

	return res_over(a, &nothing, limit, mask);
}

bool res_is_over(const struct res *used, const struct res *req, const struct res *limit,
		 unsigned dim)
{
	int64_t need = res_get(req, dim);

	return need > 0 && saturating_add(res_get(used, dim), need) > res_get(limit, dim);
}

/* The name for a bit of a mask. */
static const char *name_of_bit(const struct res_names *n, unsigned bit)
{
	return bit < RES_DENSE ? res_names_get(n, bit) : "other resources";
}

void res_describe_over(const struct res_names *names, uint32_t over, struct strbuf *out)
{
	const char *separator = "insufficient ";

	for (; over != 0; over &= over - 1) {
		strbuf_add_c(out, separator);
		strbuf_add_c(out, name_of_bit(names, (unsigned)__builtin_ctz(over)));
		separator = ", ";
	}
}

/* x/0 is 1, as in Volcano: what is not deserved at all is used up. */
static double share_one(int64_t used, int64_t total)
{
	if (used <= 0 || total == RES_UNLIMITED) {
		return 0;
	}
	return total <= 0 ? 1 : (double)used / (double)total;
}

double res_share(const struct res *used, const struct res *total, uint32_t mask)
{
	double share = 0;

	for (uint32_t i = 0; (mask & RES_FURTHER) != 0 && i < more_n(total->more); i++) {
		/* Of the further dimensions only those that are deserved count: one bit of the mask
		 * stands for all. */
		double s = more_get(total->more, i) <= 0
				   ? 0
				   : share_one(more_get(used->more, i), more_get(total->more, i));

		share = s > share ? s : share;
	}
	for (mask &= ~RES_FURTHER; mask != 0; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctz(mask);
		double s = share_one(used->v[i], total->v[i]);

		share = s > share ? s : share;
	}
	return round(share * 1e9) / 1e9;
}
