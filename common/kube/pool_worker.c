#include "kube/pool_private.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/xmalloc.h"

void pool_worker_init(struct pool_worker *w, struct pool *p)
{
	pthread_condattr_t attr;

	w->pool = p;
	list_init(&w->flying);
	list_init(&w->done);
	list_init(&w->again);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &attr);
	pthread_condattr_destroy(&attr);
}

void pool_worker_finish(struct pool_worker *w)
{
	pthread_cond_destroy(&w->wake);
}

void pool_worker_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t at_mono_ns)
{
	struct timespec ts;

	if (at_mono_ns == CLOCK_NEVER) {
		pthread_cond_wait(cond, lock);
		return;
	}
	ts.tv_sec = (time_t)(at_mono_ns / CLOCK_NS_PER_S);
	ts.tv_nsec = (long)(at_mono_ns % CLOCK_NS_PER_S);
	pthread_cond_timedwait(cond, lock, &ts);
}

void pool_worker_wake_one(struct pool *p)
{
	for (unsigned i = 0; i < p->n_workers; i++) {
		struct pool_worker *w = &p->workers[i];

		/* The window need not be looked at: a worker that cannot send waits again. */
		if (w->waiting && w->in_flight < p->opt.slots) {
			/* No longer waiting: the next wake-up goes to another worker. */
			w->waiting = false;
			pthread_cond_signal(&w->wake);
			return;
		}
	}
}

/* The body and the text live only during the callback; the worker reads them later. */
static void copy_result(struct http_result *to, const struct http_result *from)
{
	*to = *from;
	if (from->body.p != NULL) {
		to->body.p = xmalloc_dup_n(from->body.p, from->body.len);
	}
	to->error_text = xmalloc_dup(from->error_text);
}

static void free_result(const struct http_result *r)
{
	free((char *)(uintptr_t)r->body.p);
	free((char *)(uintptr_t)r->error_text);
}

void pool_worker_on_done(struct pool_slot *s, const struct http_result *result)
{
	struct pool *p = s->pool;
	struct pool_worker *w = s->worker;

	copy_result(&s->result, result);
	pthread_mutex_lock(&p->lock);
	/* From `flying` to `done`: pool_stop does not cancel it any more. */
	list_remove(&s->node);
	list_append(&w->done, &s->node);
	w->waiting = false;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&p->lock);
}

static void settle_done(struct pool *p, struct pool_worker *w)
{
	for (;;) {
		struct pool_slot *s = NULL;
		struct http_result result;

		pthread_mutex_lock(&p->lock);
		if (!list_is_empty(&w->done)) {
			s = LIST_ENTRY(w->done.next, struct pool_slot, node);
			list_remove(&s->node);
		}
		pthread_mutex_unlock(&p->lock);
		if (s == NULL) {
			return;
		}
		/* A copy, because pool_complete may free the slot. */
		result = s->result;
		pool_complete(s, &result);
		free_result(&result);
	}
}

/* Waits until there may be work; false: the worker must end. */
static bool wait_for_work(struct pool *p, struct pool_worker *w)
{
	bool go_on = true;
	int64_t at, now;

	pthread_mutex_lock(&p->lock);
	if (list_is_empty(&w->done)) {
		/* Each slot in use is answered once, so a worker that waits for answers will be
		 * woken. */
		if (p->stopping && w->in_flight == 0) {
			go_on = false;
		} else {
			at = pool_next_send(p, w);
			now = clock_mono(p->opt.clock);
			if (at > now) {
				w->waiting = true;
				pool_worker_wait(&w->wake, &p->lock, at);
				w->waiting = false;
			}
		}
	}
	pthread_mutex_unlock(&p->lock);
	return go_on;
}

/* Answers come before requests, because they free slots. */
static void *run(void *arg)
{
	struct pool_worker *w = arg;
	struct pool *p = w->pool;

	do {
		settle_done(p, w);
		while (pool_send_next(p, w)) {
		}
	} while (wait_for_work(p, w));
	return NULL;
}

void pool_worker_start(struct pool_worker *w)
{
	/* Created at start; a process cannot run without its threads. */
	if (pthread_create(&w->thread, NULL, run, w) != 0) {
		abort();
	}
}

void pool_worker_join(struct pool_worker *w)
{
	pthread_join(w->thread, NULL);
}
