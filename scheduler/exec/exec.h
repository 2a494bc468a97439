/* scheduler/exec/exec.h: turns decisions into API calls. One pool per kind of write (gate removal,
 * bind, evict, pod status, PodGroup status, Queue status) and the event recorder. Every pod write
 * carries the UID; where an answer leaves open what happened, the pod is read and compared. Each
 * write ends in exactly one SCHED_MSG_REQUEST_DONE. Owner: the sched thread calls exec_*; pools
 * work on threads of their own (or are stepped, see exec_step). */
#ifndef SCHEDULER_EXEC_EXEC_H
#define SCHEDULER_EXEC_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/message.h"

struct clock;
struct cluster;
struct counter_registry;
struct decisions;
struct exec;
struct object_write_spec;
struct pool_limiter;
struct recorder;
struct transport;

struct exec_options {
	struct transport *transport; /* borrowed */
	const struct clock *clock;
	struct pool_limiter *limiter; /* borrowed, NULL: no limit */
	unsigned gate_workers;        /* --gate-removal-worker-num */
	bool manual;                  /* no threads: the owner steps */
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
/* Queues a controller's write (exec/object_write.h). Its key must tell apart what must not replace
 * each other while waiting. */
void exec_write(struct exec *e, const struct object_write_spec *spec);
/* Waiting writes are dropped (their outcome is CANCELLED), those in flight are awaited. */
void exec_stop(struct exec *e, int64_t grace_ns);
struct recorder *exec_recorder(struct exec *e);
/* Writes that wait or are in flight, over all pools. */
size_t exec_pending(const struct exec *e);

/* Manual mode: the number of pools, and one half step of pool i; true: did something. */
size_t exec_pool_count(const struct exec *e);
bool exec_step(struct exec *e, size_t i);
int64_t exec_wake_at(const struct exec *e); /* monotonic ns */

#endif
