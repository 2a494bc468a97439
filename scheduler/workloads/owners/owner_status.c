#include "scheduler/workloads/owners/owner_status.h"

#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "enc/decode.h"
#include "enc/encode.h"

#define STARTED "Started"
#define RECOVERED "Recovered"
#define CONDITIONS_MAX 3

static struct api_condition pods_ready(const struct owner_status *s, const struct api_workload *w)
{
	const struct api_condition *old = meta_condition(&w->status.conditions, KUEUE_PODS_READY);
	bool recovers = old != NULL && (str_streq(old->reason, KUEUE_REASON_WAIT_FOR_RECOVERY) ||
					str_streq(old->reason, RECOVERED));
	bool was_ready = old != NULL && str_streq(old->status, "True");
	struct api_condition c = { .type = KUEUE_PODS_READY,
				   .status = "False",
				   .reason = KUEUE_REASON_WAIT_FOR_START,
				   .message = KUEUE_MESSAGE_WAIT_FOR_START };

	/* Readiness counts from the admission on: pods of the last one say nothing about the
	 * next. */
	if (!kueue_workload_is_true(w, KUEUE_ADMITTED)) {
		return c;
	}
	if (s->ready) {
		c.status = "True";
		c.reason = recovers ? RECOVERED : STARTED;
		c.message = "All pods reached readiness and the workload is running";
	} else if (was_ready || recovers) {
		/* After the first readiness another time limit counts (recoveryTimeout): the reason
		 * says which. */
		c.reason = KUEUE_REASON_WAIT_FOR_RECOVERY;
		c.message = "At least one pod has failed, waiting for recovery";
	}
	return c;
}

/* While it is evicted the reason is that of the eviction, else that pods failed. */
static struct api_condition replacement(const struct owner_status *s, const struct api_workload *w)
{
	const struct api_condition *old =
		meta_condition(&w->status.conditions, KUEUE_WAITING_FOR_REPLACEMENT);
	const struct api_condition *evicted = meta_condition(&w->status.conditions, KUEUE_EVICTED);
	struct api_condition c = { .type = KUEUE_WAITING_FOR_REPLACEMENT,
				   .status = "False",
				   .reason = KUEUE_PODS_READY,
				   .message = "No pods need replacement" };

	if (!s->misses_pods) {
		return c;
	}
	c.status = "True";
	if (evicted != NULL && str_streq(evicted->status, "True")) {
		c.reason = evicted->reason;
		c.message = evicted->message;
	} else if (old != NULL && str_streq(old->status, "True")) {
		c.reason = old->reason;
		c.message = old->message;
	} else {
		c.reason = "PodsFailed";
		c.message = "Some Failed pods need replacement";
	}
	return c;
}

/* Completes a condition; true: w has it already, and its time stays. */
static bool settle(struct api_condition *c, const struct api_workload *w, int64_t now)
{
	const struct api_condition *old = meta_condition(&w->status.conditions, c->type);

	c->last_transition = now;
	c->observed_generation = w->meta.generation;
	c->message = c->message == NULL ? "" : c->message;
	c->transition_id = NULL;
	if (old == NULL || !str_streq(old->status, c->status)) {
		return false;
	}
	if (old->last_transition != FIELD_NO_TIME) {
		c->last_transition = old->last_transition;
	}
	return str_streq(old->reason, c->reason) &&
	       str_streq(old->message == NULL ? "" : old->message, c->message);
}

/* FIELD_NO_I32: it has no pod set of this name. */
static int32_t count_of(const struct api_workload *w, const char *podset)
{
	for (size_t i = 0; i < w->spec.pod_sets.n; i++) {
		const struct api_pod_set *set = &w->spec.pod_sets.v[i];

		if (str_streq(set->name, podset)) {
			return set->count == FIELD_NO_I32 ? 1 : set->count;
		}
	}
	return FIELD_NO_I32;
}

/* Kueue: never fewer while the quota is held. Nor more than the pod set has, which the API server
 * would refuse: an owner that was changed after it was let go may have had more. */
static int32_t reclaimable(const struct owner_status_pods *p, const struct api_workload *w)
{
	int32_t old = kueue_workload_reclaimable(w, p->podset);
	int32_t count = count_of(w, p->podset);
	int32_t n = count != FIELD_NO_I32 && p->reclaimable > count ? count : p->reclaimable;

	return kueue_workload_is_reserving(w) && old > n ? old : n;
}

static void add_pods(const struct owner_status *s, const struct api_workload *w,
		     struct arena *arena, struct api_workload_status *ret)
{
	FIELD_LIST_MAKE(&ret->reclaimable_pods, s->npods, arena);
	ret->reclaimable_pods.n = 0;
	for (size_t i = 0; i < s->npods; i++) {
		int32_t n = reclaimable(&s->pods[i], w);

		if (n > 0) {
			ret->reclaimable_pods.v[ret->reclaimable_pods.n++] =
				(struct api_reclaimable_pod){ s->pods[i].podset, n };
		}
	}
	/* An empty list would be owned by this manager. */
	if (ret->reclaimable_pods.n == 0) {
		ret->reclaimable_pods.v = NULL;
	}
}

static void write_apply(const struct owner_status *s, const struct api_workload *w,
			struct api_condition *v, size_t n, struct strbuf *body)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct api_workload o;

	decode_init(&kueue_workload_fields, &o);
	o.api_version = KUEUE_API_VERSION;
	o.kind = "Workload";
	o.meta.namespace_ = w->meta.namespace_;
	o.meta.name = w->meta.name;
	o.meta.uid = w->meta.uid;
	/* Without it, a condition sent twice would show a transition that did not happen. */
	o.meta.resource_version = w->meta.resource_version;
	/* Without conditions of this manager the list is absent: an empty one would be owned. */
	o.status.conditions.v = n > 0 ? v : NULL;
	o.status.conditions.n = n;
	add_pods(s, w, arena, &o.status);
	encode_text(&kueue_workload_fields, &o, body);
}

static bool has_equal_pods(const struct owner_status *s, const struct api_workload *w)
{
	for (size_t i = 0; i < s->npods; i++) {
		if (reclaimable(&s->pods[i], w) !=
		    kueue_workload_reclaimable(w, s->pods[i].podset)) {
			return false;
		}
	}
	return true;
}

bool owner_status_apply(const struct owner_status *s, const struct api_workload *w,
			struct strbuf *body)
{
	const struct api_conditions *have = &w->status.conditions;
	const struct api_condition *old = meta_condition(have, KUEUE_PODS_READY);
	bool ends = s->finished_reason != NULL, same = has_equal_pods(s, w);
	struct api_condition v[CONDITIONS_MAX];
	size_t n = 0;

	/* The readiness of what was never admitted is no news, nor that of what has ended. While
	 * checks are waited for, their controllers write this status. */
	if (s->pods_ready && (meta_condition_is_true(have, KUEUE_ADMITTED) || old != NULL)) {
		/* With the end, readiness stays as it was: pods that have gone are no failure. */
		v[n] = ends && old != NULL ? *old : pods_ready(s, w);
		same &= settle(&v[n++], w, s->now);
	}
	if (s->replaces &&
	    (s->misses_pods || meta_condition(have, KUEUE_WAITING_FOR_REPLACEMENT) != NULL)) {
		v[n] = replacement(s, w);
		same &= settle(&v[n++], w, s->now);
	}
	if (ends) {
		v[n] = (struct api_condition){ .type = KUEUE_FINISHED,
					       .status = "True",
					       .reason = s->finished_reason,
					       .message = s->finished_message };
		same &= settle(&v[n++], w, s->now);
	}
	if (!same) {
		write_apply(s, w, v, n, body);
	}
	return !same;
}
