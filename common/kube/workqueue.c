#include "kube/workqueue.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/heap.h"
#include "collections/list.h"
#include "collections/strmap.h"
#include "process/backoff.h"

enum entry_state { ENTRY_IDLE, ENTRY_READY, ENTRY_DELAYED, ENTRY_PROCESSING };

struct entry {
	struct list_node node; /* in ready */
	char *key;
	size_t len;
	enum entry_state state;
	bool again; /* processing: ready again when done, not before again_at */
	bool retry; /* processing: delayed when done */
	struct backoff backoff;
	int64_t due;  /* delayed */
	size_t index; /* delayed: in the heap */
	int64_t again_at;
	uint64_t seq;
};

struct workqueue {
	const struct clock *clock;
	struct workqueue_options opt;
	struct rng rng;
	struct strmap *entries; /* key -> struct entry, owned */
	struct list_node ready;
	size_t n_ready;
	struct heap delayed;
	uint64_t seq;
	struct strbuf dropped; /* key of the last workqueue_drop_oldest */
};

/* Equal times in the order of their calls, so that a simulation repeats itself. */
static int cmp_due(const void *pa, const void *pb, const void *ctx)
{
	const struct entry *a = pa, *b = pb;

	(void)ctx;
	if (a->due != b->due) {
		return a->due < b->due ? -1 : 1;
	}
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static void on_moved(void *elem, size_t index)
{
	((struct entry *)elem)->index = index;
}

static void free_entry(void *value)
{
	struct entry *e = value;

	free(e->key);
	free(e);
}

struct workqueue *workqueue_create(const struct workqueue_options *opt, const struct clock *clock)
{
	struct workqueue *wq = xmalloc_zero(1, sizeof(*wq));

	wq->clock = clock;
	wq->opt = *opt;
	rng_init(&wq->rng, opt->seed);
	wq->entries = strmap_create(free_entry);
	list_init(&wq->ready);
	heap_init(&wq->delayed, cmp_due, on_moved, NULL);
	strbuf_init(&wq->dropped);
	return wq;
}

void workqueue_destroy(struct workqueue *wq)
{
	if (wq == NULL) {
		return;
	}
	heap_finish(&wq->delayed);
	strmap_destroy(wq->entries);
	strbuf_finish(&wq->dropped);
	free(wq);
}

static struct str key_of(const struct entry *e)
{
	return (struct str){ e->key, e->len };
}

static struct entry *find_or_make(struct workqueue *wq, struct str key)
{
	struct entry *e = strmap_get(wq->entries, key);

	if (e == NULL) {
		e = xmalloc_zero(1, sizeof(*e));
		e->key = xmalloc_dup_n(key.p, key.len);
		e->len = key.len;
		list_init(&e->node);
		backoff_init(&e->backoff, wq->opt.delay_min_ns, wq->opt.delay_max_ns,
			     wq->opt.jitter);
		strmap_set(wq->entries, key, e);
	}
	return e;
}

static void make_ready(struct workqueue *wq, struct entry *e)
{
	e->state = ENTRY_READY;
	list_append(&wq->ready, &e->node);
	wq->n_ready++;
}

static void make_delayed(struct workqueue *wq, struct entry *e, int64_t due)
{
	e->state = ENTRY_DELAYED;
	e->due = due;
	e->seq = wq->seq++;
	heap_push(&wq->delayed, e);
}

static int64_t backed_off(struct workqueue *wq, struct entry *e)
{
	return clock_mono(wq->clock) + backoff_next(&e->backoff, &wq->rng);
}

/* An idle entry is kept only for its backoff. */
static void make_idle(struct workqueue *wq, struct entry *e)
{
	e->state = ENTRY_IDLE;
	if (e->backoff.failures == 0) {
		strmap_remove(wq->entries, key_of(e));
	}
}

void workqueue_add(struct workqueue *wq, struct str key)
{
	struct entry *e = find_or_make(wq, key);

	if (e->state == ENTRY_IDLE) {
		make_ready(wq, e);
	} else if (e->state == ENTRY_PROCESSING) {
		e->again = true;
		e->again_at = INT64_MIN;
	}
}

void workqueue_add_after(struct workqueue *wq, struct str key, int64_t delay_ns)
{
	struct entry *e = find_or_make(wq, key);
	int64_t due = clock_mono(wq->clock) + delay_ns;

	if (e->state == ENTRY_IDLE) {
		make_delayed(wq, e, due);
	} else if (e->state == ENTRY_PROCESSING && !e->again) {
		/* No later than the key is wanted already. */
		e->again = true;
		e->again_at = due;
	}
}

/* While the key is processed this only takes note: the pause begins when it is done. A key that
 * waits keeps its time. */
void workqueue_retry_up_to(struct workqueue *wq, struct str key, int64_t max_ns)
{
	struct entry *e = find_or_make(wq, key);

	e->backoff.max_ns = max_ns;
	if (e->state == ENTRY_IDLE) {
		make_delayed(wq, e, backed_off(wq, e));
	} else if (e->state == ENTRY_PROCESSING) {
		e->retry = true;
	}
}

void workqueue_retry(struct workqueue *wq, struct str key)
{
	workqueue_retry_up_to(wq, key, wq->opt.delay_max_ns);
}

void workqueue_make_ready(struct workqueue *wq, struct str key)
{
	struct entry *e = strmap_get(wq->entries, key);

	if (e != NULL && e->state == ENTRY_DELAYED) {
		heap_remove(&wq->delayed, e->index);
		make_ready(wq, e);
	}
}

void workqueue_forget(struct workqueue *wq, struct str key)
{
	struct entry *e = strmap_get(wq->entries, key);

	if (e == NULL) {
		return;
	}
	backoff_reset(&e->backoff);
	if (e->state == ENTRY_IDLE) {
		make_idle(wq, e);
	}
}

/* Delayed keys become ready when the queue is looked at, in the order of their times: behind those
 * that were ready before, so that retries do not overtake first attempts. */
static void wake_due(struct workqueue *wq)
{
	int64_t now;
	struct entry *e = heap_peek(&wq->delayed);

	if (e == NULL) {
		return;
	}
	now = clock_mono(wq->clock);
	for (; e != NULL && e->due <= now; e = heap_peek(&wq->delayed)) {
		heap_pop(&wq->delayed);
		make_ready(wq, e);
	}
}

static struct entry *pop_ready(struct workqueue *wq)
{
	struct entry *e = LIST_ENTRY(wq->ready.next, struct entry, node);

	list_remove(&e->node);
	wq->n_ready--;
	return e;
}

bool workqueue_next(struct workqueue *wq, struct str *ret_key)
{
	struct entry *e;

	wake_due(wq);
	if (wq->n_ready == 0) {
		return false;
	}
	e = pop_ready(wq);
	e->state = ENTRY_PROCESSING;
	/* Both are about requests for the key from here on. */
	e->again = e->retry = false;
	*ret_key = key_of(e);
	return true;
}

void workqueue_done(struct workqueue *wq, struct str key)
{
	struct entry *e = strmap_get(wq->entries, key);

	assert(e != NULL && e->state == ENTRY_PROCESSING);
	/* A retry goes before a new add: the server has just failed for this key. */
	if (e->retry) {
		make_delayed(wq, e, backed_off(wq, e));
	} else if (e->again && e->again_at > clock_mono(wq->clock)) {
		make_delayed(wq, e, e->again_at);
	} else if (e->again) {
		make_ready(wq, e);
	} else {
		make_idle(wq, e);
	}
}

bool workqueue_drop_oldest(struct workqueue *wq, struct str *ret_key)
{
	struct entry *e;

	if (wq->n_ready > 0) {
		e = pop_ready(wq);
	} else {
		e = heap_pop(&wq->delayed);
	}
	if (e == NULL) {
		return false;
	}
	/* A copy, because make_idle frees the entry with its key. */
	strbuf_reset(&wq->dropped);
	strbuf_add_str(&wq->dropped, key_of(e));
	/* The item is gone, and its failures with it. */
	backoff_reset(&e->backoff);
	make_idle(wq, e);
	*ret_key = strbuf_str(&wq->dropped);
	return true;
}

size_t workqueue_waiting(const struct workqueue *wq)
{
	return wq->n_ready + wq->delayed.n;
}

size_t workqueue_ready(struct workqueue *wq)
{
	wake_due(wq);
	return wq->n_ready;
}

int64_t workqueue_wake_at(const struct workqueue *wq)
{
	const struct entry *e = heap_peek(&wq->delayed);

	if (wq->n_ready > 0) {
		return clock_mono(wq->clock);
	}
	return e == NULL ? CLOCK_NEVER : e->due;
}
