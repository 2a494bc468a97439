#include "enc/json/jdoc.h"
#include "lib/pods/configurations.h"
#include "scheduler/pods/model/cluster.h"
#include "sim/preemption/sim_preempt.h"
#include "sim/preemption/sim_preempt_rules.h"
#include "sim/preemption/sim_rooms.h"
#include "sim/world/sim_view.h"

static const struct res nothing;

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

static enum want want_of(const struct rest *j, const struct task *t)
{
	const struct podgroup *g = j->cluster->podgroups.v[t->podgroup];
	bool opted_in = (t->flags & TASK_OPTED_IN) != 0;

	if (!is_idle(j, t) || g->rivals.n > 0 || g->barred_by != MODEL_NONE ||
	    g->unsupported != 0 || g->role_min.n > 0 ||
	    (!opted_in && g->phase != PODGROUP_INQUEUE && g->phase != PODGROUP_RUNNING) ||
	    !sim_preempt_rules_is_queue_usable(j->cluster, queue_of(j, t)) ||
	    j->rooms.holds[t->id] != MODEL_NONE || !sim_preempt_rules_is_simple(j->cluster, t)) {
		return WANTS_NOTHING;
	}
	if (opted_in && t->charge == CHARGE_NONE) {
		return j->preempt->world->plugins == CONFIGURATIONS_PROPORTION ? WANTS_NOTHING
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

static int32_t lacking(const struct rest *j, const struct podgroup *g)
{
	return g->min_member - sim_rooms_placed(&j->rooms, g);
}

/* Only for the last pod that its PodGroup lacks. */
static void judge(struct rest *j, const struct task *t)
{
	struct sim_world *w = j->preempt->world;
	enum want want = want_of(j, t);
	const struct task *victim;

	if (want == WANTS_NOTHING || lacking(j, j->cluster->podgroups.v[t->podgroup]) != 1 ||
	    (want == WANTS_QUOTA && sim_rooms_fits_queue(&j->rooms, t, queue_of(j, t)))) {
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

/* A pod without quota that did not opt in needs some for which no pod waits, and so do the others
 * of its gang. */
static bool have_quota(const struct rest *j, const struct podgroup *g)
{
	const struct queue *at;

	QUEUE_FOR_EACH_UP (at, j->cluster, g->queue) {
		struct res all = at->charged;

		for (size_t i = 0; i < g->tasks.n; i++) {
			const struct task *t = j->cluster->tasks.v[g->tasks.v[i]];

			if (t->status == TASK_PENDING && t->charge == CHARGE_NONE) {
				res_add(&all, pod_class_charge(t->klass));
			}
		}
		if (res_over(&all, &nothing, &j->rooms.limit[at->id], UINT32_MAX) != 0) {
			return false;
		}
	}
	return true;
}

/* The first of its pods without a node, if these are equal in all that decides what may be evicted
 * for them: then any of them may have what another one has. NULL: they are not. */
static const struct task *first_of_equals(const struct rest *j, const struct podgroup *g,
					  int32_t *ret_n)
{
	const struct task *first = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = j->cluster->tasks.v[g->tasks.v[i]];

		if (t->status != TASK_PENDING) {
			continue;
		}
		if (!sim_preempt_rules_may_preempt(j->cluster, t) ||
		    want_of(j, t) == WANTS_NOTHING ||
		    (first != NULL && (t->klass != first->klass || t->priority != first->priority ||
				       want_of(j, t) != want_of(j, first) ||
				       cluster_task_standing(j->cluster, t) !=
					       cluster_task_standing(j->cluster, first)))) {
			return NULL;
		}
		first = first == NULL ? t : first;
		++*ret_n;
	}
	return first;
}

/* The pods of the gang share the room of all pods that may be evicted for it: what one eviction
 * leaves over is there for the next pod. */
static void judge_gang(struct rest *j, const struct podgroup *g)
{
	struct sim_world *w = j->preempt->world;
	int32_t lacks = g->exists && g->queue != MODEL_NONE ? lacking(j, g) : 0, n;
	const struct task *t = lacks < 2 ? NULL : first_of_equals(j, g, &n);
	bool of_quota;

	if (t == NULL || n < lacks || w->plugins != CONFIGURATIONS_BUILT_IN) {
		return;
	}
	of_quota = want_of(j, t) == WANTS_QUOTA;
	if (!of_quota && !have_quota(j, g)) {
		return;
	}
	j->preempt->seen[SIM_PREEMPT_GANGS_AT_REST]++;
	if (sim_preempt_rules_count_without(w, &j->rooms, t, of_quota, lacks) == lacks) {
		sim_world_fail(w,
			       "rest: %d pods of PodGroup %s wait for %s, and may have pods of its "
			       "queue evicted",
			       lacks, g->name, of_quota ? "quota" : "nodes");
	}
}

/* The one pod with a node that may go for t, of its PodGroup; NULL: there is none, or several. */
static const struct task *find_lower(const struct rest *j, const struct podgroup *g,
				     const struct task *t)
{
	const struct task *found = NULL;

	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *v = j->cluster->tasks.v[g->tasks.v[i]];

		if (!sim_rooms_stays(&j->rooms, v) || v->priority >= t->priority) {
			continue;
		}
		if (found != NULL || v->status != TASK_RUNNING || v->charge == CHARGE_NONE ||
		    v->charge_queue != g->queue || !sim_preempt_rules_is_idle(v) ||
		    !sim_preempt_rules_is_open(j->preempt->world, v) ||
		    !sim_preempt_rules_is_usable(j->cluster->nodes.v[v->node])) {
			return NULL;
		}
		found = v;
	}
	return found;
}

/* A large pod of the gang goes for several small ones of a higher priority that it lacks. */
static void judge_within(struct rest *j, const struct podgroup *g)
{
	struct sim_world *w = j->preempt->world;
	int32_t lacks = g->exists && g->queue != MODEL_NONE ? lacking(j, g) : 0, n;
	const struct task *t = lacks < 1 ? NULL : first_of_equals(j, g, &n);
	const struct task *v = t == NULL ? NULL : find_lower(j, g, t);

	if (v == NULL || n <= lacks || w->plugins != CONFIGURATIONS_BUILT_IN ||
	    w->evicts == CONFIGURATIONS_EVICT_GANGS || want_of(j, t) != WANTS_NODE ||
	    !have_quota(j, g)) {
		return;
	}
	j->preempt->seen[SIM_PREEMPT_WITHIN_AT_REST]++;
	sim_rooms_evict(&j->rooms, v);
	if (sim_preempt_rules_count(&j->rooms, t, lacks + 1) > lacks) {
		sim_world_fail(w, "rest: %d pods of PodGroup %s wait, and may have %s evicted",
			       lacks + 1, g->name, v->name);
	}
	sim_rooms_restore(&j->rooms, v);
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
	for (size_t i = 0; !j.rooms.any_busy && i < c->podgroups.n; i++) {
		if (c->podgroups.v[i] != NULL) {
			judge_gang(&j, c->podgroups.v[i]);
			judge_within(&j, c->podgroups.v[i]);
		}
	}
	sim_rooms_finish(&j.rooms);
}
