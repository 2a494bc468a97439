#include "scheduler/workloads/status/workload_reconcile.h"

#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "scheduler/workloads/cycle/nofit_reason.h"
#include "scheduler/workloads/status/workload_checks.h"
#include "scheduler/workloads/status/workload_pending.h"
#include "scheduler/workloads/status/workload_reconcile_priv.h"
#include "scheduler/workloads/status/workload_reserved.h"

#define MESSAGE_DEACTIVATED "The workload is deactivated"

bool workload_reconcile_set(struct workload_reconcile *l, const char *type, bool is_true,
			    const char *reason, const char *message)
{
	struct condition to = { .type = type,
				.status = is_true ? "True" : "False",
				.reason = reason,
				.message = message,
				.at = l->now,
				.generation = l->status->generation };
	bool changed = workload_status_set_condition(l->status, &to);

	l->out->changed |= changed;
	return changed;
}

void workload_reconcile_event(struct workload_reconcile *l, bool warning, const char *reason,
			      const char *message)
{
	workload_status_add_event(l->status, &l->out->events, warning, l->in->id, reason, message);
}

void workload_reconcile_wake(struct workload_reconcile *l, int64_t at)
{
	if (at < l->out->next) {
		l->out->next = at;
	}
}

bool workload_reconcile_is(const struct workload_reconcile *l, const char *type, const char *status,
			   const char *reason)
{
	const struct condition *c = workload_status_condition(l->status, type);

	return c != NULL && str_streq(c->status, status) &&
	       (reason == NULL || str_streq(c->reason, reason));
}

void workload_reconcile_evict(struct workload_reconcile *l, const char *reason, const char *cause,
			      const char *message)
{
	bool held = workload_status_is_true(l->status, KUEUE_QUOTA_RESERVED);

	workload_status_evict(l->status, reason, cause, message, l->now);
	l->out->changed = true;
	/* Without a reservation nothing stops: the condition is enough. */
	if (held) {
		workload_reconcile_event(l, false,
					 arena_printf(l->status->arena, "EvictedDueTo%s", reason),
					 message);
	}
}

int64_t workload_reconcile_backoff(const struct quota_times *times, int32_t n, const char *uid)
{
	int64_t delay = times->backoff_base_ns;
	uint64_t spread = str_hash(str_of(uid == NULL ? "" : uid)) % 1001;

	for (int32_t i = 1; i < n && delay < times->backoff_max_ns; i++) {
		if (__builtin_mul_overflow(delay, 2, &delay)) {
			delay = times->backoff_max_ns;
		}
	}
	/* The jitter follows from the UID: a backoff is the same whenever it is computed, and
	 * Workloads that were evicted together do not come back together. */
	if (delay < times->backoff_max_ns) {
		delay += delay / 10000000 * (int64_t)spread;
	}
	return delay < times->backoff_max_ns ? delay : times->backoff_max_ns;
}

/* --- checks ------------------------------------------------------------------------------------
 */

static bool is_assigned(const struct workload *w, const struct quota_check *check)
{
	if (check->nflavors == 0) {
		return true;
	}
	for (size_t i = 0; i < w->holding.assigned.n; i++) {
		for (size_t k = 0; k < check->nflavors; k++) {
			if (w->holding.assigned.v[i].flavor == check->flavors[k]) {
				return true;
			}
		}
	}
	return false;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool workload_reconcile_checks(const struct quota_model *q, const struct workload *w,
			       const char **names, size_t most, size_t *ret)
{
	bool holds = w->holding.node != MODEL_NONE;
	uint32_t at = holds ? w->holding.node : w->pending.queue;
	const struct cluster_queue *queue = at == MODEL_NONE ? NULL : q->nodes.v[at]->queue;
	size_t n = 0;

	if (queue == NULL) {
		return false;
	}
	for (size_t i = 0; i < queue->checks.n; i++) {
		const struct quota_check *check = &queue->checks.v[i];

		if (!holds && check->nflavors > 0) {
			return false;
		}
		if (n < most && (!holds || is_assigned(w, check))) {
			names[n++] = check->name;
		}
	}
	if (n > 1) {
		qsort(names, n, sizeof(*names), by_text);
	}
	*ret = n;
	return true;
}

/* --- the steps ---------------------------------------------------------------------------------
 */

/* A Workload without its job: no other controller removes its finalizer. True: nothing more to do.
 */
static bool handle_orphan(struct workload_reconcile *l)
{
	const struct workload_reconcile_in *in = l->in;
	bool finished = workload_status_is_true(l->status, KUEUE_FINISHED);

	if (in->has_owner) {
		return false;
	}
	if (in->had_owner && !finished && !in->deleted) {
		(void)workload_reconcile_set(l, KUEUE_FINISHED, true, KUEUE_REASON_OWNER_NOT_FOUND,
					     "The workload's owner was not found");
		finished = true;
	}
	l->out->remove_finalizer = in->has_finalizer && (in->deleted || finished);
	return in->deleted;
}

static bool is_in_spec(const struct workload_reconcile_in *in, const char *gate)
{
	for (const char **g = in->gates; g != NULL && *g != NULL; g++) {
		if (str_streq(*g, gate)) {
			return true;
		}
	}
	return false;
}

/* Kueue: a gate of spec is closed until status says otherwise; entries without a gate go. All
 * fields of an entry say the same. */
static void sync_gates(struct workload_reconcile *l)
{
	struct workload_status *status = l->status;
	unsigned fields = l->in->gate_fields;
	size_t kept = 0;

	if (fields == 0) {
		return;
	}
	for (size_t i = 0; i < status->gates.n; i++) {
		if (is_in_spec(l->in, status->gates.v[i].name)) {
			struct workload_status_gate *g = &status->gates.v[kept++];

			*g = status->gates.v[i];
			l->out->changed |= g->disagrees || (g->fields & fields) != fields;
			g->disagrees = false;
			g->fields |= fields;
		}
	}
	l->out->changed |= kept != status->gates.n;
	status->gates.n = kept;
	for (const char **g = l->in->gates; g != NULL && *g != NULL; g++) {
		struct workload_status_gate new = { .name = arena_dup(status->arena, *g),
						    .fields = fields,
						    .at = l->now };
		size_t k = 0;

		while (k < status->gates.n && !str_streq(status->gates.v[k].name, new.name)) {
			k++;
		}
		if (k == status->gates.n) {
			vec_push(&status->gates, new);
			l->out->changed = true;
		}
	}
}

static void handle_finished(struct workload_reconcile *l)
{
	int64_t at = workload_status_condition(l->status, KUEUE_FINISHED)->at, end;

	if (l->times->keep_finished_ns < 0 || l->in->deleted ||
	    __builtin_add_overflow(at, l->times->keep_finished_ns, &end)) {
		return;
	}
	if (end > l->now) {
		workload_reconcile_wake(l, end);
		return;
	}
	l->out->remove = true;
}

/* spec.active=false: Evicted once, whichever client did it and whether or not it holds quota. */
static void deactivate(struct workload_reconcile *l)
{
	const struct condition *target =
		workload_status_condition(l->status, KUEUE_DEACTIVATION_TARGET);
	const char *cause = target == NULL ? "" : target->reason;
	const char *message = MESSAGE_DEACTIVATED;

	if (target != NULL) {
		message = arena_printf(l->status->arena, MESSAGE_DEACTIVATED " due to %s",
				       target->message);
	}
	if (!workload_status_is_true(l->status, KUEUE_EVICTED)) {
		workload_reconcile_evict(
			l,
			target == NULL ? KUEUE_REASON_DEACTIVATED
				       : arena_printf(l->status->arena,
						      KUEUE_REASON_DEACTIVATED "DueTo%s", cause),
			cause, message);
	}
	if (l->s->requeues != 0 || l->s->requeue_at != MODEL_TIME_NONE) {
		l->s->requeues = 0;
		l->s->requeue_at = MODEL_TIME_NONE;
		l->out->changed = true;
	}
	l->out->changed |= workload_status_remove_condition(l->status, KUEUE_DEACTIVATION_TARGET);
}

/* Workloads that the engine deactivated are kept for a while, those that a client did, forever.
 * Their owner is deleted, and they go with it; so one without an owner stays. */
static void handle_deactivated(struct workload_reconcile *l)
{
	const struct condition *evicted = workload_status_condition(l->status, KUEUE_EVICTED);
	int64_t end;

	if (l->times->keep_deactivated_ns < 0 || l->in->deleted || !l->in->has_owner ||
	    !str_has_prefix(str_of(evicted->reason), KUEUE_REASON_DEACTIVATED "DueTo") ||
	    __builtin_add_overflow(evicted->at, l->times->keep_deactivated_ns, &end)) {
		return;
	}
	if (end > l->now) {
		workload_reconcile_wake(l, end);
		return;
	}
	l->out->remove_owner = true;
}

/* Reservation: hold it, or give it back once evicted. True while it is held. */
static bool handle_reservation(struct workload_reconcile *l)
{
	if (!workload_status_is_true(l->status, KUEUE_QUOTA_RESERVED)) {
		return false;
	}
	/* A client set the condition, but no quota is held: it waits like any other. */
	if (!l->status->has_admission) {
		(void)workload_reconcile_set(l, KUEUE_QUOTA_RESERVED, false,
					     nofit_reason_name(QUOTA_PENDING_EVALUATION),
					     "The workload has no admission");
		return false;
	}
	if (!workload_status_is_true(l->status, KUEUE_EVICTED)) {
		return true;
	}
	workload_reserved_release(l);
	return !l->out->released;
}

/* Kueue's order: orphans, preemption gates, finished, delays that checks ask for, deactivation,
 * end of waiting, list of checks; then by reservation. */
void workload_reconcile(const struct workload_reconcile_in *in, const struct quota_times *times,
			struct workload_reconcile_state *s, int64_t now,
			struct workload_reconcile_out *ret)
{
	struct workload_reconcile l = { in, times, s, s->status, now, ret };

	*ret = (struct workload_reconcile_out){ .next = WORKLOAD_RECONCILE_NEVER };
	if (handle_orphan(&l)) {
		return;
	}
	sync_gates(&l);
	if (workload_status_is_true(s->status, KUEUE_FINISHED)) {
		handle_finished(&l);
		return;
	}
	/* Before the rest: the time until which it waits is an input of the end of waiting. */
	workload_checks_delay(&l);
	if (in->active && workload_status_is_true(s->status, KUEUE_DEACTIVATION_TARGET)) {
		/* The status has said why since the call that set the condition: spec.active
		 * follows. Nothing else matters for one that is about to be deactivated. */
		ret->deactivate = true;
		return;
	}
	if (!in->active) {
		deactivate(&l);
		handle_deactivated(&l);
	}
	if (handle_reservation(&l)) {
		if (workload_status_is_true(s->status, KUEUE_EVICTED)) {
			return; /* nothing else counts before the job has stopped */
		}
		workload_checks_sync(&l);
		workload_reserved_admit(&l);
		workload_reserved_judge(&l);
	} else {
		/* Also in the call in which the reservation was given back: its reason to wait may
		 * be over already. */
		workload_pending_requeue(&l);
		workload_checks_sync(&l);
		workload_pending_explain(&l);
	}
}

void workload_reconcile_finish(struct workload_reconcile_out *out)
{
	vec_finish(&out->events);
}
