#include "scheduler/pods/cycle/revoke.h"

#include <stdlib.h>

#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/cycle/holds.h"
#include "scheduler/pods/cycle/shortage.h"
#include "scheduler/pods/ledger/attempts.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/session/gang.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/session_priv.h"
#include "scheduler/pods/session/statement.h"
#include "scheduler/pods/values/pod_class.h"

#define NS_PER_S INT64_C(1000000000)

struct revocation {
	const char *event_reason; /* static */
	const char *message;      /* of event and condition */
	uint32_t attempts;        /* 0: it may be decided again at once */
	int64_t retry_at;
};

/* The patch of a pod that is PATCHING may have removed the gate already: if its quota were free
 * now, it would be given out twice. The same holds for a pod that another scheduler is free to
 * bind. */
static bool is_revocable(const struct session *s, const struct task *t)
{
	enum charge_state charge = session_task_charge(s, t);

	return ledger_is_unbound(charge) && charge != CHARGE_PATCHING &&
	       (t->flags & TASK_GATE_ONLY) == 0;
}

/* Adds t's charge to the sums of its queue and of every queue above. */
static void add_upwards(const struct session *s, struct res *sums, const struct task *t)
{
	const struct queue *q;

	QUEUE_FOR_EACH_UP (q, s->cluster, session_task_charge_queue(s, t)) {
		res_add(&sums[q->id], pod_class_charge(t->klass));
	}
}

static void revoke_task(struct session *s, const struct task *t, const struct revocation *why)
{
	bool published;
	struct decision *d;

	if (session_task_charge(s, t) == CHARGE_AWAITING_VICTIMS) {
		holds_give_up(s, t, why->message);
		return;
	}
	published = ledger_state_when_given_up(t, session_task_charge(s, t)) == CHARGE_WITHDRAWING;
	statement_revoke(s, t, why->attempts > 0 ? why->retry_at : MODEL_TIME_NONE, why->attempts);
	if (published) {
		/* Its charge stays until the withdrawal is acknowledged. Without this, the next pod
		 * would be revoked for the same excess. */
		if (s->not_counted != NULL) {
			add_upwards(s, s->not_counted, t);
		}
		d = decision_add(&s->decisions, DECISION_WITHDRAW);
		d->task = t->id;
		d->reason = "NotReadyForScheduling";
		d->message = why->message;
		d->attempts = why->attempts;
	}
	d = decision_add(&s->decisions, DECISION_EVENT);
	d->task = t->id;
	d->warning = true;
	d->reason = why->event_reason;
	d->message = why->message;
}

static void revoke_podgroup(struct session *s, const struct podgroup *g,
			    const struct revocation *why)
{
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (is_revocable(s, t)) {
			revoke_task(s, t, why);
		}
	}
}

/* Revokes t, and the rest of its gang if that is broken without t. */
static void revoke_with_gang(struct session *s, const struct task *t, const struct revocation *why)
{
	const struct podgroup *g =
		t->podgroup == MODEL_NONE ? NULL : s->cluster->podgroups.v[t->podgroup];
	struct gang_need need;

	revoke_task(s, t, why);
	if (g == NULL) {
		return;
	}
	gang_need(s, g, GANG_RESERVED, &need);
	if (!gang_is_met(&need)) {
		revoke_podgroup(s, g, why);
	}
}

void revoke_charge(struct session *s, const struct task *t, const char *message)
{
	struct revocation why = { .event_reason = "QuotaRevoked", .message = message };

	revoke_with_gang(s, t, &why);
}

/* The pod was created on its node, or bound by another scheduler: nothing was decided here, and
 * pods of other tenants do not lose quota for it. Meanwhile the queue gives no quota. */
static bool is_ungranted(const struct session *s, const struct task *t)
{
	return session_task_charge(s, t) == CHARGE_BOUND && !ledger_is_granted(t);
}

/* The charges for which no reservation is revoked, by queue id, ancestors included: withdrawn pods,
 * those that are charged beside their victims, and charges that were never granted. Summed when the
 * first queue is found over its limit, and updated by each later revocation. */
static struct res *sum_not_counted(struct session *s)
{
	const struct cluster *c = s->cluster;
	struct res *sums = arena_zero(s->arena, c->queues.n, sizeof(*sums));

	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		if (t != NULL &&
		    (session_task_charge(s, t) == CHARGE_WITHDRAWING ||
		     session_task_charge(s, t) == CHARGE_AWAITING_VICTIMS || is_ungranted(s, t))) {
			add_upwards(s, sums, t);
		}
	}
	return sums;
}

uint32_t revoke_over_limit(struct session *s, const struct queue *q, const struct res *less)
{
	struct res used = *session_queue_charged(s, q);

	if (less != NULL) {
		res_sub_floor(&used, less);
	}
	if (res_exceeds(&used, &s->limits[q->id], UINT32_MAX) == 0) {
		return 0;
	}
	/* The sum costs a walk over all tasks: only a queue over its limit asks for it. */
	if (s->not_counted == NULL) {
		s->not_counted = sum_not_counted(s);
	}
	res_sub_floor(&used, &s->not_counted[q->id]);
	return res_exceeds(&used, &s->limits[q->id], UINT32_MAX);
}

/* Resized pods first, since they caused the excess; then the youngest. */
static int grown_and_youngest_first(const void *a, const void *b)
{
	const struct task *const *x = a, *const *y = b;
	uint32_t grew = (*x)->flags & TASK_GREW;

	if (grew != ((*y)->flags & TASK_GREW)) {
		return grew != 0 ? -1 : 1;
	}
	if ((*x)->created != (*y)->created) {
		return (*x)->created > (*y)->created ? -1 : 1;
	}
	return (*x)->id > (*y)->id ? -1 : 1;
}

static void shrink_queue(struct session *s, const struct queue *q)
{
	const struct cluster *c = s->cluster;
	const struct task **v = arena_alloc(s->arena, (c->tasks.n + 1) * sizeof(*v));
	struct revocation why = {
		.event_reason = "QuotaRevoked",
		.message = arena_printf(s->arena, "queue %s is over its configured limit%s",
					q->name, shortage_excess(s, q)),
	};
	size_t n = 0;

	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		if (t != NULL && is_revocable(s, t) &&
		    session_task_charge(s, t) != CHARGE_AWAITING_VICTIMS &&
		    queue_is_within(c, session_task_charge_queue(s, t), q)) {
			v[n++] = t;
		}
	}
	qsort(v, n, sizeof(v[0]), grown_and_youngest_first);
	for (size_t i = 0; i < n; i++) {
		uint32_t over = revoke_over_limit(s, q, NULL);

		if (over == 0) {
			return;
		}
		/* It may have gone with a gang meanwhile; and a pod that requests nothing of what
		 * is short would lose its quota in vain. */
		if (is_revocable(s, v[i]) &&
		    (res_mask(pod_class_charge(v[i]->klass)) & over) != 0) {
			revoke_with_gang(s, v[i], &why);
		}
	}
}

static int deepest_first(const void *a, const void *b)
{
	const struct queue *const *x = a, *const *y = b;

	if ((*x)->depth != (*y)->depth) {
		return (*x)->depth > (*y)->depth ? -1 : 1;
	}
	return (*x)->id < (*y)->id ? -1 : 1;
}

/* Deepest first: revoking in a child may be enough for its parent. */
static void revoke_over_limits(struct session *s)
{
	const struct cluster *c = s->cluster;
	const struct queue **v = NULL;
	size_t n = 0;

	for (size_t i = 0; i < c->queues.n; i++) {
		if (c->queues.v[i] == NULL || revoke_over_limit(s, c->queues.v[i], NULL) == 0) {
			continue;
		}
		if (v == NULL) {
			v = arena_alloc(s->arena, c->queues.n * sizeof(*v));
		}
		v[n++] = c->queues.v[i];
	}
	if (n > 1) {
		qsort(v, n, sizeof(v[0]), deepest_first);
	}
	for (size_t i = 0; i < n; i++) {
		shrink_queue(s, v[i]);
	}
}

static bool holds_revocable(const struct session *s, const struct podgroup *g)
{
	for (size_t i = 0; i < g->tasks.n; i++) {
		if (is_revocable(s, session_task(s, g->tasks.v[i]))) {
			return true;
		}
	}
	return false;
}

/* A waiting member that did not opt in: the gang counts it, although it holds no charge. */
static const struct task *find_member_without_gate(const struct session *s,
						   const struct podgroup *g)
{
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if ((t->flags & (TASK_OURS | TASK_OPTED_IN)) == TASK_OURS && t->klass != NULL &&
		    !t->klass->best_effort && session_task_status(s, t) == TASK_PENDING) {
			return t;
		}
	}
	return NULL;
}

/* The missing member may have lacked just the quota that the others held, and would lack it again.
 */
static void report_member_without_gate(struct session *s, const struct podgroup *g)
{
	const struct task *t = find_member_without_gate(s, g);
	struct decision *d;

	if (t == NULL || (int32_t)session_podgroup_ready_count(s, g) >= g->min_member) {
		return;
	}
	d = decision_add(&s->decisions, DECISION_EVENT);
	d->podgroup = g->id;
	d->warning = true;
	d->reason = "MemberNotOptedIn";
	d->message = arena_printf(s->arena,
				  "the gang found no place in time, and its member %s did not opt "
				  "in: no quota is reserved for it with the others; annotate all "
				  "members or none",
				  t->name);
}

/* Counts a reservation of the PodGroup that ended without a node, which t had since it was
 * published. A pod that waits already was counted: it is withdrawn again, since the first write
 * had no effect. */
static void count_attempt(struct session *s, const struct podgroup *g, const struct task *t,
			  struct revocation *ret)
{
	bool counted = t->retry_at != MODEL_TIME_NONE && t->retry_at != MODEL_TIME_NEVER &&
		       t->retry_at > s->now;
	uint32_t most = s->conf->reservation_attempts, before = 0;
	int64_t wait, held = s->now - t->published_at;

	for (size_t i = 0; i < g->tasks.n; i++) {
		uint32_t n = session_task(s, g->tasks.v[i])->attempts;

		before = n > before ? n : before;
	}
	ret->attempts = counted || before == UINT32_MAX ? before : before + 1;
	if (most > 0 && ret->attempts >= most) {
		ret->retry_at = MODEL_TIME_NEVER;
		ret->message = arena_printf(s->arena,
					    "no node was found in time, %u times now: the quota is "
					    "given to others, and "
					    "no more is reserved before the gang changes, or there "
					    "are nodes of another shape",
					    ret->attempts);
		return;
	}
	wait = counted ? t->retry_at - s->now
		       : attempts_pause(s->conf->reservation_backoff_ns, held, ret->attempts);
	ret->retry_at = s->now + wait;
	ret->message = arena_printf(
		s->arena,
		"no node was found in time (attempt %u): the quota is given to others for %lld s",
		ret->attempts, (long long)(wait / NS_PER_S));
}

static void revoke_timed_out(struct session *s, const struct podgroup *g)
{
	struct revocation why = { .event_reason = "ReservationTimedOut" };
	bool any = false;

	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (session_task_charge(s, t) == CHARGE_PUBLISHED &&
		    session_task_status(s, t) == TASK_PENDING &&
		    t->published_at != MODEL_TIME_NONE &&
		    s->now - t->published_at >= s->conf->reservation_timeout_ns) {
			/* All pods that time out in one cycle share the count and the pause, so
			 * that a gang comes back together. */
			if (!any) {
				count_attempt(s, g, t, &why);
			}
			revoke_with_gang(s, t, &why);
			any = true;
		}
	}
	if (any) {
		report_member_without_gate(s, g);
	}
}

static void revoke_in_podgroup(struct session *s, const struct queue *q, const struct podgroup *g)
{
	struct reason why = { .code = "cannot be used" };
	struct revocation r = { .event_reason = "QuotaRevoked" };

	if (!holds_revocable(s, g)) {
		return;
	}
	if (!hooks_queue_accepts(s, q, &why)) {
		r.message = arena_printf(s->arena, "queue %s %s", q->name, why.code);
		revoke_podgroup(s, g, &r);
		return;
	}
	why = (struct reason){ .code = "NotEnoughTasks" };
	if (!hooks_job_valid(s, g, &why)) {
		r.message = why.detail != NULL ? why.detail : why.code;
		revoke_podgroup(s, g, &r);
		return;
	}
	if (s->conf->reservation_timeout_ns > 0) {
		revoke_timed_out(s, g);
	}
}

/* 1. Bring queues that are over their limit back to it, deepest first.
 * 2. Of the PodGroups in the queues that are due, revoke all charges where the queue accepts no
 *    pods or tasks are missing, else those that have timed out, with their gangs. */
void revoke_run(struct session *s)
{
	const struct cluster *c = s->cluster;

	revoke_over_limits(s);
	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		for (size_t k = 0; q != NULL && k < session_podgroups(s, q)->n; k++) {
			revoke_in_podgroup(s, q, session_podgroups(s, q)->v[k]);
		}
	}
}

void revoke_partial_gangs(struct session *s)
{
	const struct cluster *c = s->cluster;
	const struct revocation why = {
		.event_reason = "QuotaRevoked",
		.message = "the queue has no room for the rest of the gang",
	};

	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		for (size_t k = 0; q != NULL && q->exists && k < session_podgroups(s, q)->n; k++) {
			const struct podgroup *g = session_podgroups(s, q)->v[k];
			struct gang_need need;

			if (!holds_revocable(s, g)) {
				continue;
			}
			gang_need(s, g, GANG_RESERVED, &need);
			if (!gang_is_met(&need)) {
				revoke_podgroup(s, g, &why);
			}
		}
	}
}
