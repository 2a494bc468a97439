#include "webhook/admit/kueue/clusterqueue_validate.h"

#include "api/kueue/kueue_cost.h"
#include "api/kueue/kueue_keys.h"
#include "base/err.h"
#include "webhook/admit/kueue/resource_groups.h"

#define MAX_CHECKS 64

static const char *const strategies[] = { KUEUE_BEST_EFFORT_FIFO, KUEUE_STRICT_FIFO, NULL };
static const char *const searches[] = { KUEUE_MAY_STOP_SEARCH, KUEUE_TRY_NEXT_FLAVOR, NULL };
static const char *const preferences[] = { KUEUE_BORROWING_OVER_PREEMPTION,
					   KUEUE_PREEMPTION_OVER_BORROWING, NULL };
static const char *const reclaims[] = { KUEUE_NEVER, KUEUE_LOWER_PRIORITY, KUEUE_ANY, NULL };
static const char *const borrows[] = { KUEUE_NEVER, KUEUE_LOWER_PRIORITY, NULL };
static const char *const withins[] = { KUEUE_NEVER, KUEUE_LOWER_PRIORITY, KUEUE_LOWER_OR_NEWER,
				       NULL };
static const char *const scopes[] = { KUEUE_USAGE_BASED, KUEUE_NOT_USAGE_BASED, NULL };

static void check_fungibility(const struct admit_check *c, const struct api_flavor_fungibility *f)
{
	admit_check_enum(c, "spec.flavorFungibility.whenCanBorrow", f->when_can_borrow, searches);
	admit_check_enum(c, "spec.flavorFungibility.whenCanPreempt", f->when_can_preempt, searches);
	admit_check_enum(c, "spec.flavorFungibility.preference", f->preference, preferences);
	/* whenCanPreempt is TryNextFlavor when absent. */
	if (f->preference != NULL && (!str_streq(f->when_can_borrow, KUEUE_TRY_NEXT_FLAVOR) ||
				      (f->when_can_preempt != NULL &&
				       !str_streq(f->when_can_preempt, KUEUE_TRY_NEXT_FLAVOR)))) {
		admit_check_deny(c, "spec.flavorFungibility.preference",
				 "needs whenCanBorrow and whenCanPreempt to be TryNextFlavor");
	}
}

/* Never is the default of the CRD. */
static bool is_never(const char *policy)
{
	return policy == NULL || str_streq(policy, KUEUE_NEVER);
}

static void check_preemption(const struct admit_check *c, const struct api_queue_preemption *p)
{
	static const char policy[] = "spec.preemption.borrowWithinCohort.policy";

	admit_check_enum(c, "spec.preemption.reclaimWithinCohort", p->reclaim_within_cohort,
			 reclaims);
	admit_check_enum(c, policy, p->borrow_within_cohort.policy, borrows);
	admit_check_enum(c, "spec.preemption.withinClusterQueue", p->within_cluster_queue, withins);
	/* Kueue's rule: to preempt while borrowing is a special case of reclaiming. */
	if (is_never(p->reclaim_within_cohort) && !is_never(p->borrow_within_cohort.policy)) {
		admit_check_deny(c, policy, "must be Never while reclaimWithinCohort is Never");
	}
}

static void check_selector(const struct admit_check *c, const struct api_label_selector *labels)
{
	struct err why = ERR_INIT;
	struct selector selector;

	/* Without a selector the queue takes no namespace at all, which is allowed. */
	if (labels != NULL && selector_from_struct(labels, c->q->arena, &selector, &why) < 0) {
		admit_check_deny(c, "spec.namespaceSelector", "%s", why.text);
	}
}

static bool names_flavor(const struct api_check_rule *rule, const char *flavor)
{
	for (size_t i = 0; i < rule->on_flavors.n; i++) {
		if (str_streq(rule->on_flavors.v[i], flavor)) {
			return true;
		}
	}
	return false;
}

/* Whether the old object had the same mistake: such queues were accepted once, and their other
 * fields can still be changed. */
static bool was_wrong(const struct api_cluster_queue *old, const char *check, const char *flavor)
{
	for (size_t i = 0; old != NULL && i < old->spec.admission_checks.checks.n; i++) {
		const struct api_check_rule *rule = &old->spec.admission_checks.checks.v[i];

		if (str_streq(rule->name, check) && names_flavor(rule, flavor)) {
			return kueue_find_flavor(&old->spec.resource_groups, flavor) == NULL;
		}
	}
	return false;
}

static void check_rule(const struct admit_check *c, const struct api_cluster_queue *queue,
		       const struct api_cluster_queue *old, size_t i)
{
	const struct api_check_rule *rule = &queue->spec.admission_checks.checks.v[i];
	const char *path =
		admit_check_path(c, "spec.admissionChecksStrategy.admissionChecks[%zu]", i);

	if (rule->name == NULL) {
		admit_check_deny(c, admit_check_path(c, "%s.name", path), "required");
	}
	/* At most MAX_CHECKS items, so comparing all pairs is cheap. */
	for (size_t k = 0; k < i; k++) {
		if (str_streq(queue->spec.admission_checks.checks.v[k].name, rule->name)) {
			admit_check_deny(c, admit_check_path(c, "%s.name", path),
					 "\"%s\" is a duplicate", rule->name);
		}
	}
	if (rule->on_flavors.n > RESOURCE_GROUPS_MAX_ITEMS) {
		admit_check_deny(c, admit_check_path(c, "%s.onFlavors", path),
				 "%zu items, at most %d are allowed", rule->on_flavors.n,
				 RESOURCE_GROUPS_MAX_ITEMS);
		return;
	}
	for (size_t k = 0; k < rule->on_flavors.n; k++) {
		const char *flavor = rule->on_flavors.v[k];

		if (kueue_find_flavor(&queue->spec.resource_groups, flavor) == NULL &&
		    !was_wrong(old, rule->name, flavor)) {
			admit_check_deny(c, admit_check_path(c, "%s.onFlavors[%zu]", path, k),
					 "\"%s\" is not a flavor of this ClusterQueue", flavor);
		}
	}
}

static void check_checks(const struct admit_check *c, const struct api_cluster_queue *queue,
			 const struct api_cluster_queue *old)
{
	size_t n = queue->spec.admission_checks.checks.n;

	if (n > MAX_CHECKS) {
		admit_check_deny(c, "spec.admissionChecksStrategy.admissionChecks",
				 "%zu items, at most %d are allowed", n, MAX_CHECKS);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		check_rule(c, queue, old, i);
	}
}

/* A mistake that the old object had does not keep the other fields from being changed. */
static void check_cost(const struct admit_check *c, const struct api_meta *meta,
		       const struct api_cluster_queue *old, const char *key)
{
	const char *was = old == NULL ? NULL : field_map_get(&old->meta.annotations, key);
	bool changed = !str_streq(was, field_map_get(&meta->annotations, key));
	struct err why = ERR_INIT;
	struct quantity value;

	if (changed && kueue_cost_read(&meta->annotations, key, &value, &why) < 0) {
		admit_check_deny(c, admit_check_path(c, "metadata.annotations[%s]", key), "%s",
				 why.text);
	}
}

static void check_write(const struct admit_check *c, const struct api_cluster_queue *queue,
			const struct api_cluster_queue *old)
{
	const struct api_cluster_queue_spec *s = &queue->spec;
	const struct resource_groups_rules rules = { .parent_field = "cohortName",
						     .has_parent = s->cohort != NULL };

	resource_groups_check(c, &s->resource_groups, &rules);
	admit_check_subdomain(c, "spec.cohortName", s->cohort);
	admit_check_enum(c, "spec.queueingStrategy", s->queueing_strategy, strategies);
	check_selector(c, s->namespace_selector);
	check_fungibility(c, &s->flavor_fungibility);
	check_preemption(c, &s->preemption);
	check_checks(c, queue, old);
	check_cost(c, &queue->meta, old, KUEUE_COST_BASE);
	check_cost(c, &queue->meta, old, KUEUE_COST_WEIGHT);
	admit_check_stop_policy(c, s->stop_policy);
	admit_check_weight(c, &s->fair_sharing);
	if (s->admission_scope != NULL) {
		admit_check_enum(c, "spec.admissionScope.admissionMode", s->admission_scope->mode,
				 scopes);
	}
	/* Refused rather than ignored, but not in a queue that Kueue left with it: its other
	 * fields can be edited. */
	if (s->concurrent_admission != NULL &&
	    (old == NULL || old->spec.concurrent_admission == NULL)) {
		admit_check_deny(c, "spec.concurrentAdmissionPolicy",
				 "concurrent admission is not supported");
	}
}

int clusterqueue_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	const struct admit_check c = { q, ret };
	struct api_cluster_queue queue = { 0 }, old = { 0 };
	int verb = admit_check_read(q, &kueue_cluster_queue_fields, &queue, &old, err);

	if (verb > ADMIT_CHECK_OTHER) {
		check_write(&c, &queue, verb == ADMIT_CHECK_UPDATE ? &old : NULL);
	}
	return verb < 0 ? verb : 0;
}
