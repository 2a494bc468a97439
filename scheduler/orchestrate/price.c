#include "scheduler/orchestrate/price.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/saturating.h"
#include "scheduler/orchestrate/replica.h"
#include "scheduler/workloads/cycle/dry_run.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending.h"

static int64_t saturate(__int128 n)
{
	return n > INT64_MAX ? INT64_MAX : n < INT64_MIN ? INT64_MIN : (int64_t)n;
}

static int64_t within(int64_t n, int64_t least, int64_t most)
{
	return n < least ? least : n > most ? most : n;
}

/* --- one victim --------------------------------------------------------------------------------*/

static struct price_facts facts_of(const struct price_request *r, const struct workload *w)
{
	return w->id < r->nfacts ? r->facts[w->id]
				 : (struct price_facts){ .admitted_at = MODEL_TIME_NONE };
}

static int64_t seconds_since(int64_t now, int64_t at)
{
	int64_t ns = at == MODEL_TIME_NONE ? 0 : saturating_sub(now, at);

	return ns < 0 ? 0 : ns / CLOCK_NS_PER_S;
}

/* The share of the work that the priority adds. */
static __int128 weigh_priority(int64_t work, int64_t victim, int64_t preemptor)
{
	if (preemptor <= 0) {
		return victim >= preemptor ? work : 0;
	}
	return (__int128)work * within(victim, 0, preemptor) / preemptor;
}

static int64_t cost_of(const struct price_victim *v, int64_t preemptor_priority)
{
	int64_t evictions = within(v->evictions, 0, PRICE_MAX_EVICTIONS);
	int64_t each = saturating_add(v->seconds, PRICE_RESTART_S * (1 + evictions));
	int64_t work = saturate((__int128)v->pods * each);

	return saturate(work + weigh_priority(work, v->priority, preemptor_priority) +
			within(v->preemption_cost, -work, work));
}

static struct price_victim describe(const struct price_request *r, const struct workload *w)
{
	const struct quota_model *q = forest_model(r->forest);
	const struct price_facts facts = facts_of(r, w);
	struct price_victim v = {
		.key = w->key,
		.pods = facts.pods,
		.seconds = seconds_since(r->now, facts.admitted_at),
		.evictions = facts.evictions,
		.grace_s = within(facts.grace_s, 0, PRICE_MAX_GRACE_S),
		.priority = workload_priority(q, w),
		.preemption_cost = saturate(w->object.cost / CLOCK_NS_PER_S),
		.leaving = w->flags.evicted,
	};

	v.cost = v.leaving ? 0 : cost_of(&v, workload_priority(q, r->w));
	return v;
}

/* --- the verdict -------------------------------------------------------------------------------*/

static void answer(struct price *ret, enum price_verdict verdict, const char *message)
{
	*ret = (struct price){ .verdict = verdict, .message = message };
	ret->cost = verdict == PRICE_UNKNOWN  ? REPLICA_COST_UNKNOWN
		    : verdict == PRICE_CANNOT ? REPLICA_COST_CANNOT
					      : 0;
}

static bool wants_topology(const struct workload *w)
{
	for (size_t i = 0; i < w->object.npodsets; i++) {
		if (w->object.podsets[i].wants_topology) {
			return true;
		}
	}
	return false;
}

/* Whether no cycle would look at it, or none of this engine. The worker may be Kueue, and do more
 * than this engine does. True: *ret has the answer. */
static bool is_outside(const struct price_request *r, struct arena *arena, struct price *ret)
{
	const struct quota_model *q = forest_model(r->forest);
	const struct workload *w = r->w;
	const struct quota_node *queue;
	enum quota_inactive why;

	if (w->holding.node != MODEL_NONE) {
		answer(ret, PRICE_FITS, NULL);
	} else if (w->object.unsupported != NULL || wants_topology(w)) {
		answer(ret, PRICE_UNKNOWN,
		       w->object.unsupported != NULL ? w->object.unsupported
						     : "it asks for a topology");
	} else if (w->pending.where == QUOTA_NOWHERE) {
		answer(ret, PRICE_CANNOT, "it is in no ClusterQueue");
	} else {
		queue = q->nodes.v[w->pending.queue];
		if (pending_is_active(r->forest, queue)) {
			return false;
		}
		why = queue->queue->inactive;
		answer(ret, why == QUOTA_UNREADABLE_WORKLOAD ? PRICE_UNKNOWN : PRICE_CANNOT,
		       arena_printf(arena, "ClusterQueue %s is not active: %s", queue->name,
				    /* Active in itself: its tree stands still. */
				    cluster_queue_reason(why == QUOTA_ACTIVE ? QUOTA_COHORT_CYCLE
									     : why)));
	}
	return true;
}

static uint32_t *find_promised(const struct price_request *r, struct arena *arena, size_t *ret_n)
{
	uint32_t *ids = arena_alloc(arena, (r->npromised + 1) * sizeof(*ids));
	size_t n = 0;

	for (size_t i = 0; i < r->npromised; i++) {
		const struct workload *w =
			quota_workload_find(forest_model(r->forest), str_of(r->promised[i]));

		if (w != NULL) {
			ids[n++] = w->id;
		}
	}
	*ret_n = n;
	return ids;
}

static void add_up(const struct price_request *r, const struct entry *e, struct arena *arena,
		   struct price *ret)
{
	const struct quota_model *q = forest_model(r->forest);

	answer(ret, PRICE_PREEMPTS, NULL);
	ret->victims = arena_zero(arena, e->victims.n, sizeof(*ret->victims));
	ret->n = e->victims.n;
	for (size_t i = 0; i < e->assignment.npodsets; i++) {
		ret->pods = saturating_add(ret->pods, e->assignment.podsets[i].count);
	}
	for (size_t i = 0; i < ret->n; i++) {
		struct price_victim *v = &ret->victims[i];

		*v = describe(r, q->workloads.v[e->victims.v[i].workload]);
		ret->wait_s = v->grace_s > ret->wait_s ? v->grace_s : ret->wait_s;
		ret->cost = saturating_add(ret->cost, v->cost);
	}
	ret->cost = saturating_add(ret->cost, saturate((__int128)ret->pods * ret->wait_s));
}

/* The assignment decides and not the outcome of the entry: a closed gate keeps it from preempting,
 * and not from finding its victims; so does blockAdmission. */
void price_find(const struct price_request *r, struct arena *arena, struct price *ret)
{
	struct dry_run t = { .forest = r->forest, .now = r->now, .arena = arena };
	struct entry e;

	if (is_outside(r, arena, ret)) {
		return;
	}
	t.gone = find_promised(r, arena, &t.ngone);
	dry_run_workload(&t, r->w, r->w->pending.queue, &e);
	if (e.assignment.mode == ASSIGN_FIT) {
		answer(ret, PRICE_FITS, NULL);
	} else if (e.victims.n > 0) {
		add_up(r, &e, arena, ret);
	} else {
		answer(ret, PRICE_CANNOT, e.message);
	}
}

const char *price_verdict_name(enum price_verdict v)
{
	static const char *const names[PRICE_VERDICT_COUNT_] = {
		[PRICE_UNKNOWN] = "Unknown",
		[PRICE_CANNOT] = "Cannot",
		[PRICE_FITS] = "Fits",
		[PRICE_PREEMPTS] = "Preempts",
	};

	return names[v];
}
