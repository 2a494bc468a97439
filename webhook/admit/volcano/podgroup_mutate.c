#include "webhook/admit/volcano/podgroup_mutate.h"

#include "api/volcano/keys.h"
#include "enc/decode.h"

struct shape {
	bool has_spec;
};
static const struct field shape_rows[] = { F_PRESENT(struct shape, has_spec, "spec") };
static const struct field_table shape_fields = FIELD_TABLE(struct shape, shape_rows);

static int set_queue(const struct admit_request *q, const char *queue, struct admit_answer *a,
		     struct err *err)
{
	struct shape shape;
	int r = decode_text(&shape_fields, q->review->object, &shape, q->arena, err);

	if (r < 0) {
		return r;
	}
	/* JSON Patch adds a member only to an object that exists. */
	if (shape.has_spec) {
		admit_patch_add(a, "/spec/queue", NULL);
		json_out_str(&a->out, queue);
	} else {
		admit_patch_add(a, "/spec", NULL);
		json_out_object(&a->out);
		json_out_kv(&a->out, "queue", queue);
		json_out_object_end(&a->out);
	}
	admit_patch_end(a);
	admit_patch_close(a);
	return 0;
}

int podgroup_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	const struct admit_namespace *ns;
	struct api_pod_group group;
	int r;

	if (!admit_is_operation(q, "CREATE")) {
		return 0;
	}
	r = decode_text(&scheduling_pod_group_fields, q->review->object, &group, q->arena, err);
	if (r < 0) {
		return r;
	}
	/* Volcano's rule: the name of the default queue counts as none, since its CRD writes
	 * that name where a PodGroup has no queue. */
	if (group.spec.queue != NULL && !str_streq(group.spec.queue, KEYS_DEFAULT_QUEUE)) {
		return 0;
	}
	ns = admit_find_namespace(q->view, group.meta.namespace_ != NULL ? group.meta.namespace_
									 : q->review->namespace_);
	if (ns == NULL || ns->queue == NULL || str_streq(ns->queue, group.spec.queue)) {
		return 0;
	}
	return set_queue(q, ns->queue, ret, err);
}
