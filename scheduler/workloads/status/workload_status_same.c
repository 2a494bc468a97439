#include "scheduler/workloads/status/workload_status_same.h"

static bool same_podset(const struct workload_status_podset *a,
			const struct workload_status_podset *b, bool counts)
{
	if (!str_streq(a->name, b->name) || a->n != b->n || (counts && a->count != b->count)) {
		return false;
	}
	/* Both are in the order of resources, or both in that of the same pod set. */
	for (size_t i = 0; i < a->n; i++) {
		if (a->v[i].resource != b->v[i].resource || a->v[i].amount != b->v[i].amount ||
		    !str_streq(a->v[i].flavor, b->v[i].flavor)) {
			return false;
		}
	}
	return true;
}

static bool same_admission(const struct workload_status *a, const struct workload_status *b)
{
	if (a->has_admission != b->has_admission || !str_streq(a->queue, b->queue) ||
	    a->podsets.n != b->podsets.n || a->requests.n != b->requests.n) {
		return false;
	}
	for (size_t i = 0; i < a->podsets.n; i++) {
		if (!same_podset(&a->podsets.v[i], &b->podsets.v[i], true)) {
			return false;
		}
	}
	/* resourceRequests have no counts in the API: one that was read has none. */
	for (size_t i = 0; i < a->requests.n; i++) {
		if (!same_podset(&a->requests.v[i], &b->requests.v[i], false)) {
			return false;
		}
	}
	return true;
}

/* Conditions are a map by type: their order does not count. Times follow from the status, and a new
 * generation alone is not worth a write. */
static bool same_list(const struct workload_status *a, const struct workload_status *b)
{
	if (a->conditions.n != b->conditions.n) {
		return false;
	}
	for (size_t i = 0; i < a->conditions.n; i++) {
		const struct condition *x = &a->conditions.v[i],
				       *y = workload_status_condition(b, x->type);

		if (y == NULL || !str_streq(x->status, y->status) ||
		    !str_streq(x->reason, y->reason) || !str_streq(x->message, y->message)) {
			return false;
		}
	}
	return true;
}

static bool same_checks(const struct workload_status *a, const struct workload_status *b)
{
	if (a->checks.n != b->checks.n || a->gates.n != b->gates.n ||
	    a->evictions.n != b->evictions.n) {
		return false;
	}
	/* podSetUpdates are emptied only with a change of state or of the list, so they need no
	 * comparison. */
	for (size_t i = 0; i < a->checks.n; i++) {
		const struct workload_status_check *x = &a->checks.v[i], *y = &b->checks.v[i];

		if (!str_streq(x->name, y->name) || !str_streq(x->message, y->message) ||
		    x->state != y->state || x->retries != y->retries ||
		    x->requeue_after != y->requeue_after) {
			return false;
		}
	}
	for (size_t i = 0; i < a->gates.n; i++) {
		const struct workload_status_gate *x = &a->gates.v[i], *y = &b->gates.v[i];

		if (!str_streq(x->name, y->name) || x->open != y->open ||
		    x->disagrees != y->disagrees || x->fields != y->fields) {
			return false;
		}
	}
	for (size_t i = 0; i < a->evictions.n; i++) {
		const struct workload_status_eviction *x = &a->evictions.v[i],
						      *y = &b->evictions.v[i];

		if (!str_streq(x->reason, y->reason) || !str_streq(x->cause, y->cause) ||
		    x->count != y->count) {
			return false;
		}
	}
	return true;
}

static bool same_requeue(const struct workload_status *a, const struct workload_status *b)
{
	return a->has_requeue_count == b->has_requeue_count &&
	       a->has_requeue_at == b->has_requeue_at &&
	       a->has_past_seconds == b->has_past_seconds &&
	       (!a->has_requeue_count || a->requeue_count == b->requeue_count) &&
	       (!a->has_requeue_at || a->requeue_at == b->requeue_at) &&
	       (!a->has_past_seconds || a->past_seconds == b->past_seconds);
}

static bool same_names(const struct workload_status *a, const struct workload_status *b)
{
	if (!str_streq(a->cluster, b->cluster) || a->nominated.n != b->nominated.n ||
	    a->unhealthy.n != b->unhealthy.n) {
		return false;
	}
	for (size_t i = 0; i < a->nominated.n; i++) {
		if (!str_streq(a->nominated.v[i], b->nominated.v[i])) {
			return false;
		}
	}
	for (size_t i = 0; i < a->unhealthy.n; i++) {
		if (!str_streq(a->unhealthy.v[i], b->unhealthy.v[i])) {
			return false;
		}
	}
	return true;
}

bool workload_status_same(const struct workload_status *a, const struct workload_status *b)
{
	return same_list(a, b) && same_checks(a, b) && same_admission(a, b) && same_requeue(a, b) &&
	       same_names(a, b);
}
