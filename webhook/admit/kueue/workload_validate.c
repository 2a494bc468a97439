#include "webhook/admit/kueue/workload_validate.h"

#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "enc/decode.h"
#include "webhook/admit/kueue/workload_change.h"
#include "webhook/admit/kueue/workload_status_validate.h"

/* Limits of Kueue's CRD. */
#define MAX_POD_SETS 18
#define MAX_GATES 8
#define MAX_STATUS_ITEMS 256 /* more than any of its lists of a status may have */

static void check_amounts(const struct admit_check *c, const char *path,
			  const struct field_resources *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const char *at = admit_check_path(c, "%s[%s]", path, r->v[i].name);

		if (strcmp(r->v[i].name, "pods") == 0) {
			admit_check_deny(c, at,
					 "cannot be requested, the scheduler counts pods itself");
		}
		admit_check_not_negative(c, at, &r->v[i].amount);
	}
}

static void check_resources(const struct admit_check *c, const char *path,
			    const struct api_resources *r)
{
	check_amounts(c, admit_check_path(c, "%s.requests", path), &r->requests);
	check_amounts(c, admit_check_path(c, "%s.limits", path), &r->limits);
}

static void check_containers(const struct admit_check *c, const char *path,
			     const struct api_containers *list)
{
	for (size_t i = 0; i < list->n; i++) {
		check_resources(c, admit_check_path(c, "%s[%zu].resources", path, i),
				&list->v[i].resources);
	}
}

/* All places with amounts that are summed up into the request of a pod. */
static void check_template(const struct admit_check *c, const char *path,
			   const struct api_pod_spec *pod)
{
	check_containers(c, admit_check_path(c, "%s.initContainers", path), &pod->init_containers);
	check_containers(c, admit_check_path(c, "%s.containers", path), &pod->containers);
	check_amounts(c, admit_check_path(c, "%s.overhead", path), &pod->overhead);
	if (pod->resources != NULL) {
		check_resources(c, admit_check_path(c, "%s.resources", path), pod->resources);
	}
}

static void check_pod_set(const struct admit_check *c, const struct api_workload *w, size_t i,
			  bool create)
{
	const struct api_pod_set *s = &w->spec.pod_sets.v[i];
	const char *path = admit_check_path(c, "spec.podSets[%zu]", i);
	int32_t count = s->count == FIELD_NO_I32 ? 1 : s->count; /* the default of the CRD */

	admit_check_label(c, admit_check_path(c, "%s.name", path), s->name);
	for (size_t k = 0; k < i; k++) {
		if (str_streq(w->spec.pod_sets.v[k].name, s->name)) {
			admit_check_deny(c, admit_check_path(c, "%s.name", path),
					 "\"%s\" is already the name of spec.podSets[%zu]", s->name,
					 k);
		}
	}
	if (count < 0) {
		admit_check_deny(c, admit_check_path(c, "%s.count", path), "%d is negative", count);
	}
	if (s->min_count != FIELD_NO_I32 && (s->min_count < 1 || s->min_count > count)) {
		admit_check_deny(c, admit_check_path(c, "%s.minCount", path),
				 "%d is not between 1 and the count (%d)", s->min_count, count);
	}
	check_template(c, admit_check_path(c, "%s.template.spec", path), &s->template_.spec);
	/* Refused at creation alone: Workloads that Kueue left behind can still be edited, and
	 * deleted. */
	if (create && s->topology_request != NULL) {
		admit_check_deny(c, admit_check_path(c, "%s.topologyRequest", path),
				 "topology-aware scheduling is not supported");
	}
	if (create && s->template_.spec.claims.n > 0) {
		admit_check_deny(c, admit_check_path(c, "%s.template.spec.resourceClaims", path),
				 "dynamic resource allocation is not supported");
	}
}

static void check_pod_sets(const struct admit_check *c, const struct api_workload *w, bool create)
{
	size_t with_min = 0;

	if (w->spec.pod_sets.n < 1 || w->spec.pod_sets.n > MAX_POD_SETS) {
		admit_check_deny(c, "spec.podSets", "%zu items, 1 to %d are allowed",
				 w->spec.pod_sets.n, MAX_POD_SETS);
		return;
	}
	for (size_t i = 0; i < w->spec.pod_sets.n; i++) {
		check_pod_set(c, w, i, create);
		with_min += w->spec.pod_sets.v[i].min_count != FIELD_NO_I32;
	}
	/* Kueue's rule. */
	if (with_min > 1) {
		admit_check_deny(c, "spec.podSets", "at most one pod set can have a minCount");
	}
}

static void check_class(const struct admit_check *c, const struct api_workload_spec *s)
{
	const struct api_priority_ref *ref = s->priority_class_ref;
	bool ours, theirs;

	if (ref == NULL) {
		return;
	}
	ours = str_streq(ref->group, KUEUE_GROUP) && str_streq(ref->kind, "WorkloadPriorityClass");
	theirs =
		str_streq(ref->group, "scheduling.k8s.io") && str_streq(ref->kind, "PriorityClass");
	if (!ours && !theirs) {
		admit_check_deny(c, "spec.priorityClassRef",
				 "neither a WorkloadPriorityClass of " KUEUE_GROUP
				 " nor a PriorityClass of scheduling.k8s.io");
	}
	admit_check_subdomain(c, "spec.priorityClassRef.name", ref->name != NULL ? ref->name : "");
	/* The scheduler goes by spec.priority, to which the maker of the Workload copies the
	 * value of the class. */
	if (s->priority == FIELD_NO_I32) {
		admit_check_deny(c, "spec.priority", "required with priorityClassRef");
	}
}

static void check_gates(const struct admit_check *c, const struct api_workload_spec *s)
{
	if (s->preemption_gates.n > MAX_GATES) {
		admit_check_deny(c, "spec.preemptionGates", "%zu items, at most %d are allowed",
				 s->preemption_gates.n, MAX_GATES);
		return;
	}
	for (size_t i = 0; i < s->preemption_gates.n; i++) {
		const char *name = s->preemption_gates.v[i].name;
		const char *path = admit_check_path(c, "spec.preemptionGates[%zu].name", i);

		if (name == NULL || strlen(name) > KUEUE_PREEMPTION_GATE_MAX) {
			admit_check_deny(c, path, "must have 1 to %d characters",
					 KUEUE_PREEMPTION_GATE_MAX);
			return;
		}
		for (size_t k = 0; k < i; k++) {
			if (str_streq(s->preemption_gates.v[k].name, name)) {
				admit_check_deny(c, path, "\"%s\" is a duplicate", name);
			}
		}
	}
}

static void check_boost(const struct admit_check *c, const struct api_meta *meta)
{
	const char *boost = field_map_get(&meta->annotations, KUEUE_PRIORITY_BOOST);
	int64_t n = 0;

	if (boost != NULL && (!str_to_i64(str_of(boost), &n) || n < INT32_MIN || n > INT32_MAX)) {
		admit_check_deny(c, "metadata.annotations[" KUEUE_PRIORITY_BOOST "]",
				 "\"%s\" is not a 32-bit integer", boost);
	}
}

static void check_spec(const struct admit_check *c, const struct api_workload *w, bool create)
{
	check_boost(c, &w->meta);
	check_pod_sets(c, w, create);
	admit_check_subdomain(c, "spec.queueName", w->spec.queue_name);
	check_class(c, &w->spec);
	if (w->spec.max_execution_time != FIELD_NO_I32 && w->spec.max_execution_time < 1) {
		admit_check_deny(c, "spec.maximumExecutionTimeSeconds", "%d is less than 1",
				 w->spec.max_execution_time);
	}
	check_gates(c, &w->spec);
}

/* False: denied. The API server keeps to the limits of the CRD before it asks; of others who reach
 * the port no list is so long that comparing all pairs of items takes long. */
static bool check_counts(const struct admit_check *c, const struct api_workload *w)
{
	const struct {
		const char *path;
		size_t n;
	} lists[] = {
		{ "spec.podSets", w->spec.pod_sets.n },
		{ "status.admission.podSetAssignments",
		  w->status.admission == NULL ? 0 : w->status.admission->assignments.n },
		{ "status.reclaimablePods", w->status.reclaimable_pods.n },
		{ "status.admissionChecks", w->status.admission_checks.n },
		{ "status.nominatedClusterNames", w->status.nominated_clusters.n },
	};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		if (lists[i].n > MAX_STATUS_ITEMS) {
			admit_check_deny(c, lists[i].path, "%zu items, at most %d are allowed",
					 lists[i].n, MAX_STATUS_ITEMS);
			return false;
		}
	}
	return true;
}

static int validate_status(const struct admit_check *c, struct err *err)
{
	struct api_workload w = { 0 }, old = { 0 };
	int r = decode_text(&kueue_workload_fields, c->q->review->object, &w, c->q->arena, err);

	if (r == 0) {
		r = decode_text(&kueue_workload_fields, c->q->review->old_object, &old, c->q->arena,
				err);
	}
	if (r < 0) {
		return r;
	}
	if (!check_counts(c, &old) || !check_counts(c, &w)) {
		return 0;
	}
	workload_status_validate(c, &w);
	return workload_change_check_status(c, &old, &w, err);
}

int workload_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	const struct admit_check c = { q, ret };
	struct api_workload w = { 0 }, old = { 0 };
	int verb;

	/* The API server ignores a change of the spec in a write of the status, so that the two
	 * have rules of their own. */
	if (str_streq(q->review->sub_resource, "status") &&
	    str_streq(q->review->operation, "UPDATE")) {
		return validate_status(&c, err);
	}
	verb = admit_check_read(q, &kueue_workload_fields, &w, &old, err);
	if (verb <= ADMIT_CHECK_OTHER) {
		return verb;
	}
	check_spec(&c, &w, verb == ADMIT_CHECK_CREATE);
	return verb == ADMIT_CHECK_UPDATE ? workload_change_check_spec(&c, &old, &w, err) : 0;
}
