#include "scheduler/ctl/sim/workload_waiting.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "scheduler/ctl/sim/quota_lists.h"
#include "scheduler/ctl/sim/waiting_reason.h"
#include "scheduler/ctl/sim/workload_simulation.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending.h"

struct listing {
	const struct workload_simulation *s;
	workload_waiting_fn fn;
	void *ctx;
};

static const struct quota_model *model_of(const struct workload_simulation *s)
{
	return forest_model(workload_simulation_forest(s));
}

static const char *or_empty(const char *text)
{
	return text == NULL ? "" : text;
}

/* The latest step about it; NULL: it was not tried. */
static const struct workload_step *last_step(const struct workload_simulation *s,
					     const struct workload *w)
{
	size_t n;
	const struct workload_step *steps = workload_simulation_steps(s, &n);

	/* From the end: the latest reason counts. */
	while (n-- > 0) {
		if (steps[n].kind == QUOTA_DECIDE_PENDING && str_streq(steps[n].workload, w->key)) {
			return &steps[n];
		}
	}
	return NULL;
}

/* A workload of the list that was tried and has the same request; NULL: there is none. */
/* A Workload that equals one that does not fit is not tried in vain (its hash is known not to
 * fit), so that no step says why it waits: the reason of the other one is its own. */
static const struct workload *find_equal(const struct workload_simulation *s,
					 const struct workload *w, const struct workload *const *v,
					 size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (v[i]->pending.hash == w->pending.hash && last_step(s, v[i]) != NULL) {
			return v[i];
		}
	}
	return NULL;
}

/* All workloads of an inactive queue wait for the same reason. */
static void list_inactive(const struct listing *l, struct workload_waiting *row,
			  const struct quota_node *node)
{
	CLEANUP(strbuf_finish) struct strbuf why = STRBUF_INIT;

	row->reason = waiting_reason_inactive(workload_simulation_forest(l->s), node, &why);
	row->reason = or_empty(row->reason);
	row->message = or_empty(why.p);
	l->fn(l->ctx, row);
}

static void list_untried(const struct listing *l, struct workload_waiting *row,
			 const struct workload *equal)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	row->reason = "";
	if (equal == NULL) {
		strbuf_add_c(&text, "not tried yet: see --cycles N");
	} else {
		strbuf_printf(&text, "same request as %s", equal->key);
	}
	row->message = text.p;
	l->fn(l->ctx, row);
}

static void list_queue(const struct listing *l, const struct quota_node *node, bool heap)
{
	size_t n;
	const struct workload **v = quota_lists_waiting(model_of(l->s), node->queue, heap, &n);
	bool active = pending_is_active(workload_simulation_forest(l->s), node);

	for (size_t i = 0; i < n; i++) {
		const struct workload_step *step = last_step(l->s, v[i]);
		struct workload_waiting row = { .workload = v[i]->key, .queue = node->name };

		if (!active) {
			list_inactive(l, &row, node);
			continue;
		}
		/* An inadmissible one has no position: it is not tried before something changes. */
		row.position = heap ? i + 1 : 0;
		row.inadmissible = !heap;
		if (step == NULL) {
			list_untried(l, &row, heap ? NULL : find_equal(l->s, v[i], v, n));
			continue;
		}
		row.reason = or_empty(step->reason);
		row.message = or_empty(step->message);
		l->fn(l->ctx, &row);
	}
	free(v);
}

/* The workloads that are in no queue and hold no quota. */
static void list_outside(const struct listing *l)
{
	CLEANUP(strbuf_finish) struct strbuf why = STRBUF_INIT;
	size_t n;
	const struct workload **v = quota_lists_workloads(model_of(l->s), &n);

	for (size_t i = 0; i < n; i++) {
		struct workload_waiting row = { .workload = v[i]->key, .queue = "" };

		strbuf_reset(&why);
		row.reason = waiting_reason_outside(model_of(l->s), v[i], &why);
		row.message = or_empty(why.p);
		if (row.reason != NULL) {
			l->fn(l->ctx, &row);
		}
	}
	free(v);
}

void workload_waiting_each(const struct workload_simulation *s, workload_waiting_fn fn, void *ctx)
{
	const struct listing l = { s, fn, ctx };
	size_t n;
	const struct quota_node **nodes = quota_lists_nodes(model_of(s), &n);

	for (size_t i = 0; i < n; i++) {
		if (nodes[i]->is_queue) {
			list_queue(&l, nodes[i], true);
			list_queue(&l, nodes[i], false);
		}
	}
	list_outside(&l);
	free(nodes);
}
