#include "scheduler/ctl/explain/preemption_threats.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "scheduler/workloads/assign/assign_reason.h"
#include "scheduler/workloads/forest/amount.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending.h"
#include "scheduler/workloads/preempt/victims.h"

struct finding {
	const struct forest *f;
	const struct workload *w;
	struct arena *arena;
	struct preemption_threats *out;
	int64_t priority;
};

static void add(const struct finding *x, uint32_t node, bool may, const char *text)
{
	struct quota_threat t = { node, may, text };

	vec_push(x->out, t);
}

static const struct quota_node *node_of(const struct finding *x, uint32_t id)
{
	return forest_model(x->f)->nodes.v[id];
}

static const char *priorities_of(const struct finding *x, enum quota_policy policy)
{
	switch (policy) {
	case QUOTA_NEVER:
		break;
	case QUOTA_LOWER_PRIORITY:
		return arena_printf(x->arena, "of a priority above %" PRId64, x->priority);
	case QUOTA_LOWER_OR_NEWER_EQUAL:
		return arena_printf(x->arena,
				    "of a priority above %" PRId64 ", or of the same and older",
				    x->priority);
	case QUOTA_ANY:
		return "of any priority";
	}
	return "";
}

static void find_inside(const struct finding *x)
{
	const struct quota_node *own = node_of(x, x->w->holding.node);

	if (own->queue->within_queue == QUOTA_NEVER) {
		add(x, own->id, false, "withinClusterQueue is Never");
	} else {
		add(x, own->id, true, priorities_of(x, own->queue->within_queue));
	}
}

/* The node that is within its nominal quota for all that w uses, on the path from its queue to
 * below the common cohort. */
static uint32_t find_nominal(const struct finding *x, uint32_t other)
{
	struct VEC(uint32_t) pairs = VEC_INIT;
	uint32_t within;

	for (size_t i = 0; i < x->w->holding.usage.n; i++) {
		vec_push(&pairs, x->w->holding.usage.v[i].id);
	}
	within = forest_find_within_nominal(x->f, x->w->holding.node,
					    forest_common(x->f, x->w->holding.node, other), pairs.v,
					    pairs.n);
	vec_finish(&pairs);
	return within;
}

/* "cpu 2 of default": the unused part of the queue's own quota, for the pairs that w uses; NULL:
 * none. */
static const char *unused(const struct finding *x, uint32_t node)
{
	const struct quota_model *q = forest_model(x->f);
	const char *text = NULL;

	for (size_t i = 0; i < x->w->holding.usage.n; i++) {
		uint32_t pair = x->w->holding.usage.v[i].id;
		const char *resource = quota_resource_name(q, q->pairs.v[pair].resource);
		int64_t left = amount_sub(forest_nominal(x->f, node, pair),
					  forest_usage(x->f, node, pair));
		char amount[ASSIGN_REASON_AMOUNT_MAX];

		if (left > 0) {
			assign_reason_amount(resource, left, amount);
			text = arena_printf(x->arena, "%s%s%s %s of %s", text == NULL ? "" : text,
					    text == NULL ? "" : ", ", resource, amount,
					    q->flavors.v[q->pairs.v[pair].flavor]->name);
		}
	}
	return text;
}

/* Whether a preemptor that borrows may preempt w, if its priority is high enough. */
static bool may_while_borrowing(const struct finding *x, const struct cluster_queue *queue)
{
	return victims_borrow_rule(queue, INT64_MAX, x->priority) == PASSED_OVER_NOT;
}

static void find_of_queue(const struct finding *x, const struct quota_node *n)
{
	uint32_t nominal = find_nominal(x, n->id);
	const char *left = unused(x, n->id), *which = priorities_of(x, n->queue->reclaim);

	/* Kueue's rule: reclaiming takes only from those that borrow, on the whole way up to the
	 * common cohort. */
	if (nominal != MODEL_NONE) {
		add(x, n->id, false,
		    arena_printf(x->arena, "%s%s does not borrow",
				 node_of(x, nominal)->is_queue ? "" : "cohort ",
				 node_of(x, nominal)->name));
	} else if (forest_model(x->f)->options.fair_sharing) {
		add(x, n->id, true,
		    arena_printf(x->arena, "%s, as far as fair sharing allows", which));
		/* borrowWithinCohort allows more than reclaiming for the own quota: so it is named
		 * first. */
	} else if (may_while_borrowing(x, n->queue)) {
		add(x, n->id, true,
		    arena_printf(x->arena, "of a priority above %" PRId64 ", also to borrow%s%s",
				 x->priority, left == NULL ? "" : "; for its own quota ",
				 left == NULL ? "" : which));
	} else if (left != NULL) {
		add(x, n->id, true,
		    arena_printf(x->arena, "%s, for its own quota: %s unused", which, left));
	} else {
		add(x, n->id, false, "it uses all of its own quota");
	}
}

/* All other queues of the tree that reclaim, in the order of the tree. */
static void find_outside(const struct finding *x)
{
	struct VEC(uint32_t) stack = VEC_INIT;

	vec_push(&stack, forest_root(x->f, x->w->holding.node));
	while (stack.n > 0) {
		const struct quota_node *n = node_of(x, vec_pop(&stack));
		const uint32_t *children;
		size_t count;

		if (!n->is_queue) {
			children = forest_children(x->f, n->id, &count);
			/* From the last child on, so that the first one is popped first. */
			while (count > 0) {
				vec_push(&stack, children[--count]);
			}
		} else if (n->id != x->w->holding.node && n->queue->reclaim != QUOTA_NEVER &&
			   pending_is_active(x->f, n)) {
			find_of_queue(x, n);
		}
	}
	vec_finish(&stack);
}

void preemption_threats_find(const struct forest *f, const struct workload *w, struct arena *arena,
			     struct preemption_threats *out)
{
	struct finding x = { .f = f, .w = w, .arena = arena, .out = out };

	x.priority = workload_priority(forest_model(f), w);
	/* Kueue keeps queues that are not active apart: their workloads are no candidates. */
	if (!pending_is_active(f, node_of(&x, w->holding.node))) {
		add(&x, w->holding.node, false,
		    "the ClusterQueue is not active, and its workloads are not preempted");
		return;
	}
	find_inside(&x);
	find_outside(&x);
}
