#include "scheduler/workloads/status/conditions.h"

#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/clock.h"
#include "scheduler/workloads/cycle/admission_apply.h"
#include "scheduler/workloads/cycle/nofit_reason.h"
#include "scheduler/workloads/model/quota_store.h"

void conditions_finish(struct conditions *c)
{
	vec_finish(&c->list);
	vec_finish(&c->checks);
	vec_finish(&c->gates);
	vec_finish(&c->evictions);
	vec_finish(&c->podsets);
	vec_finish(&c->requests);
	vec_finish(&c->nominated);
	vec_finish(&c->unhealthy);
}

static struct condition *find(const struct conditions *c, const char *type)
{
	for (size_t i = 0; i < c->list.n; i++) {
		if (str_streq(c->list.v[i].type, type)) {
			return &c->list.v[i];
		}
	}
	return NULL;
}

const struct condition *conditions_find(const struct conditions *c, const char *type)
{
	return find(c, type);
}

bool conditions_is_true(const struct conditions *c, const char *type)
{
	const struct condition *found = find(c, type);

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

bool conditions_set(struct conditions *c, const struct condition *to)
{
	struct condition *old = find(c, to->type);
	struct condition new = { .type = arena_dup(c->arena, to->type),
				 .status = arena_dup(c->arena, to->status),
				 .reason = arena_dup(c->arena, to->reason),
				 .message = cut(c->arena, to->message, CONDITIONS_MESSAGE_MAX),
				 .at = to->at,
				 .generation = to->generation };
	bool changed;

	if (old == NULL) {
		vec_push(&c->list, new);
		return true;
	}
	changed = !str_streq(old->status, new.status) || !str_streq(old->reason, new.reason) ||
		  !str_streq(old->message, new.message);
	if (str_streq(old->status, new.status)) {
		new.at = old->at;
	}
	*old = new;
	return changed;
}

bool conditions_remove(struct conditions *c, const char *type)
{
	struct condition *old = find(c, type);

	if (old == NULL) {
		return false;
	}
	memmove(old, old + 1, (size_t)(&c->list.v[c->list.n] - (old + 1)) * sizeof(*old));
	c->list.n--;
	return true;
}

static bool set(struct conditions *c, const char *type, bool is_true, const char *reason,
		const char *message, int64_t now)
{
	struct condition to = { .type = type,
				.status = is_true ? "True" : "False",
				.reason = reason,
				.message = message,
				.at = now,
				.generation = c->generation };

	return conditions_set(c, &to);
}

/* Sets a condition that is True to False; its message stays readable. */
static void clear(struct conditions *c, const char *type, const char *reason, int64_t now)
{
	const struct condition *old = find(c, type);

	if (conditions_is_true(c, type)) {
		set(c, type, false, reason,
		    arena_printf(c->arena, "Previously: %s",
				 old->message == NULL ? "" : old->message),
		    now);
	}
}

static void add_event(struct conditions *c, struct conditions_events *events, bool warning,
		      uint32_t workload, const char *reason, const char *message)
{
	struct conditions_event e = { warning, workload, arena_dup(c->arena, reason),
				      cut(c->arena, message, CONDITIONS_EVENT_MAX) };

	vec_push(events, e);
}

static bool has_check(const struct conditions *c, const char *name)
{
	for (size_t i = 0; i < c->checks.n; i++) {
		if (str_streq(c->checks.v[i].name, name)) {
			return true;
		}
	}
	return false;
}

/* Every check that applies to the assigned flavors is in the status, and all that are there are
 * Ready. */
static bool has_all_checks(const struct conditions *c, const struct cluster_queue *queue,
			   const struct assignment *a)
{
	for (size_t i = 0; i < queue->checks.n; i++) {
		if (admission_apply_needs_check(&queue->checks.v[i], a) &&
		    !has_check(c, queue->checks.v[i].name)) {
			return false;
		}
	}
	for (size_t i = 0; i < c->checks.n; i++) {
		if (c->checks.v[i].state != QUOTA_CHECK_READY) {
			return false;
		}
	}
	return true;
}

static void set_admission(struct conditions *c, const struct quota_model *q,
			  const struct workload *w, const struct admission_decision *d)
{
	c->has_admission = true;
	c->queue = q->nodes.v[d->node]->name;
	vec_clear(&c->podsets);
	vec_clear(&c->requests);
	for (size_t i = 0; i < d->assignment->npodsets; i++) {
		const struct assigned_podset *a = &d->assignment->podsets[i];
		struct conditions_podset p = { .name = w->object.podsets[i].name,
					       .count = a->count };

		p.v = arena_zero(c->arena, a->nflavors + 1, sizeof(p.v[0]));
		for (size_t k = 0; k < a->nflavors; k++) {
			p.v[p.n++] = (struct conditions_usage){
				.resource = a->flavors[k].resource,
				.flavor = q->flavors.v[a->flavors[k].flavor]->name,
				.amount = admission_apply_amount(q, &w->object.podsets[i], a->count,
								 a->flavors[k].resource)
			};
		}
		vec_push(&c->podsets, p);
	}
}

static void admit(struct conditions *c, const struct quota_model *q,
		  const struct admission_decision *d, int64_t now, struct conditions_events *events)
{
	const struct workload *w = q->workloads.v[d->workload];
	const struct quota_node *n = q->nodes.v[d->node];
	int64_t since = w->object.created == MODEL_TIME_NONE || w->object.created > now
				? now
				: w->object.created;
	const char *message =
		arena_printf(c->arena, "Quota reserved in ClusterQueue %s after %lld s", n->name,
			     (long long)((now - since) / CLOCK_NS_PER_S));

	set_admission(c, q, w, d);
	set(c, KUEUE_QUOTA_RESERVED, true, KUEUE_QUOTA_RESERVED, message, now);
	add_event(c, events, false, w->id, KUEUE_QUOTA_RESERVED, message);
	clear(c, KUEUE_EVICTED, KUEUE_QUOTA_RESERVED, now);
	clear(c, KUEUE_PREEMPTED, KUEUE_QUOTA_RESERVED, now);
	clear(c, KUEUE_BLOCKED_ON_GATES, KUEUE_QUOTA_RESERVED, now);
	if (!has_all_checks(c, n->queue, d->assignment)) {
		set(c, KUEUE_ADMITTED, false, KUEUE_REASON_UNSATISFIED_CHECKS,
		    "Not all admission checks are ready", now);
		return;
	}
	message = arena_printf(c->arena, "Admitted by ClusterQueue %s", n->name);
	set(c, KUEUE_ADMITTED, true, KUEUE_ADMITTED, message, now);
	add_event(c, events, false, w->id, KUEUE_ADMITTED, message);
}

static void set_requests(struct conditions *c, const struct quota_model *q,
			 const struct workload *w)
{
	vec_clear(&c->requests);
	for (size_t i = 0; i < w->object.npodsets; i++) {
		const struct podset *p = &w->object.podsets[i];
		struct conditions_podset out = { .name = p->name, .count = p->count };

		out.v = arena_zero(c->arena, p->request.n + 1, sizeof(out.v[0]));
		for (size_t k = 0; k < p->request.n; k++) {
			uint32_t resource = p->request.v[k].id;

			out.v[out.n++] = (struct conditions_usage){
				.resource = resource,
				.amount = admission_apply_amount(q, p, p->count, resource)
			};
		}
		vec_push(&c->requests, out);
	}
}

static void hold_back(struct conditions *c, const struct quota_model *q,
		      const struct admission_decision *d, int64_t now,
		      struct conditions_events *events)
{
	const struct workload *w = q->workloads.v[d->workload];
	const char *reason = nofit_reason_name(d->reason);
	const char *message = d->message == NULL ? "" : d->message;

	if (d->reason == QUOTA_REASON_NONE) {
		return;
	}
	/* An event only when the text is new, not cycle after cycle. */
	if (set(c, KUEUE_QUOTA_RESERVED, false, reason, message, now)) {
		add_event(c, events, true, w->id, reason, message);
	}
	set(c, KUEUE_ADMITTED, false, KUEUE_REASON_NO_RESERVATION,
	    "The workload has no reservation", now);
	if (d->status == ENTRY_GATED) {
		set(c, KUEUE_BLOCKED_ON_GATES, true, nofit_reason_requeue(QUOTA_REQUEUE_GATED),
		    message, now);
	}
	set_requests(c, q, w);
}

static void count_eviction(struct conditions *c, const char *reason, const char *cause)
{
	struct conditions_eviction new = { arena_dup(c->arena, reason), arena_dup(c->arena, cause),
					   1 };

	for (size_t i = 0; i < c->evictions.n; i++) {
		struct conditions_eviction *e = &c->evictions.v[i];

		if (str_streq(e->reason, reason) && str_streq(e->cause, cause)) {
			e->count += e->count < INT32_MAX;
			return;
		}
	}
	vec_push(&c->evictions, new);
}

const char *conditions_check_name(enum quota_check_state state)
{
	static const char *const names[] = {
		[QUOTA_CHECK_PENDING] = KUEUE_CHECK_PENDING,
		[QUOTA_CHECK_READY] = KUEUE_CHECK_READY,
		[QUOTA_CHECK_RETRY] = KUEUE_CHECK_RETRY,
		[QUOTA_CHECK_REJECTED] = KUEUE_CHECK_REJECTED,
	};

	return names[state];
}

void conditions_evict(struct conditions *c, const char *reason, const char *cause,
		      const char *message, int64_t now)
{
	set(c, KUEUE_EVICTED, true, reason, message, now);
	count_eviction(c, reason, cause);
	for (size_t i = 0; i < c->checks.n; i++) {
		struct conditions_check *k = &c->checks.v[i];

		if (k->state == QUOTA_CHECK_PENDING) {
			continue;
		}
		k->retries += k->state == QUOTA_CHECK_RETRY && k->retries < INT32_MAX;
		k->message = arena_printf(c->arena,
					  "Reset to Pending after eviction. Previously: "
					  "%s",
					  conditions_check_name(k->state));
		k->state = QUOTA_CHECK_PENDING;
		k->drops_updates = k->has_updates;
		k->has_updates = false;
		k->at = now;
	}
	clear(c, KUEUE_BLOCKED_ON_GATES, reason, now);
	for (size_t i = 0; i < c->gates.n; i++) {
		c->gates.v[i].open = false;
		c->gates.v[i].at = now;
	}
	c->cluster = NULL;
	vec_clear(&c->nominated);
	vec_clear(&c->unhealthy);
}

int32_t conditions_release(struct conditions *c, const char *message, int64_t now)
{
	const struct condition *evicted = find(c, KUEUE_EVICTED),
			       *admitted = find(c, KUEUE_ADMITTED);
	const char *reason = evicted == NULL ? "Pending" : evicted->reason;
	bool again = str_streq(reason, KUEUE_PREEMPTED) || str_streq(reason, "NodeFailures");
	int64_t ran = 0;

	/* How long an admission without a transition time lasted is not known: 0. */
	if (conditions_is_true(c, KUEUE_ADMITTED) && admitted->at != MODEL_TIME_NONE &&
	    admitted->at < now) {
		ran = now / 1000000000 - admitted->at / 1000000000;
	}
	c->has_admission = false;
	c->queue = NULL;
	vec_clear(&c->podsets);
	set(c, KUEUE_REQUEUED, again, reason, message, now);
	set(c, KUEUE_QUOTA_RESERVED, false, nofit_reason_name(QUOTA_PENDING_EVALUATION), message,
	    now);
	set(c, KUEUE_ADMITTED, false, KUEUE_REASON_NO_RESERVATION,
	    "The workload has no reservation", now);
	return ran > INT32_MAX ? INT32_MAX : (int32_t)ran;
}

static void preempt(struct conditions *c, const struct quota_model *q,
		    const struct admission_decision *d, int64_t now,
		    struct conditions_events *events)
{
	const struct workload *victim = q->workloads.v[d->workload], *by = q->workloads.v[d->by];
	struct condition preempted = { .type = KUEUE_PREEMPTED,
				       .status = "True",
				       .reason = victim_reason_name(d->victim_reason),
				       .message = d->message,
				       .at = now };

	if (d->ongoing) {
		return;
	}
	/* Kueue writes this one without observedGeneration. */
	conditions_set(c, &preempted);
	conditions_evict(c, KUEUE_PREEMPTED, "", d->message, now);
	add_event(c, events, false, victim->id, KUEUE_PREEMPTED,
		  arena_printf(
			  c->arena,
			  "%s; effective priorities: %lld of the preemptor, %lld of this workload",
			  d->message, (long long)workload_priority(q, by),
			  (long long)workload_priority(q, victim)));
	add_event(c, events, false, by->id, "PreemptedWorkload",
		  arena_printf(c->arena, "Preempted workload %s: %s", victim->key,
			       victim_reason_name(d->victim_reason)));
	add_event(c, events, false, victim->id, "EvictedDueToPreempted", d->message);
}

void conditions_decide(struct conditions *c, const struct quota_model *q,
		       const struct admission_decision *d, int64_t now,
		       struct conditions_events *events)
{
	if (conditions_is_true(c, KUEUE_FINISHED)) {
		return;
	}
	switch (d->kind) {
	case QUOTA_DECIDE_ADMIT:
		admit(c, q, d, now, events);
		break;
	case QUOTA_DECIDE_PREEMPT:
		preempt(c, q, d, now, events);
		break;
	case QUOTA_DECIDE_PENDING:
		hold_back(c, q, d, now, events);
		break;
	}
}
