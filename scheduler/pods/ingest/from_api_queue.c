#include <stdlib.h>

#include "api/volcano/keys.h"
#include "api/volcano/scheduling.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/model/access.h"

/* Without a state yet, the queue is open. */
static uint8_t state_of(const char *text)
{
	if (text == NULL || str_streq(text, KEYS_QUEUE_OPEN)) {
		return QUEUE_OPEN;
	}
	if (str_streq(text, KEYS_QUEUE_CLOSED)) {
		return QUEUE_CLOSED;
	}
	return str_streq(text, KEYS_QUEUE_CLOSING) ? QUEUE_CLOSING : QUEUE_UNKNOWN;
}

static int read_amounts(struct cluster *c, const struct api_queue *queue, struct queue *into,
			struct err *err)
{
	const struct api_queue_spec *spec = &queue->spec;

	res_fill(&into->capability, RES_UNLIMITED);
	if (from_api_offered(c, &spec->capability, RES_UNLIMITED, &into->capability, err) < 0) {
		return err_wrap(err, "spec.capability");
	}
	if (from_api_offered(c, &spec->guarantee.resource, RES_UNLIMITED, &into->guarantee, err) <
	    0) {
		return err_wrap(err, "spec.guarantee.resource");
	}
	if (from_api_offered(c, &spec->deserved, RES_UNLIMITED, &into->deserved, err) < 0) {
		return err_wrap(err, "spec.deserved");
	}
	return 0;
}

/* Everything that decisions depend on. The status that our controller writes is not part of it, so
 * that it wakes no cycle. */
static bool same(const struct queue *a, const struct queue *b)
{
	return a->exists == b->exists && a->state == b->state && a->reclaimable == b->reclaimable &&
	       a->weight == b->weight && a->priority == b->priority &&
	       str_streq(a->parent_name, b->parent_name) && str_streq(a->hierarchy, b->hierarchy) &&
	       str_streq(a->hierarchy_weights, b->hierarchy_weights) &&
	       res_eq(&a->capability, &b->capability) && res_eq(&a->guarantee, &b->guarantee) &&
	       res_eq(&a->deserved, &b->deserved);
}

/* NULL: there is none, or it is empty. */
static char *text_or_null(const char *text)
{
	return text == NULL || text[0] == '\0' ? NULL : xmalloc_dup(text);
}

static void free_texts(struct queue *q)
{
	free(q->parent_name);
	free(q->hierarchy);
	free(q->hierarchy_weights);
}

int from_api_queue(struct cluster *c, const struct api_queue *queue, bool *ret_changed,
		   struct err *err)
{
	const struct field_map *annotations = &queue->meta.annotations;
	struct queue new = {
		.exists = true,
		.state = state_of(queue->status.state),
		.reclaimable = queue->spec.reclaimable != 0,
		.weight = queue->spec.weight < 1 ? 1 : queue->spec.weight,
		.priority = queue->spec.priority,
	};
	struct queue *q;

	if (queue->meta.name == NULL) {
		return err_set(err, ERR_INVALID, "metadata.name: missing");
	}
	new.parent_name = text_or_null(queue->spec.parent);
	new.hierarchy = text_or_null(field_map_get(annotations, KEYS_HIERARCHY));
	new.hierarchy_weights = text_or_null(field_map_get(annotations, KEYS_HIERARCHY_WEIGHTS));
	if (read_amounts(c, queue, &new, err) < 0) {
		free_texts(&new);
		return -ERR_INVALID;
	}
	/* Everything is read by now: a queue that is refused stays as it was. */
	q = queue_get(c, str_of(queue->meta.name));
	*ret_changed = !same(q, &new);
	*ret_changed |= access_set_queue(c, str_of(queue->meta.name),
					 field_map_get(annotations, KEYS_NAMESPACE_SELECTOR));
	q->exists = true;
	q->state = new.state;
	q->reclaimable = new.reclaimable;
	q->weight = new.weight;
	q->priority = new.priority;
	q->created = queue->meta.created;
	q->capability = new.capability;
	q->guarantee = new.guarantee;
	q->deserved = new.deserved;
	free_texts(q);
	q->parent_name = new.parent_name;
	q->hierarchy = new.hierarchy;
	q->hierarchy_weights = new.hierarchy_weights;
	free(q->uid);
	q->uid = queue->meta.uid == NULL ? NULL : xmalloc_dup(queue->meta.uid);
	q->resource_version = meta_version(&queue->meta);
	return 0;
}
