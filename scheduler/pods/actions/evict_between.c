#include "scheduler/pods/actions/evict_between.h"

#include "base/arena.h"
#include "scheduler/pods/actions/evict_gang.h"
#include "scheduler/pods/session/hooks.h"

/* The candidates of a queue, or of all, are gathered when the first PodGroup needs them. */
struct evict_round {
	struct session *session;
	enum evict_gangs gangs;
	struct victims **of_queue; /* by queue id */
	struct victims *of_all;
	struct evict_gang_tried tried;
};

/* True: the PodGroup was served, and may have more pods to serve. */
static bool serve(struct evict_round *r, struct evict_work *w, struct victims *v)
{
	bool served = r->gangs == EVICT_GANGS_WHOLE ? evict_gang_serve(r->session, w, v, &r->tried)
						    : evict_step_serve(r->session, w, v);

	return served && w->next < w->n;
}

static struct victims *made(const struct evict_round *r, struct victims *v)
{
	if (r->gangs != EVICT_GANGS_AS_PLUGINS_SAY) {
		victims_spare_gangs(v);
	}
	return v;
}

static void collect_starving(struct session *s, struct order *o)
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

static struct victims *victims_in(struct evict_round *r, const struct queue *q)
{
	if (r->of_queue[q->id] == NULL) {
		r->of_queue[q->id] = made(r, victims_of_queue(r->session, q));
	}
	return r->of_queue[q->id];
}

static struct victims *victims_in_all(struct evict_round *r)
{
	if (r->of_all == NULL) {
		r->of_all = made(r, victims_of_all_queues(r->session));
	}
	return r->of_all;
}

/* Serves the first PodGroup of the queue. True: the queue may have more work. */
static bool preempt_in(struct evict_round *r, struct order_queue *q)
{
	struct order_podgroup *next = order_next_podgroup(q);

	if (next == NULL) {
		return false;
	}
	if (serve(r, CONTAINER_OF(next, struct evict_work, order), victims_in(r, q->queue))) {
		heap_push(&q->podgroups, next);
	}
	return true;
}

void evict_between_podgroups(struct session *s, enum evict_gangs gangs)
{
	struct evict_round r = {
		.session = s,
		.gangs = gangs,
		.of_queue = arena_zero(session_arena(s), session_cluster(s)->queues.n + 1,
				       sizeof(struct victims *)),
	};
	struct order_queue *q;
	struct order o;

	order_init(&o, s);
	collect_starving(s, &o);
	order_start(&o);
	while ((q = order_next_queue(&o)) != NULL) {
		if (preempt_in(&r, q)) {
			order_put_back(&o, q);
		}
	}
	order_finish(&o);
	vec_finish(&r.tried.in_vain);
	for (size_t i = 0; i < session_cluster(s)->queues.n; i++) {
		victims_finish(r.of_queue[i]);
	}
}

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

static void collect_entitled(struct session *s, struct order *o)
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

/* As preempt_in. */
static bool reclaim_for(struct evict_round *r, struct order_queue *q)
{
	struct session *s = r->session;
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
	if (keep_entitled(s, w) && serve(r, w, victims_in_all(r))) {
		heap_push(&q->podgroups, next);
	}
	return true;
}

void evict_between_queues(struct session *s, enum evict_gangs gangs)
{
	struct evict_round r = { .session = s, .gangs = gangs };
	struct order_queue *q;
	struct order o;

	order_init(&o, s);
	collect_entitled(s, &o);
	order_start(&o);
	while ((q = order_next_queue(&o)) != NULL) {
		size_t decisions = session_decisions_so_far(s)->n;

		if (reclaim_for(&r, q)) {
			order_put_back(&o, q);
		}
		/* The queues of the victims have less. */
		if (session_decisions_so_far(s)->n != decisions) {
			order_refresh(&o);
		}
	}
	order_finish(&o);
	vec_finish(&r.tried.in_vain);
	victims_finish(r.of_all);
}
