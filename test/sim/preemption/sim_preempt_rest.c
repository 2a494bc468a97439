#include "enc/json/jdoc.h"
#include "lib/pods/configurations.h"
#include "scheduler/pods/model/cluster.h"
#include "sim/preemption/sim_preempt.h"
#include "sim/preemption/sim_preempt_rules.h"
#include "sim/preemption/sim_rooms.h"
#include "sim/world/sim_view.h"

struct rest {
	struct sim_preempt *preempt;
	const struct cluster *cluster;
	struct sim_rooms rooms;
	int64_t now;
};

/* Evictions may get it that. */
enum want { WANTS_NOTHING, WANTS_NODE, WANTS_QUOTA };

static bool is_idle(const struct rest *j, const struct task *t)
{
	return sim_preempt_rules_is_idle(t) &&
	       (t->preempt_at == MODEL_TIME_NONE || t->preempt_at <= j->now);
}

static const struct queue *queue_of(const struct rest *j, const struct task *t)
{
	return j->cluster->queues.v[j->cluster->podgroups.v[t->podgroup]->queue];
}

/* A pod that did not opt in needs quota for which no pod without a node waits. */
static bool has_quota(const struct rest *j, const struct task *t)
{
	const struct queue *at;

	if (t->charge != CHARGE_NONE) {
		return true;
	}
	if (j->preempt->world->plugins == CONFIGURATIONS_PROPORTION) {
		return false;
	}
	QUEUE_FOR_EACH_UP (at, j->cluster, queue_of(j, t)->id) {
		if (res_over(&at->charged, pod_class_charge(t->klass), &j->rooms.limit[at->id],
			     pod_class_charge_mask(t->klass)) != 0) {
			return false;
		}
	}
	return true;
}

/* Only of the last pod that its PodGroup lacks. */
static enum want want_of(const struct rest *j, const struct task *t)
{
	const struct podgroup *g = j->cluster->podgroups.v[t->podgroup];
	bool opted_in = (t->flags & TASK_OPTED_IN) != 0;

	if (!is_idle(j, t) || g->rivals.n > 0 || g->barred_by != MODEL_NONE ||
	    g->unsupported != 0 || g->role_min.n > 0 ||
	    (!opted_in && g->phase != PODGROUP_INQUEUE && g->phase != PODGROUP_RUNNING) ||
	    !sim_preempt_rules_is_queue_usable(j->cluster, queue_of(j, t)) ||
	    j->rooms.holds[t->id] != MODEL_NONE ||
	    g->min_member - sim_rooms_placed(&j->rooms, g) != 1 ||
	    !sim_preempt_rules_is_simple(j->cluster, t)) {
		return WANTS_NOTHING;
	}
	if (opted_in && t->charge == CHARGE_NONE) {
		return sim_rooms_fits_queue(&j->rooms, t, queue_of(j, t)) ||
				       j->preempt->world->plugins == CONFIGURATIONS_PROPORTION
			       ? WANTS_NOTHING
			       : WANTS_QUOTA;
	}
	if (opted_in && t->charge != CHARGE_UNGATED && t->charge != CHARGE_PUBLISHED) {
		return WANTS_NOTHING;
	}
	return (t->flags & TASK_OUR_GATE) == 0 && has_quota(j, t) ? WANTS_NODE : WANTS_NOTHING;
}

/* One pod of another queue is enough. */
static const struct task *find_reclaimable(struct rest *j, const struct task *t, bool needs_node)
{
	const struct cluster *c = j->cluster;

	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *v = c->tasks.v[i];
		bool served;

		if (!sim_preempt_rules_is_candidate(&j->rooms, t, v) ||
		    !sim_preempt_rules_reclaims(c, t, v) ||
		    !sim_preempt_rules_is_open(j->preempt->world, v) ||
		    c->podgroups.v[v->podgroup]->tasks.n > 1 ||
		    (needs_node && !sim_preempt_rules_is_usable(c->nodes.v[v->node])) ||
		    sim_preempt_rules_not_reclaimable(j->preempt->world, &j->rooms, t, v) != NULL) {
			continue;
		}
		sim_rooms_evict(&j->rooms, v);
		served = sim_preempt_rules_fits(&j->rooms, t, needs_node ? v->node : MODEL_NONE);
		sim_rooms_restore(&j->rooms, v);
		if (served) {
			return v;
		}
	}
	return NULL;
}

static void judge(struct rest *j, const struct task *t)
{
	struct sim_world *w = j->preempt->world;
	enum want want = want_of(j, t);
	const struct task *victim;

	if (want == WANTS_NOTHING) {
		return;
	}
	j->preempt->seen[SIM_PREEMPT_AT_REST]++;
	if (want == WANTS_QUOTA && w->plugins != CONFIGURATIONS_DRF &&
	    sim_preempt_rules_fits_without(w, &j->rooms, t, MODEL_NONE, INT64_MAX)) {
		sim_world_fail(w,
			       "rest: %s waits for quota, and may have pods of its queue evicted",
			       t->name);
	}
	for (uint32_t i = 0; i < j->cluster->nodes.n && want == WANTS_NODE; i++) {
		if (sim_preempt_rules_is_usable(j->cluster->nodes.v[i]) &&
		    (w->plugins == CONFIGURATIONS_DRF
			     ? sim_preempt_rules_fits(&j->rooms, t, i)
			     : sim_preempt_rules_fits_without(w, &j->rooms, t, i, INT64_MAX))) {
			sim_world_fail(w,
				       "rest: %s waits, and may have pods of its queue evicted on "
				       "%s",
				       t->name, j->cluster->nodes.v[i]->name);
		}
	}
	if (w->plugins == CONFIGURATIONS_BUILT_IN) {
		victim = find_reclaimable(j, t, want == WANTS_NODE);
		if (victim != NULL) {
			sim_world_fail(w, "rest: %s waits, and its queue may reclaim %s", t->name,
				       victim->name);
		}
	}
}

/* Only while pods are evicted for it. */
static void judge_nomination(const struct rest *j, const struct task *t)
{
	const struct jdoc *pod;
	char key[300];

	cluster_task_key(t, key, sizeof(key));
	pod = sim_view_get(j->preempt->world->view, SIM_PODS, key);
	if (t->status == TASK_PENDING && t->awaits == MODEL_NONE && is_idle(j, t) &&
	    jdoc_str_or(jdoc_path(pod, "status.nominatedNodeName"), "")[0] != '\0') {
		sim_world_fail(j->preempt->world, "rest: %s is nominated, but no room is held",
			       t->name);
	}
}

void sim_preempt_rest_judge(struct sim_preempt *p, const struct cluster *c, int64_t now)
{
	struct rest j = { .preempt = p, .cluster = c, .now = now };

	if (p->world->evicts == CONFIGURATIONS_EVICT_NONE || p->world->budgets) {
		return;
	}
	j.rooms = sim_rooms_begin(c);
	for (size_t i = 0; !j.rooms.any_busy && i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		if (t != NULL && (t->flags & TASK_OURS) != 0) {
			judge_nomination(&j, t);
		}
		if (t != NULL && sim_preempt_rules_may_preempt(c, t)) {
			judge(&j, t);
		}
	}
	sim_rooms_finish(&j.rooms);
}
