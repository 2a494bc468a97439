#include "base/arena.h"
#include "scheduler/pods/actions/evict_step.h"
#include "scheduler/pods/actions/registry.h"
#include "scheduler/pods/session/hooks.h"

/* The candidates of all queues are gathered when the first PodGroup needs them. */
struct reclaim_run {
	struct session *session;
	struct victims *victims;
};

/* The pods for which the queue may take something back, as things are: without one, victims need
 * not be gathered. False: none. */
static bool keep_entitled(struct session *s, struct evict_work *w)
{
	size_t kept = 0;

	for (size_t i = w->next; i < w->n; i++) {
		if (hooks_preemptive(s, w->queue, w->tasks[i])) {
			w->tasks[kept++] = w->tasks[i];
		}
	}
	w->next = 0;
	w->n = kept;
	return kept > 0;
}

static void collect_queue(struct session *s, const struct queue *q, struct order *o)
{
	for (size_t k = 0; k < session_podgroups(s, q)->n; k++) {
		struct evict_work *w = evict_step_collect(s, q, session_podgroups(s, q)->v[k]);

		if (w == NULL) {
			continue;
		}
		w->reclaims = true;
		/* It depends on the pods of other queues what they give. */
		session_wait_for_podgroups(s, q);
		order_add(o, &w->order);
	}
}

static void collect(struct session *s, struct order *o)
{
	const struct cluster *c = session_cluster(s);

	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		if (q != NULL && q->exists && session_is_due(s, q) &&
		    hooks_queue_accepts(s, q, NULL)) {
			collect_queue(s, q, o);
		}
	}
}

/* Serves the first PodGroup of the queue. True: the queue may have more work. */
static bool serve_queue(struct reclaim_run *run, struct order_queue *q)
{
	struct session *s = run->session;
	struct order_podgroup *next;
	struct evict_work *w;

	if (hooks_overused(s, q->queue)) {
		return false;
	}
	next = order_next_podgroup(q);
	if (next == NULL) {
		return false;
	}
	w = CONTAINER_OF(next, struct evict_work, order);
	/* Those before it have used up a part of what the queue deserves. */
	if (!keep_entitled(s, w)) {
		return true;
	}
	if (run->victims == NULL) {
		run->victims = victims_of_all_queues(s);
	}
	if (evict_step_serve(s, w, run->victims) && w->next < w->n) {
		heap_push(&q->podgroups, next);
	}
	return true;
}

/* PodGroups that starve, queue by queue: their pods take the room of pods of queues that have more
 * than they deserve, as long as their own queue gets no more than it deserves. */
void reclaim_run(struct session *s)
{
	struct reclaim_run run = { .session = s };
	struct order_queue *q;
	struct order o;

	order_init(&o, s);
	collect(s, &o);
	order_start(&o);
	while ((q = order_next_queue(&o)) != NULL) {
		if (serve_queue(&run, q)) {
			order_put_back(&o, q);
		}
	}
	order_finish(&o);
	victims_finish(run.victims);
}
