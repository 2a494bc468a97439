/* scheduler/base/gate_fields.h: asks an API server which fields of preemption gates it serves:
 * reads the CustomResourceDefinition of Workloads (KEP-8303 and Kueue spell them differently; a
 * server-side apply with a field that is not served is refused). Owner: the thread that creates it;
 * the pool works on a thread of its own (or is stepped). */
#ifndef SCHEDULER_BASE_GATE_FIELDS_H
#define SCHEDULER_BASE_GATE_FIELDS_H

struct gate_fields;
struct pool;
struct pool_options;
struct sched_msg;

/* base: transport, clock, limiter, workers (0: manual) and the ctx of post, which receives
 * SCHED_MSG_GATE_FIELDS, also when the definition cannot be read. cluster: its name in logs,
 * borrowed; NULL: the cluster of this program. */
struct gate_fields *gate_fields_create(const struct pool_options *base, const char *cluster,
				       void (*post)(void *ctx, struct sched_msg *msg));
void gate_fields_destroy(struct gate_fields *g); /* NULL is fine */
struct pool *gate_fields_pool(struct gate_fields *g);
/* Asks, unless it is being asked or has been answered. */
void gate_fields_ask(struct gate_fields *g);
/* The answer was that nothing is known: the next call of gate_fields_ask asks again. */
void gate_fields_unknown(struct gate_fields *g);

#endif
