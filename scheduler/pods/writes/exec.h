/* scheduler/pods/writes/exec.h: turns decisions into API calls. One pool per kind of write (gate
 * removal, bind, evict, pod status, PodGroup status) and the event recorder. Every pod write
 * carries the UID; where an answer leaves open what happened, the pod is read and compared. A
 * SCHED_MSG_REQUEST_DONE comes for each refusal that is retried, and one at the end.
 * Owner: the sched thread calls exec_*; pools work on threads of their own (or are stepped). */
#ifndef SCHEDULER_PODS_WRITES_EXEC_H
#define SCHEDULER_PODS_WRITES_EXEC_H

#include <stddef.h>
#include <stdint.h>

struct cluster;
struct decisions;
struct exec;
struct pool;
struct pool_options;
struct recorder;
struct sched_msg;

/* base: transport, clock, limiter, workers (0: manual), limits, seed, may_send, and the ctx of it
 * and of post, which receives SCHED_MSG_REQUEST_DONE (ownership passes; any thread). gate_workers:
 * --gate-removal-worker-num. component: the source of events, the scheduler's name. */
struct exec *exec_create(const struct pool_options *base, unsigned gate_workers,
			 const char *component, void (*post)(void *ctx, struct sched_msg *msg));
void exec_destroy(struct exec *e);
/* After cycle_assume: queues the writes of a decision list. Copies all it needs. now: wall ns. */
void exec_decisions(struct exec *e, const struct cluster *c, const struct decisions *d,
		    int64_t now);
struct recorder *exec_recorder(struct exec *e);
/* Every pool, for stopping and for stepping in manual mode; returns how many (at most max). */
size_t exec_pools(struct exec *e, struct pool **out, size_t max);

#endif
