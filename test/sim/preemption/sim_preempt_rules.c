#include "sim/preemption/sim_preempt_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "lib/pods/configurations.h"
#include "scheduler/pods/model/cluster.h"
#include "sim/preemption/sim_rooms.h"

#define PODS_BIT (UINT32_C(1) << RES_PODS)
#define CANDIDATES_MAX 64

static const struct res nothing;

static const struct podgroup *podgroup_of(const struct cluster *c, const struct task *t)
{
	return c->podgroups.v[t->podgroup];
}

static const struct queue *queue_of(const struct cluster *c, const struct task *t)
{
	return c->queues.v[podgroup_of(c, t)->queue];
}

bool sim_preempt_rules_may_preempt(const struct cluster *c, const struct task *t)
{
	return t->podgroup != MODEL_NONE && podgroup_of(c, t)->exists &&
	       podgroup_of(c, t)->queue != MODEL_NONE && t->status == TASK_PENDING &&
	       t->klass != NULL && !t->klass->best_effort && t->klass->unsupported == NULL &&
	       (t->flags & TASK_OURS) != 0 &&
	       (t->flags & (TASK_GATE_ONLY | TASK_PREEMPT_NEVER | TASK_FOREIGN_GATE)) == 0;
}

bool sim_preempt_rules_is_open(const struct sim_world *w, const struct task *victim)
{
	const uint32_t must = (uint32_t)TASK_OURS | TASK_PREEMPTABLE;

	return (victim->flags & (must | TASK_GATE_ONLY)) == must &&
	       !victim->klass->charged_to_workload &&
	       ((victim->flags & TASK_CRITICAL) == 0 || w->plugins == CONFIGURATIONS_DRF);
}

bool sim_preempt_rules_reclaims(const struct cluster *c, const struct task *t,
				const struct task *victim)
{
	return victim->charge_queue != podgroup_of(c, t)->queue;
}

/* In a dimension that the pod requests; false where nothing of those is said. */
static bool is_within_deserved(const struct sim_rooms *r, const struct queue *q,
			       const struct task *t)
{
	const struct res deserved = sim_rooms_deserved(q);
	uint32_t dims = res_mask(&deserved) & t->klass->mask & ~PODS_BIT;

	return dims != 0 &&
	       res_over(&r->queue[q->id], r->charged[t->id] ? &nothing : &t->klass->request,
			&deserved, dims) != dims;
}

static bool has_more_than_deserved(const struct sim_rooms *r, const struct queue *q,
				   const struct task *victim)
{
	const struct res deserved = sim_rooms_deserved(q);
	uint32_t dims = res_mask(&deserved) & victim->klass->mask & ~PODS_BIT;

	return dims == 0 || res_over(&r->queue[q->id], &nothing, &deserved, dims) != 0;
}

/* Without the victim. */
static bool keeps_guarantee(const struct sim_rooms *r, const struct queue *q,
			    const struct task *victim)
{
	struct res left = r->queue[q->id];

	res_sub(&left, pod_class_charge(victim->klass));
	return res_over(&q->guarantee, &nothing, &left,
			res_mask(&q->guarantee) & victim->klass->mask) == 0;
}

const char *sim_preempt_rules_not_reclaimable(const struct sim_world *w, const struct sim_rooms *r,
					      const struct task *t, const struct task *victim)
{
	const struct cluster *c = r->cluster;
	const struct queue *q = queue_of(c, t), *from = c->queues.v[victim->charge_queue], *at;

	if (!from->reclaimable) {
		return "of a queue that is not reclaimable";
	}
	/* The others compute by weights what a queue deserves. */
	if (w->plugins == CONFIGURATIONS_PROPORTION || r->unsure || r->any_busy) {
		return NULL;
	}
	if (!is_within_deserved(r, q, t)) {
		return "the queue of which has all that it deserves";
	}
	if (!has_more_than_deserved(r, from, victim)) {
		return "the queue of which has no more than it deserves";
	}
	QUEUE_FOR_EACH_UP (at, c, from->id) {
		if (queue_is_within(c, q->id, at)) {
			break;
		}
		if (!keeps_guarantee(r, at, victim)) {
			return "a queue of which has no more than it is guaranteed";
		}
	}
	return NULL;
}

bool sim_preempt_rules_outranks(const struct cluster *c, const struct task *t,
				const struct task *victim)
{
	return cluster_task_standing(c, victim) < cluster_task_standing(c, t);
}

bool sim_preempt_rules_lacks_room_alone(const struct cluster *c, const struct task *t)
{
	if (t->klass->nclaims > 0 || t->klass->nports > 0 || t->klass->nterms > 0) {
		return false;
	}
	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *other = c->tasks.v[i];

		if (other != NULL && other->klass != NULL && other->klass->nterms > 0 &&
		    other->node != MODEL_NONE) {
			return false;
		}
	}
	return true;
}

bool sim_preempt_rules_is_simple(const struct cluster *c, const struct task *t)
{
	const struct pod_class *k = t->klass;

	if (k->nselector > 0 || k->has_required || k->nclaims > 0 || k->nports > 0) {
		return false;
	}
	for (size_t i = 0; i < c->tasks.n; i++) {
		if (c->tasks.v[i] != NULL && c->tasks.v[i]->klass != NULL &&
		    c->tasks.v[i]->klass->nterms > 0) {
			return false;
		}
	}
	return true;
}

bool sim_preempt_rules_is_usable(const struct node *n)
{
	return n != NULL && n->exists && !n->unschedulable && n->taints.n == 0;
}

bool sim_preempt_rules_is_queue_usable(const struct cluster *c, const struct queue *q)
{
	QUEUE_FOR_EACH_UP (q, c, q->id) {
		if (!q->exists || q->broken != NULL || q->state != QUEUE_OPEN) {
			return false;
		}
	}
	return true;
}

bool sim_preempt_rules_is_idle(const struct task *t)
{
	return (t->flags & TASK_PARKED) == 0 && t->retry_at == MODEL_TIME_NONE;
}

bool sim_preempt_rules_is_candidate(const struct sim_rooms *r, const struct task *t,
				    const struct task *victim)
{
	return victim != NULL && sim_rooms_stays(r, victim) && victim->podgroup != MODEL_NONE &&
	       victim->podgroup != t->podgroup && victim->charge != CHARGE_NONE &&
	       victim->charge_queue == podgroup_of(r->cluster, victim)->queue &&
	       r->cluster->nodes.v[victim->node]->exists && sim_preempt_rules_is_idle(victim);
}

bool sim_preempt_rules_fits(const struct sim_rooms *r, const struct task *t, uint32_t node)
{
	return sim_rooms_fits_queue(r, t, queue_of(r->cluster, t)) &&
	       (node == MODEL_NONE || sim_rooms_fits_node(r, t, r->cluster->nodes.v[node]));
}

static bool may_go(const struct sim_world *w, const struct sim_rooms *r, const struct task *t,
		   const struct task *victim)
{
	const struct podgroup *g = podgroup_of(r->cluster, victim);

	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *one = r->cluster->tasks.v[g->tasks.v[i]];

		if (w->evicts == CONFIGURATIONS_EVICT_PODS && one != victim) {
			continue;
		}
		if (sim_rooms_stays(r, one) &&
		    (!sim_preempt_rules_is_open(w, one) || !sim_preempt_rules_is_idle(one) ||
		     one->charge == CHARGE_NONE || one->charge_queue != g->queue ||
		     !sim_preempt_rules_outranks(r->cluster, t, one))) {
			return false;
		}
	}
	return true;
}

/* The candidates of its queue on the node (an id; MODEL_NONE: any) with a PodGroup of a priority
 * below this one are evicted. Returns which, by task id; the caller frees it. */
static bool *take_away(const struct sim_world *w, struct sim_rooms *r, const struct task *t,
		       uint32_t node, int64_t below)
{
	const struct cluster *c = r->cluster;
	bool *gone = xmalloc_zero(c->tasks.n + 1, sizeof(*gone));

	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *v = c->tasks.v[i];

		gone[i] = sim_preempt_rules_is_candidate(r, t, v) &&
			  podgroup_of(c, v)->priority < below &&
			  (node == MODEL_NONE || v->node == node) &&
			  !sim_preempt_rules_reclaims(c, t, v) && may_go(w, r, t, v);
	}
	for (size_t i = 0; i < c->tasks.n; i++) {
		if (gone[i]) {
			sim_rooms_evict(r, c->tasks.v[i]);
		}
	}
	return gone;
}

static void bring_back(struct sim_rooms *r, const bool *gone)
{
	for (size_t i = 0; i < r->cluster->tasks.n; i++) {
		if (gone[i]) {
			sim_rooms_restore(r, r->cluster->tasks.v[i]);
		}
	}
}

bool sim_preempt_rules_fits_without(const struct sim_world *w, struct sim_rooms *r,
				    const struct task *t, uint32_t node, int64_t below)
{
	bool served, *gone = take_away(w, r, t, node, below);

	served = sim_preempt_rules_fits(r, t, node);
	bring_back(r, gone);
	free(gone);
	return served;
}

/* How many pods like t the node has room for. */
static int32_t count_on(const struct sim_rooms *r, const struct task *t, const struct node *n,
			int32_t most)
{
	struct res before = r->node[n->id];
	int32_t count = 0;

	while (count < most && sim_rooms_fits_node(r, t, n)) {
		res_add(&r->node[n->id], &t->klass->request);
		count++;
	}
	r->node[n->id] = before;
	return count;
}

/* The same of quota. */
static int32_t count_quota(const struct sim_rooms *r, const struct task *t, int32_t most)
{
	const struct cluster *c = r->cluster;
	int32_t least = most;
	const struct queue *q;

	QUEUE_FOR_EACH_UP (q, c, queue_of(c, t)->id) {
		struct res all = r->queue[q->id];
		int32_t count = 0;

		while (count < least && res_over(&all, pod_class_charge(t->klass), &r->limit[q->id],
						 pod_class_charge_mask(t->klass)) == 0) {
			res_add(&all, pod_class_charge(t->klass));
			count++;
		}
		least = count;
	}
	return least;
}

int32_t sim_preempt_rules_count(const struct sim_rooms *r, const struct task *t, int32_t most)
{
	const struct cluster *c = r->cluster;
	int32_t count = 0;

	for (size_t i = 0; i < c->nodes.n && count < most; i++) {
		if (sim_preempt_rules_is_usable(c->nodes.v[i])) {
			count += count_on(r, t, c->nodes.v[i], most - count);
		}
	}
	return count;
}

int32_t sim_preempt_rules_count_without(const struct sim_world *w, struct sim_rooms *r,
					const struct task *t, bool of_quota, int32_t most)
{
	bool *gone = take_away(w, r, t, MODEL_NONE, INT64_MAX);
	int32_t count = of_quota ? count_quota(r, t, most) : sim_preempt_rules_count(r, t, most);

	bring_back(r, gone);
	free(gone);
	return count;
}

/* --- the least harm ----------------------------------------------------------------------------*/

bool sim_preempt_rules_is_comparable(const struct sim_preempt_plan *p, bool quota_alone)
{
	const struct sim_rooms *r = p->rooms;
	const struct task *t = p->preemptor;
	const struct podgroup *g = podgroup_of(r->cluster, t);
	const struct queue *at;

	if (!sim_preempt_rules_is_simple(r->cluster, t) || g->rivals.n > 0 ||
	    (r->any_busy && t->charge == CHARGE_NONE)) {
		return false;
	}
	for (size_t i = 0; i < g->tasks.n; i++) {
		if (r->evicted[g->tasks.v[i]]) {
			return false;
		}
	}
	/* The quota that pods give back while they end is not for everyone. */
	QUEUE_FOR_EACH_UP (at, r->cluster, queue_of(r->cluster, t)->id) {
		struct res all = r->queue[at->id];

		res_add(&all, &at->releasing);
		if ((t->flags & TASK_OPTED_IN) == 0 &&
		    res_over(&all, pod_class_charge(t->klass), &r->limit[at->id],
			     pod_class_charge_mask(t->klass)) != 0) {
			return false;
		}
	}
	return !quota_alone || !r->charged[t->id];
}

/* Its PodGroup has what it needs: PodGroups that lack members are victims later than others. */
static bool is_steady(const struct sim_rooms *r, const struct task *t)
{
	const struct podgroup *g = podgroup_of(r->cluster, t);
	int32_t have = 0;

	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *other = r->cluster->tasks.v[g->tasks.v[i]];

		if (r->evicted[other->id] || other->status == TASK_RELEASING) {
			return false;
		}
		have += other->status == TASK_RUNNING || other->status == TASK_BOUND;
	}
	return g->role_min.n == 0 && have >= g->min_member;
}

static struct sim_preempt_harm harm_of(const struct sim_rooms *r, const struct task *t)
{
	return (struct sim_preempt_harm){ podgroup_of(r->cluster, t)->priority, t->priority,
					  t->deletion_cost, t->created, 1 };
}

/* Below 0: a is less harm. */
static int compare(const struct sim_preempt_harm *a, const struct sim_preempt_harm *b)
{
	if (a->podgroup_priority != b->podgroup_priority) {
		return a->podgroup_priority < b->podgroup_priority ? -1 : 1;
	}
	if (a->priority != b->priority) {
		return a->priority < b->priority ? -1 : 1;
	}
	return (a->cost > b->cost) - (a->cost < b->cost);
}

static int compare_on_node(const struct sim_preempt_harm *a, const struct sim_preempt_harm *b)
{
	int r = compare(a, b);

	return r != 0 ? r : (a->created < b->created) - (a->created > b->created);
}

/* Below 0: a is evicted before b. Of pods of one second it is the one with the higher UID, as which
 * pods are enough depends on their sizes. */
static int compare_victims(const struct sim_rooms *r, const struct task *a, const struct task *b)
{
	const struct sim_preempt_harm x = harm_of(r, a), y = harm_of(r, b);
	int order = compare_on_node(&x, &y);

	return order != 0 ? order : strcmp(b->uid, a->uid);
}

static void add(struct sim_preempt_harm *to, const struct sim_preempt_harm *one)
{
	unsigned n = to->count + 1;

	if (to->count == 0 || compare_on_node(one, to) > 0) {
		*to = *one;
	}
	to->count = n;
}

bool sim_preempt_rules_add_harm(const struct sim_preempt_plan *p, const struct task *victim,
				struct sim_preempt_harm *h)
{
	const struct cluster *c = p->rooms->cluster;
	struct sim_preempt_harm one;

	if (sim_preempt_rules_reclaims(c, p->preemptor, victim) ||
	    victim->podgroup == p->preemptor->podgroup || !is_steady(p->rooms, victim)) {
		return false;
	}
	one = harm_of(p->rooms, victim);
	add(h, &one);
	return true;
}

struct candidates {
	const struct task *v[CANDIDATES_MAX];
	size_t n;
};

/* In the order in which they are evicted. False: not all is known about one of them. */
static bool list(struct sim_world *w, const struct sim_preempt_plan *p, uint32_t node,
		 struct candidates *out)
{
	const struct cluster *c = p->rooms->cluster;

	out->n = 0;
	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];
		size_t at;

		if (t == NULL || !sim_rooms_stays(p->rooms, t) || t->podgroup == MODEL_NONE ||
		    (node != MODEL_NONE && t->node != node) || t->charge == CHARGE_NONE ||
		    t->charge_queue != podgroup_of(c, t)->queue ||
		    sim_preempt_rules_reclaims(c, p->preemptor, t) ||
		    !c->nodes.v[t->node]->exists || t->podgroup == p->preemptor->podgroup ||
		    !sim_preempt_rules_is_open(w, t) ||
		    !sim_preempt_rules_outranks(c, p->preemptor, t)) {
			continue;
		}
		if (t->retry_at != MODEL_TIME_NONE || !is_steady(p->rooms, t) ||
		    out->n == CANDIDATES_MAX) {
			return false;
		}
		for (at = out->n++; at > 0; at--) {
			if (compare_victims(p->rooms, out->v[at - 1], t) <= 0) {
				break;
			}
			out->v[at] = out->v[at - 1];
		}
		out->v[at] = t;
	}
	return true;
}

static bool fits(const struct sim_preempt_plan *p, uint32_t node)
{
	const struct cluster *c = p->rooms->cluster;

	return (node == MODEL_NONE ||
		sim_rooms_fits_node(p->rooms, p->preemptor, c->nodes.v[node])) &&
	       sim_rooms_fits_queue(p->rooms, p->preemptor, queue_of(c, p->preemptor));
}

/* The first victims that are enough, without those that turn out not to be needed. False: all are
 * not enough. */
static bool choose(const struct sim_preempt_plan *p, uint32_t node, struct candidates *from,
		   struct sim_preempt_harm *ret)
{
	bool ok = fits(p, node), evicted[CANDIDATES_MAX] = { false };
	size_t n = 0;

	*ret = (struct sim_preempt_harm){ .count = 0 };
	while (!ok && n < from->n) {
		sim_rooms_evict(p->rooms, from->v[n]);
		evicted[n++] = true;
		ok = fits(p, node);
	}
	for (size_t i = n; ok && n > 0 && i-- > 0;) {
		sim_rooms_restore(p->rooms, from->v[i]);
		evicted[i] = !fits(p, node);
		if (evicted[i]) {
			sim_rooms_evict(p->rooms, from->v[i]);
		}
	}
	for (size_t i = 0; i < n; i++) {
		struct sim_preempt_harm one = harm_of(p->rooms, from->v[i]);

		if (evicted[i]) {
			sim_rooms_restore(p->rooms, from->v[i]);
			add(ret, &one);
		}
	}
	return ok;
}

static void compare_at(struct sim_world *w, const struct sim_preempt_plan *p, uint32_t node,
		       const struct sim_preempt_harm *chosen, bool same)
{
	const struct cluster *c = p->rooms->cluster;
	struct candidates from;
	struct sim_preempt_harm other;
	int order;

	if (!list(w, p, node, &from) || from.n == 0 || !choose(p, node, &from, &other)) {
		return;
	}
	order = same ? compare_on_node(&other, chosen) : compare(&other, chosen);
	if (other.count == 0 || order < 0 || (order == 0 && other.count < chosen->count)) {
		sim_world_fail(
			w,
			"preemption: %u victims for %s, the worst of priority %d of %d, cost "
			"%d, created %lld; %u are enough%s%s, the worst of %d of %d, %d, "
			"%lld",
			chosen->count, p->preemptor->name, chosen->priority,
			chosen->podgroup_priority, chosen->cost, (long long)chosen->created,
			other.count, node == MODEL_NONE ? "" : " on ",
			node == MODEL_NONE ? "" : c->nodes.v[node]->name, other.priority,
			other.podgroup_priority, other.cost, (long long)other.created);
	}
}

void sim_preempt_rules_compare(struct sim_world *w, const struct sim_preempt_plan *p,
			       const struct sim_preempt_harm *chosen, uint32_t node)
{
	const struct cluster *c = p->rooms->cluster;

	if (p->quota_alone) {
		compare_at(w, p, MODEL_NONE, chosen, true);
		return;
	}
	for (uint32_t i = 0; i < c->nodes.n; i++) {
		if (i == node ||
		    (sim_preempt_rules_is_usable(c->nodes.v[i]) && !p->rooms->busy[i])) {
			compare_at(w, p, i, chosen, i == node);
		}
	}
}
