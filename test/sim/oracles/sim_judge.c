#include "sim/oracles/sim_judge.h"

#include <stdlib.h>

#include "api/volcano/keys.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/quantity.h"
#include "lib/pods/configurations.h"
#include "scheduler/pods/ledger/totals.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/values/pod_class.h"
#include "sim/world/sim_pod.h"
#include "sim/world/sim_view.h"

#define MAX_MEMBERS 64
#define RETRIED_NS                                                                                 \
	(10 * CLOCK_NS_PER_S) /* after retry_at, until a deferred pod has been decided again */

struct judge {
	struct sim_world *world;
	struct sim_oracle *oracle;
	const struct cluster *cluster;
};

static char *key_of(const struct jdoc *pod)
{
	return xmalloc_printf("%s/%s", jdoc_path_str(pod, "metadata.namespace"),
			      jdoc_path_str(pod, "metadata.name"));
}

static bool is_waiting(const struct judge *j, const struct jdoc *pod)
{
	return !sim_pod_is_placed(pod) && !sim_pod_is_finished(pod) &&
	       !(sim_pod_is_opted_in(pod, j->world->sticky) && sim_pod_is_published(pod)) &&
	       jdoc_path(pod, "metadata.deletionTimestamp") == NULL;
}

struct members {
	char *waiting[MAX_MEMBERS]; /* keys of members without a foreign gate */
	size_t nwaiting, have;      /* have: with quota, or finished */
};

static void collect(const struct judge *j, const char *group, struct members *ret)
{
	*ret = (struct members){ .have = 0 };
	for (size_t i = 0; i < sim_view_count(j->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(j->world->view, SIM_PODS, i);
		CLEANUP(xmalloc_freep) char *other = sim_pod_group(pod);

		if (!str_streq(other, group) || !sim_pod_is_ours(pod)) {
			continue; /* another scheduler's pod is no member, whatever its annotation
				   */
		}
		if (!is_waiting(j, pod)) {
			ret->have += !str_streq(jdoc_path_str(pod, "status.phase"), "Failed");
		} else if (!sim_pod_has_foreign_gate(pod) && ret->nwaiting < MAX_MEMBERS) {
			ret->waiting[ret->nwaiting++] = key_of(pod);
		}
	}
}

/* It is in phase Inqueue, or Running while its members have less than its minResources. */
static bool asks_for_more(const struct judge *j, const struct podgroup *other)
{
	struct res lacks = other->min_resources;

	if (!other->has_min_resources || other->phase == PODGROUP_INQUEUE) {
		return other->has_min_resources;
	}
	for (size_t i = 0; i < other->tasks.n; i++) {
		const struct task *t = j->cluster->tasks.v[other->tasks.v[i]];

		if (t->charge != CHARGE_NONE) {
			res_sub_floor(&lacks, pod_class_charge(t->klass));
		}
	}
	return other->phase == PODGROUP_RUNNING && !res_is_zero(&lacks);
}

/* Volcano's rule of the action enqueue: the requests that an enqueued PodGroup still has count
 * against PodGroups that are to be enqueued after it, even where it does not fit itself. */
static bool waits_for_its_turn(const struct judge *j, const struct jdoc *group)
{
	if (jdoc_is_str(jdoc_path(group, "status.phase"), "Inqueue")) {
		return false;
	}
	for (size_t i = 0; i < j->cluster->podgroups.n; i++) {
		const struct podgroup *other = j->cluster->podgroups.v[i];

		if (other != NULL && asks_for_more(j, other)) {
			return true;
		}
	}
	return false;
}

/* A gang with a member that opted out may alternate between holding and releasing quota: that
 * member needs quota like any other pod. */
static bool has_opted_out(const struct sim_world *w, const char *group)
{
	bool in = false, out = false;

	for (size_t i = 0; i < sim_view_count(w->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(w->view, SIM_PODS, i);
		CLEANUP(xmalloc_freep) char *other = sim_pod_group(pod);

		if (group != NULL && str_streq(other, group)) {
			in |= sim_pod_is_opted_in(pod, w->sticky);
			out |= !sim_pod_is_opted_in(pod, w->sticky) && !sim_pod_is_placed(pod);
		}
	}
	return in && out;
}

static int64_t free_cpu(const struct sim_world *w, const struct jdoc *node)
{
	const char *name = jdoc_path_str(node, "metadata.name");
	struct quantity q;
	int64_t cpu;

	if (quantity_parse(str_of(jdoc_path_str(node, "status.allocatable.cpu")), &q, NULL) < 0) {
		return 0;
	}
	cpu = quantity_milli(q);
	for (size_t i = 0; i < sim_view_count(w->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(w->view, SIM_PODS, i);

		if (jdoc_is_str(jdoc_path(pod, "spec.nodeName"), name) &&
		    !sim_pod_is_finished(pod)) {
			cpu -= sim_pod_milli_cpu(pod);
		}
	}
	return cpu;
}

/* How many pods of that size fit on the nodes, of a pool or (NULL) of all. */
static int64_t places(const struct sim_world *w, int64_t milli_cpu, const char *pool)
{
	int64_t n = 0;

	for (size_t i = 0; i < sim_view_count(w->view, SIM_NODES); i++) {
		const struct jdoc *node = sim_view_at(w->view, SIM_NODES, i);

		if (pool == NULL || jdoc_is_str(jdoc_path(node, "metadata.labels.pool"), pool)) {
			int64_t cpu = free_cpu(w, node);

			n += cpu > 0 ? cpu / milli_cpu : 0;
		}
	}
	return n;
}

/* Volcano's rule for a gang that did not opt in: members that fit a node are Schedulable, and
 * autoscalers see only the others. If these fit on free nodes, but the whole gang does not,
 * autoscalers buy nothing: the gang lacks nodes, not quota. (A gang that opts in is published
 * whole.)
 */
static bool lacks_nodes_unseen(const struct judge *j, const struct members *m, size_t need)
{
	bool hidden = false, seen = false;
	const char *pool = NULL;
	int64_t cpu = 1;

	for (size_t i = 0; i < m->nwaiting; i++) {
		const struct jdoc *pod = sim_view_get(j->world->view, SIM_PODS, m->waiting[i]);
		const char *selects = jdoc_path_str(pod, "spec.nodeSelector.pool");
		int64_t size = sim_pod_milli_cpu(pod);

		if (sim_pod_is_opted_in(pod, j->world->sticky)) {
			return false;
		}
		hidden |= sim_pod_is_short_of_gang(pod);
		seen |= sim_pod_is_published(pod);
		cpu = size > cpu ? size : cpu;
		pool = selects != NULL ? selects : pool;
	}
	return hidden && seen && places(j->world, cpu, pool) < (int64_t)need;
}

/* A pod that waits without quota beyond its own queue takes a share of the nodes from that queue.
 */
static bool others_ask(const struct cluster *c, uint32_t queue)
{
	const uint32_t asks_quota = (uint32_t)TASK_OPTED_IN | TASK_OUR_GATE | TASK_FOREIGN_GATE;

	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		if (t != NULL && (t->flags & (TASK_OURS | asks_quota)) == TASK_OURS &&
		    t->status == TASK_PENDING && t->charge == CHARGE_NONE &&
		    t->podgroup != MODEL_NONE && c->podgroups.v[t->podgroup]->queue != queue) {
			return true;
		}
	}
	return false;
}

/* The charge of pods in this very queue, or what is guaranteed to it where that is more. */
static int64_t taken_by(const struct cluster *c, const struct queue *q)
{
	int64_t own = q->charged.v[RES_CPU];

	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *child = c->queues.v[i];

		if (child != NULL && child->exists && child->parent == q->id) {
			own -= child->charged.v[RES_CPU];
		}
	}
	return own > q->guarantee.v[RES_CPU] ? own : q->guarantee.v[RES_CPU];
}

/* Volcano's rule of the plugin proportion: pods that did not opt in (these, of one PodGroup) are
 * placed within their queue's share of the present nodes. Pods that wait in other queues take
 * shares, too, even when they fit into none themselves; neither what other queues use nor what is
 * guaranteed to them is part of it; and neither is quota that pods hold without a node, which may
 * be theirs of another scheduler for ever. */
static bool lacks_share(const struct judge *j, const char *const *keys, size_t n)
{
	const struct cluster *c = j->cluster;
	const struct task *t = n > 0 ? cluster_task_find(c, str_of(keys[0])) : NULL;
	int64_t rest = c->total.v[RES_CPU], need = 0;
	uint32_t queue;

	if (j->world->plugins != CONFIGURATIONS_PROPORTION || t == NULL ||
	    t->podgroup == MODEL_NONE || (t->flags & TASK_OPTED_IN) != 0) {
		return false;
	}
	queue = c->podgroups.v[t->podgroup]->queue;
	if (queue == MODEL_NONE) {
		return false;
	}
	if (others_ask(c, queue)) {
		return true;
	}
	for (size_t i = 0; i < n; i++) {
		need += sim_pod_milli_cpu(sim_view_get(j->world->view, SIM_PODS, keys[i]));
	}
	for (size_t i = 0; i < c->queues.n; i++) {
		if (c->queues.v[i] != NULL && c->queues.v[i]->exists && i != queue) {
			rest -= taken_by(c, c->queues.v[i]);
		}
	}
	return need > rest - c->queues.v[queue]->charged.v[RES_CPU] ||
	       need > c->total.v[RES_CPU] - c->queues.v[c->root_queue]->charged.v[RES_CPU];
}

static void members_finish(struct members *m)
{
	for (size_t i = 0; i < m->nwaiting; i++) {
		free(m->waiting[i]);
	}
}

/* In a world of ClusterQueues a pod may name a Queue that does not exist, and waits for it. */
static bool has_queue(const struct sim_world *w, const struct jdoc *group)
{
	const char *queue = jdoc_path_str(group, "spec.queue");

	return queue == NULL || sim_view_get(w->view, SIM_QUEUES, queue) != NULL;
}

static bool has_queue_alone(const struct sim_world *w, const struct jdoc *pod)
{
	const char *queue = jdoc_str_or(
		jdoc_get(jdoc_path(pod, "metadata.annotations"), KEYS_QUEUE_NAME), "default");

	return sim_view_get(w->view, SIM_QUEUES, queue) != NULL;
}

/* A tenant has deleted the PodGroup: the pod waits for another one. */
static bool has_lost_group(const struct judge *j, const char *group)
{
	return group != NULL && sim_oracle_is_disturbed(j->oracle, group) &&
	       sim_view_get(j->world->view, SIM_PODGROUPS, group) == NULL;
}

/* How many members the roles of the gang lack, of those that have quota or have finished. */
static size_t lacking_by_role(const struct judge *j, const struct jdoc *g, const char *group,
			      bool *ret_complete)
{
	size_t lacking = 0;

	*ret_complete = true;
	for (const struct jdoc *r = jdoc_first(jdoc_path(g, "spec.minTaskMember")); r != NULL;
	     r = jdoc_next(r)) {
		int64_t have = 0, waiting = 0, least = jdoc_int(r, 0);

		for (size_t i = 0; i < sim_view_count(j->world->view, SIM_PODS); i++) {
			const struct jdoc *pod = sim_view_at(j->world->view, SIM_PODS, i);
			CLEANUP(xmalloc_freep) char *other = sim_pod_group(pod);

			if (!str_streq(other, group) || !sim_pod_is_ours(pod) ||
			    !str_streq(sim_pod_role(pod), jdoc_key(r))) {
				continue;
			}
			if (is_waiting(j, pod)) {
				waiting += !sim_pod_has_foreign_gate(pod);
			} else {
				have += !jdoc_is_str(jdoc_path(pod, "status.phase"), "Failed");
			}
		}
		*ret_complete &= have + waiting >= least;
		lacking += have < least ? (size_t)(least - have) : 0;
	}
	return lacking;
}

/* A pod without owner need not have a PodGroup; where they are made, a gated one does. */
static bool is_alone(const struct judge *j, const struct jdoc *pod)
{
	return (j->cluster->implies_podgroups || !sim_pod_has_our_gate(pod)) &&
	       !sim_pod_has_controller(pod);
}

static void judge_alone(const struct judge *j, const struct jdoc *pod, const char *key)
{
	if (!has_queue_alone(j->world, pod) || lacks_share(j, &key, 1) ||
	    waits_for_its_turn(j, NULL)) {
		return;
	}
	if (sim_oracle_fits(j->oracle, &key, 1)) {
		sim_world_fail(j->world, "end: %s waits although its queue has room", key);
	}
}

static bool are_of_one_size(const struct judge *j, const struct members *m)
{
	int64_t first = 0;

	for (size_t i = 0; i < m->nwaiting; i++) {
		int64_t size =
			sim_pod_milli_cpu(sim_view_get(j->world->view, SIM_PODS, m->waiting[i]));

		if (i > 0 && size != first) {
			return false;
		}
		first = size;
	}
	return true;
}

/* A gang that has not started needs room for all missing members at once, a started one for one. */
static void judge_waiting(const struct judge *j, const struct jdoc *pod)
{
	CLEANUP(xmalloc_freep) char *group = sim_pod_group(pod);
	CLEANUP(xmalloc_freep) char *key = key_of(pod);
	const struct jdoc *g =
		group == NULL ? NULL : sim_view_get(j->world->view, SIM_PODGROUPS, group);
	size_t need = (size_t)jdoc_int(jdoc_path(g, "spec.minMember"), 0);
	struct members m;
	bool complete;
	size_t lacking = lacking_by_role(j, g, group, &complete);

	if (group == NULL && is_alone(j, pod)) {
		judge_alone(j, pod, key);
		return;
	}
	if (g == NULL) {
		if (!has_lost_group(j, group)) {
			sim_world_fail(j->world, "end: %s waits without a PodGroup", key);
		}
		return;
	}
	if (!has_queue(j->world, g) || has_opted_out(j->world, group) ||
	    (!sim_pod_is_opted_in(pod, j->world->sticky) && waits_for_its_turn(j, g))) {
		return;
	}
	collect(j, group, &m);
	if (m.have + m.nwaiting < need || !complete) {
		members_finish(&m);
		return; /* the gang is not complete */
	}
	need = m.have < need ? need - m.have : 1;
	need = need < lacking ? lacking : need;
	if ((lacking > 0 && !sim_pod_is_opted_in(pod, j->world->sticky)) ||
	    !are_of_one_size(j, &m)) {
		/* Volcano's rule: pods are tried in their order, so more of one role than needed
		 * may take the room of another role, and a large pod that of two small ones. */
		need = m.nwaiting;
	}
	for (size_t i = 0; i < m.nwaiting; i++) {
		/* The room is computed for the first ones: the pod must be among them. */
		if (str_streq(m.waiting[i], key)) {
			char *first = m.waiting[0];

			m.waiting[0] = m.waiting[i];
			m.waiting[i] = first;
		}
	}
	if (!lacks_nodes_unseen(j, &m, need) &&
	    !lacks_share(j, (const char *const *)m.waiting, need) &&
	    sim_oracle_fits(j->oracle, (const char *const *)m.waiting, need)) {
		sim_world_fail(j->world, "end: %s waits although its queue has room%s", key,
			       need > 1 ? " for its gang" : "");
	}
	members_finish(&m);
}

/* A pod without requests holds no quota, and has none to give back when its gang is not complete
 * any more. */
static bool waits_without_quota(const struct judge *j, const struct jdoc *pod, const char *group)
{
	const struct jdoc *g =
		group == NULL ? NULL : sim_view_get(j->world->view, SIM_PODGROUPS, group);
	struct members m;
	size_t have;

	if (sim_pod_has_requests(pod)) {
		return false;
	}
	collect(j, group, &m);
	have = m.have + m.nwaiting;
	members_finish(&m);
	return g == NULL || have < (size_t)jdoc_int(jdoc_path(g, "spec.minMember"), 0);
}

static void judge_pod(const struct judge *j, const struct jdoc *pod)
{
	CLEANUP(xmalloc_freep) char *key = key_of(pod);
	CLEANUP(xmalloc_freep) char *group = sim_pod_group(pod);
	bool opted_in = sim_pod_is_opted_in(pod, j->world->sticky);

	if (sim_pod_is_placed(pod) || sim_pod_is_finished(pod)) {
		return;
	}
	if (jdoc_path(pod, "metadata.deletionTimestamp") != NULL) {
		sim_world_fail(j->world, "end: %s is still terminating", key);
	} else if (sim_pod_has_foreign_gate(pod)) {
		if (sim_pod_is_published(pod)) {
			sim_world_fail(j->world, "end: %s is published with a gate", key);
		}
	} else if (sim_pod_is_impossible(pod)) {
		return; /* is published and withdrawn again and again, by the reservation timeout */
	} else if (!opted_in && sim_pod_has_our_gate(pod)) {
		if (!has_lost_group(j, group)) {
			sim_world_fail(j->world, "end: %s did not opt in but has our gate", key);
		}
	} else if (opted_in && sim_pod_is_published(pod)) {
		if (has_opted_out(j->world, group) || waits_without_quota(j, pod, group)) {
			return;
		}
		sim_world_fail(j->world, "end: %s is published, but has no node", key);
	} else {
		judge_waiting(j, pod);
	}
}

/* Compares the scheduler's ledger with the pods. */
static void judge_ledger(const struct judge *j, const struct jdoc *pod)
{
	CLEANUP(xmalloc_freep) char *key = key_of(pod);
	const struct task *t = cluster_task_find(j->cluster, str_of(key));
	bool holds = (sim_pod_is_placed(pod) && !sim_pod_is_finished(pod)) ||
		     (sim_pod_is_published(pod) && sim_pod_is_opted_in(pod, j->world->sticky));

	if (sim_pod_is_finished(pod)) {
		return;
	}
	if (t == NULL || !str_streq(t->uid, sim_pod_uid(pod))) {
		sim_world_fail(j->world, "end: %s is missing in the scheduler's model", key);
		return;
	}
	if (sim_pod_is_impossible(pod) || (t->klass->best_effort && !sim_pod_is_placed(pod))) {
		return;
	}
	if (holds != (t->charge != CHARGE_NONE)) {
		sim_world_fail(j->world, "end: %s %s quota, but the ledger %s a charge for it", key,
			       holds ? "uses" : "does not use", holds ? "lacks" : "has");
	}
}

static void judge_gone(const struct judge *j)
{
	for (size_t i = 0; i < j->cluster->tasks.n; i++) {
		const struct task *t = j->cluster->tasks.v[i];
		char key[300];

		if (t == NULL) {
			continue;
		}
		cluster_task_key(t, key, sizeof(key));
		if (sim_view_get(j->world->view, SIM_PODS, key) == NULL) {
			sim_world_fail(j->world,
				       "end: %s is gone, but still in the scheduler's model", key);
		}
	}
}

static bool is_usable(const struct cluster *c, const struct queue *queue)
{
	const struct queue *q;

	QUEUE_FOR_EACH_UP (q, c, queue->id) {
		if (!q->exists || q->broken != NULL || q->state != QUEUE_OPEN) {
			return false;
		}
	}
	return true;
}

/* A queue without a limit has its parent's, from which guarantees are subtracted once more. */
static int64_t inherited(const struct cluster *c, const struct queue *queue, unsigned d)
{
	int64_t least = queue->capability.v[d];
	const struct queue *q;

	QUEUE_FOR_EACH_UP (q, c, queue->id) {
		least = q->capability.v[d] < least ? q->capability.v[d] : least;
	}
	return least;
}

/* Room for the pod in `to` and its ancestors that do not carry the charge already, also if all
 * guarantees of others were kept. */
static bool has_room(const struct cluster *c, const struct task *t, const struct queue *to)
{
	const struct res *request = pod_class_charge(t->klass);
	struct res kept = { 0 };
	const struct queue *q;

	for (size_t i = 0; i < c->queues.n; i++) {
		if (c->queues.v[i] != NULL) {
			res_add(&kept, &c->queues.v[i]->guarantee);
		}
	}
	QUEUE_FOR_EACH_UP (q, c, to->id) {
		if (queue_is_within(c, t->charge_queue, q)) {
			break;
		}
		for (uint32_t m = res_mask(request) & ~RES_FURTHER; m != 0; m &= m - 1) {
			unsigned d = (unsigned)__builtin_ctz(m);

			if (q->charged.v[d] + request->v[d] + kept.v[d] > inherited(c, q, d)) {
				return false;
			}
		}
	}
	return true;
}

/* A PodGroup was moved to a queue that has room: the charges of its pods have followed. */
static void judge_moved(const struct judge *j)
{
	const struct cluster *c = j->cluster;

	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];
		const struct podgroup *g =
			t == NULL || t->podgroup == MODEL_NONE ? NULL : c->podgroups.v[t->podgroup];

		if (g != NULL && g->queue != MODEL_NONE && g->barred_by == MODEL_NONE &&
		    t->charge == CHARGE_BOUND && t->status != TASK_RELEASING &&
		    t->charge_queue != g->queue && is_usable(c, c->queues.v[g->queue]) &&
		    has_room(c, t, c->queues.v[g->queue])) {
			sim_world_fail(j->world, "end: %s is charged to %s, but %s has room for it",
				       t->name, c->queues.v[t->charge_queue]->name,
				       c->queues.v[g->queue]->name);
		}
	}
}

/* A pod that waits for its PodGroup is in no queue. */
static bool has_missing_kube_group(const struct sim_world *w, const struct jdoc *pod)
{
	const char *group = jdoc_path_str(pod, "spec.schedulingGroup.podGroupName");
	CLEANUP(xmalloc_freep) char *key = NULL;

	if (group == NULL) {
		return false;
	}
	key = xmalloc_printf("%s/%s", jdoc_path_str(pod, "metadata.namespace"), group);
	return sim_view_get(w->view, SIM_KUBE_PODGROUPS, key) == NULL;
}

/* Compares the sums that metrics and statuses of Queues are made of with the pods. */
static void judge_totals(const struct judge *j)
{
	const struct cluster *c = j->cluster;
	const struct queue *root = queue_find(c, STR_LIT("root"));
	CLEANUP(xmalloc_freep)
	struct queue_totals *totals = xmalloc_zero(c->queues.n + 1, sizeof(*totals));
	unsigned gated = 0;

	totals_compute(c, totals);
	for (size_t i = 0; i < sim_view_count(j->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(j->world->view, SIM_PODS, i);
		CLEANUP(xmalloc_freep) char *group = sim_pod_group(pod);
		const struct jdoc *g =
			group == NULL ? NULL : sim_view_get(j->world->view, SIM_PODGROUPS, group);

		gated += (sim_pod_is_ours(pod) || sim_pod_is_theirs(pod)) &&
			 sim_pod_has_our_gate(pod) &&
			 (group == NULL && (sim_pod_is_theirs(pod) || is_alone(j, pod))
				  ? has_queue_alone(j->world, pod) &&
					    !has_missing_kube_group(j->world, pod)
				  : g != NULL && has_queue(j->world, g));
	}
	if (root != NULL && totals[root->id].gated != gated) {
		sim_world_fail(j->world, "end: %u pods are gated, but the Queues count %u", gated,
			       totals[root->id].gated);
	}
}

void sim_judge_end(struct sim_world *w, struct sim_oracle *o, const struct cluster *c)
{
	const struct judge j = { w, o, c };

	for (size_t i = 0; i < sim_view_count(w->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(w->view, SIM_PODS, i);

		if (sim_pod_is_ours(pod)) {
			judge_pod(&j, pod);
			judge_ledger(&j, pod);
		}
	}
	judge_gone(&j);
	judge_totals(&j);
	judge_moved(&j);
}

static bool comes_to_rest(const struct sim_world *w, const struct jdoc *pod)
{
	CLEANUP(xmalloc_freep) char *group = sim_pod_group(pod);

	return !sim_pod_is_impossible(pod) && !has_opted_out(w, group);
}

bool sim_judge_must_wait(const struct sim_world *w, const struct cluster *c, int64_t now)
{
	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];
		char key[300];

		if (t == NULL || t->retry_at == MODEL_TIME_NONE ||
		    t->retry_at + RETRIED_NS <= now) {
			continue;
		}
		cluster_task_key(t, key, sizeof(key));
		if (comes_to_rest(w, sim_view_get(w->view, SIM_PODS, key))) {
			return true;
		}
	}
	return false;
}
