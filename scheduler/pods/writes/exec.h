/* scheduler/pods/writes/exec.h: turns decisions into API calls. One pool per kind of write (gate
 * removal, bind, evict, pod status, PodGroup status) and the event recorder. Every
 * pod write carries the UID; where an answer leaves open what happened, the pod is read and
 * compared. A SCHED_MSG_REQUEST_DONE comes for each refusal that is retried, and one at the end.
 * Owner: the sched thread calls exec_*; pools work on threads of their own (or are stepped). */
#ifndef SCHEDULER_PODS_WRITES_EXEC_H
#define SCHEDULER_PODS_WRITES_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/base/message.h"

struct clock;
struct cluster;
struct metric_registry;
struct decisions;
struct exec;
struct pool;
struct pool_limiter;
struct recorder;
struct transport;

struct exec_options {
	struct transport *transport; /* borrowed */
	const struct clock *clock;
	struct pool_limiter *limiter; /* borrowed, NULL: no limit */
	unsigned gate_workers;        /* --gate-removal-worker-num */
	bool manual;                  /* no threads: the owner steps */
	int64_t request_timeout_ns;
	uint64_t seed;
	const char *component; /* source of events: the scheduler's name */
	/* Receives SCHED_MSG_REQUEST_DONE (ownership passes). Any thread. */
	void (*post)(void *ctx, struct sched_msg *msg);
	bool (*may_send)(void *ctx); /* asked immediately before each send; NULL: always */
	void *ctx;
};

struct exec *exec_create(const struct exec_options *opt);
void exec_destroy(struct exec *e);
/* After cycle_assume: queues the writes of a decision list. Copies all it needs. now: wall ns. */
void exec_decisions(struct exec *e, const struct cluster *c, const struct decisions *d,
		    int64_t now);
struct recorder *exec_recorder(struct exec *e);
/* Every pool, for stopping and for stepping in manual mode; returns how many (at most max). */
size_t exec_pools(struct exec *e, struct pool **out, size_t max);

#endif
