#include "kube/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

#include "api/meta/status.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "kube/pool_private.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "process/log.h"

/* Items that failed at the same moment are not all sent again at the same moment. */
#define BACKOFF_JITTER 0.25
#define ROUND_MIN 32 /* successes before one more may be in flight */
/* Attempts at one item after which its failure is logged, and then after twice as many each time:
 * one that ends within seconds is not worth a line. */
#define ATTEMPTS_LOGGED 8

struct pool_waiting {
	void *item;
	unsigned sends;
	bool refused; /* it backs off because the API server refused it */
	void (*free_item)(void *item);
};

static void free_waiting(void *value)
{
	struct pool_waiting *w = value;

	if (w->item != NULL && w->free_item != NULL) {
		w->free_item(w->item);
	}
	free(w);
}

static bool is_manual(const struct pool *p)
{
	return p->opt.workers == 0;
}

struct pool *pool_create(const struct pool_options *opt)
{
	struct pool *p = xmalloc_zero(1, sizeof(*p));
	const struct workqueue_options wq = { .delay_min_ns = opt->backoff_min_ns,
					      .delay_max_ns = opt->backoff_max_ns,
					      .jitter = BACKOFF_JITTER,
					      .seed = opt->seed };
	pthread_condattr_t attr;

	assert(opt->slots > 0);
	p->opt = *opt;
	if (p->opt.refused_max_ns == 0) {
		p->opt.refused_max_ns = opt->backoff_max_ns;
	}
	p->queue = workqueue_create(&wq, opt->clock);
	p->items = strmap_create(free_waiting);
	pthread_mutex_init(&p->lock, NULL);
	/* Deadlines of waits are times of clock_mono: a step of the wall clock must not move
	 * them. */
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->idle, &attr);
	pthread_condattr_destroy(&attr);
	p->n_workers = is_manual(p) ? 1 : opt->workers;
	p->window = p->window_max = p->n_workers * opt->slots;
	p->workers = xmalloc_zero(p->n_workers, sizeof(p->workers[0]));
	for (unsigned i = 0; i < p->n_workers; i++) {
		pool_worker_init(&p->workers[i], p);
	}
	/* The threads start last, because they use all of the above. */
	for (unsigned i = 0; i < opt->workers; i++) {
		pool_worker_start(&p->workers[i]);
	}
	return p;
}

static struct pool_waiting *new_waiting(const struct pool *p, void *item, unsigned sends)
{
	struct pool_waiting *w = xmalloc_zero(1, sizeof(*w));

	w->item = item;
	w->sends = sends;
	w->free_item = p->opt.ops->free_item;
	return w;
}

void pool_add(struct pool *p, struct str key, void *item_take)
{
	pool_add_after(p, key, item_take, 0);
}

void pool_add_after(struct pool *p, struct str key, void *item_take, int64_t delay_ns)
{
	struct pool_waiting *w = new_waiting(p, item_take, 0);
	struct pool_waiting *old = NULL;

	pthread_mutex_lock(&p->lock);
	if (p->stopping) {
		old = w;
	} else {
		old = strmap_take(p->items, key);
		strmap_set(p->items, key, w);
		if (delay_ns > 0) {
			workqueue_add_after(p->queue, key, delay_ns);
		} else {
			workqueue_add(p->queue, key);
		}
		/* The new item says something else: it need not wait for what was refused. */
		if (old != NULL && old->refused) {
			workqueue_make_ready(p->queue, key);
		}
		pool_worker_wake_one(p);
	}
	pthread_mutex_unlock(&p->lock);
	/* Without the lock, since free_item is a function of the owner. */
	if (old != NULL) {
		free_waiting(old);
	}
}

bool pool_drop_oldest(struct pool *p)
{
	struct pool_waiting *w = NULL;
	struct str key;

	pthread_mutex_lock(&p->lock);
	if (workqueue_drop_oldest(p->queue, &key)) {
		w = strmap_take(p->items, key);
	}
	pthread_mutex_unlock(&p->lock);
	if (w == NULL) {
		return false;
	}
	free_waiting(w);
	return true;
}

static struct str key_of(const struct pool_slot *s)
{
	return (struct str){ s->key, s->key_len };
}

static void free_slot(struct pool_slot *s)
{
	free(s->key);
	free(s);
}

static bool has_free_slot(const struct pool *p, const struct pool_worker *w)
{
	return w->in_flight < p->opt.slots && p->in_flight < p->window;
}

int64_t pool_next_send(const struct pool *p, const struct pool_worker *w)
{
	int64_t at = CLOCK_NEVER;

	if (p->stopping) {
		return CLOCK_NEVER;
	}
	/* A slot that sends again has its place already, also when the window has shrunk. */
	if (!list_is_empty(&w->again)) {
		at = clock_mono(p->opt.clock);
	} else if (has_free_slot(p, w)) {
		at = workqueue_wake_at(p->queue);
	}
	return at != CLOCK_NEVER && at < p->held_until ? p->held_until : at;
}

static bool can_send(struct pool *p, const struct pool_worker *w)
{
	bool can;

	pthread_mutex_lock(&p->lock);
	can = pool_next_send(p, w) <= clock_mono(p->opt.clock);
	pthread_mutex_unlock(&p->lock);
	return can;
}

void pool_hold_until(struct pool *p, int64_t until_mono_ns)
{
	pthread_mutex_lock(&p->lock);
	if (p->held_until < until_mono_ns) {
		p->held_until = until_mono_ns;
	}
	pthread_mutex_unlock(&p->lock);
}

static void hold(struct pool *p, int64_t wait_ns)
{
	pool_hold_until(p, clock_mono(p->opt.clock) + wait_ns);
}

/* Takes the next item to send, in its slot; NULL: another worker was faster. */
static struct pool_slot *take_next(struct pool *p, struct pool_worker *w)
{
	struct pool_slot *s = NULL;
	struct pool_waiting *item;
	struct str key;

	pthread_mutex_lock(&p->lock);
	if (p->stopping) {
		s = NULL;
	} else if (!list_is_empty(&w->again)) {
		s = LIST_ENTRY(w->again.next, struct pool_slot, node);
		list_remove(&s->node);
	} else if (has_free_slot(p, w) && workqueue_next(p->queue, &key)) {
		item = strmap_take(p->items, key);
		/* A key and its item enter and leave the queue together, under the lock. */
		assert(item != NULL);
		s = xmalloc_zero(1, sizeof(*s));
		s->pool = p;
		s->worker = w;
		s->key = xmalloc_dup_n(key.p, key.len);
		s->key_len = key.len;
		s->item = item->item;
		s->sends = item->sends;
		free(item);
		list_init(&s->node);
		w->in_flight++;
		p->in_flight++;
	}
	pthread_mutex_unlock(&p->lock);
	return s;
}

/* Empties the slot. With the lock held. */
static void leave_slot(struct pool *p, struct pool_slot *s)
{
	s->worker->in_flight--;
	p->in_flight--;
	if (p->in_flight == 0) {
		pthread_cond_signal(&p->idle);
	}
	/* Where the window is smaller than the slots of all workers, another one may have waited
	 * for this place. */
	if (p->window < p->window_max) {
		pool_worker_wake_one(p);
	}
}

/* Puts the item back into the queue, unless a newer item of its key has come meanwhile: that one
 * replaces it. After a transient failure the newer item waits for the backoff of the key as well,
 * because the failure was not about the content; after a refusal it waits only for its own delay,
 * because its content differs. Returns the item to free. With the lock held. */
static void *put_back(struct pool *p, struct pool_slot *s, bool refused)
{
	struct str key = key_of(s);
	bool newer = strmap_has(p->items, key);
	struct pool_waiting *w;

	if (!newer) {
		w = new_waiting(p, s->item, s->sends + 1);
		w->refused = refused;
		strmap_set(p->items, key, w);
	}
	if (!refused) {
		workqueue_retry(p->queue, key);
	} else if (!newer) {
		workqueue_retry_up_to(p->queue, key, p->opt.refused_max_ns);
	}
	workqueue_done(p->queue, key);
	leave_slot(p, s);
	return newer ? s->item : NULL;
}

/* Applies the verdict; returns the item to free. While the pool stops every verdict is final, since
 * nothing is sent any more. With the lock held. */
static void *file_verdict(struct pool *p, struct pool_slot *s, enum pool_verdict verdict,
			  bool *ret_keep)
{
	struct str key = key_of(s);
	void *surplus = s->item;

	*ret_keep = false;
	if (p->stopping) {
		workqueue_done(p->queue, key);
		leave_slot(p, s);
		return surplus;
	}
	switch (verdict) {
	case POOL_AGAIN:
		/* The slot stays in use: the item keeps its place, and its key counts as in
		 * flight. */
		s->sends++;
		list_append(&s->worker->again, &s->node);
		*ret_keep = true;
		return NULL;
	case POOL_RETRY:
	case POOL_REFUSED:
		return put_back(p, s, verdict == POOL_REFUSED);
	case POOL_DONE:
		workqueue_forget(p->queue, key);
		workqueue_done(p->queue, key);
		leave_slot(p, s);
		return surplus;
	}
	return surplus;
}

static void settle(struct pool_slot *s, enum pool_verdict verdict)
{
	struct pool *p = s->pool;
	void (*free_item)(void *item) = p->opt.ops->free_item;
	void *surplus;
	bool keep;

	pthread_mutex_lock(&p->lock);
	surplus = file_verdict(p, s, verdict, &keep);
	pthread_mutex_unlock(&p->lock);
	if (surplus != NULL && free_item != NULL) {
		free_item(surplus);
	}
	if (!keep) {
		free_slot(s);
	}
}

/* The API server is busy. Requests refused together would be refused together again after the same
 * wait, so the number in flight is reduced. Refusals of one burst count once. */
static void slow_down(struct pool *p, int64_t wait_ns)
{
	int64_t now = clock_mono(p->opt.clock);

	pthread_mutex_lock(&p->lock);
	if (p->busy_until <= now) {
		p->busy_until = now + wait_ns;
		p->window = p->window > 4 ? p->window / 4 : 1;
		p->successes = 0;
	}
	if (p->held_until < now + wait_ns) {
		p->held_until = now + wait_ns;
	}
	pthread_mutex_unlock(&p->lock);
}

/* A round is as many successes as may be in flight. In a small window it would be over at once, so
 * it has at least ROUND_MIN. */
static void speed_up(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	if (p->window < p->window_max && ++p->successes >= ROUND_MIN && p->successes >= p->window) {
		p->window++;
		p->successes = 0;
	}
	pthread_mutex_unlock(&p->lock);
}

/* Nothing else reports a request that is sent again and again. */
static void log_failing(const struct pool_slot *s, const struct http_result *result)
{
	unsigned attempts = s->sends + 1;
	struct err err = ERR_INIT;

	if (attempts < ATTEMPTS_LOGGED || (attempts & (attempts - 1)) != 0) {
		return;
	}
	(void)rest_result(result, &err);
	log_warn("a request fails again and again", LOG_STR("pool", s->pool->opt.name),
		 LOG_STR("key", s->key), LOG_INT("attempts", attempts),
		 LOG_INT("status", result->status), LOG_STR("error", err.text));
}

void pool_complete(struct pool_slot *s, const struct http_result *result)
{
	struct pool *p = s->pool;
	/* Without the lock: finish may add items to this pool. */
	enum pool_verdict verdict = p->opt.ops->finish(p->opt.ctx, s->item, result);

	/* Without Retry-After only this item waits, by the verdict of finish. */
	if ((result->status == STATUS_TOO_MANY_REQUESTS || result->status == STATUS_UNAVAILABLE) &&
	    result->retry_after_s > 0) {
		slow_down(p, result->retry_after_s * CLOCK_NS_PER_S);
	} else if (status_is_success(result->status)) {
		speed_up(p);
	}
	if (verdict == POOL_RETRY) {
		log_failing(s, result);
	}
	settle(s, verdict);
}

static void on_done(void *ctx, const struct http_result *result)
{
	struct pool_slot *s = ctx;

	/* abandon_flying has freed the item. */
	if (s->pool == NULL) {
		free_slot(s);
		return;
	}
	if (!is_manual(s->pool)) {
		pool_worker_on_done(s, result);
		return;
	}
	list_remove(&s->node);
	pool_complete(s, result);
}

/* Between the lock sections the slot is in `flying` without an id, so that pool_stop cannot cancel
 * it: it sets `cancelling`, and the request is cancelled here. */
static void submit(struct pool_slot *s, struct http_call *call)
{
	struct pool *p = s->pool;
	uint64_t id;
	bool cancel;

	call->on_done = on_done;
	call->ctx = s;
	pthread_mutex_lock(&p->lock);
	s->id = 0;
	list_append(&s->worker->flying, &s->node);
	pthread_mutex_unlock(&p->lock);
	/* Only this worker's thread frees the slot, so it outlives the call below. */
	id = transport_submit(p->opt.transport, call);
	pthread_mutex_lock(&p->lock);
	s->id = id;
	cancel = p->cancelling;
	pthread_mutex_unlock(&p->lock);
	if (cancel) {
		transport_cancel(p->opt.transport, id);
	}
}

/* One item on its way to the transport:
 *   1. nothing is taken while no slot is free, no key is ready or the pool is held;
 *   2. a token of the limiter;
 *   3. the item, in its slot; another worker may have been faster;
 *   4. start makes the request, or finds that there is nothing left to do;
 *   5. may_send permits it; it is called last, so that nothing slow comes between its answer and
 *      the request: the lease may run out at any time;
 *   6. the request is submitted.
 * Where 3 to 5 end it, the token goes back, because other pools share the limiter. */
bool pool_send_next(struct pool *p, struct pool_worker *w)
{
	static const struct http_result not_leader = { .error = ERR_CANCELLED,
						       .retry_after_s = -1,
						       .error_text = "not allowed to send" };
	CLEANUP(strbuf_finish) struct strbuf scratch = STRBUF_INIT;
	struct http_call call = { .timeout_ns = p->opt.timeout_ns };
	struct pool_slot *s;
	int64_t wait;

	if (!can_send(p, w)) {
		return false;
	}
	/* The token first: an item that was taken could not be put back in its place. */
	wait = pool_limiter_take(p->opt.limiter);
	if (wait > 0) {
		hold(p, wait);
		return false;
	}
	s = take_next(p, w);
	if (s == NULL) {
		pool_limiter_give_back(p->opt.limiter);
		return false;
	}
	if (!p->opt.ops->start(p->opt.ctx, s->item, s->sends, &call, &scratch)) {
		pool_limiter_give_back(p->opt.limiter);
		settle(s, POOL_DONE);
	} else if (p->opt.may_send != NULL && !p->opt.may_send(p->opt.ctx)) {
		pool_limiter_give_back(p->opt.limiter);
		pool_complete(s, &not_leader);
	} else {
		submit(s, &call);
	}
	return true;
}

/* Moves the slots that wait to be sent again to the list. With the lock held. */
static void collect_again(struct pool *p, struct list_node *ret)
{
	for (unsigned i = 0; i < p->n_workers; i++) {
		LIST_FOR_EACH (node, &p->workers[i].again) {
			list_remove(node);
			list_append(ret, node);
		}
	}
}

/* Sets `stopping` and frees all items that wait, those to be sent again included. */
static void drop_waiting(struct pool *p)
{
	struct strmap *none = strmap_create(free_waiting);
	struct strmap *items;
	struct list_node again;
	struct str key;

	list_init(&again);
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	items = p->items;
	p->items = none;
	while (workqueue_drop_oldest(p->queue, &key)) {
		/* keys alone: their items are in `items` */
	}
	collect_again(p, &again);
	for (unsigned i = 0; i < p->n_workers; i++) {
		pthread_cond_signal(&p->workers[i].wake);
	}
	pthread_mutex_unlock(&p->lock);
	/* Without the lock, since free_item is a function of the owner. */
	strmap_destroy(items);
	LIST_FOR_EACH (node, &again) {
		/* The pool stops, hence settle frees the item. */
		settle(LIST_ENTRY(node, struct pool_slot, node), POOL_DONE);
	}
}

/* The transport's ids of the requests in flight; free with free(). */
static uint64_t *list_flying(struct pool *p, size_t *ret_n)
{
	uint64_t *ids;
	size_t n = 0;

	pthread_mutex_lock(&p->lock);
	p->cancelling = true;
	ids = xmalloc((p->in_flight + 1) * sizeof(*ids));
	for (unsigned i = 0; i < p->n_workers; i++) {
		LIST_FOR_EACH (node, &p->workers[i].flying) {
			struct pool_slot *s = LIST_ENTRY(node, struct pool_slot, node);

			/* A slot without an id is being submitted and will see `cancelling`. */
			if (s->id != 0) {
				ids[n++] = s->id;
			}
		}
	}
	pthread_mutex_unlock(&p->lock);
	*ret_n = n;
	return ids;
}

/* Manual mode: no thread steps the transport during the stop, so finish is not waited for. on_done
 * frees the slot, in transport_cancel or when the transport is destroyed. */
static void abandon_flying(struct pool *p)
{
	LIST_FOR_EACH (node, &p->workers[0].flying) {
		struct pool_slot *s = LIST_ENTRY(node, struct pool_slot, node);

		list_remove(&s->node);
		leave_slot(p, s);
		if (p->opt.ops->free_item != NULL) {
			p->opt.ops->free_item(s->item);
		}
		s->pool = NULL;
	}
}

/* The end of the pool:
 *   1. Nothing is sent from here on, and waiting items are freed.
 *   2. The grace: requests in flight may be answered.
 *   3. The rest is cancelled, without the lock, because on_done may run within transport_cancel.
 *   4. The workers run finish of all that was in flight, and end. */
void pool_stop(struct pool *p, int64_t grace_ns)
{
	int64_t until = clock_mono(clock_real()) + grace_ns;
	uint64_t *ids;
	size_t n;

	if (p->stopped) {
		return;
	}
	p->stopped = true;
	drop_waiting(p);
	pthread_mutex_lock(&p->lock);
	while (!is_manual(p) && p->in_flight > 0 && clock_mono(clock_real()) < until) {
		pool_worker_wait(&p->idle, &p->lock, until);
	}
	pthread_mutex_unlock(&p->lock);
	ids = list_flying(p, &n);
	if (is_manual(p)) {
		abandon_flying(p);
	}
	for (size_t i = 0; i < n; i++) {
		transport_cancel(p->opt.transport, ids[i]);
	}
	free(ids);
	for (unsigned i = 0; i < p->opt.workers; i++) {
		pool_worker_join(&p->workers[i]);
	}
}

void pool_destroy(struct pool *p)
{
	if (p == NULL) {
		return;
	}
	pool_stop(p, 0);
	for (unsigned i = 0; i < p->n_workers; i++) {
		pool_worker_finish(&p->workers[i]);
	}
	free(p->workers);
	pthread_cond_destroy(&p->idle);
	pthread_mutex_destroy(&p->lock);
	strmap_destroy(p->items);
	workqueue_destroy(p->queue);
	free(p);
}

/* Reading needs the lock as well, and a const pool has a lock that is not const. */
static pthread_mutex_t *lock_of(const struct pool *p)
{
	return (pthread_mutex_t *)(uintptr_t)&p->lock;
}

size_t pool_waiting(const struct pool *p)
{
	size_t n;

	pthread_mutex_lock(lock_of(p));
	n = workqueue_waiting(p->queue);
	pthread_mutex_unlock(lock_of(p));
	return n;
}

size_t pool_in_flight(const struct pool *p)
{
	size_t n;

	pthread_mutex_lock(lock_of(p));
	n = p->in_flight;
	pthread_mutex_unlock(lock_of(p));
	return n;
}

size_t pool_unanswered(const struct pool *p)
{
	size_t n;

	pthread_mutex_lock(lock_of(p));
	n = workqueue_ready(p->queue) + p->in_flight;
	pthread_mutex_unlock(lock_of(p));
	return n;
}

bool pool_step(struct pool *p)
{
	assert(is_manual(p));
	return pool_send_next(p, &p->workers[0]);
}

int64_t pool_wake_at(const struct pool *p)
{
	int64_t at;

	pthread_mutex_lock(lock_of(p));
	at = pool_next_send(p, &p->workers[0]);
	pthread_mutex_unlock(lock_of(p));
	return at;
}
