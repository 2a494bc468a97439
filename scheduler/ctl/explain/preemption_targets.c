#include "scheduler/ctl/explain/preemption_targets.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "scheduler/workloads/model/quota_store.h"

static const char *name_of(const struct victims_request *r, uint32_t node)
{
	return forest_model(r->forest)->nodes.v[node]->name;
}

static const char *by_policy(const struct victims_request *r, const struct workload *w,
			     struct arena *arena)
{
	return arena_printf(arena, "%s of %s is Never",
			    w->holding.node == r->node ? "withinClusterQueue"
						       : "reclaimWithinCohort",
			    name_of(r, r->node));
}

static const char *within_quota(const struct victims_request *r, uint32_t node, struct arena *arena)
{
	const struct quota_node *n = forest_model(r->forest)->nodes.v[node];

	return arena_printf(arena, "%s%s does not borrow", n->is_queue ? "" : "cohort ", n->name);
}

static const char *share_text(struct share s, struct arena *arena)
{
	return share_is_infinite(s) ? "an infinite one"
				    : arena_printf(arena, "%" PRId64, share_status(s));
}

static const char *by_share(const struct victims_request *r, const struct passed_over *p,
			    struct arena *arena)
{
	uint32_t common = forest_common(r->forest, p->node, r->node);

	return arena_printf(
		arena, "fair sharing: %s would have a share of %s; %s has %s, without this one %s",
		name_of(r, forest_below(r->forest, r->node, common)),
		share_text(p->preemptor, arena), name_of(r, p->node), share_text(p->target, arena),
		share_text(p->after, arena));
}

static const char *describe(const struct victims_request *r, const struct workload *w,
			    const struct passed_over *p, struct arena *arena)
{
	const struct quota_model *q = forest_model(r->forest);

	switch (p->rule) {
	case PASSED_OVER_NOT:
		break;
	case PASSED_OVER_INACTIVE:
		return arena_printf(arena, "%s is not active, and its workloads are not preempted",
				    name_of(r, w->holding.node));
	case PASSED_OVER_POLICY:
		return by_policy(r, w, arena);
	case PASSED_OVER_UNWRITABLE:
		return "its status cannot be written";
	case PASSED_OVER_PRECEDENCE:
		return "the workload was preempted for it and may not preempt it in turn";
	case PASSED_OVER_PRIORITY:
		return arena_printf(arena, "its priority is not below %" PRId64,
				    workload_priority(q, r->w));
	case PASSED_OVER_AGE:
		return "its priority is equal, and it is older";
	case PASSED_OVER_NOMINAL:
		return within_quota(r, p->node, arena);
	case PASSED_OVER_BORROW_POLICY:
		return arena_printf(arena, "%s would borrow, and its borrowWithinCohort is Never",
				    name_of(r, r->node));
	case PASSED_OVER_BORROW_PRIORITY:
		return arena_printf(arena,
				    "%s would borrow, and may then only preempt priorities "
				    "below %" PRId64,
				    name_of(r, r->node), workload_priority(q, r->w));
	case PASSED_OVER_BORROW_THRESHOLD:
		return arena_printf(arena,
				    "%s would borrow, and may then only preempt priorities up "
				    "to its maxPriorityThreshold %d",
				    name_of(r, r->node), q->nodes.v[r->node]->queue->threshold);
	case PASSED_OVER_SHARE:
		return by_share(r, p, arena);
	}
	return "";
}

static const struct victim *find_victim(const struct victims *victims, const struct workload *w)
{
	for (size_t i = 0; i < victims->n; i++) {
		if (victims->v[i].workload == w->id) {
			return &victims->v[i];
		}
	}
	return NULL;
}

static struct preemption_target describe_target(const struct victims_request *r,
						const struct victims *victims,
						const struct workload *w, struct arena *arena)
{
	const struct victim *victim = find_victim(victims, w);
	const struct passed_over *p = &r->passed_over[w->id];
	struct preemption_target t = { .state = QUOTA_TARGET_POSSIBLE };

	candidates_describe(r, w, &t.order);
	if (victim != NULL) {
		t.state = QUOTA_TARGET_VICTIM;
		t.text = victim_reason_name(victim->reason);
	} else if (p->rule != PASSED_OVER_NOT) {
		t.state = QUOTA_TARGET_PROTECTED;
		t.rule = p->rule;
		t.text = describe(r, w, p, arena);
	} else {
		/* A candidate that was not chosen: the search found enough without it, or not
		 * enough at all. */
		t.text = victims->n > 0 ? "is not needed"
					: "preempting all candidates is not enough";
	}
	return t;
}

/* By state in the order of the enum: victims, then those that could be, then those that may not
 * be. */
static int by_order(const void *a, const void *b)
{
	const struct preemption_target *x = a, *y = b;

	return x->state != y->state ? (int)x->state - (int)y->state
				    : candidates_cmp(&x->order, &y->order);
}

/* The search for victims runs once more, for the sake of its notes: for each workload, the rule
 * by which it was passed over. The victims are those of the dry run, which were chosen together
 * with the flavors; this search may find others. */
void preemption_targets_find(const struct victims_request *request, const struct victims *victims,
			     struct arena *arena, struct preemption_targets *out)
{
	const struct quota_model *q = forest_model(request->forest);
	struct victims_request r = *request;
	struct victims ignored;

	r.passed_over = arena_zero(arena, q->workloads.n, sizeof(*r.passed_over));
	victims_find(&r, arena, &ignored);
	for (size_t i = 0; i < q->workloads.n; i++) {
		const struct workload *w = q->workloads.v[i];

		/* Others hold nothing of what is short: to preempt them would not help. */
		if (w != NULL && (r.passed_over[i].uses_short_pair || find_victim(victims, w))) {
			vec_push(out, describe_target(&r, victims, w, arena));
		}
	}
	if (out->n > 1) {
		qsort(out->v, out->n, sizeof(out->v[0]), by_order);
	}
}
