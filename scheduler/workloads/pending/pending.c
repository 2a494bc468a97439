#include "scheduler/workloads/pending/pending.h"

#include <assert.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mix.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending_heap.h"

/* Every pending workload is in one of three places of its ClusterQueue: the heap, the inadmissible
 * list, or in flight. A flush of a tree takes effect at once: callers that want to
 * coalesce several flushes do so before they call pending_flush. */

bool pending_backoff_is_over(const struct workload *w, int64_t now)
{
	return !w->flags.requeued_false &&
	       (w->flags.requeue_at == MODEL_TIME_NONE || now >= w->flags.requeue_at);
}

bool pending_is_admissible(const struct workload *w)
{
	return !w->object.admission_gated && !w->flags.finished && w->object.active &&
	       !w->object.deleting && w->holding.node == MODEL_NONE && !w->flags.on_hold &&
	       !w->flags.waits_replacement;
}

bool pending_is_active(const struct forest *f, const struct quota_node *n)
{
	return n->is_queue && n->exists && n->queue->inactive == QUOTA_ACTIVE &&
	       n->queue->stop == QUOTA_RUN && forest_is_placed(f, n->id);
}

bool pending_selects(const struct quota_model *q, const struct cluster_queue *queue,
		     const struct workload *w)
{
	const struct quota_namespace *space = quota_namespace_find(q, str_of(w->object.namespace_));

	return space != NULL &&
	       namespace_selector_matches(&queue->namespaces, space->labels, space->nlabels);
}

static struct cluster_queue *queue_of(const struct quota_model *q, const struct workload *w)
{
	return q->nodes.v[w->pending.queue]->queue;
}

/* The ClusterQueue in which w would wait: MODEL_NONE when its LocalQueue is not there or stopped,
 * or names none that is there. */
static uint32_t resolve(const struct quota_model *q, const struct workload *w)
{
	const struct local_queue *l = quota_local_of(q, w);
	const struct quota_node *n =
		l == NULL || l->stop != QUOTA_RUN ? NULL : quota_local_queue(q, l);

	return n == NULL ? MODEL_NONE : n->id;
}

/* Equal hashes: workloads that a cycle treats the same (priority, pod sets, counts).
 * Kueue: scheduling hash, of which only the classes matter, not the digits. */
static uint64_t hash_of(const struct quota_model *q, const struct workload *w)
{
	uint64_t h = mix(w->object.npodsets, (uint64_t)workload_priority(q, w));

	for (size_t i = 0; i < w->object.npodsets; i++) {
		const struct podset *p = &w->object.podsets[i];

		h = mix(h, p->shape);
		h = mix(h, (uint64_t)p->count << 32 | (uint32_t)p->min_count);
	}
	for (size_t i = 0; i < w->object.nallowed; i++) {
		h = mix(h, w->object.allowed[i]);
	}
	return h;
}

/* --- hashes of workloads that are known not to fit ---------------------------------------------*/

/* The place of h in the sorted list, or where it would be. */
static size_t blocked_place(const struct cluster_queue *queue, uint64_t h)
{
	size_t low = 0, high = queue->blocked.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (queue->blocked.v[mid] < h) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

static bool is_blocked(const struct quota_model *q, const struct cluster_queue *queue, uint64_t h)
{
	size_t i = blocked_place(queue, h);

	return q->options.equivalence_hashing && queue->strategy == QUOTA_BEST_EFFORT_FIFO &&
	       i < queue->blocked.n && queue->blocked.v[i] == h;
}

/* A time that has passed is no reason to try it again: at once it would be parked again. */
static void park(struct quota_model *q, struct cluster_queue *queue, struct workload *w,
		 int64_t now)
{
	w->pending.where = QUOTA_INADMISSIBLE;
	w->pending.pos = (uint32_t)queue->inadmissible.n;
	vec_push(&queue->inadmissible, w->id);
	/* No event comes at the end of a backoff: pending_timers looks for it. `timed` keeps the
	 * Workload from being in that list twice. */
	if (w->flags.requeue_at != MODEL_TIME_NONE && w->flags.requeue_at > now &&
	    !w->pending.timed) {
		w->pending.timed = true;
		vec_push(&q->timers, w->id);
	}
}

static void unpark(struct quota_model *q, struct cluster_queue *queue, struct workload *w)
{
	uint32_t last = queue->inadmissible.v[queue->inadmissible.n - 1];

	vec_swap_remove(&queue->inadmissible, w->pending.pos);
	q->workloads.v[last]->pending.pos = w->pending.pos;
	w->pending.where = QUOTA_NOWHERE;
	w->pending.pos = MODEL_NONE;
}

/* No workload equal to w fits either: they need not be tried before something changes. */
static void block(struct quota_model *q, struct cluster_queue *queue, const struct workload *w,
		  int64_t now)
{
	size_t place = blocked_place(queue, w->pending.hash), kept = 0;

	if (place < queue->blocked.n && queue->blocked.v[place] == w->pending.hash) {
		return;
	}
	vec_push(&queue->blocked, w->pending.hash);
	memmove(&queue->blocked.v[place + 1], &queue->blocked.v[place],
		(queue->blocked.n - 1 - place) * sizeof(queue->blocked.v[0]));
	queue->blocked.v[place] = w->pending.hash;
	/* Kept ones move up, and the heap is ordered once, in linear time. */
	for (size_t i = 0; i < queue->heap.n; i++) {
		struct workload *other = q->workloads.v[queue->heap.v[i]];

		if (other->pending.hash != w->pending.hash) {
			queue->heap.v[kept++] = other->id;
			continue;
		}
		park(q, queue, other, now);
		other->pending.last_requeue = w->pending.last_requeue;
		other->pending.last_reason = w->pending.last_reason;
	}
	if (kept < queue->heap.n) {
		queue->heap.n = kept;
		pending_heap_rebuild(q, queue);
	}
}

void pending_unblock(struct quota_model *q, const struct workload *w)
{
	struct cluster_queue *queue = w->pending.queue == MODEL_NONE ? NULL : queue_of(q, w);
	size_t i = queue == NULL ? 0 : blocked_place(queue, w->pending.hash);

	if (queue != NULL && i < queue->blocked.n && queue->blocked.v[i] == w->pending.hash) {
		memmove(&queue->blocked.v[i], &queue->blocked.v[i + 1],
			(queue->blocked.n - 1 - i) * sizeof(queue->blocked.v[0]));
		queue->blocked.n--;
	}
}

/* --- objects come and go -----------------------------------------------------------------------*/

/* Out of its list; a sticky preemptor stays one. */
static void take_out(struct quota_model *q, struct workload *w)
{
	if (w->pending.where == QUOTA_HEAP) {
		(void)pending_heap_remove(q, queue_of(q, w), w->pending.pos);
	} else if (w->pending.where == QUOTA_INADMISSIBLE) {
		unpark(q, queue_of(q, w), w);
	}
	w->pending.where = QUOTA_NOWHERE;
	w->pending.pos = MODEL_NONE;
}

void pending_remove(struct quota_model *q, struct workload *w)
{
	if (w->pending.where == QUOTA_NOWHERE) {
		return;
	}
	take_out(q, w);
	if (queue_of(q, w)->preemptor == w->id) {
		queue_of(q, w)->preemptor = MODEL_NONE;
	}
}

static void place(struct quota_model *q, struct workload *w, int64_t now)
{
	struct cluster_queue *queue = queue_of(q, w);

	if (!pending_backoff_is_over(w, now) || is_blocked(q, queue, w->pending.hash)) {
		park(q, queue, w, now);
	} else {
		pending_heap_push(q, queue, w);
	}
}

/* 1. In flight, the cycle has it: it is placed when it is requeued.
 * 2. In another queue, or in none, nothing of the former one counts: neither its scan nor that it
 *    was tried.
 * 3. A request that changed is not the one that was found not to fit.
 * 4. An inadmissible one stays where it is if nothing changed that may help it and a cycle has seen
 *    its present generation.
 * 5. Otherwise it is placed again, since its priority or its backoff may be another one. */
void pending_update(struct quota_model *q, struct workload *w, bool changed, int64_t now)
{
	uint64_t before = w->pending.hash;
	uint32_t to;

	if (w->pending.where == QUOTA_IN_FLIGHT) {
		return;
	}
	quota_local_remember(q, w);
	to = pending_is_admissible(w) ? resolve(q, w) : MODEL_NONE;
	if (w->pending.queue != to) {
		pending_remove(q, w);
		/* Not tried there, even if it comes back. */
		w->pending.evaluated_generation = 0;
		vec_clear(&w->pending.tried);
	}
	w->pending.queue = to;
	w->pending.hash = hash_of(q, w);
	if (to == MODEL_NONE) {
		return;
	}
	if (before != 0 && before != w->pending.hash) {
		pending_unblock(q, w); /* the block was about its former request */
	}
	if (w->pending.where == QUOTA_INADMISSIBLE && !changed &&
	    w->object.generation == w->pending.evaluated_generation) {
		return;
	}
	take_out(q, w);
	place(q, w, now);
}

/* --- heads -----------------------------------------------------------------------------------*/

bool pending_is_preemptor(const struct quota_model *q, const struct workload *w)
{
	const struct cluster_queue *queue = w->pending.queue == MODEL_NONE ? NULL : queue_of(q, w);

	return queue != NULL && queue->preemptor == w->id &&
	       queue->preemptor_generation == w->object.generation;
}

void pending_pop(struct quota_model *q, const struct forest *f, struct pending_heads *out)
{
	for (size_t i = 0; i < q->nodes.n; i++) {
		struct quota_node *n = q->nodes.v[i];

		if (n == NULL || !n->is_queue || !pending_is_active(f, n)) {
			continue;
		}
		/* A flush notes this number: a scan that began in this cycle or before it knows
		 * that quota may have come free since. */
		n->queue->pop_cycle++;
		for (unsigned k = 0; k < q->options.heads && n->queue->heap.n > 0; k++) {
			struct workload *w = pending_heap_remove(q, n->queue, 0);

			w->pending.where = QUOTA_IN_FLIGHT;
			w->pending.evaluated_generation = w->object.generation;
			if (w->pending.tried.n == 0) {
				w->pending.scan_cycle = n->queue->pop_cycle;
				w->pending.scan_lost_turn = false;
			}
			vec_push(out, w);
		}
	}
}

/* The preemptor before it loses its place at the top of the heap. */
static void set_preemptor(struct quota_model *q, struct cluster_queue *queue,
			  const struct workload *w)
{
	uint32_t before = queue->preemptor;
	const struct workload *other = before == MODEL_NONE ? NULL : q->workloads.v[before];

	queue->preemptor = w->id;
	queue->preemptor_generation = w->object.generation;
	if (other != NULL && other != w && other->pending.where == QUOTA_HEAP &&
	    queue_of(q, other) == queue) {
		pending_heap_fix(q, queue, other->pending.pos);
	}
}

static bool is_urgent(const struct cluster_queue *queue, enum quota_requeue why)
{
	if (queue->strategy == QUOTA_STRICT_FIFO) {
		/* Kueue: the head stays at the top for whatever reason, but one of a namespace that
		 * is not selected would block the queue for good. */
		return why != QUOTA_REQUEUE_NAMESPACE_MISMATCH;
	}
	return why == QUOTA_REQUEUE_FAILED_AFTER_NOMINATION ||
	       why == QUOTA_REQUEUE_PENDING_PREEMPTION || why == QUOTA_REQUEUE_PENDING_MIGRATION ||
	       why == QUOTA_REQUEUE_PREEMPTION_FAILED;
}

/* A scan that ends without a fit begins again at once when a flavor that it has passed may fit now:
 * quota was released since it began, or other entries took the flavor's quota in the same cycle and
 * may have left enough for fewer pods. No event would requeue the workload otherwise. */
bool pending_is_immediate(const struct quota_model *q, const struct workload *w,
			  enum quota_requeue why, bool pending, int64_t now)
{
	const struct cluster_queue *queue = queue_of(q, w);

	return pending_backoff_is_over(w, now) &&
	       (is_urgent(queue, why) || pending || w->pending.scan_lost_turn ||
		queue->inadmissible_cycle >= (int64_t)w->pending.scan_cycle);
}

void pending_requeue(struct quota_model *q, struct workload *w, enum quota_requeue why,
		     bool pending, int64_t now)
{
	struct cluster_queue *queue = queue_of(q, w);
	bool waits =
		why == QUOTA_REQUEUE_PENDING_PREEMPTION || why == QUOTA_REQUEUE_PENDING_MIGRATION;
	bool cannot_fit = why == QUOTA_REQUEUE_NO_FIT || why == QUOTA_REQUEUE_NO_CANDIDATES;

	assert(w->pending.where == QUOTA_IN_FLIGHT);
	w->pending.last_requeue = why;
	if (!pending_is_admissible(w) || resolve(q, w) != w->pending.queue) {
		/* It does not wait here any more, whatever the cycle found. */
		pending_remove(q, w);
		pending_update(q, w, true, now);
		return;
	}
	w->pending.where = QUOTA_NOWHERE;
	w->pending.hash = hash_of(q, w);
	if (waits) {
		set_preemptor(q, queue, w);
	}
	if (pending_is_immediate(q, w, why, pending, now)) {
		pending_heap_push(q, queue, w);
		return;
	}
	park(q, queue, w, now);
	if (cannot_fit && q->options.equivalence_hashing &&
	    queue->strategy == QUOTA_BEST_EFFORT_FIFO) {
		block(q, queue, w, now);
	}
}

/* --- trying again ------------------------------------------------------------------------------*/

static size_t flush_queue(struct quota_model *q, struct cluster_queue *queue, int64_t now)
{
	size_t i = 0, moved = 0;

	queue->inadmissible_cycle = (int64_t)queue->pop_cycle;
	vec_clear(&queue->blocked);
	while (i < queue->inadmissible.n) {
		struct workload *w = q->workloads.v[queue->inadmissible.v[i]];

		/* unpark() puts the last one into the place of the one it takes, so the index
		 * advances only past one that stays. */
		if (!pending_backoff_is_over(w, now) || !pending_selects(q, queue, w)) {
			i++;
			continue;
		}
		unpark(q, queue, w);
		pending_heap_push(q, queue, w);
		moved++;
	}
	return moved;
}

/* Quota that is free anywhere in a tree may be lent to any queue of it, so all of its queues are
 * flushed. The API sets no limit to the depth of a tree: no recursion. */
size_t pending_flush(struct quota_model *q, const struct forest *f, uint32_t node, int64_t now)
{
	struct VEC(uint32_t) todo = VEC_INIT;
	size_t moved = 0;

	if (node >= q->nodes.n || q->nodes.v[node] == NULL) {
		return 0; /* gone since, with its workloads */
	}
	vec_push(&todo, forest_is_placed(f, node) ? forest_root(f, node) : node);
	while (todo.n > 0) {
		uint32_t id = vec_pop(&todo);
		const uint32_t *children;
		size_t n = 0;

		if (q->nodes.v[id]->is_queue) {
			moved += flush_queue(q, q->nodes.v[id]->queue, now);
			continue;
		}
		children = forest_children(f, id, &n);
		for (size_t i = 0; i < n; i++) {
			vec_push(&todo, children[i]);
		}
	}
	vec_finish(&todo);
	return moved;
}

int64_t pending_timers(struct quota_model *q, int64_t now)
{
	int64_t next = INT64_MAX;
	size_t kept = 0;

	for (size_t i = 0; i < q->timers.n; i++) {
		uint32_t id = q->timers.v[i];
		struct workload *w = id < q->workloads.n ? q->workloads.v[id] : NULL;

		if (w == NULL || !w->pending.timed) {
			continue;
		}
		/* Where it is elsewhere by now, it enters the list again when it is parked
		 * again. */
		if (w->pending.where != QUOTA_INADMISSIBLE ||
		    w->flags.requeue_at == MODEL_TIME_NONE || now >= w->flags.requeue_at) {
			if (w->pending.where == QUOTA_INADMISSIBLE) {
				pending_update(q, w, true, now);
			}
			w->pending.timed = false;
			continue;
		}
		next = w->flags.requeue_at < next ? w->flags.requeue_at : next;
		q->timers.v[kept++] = id;
	}
	q->timers.n = kept;
	return next;
}
