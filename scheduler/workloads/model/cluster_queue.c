#include <assert.h>

#include "base/attrs.h"
#include "collections/strmap.h"
#include "scheduler/workloads/model/quota_store.h"

/* On a cycle of cohorts, or below one: more steps up than there are nodes. */
static bool never_reaches_a_root(const struct quota_model *q, const struct quota_node *n)
{
	size_t steps = 0;

	while (n->parent_id != MODEL_NONE) {
		n = q->nodes.v[n->parent_id];
		if (++steps > q->nodes.n) {
			return true;
		}
	}
	return false;
}

static const struct flavor *find_flavor(const struct quota_model *q, const struct quota_node *n,
					bool (*is_wrong)(const struct quota_model *q,
							 const struct flavor *f))
{
	for (size_t i = 0; i < n->groups.n; i++) {
		for (size_t k = 0; k < n->groups.v[i].nflavors; k++) {
			const struct flavor *f = q->flavors.v[n->groups.v[i].flavors[k]];

			if (is_wrong(q, f)) {
				return f;
			}
		}
	}
	return NULL;
}

static bool is_missing(const struct quota_model *q, const struct flavor *f)
{
	(void)q;
	return !f->exists;
}

/* With the feature off, Kueue ignores the field. */
static bool lacks_topology(const struct quota_model *q, const struct flavor *f)
{
	return q->options.topology && f->topology != NULL &&
	       !strmap_has(q->topology_of, str_of(f->topology));
}

/* The first check that is not known, or else is not active; NULL: all are fine. */
static const char *find_check(const struct quota_model *q, const struct cluster_queue *queue,
			      bool want_missing)
{
	for (size_t i = 0; i < queue->checks.n; i++) {
		const struct quota_admission_check *c =
			quota_check_find(q, str_of(queue->checks.v[i].name));

		if (want_missing ? c == NULL : c != NULL && !c->active) {
			return queue->checks.v[i].name;
		}
	}
	return NULL;
}

/* The first check of this kind behind `skip` others; NULL: there is none. of_flavors: only those
 * that are for some flavors. */
static const char *find_kind(const struct quota_model *q, const struct cluster_queue *queue,
			     enum quota_check_kind kind, size_t skip, bool of_flavors)
{
	for (size_t i = 0; i < queue->checks.n; i++) {
		const struct quota_check *rule = &queue->checks.v[i];
		const struct quota_admission_check *c = quota_check_find(q, str_of(rule->name));

		if (c != NULL && c->kind == kind && (!of_flavors || rule->nflavors > 0) &&
		    skip-- == 0) {
			return rule->name;
		}
	}
	return NULL;
}

/* Of MultiKueue a ClusterQueue may have one check, for all of its flavors: the manager's quota is
 * that of the fleet, the worker has flavors of its own, and makes its own nodes. */
static enum quota_inactive find_multikueue(const struct quota_model *q,
					   const struct cluster_queue *queue, const char **ret_what)
{
	*ret_what = find_kind(q, queue, QUOTA_CHECK_MULTIKUEUE, 1, false);
	if (*ret_what != NULL) {
		return QUOTA_CHECK_TWO_MULTIKUEUE;
	}
	*ret_what = find_kind(q, queue, QUOTA_CHECK_MULTIKUEUE, 0, true);
	if (*ret_what != NULL) {
		return QUOTA_CHECK_MULTIKUEUE_OF_FLAVORS;
	}
	if (find_kind(q, queue, QUOTA_CHECK_MULTIKUEUE, 0, false) == NULL) {
		return QUOTA_ACTIVE;
	}
	*ret_what = find_kind(q, queue, QUOTA_CHECK_PROVISIONING, 0, false);
	return *ret_what == NULL ? QUOTA_ACTIVE : QUOTA_CHECK_MULTIKUEUE_AND_PROVISIONING;
}

/* A Workload that holds an unknown amount; NULL: none. The first by key, whatever order they came
 * in. */
static const char *find_unknown(const struct cluster_queue *queue)
{
	const char *first = NULL;

	for (size_t i = 0; i < queue->holders.n; i++) {
		const struct workload *w = queue->holders.v[i].w;

		if (w->object.usage_unknown && (first == NULL || strcmp(w->key, first) < 0)) {
			first = w->key;
		}
	}
	return first;
}

/* In the order in which Kueue names the first reason. */
static enum quota_inactive find_reason(const struct quota_model *q, const struct quota_node *n,
				       const char **ret_what)
{
	const struct cluster_queue *queue = n->queue;
	const struct flavor *f;
	enum quota_inactive why;

	*ret_what = NULL;
	/* Without an object, it is here for the Workloads that still hold its quota or wait in
	 * it. */
	if (!n->exists || queue->terminating) {
		return QUOTA_TERMINATING;
	}
	if (queue->stop != QUOTA_RUN) {
		return QUOTA_STOPPED;
	}
	f = find_flavor(q, n, is_missing);
	if (f != NULL) {
		*ret_what = f->name;
		return QUOTA_FLAVOR_NOT_FOUND;
	}
	*ret_what = find_check(q, queue, true);
	if (*ret_what != NULL) {
		return QUOTA_CHECK_NOT_FOUND;
	}
	*ret_what = find_check(q, queue, false);
	if (*ret_what != NULL) {
		return QUOTA_CHECK_INACTIVE;
	}
	why = find_multikueue(q, queue, ret_what);
	if (why != QUOTA_ACTIVE) {
		return why;
	}
	f = find_flavor(q, n, lacks_topology);
	if (f != NULL) {
		*ret_what = f->topology;
		return QUOTA_TOPOLOGY_NOT_FOUND;
	}
	if (never_reaches_a_root(q, n)) {
		*ret_what = n->parent;
		return QUOTA_COHORT_CYCLE;
	}
	*ret_what = find_unknown(queue);
	return *ret_what == NULL ? QUOTA_ACTIVE : QUOTA_UNREADABLE_WORKLOAD;
}

void cluster_queue_check(struct quota_model *q, struct quota_node *n)
{
	const char *what;

	assert(n->is_queue);
	/* Kept: every cycle asks for it of every queue (pending_is_active). */
	n->queue->inactive = find_reason(q, n, &what);
	n->queue->inactive_what = what;
}

void cluster_queue_check_all(struct quota_model *q)
{
	for (size_t i = 0; i < q->nodes.n; i++) {
		if (q->nodes.v[i] != NULL && q->nodes.v[i]->is_queue) {
			cluster_queue_check(q, q->nodes.v[i]);
		}
	}
}

const char *cluster_queue_reason(enum quota_inactive why)
{
	static const char *const names[] = {
		[QUOTA_ACTIVE] = "Ready",
		[QUOTA_TERMINATING] = "Terminating",
		[QUOTA_STOPPED] = "Stopped",
		[QUOTA_FLAVOR_NOT_FOUND] = "FlavorNotFound",
		[QUOTA_CHECK_NOT_FOUND] = "AdmissionCheckNotFound",
		[QUOTA_CHECK_INACTIVE] = "AdmissionCheckInactive",
		[QUOTA_CHECK_TWO_MULTIKUEUE] = "MultipleMultiKueueAdmissionChecks",
		[QUOTA_CHECK_MULTIKUEUE_OF_FLAVORS] = "MultiKueueAdmissionCheckAppliedPerFlavor",
		[QUOTA_CHECK_MULTIKUEUE_AND_PROVISIONING] = "MultiKueueWithProvisioningRequest",
		[QUOTA_TOPOLOGY_NOT_FOUND] = "TopologyNotFound",
		[QUOTA_COHORT_CYCLE] = "Unknown",
		[QUOTA_UNREADABLE_WORKLOAD] = "UnreadableWorkload",
	};

	return names[why];
}
