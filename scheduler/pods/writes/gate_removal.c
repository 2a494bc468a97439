#include "scheduler/pods/writes/gate_removal.h"

#include "api/volcano/gate.h"
#include "api/volcano/keys.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "kube/rest.h"
#include "scheduler/pods/writes/pod_write.h"

/* A strategic merge patch deletes list elements by name without naming the rest, so foreign gates
 * stay whatever their order; every spelling of ours goes at once. metadata.uid makes the server
 * refuse a pod that was re-created under the same name. */
void gate_removal_body(const char *uid, const char *queue, struct strbuf *out)
{
	struct json_out o;

	json_out_init(&o, out);
	json_out_object(&o);
	json_out_key(&o, "metadata");
	json_out_object(&o);
	if (uid != NULL) {
		json_out_kv(&o, "uid", uid);
	}
	json_out_key(&o, "annotations");
	json_out_object(&o);
	json_out_kv(&o, KEYS_RESERVED, queue);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_key(&o, "spec");
	json_out_object(&o);
	json_out_key(&o, "schedulingGates");
	json_out_array(&o);
	for (size_t i = 0; gate_at(i) != NULL; i++) {
		json_out_object(&o);
		json_out_kv(&o, "$patch", "delete");
		json_out_kv(&o, "name", gate_at(i)->gate);
		json_out_object_end(&o);
	}
	json_out_array_end(&o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
}

static void gate_removal_fill(const struct pod_write *w, struct http_call *call,
			      struct strbuf *scratch)
{
	size_t body;

	sched_kinds_path(SCHED_PODS, w->namespace_, w->name, NULL, scratch);
	strbuf_add_ch(scratch, '\0');
	body = scratch->len;
	gate_removal_body(w->uid, w->texts[0], scratch);
	rest_fill(call, scratch, body, HTTP_PATCH, "application/strategic-merge-patch+json");
}

static enum pod_write_judgement gate_removal_judge(const struct pod_write *w UNUSED,
						   const struct jdoc *pod)
{
	/* Gates of others may be left: ours alone decide. */
	const struct jdoc *gates = jdoc_path(pod, "spec.schedulingGates");

	for (const struct jdoc *g = jdoc_first(gates); g != NULL; g = jdoc_next(g)) {
		const char *name = jdoc_str(jdoc_get(g, "name"));

		if (name != NULL && gate_by_name(name) != NULL) {
			return POD_WRITE_REFUSED;
		}
	}
	return POD_WRITE_IS_DONE;
}

static const struct pod_write_kind gate_removal_kind = {
	.request = SCHED_REQ_UNGATE,
	.fill = gate_removal_fill,
	.judge = gate_removal_judge,
	/* The patch may be repeated: what it removes is gone, and what it writes is the same. */
	.read_after_unknown = false,
};

struct pod_write *gate_removal_new(const struct task *t, const char *queue)
{
	struct pod_write *w = pod_write_new(&gate_removal_kind, t);

	w->texts[0] = queue == NULL ? NULL : xmalloc_dup(queue);
	return w;
}
