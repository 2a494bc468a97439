#include "scheduler/workloads/status/workload_status.h"

#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/preemption_gate.h"
#include "base/arena.h"
#include "base/clock.h"
#include "scheduler/workloads/cycle/admission_apply.h"
#include "scheduler/workloads/cycle/nofit_reason.h"
#include "scheduler/workloads/model/quota_store.h"

void workload_status_finish(struct workload_status *status)
{
	vec_finish(&status->conditions);
	vec_finish(&status->checks);
	vec_finish(&status->gates);
	vec_finish(&status->evictions);
	vec_finish(&status->podsets);
	vec_finish(&status->requests);
	vec_finish(&status->nominated);
	vec_finish(&status->unhealthy);
}

static struct condition *find(const struct workload_status *status, const char *type)
{
	for (size_t i = 0; i < status->conditions.n; i++) {
		if (str_streq(status->conditions.v[i].type, type)) {
			return &status->conditions.v[i];
		}
	}
	return NULL;
}

const struct condition *workload_status_condition(const struct workload_status *status,
						  const char *type)
{
	return find(status, type);
}

bool workload_status_is_true(const struct workload_status *status, const char *type)
{
	const struct condition *found = find(status, type);

	return found != NULL && str_streq(found->status, "True");
}

/* Cut between characters of UTF-8. */
static const char *cut(struct arena *arena, const char *text, size_t most)
{
	size_t n = text == NULL ? 0 : strlen(text);

	if (n > most) {
		n = most;
		while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) {
			n--;
		}
	}
	return arena_dup_n(arena, text == NULL ? "" : text, n);
}

bool workload_status_set_condition(struct workload_status *status, const struct condition *to)
{
	struct condition *old = find(status, to->type);
	struct condition new = { .type = arena_dup(status->arena, to->type),
				 .status = arena_dup(status->arena, to->status),
				 .reason = arena_dup(status->arena, to->reason),
				 .message = cut(status->arena, to->message,
						WORKLOAD_STATUS_MESSAGE_MAX),
				 .at = to->at,
				 .generation = to->generation };
	bool changed;

	if (old == NULL) {
		vec_push(&status->conditions, new);
		return true;
	}
	/* A time of transition is that of the status alone: a new reason or message does not move
	 * it, as the API conventions ask. */
	changed = !str_streq(old->status, new.status) || !str_streq(old->reason, new.reason) ||
		  !str_streq(old->message, new.message);
	if (str_streq(old->status, new.status)) {
		new.at = old->at;
	}
	*old = new;
	return changed;
}

bool workload_status_remove_condition(struct workload_status *status, const char *type)
{
	struct condition *old = find(status, type);

	if (old == NULL) {
		return false;
	}
	memmove(old, old + 1,
		(size_t)(&status->conditions.v[status->conditions.n] - (old + 1)) * sizeof(*old));
	status->conditions.n--;
	return true;
}

static bool set(struct workload_status *status, const char *type, bool is_true, const char *reason,
		const char *message, int64_t now)
{
	struct condition to = { .type = type,
				.status = is_true ? "True" : "False",
				.reason = reason,
				.message = message,
				.at = now,
				.generation = status->generation };

	return workload_status_set_condition(status, &to);
}

/* Sets a condition that is True to False; its message stays readable. */
static void clear(struct workload_status *status, const char *type, const char *reason, int64_t now)
{
	const struct condition *old = find(status, type);

	if (workload_status_is_true(status, type)) {
		set(status, type, false, reason,
		    arena_printf(status->arena, "Previously: %s",
				 old->message == NULL ? "" : old->message),
		    now);
	}
}

void workload_status_add_event(struct workload_status *status,
			       struct workload_status_events *events, bool warning,
			       uint32_t workload, const char *reason, const char *message)
{
	struct workload_status_event e = { warning, workload, arena_dup(status->arena, reason),
					   cut(status->arena, message, WORKLOAD_STATUS_EVENT_MAX) };

	vec_push(events, e);
}

static bool has_check(const struct workload_status *status, const char *name)
{
	for (size_t i = 0; i < status->checks.n; i++) {
		if (str_streq(status->checks.v[i].name, name)) {
			return true;
		}
	}
	return false;
}

/* Every check that applies to the assigned flavors is in the status, and all that are there are
 * Ready. */
static bool has_all_checks(const struct workload_status *status, const struct cluster_queue *queue,
			   const struct assignment *a)
{
	for (size_t i = 0; i < queue->checks.n; i++) {
		if (admission_apply_needs_check(&queue->checks.v[i], a) &&
		    !has_check(status, queue->checks.v[i].name)) {
			return false;
		}
	}
	for (size_t i = 0; i < status->checks.n; i++) {
		if (status->checks.v[i].state != QUOTA_CHECK_READY) {
			return false;
		}
	}
	return true;
}

static void set_admission(struct workload_status *status, const struct quota_model *q,
			  const struct workload *w, const struct admission_decision *d)
{
	status->has_admission = true;
	status->queue = q->nodes.v[d->node]->name;
	vec_clear(&status->podsets);
	/* resourceRequests are for Workloads that wait (Kueue). */
	vec_clear(&status->requests);
	for (size_t i = 0; i < d->assignment->npodsets; i++) {
		const struct assigned_podset *a = &d->assignment->podsets[i];
		struct workload_status_podset p = { .name = w->object.podsets[i].name,
						    .count = a->count };

		p.v = arena_zero(status->arena, a->nflavors + 1, sizeof(p.v[0]));
		for (size_t k = 0; k < a->nflavors; k++) {
			p.v[p.n++] = (struct workload_status_usage){
				.resource = a->flavors[k].resource,
				.flavor = q->flavors.v[a->flavors[k].flavor]->name,
				.amount = admission_apply_amount(q, &w->object.podsets[i], a->count,
								 a->flavors[k].resource)
			};
		}
		vec_push(&status->podsets, p);
	}
}

static void admit(struct workload_status *status, const struct quota_model *q,
		  const struct admission_decision *d, int64_t now,
		  struct workload_status_events *events)
{
	const struct workload *w = q->workloads.v[d->workload];
	const struct quota_node *n = q->nodes.v[d->node];
	/* A clock may be behind that of the API server: the wait is not negative then. */
	int64_t since = w->object.created == MODEL_TIME_NONE || w->object.created > now
				? now
				: w->object.created;
	const char *message =
		arena_printf(status->arena, "Quota reserved in ClusterQueue %s after %lld s",
			     n->name, (long long)((now - since) / CLOCK_NS_PER_S));

	set_admission(status, q, w, d);
	/* Conditions of an earlier eviction become False with a reason and are not removed, so that
	 * it stays readable why it was. */
	set(status, KUEUE_QUOTA_RESERVED, true, KUEUE_QUOTA_RESERVED, message, now);
	workload_status_add_event(status, events, false, w->id, KUEUE_QUOTA_RESERVED, message);
	clear(status, KUEUE_EVICTED, KUEUE_QUOTA_RESERVED, now);
	clear(status, KUEUE_PREEMPTED, KUEUE_QUOTA_RESERVED, now);
	clear(status, PREEMPTION_GATE_BLOCKED, KUEUE_QUOTA_RESERVED, now);
	/* Without checks, or with all of them Ready, the admission is part of the same write
	 * (Kueue). */
	if (!has_all_checks(status, n->queue, d->assignment)) {
		set(status, KUEUE_ADMITTED, false, KUEUE_REASON_UNSATISFIED_CHECKS,
		    WORKLOAD_STATUS_UNSATISFIED, now);
		return;
	}
	message = arena_printf(status->arena, "Admitted by ClusterQueue %s", n->name);
	set(status, KUEUE_ADMITTED, true, KUEUE_ADMITTED, message, now);
	workload_status_add_event(status, events, false, w->id, KUEUE_ADMITTED, message);
}

/* While it waits, the status shows what it asks for (status.resourceRequests); an admission shows
 * what it got instead. */
static void set_requests(struct workload_status *status, const struct quota_model *q,
			 const struct workload *w)
{
	vec_clear(&status->requests);
	for (size_t i = 0; i < w->object.npodsets; i++) {
		const struct podset *p = &w->object.podsets[i];
		struct workload_status_podset out = { .name = p->name, .count = p->count };

		out.v = arena_zero(status->arena, p->request.n + 1, sizeof(out.v[0]));
		for (size_t k = 0; k < p->request.n; k++) {
			uint32_t resource = p->request.v[k].id;

			out.v[out.n++] = (struct workload_status_usage){
				.resource = resource,
				.amount = admission_apply_amount(q, p, p->count, resource)
			};
		}
		vec_push(&status->requests, out);
	}
}

static void hold_back(struct workload_status *status, const struct quota_model *q,
		      const struct admission_decision *d, int64_t now,
		      struct workload_status_events *events)
{
	const struct workload *w = q->workloads.v[d->workload];
	const char *reason = nofit_reason_name(d->reason);
	const char *message = d->message == NULL ? "" : d->message;

	if (d->reason == QUOTA_REASON_NONE) {
		return;
	}
	/* An event only when the text is new, not cycle after cycle. */
	if (set(status, KUEUE_QUOTA_RESERVED, false, reason, message, now)) {
		workload_status_add_event(status, events, true, w->id, reason, message);
	}
	set(status, KUEUE_ADMITTED, false, KUEUE_REASON_NO_RESERVATION,
	    "The workload has no reservation", now);
	if (d->status == ENTRY_GATED) {
		set(status, PREEMPTION_GATE_BLOCKED, true,
		    nofit_reason_requeue(QUOTA_REQUEUE_GATED), message, now);
	} else {
		/* Opening a gate would not help it now (stock Kueue leaves the condition). */
		clear(status, PREEMPTION_GATE_BLOCKED, reason, now);
	}
	set_requests(status, q, w);
}

void workload_status_settle_gates(struct workload_status *fresh,
				  const struct workload_status *before)
{
	for (size_t i = 0; i < fresh->gates.n; i++) {
		struct workload_status_gate *g = &fresh->gates.v[i];

		for (size_t k = 0; g->disagrees && before != NULL && k < before->gates.n; k++) {
			if (str_streq(before->gates.v[k].name, g->name)) {
				g->open = !before->gates.v[k].open;
			}
		}
	}
}

/* Kueue: schedulingStats has one entry for each reason and cause, with a count. */
static void count_eviction(struct workload_status *status, const char *reason, const char *cause)
{
	struct workload_status_eviction new = { arena_dup(status->arena, reason),
						arena_dup(status->arena, cause), 1 };

	for (size_t i = 0; i < status->evictions.n; i++) {
		struct workload_status_eviction *e = &status->evictions.v[i];

		if (str_streq(e->reason, reason) && str_streq(e->cause, cause)) {
			e->count += e->count < INT32_MAX;
			return;
		}
	}
	vec_push(&status->evictions, new);
}

const char *workload_status_check_name(enum quota_check_state state)
{
	static const char *const names[] = {
		[QUOTA_CHECK_PENDING] = KUEUE_CHECK_PENDING,
		[QUOTA_CHECK_READY] = KUEUE_CHECK_READY,
		[QUOTA_CHECK_RETRY] = KUEUE_CHECK_RETRY,
		[QUOTA_CHECK_REJECTED] = KUEUE_CHECK_REJECTED,
	};

	return names[state];
}

void workload_status_evict(struct workload_status *status, const char *reason, const char *cause,
			   const char *message, int64_t now)
{
	set(status, KUEUE_EVICTED, true, reason, message, now);
	count_eviction(status, reason, cause);
	for (size_t i = 0; i < status->checks.n; i++) {
		struct workload_status_check *k = &status->checks.v[i];

		/* The next admission is checked again. Other controllers own these entries, but
		 * Kueue resets them here, too, and they rely on it. */
		if (k->state == QUOTA_CHECK_PENDING) {
			continue;
		}
		k->retries += k->state == QUOTA_CHECK_RETRY && k->retries < INT32_MAX;
		k->message = arena_printf(status->arena,
					  "Reset to Pending after eviction. Previously: "
					  "%s",
					  workload_status_check_name(k->state));
		k->state = QUOTA_CHECK_PENDING;
		k->drops_updates = k->has_updates;
		k->has_updates = false;
		k->at = now;
	}
	clear(status, PREEMPTION_GATE_BLOCKED, reason, now);
	/* A preemption that was allowed before is not allowed again without asking. */
	for (size_t i = 0; i < status->gates.n; i++) {
		status->gates.v[i].open = false;
		status->gates.v[i].at = now;
	}
	status->cluster = NULL;
	vec_clear(&status->nominated);
	vec_clear(&status->unhealthy);
}

int32_t workload_status_release(struct workload_status *status, const char *message, int64_t now)
{
	const struct condition *evicted = find(status, KUEUE_EVICTED),
			       *admitted = find(status, KUEUE_ADMITTED);
	const char *reason = evicted == NULL ? "Pending" : evicted->reason;
	/* It may be tried at once where it did nothing wrong itself; after other evictions it waits
	 * for its backoff, its checks or its queue (workload_pending.c). */
	bool again = str_streq(reason, KUEUE_PREEMPTED) || str_streq(reason, "NodeFailures");
	int64_t ran = 0;

	/* How long an admission without a transition time lasted is not known: 0. */
	if (workload_status_is_true(status, KUEUE_ADMITTED) && admitted->at != MODEL_TIME_NONE &&
	    admitted->at < now) {
		ran = now / 1000000000 - admitted->at / 1000000000;
	}
	status->has_admission = false;
	status->queue = NULL;
	vec_clear(&status->podsets);
	set(status, KUEUE_REQUEUED, again, reason, message, now);
	set(status, KUEUE_QUOTA_RESERVED, false, nofit_reason_name(QUOTA_PENDING_EVALUATION),
	    message, now);
	set(status, KUEUE_ADMITTED, false, KUEUE_REASON_NO_RESERVATION,
	    "The workload has no reservation", now);
	return ran > INT32_MAX ? INT32_MAX : (int32_t)ran;
}

static void preempt(struct workload_status *status, const struct quota_model *q,
		    const struct admission_decision *d, int64_t now,
		    struct workload_status_events *events)
{
	const struct workload *victim = q->workloads.v[d->workload], *by = q->workloads.v[d->by];
	struct condition preempted = { .type = KUEUE_PREEMPTED,
				       .status = "True",
				       .reason = victim_reason_name(d->victim_reason),
				       .message = d->message,
				       .at = now };

	/* Its eviction is written already, and it has not stopped yet: another would count twice.
	 */
	if (d->ongoing) {
		return;
	}
	/* Kueue writes this one without observedGeneration. */
	workload_status_set_condition(status, &preempted);
	workload_status_evict(status, KUEUE_PREEMPTED, "", d->message, now);
	workload_status_add_event(
		status, events, false, victim->id, KUEUE_PREEMPTED,
		arena_printf(
			status->arena,
			"%s; effective priorities: %lld of the preemptor, %lld of this workload",
			d->message, (long long)workload_priority(q, by),
			(long long)workload_priority(q, victim)));
	workload_status_add_event(status, events, false, by->id, "PreemptedWorkload",
				  arena_printf(status->arena, "Preempted workload %s: %s",
					       victim->key, victim_reason_name(d->victim_reason)));
	workload_status_add_event(status, events, false, victim->id, "EvictedDueToPreempted",
				  d->message);
}

void workload_status_decide(struct workload_status *status, const struct quota_model *q,
			    const struct admission_decision *d, int64_t now,
			    struct workload_status_events *events)
{
	if (workload_status_is_true(status, KUEUE_FINISHED)) {
		return;
	}
	switch (d->kind) {
	case QUOTA_DECIDE_ADMIT:
		admit(status, q, d, now, events);
		break;
	case QUOTA_DECIDE_PREEMPT:
		preempt(status, q, d, now, events);
		break;
	case QUOTA_DECIDE_PENDING:
		hold_back(status, q, d, now, events);
		break;
	}
}
