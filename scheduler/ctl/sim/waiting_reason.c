#include "scheduler/ctl/sim/waiting_reason.h"

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "scheduler/ctl/cli/nearest.h"
#include "scheduler/workloads/cycle/nofit_reason.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending.h"

static const char *say(struct strbuf *message, enum nofit_reason reason, const char *text)
{
	strbuf_add_c(message, text);
	return nofit_reason_name(reason);
}

/* The nearest names are those of the same namespace, the only ones that a Workload can name. */
static const char *no_local_queue(const struct quota_model *q, const struct workload *w,
				  struct strbuf *message)
{
	struct nearest near;

	nearest_init(&near, str_of(w->object.local_queue));
	for (size_t i = 0; i < q->locals.n; i++) {
		const struct local_queue *l = q->locals.v[i];

		if (l != NULL && str_streq(l->namespace_, w->object.namespace_)) {
			nearest_offer(&near, str_of(l->name));
		}
	}
	strbuf_printf(message, "spec.queueName: LocalQueue %s/%s does not exist",
		      w->object.namespace_, w->object.local_queue);
	nearest_add_hint(&near, message);
	return nofit_reason_name(QUOTA_MISCONFIGURED);
}

static const char *no_cluster_queue(const struct quota_model *q, const struct local_queue *local,
				    struct strbuf *message)
{
	struct nearest near;

	nearest_init(&near, str_of(local->queue));
	for (size_t i = 0; i < q->nodes.n; i++) {
		const struct quota_node *n = q->nodes.v[i];

		if (n != NULL && n->is_queue && n->exists) {
			nearest_offer(&near, str_of(n->name));
		}
	}
	strbuf_printf(message, "LocalQueue %s: spec.clusterQueue: ClusterQueue %s does not exist",
		      local->key, local->queue);
	nearest_add_hint(&near, message);
	return nofit_reason_name(QUOTA_MISCONFIGURED);
}

static const struct local_queue *local_of(const struct quota_model *q, const struct workload *w)
{
	CLEANUP(xmalloc_freep) char *key = NULL;

	if (w->object.local_queue == NULL) {
		return NULL;
	}
	key = xmalloc_printf("%s/%s", w->object.namespace_, w->object.local_queue);
	return quota_local_find(q, str_of(key));
}

/* Names the queue that is stopped; NULL: both of them run. Either stop is enough; the LocalQueue
 * comes first, which is nearer to the user. */
static const char *about_stop(const struct quota_model *q, const struct local_queue *local,
			      struct strbuf *message)
{
	const struct quota_node *node = quota_local_queue(q, local);

	if (local->stop != QUOTA_RUN) {
		strbuf_printf(message, "LocalQueue %s is stopped", local->key);
		return nofit_reason_name(QUOTA_SUSPENDED);
	}
	if (node != NULL && node->queue->stop != QUOTA_RUN) {
		strbuf_printf(message, "ClusterQueue %s: spec.stopPolicy: it is stopped",
			      node->name);
		return cluster_queue_reason(QUOTA_STOPPED);
	}
	return NULL;
}

static const char *about_queue(const struct quota_model *q, const struct workload *w,
			       struct strbuf *message)
{
	const struct local_queue *local = local_of(q, w);
	const char *reason;

	if (w->object.local_queue == NULL || w->object.local_queue[0] == '\0') {
		return say(message, QUOTA_MISCONFIGURED, "spec.queueName: no LocalQueue is named");
	}
	if (local == NULL) {
		return no_local_queue(q, w, message);
	}
	if (quota_local_queue(q, local) == NULL) {
		return no_cluster_queue(q, local, message);
	}
	reason = about_stop(q, local, message);
	return reason != NULL ? reason : say(message, QUOTA_SUSPENDED, "it may not be queued");
}

/* Mostly an eviction by the stop of a queue; the condition becomes True when that runs again. */
static const char *about_requeued(const struct quota_model *q, const struct workload *w,
				  struct strbuf *message)
{
	const struct local_queue *local = local_of(q, w);
	const char *reason = local == NULL ? NULL : about_stop(q, local, message);

	return reason != NULL ? reason
			      : say(message, QUOTA_SUSPENDED, "its condition Requeued is False");
}

/* The first of several reasons is the one to change first:
 * 1. The Workload itself: it was deactivated, is being deleted, or waits for its admission gate.
 * 2. Its conditions, by which Kueue keeps it out of a queue (OnHold, Requeued=False).
 * 3. Its LocalQueue and ClusterQueue: missing, or stopped. */
const char *waiting_reason_outside(const struct quota_model *q, const struct workload *w,
				   struct strbuf *message)
{
	if (w->flags.finished || w->holding.node != MODEL_NONE ||
	    (w->pending.where != QUOTA_NOWHERE && !w->flags.requeued_false)) {
		return NULL;
	}
	if (!w->object.active) {
		return say(message, QUOTA_DEACTIVATED, "spec.active is false");
	}
	if (w->object.deleting) {
		strbuf_add_c(message, "it is being deleted");
		return "Deleting"; /* no reason of the API says it */
	}
	if (w->object.admission_gated) {
		return say(message, QUOTA_ADMISSION_GATED,
			   "an admission gate keeps it out of the queue");
	}
	if (w->flags.on_hold) {
		return say(message, QUOTA_ON_HOLD, "its condition QuotaReserved has reason OnHold");
	}
	if (w->flags.requeued_false) {
		return about_requeued(q, w, message);
	}
	return about_queue(q, w, message);
}

/* Describes the field of the ClusterQueue that makes it inactive. */
static void about_field(const struct cluster_queue *state, struct strbuf *message)
{
	static const struct {
		const char *field, *before, *behind;
	} rows[] = {
		[QUOTA_ACTIVE] = { "spec.cohortName", "its cohorts form a cycle", "" },
		[QUOTA_TERMINATING] = { "metadata.deletionTimestamp", "it is being deleted", "" },
		[QUOTA_STOPPED] = { "spec.stopPolicy", "it is stopped", "" },
		[QUOTA_FLAVOR_NOT_FOUND] = { "spec.resourceGroups", "missing ResourceFlavor ", "" },
		[QUOTA_CHECK_NOT_FOUND] = { "spec.admissionChecksStrategy",
					    "missing AdmissionCheck ", "" },
		[QUOTA_CHECK_INACTIVE] = { "spec.admissionChecksStrategy", "AdmissionCheck ",
					   " is not active" },
		[QUOTA_CHECK_TWO_MULTIKUEUE] = { "spec.admissionChecksStrategy", "AdmissionCheck ",
						 " is its second one of MultiKueue" },
		[QUOTA_CHECK_MULTIKUEUE_OF_FLAVORS] = { "spec.admissionChecksStrategy",
							"AdmissionCheck ",
							" is one of MultiKueue, and cannot be for "
							"some flavors alone (onFlavors)" },
		[QUOTA_CHECK_MULTIKUEUE_AND_PROVISIONING] = { "spec.admissionChecksStrategy",
							      "AdmissionCheck ",
							      " makes nodes by "
							      "ProvisioningRequests, "
							      "which does not go with MultiKueue" },
		[QUOTA_TOPOLOGY_NOT_FOUND] = { "spec.resourceGroups", "a flavor names Topology ",
					       ", which does not exist" },
		[QUOTA_COHORT_CYCLE] = { "spec.cohortName", "its cohorts form a cycle: ", "" },
		[QUOTA_UNREADABLE_WORKLOAD] = { "status", "Workload ",
						" holds quota of it, but the amount cannot be "
						"read" },
	};
	const char *what = state->inactive_what == NULL ? "" : state->inactive_what;

	strbuf_printf(message, "%s: %s%s%s", rows[state->inactive].field,
		      rows[state->inactive].before, what, rows[state->inactive].behind);
}

const char *waiting_reason_inactive(const struct forest *f, const struct quota_node *queue,
				    struct strbuf *message)
{
	const struct cluster_queue *state = queue->queue;

	if (pending_is_active(f, queue)) {
		return NULL;
	}
	strbuf_printf(message, "ClusterQueue %s: ", queue->name);
	about_field(state, message);
	/* Active in itself, and yet not tried: then its cohorts form a cycle, and its tree
	 * stands still. */
	return cluster_queue_reason(state->inactive == QUOTA_ACTIVE ? QUOTA_COHORT_CYCLE
								    : state->inactive);
}
