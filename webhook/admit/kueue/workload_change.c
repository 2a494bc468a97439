#include "webhook/admit/kueue/workload_change.h"

#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "enc/decode.h"
#include "enc/json/jdoc.h"

/* Parts that must not change at all are compared as JSON text. */
struct raw_check {
	const char *name;
	struct str updates;
};
struct raw_spec {
	struct str pod_sets;
};
struct raw_status {
	struct FIELD_LIST(struct raw_check) checks;
};
struct raw_workload {
	struct raw_spec spec;
	struct raw_status status;
};

static const struct field raw_check_rows[] = {
	F_STR(struct raw_check, name, "name"),
	F_RAW_SLICE(struct raw_check, updates, "podSetUpdates"),
};
static const struct field_table raw_check_fields = FIELD_TABLE(struct raw_check, raw_check_rows);

static const struct field raw_spec_rows[] = {
	F_RAW_SLICE(struct raw_spec, pod_sets, "podSets"),
};
static const struct field_table raw_spec_fields = FIELD_TABLE(struct raw_spec, raw_spec_rows);

static const struct field raw_status_rows[] = {
	F_LIST(struct raw_status, checks, "admissionChecks", raw_check_fields),
};
static const struct field_table raw_status_fields = FIELD_TABLE(struct raw_status, raw_status_rows);

static const struct field raw_rows[] = {
	F_OBJ(struct raw_workload, spec, "spec", raw_spec_fields),
	F_OBJ(struct raw_workload, status, "status", raw_status_fields),
};
static const struct field_table raw_fields = FIELD_TABLE(struct raw_workload, raw_rows);

static int read_raw(const struct admit_request *q, struct raw_workload *old, struct raw_workload *w,
		    struct err *err)
{
	int r = decode_text(&raw_fields, q->review->old_object, old, q->arena, err);

	return r < 0 ? r : decode_text(&raw_fields, q->review->object, w, q->arena, err);
}

/* Equal texts are the usual case; others may still be the same object, with members in another
 * order. */
static bool same_text(struct str a, struct str b)
{
	CLEANUP(jdoc_destroyp) struct jdoc *da = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *db = NULL;

	if (str_eq(a, b)) {
		return true;
	}
	return a.len > 0 && b.len > 0 && jdoc_parse(a, &da, NULL) == 0 &&
	       jdoc_parse(b, &db, NULL) == 0 && jdoc_equal(da, db);
}

static void check_class(const struct admit_check *c, const struct api_priority_ref *old,
			const struct api_priority_ref *ref)
{
	static const char path[] = "spec.priorityClassRef";
	static const char why[] = "field is immutable while quota is reserved";

	if (old == NULL && ref == NULL) {
		return;
	}
	if (old == NULL || ref == NULL) {
		admit_check_deny(c, path, "%s", why);
	} else if (!str_streq(old->group, ref->group)) {
		admit_check_deny(c, admit_check_path(c, "%s.group", path), "%s", why);
	} else if (!str_streq(old->kind, ref->kind)) {
		admit_check_deny(c, admit_check_path(c, "%s.kind", path), "%s", why);
	} else if (str_streq(ref->kind, "PriorityClass") && !str_streq(old->name, ref->name)) {
		/* Running pods have the priority of a PriorityClass; that of a
		 * WorkloadPriorityClass is only used by us. */
		admit_check_deny(c, admit_check_path(c, "%s.name", path), "%s", why);
	}
}

int workload_change_check_spec(const struct admit_check *c, const struct api_workload *old,
			       const struct api_workload *w, struct err *err)
{
	struct raw_workload raw_old = { 0 }, raw = { 0 };
	int r;

	if (!kueue_workload_is_reserving(old)) {
		return 0;
	}
	/* The decoded pod sets lack all that scheduling does not need; a change of it would go
	 * unnoticed. */
	r = read_raw(c->q, &raw_old, &raw, err);
	if (r < 0) {
		return r;
	}
	if (!same_text(raw_old.spec.pod_sets, raw.spec.pod_sets)) {
		admit_check_deny(c, "spec.podSets", "field is immutable while quota is reserved");
	}
	/* One write may give the quota back and change the queue: then only pod sets stay as they
	 * were. */
	if (kueue_workload_is_reserving(w)) {
		if (!str_streq(old->spec.queue_name, w->spec.queue_name) &&
		    (old->spec.queue_name != NULL || w->spec.queue_name != NULL)) {
			admit_check_deny(c, "spec.queueName",
					 "field is immutable while quota is reserved");
		}
		check_class(c, old->spec.priority_class_ref, w->spec.priority_class_ref);
	}
	if (kueue_workload_is_true(old, KUEUE_ADMITTED) &&
	    old->spec.max_execution_time != w->spec.max_execution_time) {
		admit_check_deny(c, "spec.maximumExecutionTimeSeconds",
				 "field is immutable while admitted");
	}
	return 0;
}

static bool same_map(const struct field_map *a, const struct field_map *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++) {
		same = field_map_is(b, a->v[i].key, a->v[i].value);
	}
	return same;
}

static bool same_usage(const struct field_resources *a, const struct field_resources *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++) {
		const struct quantity *other = field_resources_get(b, a->v[i].name);

		same = other != NULL && quantity_cmp(a->v[i].amount, *other) == 0;
	}
	return same;
}

/* The topology assignment is not compared: it may be set later. */
static bool same_admission(const struct api_workload *old, const struct api_workload *w)
{
	const struct api_workload_admission *a = old->status.admission, *b = w->status.admission;
	bool same = str_streq(a->cluster_queue, b->cluster_queue) &&
		    a->assignments.n == b->assignments.n;

	for (size_t i = 0; same && i < a->assignments.n; i++) {
		const struct api_pod_set_assignment *x = &a->assignments.v[i];
		const struct api_pod_set_assignment *y = kueue_workload_assignment(w, x->name);

		same = y != NULL && x->count == y->count && same_map(&x->flavors, &y->flavors) &&
		       same_usage(&x->usage, &y->usage);
	}
	return same;
}

static void check_cluster(const struct admit_check *c, const struct api_workload_status *old,
			  const struct api_workload_status *s)
{
	static const char path[] = "status.clusterName";

	if (old->cluster_name != NULL) {
		/* An eviction removes it. */
		if (s->cluster_name != NULL && !str_streq(old->cluster_name, s->cluster_name)) {
			admit_check_deny(c, path, "field is immutable once set");
		}
		return;
	}
	for (size_t i = 0; s->cluster_name != NULL && i < old->nominated_clusters.n; i++) {
		if (str_streq(old->nominated_clusters.v[i], s->cluster_name)) {
			return;
		}
	}
	if (s->cluster_name != NULL) {
		admit_check_deny(c, path, "\"%s\" is not among the nominatedClusterNames",
				 s->cluster_name);
	}
}

/* Pods that have ended do not run again: their quota is given away already. */
static void check_reclaimable(const struct admit_check *c, const struct api_workload *old,
			      const struct api_workload *w)
{
	for (size_t i = 0; i < old->status.reclaimable_pods.n; i++) {
		const struct api_reclaimable_pod *was = &old->status.reclaimable_pods.v[i];
		int32_t n = kueue_workload_reclaimable(w, was->name);

		if (n < was->count) {
			admit_check_deny(
				c,
				admit_check_path(c, "status.reclaimablePods[%s].count", was->name),
				"%d is less than before (%d)", n, was->count);
		}
	}
}

static void check_updates(const struct admit_check *c, const struct api_workload *old,
			  const struct api_workload *w, const struct raw_status *raw_old,
			  const struct raw_status *raw)
{
	for (size_t i = 0; i < raw->checks.n; i++) {
		const struct raw_check *now = &raw->checks.v[i];
		const struct api_check_state *a = kueue_workload_check(old, now->name);
		const struct api_check_state *b = kueue_workload_check(w, now->name);

		/* Kueue's rule: once Ready, the updates may be in pods that run. A check that
		 * goes back to Pending or Retry may bring new ones. */
		if (a == NULL || b == NULL || !str_streq(a->state, KUEUE_CHECK_READY) ||
		    !str_streq(b->state, KUEUE_CHECK_READY)) {
			continue;
		}
		for (size_t k = 0; k < raw_old->checks.n; k++) {
			const struct raw_check *was = &raw_old->checks.v[k];

			if (str_streq(was->name, now->name) &&
			    !same_text(was->updates, now->updates)) {
				admit_check_deny(c,
						 admit_check_path(c,
								  "status.admissionChecks[%zu]."
								  "podSetUpdates",
								  i),
						 "field is immutable while the check is Ready");
			}
		}
	}
}

int workload_change_check_status(const struct admit_check *c, const struct api_workload *old,
				 const struct api_workload *w, struct err *err)
{
	struct raw_workload raw_old = { 0 }, raw = { 0 };
	int r = read_raw(c->q, &raw_old, &raw, err);

	if (r < 0) {
		return r;
	}
	/* Giving an admission and taking it away are allowed; only another one in its place is
	 * not. */
	if (old->status.admission != NULL && w->status.admission != NULL &&
	    !same_admission(old, w)) {
		admit_check_deny(c, "status.admission", "field is immutable once set");
	}
	check_cluster(c, &old->status, &w->status);
	/* Without quota on either side the pods begin anew, and so does the count. */
	if (kueue_workload_is_reserving(old) && kueue_workload_is_reserving(w)) {
		check_reclaimable(c, old, w);
	}
	check_updates(c, old, w, &raw_old.status, &raw.status);
	return 0;
}
