#include "scheduler/workloads/owners/kueue_pod_group.h"

#include <stdlib.h>

#include "api/core/pod.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "scheduler/workloads/owners/owner_plan.h"

bool kueue_pod_group_is_managed(const struct api_pod *p)
{
	return field_map_is(&p->meta.labels, KUEUE_MANAGED, "true") &&
	       kueue_pod_group_role(p) != NULL;
}

const char *kueue_pod_group_name(const struct api_pod *p)
{
	const char *name = field_map_get(&p->meta.labels, KUEUE_POD_GROUP_NAME);

	return name == NULL || name[0] == '\0' ? NULL : name;
}

int32_t kueue_pod_group_total(const struct api_pod *p)
{
	return owner_spec_positive(field_map_get(&p->meta.annotations, KUEUE_POD_GROUP_COUNT));
}

const char *kueue_pod_group_role(const struct api_pod *p)
{
	const char *role = field_map_get(&p->meta.annotations, KUEUE_ROLE_HASH);

	return role == NULL || role[0] == '\0' ? NULL : role;
}

bool kueue_pod_group_is_fast(const struct api_pod *p)
{
	return field_map_is(&p->meta.annotations, KUEUE_POD_GROUP_FAST_ADMISSION, "true");
}

bool kueue_pod_group_is_serving(const struct api_pod *p)
{
	return kueue_pod_group_name(p) != NULL &&
	       field_map_is(&p->meta.annotations, KUEUE_POD_GROUP_SERVING, "true");
}

bool kueue_pod_group_counts(const struct api_pod *p)
{
	if (p->meta.deleted != FIELD_NO_TIME && p->spec.node_name == NULL) {
		return false; /* it will never run */
	}
	return !str_streq(p->status.phase, "Failed");
}

/* One that has ended needs no gate to be kept from running. */
bool kueue_pod_group_is_held(const struct api_pod *p)
{
	return pod_is_finished(p) || pod_has_gate(p, KUEUE_GATE_ADMISSION);
}

/* A pod that succeeded is not missing: otherwise a group would stop being ready as its pods end. */
bool kueue_pod_group_is_ready(const struct api_pod *p)
{
	return str_streq(p->status.phase, "Succeeded") ||
	       meta_condition_is_true(&p->status.conditions, "Ready");
}

bool kueue_pod_group_is_unretriable(const struct api_pod *p)
{
	return field_map_is(&p->meta.annotations, KUEUE_RETRIABLE_IN_GROUP, "false");
}

/* --- which pods stay ---------------------------------------------------------------------------
 */

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_age(const struct api_pod *a, const struct api_pod *b)
{
	int c = compare(a->meta.created, b->meta.created);

	return c != 0 ? c : str_cmp(str_of(a->meta.name), str_of(b->meta.name));
}

static bool is_finalized(const struct api_pod *p)
{
	return !owner_plan_has_finalizer(&p->meta, KUEUE_POD_FINALIZER);
}

/* The pods to keep come first: those with the finalizer, those without the gate, the older ones. A
 * pod without the finalizer is not ours to keep, and one without the gate may be running. */
static int by_worth(const void *a, const void *b)
{
	const struct api_pod *x = *(const struct api_pod *const *)a;
	const struct api_pod *y = *(const struct api_pod *const *)b;
	int c = compare(is_finalized(x), is_finalized(y));

	if (c == 0) {
		c = compare(pod_has_gate(x, KUEUE_GATE_ADMISSION),
			    pod_has_gate(y, KUEUE_GATE_ADMISSION));
	}
	return c != 0 ? c : by_age(x, y);
}

struct over { /* a pod that does not count any more */
	const struct api_pod *pod;
	int64_t until; /* when it was last active */
};

/* By the condition ContainersReady, or by the deletion, whichever was first; a pod without either
 * was active until this moment. */
static int64_t active_until(const struct api_pod *p, int64_t now)
{
	const struct api_condition *c = meta_condition(&p->status.conditions, "ContainersReady");
	int64_t at = now;

	if (c != NULL && str_streq(c->status, "False") && str_streq(c->reason, "PodFailed") &&
	    c->last_transition != FIELD_NO_TIME) {
		at = c->last_transition;
	}
	return p->meta.deleted != FIELD_NO_TIME && p->meta.deleted < at ? p->meta.deleted : at;
}

/* The pods to release come last: those without finalizer, those that were active longer ago. */
static int by_end(const void *a, const void *b)
{
	const struct over *x = a, *y = b;
	int c = compare(is_finalized(x->pod), is_finalized(y->pod));

	if (c == 0) {
		c = compare(y->until, x->until);
	}
	return c != 0 ? c : by_age(x->pod, y->pod);
}

static void sort_worth(struct pod_group_list *l)
{
	if (l->n > 1) {
		qsort(l->v, l->n, sizeof(l->v[0]), by_worth);
	}
}

static void keep_counting(struct pod_group_list *counting, size_t most,
			  struct kueue_pod_group_split *ret)
{
	sort_worth(counting);
	for (size_t i = 0; i < counting->n; i++) {
		if (i < most) {
			vec_push(&ret->kept, counting->v[i]);
		} else {
			vec_push(&ret->excess, counting->v[i]);
		}
	}
}

struct overs VEC(struct over);

/* A pod that has ended keeps its place, and its finalizer, until another one takes it: it shows
 * that a replacement is due. */
static void keep_over(struct overs *over, size_t most, struct kueue_pod_group_split *ret)
{
	if (over->n > 1) {
		qsort(over->v, over->n, sizeof(over->v[0]), by_end);
	}
	for (size_t i = 0; i < over->n; i++) {
		if (i < most) {
			vec_push(&ret->kept, over->v[i].pod);
		} else {
			vec_push(&ret->replaced, over->v[i].pod);
		}
	}
}

/* 1. Pods of the role are either able to run or over.
 * 2. Of those that are able to run, the pod set keeps as many as it has places; the others are
 *    excess.
 * 3. Places that are left belong to pods that are over; those without a place have been
 *    replaced. */
static void split_role(const struct api_pod *const *pods, size_t n, const struct api_pod_set *set,
		       int64_t now, struct kueue_pod_group_split *ret)
{
	struct pod_group_list counting = VEC_INIT;
	struct overs over = VEC_INIT;
	size_t count = set->count == FIELD_NO_I32 ? 1 : set->count < 0 ? 0 : (size_t)set->count;
	bool fast = n > 0 && kueue_pod_group_is_fast(pods[0]);

	for (size_t i = 0; i < n; i++) {
		if (!str_streq(kueue_pod_group_role(pods[i]), set->name)) {
			continue;
		}
		if (kueue_pod_group_counts(pods[i])) {
			vec_push(&counting, pods[i]);
		} else {
			struct over o = { pods[i], active_until(pods[i], now) };

			vec_push(&over, o);
		}
	}
	/* A group that is admitted at once waits for one pod only (Kueue: fast admission). */
	if (fast) {
		ret->absent += count > 0 && counting.n == 0;
	} else if (counting.n < count) {
		ret->absent += (int32_t)(count - counting.n);
	}
	keep_counting(&counting, count, ret);
	keep_over(&over, counting.n < count ? count - counting.n : 0, ret);
	vec_finish(&counting);
	vec_finish(&over);
}

void kueue_pod_group_split(const struct api_pod *const *pods, size_t n,
			   const struct api_workload *w, int64_t now,
			   struct kueue_pod_group_split *ret)
{
	for (size_t i = 0; i < w->spec.pod_sets.n; i++) {
		split_role(pods, n, &w->spec.pod_sets.v[i], now, ret);
	}
}

void kueue_pod_group_split_new(const struct api_pod *const *pods, size_t n, int32_t total,
			       struct kueue_pod_group_split *ret)
{
	struct pod_group_list counting = VEC_INIT;

	for (size_t i = 0; i < n; i++) {
		if (kueue_pod_group_counts(pods[i])) {
			vec_push(&counting, pods[i]);
		} else {
			vec_push(&ret->replaced, pods[i]);
		}
	}
	/* Without a Workload, a pod that has ended has no place to keep. */
	keep_counting(&counting, (size_t)total, ret);
	ret->absent = counting.n < (size_t)total ? total - (int32_t)counting.n : 0;
	vec_finish(&counting);
}

void kueue_pod_group_split_finish(struct kueue_pod_group_split *s)
{
	vec_finish(&s->kept);
	vec_finish(&s->excess);
	vec_finish(&s->replaced);
}
