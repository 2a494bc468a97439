#include "scheduler/workloads/engine/deferred_reasons.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "collections/list.h"
#include "scheduler/workloads/model/quota_store.h"

struct explanation {
	struct list_node node; /* in `waiting`, or alone */
	uint32_t workload;
	uint32_t queue;
	enum nofit_reason reason;
	enum entry_status status;
	char *message;
	int64_t since; /* monotonic ns */
};

struct deferred_reasons {
	struct VEC(struct explanation *) by_workload;
	struct list_node waiting; /* the oldest first */
	char *last;               /* message that was handed out */
	double tokens;
	int64_t tokens_at; /* monotonic ns */
};

struct deferred_reasons *deferred_reasons_create(void)
{
	struct deferred_reasons *x = xmalloc_zero(1, sizeof(*x));

	list_init(&x->waiting);
	x->tokens = DEFERRED_REASONS_BURST;
	x->tokens_at = INT64_MIN;
	return x;
}

static void drop(struct deferred_reasons *x, struct explanation *e)
{
	x->by_workload.v[e->workload] = NULL;
	list_remove(&e->node);
	free(e->message);
	free(e);
}

void deferred_reasons_destroy(struct deferred_reasons *x)
{
	if (x == NULL) {
		return;
	}
	LIST_FOR_EACH (node, &x->waiting) {
		drop(x, LIST_ENTRY(node, struct explanation, node));
	}
	vec_finish(&x->by_workload);
	free(x->last);
	free(x);
}

static struct explanation *find(const struct deferred_reasons *x, uint32_t workload)
{
	return workload < x->by_workload.n ? x->by_workload.v[workload] : NULL;
}

void deferred_reasons_drop(struct deferred_reasons *x, uint32_t workload)
{
	struct explanation *e = find(x, workload);

	if (e != NULL) {
		drop(x, e);
	}
}

/* The latest reason replaces the one that waits, which keeps its place and its age: otherwise a
 * Workload that is tried in every cycle would never have a reason that is old enough. */
void deferred_reasons_put(struct deferred_reasons *x, const struct admission_decision *d,
			  int64_t now)
{
	struct explanation *e = find(x, d->workload);

	if (e == NULL) {
		e = xmalloc_zero(1, sizeof(*e));
		e->workload = d->workload;
		e->since = now;
		/* Ids of Workloads are dense, so a vector finds the reason that waits. */
		while (x->by_workload.n <= e->workload) {
			vec_push(&x->by_workload, NULL);
		}
		x->by_workload.v[e->workload] = e;
		list_append(&x->waiting, &e->node);
	}
	e->queue = d->node;
	e->reason = d->reason;
	e->status = d->status;
	free(e->message);
	e->message = xmalloc_dup(d->message == NULL ? "" : d->message);
}

static int rate(bool busy)
{
	return busy ? DEFERRED_REASONS_BUSY_PER_S : DEFERRED_REASONS_PER_S;
}

/* A token bucket that fills at the rate of the present load: it is asked at every step of the
 * engine, so each stretch of time counts with the rate that held at its end. */
static void add_tokens(struct deferred_reasons *x, bool busy, int64_t now)
{
	if (x->tokens_at != INT64_MIN) {
		x->tokens += (double)(now - x->tokens_at) / CLOCK_NS_PER_S * rate(busy);
	}
	if (x->tokens > DEFERRED_REASONS_BURST) {
		x->tokens = DEFERRED_REASONS_BURST;
	}
	x->tokens_at = now;
}

static struct explanation *first(const struct deferred_reasons *x)
{
	return list_is_empty(&x->waiting) ? NULL
					  : LIST_ENTRY(x->waiting.next, struct explanation, node);
}

static void hand_out(struct deferred_reasons *x, struct explanation *e,
		     struct admission_decision *ret)
{
	free(x->last);
	/* The message outlives its explanation, since the caller reads it until it asks for the
	 * next. */
	x->last = e->message;
	e->message = NULL;
	*ret = (struct admission_decision){ .kind = QUOTA_DECIDE_PENDING,
					    .workload = e->workload,
					    .by = MODEL_NONE,
					    .node = e->queue,
					    .status = e->status,
					    .reason = e->reason,
					    .message = x->last };
	drop(x, e);
}

bool deferred_reasons_next(struct deferred_reasons *x, bool busy, int64_t now,
			   struct admission_decision *ret)
{
	struct explanation *e = first(x);

	add_tokens(x, busy, now);
	if (e == NULL || x->tokens < 1 || now - e->since < DEFERRED_REASONS_AFTER_NS) {
		return false;
	}
	hand_out(x, e, ret);
	/* The token is taken for the reason itself, written or not: the caller may find that the
	 * Workload does not wait any more. */
	x->tokens--;
	return true;
}

int64_t deferred_reasons_due(const struct deferred_reasons *x, bool busy)
{
	const struct explanation *e = first(x);
	int64_t old, token;

	if (e == NULL) {
		return CLOCK_NEVER;
	}
	old = e->since + DEFERRED_REASONS_AFTER_NS;
	if (x->tokens >= 1 || x->tokens_at == INT64_MIN) {
		return old;
	}
	/* One ns more: rounded down, the caller would be called before the token is whole, for
	 * nothing. */
	token = x->tokens_at + (int64_t)((1 - x->tokens) * CLOCK_NS_PER_S / rate(busy)) + 1;
	return token > old ? token : old;
}
