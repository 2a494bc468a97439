#include "base/arena.h"
#include "scheduler/pods/actions/evict_step.h"
#include "scheduler/pods/actions/registry.h"
#include "scheduler/pods/session/hooks.h"

/* The candidates of one queue are gathered when its first PodGroup needs them. */
struct preempt_run {
	struct session *session;
	struct victims **of_queue; /* by queue id */
};

static void collect(struct session *s, struct order *o)
{
	const struct cluster *c = session_cluster(s);

	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		for (size_t k = 0; q != NULL && q->exists && k < session_podgroups(s, q)->n; k++) {
			struct evict_work *w =
				evict_step_collect(s, q, session_podgroups(s, q)->v[k]);

			if (w != NULL) {
				order_add(o, &w->order);
			}
		}
	}
}

static struct victims *victims_in(struct preempt_run *run, const struct queue *q)
{
	if (run->of_queue[q->id] == NULL) {
		run->of_queue[q->id] = victims_of_queue(run->session, q);
	}
	return run->of_queue[q->id];
}

/* Serves the first PodGroup of the queue. True: the queue may have more work. */
static bool serve_queue(struct preempt_run *run, struct order_queue *q)
{
	struct order_podgroup *next = order_next_podgroup(q);
	struct evict_work *w;

	if (next == NULL) {
		return false;
	}
	w = CONTAINER_OF(next, struct evict_work, order);
	if (evict_step_serve(run->session, w, victims_in(run, q->queue)) && w->next < w->n) {
		heap_push(&q->podgroups, next);
	}
	return true;
}

static void preempt_between_podgroups(struct session *s)
{
	struct preempt_run run = {
		.session = s,
		.of_queue = arena_zero(session_arena(s), session_cluster(s)->queues.n + 1,
				       sizeof(struct victims *)),
	};
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
	for (size_t i = 0; i < session_cluster(s)->queues.n; i++) {
		victims_finish(run.of_queue[i]);
	}
}

static bool is_wanted(struct session *s, const struct podgroup *g)
{
	return session_podgroup_count(s, g, TASK_RUNNING) > 0 && evict_step_is_starving(s, g);
}

/* One pod after the other, until the first that finds no victim. */
static void preempt_within(struct session *s, const struct queue *q, const struct podgroup *g)
{
	struct evict_work *w = evict_step_collect(s, q, g);
	struct victims *v;

	if (w == NULL) {
		return;
	}
	v = victims_of_podgroup(s, g);
	while (w->next < w->n && evict_step_serve(s, w, v)) {
	}
	victims_finish(v);
}

/* 1. PodGroups that starve, in order: their pods take the room of pods of PodGroups of the same
 *    queue with a lower priority.
 * 2. Of those that still starve, pods take the room of pods of a lower priority in the same
 *    PodGroup. */
void preempt_run(struct session *s)
{
	preempt_between_podgroups(s);
	order_for_each_podgroup(s, is_wanted, preempt_within);
}
