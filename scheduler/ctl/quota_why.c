#include "ctl/quota_why.h"

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "model/quota_store.h"
#include "quota/queues.h"

static const char *say(struct strbuf *message, const char *reason, const char *text)
{
	strbuf_add_c(message, text);
	return reason;
}

static const char *about_queue(const struct quota *q, const struct workload *w,
			       struct strbuf *message)
{
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("%s/%s", w->namespace_, w->local_queue);
	const struct quota_local *local = quota_local_find(q, str_of(key));
	const struct quota_node *queue;

	if (local == NULL) {
		strbuf_printf(message, "there is no LocalQueue %s", key);
		return "Misconfigured";
	}
	queue = quota_queue_find(q, str_of(local->queue));
	if (queue == NULL || !queue->exists) {
		strbuf_printf(message, "LocalQueue %s is for ClusterQueue %s, which is not there",
			      key, local->queue);
		return "Misconfigured";
	}
	if (local->stop != QUOTA_RUN) {
		strbuf_printf(message, "LocalQueue %s is stopped", key);
		return "Suspended";
	}
	return say(message, "Suspended", "it is not to be queued");
}

const char *quota_why_outside(const struct quota *q, const struct workload *w,
			      struct strbuf *message)
{
	if (w->finished || w->holds != MODEL_NONE ||
	    (w->where != QUOTA_NOWHERE && !w->requeued_false)) {
		return NULL;
	}
	if (!w->active) {
		return say(message, "Deactivated", "spec.active is false");
	}
	if (w->admission_gated) {
		return say(message, "AdmissionGated", "somebody holds it by an admission gate");
	}
	if (w->on_hold) {
		return say(message, "OnHold", "its own status says that it is not to be queued");
	}
	if (w->requeued_false) {
		return say(message, "Suspended", "its condition Requeued is False");
	}
	return about_queue(q, w, message);
}

const char *quota_why_inactive(const struct forest *f, const struct quota_node *queue,
			       struct strbuf *message)
{
	static const char *const texts[] = {
		[QUOTA_ACTIVE] = "the cohorts above its ClusterQueue are a cycle",
		[QUOTA_TERMINATING] = "its ClusterQueue is being deleted",
		[QUOTA_STOPPED] = "its ClusterQueue is stopped",
		[QUOTA_FLAVOR_NOT_FOUND] = "its ClusterQueue names a ResourceFlavor that is not "
					   "there",
		[QUOTA_CHECK_NOT_FOUND] = "its ClusterQueue names an AdmissionCheck that is not "
					  "there",
		[QUOTA_CHECK_INACTIVE] = "its ClusterQueue names an AdmissionCheck that is not "
					 "active",
		[QUOTA_TOPOLOGY_NOT_FOUND] = "a flavor of its ClusterQueue names a Topology that "
					     "is not there",
		[QUOTA_COHORT_CYCLE] = "the cohorts above its ClusterQueue are a cycle",
	};
	const struct quota_queue *state = queue->queue;

	if (queues_is_active(f, queue)) {
		return NULL;
	}
	strbuf_add_c(message, texts[state->inactive]);
	if (state->inactive_what != NULL) {
		strbuf_printf(message, ": %s", state->inactive_what);
	}
	return quota_queue_reason(state->inactive == QUOTA_ACTIVE ? QUOTA_COHORT_CYCLE
								  : state->inactive);
}
