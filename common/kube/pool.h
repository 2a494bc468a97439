/* common/kube/pool.h: the one mechanism for all writes to the API server: workers x slots over a
 * keyed, deduplicating queue. Two functions define the work: start turns an item into a request,
 * finish reports the response to the owner (usually by a message) and returns a verdict. A worker
 * has up to `slots` requests in flight. No item is dropped: transient failures are requeued with
 * backoff and jitter; a token bucket shared by pools (limiter) bounds the rate; 429/503
 * Retry-After is honoured for the whole pool, and the number in flight is reduced to a quarter
 * after it, then raised by one for each 32 successes or more. Threads: pool_add any thread; start
 * and finish on a worker thread (manual mode: the thread that calls pool_step). Items are
 * identified by key; adding a key that waits replaces its item (the old one is freed), adding one
 * that is in flight runs the new item after the old one has finished. A replaced item inherits the
 * wait of the key, and an item due for a retry is replaced by a newer one of its key. A refused
 * item waits longer, unless there is a newer item: its content differs and may succeed. */
#ifndef COMMON_KUBE_POOL_H
#define COMMON_KUBE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/str.h"
#include "net/http_loop.h"

struct pool;
struct pool_limiter;
struct strbuf;
struct transport;

enum pool_verdict {
	POOL_DONE,    /* final, success or failure; already reported */
	POOL_RETRY,   /* send again after backoff */
	POOL_REFUSED, /* the same, but back off up to refused_max_ns; a newer item of the key is
			 sent at once */
	POOL_AGAIN,   /* send again at once with the item as finish left it (e.g. a GET after an
			 unknown outcome) */
};

/* start fills the call (strings may point into scratch, which lives until submit returns); false:
 * there is nothing left to do (counts as done). timeout_ns comes from the options of the pool
 * unless start sets it. `sends` counts earlier attempts. */
struct pool_ops {
	bool (*start)(void *ctx, void *item, unsigned sends, struct http_call *call,
		      struct strbuf *scratch);
	enum pool_verdict (*finish)(void *ctx, void *item, const struct http_result *result);
	void (*free_item)(void *item);
};

/* Pauses before a retry, the same for all writers of the scheduler. */
#define POOL_BACKOFF_MIN_NS (100 * CLOCK_NS_PER_MS)
#define POOL_BACKOFF_MAX_NS (30 * CLOCK_NS_PER_S)
#define POOL_REFUSED_MAX_NS (5 * 60 * CLOCK_NS_PER_S) /* between attempts at what is refused */

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
	/* Called immediately before each send (leadership); false: finish gets the item with error
	 * ERR_CANCELLED, unsent. May be NULL. */
	bool (*may_send)(void *ctx);
};

/* A token bucket that several pools share. qps 0: off. Any thread; destroy after the pools. */
struct pool_limiter *pool_limiter_create(double qps, unsigned burst, const struct clock *clock);
void pool_limiter_destroy(struct pool_limiter *l);
/* Takes one token and returns 0; without a token it takes nothing and returns the ns to wait. A
 * NULL limiter always returns 0. */
int64_t pool_limiter_take(struct pool_limiter *l);
void pool_limiter_give_back(struct pool_limiter *l); /* a token taken for a send that was not */

struct pool *pool_create(const struct pool_options *opt);
void pool_add(struct pool *p, struct str key, void *item_take);
/* Like pool_add, but the item is sent in delay_ns at the earliest, so that further changes of the
 * key share the request. A key that waits already keeps its time. */
void pool_add_after(struct pool *p, struct str key, void *item_take, int64_t delay_ns);
/* Nothing is sent before until_mono_ns; an earlier time than one already given has no effect. Any
 * thread. */
void pool_hold_until(struct pool *p, int64_t until_mono_ns);
/* Frees waiting items unsent; waits up to grace_ns for those in flight (finish runs), then cancels
 * them (finish runs with ERR_CANCELLED). Call it before the transport is destroyed, not on its
 * thread. Manual mode does not wait: requests in flight are cancelled without finish. */
void pool_stop(struct pool *p, int64_t grace_ns);
void pool_destroy(struct pool *p); /* stops with grace 0 if still running; NULL is fine */
/* Frees the item that has waited longest, unsent; false: nothing waits. Any thread. */
bool pool_drop_oldest(struct pool *p);
size_t pool_waiting(const struct pool *p);
size_t pool_in_flight(const struct pool *p);
/* Waiting items and those in flight, without those that back off before a retry. */
size_t pool_unanswered(const struct pool *p);

/* Manual mode only. pool_step sends the next ready item if a slot is free; true: it sent one.
 * Completions run while the transport is stepped. pool_wake_at: the next time at which an item is
 * ready. */
bool pool_step(struct pool *p);
int64_t pool_wake_at(const struct pool *p); /* monotonic ns, CLOCK_NEVER: nothing waits */

#endif
