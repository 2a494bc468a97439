/* scheduler/multikueue/records/fleet_workload.h: all that the fleet keeps of one Workload: the
 * local object with its token, and the replica of it on each worker cluster. Owner: the fleet
 * thread. */
#ifndef SCHEDULER_MULTIKUEUE_RECORDS_FLEET_WORKLOAD_H
#define SCHEDULER_MULTIKUEUE_RECORDS_FLEET_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "collections/vec.h"
#include "scheduler/multikueue/observe.h"
#include "scheduler/multikueue/variants.h"
#include "scheduler/orchestrate/token.h"

struct api_workload;
struct arena;
struct err;
struct fleet_managed;
struct heap;
struct sched_msg;

struct fleet_replica {
	const char *cluster; /* of the fleet's table of clusters, which outlives it */
	struct observed seen;
	char *queue;          /* its LocalQueue, "namespace/name"; NULL: there is no replica */
	struct variant *self; /* as read; NULL: there is no replica */
	struct variants variants;
	struct variant *target; /* of these, the one of which the gate counts; NULL: as self */
	struct variant *stray;  /* of these, one of which the gate is to be closed; NULL: none */
	bool is_full;           /* it has more variants than are kept, and that was logged */
	int64_t evicted_at; /* the latest that was seen of it and its variants; REPLICA_NOT_SEEN */
	bool closed_first;  /* all gates are to be opened: one that is closed counts first */
	bool held_back;  /* it has been reported that it waits for the gate of another controller */
	uint64_t source; /* the connection that showed it last */
	/* The last write of its gate: whether it is under way, and whether it opens or closes it;
	 * the resourceVersion that was known when it was sent, and the one that shows how it
	 * ended. */
	bool in_flight, opens;
	int64_t sent, written;
	char *sent_to;        /* UID of that object; NULL: nothing was written yet */
	int64_t pause_until;  /* wall ns: it was refused, and is not repeated before */
	int64_t opened_epoch; /* of the token, when its gate was opened last */
};

struct fleet_workload {
	char *key;               /* "namespace/name" */
	struct sched_msg *local; /* the object as read; NULL: it does not exist, or not any more */
	struct VEC(struct fleet_replica *) replicas; /* in no order */
	uint64_t signals;                            /* seen so far */

	/* The token as the local object has it. */
	struct token token;
	struct arena *arena; /* of its texts */
	char *token_text;    /* of which it was parsed; NULL: none */
	bool token_in_flight;
	int64_t token_sent, token_written, token_pause_until; /* as of a replica */
	struct VEC(char *) promised; /* keys of its expected victims on the holder's cluster */
	const char *holding; /* the cluster that has the token, or is being given it; NULL: none */

	struct fleet_managed *managed; /* NULL: there is no manager of MultiKueue here */
	char *grant_reason;            /* of the grant under way, for its event; NULL: none */
	int64_t grant_cost;            /* of the same; REPLICA_COST_UNKNOWN */
	int64_t signal_at; /* wall ns: since when it has asked without a grant; REPLICA_NOT_SEEN */
	int64_t wake_at;   /* wall ns: when to look again; CLOCK_NEVER: after a change */
	size_t wake_place; /* in the fleet's heap by wake_at; SIZE_MAX: not there */
	bool waits_busy;   /* it waits for a gate that another Workload holds */
	bool waits_prices; /* it waits for the prices of preemption to be read */
	bool due;
};

struct fleet_workload *fleet_workload_create(struct str key);
void fleet_workload_destroy(void *w); /* NULL is fine */
/* NULL: the local object does not exist. */
const struct api_workload *fleet_workload_local(const struct fleet_workload *w);
/* The local object as it was read, which becomes the Workload's (a reference is taken); NULL: it
 * was deleted. now: wall ns. -ERR_INVALID: its token cannot be read, and counts as lost. */
int fleet_workload_set_local(struct fleet_workload *w, struct sched_msg *m, int64_t now,
			     struct err *err);
/* The replica on this cluster; NULL: none is known. */
struct fleet_replica *fleet_workload_find(const struct fleet_workload *w, const char *cluster);
/* Finds it or makes one, unreachable at first. cluster is borrowed. */
struct fleet_replica *fleet_workload_replica(struct fleet_workload *w, const char *cluster);
/* The replica as the worker's API server showed it, by this connection; NULL: it does not exist. */
void fleet_workload_observe(struct fleet_workload *w, struct fleet_replica *r,
			    const struct api_workload *replica, uint64_t source, int64_t now);
/* The same for a variant of the replica, which may be seen before that. */
void fleet_workload_observe_variant(struct fleet_workload *w, struct fleet_replica *r,
				    struct str key, const struct api_workload *variant,
				    uint64_t source, int64_t now);
/* The replica, or a variant of it. m: UPSERT and DELETE, as above; BAD_OBJECT: it may hold quota,
 * or preempt, and counts as it was seen last. */
void fleet_workload_take(struct fleet_workload *w, struct fleet_replica *r,
			 const struct sched_msg *m, bool is_variant, int64_t now);
/* The replica, or the variant of it, of which the gate was written last; NULL: it is gone. */
struct variant *fleet_workload_sent_to(const struct fleet_replica *r);
/* The lists of this connection are complete: what it has not shown is gone. */
void fleet_workload_reach(struct fleet_workload *w, struct fleet_replica *r, uint64_t source,
			  int64_t now);
/* The write of a gate of the replica has ended. */
void fleet_workload_written(struct fleet_workload *w, struct fleet_replica *r, int64_t now);
/* All gates of the replica are to be opened, one after the other. */
void fleet_workload_open_all(struct fleet_workload *w, struct fleet_replica *r, int64_t now);
/* The clock was set back to now: times that are later than now become now, so that no wait gets
 * longer by it. */
void fleet_workload_set_clock_back(struct fleet_workload *w, int64_t now);
void fleet_workload_forget_promises(struct fleet_workload *w);
/* Forgets the replica, because its cluster is not part of the fleet any more. */
void fleet_workload_drop(struct fleet_workload *w, const char *cluster);
/* A write of the token is under way, or has not been read back. */
bool fleet_workload_awaits_token(const struct fleet_workload *w);
/* Whether some write is under way or has not been read back, so that nothing can be decided: of the
 * token, of a gate, or of the manager to the local object (of two writes for one version of it the
 * API server refuses the second). now: wall ns. */
bool fleet_workload_is_waiting(const struct fleet_workload *w, int64_t now);
/* A heap of Workloads by wake_at, the earliest first; heap_finish frees it. */
void fleet_workload_init_waking(struct heap *waking);
/* Sets wake_at, and puts w into that heap, where it stays until it is taken out (CLOCK_NEVER).
 * O(log n). */
void fleet_workload_set_wake(struct fleet_workload *w, struct heap *waking, int64_t at);
/* Orders pointers to Workloads by priority and then by age, as in the queues of Kueue: where a
 * ClusterQueue of a worker has room for one preemptor only, the first gets it. For qsort. */
int fleet_workload_compare(const void *a, const void *b);
/* Neither a local object nor a replica is left. */
bool fleet_workload_is_gone(const struct fleet_workload *w);

#endif
