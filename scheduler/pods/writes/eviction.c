#include "scheduler/pods/writes/eviction.h"

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "scheduler/pods/model/model.h"
#include "scheduler/pods/writes/pod_write.h"

static void eviction_fill(const struct pod_write *w, struct http_call *call, struct strbuf *scratch)
{
	size_t body;

	sched_kinds_path(SCHED_PODS, w->namespace_, w->name, NULL, scratch);
	strbuf_add_ch(scratch, '\0');
	body = scratch->len;
	rest_delete_options(w->uid, w->texts[0], scratch);
	rest_fill(call, scratch, body, HTTP_DELETE, "application/json");
}

static enum pod_write_judgement eviction_judge(const struct pod_write *w, const struct jdoc *pod)
{
	if (jdoc_path(pod, "metadata.deletionTimestamp") != NULL) {
		return POD_WRITE_IS_DONE;
	}
	/* With its old version the pod can never be deleted: the cycle decides again. */
	return w->texts[0] != NULL ? POD_WRITE_IS_STALE : POD_WRITE_REFUSED;
}

static const struct pod_write_kind eviction_kind = {
	.request = SCHED_REQ_EVICT,
	.fill = eviction_fill,
	.judge = eviction_judge,
	/* With the UID it may be repeated: no other pod is deleted by it. */
	.read_after_unknown = false,
	.gone_is_done = true,
};

struct pod_write *eviction_new(const struct task *t)
{
	struct pod_write *w = pod_write_new(&eviction_kind, t);

	/* Another scheduler may have bound it since: then it is not to be deleted. */
	if (t->node == MODEL_NONE) {
		w->texts[0] = xmalloc_printf("%lld", (long long)t->resource_version);
	}
	return w;
}
