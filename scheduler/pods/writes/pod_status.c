#include "scheduler/pods/writes/pod_status.h"

#include "api/core/pod.h"
#include "api/volcano/keys.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "scheduler/pods/writes/pod_write.h"

enum { TEXT_REASON, TEXT_MESSAGE, TEXT_NOMINATED, TEXT_ATTEMPTS };

static void pod_status_fill(const struct pod_write *w, struct http_call *call,
			    struct strbuf *scratch)
{
	struct api_condition conditions[] = { { .type = KEYS_CONDITION_SCHEDULED,
						.status = "False",
						.reason = w->texts[TEXT_REASON],
						.message = w->texts[TEXT_MESSAGE],
						.last_transition = w->wall_ns },
					      { .type = KEYS_CONDITION_ATTEMPTS,
						.status = "True",
						.reason = "NoNodeInTime",
						.message = w->texts[TEXT_ATTEMPTS],
						.last_transition = w->wall_ns } };
	struct api_pod patch;
	/* Without a node the member is null, which removes it: a nomination that stays would keep
	 * autoscalers from helping the pod. */
	const void *const nulls[] = { &patch.status.nominated_node_name, NULL };
	size_t body;

	sched_kinds_path(SCHED_PODS, w->namespace_, w->name, "status", scratch);
	strbuf_add_ch(scratch, '\0');
	body = scratch->len;
	decode_init(&pod_fields, &patch);
	patch.meta.uid = w->uid;
	patch.status.conditions.v = conditions;
	/* A strategic merge goes by the type of the condition: one that the patch leaves out stays
	 * on the pod. */
	patch.status.conditions.n = w->texts[TEXT_ATTEMPTS] == NULL ? 1 : 2;
	patch.status.nominated_node_name = w->texts[TEXT_NOMINATED];
	encode_merge(&pod_fields, &patch, nulls, scratch);
	rest_fill(call, scratch, body, HTTP_PATCH, "application/strategic-merge-patch+json");
}

static enum pod_write_judgement pod_status_judge(const struct pod_write *w, const struct jdoc *pod)
{
	const struct jdoc *conditions = jdoc_path(pod, "status.conditions");

	/* A pod that got its node meanwhile no longer waits for anything. */
	if (jdoc_path_str(pod, "spec.nodeName") != NULL) {
		return POD_WRITE_IS_STALE;
	}
	for (const struct jdoc *c = jdoc_first(conditions); c != NULL; c = jdoc_next(c)) {
		if (jdoc_is_str(jdoc_get(c, "type"), KEYS_CONDITION_SCHEDULED) &&
		    jdoc_is_str(jdoc_get(c, "reason"), w->texts[TEXT_REASON])) {
			return POD_WRITE_IS_DONE;
		}
	}
	return POD_WRITE_REFUSED;
}

static const struct pod_write_kind pod_status_kind = {
	.request = SCHED_REQ_POD_STATUS,
	.fill = pod_status_fill,
	.judge = pod_status_judge,
	.read_after_unknown = false,
};

struct pod_write *pod_status_new(const struct task *t, const char *reason, const char *message,
				 const char *nominated, uint32_t attempts, int64_t now)
{
	struct pod_write *w = pod_write_new(&pod_status_kind, t);

	w->texts[TEXT_REASON] = xmalloc_dup(reason);
	w->texts[TEXT_MESSAGE] = xmalloc_dup(message == NULL ? "" : message);
	w->texts[TEXT_NOMINATED] = nominated == NULL ? NULL : xmalloc_dup(nominated);
	if (attempts > 0) {
		w->texts[TEXT_ATTEMPTS] =
			xmalloc_printf("%u reservations ended without a node", attempts);
	}
	w->wall_ns = now;
	return w;
}
