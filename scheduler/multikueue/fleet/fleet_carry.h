/* scheduler/multikueue/fleet/fleet_carry.h: carries out the decisions of the manager of MultiKueue:
 * an action becomes a request to the API server of the manager's cluster or of a worker, and the
 * answer a change of the record of the object. An object is left alone while a write to it is under
 * way, or its last write has not been seen yet, and so is a place in which a write has failed, for
 * a while that grows; the manager decides anew after each. Owner: the fleet thread; the pools work.
 */
#ifndef SCHEDULER_MULTIKUEUE_FLEET_FLEET_CARRY_H
#define SCHEDULER_MULTIKUEUE_FLEET_FLEET_CARRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strbuf.h"
#include "scheduler/multikueue/manager/manager.h"
#include "scheduler/multikueue/manager/replica_body.h"

struct api_meta;
struct carried_kind;
struct custom_lists;
struct fleet_carry;
struct fleet_local;
struct fleet_part;
struct fleet_there;
struct fleet_workload;
struct jdoc;
struct metric_registry;
struct pool_options;
struct recorder;
struct sched_msg;

#define FLEET_CARRY_TOO_LARGE "StatusTooLarge" /* reason of an event of the local Workload */

struct fleet_carry_options {
	struct metric_registry *counters;
	struct recorder *recorder; /* borrowed, as the next */
	const struct replica_body_manager *by;
	const struct custom_lists *customs; /* at the manager's API server */
	bool gated;
	void (*post)(void *ctx, struct sched_msg *msg); /* gets the outcomes; ctx: of the pool */
};

/* base: of the manager's API server; its ctx is also that of post. */
struct fleet_carry *fleet_carry_create(const struct fleet_carry_options *opt,
				       const struct pool_options *base);
void fleet_carry_destroy(struct fleet_carry *c); /* NULL is fine */
struct pool *fleet_carry_pool(struct fleet_carry *c);

/* Shared by the actions of one step; document and text are made when they are needed, and the
 * caller frees them by fleet_carry_end. */
struct fleet_carry_step {
	struct fleet_workload *w;
	const struct carried_kind *kind; /* NULL: the owner is not carried */
	const char *check;
	int64_t now; /* wall ns */
	struct jdoc *workload_doc;
	struct strbuf replica; /* the body of its creation, the same on each worker */
};

/* The objects that an action is about. */
struct fleet_carry_on {
	struct fleet_there *t;     /* of its cluster, which can be reached; NULL: it has none */
	struct fleet_part *part;   /* the object of the job there; NULL: none */
	struct fleet_local *local; /* the local object of the job; NULL: none */
};
void fleet_carry_out(struct fleet_carry *c, struct fleet_carry_step *s,
		     const struct manager_action *a, const struct fleet_carry_on *on);
void fleet_carry_end(struct fleet_carry_step *s);
/* Reads whether objects that are not this manager's still have the names, when that is due. Returns
 * the time at which it is (wall ns); CLOCK_NEVER. */
int64_t fleet_carry_look(struct fleet_carry *c, struct fleet_workload *w, struct fleet_there *t,
			 int64_t now);
/* An event says that the status of this object of the winner's is not copied, as its text is too
 * large there, or here. local: the local object of it. */
void fleet_carry_too_large(struct fleet_carry *c, const struct fleet_carry_step *s,
			   const struct fleet_there *t, const struct api_meta *local, bool here);
/* SCHED_MSG_REQUEST_DONE. t: of the connection's cluster; NULL: of the manager's API server. local:
 * the object of the job that was written there, which may be gone; NULL: it was another one. */
void fleet_carry_done(struct fleet_carry *c, struct fleet_workload *w, struct fleet_there *t,
		      struct fleet_local *local, const struct sched_msg *m, int64_t now);

#endif
