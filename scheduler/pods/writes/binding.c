#include "scheduler/pods/writes/binding.h"

#include "api/volcano/keys.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "kube/rest.h"
#include "scheduler/pods/writes/pod_write.h"

static void binding_fill(const struct pod_write *w, struct http_call *call, struct strbuf *scratch)
{
	struct json_out o;
	size_t body;

	sched_kinds_path(SCHED_PODS, w->namespace_, w->name, "binding", scratch);
	strbuf_add_ch(scratch, '\0');
	body = scratch->len;
	json_out_init(&o, scratch);
	json_out_object(&o);
	json_out_kv(&o, "apiVersion", "v1");
	json_out_kv(&o, "kind", "Binding");
	json_out_key(&o, "metadata");
	json_out_object(&o);
	json_out_kv(&o, "namespace", w->namespace_);
	json_out_kv(&o, "name", w->name);
	json_out_kv(&o, "uid", w->uid);
	/* The API server puts it on the pod together with the node: so binds of ours are known. */
	json_out_key(&o, "annotations");
	json_out_object(&o);
	json_out_kv(&o, KEYS_BOUND_BY, KEYS_COMPONENT);
	if (w->texts[1] != NULL) {
		json_out_kv(&o, KEYS_GROUP_NAME, w->texts[1]);
	}
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_key(&o, "target");
	json_out_object(&o);
	json_out_kv(&o, "apiVersion", "v1");
	json_out_kv(&o, "kind", "Node");
	json_out_kv(&o, "name", w->texts[0]);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	rest_fill(call, scratch, body, HTTP_POST, "application/json");
}

static enum pod_write_judgement binding_judge(const struct pod_write *w, const struct jdoc *pod)
{
	const char *node = jdoc_path_str(pod, "spec.nodeName");

	/* To this node it may be our own binding, of which the answer was lost; in any case the pod
	 * is where it was to be. */
	if (node != NULL && node[0] != '\0') {
		return str_streq(node, w->texts[0]) ? POD_WRITE_IS_DONE : POD_WRITE_IS_STALE;
	}
	if (jdoc_path(pod, "metadata.deletionTimestamp") != NULL ||
	    jdoc_count(jdoc_path(pod, "spec.schedulingGates")) > 0) {
		return POD_WRITE_IS_STALE;
	}
	/* Without a refusal the request may not have arrived at all. */
	return w->refused_status == 0 ? POD_WRITE_NOT_YET : POD_WRITE_REFUSED;
}

static const struct pod_write_kind binding_kind = {
	.request = SCHED_REQ_BIND,
	.fill = binding_fill,
	.judge = binding_judge,
	.read_after_unknown = true,
};

struct pod_write *binding_new(const struct task *t, const char *node, const char *group)
{
	struct pod_write *w = pod_write_new(&binding_kind, t);

	w->texts[0] = xmalloc_dup(node);
	w->texts[1] = group == NULL ? NULL : xmalloc_dup(group);
	return w;
}
