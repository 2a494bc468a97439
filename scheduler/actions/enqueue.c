#include "actions/registry.h"
#include "base/arena.h"
#include "core/hooks.h"
#include "core/order.h"
#include "core/statement.h"

static void collect(struct session *s, struct order *o)
{
	const struct cluster *c = session_cluster(s);

	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		for (size_t k = 0; q != NULL && session_is_due(s, q) && k < q->jobs.n; k++) {
			const struct job *j = c->jobs.v[q->jobs.v[k]];
			struct order_job *oj;

			if (!j->has_group || session_job_phase(s, j) != JOB_PENDING) {
				continue;
			}
			oj = arena_zero(session_arena(s), 1, sizeof(*oj));
			oj->job = j;
			order_add(o, oj);
		}
	}
}

static void vote(struct session *s, const struct queue *q, const struct job *j)
{
	struct reason why = { .code = NULL };

	if (!j->has_min_resources || hooks_job_enqueueable(s, j, &why)) {
		hooks_job_enqueued(s, j);
		statement_set_phase(s, j, JOB_INQUEUE);
		return;
	}
	/* What others have queued up counts in the vote, and in flat mode the cluster's size. */
	session_wait_for_jobs(s, q);
	session_wait_for_nodes(s, q);
	if (why.code == NULL) {
		why.code = "the pod group may not be enqueued";
	}
	session_note_refusal(s, j, why.code,
			     why.detail == NULL ? why.code
						: arena_printf(session_arena(s), "%s: %s", why.code,
							       why.detail));
}

/* Queues in turn, one job each; a job that is refused waits for the next cycle, and smaller ones
 * behind it may pass. */
void enqueue_run(struct session *s)
{
	struct order_queue *q;
	struct order o;

	order_init(&o, s);
	collect(s, &o);
	order_start(&o);
	while ((q = order_next_queue(&o)) != NULL) {
		struct order_job *next = order_next_job(q);

		if (next == NULL) {
			continue;
		}
		vote(s, q->queue, next->job);
		order_put_back(&o, q);
	}
	order_finish(&o);
}
