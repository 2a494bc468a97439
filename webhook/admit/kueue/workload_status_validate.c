#include "webhook/admit/kueue/workload_status_validate.h"

#include <string.h>

static const struct api_pod_set *find_pod_set(const struct api_workload *w, const char *name)
{
	for (size_t i = 0; i < w->spec.pod_sets.n; i++) {
		if (str_streq(w->spec.pod_sets.v[i].name, name)) {
			return &w->spec.pod_sets.v[i];
		}
	}
	return NULL;
}

static const char *text(const char *name)
{
	return name != NULL ? name : "";
}

static int32_t count_of(const struct api_pod_set *set)
{
	return set->count == FIELD_NO_I32 ? 1 : set->count;
}

/* The usage of one pod is the usage of the pod set divided by the count, without remainder. */
static void check_usage(const struct admit_check *c, const char *path,
			const struct api_pod_set_assignment *a, int32_t count)
{
	char is[QUANTITY_TEXT_MAX];

	for (size_t i = 0; count > 0 && i < a->usage.n; i++) {
		const struct field_resource *r = &a->usage.v[i];
		/* In the units in which Kueue counts: cpu by the thousandth, all else in whole
		 * units. */
		int64_t n = strcmp(r->name, "cpu") == 0 ? quantity_milli(r->amount)
							: quantity_value(r->amount);

		if (n % count != 0) {
			quantity_format(r->amount, is);
			admit_check_deny(c,
					 admit_check_path(c, "%s.resourceUsage[%s]", path, r->name),
					 "%s is not a multiple of %d", is, count);
		}
	}
}

/* The amounts of an admission are charged to the ClusterQueue, so they must fit the pod sets of
 * the Workload. */
static void check_admission(const struct admit_check *c, const struct api_workload *w)
{
	const struct api_workload_admission *a = w->status.admission;

	admit_check_subdomain(c, "status.admission.clusterQueue",
			      a->cluster_queue != NULL ? a->cluster_queue : "");
	if (a->assignments.n != w->spec.pod_sets.n) {
		admit_check_deny(c, "status.admission.podSetAssignments",
				 "%zu items, but there are %zu pod sets", a->assignments.n,
				 w->spec.pod_sets.n);
		return;
	}
	for (size_t i = 0; i < a->assignments.n; i++) {
		const struct api_pod_set_assignment *p = &a->assignments.v[i];
		const struct api_pod_set *set = find_pod_set(w, p->name);
		const char *path =
			admit_check_path(c, "status.admission.podSetAssignments[%zu]", i);

		if (set == NULL) {
			admit_check_deny(c, admit_check_path(c, "%s.name", path),
					 "there is no pod set \"%s\"", text(p->name));
			return;
		}
		check_usage(c, path, p, p->count == FIELD_NO_I32 ? count_of(set) : p->count);
	}
}

static void check_reclaimable(const struct admit_check *c, const struct api_workload *w)
{
	for (size_t i = 0; i < w->status.reclaimable_pods.n; i++) {
		const struct api_reclaimable_pod *r = &w->status.reclaimable_pods.v[i];
		const struct api_pod_set *set = find_pod_set(w, r->name);
		const char *path = admit_check_path(c, "status.reclaimablePods[%zu]", i);

		if (set == NULL) {
			admit_check_deny(c, admit_check_path(c, "%s.name", path),
					 "there is no pod set \"%s\"", text(r->name));
		} else if (r->count < 0 || r->count > count_of(set)) {
			admit_check_deny(c, admit_check_path(c, "%s.count", path),
					 "%d is not between 0 and %d", r->count, count_of(set));
		}
	}
}

/* They are put into the templates of pods when the Workload starts: a value that pods may not
 * have would keep it from starting. */
static void check_updates(const struct admit_check *c, const struct api_workload *w, size_t i)
{
	const struct api_check_state *check = &w->status.admission_checks.v[i];

	for (size_t k = 0; k < check->updates.n; k++) {
		const struct api_pod_set_update *u = &check->updates.v[k];
		const char *path =
			admit_check_path(c, "status.admissionChecks[%zu].podSetUpdates[%zu]", i, k);

		if (find_pod_set(w, u->name) == NULL) {
			admit_check_deny(c, admit_check_path(c, "%s.name", path),
					 "there is no pod set \"%s\"", text(u->name));
		}
		admit_check_labels(c, admit_check_path(c, "%s.labels", path), &u->labels);
		admit_check_labels(c, admit_check_path(c, "%s.nodeSelector", path),
				   &u->node_selector);
		admit_check_tolerations(c, admit_check_path(c, "%s.tolerations", path),
					u->tolerations.v, u->tolerations.n);
	}
}

void workload_status_validate(const struct admit_check *c, const struct api_workload *w)
{
	if (w->status.admission != NULL && kueue_workload_is_reserving(w)) {
		check_admission(c, w);
	}
	check_reclaimable(c, w);
	for (size_t i = 0; i < w->status.admission_checks.n; i++) {
		check_updates(c, w, i);
	}
	/* Kueue's rule: the cluster that was chosen takes the place of those that were
	 * nominated. */
	if (w->status.cluster_name != NULL && w->status.nominated_clusters.n > 0) {
		admit_check_deny(c, "status.clusterName",
				 "clusterName and nominatedClusterNames cannot both be set");
	}
}
