#include "scheduler/pods/writes/eviction.h"

#include <string.h>

#include "api/core/pod.h"
#include "api/meta/status.h"
#include "api/volcano/keys.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "kube/rest.h"
#include "scheduler/pods/model/model.h"
#include "scheduler/pods/writes/pod_write.h"

/* TEXT_VERSION is reported as what was written: of a deletion nothing is. */
enum { TEXT_VERSION, TEXT_VICTIM };

static size_t begin(const struct pod_write *w, const char *sub, struct strbuf *scratch)
{
	sched_kinds_path(SCHED_PODS, w->namespace_, w->name, sub, scratch);
	strbuf_add_ch(scratch, '\0');
	return scratch->len;
}

static void deletion_fill(const struct pod_write *w, struct http_call *call, struct strbuf *scratch)
{
	size_t body = begin(w, NULL, scratch);

	rest_delete_options(w->uid, w->texts[TEXT_VERSION], scratch);
	rest_fill(call, scratch, body, HTTP_DELETE, "application/json");
}

static void eviction_fill(const struct pod_write *w, struct http_call *call, struct strbuf *scratch)
{
	size_t body = begin(w, "eviction", scratch);
	struct json_out o;

	json_out_init(&o, scratch);
	json_out_object(&o);
	json_out_kv(&o, "apiVersion", "policy/v1");
	json_out_kv(&o, "kind", "Eviction");
	json_out_key(&o, "metadata");
	json_out_object(&o);
	json_out_kv(&o, "namespace", w->namespace_);
	json_out_kv(&o, "name", w->name);
	json_out_object_end(&o);
	json_out_key(&o, "deleteOptions");
	json_out_object(&o);
	json_out_key(&o, "preconditions");
	json_out_object(&o);
	json_out_kv(&o, "uid", w->uid);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	rest_fill(call, scratch, body, HTTP_POST, "application/json");
}

/* The condition by which kube-scheduler marks its victims. */
static bool condition_fill(const struct pod_write *w, struct http_call *call,
			   struct strbuf *scratch)
{
	struct api_condition condition = { .type = KEYS_CONDITION_DISRUPTION,
					   .status = "True",
					   .reason = "PreemptionByScheduler",
					   .message = w->texts[TEXT_VICTIM],
					   .last_transition = w->wall_ns };
	struct api_pod patch;
	size_t body;

	if (w->texts[TEXT_VICTIM] == NULL) {
		return false;
	}
	body = begin(w, "status", scratch);
	decode_init(&pod_fields, &patch);
	patch.meta.uid = w->uid;
	patch.status.conditions.v = &condition;
	patch.status.conditions.n = 1;
	encode_merge(&pod_fields, &patch, NULL, scratch);
	rest_fill(call, scratch, body, HTTP_PATCH, "application/strategic-merge-patch+json");
	return true;
}

static enum pod_write_judgement eviction_judge(const struct pod_write *w, const struct jdoc *pod)
{
	if (jdoc_path(pod, "metadata.deletionTimestamp") != NULL) {
		return POD_WRITE_IS_DONE;
	}
	/* With its old version the pod can never be deleted: the cycle decides again. */
	return w->texts[TEXT_VERSION] != NULL ? POD_WRITE_IS_STALE : POD_WRITE_REFUSED;
}

/* The cause that names the budget, where the API server gives it: the message alone does not. */
static const char *budget_cause(const struct jdoc *status)
{
	const struct jdoc *causes = jdoc_path(status, "details.causes");

	for (const struct jdoc *c = jdoc_first(causes); c != NULL; c = jdoc_next(c)) {
		if (jdoc_is_str(jdoc_get(c, "reason"), "DisruptionBudget")) {
			return jdoc_str_or(jdoc_get(c, "message"), "");
		}
	}
	return NULL;
}

/* A 429 is the budget's, or asks all clients to send less; a 500 says among other things that
 * several budgets cover the pod. Only what the budgets say is no reason to send it once more. */
static bool eviction_refuses(const struct http_result *result, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *status = NULL;
	const char *message, *cause;

	if ((result->status != STATUS_TOO_MANY_REQUESTS &&
	     result->status != STATUS_SERVER_ERRORS) ||
	    jdoc_parse(result->body, &status, NULL) < 0) {
		return false;
	}
	message = jdoc_str_or(jdoc_get(status, "message"), "");
	if (result->status == STATUS_SERVER_ERRORS) {
		return strstr(message, "more than one PodDisruptionBudget") != NULL;
	}
	cause = budget_cause(status);
	if (cause != NULL) {
		(void)err_set(err, ERR_UNAVAILABLE, "%s %s", message, cause);
	}
	return cause != NULL;
}

static const struct pod_write_kind deletion_kind = {
	.request = SCHED_REQ_EVICT,
	.fill_first = condition_fill,
	.fill = deletion_fill,
	.judge = eviction_judge,
	/* With the UID it may be repeated: no other pod is deleted by it. */
	.read_after_unknown = false,
	.gone_is_done = true,
};

static const struct pod_write_kind eviction_kind = {
	.request = SCHED_REQ_EVICT,
	.fill = eviction_fill,
	.judge = eviction_judge,
	.refuses = eviction_refuses,
	.read_after_unknown = false,
	.gone_is_done = true,
};

struct pod_write *eviction_new(const struct task *t, const struct eviction_options *opt)
{
	struct pod_write *w = pod_write_new(opt->by_api ? &eviction_kind : &deletion_kind, t);

	/* Another scheduler may have bound it since: then it is not to be deleted. */
	if (t->node == MODEL_NONE) {
		w->texts[TEXT_VERSION] = xmalloc_printf("%lld", (long long)t->resource_version);
	}
	if (opt->victim_text != NULL) {
		w->texts[TEXT_VICTIM] = xmalloc_dup(opt->victim_text);
	}
	w->wall_ns = opt->now;
	return w;
}
