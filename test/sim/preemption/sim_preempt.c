#include "sim/preemption/sim_preempt.h"

#include <string.h>

#include "lib/pods/configurations.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/session/decision.h"
#include "sim/preemption/sim_preempt_rules.h"
#include "sim/preemption/sim_rooms.h"

/* The evictions for one PodGroup that follow each other, and what is held for its pods. */
struct unit {
	const struct podgroup *podgroup;
	size_t from, to;         /* decisions, to not included */
	const struct task *only; /* the one pod that they are made for; NULL: there are several */
	unsigned nvictims;
	uint32_t node;  /* that is held for it; MODEL_NONE: none */
	bool for_quota; /* quota is held for some of them */
};

struct cycle {
	struct sim_preempt *preempt;
	const struct cluster *cluster;
	const struct decisions *decisions;
	struct sim_rooms rooms;
	int64_t now;
};

static const char *const names[SIM_PREEMPT_COUNT_] = {
	[SIM_PREEMPT_FOR_NODE] = "evicted for room on a node",
	[SIM_PREEMPT_FOR_QUOTA] = "evicted for quota",
	[SIM_PREEMPT_RECLAIMED] = "of these from another queue",
	[SIM_PREEMPT_GANGS] = "gangs that pods were evicted for",
	[SIM_PREEMPT_NEEDED] = "victims that had to be needed",
	[SIM_PREEMPT_CHOSEN] = "choices of victims compared",
	[SIM_PREEMPT_WITHIN] = "evicted for others of their own PodGroup",
	[SIM_PREEMPT_AT_REST] = "preemptors that waited at rest",
	[SIM_PREEMPT_WITHIN_AT_REST] = "gangs with a pod at rest that might go for others of them",
	[SIM_PREEMPT_GANGS_AT_REST] = "gangs that lacked several pods at rest",
};

const char *sim_preempt_event_name(enum sim_preempt_event e)
{
	return names[e];
}

static bool is_evict(const struct decision *d)
{
	return d->kind == DECISION_EVICT && d->by != MODEL_NONE;
}

/* The PodGroup that the decision is about as a preemptor; MODEL_NONE: it is another one. */
static uint32_t preemptor_of(const struct cycle *y, const struct decision *d)
{
	if (is_evict(d)) {
		return y->cluster->tasks.v[d->by]->podgroup;
	}
	if ((d->kind == DECISION_AWAIT && d->node != MODEL_NONE) ||
	    d->kind == DECISION_AWAIT_QUOTA) {
		return y->cluster->tasks.v[d->task]->podgroup;
	}
	return MODEL_NONE;
}

/* From the first eviction at `from` to the last decision about the same preemptor. */
static struct unit unit_at(const struct cycle *y, size_t from)
{
	const struct decisions *d = y->decisions;
	uint32_t g = preemptor_of(y, &d->v[from]);
	struct unit u = { .podgroup = y->cluster->podgroups.v[g],
			  .from = from,
			  .to = from + 1,
			  .only = y->cluster->tasks.v[d->v[from].by],
			  .node = MODEL_NONE };

	for (size_t i = from; i < d->n; i++) {
		uint32_t of = preemptor_of(y, &d->v[i]);
		uint32_t t = is_evict(&d->v[i]) ? d->v[i].by : d->v[i].task;

		if (of != MODEL_NONE && of != g) {
			break;
		}
		if (of == MODEL_NONE) {
			continue;
		}
		u.to = i + 1;
		u.nvictims += is_evict(&d->v[i]);
		u.only = u.only != NULL && u.only->id == t ? u.only : NULL;
		u.node = d->v[i].kind == DECISION_AWAIT ? d->v[i].node : u.node;
		u.for_quota |= d->v[i].kind == DECISION_AWAIT_QUOTA;
	}
	return u;
}

/* --- lawful ------------------------------------------------------------------------------------*/

static void check_preemptor(struct cycle *y, const struct unit *u)
{
	struct sim_world *w = y->preempt->world;
	const struct task *t = y->cluster->tasks.v[y->decisions->v[u->from].by];

	if (!sim_preempt_rules_may_preempt(y->cluster, t)) {
		sim_world_fail(w, "preemption: for %s, which must not have pods evicted", t->name);
	}
	if (t->preempt_at != MODEL_TIME_NONE && t->preempt_at > y->now) {
		sim_world_fail(w, "preemption: for %s, within its pause", t->name);
	}
	if (sim_rooms_placed(&y->rooms, u->podgroup) >= u->podgroup->min_member) {
		sim_world_fail(w, "preemption: for PodGroup %s, which has its minimum",
			       u->podgroup->name);
	}
}

static void check_victim(struct cycle *y, const struct decision *d)
{
	const struct task *victim = y->cluster->tasks.v[d->task], *t = y->cluster->tasks.v[d->by];
	struct sim_world *w = y->preempt->world;
	const char *why = NULL;

	if (victim->podgroup == MODEL_NONE || victim->charge == CHARGE_NONE ||
	    !sim_rooms_stays(&y->rooms, victim)) {
		why = "which has no node, or is evicted already";
	} else if (!sim_preempt_rules_is_open(w, victim)) {
		why = "which is protected";
	} else if (victim->retry_at != MODEL_TIME_NONE && victim->retry_at > y->now) {
		why = "within the pause after its eviction was refused";
	} else if (sim_preempt_rules_reclaims(y->cluster, t, victim)) {
		why = sim_preempt_rules_not_reclaimable(w, &y->rooms, t, victim);
	}
	if (why != NULL) {
		sim_world_fail(w, "preemption: %s for %s, %s", victim->name, t->name, why);
	}
}

/* --- none too many -----------------------------------------------------------------------------*/

/* It is no candidate at all, which does not keep the rest of its gang from going as a whole. */
static bool is_left_alone(const struct cycle *y, const struct task *t)
{
	return (t->flags & TASK_PREEMPTABLE) == 0 || (t->flags & TASK_OURS) == 0 ||
	       t->charge == CHARGE_NONE ||
	       t->charge_queue != y->cluster->podgroups.v[t->podgroup]->queue ||
	       !sim_preempt_rules_is_idle(t);
}

/* All pods of its PodGroup that may be victims go in this unit: without whole gangs none of them.
 */
static bool goes_whole(const struct cycle *y, const struct task *victim)
{
	const struct podgroup *g = y->cluster->podgroups.v[victim->podgroup];

	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = y->cluster->tasks.v[g->tasks.v[i]];

		if (sim_rooms_stays(&y->rooms, t) && !is_left_alone(y, t)) {
			return false;
		}
	}
	return true;
}

/* Brings the victim back, with its gang where that goes as a whole, or takes it away again. */
static void set_present(struct cycle *y, const struct unit *u, const struct task *victim,
			bool whole, bool present)
{
	for (size_t i = u->from; i < u->to; i++) {
		const struct decision *d = &y->decisions->v[i];
		const struct task *t = is_evict(d) ? y->cluster->tasks.v[d->task] : NULL;

		if (t == NULL || (whole ? t->podgroup != victim->podgroup : t != victim)) {
			continue;
		}
		if (present) {
			sim_rooms_restore(&y->rooms, t);
		} else {
			sim_rooms_evict(&y->rooms, t);
		}
	}
}

static bool is_over(const struct res *used, const struct res *limit)
{
	static const struct res nothing;

	return res_over(used, &nothing, limit, UINT32_MAX) != 0;
}

/* The pods of the unit have what they were given, as things are. */
static bool are_served(const struct cycle *y, const struct unit *u)
{
	const struct queue *q;

	for (size_t i = u->from; i < u->to; i++) {
		const struct decision *d = &y->decisions->v[i];

		if (d->kind == DECISION_AWAIT &&
		    is_over(&y->rooms.node[d->node], &y->cluster->nodes.v[d->node]->allocatable)) {
			return false;
		}
	}
	QUEUE_FOR_EACH_UP (q, y->cluster, u->podgroup->queue) {
		if (is_over(&y->rooms.queue[q->id], &y->rooms.limit[q->id])) {
			return false;
		}
	}
	return true;
}

/* Members take room one after the other: only if all pods are equal, what is left in the end was
 * there for each. */
static bool is_simple(const struct cycle *y, const struct unit *u)
{
	const struct res *first = NULL;

	for (size_t i = u->from; i < u->to; i++) {
		const struct decision *d = &y->decisions->v[i];
		const struct task *t =
			preemptor_of(y, d) == MODEL_NONE ? NULL : y->cluster->tasks.v[d->task];

		if (t != NULL && first != NULL && !res_eq(first, &t->klass->request)) {
			return u->only != NULL;
		}
		first = t == NULL ? first : &t->klass->request;
	}
	return true;
}

/* Of no room that is there for its pods, others may have been thought of before. */
static bool is_known(const struct cycle *y, const struct unit *u)
{
	for (size_t i = u->from; i < u->to; i++) {
		const struct decision *d = &y->decisions->v[i];

		if (preemptor_of(y, d) != MODEL_NONE && !is_evict(d) &&
		    (d->kind == DECISION_AWAIT_QUOTA || y->rooms.busy[d->node] ||
		     y->cluster->tasks.v[d->task]->charge == CHARGE_NONE) &&
		    y->rooms.any_busy) {
			return false;
		}
	}
	return !y->rooms.unsure;
}

/* Otherwise a victim may be in the way of a pod though there is room beside it: one of its zone,
 * where the pod's topologySpreadConstraints let no more be. */
static bool lack_room_alone(const struct cycle *y, const struct unit *u)
{
	for (size_t i = u->from; i < u->to; i++) {
		const struct decision *d = &y->decisions->v[i];

		if (preemptor_of(y, d) != MODEL_NONE && !is_evict(d) &&
		    !sim_preempt_rules_lacks_room_alone(y->cluster, y->cluster->tasks.v[d->task])) {
			return false;
		}
	}
	return true;
}

/* After the decisions of the unit. With proportion, the limits are others. */
static void check_needed(struct cycle *y, const struct unit *u)
{
	struct sim_world *w = y->preempt->world;

	if (!is_known(y, u) || w->plugins == CONFIGURATIONS_PROPORTION || !is_simple(y, u) ||
	    !lack_room_alone(y, u) || !are_served(y, u)) {
		return;
	}
	for (size_t i = u->from; i < u->to; i++) {
		const struct decision *d = &y->decisions->v[i];
		const struct task *victim;
		bool whole, served;

		if (!is_evict(d)) {
			continue;
		}
		victim = y->cluster->tasks.v[d->task];
		whole = w->evicts != CONFIGURATIONS_EVICT_PODS && goes_whole(y, victim);
		set_present(y, u, victim, whole, true);
		served = are_served(y, u);
		set_present(y, u, victim, whole, false);
		y->preempt->seen[SIM_PREEMPT_NEEDED]++;
		if (served) {
			sim_world_fail(w, "preemption: %s for PodGroup %s, which has room without",
				       victim->name, u->podgroup->name);
		}
	}
}

/* Takes the hold of each pod of the unit away that does not outrank the victim, or gives it back.
 */
static void set_lower_served(struct cycle *y, const struct unit *u, const struct task *victim,
			     bool served)
{
	for (size_t i = u->from; i < u->to; i++) {
		const struct decision *d = &y->decisions->v[i];
		const struct task *t = preemptor_of(y, d) == MODEL_NONE || is_evict(d)
					       ? NULL
					       : y->cluster->tasks.v[d->task];

		if (t == NULL || d->kind != DECISION_AWAIT ||
		    sim_preempt_rules_outranks(y->cluster, t, victim)) {
			continue;
		}
		if (served) {
			res_add(&y->rooms.node[d->node], &t->klass->request);
		} else {
			res_sub(&y->rooms.node[d->node], &t->klass->request);
		}
	}
}

/* No pod is evicted for a gang if the room goes only to members that do not outrank the victim: the
 * high priority of one member does not count for the others. After check_needed. */
static void check_outranked(struct cycle *y, const struct unit *u)
{
	struct sim_world *w = y->preempt->world;

	if (!is_known(y, u) || w->plugins == CONFIGURATIONS_PROPORTION || u->for_quota ||
	    !is_simple(y, u) || !lack_room_alone(y, u) || !are_served(y, u)) {
		return;
	}
	for (size_t i = u->from; i < u->to; i++) {
		const struct decision *d = &y->decisions->v[i];
		const struct task *victim = is_evict(d) ? y->cluster->tasks.v[d->task] : NULL;
		bool whole, served;

		if (victim == NULL || victim->podgroup == u->podgroup->id ||
		    sim_preempt_rules_reclaims(y->cluster, y->cluster->tasks.v[d->by], victim)) {
			continue;
		}
		whole = w->evicts != CONFIGURATIONS_EVICT_PODS && goes_whole(y, victim);
		set_lower_served(y, u, victim, false);
		set_present(y, u, victim, whole, true);
		served = are_served(y, u);
		set_present(y, u, victim, whole, false);
		set_lower_served(y, u, victim, true);
		if (served) {
			sim_world_fail(w,
				       "preemption: %s for pods of PodGroup %s that do not outrank "
				       "it",
				       victim->name, u->podgroup->name);
		}
	}
}

/* --- all or nothing ----------------------------------------------------------------------------*/

/* A gang gets quota, then nodes. */
static void check_complete(struct cycle *y, const struct unit *u)
{
	const struct podgroup *g = u->podgroup;
	int32_t placed = sim_rooms_placed(&y->rooms, g), charged = 0;

	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = y->cluster->tasks.v[g->tasks.v[i]];

		/* Pods that did not opt in ask for quota when they are placed. */
		charged += t->status == TASK_SUCCEEDED || t->klass->best_effort ||
			   (!y->rooms.evicted[t->id] && t->status != TASK_RELEASING &&
			    (y->rooms.charged[t->id] || (t->flags & TASK_OPTED_IN) == 0));
		placed += t->status == TASK_PENDING && t->klass->best_effort;
	}
	if ((u->for_quota ? charged : placed) < g->min_member) {
		sim_world_fail(y->preempt->world,
			       "preemption: for PodGroup %s, of which only %d of %d have %s",
			       g->name, u->for_quota ? charged : placed, g->min_member,
			       u->for_quota ? "quota" : "a node");
	}
	y->preempt->seen[SIM_PREEMPT_GANGS] += g->min_member > 1;
}

/* --- the least harm ----------------------------------------------------------------------------*/

static void check_choice(struct cycle *y, const struct unit *u)
{
	struct sim_world *w = y->preempt->world;
	struct sim_preempt_harm chosen = { .count = 0 };
	struct sim_preempt_plan plan = { .rooms = &y->rooms, .preemptor = u->only, .now = y->now };

	if (w->evicts != CONFIGURATIONS_EVICT_PODS || w->plugins != CONFIGURATIONS_BUILT_IN ||
	    u->only == NULL || !is_known(y, u) ||
	    !sim_preempt_rules_is_comparable(&plan, u->node == MODEL_NONE)) {
		return;
	}
	plan.quota_alone = u->node == MODEL_NONE;
	for (size_t i = u->from; i < u->to; i++) {
		const struct decision *d = &y->decisions->v[i];

		if (is_evict(d) &&
		    !sim_preempt_rules_add_harm(&plan, y->cluster->tasks.v[d->task], &chosen)) {
			return;
		}
	}
	y->preempt->seen[SIM_PREEMPT_CHOSEN]++;
	sim_preempt_rules_compare(w, &plan, &chosen, u->node);
}

/* Those of a lower priority are enough, on this node (an id; MODEL_NONE: for quota alone). */
static void check_below(struct cycle *y, const struct unit *u, uint32_t node, int64_t below)
{
	struct sim_world *w = y->preempt->world;

	if (sim_preempt_rules_fits_without(w, &y->rooms, u->only, node, below)) {
		sim_world_fail(w,
			       "preemption: for %s, of a PodGroup of priority %lld; lower ones are "
			       "enough%s%s",
			       u->only->name, (long long)below, node == MODEL_NONE ? "" : " on ",
			       node == MODEL_NONE ? "" : y->cluster->nodes.v[node]->name);
	}
}

/* Its gang needs each of its pods, and none of those that run will stay. Pods that gangs can spare
 * go before whole gangs, of whatever priority: a pod that has succeeded counts for minMember, so
 * that another one can be spared. */
static bool is_of_whole_gang(const struct cycle *y, const struct unit *u, const struct task *v)
{
	const struct podgroup *g = y->cluster->podgroups.v[v->podgroup];
	int32_t stay = 0, have = 0, go = 0;

	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = y->cluster->tasks.v[g->tasks.v[i]];

		if (y->rooms.holds[t->id] != MODEL_NONE) {
			return false; /* it may be bound by this cycle, and counts then */
		}
		stay += sim_rooms_stays(&y->rooms, t);
		have += sim_rooms_stays(&y->rooms, t) || t->status == TASK_BINDING ||
			t->status == TASK_SUCCEEDED;
	}
	for (size_t i = u->from; i < u->to; i++) {
		go += is_evict(&y->decisions->v[i]) &&
		      y->cluster->tasks.v[y->decisions->v[i].task]->podgroup == v->podgroup;
	}
	return go == stay && have == g->min_member;
}

/* Also where gangs go as a whole: none goes where others of a lower priority are enough. */
static void check_ranks(struct cycle *y, const struct unit *u)
{
	const struct sim_preempt_plan plan = { .rooms = &y->rooms, .preemptor = u->only };
	const struct sim_world *w = y->preempt->world;
	int64_t worst = INT64_MIN;

	if (w->plugins != CONFIGURATIONS_BUILT_IN || u->only == NULL || !is_known(y, u) ||
	    !sim_preempt_rules_is_comparable(&plan, u->node == MODEL_NONE)) {
		return;
	}
	for (size_t i = u->from; i < u->to; i++) {
		const struct decision *d = &y->decisions->v[i];
		const struct task *v = is_evict(d) ? y->cluster->tasks.v[d->task] : NULL;
		int64_t priority =
			v == NULL ? INT64_MIN : y->cluster->podgroups.v[v->podgroup]->priority;

		if (v != NULL &&
		    (sim_preempt_rules_reclaims(y->cluster, u->only, v) ||
		     v->podgroup == u->only->podgroup ||
		     (w->evicts != CONFIGURATIONS_EVICT_PODS && !is_of_whole_gang(y, u, v)))) {
			return;
		}
		worst = priority > worst ? priority : worst;
	}
	if (u->node == MODEL_NONE) {
		check_below(y, u, MODEL_NONE, worst);
	}
	for (uint32_t i = 0; u->node != MODEL_NONE && i < y->cluster->nodes.n; i++) {
		if (sim_preempt_rules_is_usable(y->cluster->nodes.v[i]) && !y->rooms.busy[i]) {
			check_below(y, u, i, worst);
		}
	}
}

/* One pod of another queue goes: not where one of a lower priority of that queue is enough. */
static void check_reclaimed(struct cycle *y, const struct unit *u)
{
	const struct sim_preempt_plan plan = { .rooms = &y->rooms, .preemptor = u->only };
	struct sim_world *w = y->preempt->world;
	const struct cluster *c = y->cluster;
	const struct task *v = c->tasks.v[y->decisions->v[u->from].task];

	if (w->plugins != CONFIGURATIONS_BUILT_IN || u->only == NULL || u->nvictims != 1 ||
	    !is_known(y, u) || y->rooms.any_busy || v->podgroup == MODEL_NONE ||
	    !sim_preempt_rules_reclaims(c, u->only, v) ||
	    (w->evicts != CONFIGURATIONS_EVICT_PODS && !is_of_whole_gang(y, u, v)) ||
	    !sim_preempt_rules_is_comparable(&plan, u->node == MODEL_NONE)) {
		return;
	}
	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];
		bool enough;

		if (!sim_preempt_rules_is_candidate(&y->rooms, u->only, t) ||
		    !sim_preempt_rules_is_open(w, t) || t->charge_queue != v->charge_queue ||
		    c->podgroups.v[t->podgroup]->priority >=
			    c->podgroups.v[v->podgroup]->priority ||
		    c->podgroups.v[t->podgroup]->tasks.n > 1 ||
		    (u->node != MODEL_NONE && !sim_preempt_rules_is_usable(c->nodes.v[t->node])) ||
		    sim_preempt_rules_not_reclaimable(w, &y->rooms, u->only, t) != NULL) {
			continue;
		}
		sim_rooms_evict(&y->rooms, t);
		enough = sim_preempt_rules_fits(&y->rooms, u->only,
						u->node == MODEL_NONE ? MODEL_NONE : t->node);
		sim_rooms_restore(&y->rooms, t);
		if (enough) {
			sim_world_fail(w,
				       "preemption: %s reclaimed for %s; %s is of a lower priority "
				       "and enough",
				       v->name, u->only->name, t->name);
		}
	}
}

/* --- cycles ------------------------------------------------------------------------------------*/

static void count(struct cycle *y, const struct unit *u)
{
	uint64_t *seen = y->preempt->seen;

	for (size_t i = u->from; i < u->to; i++) {
		const struct decision *d = &y->decisions->v[i];

		if (is_evict(d)) {
			seen[u->for_quota ? SIM_PREEMPT_FOR_QUOTA : SIM_PREEMPT_FOR_NODE]++;
			seen[SIM_PREEMPT_WITHIN] += y->cluster->tasks.v[d->by]->podgroup ==
						    y->cluster->tasks.v[d->task]->podgroup;
			seen[SIM_PREEMPT_RECLAIMED] +=
				sim_preempt_rules_reclaims(y->cluster, y->cluster->tasks.v[d->by],
							   y->cluster->tasks.v[d->task]);
		}
	}
}

static bool has_evictions(const struct decisions *d)
{
	for (size_t i = 0; i < d->n; i++) {
		if (is_evict(&d->v[i])) {
			return true;
		}
	}
	return false;
}

static void judge_unit(struct cycle *y, const struct unit *u)
{
	count(y, u);
	check_preemptor(y, u);
	check_choice(y, u);
	check_ranks(y, u);
	check_reclaimed(y, u);
	for (size_t i = u->from; i < u->to; i++) {
		if (is_evict(&y->decisions->v[i])) {
			check_victim(y, &y->decisions->v[i]);
		}
		sim_rooms_apply(&y->rooms, &y->decisions->v[i]);
	}
	check_needed(y, u);
	check_outranked(y, u);
	check_complete(y, u);
}

void sim_preempt_decided(struct sim_preempt *p, const struct cluster *c, const struct decisions *d,
			 int64_t now)
{
	struct cycle y = { .preempt = p, .cluster = c, .decisions = d, .now = now };
	size_t i = 0;

	if (!has_evictions(d)) {
		return;
	}
	y.rooms = sim_rooms_begin(c);
	while (i < d->n) {
		if (is_evict(&d->v[i])) {
			struct unit u = unit_at(&y, i);

			judge_unit(&y, &u);
			i = u.to;
		} else {
			sim_rooms_apply(&y.rooms, &d->v[i]);
			i++;
		}
	}
	sim_rooms_finish(&y.rooms);
}
