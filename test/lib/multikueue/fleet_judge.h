/* test/lib/multikueue/fleet_judge.h: the promises of orchestrate.h about the gates of a
 * fleet_world, judged by the objects in its API servers at a moment: of each Workload at most one
 * gate that can be reached is open, it is that of the replica that the token names, and one that a
 * worker has closed by an eviction is not opened again in the same grant. Owner: the test. */
#ifndef TEST_LIB_MULTIKUEUE_FLEET_JUDGE_H
#define TEST_LIB_MULTIKUEUE_FLEET_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/multikueue/fleet_world.h"

#define FLEET_JUDGE_WORKERS 4

struct fleet_judge_gate {
	char uid[48]; /* of the replica that was seen last */
	bool open;    /* it was */
	/* It may be open without the orchestrator being able to close it. */
	bool away;
	bool token_lost;       /* while it was open: the token need not name it */
	bool admitted;         /* the replica: then it may stay open */
	int64_t evicted_epoch; /* of the grant during which it was evicted; 0: none */
};

/* The gates of one Workload; zero at first. */
struct fleet_judge {
	struct fleet_judge_gate at[FLEET_JUDGE_WORKERS];
	unsigned opened;    /* how often one was */
	unsigned evictions; /* during a grant */
};

/* NULL, or the promise that is broken. away: by worker, it cannot be reached now. */
const char *fleet_judge_check(struct fleet_judge *g, struct fleet_world *w, const char *name,
			      const bool *away, unsigned workers);
/* The worker is about to evict the replica. An orchestrator that cannot see that at once, or that
 * dies, may take the gate for one that was closed by mistake: see reachable, and
 * fleet_judge_restarted. */
void fleet_judge_evicted(struct fleet_judge *g, struct fleet_world *w, const char *name,
			 unsigned worker, bool reachable);
void fleet_judge_restarted(struct fleet_judge *g);
/* The token was edited by hand, or went with a Workload that was made again under the same name. */
void fleet_judge_token_lost(struct fleet_judge *g);
/* Open gates that count towards the limit of a queue: those that can be reached, of replicas that
 * are not admitted, and of which the orchestrator knows by its token. */
bool fleet_judge_counts(const struct fleet_judge *g, unsigned worker);

#endif
