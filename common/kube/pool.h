/* common/kube/pool.h: the one mechanism for all writes to the API server: workers x slots over a
 * keyed, deduplicating queue. Work is two functions: start turns an item into a request, finish
 * turns the response into what the owner wants to know (usually a message) and a verdict. Between
 * them a worker keeps up to its slots in flight. Nothing is dropped: retryable failures go back to
 * the queue with back-off and jitter; a token bucket shared by pools (limiter) bounds the rate;
 * 429/503 Retry-After is honoured for the whole pool, and fewer are in flight together after it
 * (a quarter; one more for each 32 successes or more). Threads: pool_add any thread; start and
 * finish on a worker thread (manual mode: whoever calls pool_step). Items are identified by key;
 * adding a key that waits replaces its item (the old one is freed), adding one that is in flight
 * runs the new item after the old one has finished. A replaced item inherits the wait of the key,
 * and an item that would be retried gives way to a newer one of its key. What was refused waits
 * longer, but not when there is a newer item: that one says something else. */
#ifndef COMMON_KUBE_POOL_H
#define COMMON_KUBE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "net/http_loop.h"

struct clock;
struct pool;
struct pool_limiter;
struct strbuf;
struct transport;

enum pool_verdict {
	POOL_DONE,    /* finished, for good or ill: finish has told its owner */
	POOL_RETRY,   /* again after back-off */
	POOL_REFUSED, /* likewise, up to refused_max_ns; a newer item of the key is sent at once */
	POOL_AGAIN,   /* again at once with the item as finish left it (e.g. a GET after an unknown
			 outcome) */
};

/* start fills the call (strings may point into scratch, which lives until submit returns);
 * false: nothing to do any more (counts as done). timeout_ns is set by the pool from its options
 * unless start sets it. `sends` counts earlier attempts. */
struct pool_ops {
	bool (*start)(void *ctx, void *item, unsigned sends, struct http_call *call,
		      struct strbuf *scratch);
	enum pool_verdict (*finish)(void *ctx, void *item, const struct http_result *result);
	void (*free_item)(void *item);
};

struct pool_options {
	const char *name; /* metric label */
	const struct pool_ops *ops;
	void *ctx;
	struct transport *transport; /* borrowed */
	const struct clock *clock;
	struct pool_limiter *limiter; /* borrowed, may be NULL */
	unsigned workers;   /* threads, >= 1 (needs the real clock); 0: manual mode (simulation) */
	unsigned slots;     /* in flight per worker (manual mode: in all) */
	int64_t timeout_ns; /* per request */
	int64_t backoff_min_ns, backoff_max_ns;
	int64_t refused_max_ns; /* of POOL_REFUSED; 0: backoff_max_ns */
	uint64_t seed;          /* of the jitter */
	/* Asked immediately before each send (leadership); false: the item is handed to finish with
	 * error ERR_CANCELLED without being sent. May be NULL. */
	bool (*may_send)(void *ctx);
};

/* A token bucket that several pools share. qps 0: off. Any thread; destroy after the pools. */
struct pool_limiter *pool_limiter_create(double qps, unsigned burst, const struct clock *clock);
void pool_limiter_destroy(struct pool_limiter *l);
/* Limiter NULL: never waits. Takes one token: 0, or how long to wait in ns when there is none (then
 * nothing was taken). */
int64_t pool_limiter_take(struct pool_limiter *l);
void pool_limiter_give_back(struct pool_limiter *l); /* a token taken for a send that was not */

struct pool *pool_create(const struct pool_options *opt);
void pool_add(struct pool *p, struct str key, void *item_take);
/* As pool_add, but sent in delay_ns at the earliest, so that more that is wanted of the key goes
 * with it. A key that waits already keeps its time. */
void pool_add_after(struct pool *p, struct str key, void *item_take, int64_t delay_ns);
/* Nothing is sent before until_mono_ns; an earlier time than one already given has no effect. Any
 * thread. */
void pool_hold_until(struct pool *p, int64_t until_mono_ns);
/* Items that wait are freed unsent; those in flight are awaited (finish runs) up to grace_ns, then
 * cancelled (finish runs with ERR_CANCELLED). Not on the transport's thread, and before it is
 * destroyed. Manual mode does not wait: what is in flight is cancelled without finish. */
void pool_stop(struct pool *p, int64_t grace_ns);
void pool_destroy(struct pool *p); /* stops with grace 0 if still running; NULL is fine */
/* Frees the item that has waited longest, unsent; false: nothing waits. Any thread. */
bool pool_drop_oldest(struct pool *p);
size_t pool_waiting(const struct pool *p);
size_t pool_in_flight(const struct pool *p);
/* Both together, but for what is to be sent again and backs off. */
size_t pool_unanswered(const struct pool *p);

/* Manual mode only. pool_step does one half step: sends the next ready item if a slot is free;
 * true: did. Completions run inside the transport's own stepping. pool_wake_at: next time something
 * is ready. */
bool pool_step(struct pool *p);
int64_t pool_wake_at(const struct pool *p); /* monotonic ns, CLOCK_NEVER: nothing waits */

#endif
