/* scheduler/multikueue/fleet/fleet_writes.h: the two writes of the orchestrator: the token, into an
 * annotation of the local Workload, and the gate, into the status of a replica. Each is for one
 * version of its object alone: when that has changed meanwhile, nothing is written, and it is
 * decided again. Owner: the fleet thread; the pools work. */
#ifndef SCHEDULER_MULTIKUEUE_FLEET_FLEET_WRITES_H
#define SCHEDULER_MULTIKUEUE_FLEET_FLEET_WRITES_H

#include <stdbool.h>
#include <stdint.h>

struct fleet_replica;
struct fleet_workload;
struct fleet_writes;
struct link;
struct pool;
struct pool_options;
struct sched_msg;
struct token;

/* base: of the manager's API server; its ctx is also that of post, which gets the outcomes. */
struct fleet_writes *fleet_writes_create(const struct pool_options *base,
					 void (*post)(void *ctx, struct sched_msg *msg));
void fleet_writes_destroy(struct fleet_writes *f); /* NULL is fine */
struct pool *fleet_writes_pool(struct fleet_writes *f);
/* w has a local object. */
void fleet_writes_token(struct fleet_writes *f, struct fleet_workload *w, const struct token *t);
/* The replica exists, and its connection is up. now: wall ns. */
void fleet_writes_gate(struct link *l, const struct fleet_workload *w, struct fleet_replica *r,
		       bool open, int64_t now);
/* SCHED_MSG_REQUEST_DONE of them. now: wall ns. */
void fleet_writes_token_done(struct fleet_workload *w, const struct sched_msg *m, int64_t now);
void fleet_writes_gate_done(struct fleet_replica *r, const struct sched_msg *m, int64_t now);
/* Whether the pause after a refused write goes on; until: pause_until. A time that is further ahead
 * than a whole pause was noted before the clock was set back: that pause is over. */
bool fleet_writes_is_paused(int64_t until, int64_t now);

#endif
