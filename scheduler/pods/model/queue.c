#include "scheduler/pods/model/queue.h"

#include <assert.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "collections/strmap.h"

struct queue *queue_find(const struct cluster *c, struct str name)
{
	return strmap_get(c->queue_by_name, name);
}

struct queue *queue_get(struct cluster *c, struct str name)
{
	struct queue *q = queue_find(c, name);

	if (q != NULL) {
		return q;
	}
	q = xmalloc_zero(1, sizeof(*q));
	q->name = xmalloc_dup_n(name.p, name.len);
	q->parent = MODEL_NONE;
	q->reclaimable = true;
	q->weight = 1;
	q->created = MODEL_TIME_NONE;
	q->broken = "does not exist";
	q->scan.timer_at = INT64_MAX;
	res_fill(&q->capability, RES_UNLIMITED);
	q->id = slots_add(&c->queues, q);
	strmap_set(c->queue_by_name, name, q);
	return q;
}

bool queue_is_within(const struct cluster *c, uint32_t id, const struct queue *top)
{
	const struct queue *q;

	QUEUE_FOR_EACH_UP (q, c, id) {
		if (q == top) {
			return true;
		}
	}
	return false;
}

/* A placeholder stays while anything refers to it by id. */
void queue_prune(struct cluster *c, struct queue *q)
{
	if (q->exists || q->id == c->root_queue || q->id == c->default_queue ||
	    q->podgroups.n > 0 || q->waiting.n > 0 || q->children.n > 0 ||
	    q->parent != MODEL_NONE || !res_is_zero(&q->charged)) {
		return;
	}
	strmap_remove(c->queue_by_name, str_of(q->name));
	slots_remove(&c->queues, q->id);
	vec_finish(&q->children);
	vec_finish(&q->podgroups);
	vec_finish(&q->waiting);
	vec_finish(&q->open);
	vec_finish(&q->changed);
	free(q->name);
	free(q->uid);
	free(q->parent_name);
	free(q->hierarchy);
	free(q->hierarchy_weights);
	free(q);
}
