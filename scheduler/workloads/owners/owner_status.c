#include "scheduler/workloads/owners/owner_status.h"

#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"

#define WAIT_FOR_START "WaitForStart"
#define WAIT_FOR_RECOVERY "WaitForRecovery"
#define STARTED "Started"
#define RECOVERED "Recovered"
#define CONDITIONS_MAX 3

static struct api_condition pods_ready(const struct owner_status *s, const struct api_workload *w)
{
	const struct api_condition *old = meta_condition(&w->status.conditions, KUEUE_PODS_READY);
	bool recovers = old != NULL && (str_streq(old->reason, WAIT_FOR_RECOVERY) ||
					str_streq(old->reason, RECOVERED));
	bool was_ready = old != NULL && str_streq(old->status, "True");
	struct api_condition c = { .type = KUEUE_PODS_READY,
				   .status = "False",
				   .reason = WAIT_FOR_START,
				   .message = "Not all pods are ready or succeeded" };

	if (!kueue_condition_is_true(&w->status.conditions, KUEUE_ADMITTED)) {
		return c;
	}
	if (s->ready) {
		c.status = "True";
		c.reason = recovers ? RECOVERED : STARTED;
		c.message = "All pods reached readiness and the workload is running";
	} else if (was_ready || recovers) {
		c.reason = WAIT_FOR_RECOVERY;
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

/* Says w this already? If so, its time stays. */
static bool settle(struct api_condition *c, const struct api_workload *w, int64_t now)
{
	const struct api_condition *old = meta_condition(&w->status.conditions, c->type);

	c->last_transition = now;
	c->observed_generation = w->meta.generation;
	if (old == NULL || !str_streq(old->status, c->status)) {
		return false;
	}
	if (old->last_transition != FIELD_NO_TIME) {
		c->last_transition = old->last_transition;
	}
	return str_streq(old->reason, c->reason) &&
	       str_streq(old->message == NULL ? "" : old->message,
			 c->message == NULL ? "" : c->message);
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

/* Without one of ours the list is left out: an empty one would claim those of others. */
static void write_conditions(struct json_out *o, const struct api_condition *v, size_t n)
{
	if (n == 0) {
		return;
	}
	json_out_key(o, "conditions");
	json_out_array(o);
	for (size_t i = 0; i < n; i++) {
		char at[CLOCK_RFC3339_MAX];

		clock_format_time(v[i].last_transition, at);
		json_out_object(o);
		json_out_kv(o, "type", v[i].type);
		json_out_kv(o, "status", v[i].status);
		json_out_kv(o, "reason", v[i].reason);
		json_out_kv(o, "message", v[i].message == NULL ? "" : v[i].message);
		json_out_kv(o, "lastTransitionTime", at);
		json_out_kv_int(o, "observedGeneration", v[i].observed_generation);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static void write_pods(struct json_out *o, const struct owner_status *s,
		       const struct api_workload *w)
{
	bool open = false;

	for (size_t i = 0; i < s->npods; i++) {
		int32_t n = reclaimable(&s->pods[i], w);

		if (n <= 0) {
			continue;
		}
		if (!open) {
			json_out_key(o, "reclaimablePods");
			json_out_array(o);
			open = true;
		}
		json_out_object(o);
		json_out_kv(o, "name", s->pods[i].podset);
		json_out_kv_int(o, "count", n);
		json_out_object_end(o);
	}
	if (open) {
		json_out_array_end(o);
	}
}

static void write_apply(const struct owner_status *s, const struct api_workload *w,
			const struct api_condition *v, size_t n, struct strbuf *body)
{
	struct json_out o;

	json_out_init(&o, body);
	json_out_object(&o);
	json_out_kv(&o, "apiVersion", KUEUE_API_VERSION);
	json_out_kv(&o, "kind", "Workload");
	json_out_key(&o, "metadata");
	json_out_object(&o);
	json_out_kv(&o, "namespace", w->meta.namespace_);
	json_out_kv(&o, "name", w->meta.name);
	json_out_kv(&o, "uid", w->meta.uid);
	/* Said twice, a condition would tell of a transition that was none. */
	json_out_kv(&o, "resourceVersion", w->meta.resource_version);
	json_out_object_end(&o);
	json_out_key(&o, "status");
	json_out_object(&o);
	write_conditions(&o, v, n);
	write_pods(&o, s, w);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
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

	/* The readiness of what never got quota is no news, nor that of what has ended. */
	if (s->pods_ready && (kueue_workload_is_reserving(w) || old != NULL)) {
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
