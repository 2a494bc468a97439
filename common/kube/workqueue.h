/* common/kube/workqueue.h: keys waiting to be processed, each at most once, oldest first.
 * Owner: one thread or the lock next to it. Keys are copied. Fails only on bugs (asserts).
 *   idle -add-> ready -next-> processing -done-> idle       add while processing: ready after done
 *   idle -add_after-> delayed -time-> ready                 while processing: the same after done
 *   processing -retry, done-> delayed (backoff of the key) -time-> ready
 *   delayed -make_ready-> ready */
#ifndef COMMON_KUBE_WORKQUEUE_H
#define COMMON_KUBE_WORKQUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct clock;
struct workqueue;

struct workqueue_options {
	int64_t delay_min_ns, delay_max_ns; /* backoff of a key: min * 2^n up to max */
	double jitter;                      /* 0..1 */
	uint64_t seed;
};

struct workqueue *workqueue_create(const struct workqueue_options *opt, const struct clock *clock);
void workqueue_destroy(struct workqueue *wq);             /* NULL is fine */
void workqueue_add(struct workqueue *wq, struct str key); /* no effect if waiting already */
/* Ready in delay_ns at the earliest; a key that waits already keeps its time. */
void workqueue_add_after(struct workqueue *wq, struct str key, int64_t delay_ns);
void workqueue_retry(struct workqueue *wq, struct str key); /* adds after the key's backoff */
/* Like workqueue_retry, but this time the backoff grows up to max_ns instead of delay_max_ns. */
void workqueue_retry_up_to(struct workqueue *wq, struct str key, int64_t max_ns);
void workqueue_make_ready(struct workqueue *wq, struct str key); /* a delayed key is ready now */
void workqueue_forget(struct workqueue *wq, struct str key);     /* resets the backoff */
/* Takes the oldest ready key; it is valid until workqueue_done. False: nothing is ready. */
bool workqueue_next(struct workqueue *wq, struct str *ret_key);
void workqueue_done(struct workqueue *wq, struct str key);
/* Removes the key that has waited longest (ready ones before delayed ones); valid until the next
 * call. False: nothing waits. */
bool workqueue_drop_oldest(struct workqueue *wq, struct str *ret_key);
size_t workqueue_waiting(const struct workqueue *wq); /* ready and delayed */
size_t workqueue_ready(struct workqueue *wq);         /* not delayed, or no more */
/* The time at which a key is ready (monotonic ns, now or earlier: one is ready); CLOCK_NEVER:
 * nothing waits. */
int64_t workqueue_wake_at(const struct workqueue *wq);

#endif
