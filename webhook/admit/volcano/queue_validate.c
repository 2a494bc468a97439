#include "webhook/admit/volcano/queue_validate.h"

#include "api/volcano/keys.h"
#include "enc/decode.h"
#include "webhook/admit/volcano/queue_access.h"
#include "webhook/admit/volcano/queue_amounts.h"
#include "webhook/admit/volcano/queue_hierarchy.h"
#include "webhook/admit/volcano/queue_tree.h"

/* Closing is set by the controller only; users set Open or Closed. */
static void check_state(const struct admit_request *q, const struct api_queue *queue,
			const struct api_queue *old, struct admit_answer *a)
{
	const char *state = queue->status.state;

	if (state == NULL || str_streq(state, KEYS_QUEUE_OPEN) ||
	    str_streq(state, KEYS_QUEUE_CLOSED) ||
	    (old != NULL && str_streq(state, old->status.state))) {
		return;
	}
	admit_deny_invalid(a, q->arena, "status.state: \"%s\" is neither Open nor Closed", state);
}

/* Volcano's scheduler does not read the field either. An edit of anything else needs no word. */
static void warn_of_dequeue_strategy(const struct admit_request *q, const struct api_queue *queue,
				     const struct api_queue *old, struct admit_answer *a)
{
	const char *is = queue->spec.dequeue_strategy;

	if (str_streq(is, KEYS_DEQUEUE_FIFO) &&
	    (old == NULL || !str_streq(is, old->spec.dequeue_strategy))) {
		admit_warn(a, q->arena,
			   "spec.dequeueStrategy: " KEYS_DEQUEUE_FIFO
			   " has no effect: a PodGroup that cannot start holds up no others");
	}
}

static bool amounts_changed(const struct api_queue *queue, const struct api_queue *old)
{
	return !queue_amounts_equal(&queue->spec.capability, &old->spec.capability) ||
	       !queue_amounts_equal(&queue->spec.deserved, &old->spec.deserved) ||
	       !queue_amounts_equal(&queue->spec.guarantee.resource, &old->spec.guarantee.resource);
}

static void check_write(const struct admit_request *q, const struct api_queue *queue,
			const struct api_queue *old, struct admit_answer *a)
{
	bool changed = old == NULL || amounts_changed(queue, old);
	bool moved = old == NULL || !str_streq(queue_tree_parent(queue), queue_tree_parent(old));

	check_state(q, queue, old, a);
	warn_of_dequeue_strategy(q, queue, old, a);
	queue_access_check(q, queue, a);
	queue_amounts_check(q, queue, a);
	if (old != NULL && changed && q->options->root_queue_protection &&
	    str_streq(queue->meta.name, KEYS_ROOT_QUEUE)) {
		admit_deny_forbidden(
			a, q->arena,
			"capability, deserved and guarantee of the root queue cannot be "
			"changed (--enable-root-queue-protection)");
	}
	/* The checks below compare with other queues, which are not known here (--offline). */
	if (!q->view->queues_known) {
		return;
	}
	queue_hierarchy_check(q, queue, a);
	/* A place that was valid once may not be so by the rules of today: edits that do not
	 * move the queue are not held up by it. */
	if (moved) {
		queue_tree_check_place(q, queue, a);
	}
	/* Only with a place that is valid: the amounts are compared along the chain of parents. */
	if (a->allowed && (moved || changed)) {
		queue_tree_check_amounts(q, queue, a);
	}
}

static void check_delete(const struct admit_request *q, const struct api_queue *old,
			 struct admit_answer *a)
{
	const char *name = q->review->name != NULL ? q->review->name : old->meta.name;

	if (str_streq(name, KEYS_DEFAULT_QUEUE) || str_streq(name, KEYS_ROOT_QUEUE)) {
		admit_deny_forbidden(a, q->arena, "queue \"%s\" cannot be deleted", name);
	} else if (queue_tree_has_children(q->view, name)) {
		admit_deny_forbidden(a, q->arena, "queue \"%s\" has children", name);
	} else if (q->options->queue_allocated_pods_check && queue_tree_has_pods(old)) {
		admit_deny_forbidden(a, q->arena, "queue \"%s\" has pods", name);
	}
}

int queue_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	bool create = admit_is_operation(q, "CREATE"), update = admit_is_operation(q, "UPDATE");
	bool delete = admit_is_operation(q, "DELETE");
	struct api_queue queue = { 0 }, old = { 0 };
	int r = 0;

	if (create || update) {
		r = decode_text(&scheduling_queue_fields, q->review->object, &queue, q->arena, err);
	}
	if (r == 0 && (update || delete)) {
		r = decode_text(&scheduling_queue_fields, q->review->old_object, &old, q->arena,
				err);
	}
	if (r < 0) {
		return r;
	}
	if (delete) {
		check_delete(q, &old, ret);
	} else if (create || update) {
		/* With generateName the object has no name yet. */
		if (queue.meta.name == NULL) {
			queue.meta.name = q->review->name != NULL ? q->review->name : "";
		}
		check_write(q, &queue, update ? &old : NULL, ret);
	}
	return 0;
}
