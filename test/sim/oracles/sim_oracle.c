#include "sim/oracles/sim_oracle.h"

#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "api/volcano/gate.h"
#include "api/volcano/keys.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "lib/pods/decision_name.h"
#include "play/mirror.h"
#include "play/oracle.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/session/decision.h"
#include "sim/world/sim_pod.h"
#include "sim/world/sim_view.h"

enum { DECIDED_UNGATE = 1, DECIDED_BIND = 2, DECIDED_PUBLISH = 4, DECIDED_DELETE = 8 };

struct sim_oracle {
	struct sim_world *world;
	struct oracle *promise;
	struct strmap *decided;   /* uid -> bits */
	struct strmap *published; /* uid -> struct publication: ours since they are published, those
				     of others since they have no gate */
	struct strmap *disturbed; /* keys of PodGroups that users took members from */
	int64_t changed_at;
	size_t deleted; /* decided: overdue pods of another scheduler */
};

static void on_change(void *ctx, const struct sim_change *change);

struct sim_oracle *sim_oracle_create(struct sim_world *w)
{
	struct sim_oracle *o = xmalloc_zero(1, sizeof(*o));

	o->world = w;
	o->promise = oracle_create(true, w->sticky);
	o->decided = strmap_create(NULL);
	o->published = strmap_create(free);
	o->disturbed = strmap_create(NULL);
	sim_view_listen(w->view, on_change, o);
	return o;
}

void sim_oracle_destroy(struct sim_oracle *o)
{
	oracle_destroy(o->promise);
	strmap_destroy(o->decided);
	strmap_destroy(o->published);
	strmap_destroy(o->disturbed);
	free(o);
}

static uintptr_t decided(const struct sim_oracle *o, const char *uid)
{
	return (uintptr_t)strmap_get(o->decided, str_of(uid));
}

/* When a pod's last publication began: at the decision, since the write may come much later. It is
 * kept after its end until the next one begins: a scheduler that was paused may not have seen the
 * end. */
struct publication {
	int64_t since, step_ns; /* step_ns: of the machine's wall clock at that time */
	bool ended;
};

static void note_published(struct sim_oracle *o, const char *uid, bool published)
{
	struct publication *p = strmap_get(o->published, str_of(uid));

	if (p == NULL) {
		p = xmalloc_zero(1, sizeof(*p));
		*p = (struct publication){ .since = clock_mono(&o->world->machine.base),
					   .step_ns = o->world->machine.step_ns,
					   .ended = true };
		strmap_set(o->published, str_of(uid), p);
	}
	if (published && p->ended) {
		p->since = clock_mono(&o->world->machine.base);
		p->step_ns = o->world->machine.step_ns;
	}
	p->ended = !published;
}

static void note_ungated(struct sim_oracle *o, const char *uid)
{
	const struct publication *p = strmap_get(o->published, str_of(uid));

	if (p == NULL || p->ended) {
		note_published(o, uid, true);
	}
}

void sim_oracle_decided(struct sim_oracle *o, const struct cluster *c, const struct decisions *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct decision *e = &d->v[i];
		const struct task *t = e->task == MODEL_NONE ? NULL : c->tasks.v[e->task];
		uintptr_t bit = e->kind == DECISION_UNGATE ? DECIDED_UNGATE
				: e->kind == DECISION_BIND ? DECIDED_BIND
				: e->kind == DECISION_PUBLISH || e->kind == DECISION_CONDITION
					? DECIDED_PUBLISH
				: e->kind == DECISION_EVICT ? DECIDED_DELETE
							    : 0;

		if (t == NULL) {
			continue;
		}
		if (e->kind != DECISION_EVENT) {
			sim_world_trace(o->world, "decided %s %s %s", decision_name(e->kind),
					t->name,
					e->node != MODEL_NONE ? c->nodes.v[e->node]->name
					: e->message != NULL  ? e->message
							      : "");
		}
		if (e->kind == DECISION_PUBLISH) {
			note_published(o, t->uid, true);
		}
		if (bit != 0) {
			strmap_set(o->decided, str_of(t->uid), (void *)(decided(o, t->uid) | bit));
		}
	}
}

/* A process that leads later knows only the time of day that the condition has, so it counts what
 * the clock was set by in the meantime. */
static bool was_published_for(const struct sim_oracle *o, const struct task *t, int64_t ns)
{
	const struct publication *p = strmap_get(o->published, str_of(t->uid));
	int64_t now = clock_mono(&o->world->machine.base);
	int64_t set = p != NULL && o->world->led_at >= p->since
			      ? o->world->machine.step_ns - p->step_ns
			      : 0;

	return p != NULL && (now - p->since >= ns || now - p->since + set >= ns);
}

static bool has_guarantees(const struct cluster *c, const struct queue *parent)
{
	for (size_t i = 0; i < parent->children.n; i++) {
		if (res_mask(&c->queues.v[parent->children.v[i]]->guarantee) != 0) {
			return true;
		}
	}
	return false;
}

/* In the ledger, since a limit was lowered: the promise about all pods is judged elsewhere. */
static bool is_beyond_a_limit(const struct cluster *c, const struct task *t)
{
	static const struct res nothing;
	const struct queue *q;

	QUEUE_FOR_EACH_UP (q, c, t->charge_queue) {
		/* Guarantees of others lower a limit, too. */
		if (res_over(&q->charged, &nothing, &q->capability, UINT32_MAX) != 0 ||
		    has_guarantees(c, q)) {
			return true;
		}
	}
	return false;
}

/* A pod of another scheduler that is deleted had no gate for long, or holds quota of a queue that
 * is full. */
static void check_overdue(struct sim_oracle *o, const struct cluster *c, const struct task *t,
			  int64_t timeout_ns)
{
	if (!was_published_for(o, t, timeout_ns / 2) && !is_beyond_a_limit(c, t)) {
		sim_world_fail(o->world, "decisions: %s is deleted, and not overdue", t->name);
	}
	o->deleted++;
}

void sim_oracle_timed_out(struct sim_oracle *o, const struct cluster *c, const struct decisions *d,
			  int64_t timeout_ns)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct decision *e = &d->v[i];
		const struct task *t = e->task == MODEL_NONE ? NULL : c->tasks.v[e->task];
		const struct podgroup *g =
			t == NULL || t->podgroup == MODEL_NONE ? NULL : c->podgroups.v[t->podgroup];
		bool long_ago = false;

		if (t != NULL && e->kind == DECISION_EVICT && (t->flags & TASK_GATE_ONLY) != 0) {
			check_overdue(o, c, t, timeout_ns);
		}
		/* A pod of another scheduler keeps its quota: that is a report alone. */
		if (g == NULL || !str_streq(e->reason, "ReservationTimedOut") ||
		    (t->flags & TASK_GATE_ONLY) != 0) {
			continue;
		}
		for (size_t k = 0; k < g->tasks.n; k++) {
			long_ago |= was_published_for(o, c->tasks.v[g->tasks.v[k]], timeout_ns / 2);
		}
		if (!long_ago) {
			sim_world_fail(o->world, "decisions: %s timed out too early", t->name);
		}
	}
}

/* ---- pods ---- */

static void check_gates(struct sim_oracle *o, const struct sim_change *change)
{
	const struct jdoc *g = jdoc_first(jdoc_path(change->old, "spec.schedulingGates"));

	if (sim_pod_has_our_gate(change->old) && !sim_pod_has_our_gate(change->now) &&
	    sim_pod_is_opted_in(change->now, o->world->sticky) &&
	    sim_pod_has_requests(change->now) &&
	    jdoc_get(jdoc_path(change->now, "metadata.annotations"), KEYS_RESERVED) == NULL) {
		sim_world_fail(o->world, "%s: ungated without the annotation of its reservation",
			       change->key);
	}
	for (; g != NULL; g = jdoc_next(g)) {
		const char *name = jdoc_str_or(jdoc_get(g, "name"), "");

		if (sim_pod_has_gate(change->now, name)) {
			continue;
		}
		if (str_streq(name, KUEUE_GATE_ADMISSION)) {
			continue; /* of pods with their own Workload: see sim_groups */
		}
		if (gate_by_name(name) == NULL) {
			sim_world_fail(o->world, "%s: foreign gate %s was removed", change->key,
				       name);
		} else if ((decided(o, sim_pod_uid(change->now)) & DECIDED_UNGATE) == 0) {
			sim_world_fail(o->world,
				       "%s: ungated by a write for another pod of this name",
				       change->key);
		}
	}
}

/* A member is published or bound only when enough of its gang have no gate. */
static void check_gang(struct sim_oracle *o, const struct sim_change *change)
{
	CLEANUP(xmalloc_freep) char *group = sim_pod_group(change->now);
	const struct jdoc *g =
		group == NULL ? NULL : sim_view_get(o->world->view, SIM_PODGROUPS, group);
	int64_t have = 0, need = jdoc_int(jdoc_path(g, "spec.minMember"), 0);

	if (g == NULL || strmap_has(o->disturbed, str_of(group))) {
		return;
	}
	for (size_t i = 0; i < sim_view_count(o->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(o->world->view, SIM_PODS, i);
		CLEANUP(xmalloc_freep) char *other = sim_pod_group(pod);

		have += str_streq(other, group) && !mirror_pod_is_gated(pod);
	}
	if (have < need) {
		sim_world_fail(o->world, "%s: %lld of a gang of %lld are ungated, but it is %s",
			       change->key, (long long)have, (long long)need,
			       sim_pod_is_placed(change->now) ? "bound" : "published");
	}
}

/* The same for each role. Roles that ask for more members than the gang as a whole do not count, as
 * in Volcano. */
static void check_roles(struct sim_oracle *o, const struct sim_change *change)
{
	CLEANUP(xmalloc_freep) char *group = sim_pod_group(change->now);
	const struct jdoc *g =
		group == NULL ? NULL : sim_view_get(o->world->view, SIM_PODGROUPS, group);
	const struct jdoc *roles = jdoc_path(g, "spec.minTaskMember");
	int64_t total = 0;

	for (const struct jdoc *r = jdoc_first(roles); r != NULL; r = jdoc_next(r)) {
		total += jdoc_int(r, 0);
	}
	if (g == NULL || strmap_has(o->disturbed, str_of(group)) ||
	    jdoc_int(jdoc_path(g, "spec.minMember"), 0) < total) {
		return;
	}
	for (const struct jdoc *r = jdoc_first(roles); r != NULL; r = jdoc_next(r)) {
		int64_t have = 0;

		for (size_t i = 0; i < sim_view_count(o->world->view, SIM_PODS); i++) {
			const struct jdoc *pod = sim_view_at(o->world->view, SIM_PODS, i);
			CLEANUP(xmalloc_freep) char *other = sim_pod_group(pod);

			have += str_streq(other, group) && !mirror_pod_is_gated(pod) &&
				str_streq(sim_pod_role(pod), jdoc_key(r));
		}
		if (have < jdoc_int(r, 0)) {
			sim_world_fail(o->world,
				       "%s: only %lld of role %s are ungated, but it is %s",
				       change->key, (long long)have, jdoc_key(r),
				       sim_pod_is_placed(change->now) ? "bound" : "published");
		}
	}
}

static void check_scheduler(struct sim_oracle *o, const struct sim_change *change)
{
	const struct jdoc *old = change->old, *now = change->now;
	uintptr_t bits = decided(o, sim_pod_uid(now));
	bool bound = sim_pod_is_placed(now) && !sim_pod_is_placed(old);
	bool published = sim_pod_is_published(now) && !sim_pod_is_published(old);

	check_gates(o, change);
	if (bound && (bits & DECIDED_BIND) == 0) {
		sim_world_fail(o->world, "%s: bound by a write for another pod of this name",
			       change->key);
	}
	if (published && (bits & DECIDED_PUBLISH) == 0) {
		sim_world_fail(o->world, "%s: published by a write for another pod of this name",
			       change->key);
	}
	if (published && mirror_pod_is_gated(now)) {
		sim_world_fail(o->world, "%s: published with a gate", change->key);
	}
	if ((bound || published) && sim_pod_is_opted_in(now, o->world->sticky)) {
		check_gang(o, change);
		check_roles(o, change);
	}
}

static void check_pod(struct sim_oracle *o, const struct sim_change *change)
{
	CLEANUP(xmalloc_freep)
	char *group = sim_pod_group(change->old != NULL ? change->old : change->now);

	if (change->now == NULL || (change->old != NULL && change->actor == SIM_USER)) {
		if (group != NULL) {
			strmap_set(o->disturbed, str_of(group), o);
		}
	}
	if (change->now == NULL) {
		return;
	}
	if (sim_pod_is_published(change->now) != sim_pod_is_published(change->old)) {
		note_published(o, sim_pod_uid(change->now), sim_pod_is_published(change->now));
	}
	if (sim_pod_is_placed(change->now) && mirror_pod_is_gated(change->now)) {
		sim_world_fail(o->world, "%s: bound with a gate", change->key);
	}
	if (change->old == NULL && sim_pod_is_opted_in(change->now, false) &&
	    !sim_pod_is_placed(change->now) && !sim_pod_has_our_gate(change->now)) {
		sim_world_fail(o->world, "%s: created without our gate", change->key);
	}
	if (change->actor == SIM_SCHEDULER && change->old != NULL) {
		check_scheduler(o, change);
	}
}

void sim_oracle_check(struct sim_oracle *o)
{
	struct err err = ERR_INIT;

	if (oracle_check(o->promise, o->world->healthy_ns, &err) < 0) {
		sim_world_fail(o->world, "oracle: %s", err.text);
	}
}

static const struct jdoc *any(const struct sim_change *change)
{
	return change->now == NULL ? change->old : change->now;
}

static bool is_deleted(const struct jdoc *pod)
{
	return pod == NULL || jdoc_path(pod, "metadata.deletionTimestamp") != NULL;
}

/* A pod that is overdue is deleted only while it has no node, and if another one takes its place.
 */
static bool may_delete(const struct sim_oracle *o, const struct jdoc *pod)
{
	return o->world->deletes_overdue && sim_pod_has_controller(pod) &&
	       (decided(o, sim_pod_uid(pod)) & DECIDED_DELETE) != 0 && !sim_pod_is_placed(pod) &&
	       !sim_pod_is_finished(pod) && !sim_pod_has_our_gate(pod);
}

/* The scheduler takes the gate off another scheduler's pod, deletes it when it is overdue, and does
 * nothing else to it. */
static void check_theirs(struct sim_oracle *o, const struct sim_change *change)
{
	const struct jdoc *old = change->old, *now = change->now;

	if (now != NULL && !sim_pod_has_our_gate(now) && !sim_pod_has_foreign_gate(now)) {
		note_ungated(o, sim_pod_uid(now));
	}
	if (change->actor != SIM_SCHEDULER || old == NULL) {
		return;
	}
	if (is_deleted(now) && !is_deleted(old)) {
		if (!may_delete(o, old)) {
			sim_world_fail(o->world, "%s: deleted, and not overdue", change->key);
		}
		return;
	}
	if (now == NULL || sim_pod_is_placed(old) != sim_pod_is_placed(now) ||
	    is_deleted(old) != is_deleted(now) ||
	    !jdoc_equal(jdoc_get(old, "status"), jdoc_get(now, "status"))) {
		sim_world_fail(o->world, "%s: more than its gate was changed", change->key);
	}
	check_gates(o, change);
}

static void on_change(void *ctx, const struct sim_change *change)
{
	static const enum oracle_resource resources[] = { [SIM_PODS] = ORACLE_PODS,
							  [SIM_QUEUES] = ORACLE_QUEUES,
							  [SIM_PODGROUPS] = ORACLE_PODGROUPS };
	struct sim_oracle *o = ctx;

	if (change->resource == SIM_CLAIMS || change->resource == SIM_VOLUMES) {
		o->changed_at = o->world->clock.mono_ns;
	}
	if (change->resource > SIM_NODES ||
	    (change->resource == SIM_PODS && !sim_pod_is_ours(any(change)) &&
	     !sim_pod_is_theirs(any(change)))) {
		return;
	}
	if (change->resource == SIM_NODES ||
	    (change->resource == SIM_PODS && !sim_pod_is_impossible(change->now))) {
		o->changed_at = o->world->clock.mono_ns;
	}
	if (change->resource == SIM_NODES) {
		return;
	}
	if (change->resource == SIM_PODS) {
		sim_pod_trace(o->world, change);
		if (sim_pod_is_ours(any(change))) {
			check_pod(o, change);
		} else {
			check_theirs(o, change);
		}
	}
	if (change->resource == SIM_PODGROUPS && change->actor == SIM_USER && change->old != NULL) {
		strmap_set(o->disturbed, str_of(change->key), o);
	}
	oracle_set(o->promise, resources[change->resource], change->key, change->now,
		   o->world->healthy_ns);
	sim_oracle_check(o);
}

/* ---- the end ---- */

/* As one of ours that is published: what is granted to it counts in the same way. */
static struct jdoc *as_published(const struct jdoc *pod)
{
	struct jdoc *copy = jdoc_copy(pod), *c = jdoc_new_object();
	struct jdoc *status = jdoc_ensure_object(copy, "status");
	struct jdoc *meta = jdoc_ensure_object(copy, "metadata");

	jdoc_set_str(jdoc_ensure_object(meta, "annotations"), gate_at(0)->annotation, "true");
	if (sim_pod_is_theirs(pod)) {
		jdoc_set_str(jdoc_ensure_object(copy, "spec"), "schedulerName", "volcano");
		jdoc_remove(meta, "ownerReferences");
	}
	jdoc_set_str(c, "type", "PodScheduled");
	jdoc_set_str(c, "status", "False");
	jdoc_set_str(c, "reason", "Unschedulable");
	jdoc_remove(status, "conditions");
	jdoc_append_take(jdoc_ensure_array(status, "conditions"), c);
	return copy;
}

bool sim_oracle_fits(struct sim_oracle *o, const char *const *keys, size_t n)
{
	bool room;

	for (size_t i = 0; i < n; i++) {
		CLEANUP(jdoc_destroyp)
		struct jdoc *copy = as_published(sim_view_get(o->world->view, SIM_PODS, keys[i]));

		oracle_set(o->promise, ORACLE_PODS, keys[i], copy, o->world->healthy_ns);
	}
	room = oracle_has_room(o->promise);
	for (size_t i = 0; i < n; i++) {
		oracle_set(o->promise, ORACLE_PODS, keys[i],
			   sim_view_get(o->world->view, SIM_PODS, keys[i]), o->world->healthy_ns);
	}
	return room;
}

bool sim_oracle_is_disturbed(const struct sim_oracle *o, const char *group)
{
	return strmap_has(o->disturbed, str_of(group));
}

int64_t sim_oracle_changed_at(const struct sim_oracle *o)
{
	return o->changed_at;
}

size_t sim_oracle_deleted(const struct sim_oracle *o)
{
	return o->deleted;
}

size_t sim_oracle_published_peak(const struct sim_oracle *o)
{
	return oracle_published_peak(o->promise);
}
