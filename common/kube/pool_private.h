/* common/kube/pool_private.h: shared by pool.c and pool_worker.c; no other file includes it. */
#ifndef COMMON_KUBE_POOL_PRIVATE_H
#define COMMON_KUBE_POOL_PRIVATE_H

#include <pthread.h>

#include "collections/list.h"
#include "collections/strmap.h"
#include "kube/pool.h"
#include "kube/workqueue.h"

/* One slot for a request in flight, and its item. It is owned by its worker's thread, except
 * between submit and on_done, when the transport owns it. */
struct pool_slot {
	struct list_node node; /* in worker->flying, ->done or ->again; guarded by the lock */
	struct pool *pool;     /* NULL: the pool was destroyed (manual mode) */
	struct pool_worker *worker;
	char *key;
	size_t key_len;
	void *item;
	unsigned sends;
	uint64_t id;               /* of the transport, guarded by the lock */
	struct http_result result; /* threaded mode: a copy, with body and error_text owned */
};

struct pool_worker {
	struct pool *pool;
	pthread_t thread;
	pthread_cond_t wake;
	/* guarded by the pool's lock: */
	bool waiting;
	size_t in_flight;        /* slots in use */
	struct list_node flying; /* submitted */
	struct list_node done;   /* answered, not yet finished */
	struct list_node again;  /* to send again at once */
};

struct pool {
	struct pool_options opt;
	struct pool_worker *workers; /* manual mode: one without a thread */
	unsigned n_workers;
	pthread_mutex_t lock; /* guards all below and the marked parts above; never nested */
	struct workqueue *queue;
	struct strmap *items; /* key -> struct pool_waiting: the waiting items */
	int64_t held_until;   /* Retry-After or the limiter: nothing is sent before */
	/* The limit of requests in flight, at most workers x slots: reduced to a quarter after the
	 * API server reported that it is busy, then raised by one for each round of successes. */
	unsigned window, window_max, successes;
	int64_t busy_until; /* Retry-After of the burst that was refused last */
	size_t in_flight;
	bool stopping;   /* nothing new is sent */
	bool cancelling; /* requests submitted from now on are cancelled at once */
	bool stopped;
	pthread_cond_t idle; /* in_flight became 0 */
};

/* Sends the next item that the worker may send; false: none now. The worker's thread. */
bool pool_send_next(struct pool *p, struct pool_worker *w);
/* Runs finish and applies the verdict; afterwards the slot is freed or in `again`. */
void pool_complete(struct pool_slot *s, const struct http_result *result);
/* With the lock held: the time at which the worker could send an item; CLOCK_NEVER: not before a
 * wake-up. */
int64_t pool_next_send(const struct pool *p, const struct pool_worker *w);

void pool_worker_init(struct pool_worker *w, struct pool *p);
void pool_worker_finish(struct pool_worker *w);
void pool_worker_start(struct pool_worker *w);
void pool_worker_join(struct pool_worker *w);
/* The transport's answer for a slot of a threaded pool. */
void pool_worker_on_done(struct pool_slot *s, const struct http_result *result);
/* With the lock held: wakes one worker that can take more, if one waits. */
void pool_worker_wake_one(struct pool *p);
/* Waits on cond until it is signalled or at_mono_ns on the real clock. */
void pool_worker_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t at_mono_ns);

#endif
