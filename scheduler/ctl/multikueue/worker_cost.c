#include "scheduler/ctl/multikueue/worker_cost.h"

#include <pthread.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "scheduler/multikueue/worker/survey.h"

/* The answer of a survey comes on the transport's thread. */
struct waiting {
	pthread_mutex_t lock;
	pthread_cond_t done;
	struct survey_answer *answer; /* guarded by lock; NULL: not yet */
};

static void on_done(void *ctx, struct survey_answer *answer)
{
	struct waiting *w = ctx;

	pthread_mutex_lock(&w->lock);
	w->answer = answer;
	pthread_cond_signal(&w->done);
	pthread_mutex_unlock(&w->lock);
}

static void take(const struct survey_answer *a, struct arena *arena, struct worker_cost *ret)
{
	const struct price *p = a->n == 0 ? NULL : &a->prices[0].price;

	*ret = (struct worker_cost){ .verdict = PRICE_UNKNOWN };
	if (a->err.code != ERR_NONE) {
		ret->why = arena_dup(arena, a->err.text);
	} else if (p != NULL) {
		ret->verdict = p->verdict;
		ret->cost = p->cost;
		ret->victims = p->n;
		ret->why = p->message == NULL ? NULL : arena_dup(arena, p->message);
	}
}

/* A survey ends within its limit whatever the worker does. */
void worker_cost_read(const struct worker_cost_request *r, struct arena *arena,
		      struct worker_cost *ret)
{
	struct waiting w = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL };
	const struct survey_want want = { .key = r->key };
	const struct survey_options so = { .transport = r->worker,
					   .clock = clock_real(),
					   .conf = r->conf,
					   .limit_ns = r->limit_ns,
					   .on_done = on_done,
					   .ctx = &w };
	struct survey *s = survey_start(&so, &want, 1);

	pthread_mutex_lock(&w.lock);
	while (w.answer == NULL) {
		pthread_cond_wait(&w.done, &w.lock);
	}
	pthread_mutex_unlock(&w.lock);
	survey_destroy(s);
	take(w.answer, arena, ret);
	survey_answer_destroy(w.answer);
	pthread_cond_destroy(&w.done);
	pthread_mutex_destroy(&w.lock);
}
