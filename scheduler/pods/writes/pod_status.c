#include "scheduler/pods/writes/pod_status.h"

#include "api/volcano/keys.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "kube/rest.h"
#include "scheduler/pods/writes/pod_write.h"

enum { TEXT_REASON, TEXT_MESSAGE, TEXT_NOMINATED, TEXT_ATTEMPTS };

static void write_condition(struct json_out *o, const char *type, const char *status,
			    const char *reason, const char *message, const char *when)
{
	json_out_object(o);
	json_out_kv(o, "type", type);
	json_out_kv(o, "status", status);
	json_out_kv(o, "reason", reason);
	json_out_kv(o, "message", message);
	json_out_kv(o, "lastTransitionTime", when);
	json_out_object_end(o);
}

static void pod_status_fill(const struct pod_write *w, struct http_call *call,
			    struct strbuf *scratch)
{
	char when[CLOCK_RFC3339_MAX];
	struct json_out o;
	size_t body;

	sched_kinds_path(SCHED_PODS, w->namespace_, w->name, "status", scratch);
	strbuf_add_ch(scratch, '\0');
	body = scratch->len;
	clock_format_time(w->wall_ns, when);
	json_out_init(&o, scratch);
	json_out_object(&o);
	json_out_key(&o, "metadata");
	json_out_object(&o);
	json_out_kv(&o, "uid", w->uid);
	json_out_object_end(&o);
	json_out_key(&o, "status");
	json_out_object(&o);
	json_out_key(&o, "conditions");
	json_out_array(&o);
	write_condition(&o, KEYS_CONDITION_SCHEDULED, "False", w->texts[TEXT_REASON],
			w->texts[TEXT_MESSAGE], when);
	if (w->texts[TEXT_ATTEMPTS] != NULL) {
		write_condition(&o, KEYS_CONDITION_ATTEMPTS, "True", "NoNodeInTime",
				w->texts[TEXT_ATTEMPTS], when);
	}
	json_out_array_end(&o);
	json_out_kv(&o, "nominatedNodeName", w->texts[TEXT_NOMINATED]);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
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
