#include "scheduler/workloads/status/workload_status_pack.h"

#include <string.h>

#include "base/arena.h"
#include "base/xmalloc.h"

/* Members one after the other: numbers in groups of seven bits, the lowest first, with the sign in
 * the lowest bit; texts with their length + 1 in front (0: NULL) and a NUL behind. */
struct workload_status_pack {
	unsigned char first; /* of many */
};

enum step { COUNT, PUT, TAKE };

/* One walk over the members serves all three steps, so that they cannot disagree: it counts the
 * bytes, puts them, or takes them. When only resources are looked for, the rest of what is taken is
 * dropped. */
struct walk {
	enum step step;
	unsigned char *put;
	const unsigned char *take;
	size_t used;
	struct arena *arena; /* TAKE; NULL: lists stay empty */
	void (*on_resource)(void *ctx, uint32_t resource);
	void *ctx;
};

static void put_byte(struct walk *k, unsigned byte)
{
	if (k->step == PUT) {
		k->put[k->used] = (unsigned char)byte;
	}
	k->used++;
}

/* Returns what it is given, or in its stead what was put. */
static int64_t number(struct walk *k, int64_t n)
{
	uint64_t bits = ((uint64_t)n << 1) ^ (n < 0 ? UINT64_MAX : 0);

	if (k->step != TAKE) {
		for (; bits > 0x7f; bits >>= 7) {
			put_byte(k, (bits & 0x7f) | 0x80);
		}
		put_byte(k, (unsigned)bits);
		return n;
	}
	bits = 0;
	for (unsigned shift = 0;; shift += 7) {
		uint64_t byte = k->take[k->used++];

		bits |= (byte & 0x7f) << shift;
		if (byte <= 0x7f) {
			return (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
		}
	}
}

static int32_t small(struct walk *k, int32_t n)
{
	return (int32_t)number(k, n);
}

static bool flag(struct walk *k, bool on)
{
	return number(k, on) != 0;
}

/* A number of elements or bytes. */
static size_t count(struct walk *k, size_t n)
{
	bool take = k->step == TAKE;
	int64_t there = number(k, (int64_t)n);

	return take ? (size_t)there : n;
}

static const char *text(struct walk *k, const char *s)
{
	enum step step = k->step;
	size_t size = count(k, s == NULL || step == TAKE ? 0 : strlen(s) + 1);

	if (size == 0) {
		return NULL;
	}
	if (step == TAKE) {
		/* Borrowed: the pack outlives what is read from it. */
		s = (const char *)k->take + k->used;
	} else if (step == PUT) {
		memcpy(k->put + k->used, s, size);
	}
	k->used += size;
	return s;
}

/* Walks over the elements of a list, of which those that are put stay untouched. */
#define LIST(k, list, each)                                                                        \
	do {                                                                                       \
		bool take_ = (k)->step == TAKE, keep_ = take_ && (k)->arena != NULL;               \
		size_t n_ = count(k, (list)->n);                                                   \
                                                                                                   \
		if (keep_) {                                                                       \
			vec_reserve(list, n_);                                                     \
			(list)->n = n_;                                                            \
		}                                                                                  \
		for (size_t i_ = 0; i_ < n_; i_++) {                                               \
			typeof((list)->v[0]) one_ = { 0 };                                         \
                                                                                                   \
			if (!take_) {                                                              \
				one_ = (list)->v[i_];                                              \
			}                                                                          \
			each(k, &one_);                                                            \
			if (keep_) {                                                               \
				(list)->v[i_] = one_;                                              \
			}                                                                          \
		}                                                                                  \
	} while (0)

static void name(struct walk *k, const char **s)
{
	*s = text(k, *s);
}

static void condition(struct walk *k, struct condition *c)
{
	c->type = text(k, c->type);
	c->status = text(k, c->status);
	c->reason = text(k, c->reason);
	c->message = text(k, c->message);
	c->at = number(k, c->at);
	c->generation = number(k, c->generation);
}

static void check(struct walk *k, struct workload_status_check *c)
{
	c->name = text(k, c->name);
	c->message = text(k, c->message);
	c->state = (enum quota_check_state)number(k, c->state);
	c->at = number(k, c->at);
	c->retries = small(k, c->retries);
	c->requeue_after = small(k, c->requeue_after);
	c->has_updates = flag(k, c->has_updates);
	c->drops_updates = flag(k, c->drops_updates);
}

static void gate(struct walk *k, struct workload_status_gate *g)
{
	g->name = text(k, g->name);
	g->open = flag(k, g->open);
	g->disagrees = flag(k, g->disagrees);
	g->fields = (unsigned)number(k, g->fields);
	g->at = number(k, g->at);
}

static void eviction(struct walk *k, struct workload_status_eviction *e)
{
	e->reason = text(k, e->reason);
	e->cause = text(k, e->cause);
	e->count = small(k, e->count);
}

static void podset(struct walk *k, struct workload_status_podset *p)
{
	struct workload_status_usage *v = p->v;
	bool take = k->step == TAKE, keep = take && k->arena != NULL;

	p->name = text(k, p->name);
	p->count = small(k, p->count);
	p->n = count(k, p->n);
	if (keep) {
		v = arena_zero(k->arena, p->n, sizeof(v[0]));
	}
	for (size_t i = 0; i < p->n; i++) {
		struct workload_status_usage u = { 0 };

		if (!take) {
			u = v[i];
		}
		u.resource = (uint32_t)number(k, u.resource);
		u.flavor = text(k, u.flavor);
		u.amount = number(k, u.amount);
		if (keep) {
			v[i] = u;
		} else if (take) {
			k->on_resource(k->ctx, u.resource);
		}
	}
	p->v = v;
}

/* Every member of a status is named here. */
static void status(struct walk *k, struct workload_status *s)
{
	LIST(k, &s->conditions, condition);
	LIST(k, &s->checks, check);
	LIST(k, &s->gates, gate);
	LIST(k, &s->evictions, eviction);
	s->has_admission = flag(k, s->has_admission);
	s->queue = text(k, s->queue);
	LIST(k, &s->podsets, podset);
	LIST(k, &s->requests, podset);
	s->cluster = text(k, s->cluster);
	LIST(k, &s->nominated, name);
	LIST(k, &s->unhealthy, name);
	s->has_requeue_count = flag(k, s->has_requeue_count);
	s->has_requeue_at = flag(k, s->has_requeue_at);
	s->has_past_seconds = flag(k, s->has_past_seconds);
	s->requeue_count = small(k, s->requeue_count);
	s->requeue_at = number(k, s->requeue_at);
	s->past_seconds = small(k, s->past_seconds);
	s->generation = number(k, s->generation);
}

struct workload_status_pack *workload_status_pack_make(const struct workload_status *from)
{
	struct workload_status all = *from; /* the lists are the same */
	struct walk count = { .step = COUNT }, put = { .step = PUT };

	status(&count, &all);
	put.put = xmalloc(count.used);
	status(&put, &all);
	return (struct workload_status_pack *)put.put;
}

struct workload_status_pack *workload_status_pack_one(const struct workload_status *from,
						      const char *type)
{
	const struct condition *found = workload_status_condition(from, type);
	struct condition one = { 0 };
	struct workload_status only = { .generation = from->generation,
					.conditions = { &one, found != NULL, found != NULL } };

	if (found != NULL) {
		one = *found;
	}
	one.message = "";
	return workload_status_pack_make(&only);
}

void workload_status_pack_read(const struct workload_status_pack *from, struct workload_status *to)
{
	struct walk take = { .step = TAKE, .take = &from->first, .arena = to->arena };

	arena_reset(to->arena);
	status(&take, to);
}

/* Without an arena nothing is kept of the lists that are walked over, so there is nothing to
 * free. */
void workload_status_pack_resources(const struct workload_status_pack *from,
				    void (*fn)(void *ctx, uint32_t resource), void *ctx)
{
	struct walk look = { .step = TAKE, .take = &from->first, .on_resource = fn, .ctx = ctx };
	struct workload_status none = { 0 };

	status(&look, &none);
}
