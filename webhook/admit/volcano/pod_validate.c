#include "webhook/admit/volcano/pod_validate.h"

#include "api/core/pod.h"
#include "api/core/pod_request.h"
#include "api/volcano/gate.h"
#include "api/volcano/keys.h"
#include "enc/decode.h"
#include "webhook/admit/admit_check.h"
#include "webhook/admit/volcano/queue_tree.h"

struct growth {
	const char *resource;
	struct quantity before, after;
	bool on_node; /* then the queue's status counts `before` */
};

/* Whether the pod is under the quota of its queue: it has a reservation, or one of our gates, which
 * is removed only after a reservation. */
static bool is_held(const struct api_pod *pod)
{
	for (size_t i = 0; i < pod->spec.gates.n; i++) {
		if (gate_by_name(pod->spec.gates.v[i].name) != NULL) {
			return true;
		}
	}
	return field_map_get(&pod->meta.annotations, KEYS_RESERVED) != NULL;
}

static int check_annotation(const struct admit_request *q, struct admit_answer *a, struct err *err)
{
	const struct gate_row *row;
	struct api_pod pod, old;
	int r = admit_check_read(q, &pod_admission_fields, &pod, &old, err);

	if (r != ADMIT_CHECK_UPDATE) {
		return r < 0 ? r : 0;
	}
	/* Another spelling of the annotation will do, and so does its removal from a pod that
	 * waits for nothing and holds nothing. */
	row = gate_opt_in(&old.meta.annotations);
	if (row != NULL && gate_opt_in(&pod.meta.annotations) == NULL && is_held(&old)) {
		admit_deny_forbidden(
			a, q->arena,
			"metadata.annotations[%s]: required until the pod ends, because "
			"it is gated or holds quota of its queue",
			row->annotation);
	}
	return 0;
}

static bool is_resize(const struct admit_request *q)
{
	return str_streq(q->review->operation, "UPDATE") &&
	       str_streq(q->review->sub_resource, "resize");
}

static bool is_under_quota(const struct api_pod *pod)
{
	return gate_opt_in(&pod->meta.annotations) != NULL ||
	       field_map_get(&pod->meta.annotations, KEYS_RESERVED) != NULL;
}

/* The old object decides: annotations that the resize request changes are not trusted. */
static const struct api_queue *queue_of(const struct admit_request *q, const struct api_pod *old)
{
	const char *name = field_map_get(&old->meta.annotations, KEYS_RESERVED);

	if (name == NULL) {
		name = field_map_get(&old->meta.annotations, KEYS_QUEUE_NAME);
	}
	return name == NULL ? NULL : admit_find_queue(q->view, name);
}

/* Quota reserved for pods without a node is counted as used: growing into it would revoke the
 * reservations of those pods. */
static struct quantity amount_used(const struct api_queue *queue, const char *resource)
{
	const struct quantity *allocated = field_resources_get(&queue->status.allocated, resource);
	const struct quantity *reserved =
		field_resources_get(&queue->status.reservation.resource, resource);

	if (allocated == NULL || reserved == NULL) {
		const struct quantity *one = allocated != NULL ? allocated : reserved;

		return one != NULL ? *one : (struct quantity){ 0 };
	}
	return quantity_add(*allocated, *reserved);
}

/* A pod without a node is measured alone: it may be waiting for quota or hold it already, which
 * is not known here, and the ledger decides. With a node, `used` counts it with what it had:
 * used - before + after > limit, written without a difference that could become negative. */
static void check_level(const struct admit_request *q, const struct api_queue *queue,
			const struct growth *g, struct admit_answer *a)
{
	const struct quantity *limit = field_resources_get(&queue->spec.capability, g->resource);
	struct quantity used = amount_used(queue, g->resource);
	char has[QUANTITY_TEXT_MAX], uses[QUANTITY_TEXT_MAX], asks[QUANTITY_TEXT_MAX];

	if (limit == NULL) {
		return;
	}
	quantity_format(*limit, has);
	quantity_format(g->after, asks);
	if (quantity_cmp(g->after, *limit) > 0) {
		admit_deny_forbidden(
			a, q->arena,
			"spec.containers: the pod would request %s %s, but queue \"%s\" "
			"has a capability of %s",
			asks, g->resource, queue->meta.name, has);
	} else if (g->on_node && quantity_cmp(quantity_add(used, g->after),
					      quantity_add(*limit, g->before)) > 0) {
		quantity_format(used, uses);
		admit_deny_forbidden(
			a, q->arena,
			"spec.containers: the pod would request %s %s, but queue \"%s\" "
			"has a capability of %s, and its pods use %s",
			asks, g->resource, queue->meta.name, has, uses);
	}
}

static void check_growth(const struct admit_request *q, const struct api_queue *queue,
			 const struct growth *g, struct admit_answer *a)
{
	/* Every queue above is charged as well, so each must have room. */
	for (unsigned i = 0; queue != NULL && i < QUEUE_TREE_MAX_WALK; i++) {
		const char *parent = queue_tree_parent(queue);

		check_level(q, queue, g, a);
		queue = parent == NULL ? NULL : admit_find_queue(q->view, parent);
	}
}

static void check_resize(const struct admit_request *q, const struct api_pod *pod,
			 const struct api_pod *old, struct admit_answer *a)
{
	const struct api_queue *queue = queue_of(q, old);
	struct field_resources before, after;

	if (queue == NULL) {
		return;
	}
	pod_request_sum(old, q->arena, &before);
	pod_request_sum(pod, q->arena, &after);
	for (size_t i = 0; i < after.n; i++) {
		const struct quantity *had = field_resources_get(&before, after.v[i].name);
		struct growth g = { .resource = after.v[i].name,
				    .before = had != NULL ? *had : (struct quantity){ 0 },
				    .after = after.v[i].amount,
				    .on_node = old->spec.node_name != NULL &&
					       old->spec.node_name[0] != '\0' };

		if (quantity_cmp(g.after, g.before) > 0) {
			check_growth(q, queue, &g, a);
		}
	}
}

int pod_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	struct api_pod pod, old;
	int r;

	if (!is_resize(q)) {
		return q->options->gate_sticky ? check_annotation(q, ret, err) : 0;
	}
	r = decode_text(&pod_fields, q->review->object, &pod, q->arena, err);
	if (r == 0) {
		r = decode_text(&pod_fields, q->review->old_object, &old, q->arena, err);
	}
	if (r != 0) {
		return r;
	}
	if (is_under_quota(&old)) {
		check_resize(q, &pod, &old, ret);
	}
	return 0;
}
