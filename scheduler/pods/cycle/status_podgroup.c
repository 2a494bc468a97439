#include "scheduler/pods/cycle/status_podgroup.h"

#include "base/mix.h"
#include "base/str.h"
#include "scheduler/pods/cycle/shortage.h"
#include "scheduler/pods/ledger/attempts.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/session/gang.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/session_priv.h"

/* The message of the first task without a node is used for the PodGroup. */
static const char *misfit(const struct session *s, const struct podgroup *g)
{
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct overlay_task *slot =
			session_priv_task(s, session_task(s, g->tasks.v[i]));

		if (slot->attempt == ATTEMPT_NO_NODE) {
			return slot->attempt_message;
		}
	}
	return NULL;
}

/* A gang with quota waits for its gates or its nodes; missing quota for further pods does not
 * matter to it. */
static bool lacks_quota(const struct session *s, const struct podgroup *g)
{
	struct gang_need need;

	gang_need(s, g, GANG_RESERVED, &need);
	return g->min_member <= 0 || !gang_is_met(&need);
}

/* Its pods that did not opt in are placed only when enqueue has let it in. */
static bool is_kept_out(const struct session *s, const struct podgroup *g)
{
	if (session_podgroup_phase(s, g) != PODGROUP_PENDING) {
		return false;
	}
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if ((t->flags & TASK_OPTED_IN) == 0 && session_task_status(s, t) == TASK_PENDING) {
			return true;
		}
	}
	return false;
}

/* The number of attempts, if the PodGroup has been published several times and is not published
 * now; else 0. */
static uint32_t failed_attempts(const struct session *s, const struct podgroup *g)
{
	uint32_t most = 0;

	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (t->attempts > most && session_task_is_set_aside(s, t)) {
			most = t->attempts;
		}
	}
	return most;
}

static void find_obstacle(struct session *s, const struct podgroup *g, struct verdict *v)
{
	const struct overlay_podgroup *slot = session_priv_podgroup(s, g);
	uint32_t attempts = failed_attempts(s, g);

	if (attempts >= ATTEMPTS_BEFORE_WARNING && lacks_quota(s, g)) {
		v->condition = v->code = "ReservationTimedOut";
		v->message =
			arena_printf(s->arena,
				     "nodes were asked for %u times, and each time no node was "
				     "found before the reservation timed out",
				     attempts);
		return;
	}

	if (slot->tried) {
		v->message = misfit(s, g);
		v->code = v->message == NULL ? NULL : "no node";
	}
	v->kept_out = slot->refusal != NULL && is_kept_out(s, g);
	if (v->code == NULL && slot->refusal != NULL && (v->kept_out || lacks_quota(s, g))) {
		v->code = slot->refusal_code;
		v->message = slot->refusal;
	}
}

void status_podgroup_assess(struct session *s, const struct queue *q, const struct podgroup *g,
			    struct verdict *ret)
{
	struct verdict v = { .condition = "NotEnoughResources", .valid = true };
	struct reason why = { .code = NULL };

	if (!q->exists || !hooks_queue_accepts(s, q, &why)) {
		v.queue_refuses = true;
		v.code = why.code != NULL ? why.code : "does not exist";
		v.message = arena_printf(s->arena, "queue %s %s", q->name, v.code);
		*ret = v;
		return;
	}
	if (!hooks_job_valid(s, g, &why)) {
		v.valid = false;
		v.unsupported = g->unsupported != PODGROUP_SUPPORTED;
		v.condition = v.code = why.code != NULL ? why.code : "NotEnoughTasks";
		v.message = why.detail != NULL ? why.detail : v.code;
		*ret = v;
		return;
	}
	v.ready = hooks_job_ready(s, g);
	find_obstacle(s, g, &v);
	*ret = v;
}

static uint32_t unplaced(const struct session *s, const struct podgroup *g)
{
	return session_podgroup_count(s, g, TASK_PENDING) +
	       session_podgroup_count(s, g, TASK_PIPELINED);
}

/* Writes one condition and one event per change. The hash has the code in place of the message,
 * which has counts that change with every node and would cause a write per cycle. */
static void report_condition(struct session *s, const struct podgroup *g, const struct verdict *v,
			     bool ready)
{
	uint32_t missing = unplaced(s, g);
	const char *message = "";
	uint64_t hash = mix(0, ready);
	struct decision *d;

	if (!ready) {
		hash = mix(hash, str_hash(str_of(v->condition)));
		hash = mix(hash, str_hash(str_of(v->code)));
		hash = mix(hash, missing);
		hash = mix(hash, g->tasks.n);
	}
	if (hash == g->status_hash) {
		return;
	}
	if (!ready) {
		message = arena_printf(s->arena, "%u/%zu tasks in gang unschedulable: %s", missing,
				       g->tasks.n, v->message);
	}
	d = decision_add(&s->decisions, DECISION_PODGROUP_CONDITION);
	d->podgroup = g->id;
	d->condition_type = ready ? "Scheduled" : "Unschedulable";
	d->reason = ready ? "tasks in gang are ready to be scheduled" : v->condition;
	d->message = message;
	d->hash = hash;
	if (g->tasks.n == 0) {
		return; /* most groups get their pods a moment later: no warning */
	}
	d = decision_add(&s->decisions, DECISION_EVENT);
	d->podgroup = g->id;
	/* No warning if the gang is ready, or if its pods do not exist yet. */
	d->warning = !ready && (v->valid || v->unsupported);
	d->hint = !d->warning;
	d->reason = ready ? "Scheduled" : "Unschedulable";
	d->message = ready ? "pod group is ready" : message;
	if (!ready && str_streq(v->code, "quota") && g->queue != MODEL_NONE) {
		d->message =
			arena_printf(s->arena, "%s%s", message,
				     shortage_of_podgroup(s, s->cluster->queues.v[g->queue], g));
	}
}

static uint32_t completed_count(const struct session *s, const struct podgroup *g)
{
	return session_podgroup_count(s, g, TASK_SUCCEEDED) +
	       session_podgroup_count(s, g, TASK_FAILED);
}

static uint32_t releasing_on_nodes(const struct session *s, const struct podgroup *g)
{
	uint32_t n = 0;

	for (size_t i = 0; i < g->tasks.n && session_podgroup_count(s, g, TASK_RELEASING) > 0;
	     i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		n += session_task_status(s, t) == TASK_RELEASING &&
		     session_task_node(s, t) != MODEL_NONE;
	}
	return n;
}

/* Those that terminate still count where they are. */
static uint32_t scheduled_count(const struct session *s, const struct podgroup *g)
{
	return completed_count(s, g) + session_podgroup_count(s, g, TASK_RUNNING) +
	       session_podgroup_count(s, g, TASK_BOUND) + releasing_on_nodes(s, g);
}

/* Pods with quota that another scheduler is about to place. */
static int32_t placed_by_others(const struct session *s, const struct podgroup *g)
{
	int32_t n = 0;

	for (size_t i = 0; i < g->tasks.n && session_podgroup_count(s, g, TASK_PENDING) > 0; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		n += (t->flags & TASK_GATE_ONLY) != 0 &&
		     session_task_status(s, t) == TASK_PENDING &&
		     ledger_is_unbound(session_task_charge(s, t));
	}
	return n;
}

/* As Volcano's gang plugin counts: minMember alone, whatever the roles are, and whatever the reason
 * is. A PodGroup that only waits for its own pods to end lacks none. */
static bool lacks_members(const struct session *s, const struct podgroup *g)
{
	if (hooks_job_ready(s, g) ||
	    gang_count(s, g, GANG_READY) + placed_by_others(s, g) >= g->min_member) {
		return false;
	}
	return unplaced(s, g) > 0 || releasing_on_nodes(s, g) == 0 ||
	       (int64_t)scheduled_count(s, g) < g->min_member;
}

/* Volcano's table. */
static enum podgroup_phase phase_of(const struct session *s, const struct podgroup *g)
{
	uint32_t scheduled = scheduled_count(s, g);

	if (session_podgroup_count(s, g, TASK_RUNNING) > 0 && lacks_members(s, g)) {
		return PODGROUP_UNKNOWN;
	}
	/* With minMember 0 and nothing scheduled that is Completed, too, as in Volcano. */
	if ((int64_t)scheduled >= g->min_member) {
		return scheduled == completed_count(s, g) ? PODGROUP_COMPLETED : PODGROUP_RUNNING;
	}
	return session_podgroup_phase(s, g) == PODGROUP_INQUEUE ? PODGROUP_INQUEUE
								: PODGROUP_PENDING;
}

static void report_phase(struct session *s, const struct podgroup *g)
{
	enum podgroup_phase phase = phase_of(s, g);
	struct decision *d;

	if ((uint8_t)phase == g->phase &&
	    g->status_running == (int32_t)session_podgroup_count(s, g, TASK_RUNNING) &&
	    g->status_succeeded == (int32_t)session_podgroup_count(s, g, TASK_SUCCEEDED) &&
	    g->status_failed == (int32_t)session_podgroup_count(s, g, TASK_FAILED)) {
		return;
	}
	d = decision_add(&s->decisions, DECISION_PODGROUP_PHASE);
	d->podgroup = g->id;
	d->phase = (uint8_t)phase;
}

/* Another scheduler places its pods: it has no phase. */
static bool asks_for_quota_alone(const struct session *s, const struct podgroup *g)
{
	return g->kind == PODGROUP_PART ||
	       (g->kind == PODGROUP_ALONE &&
		(session_task(s, g->tasks.v[0])->flags & TASK_GATE_ONLY) != 0);
}

void status_podgroup_report(struct session *s, const struct podgroup *g, const struct verdict *v)
{
	bool unschedulable = !v->ready && v->code != NULL;

	if (!g->exists || asks_for_quota_alone(s, g)) {
		return;
	}
	/* A PodGroup that only waits for its own pods to end is not unschedulable, nor is one all
	 * pods of which run since before it was found to be unsupported. */
	if (unschedulable && unplaced(s, g) == 0 &&
	    (session_podgroup_count(s, g, TASK_RELEASING) > 0 ||
	     (v->unsupported && g->tasks.n > 0))) {
		unschedulable = false;
	}
	report_phase(s, g);
	if (g->kind == PODGROUP_ALONE) {
		return; /* no object has the condition, and the events of its pod say the same */
	}
	if (unschedulable) {
		report_condition(s, g, v, false);
	} else if (v->ready && session_podgroup_ready_count(s, g) > 0) {
		report_condition(s, g, v, true);
	}
}
