/* scheduler/multikueue/records/fleet_managed.h: all that the manager of MultiKueue keeps of one
 * Workload: its replica and the objects of its job on each worker cluster as read last, and how the
 * last writes to these and to the local Workload have gone. Nothing of it outlives the process:
 * what a write has done is read again from the API servers. Owner: the fleet thread. */
#ifndef SCHEDULER_MULTIKUEUE_RECORDS_FLEET_MANAGED_H
#define SCHEDULER_MULTIKUEUE_RECORDS_FLEET_MANAGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "collections/vec.h"
#include "scheduler/base/sched_kinds.h"
#include "scheduler/multikueue/manager/manager.h"

struct fleet_cluster;
struct replica_body_manager;
struct sched_msg;

/* How long the effect of a write that was answered is waited for: a watch may never show it (an
 * object that was created and deleted between two lists). */
#define FLEET_MANAGED_AWAIT_NS (60 * INT64_C(1000000000))
/* After a create of an object of a job without an answer, on a connection that is still up: by then
 * it has been carried out or never will be. The silence of a server that hangs is noticed before.
 */
#define FLEET_MANAGED_SENT_NS (120 * INT64_C(1000000000))
#define FLEET_MANAGED_MAX_PAUSE_NS (300 * INT64_C(1000000000))

/* The last write to one object. */
struct fleet_write {
	bool in_flight;
	bool looks; /* it only reads whether an object that is not ours has the name */
	enum manager_act act;
	int64_t sent;    /* the resourceVersion that was known; 0: no object was */
	int64_t written; /* the one that shows how it ended; 0: nothing is waited for */
	int64_t done_at; /* wall ns of the answer */
	char *event;     /* to be recorded when it is accepted; NULL: none */
	bool warning;
	const char *cluster; /* of SET_CLUSTER; borrowed */
};

/* The failures of writes to the objects on one cluster. */
struct fleet_tries {
	unsigned failures; /* in a row */
	int64_t until;     /* wall ns: nothing is written before */
	unsigned idle;     /* bits of enum manager_act: they had no effect, and are not repeated
			    * before an object of the Workload changes */
};

/* carried_kind.digest, made once for each version of an object. */
struct fleet_digest {
	int64_t of; /* resourceVersion; 0: none yet */
	uint64_t value;
};

/* An object on a worker, by its name: this manager's, or another one. */
struct fleet_object {
	struct sched_msg *object; /* this manager's; NULL: none */
	/* An object that is not this manager's has the name: foreign: the watch shows it; taken: a
	 * create was answered AlreadyExists. */
	bool foreign, taken;
	unsigned looks;  /* how often such an answer was looked at again */
	int64_t look_at; /* wall ns at which to do so */
	struct fleet_write write;
};

/* One of the objects of a job. */
struct fleet_part {
	struct fleet_object o; /* first */
	enum sched_resource resource;
	char *key; /* "namespace/name" */
	struct fleet_digest digest;
	bool sent;  /* as in struct carried_object */
	bool large; /* it has been reported that its status is not copied */
	int64_t sent_at;
};

/* The specs of the local Workload and of a replica that were compared last: by their generations,
 * which an API server raises with each change of a spec. */
struct fleet_compared {
	int64_t here, there; /* 0: nothing was compared */
	enum spec_sync result;
};

/* One Workload on one worker cluster. */
struct fleet_there {
	struct fleet_cluster *cluster; /* borrowed: it outlives all Workloads */
	struct fleet_object replica;
	struct fleet_compared compared;
	uint64_t replica_source;               /* the connection that showed the replica last */
	struct VEC(struct fleet_part *) parts; /* in the order of resources and keys */
	struct fleet_tries tries;
};

struct fleet_managed {
	struct VEC(struct fleet_there *) there; /* in no order */
	struct fleet_write workload_write;      /* of the local Workload */
	struct fleet_tries tries;               /* of this and of the local objects of its job */
	char *job;        /* key of its job in fleet_locals.h; NULL: none, or it is not carried */
	int64_t round_at; /* struct manager_view */
	bool was_local;   /* the local Workload has been seen */
	bool collected;   /* it has never been seen, and a garbage collection found the rest */
};

struct fleet_managed *fleet_managed_create(void);
void fleet_managed_destroy(struct fleet_managed *g); /* NULL is fine */
/* NULL: nothing is known of this cluster. */
struct fleet_there *fleet_managed_find(const struct fleet_managed *g,
				       const struct fleet_cluster *k);
struct fleet_there *fleet_managed_there(struct fleet_managed *g, struct fleet_cluster *k);
/* The local object is another one than before, or gone: nothing of the old one's is waited for. */
void fleet_managed_renew(struct fleet_managed *g);
/* An object of the Workload has changed. */
void fleet_managed_changed(struct fleet_managed *g);
/* The replica as a connection has shown it; NULL: it is gone. */
void fleet_managed_set_replica(struct fleet_there *t, struct sched_msg *m,
			       const struct replica_body_manager *by, uint64_t source);
/* The object of this name there; one that is not known is added if `add`. NULL: it is not. */
struct fleet_part *fleet_managed_part(struct fleet_there *t, enum sched_resource r, struct str key,
				      bool add);
/* The object of a job is this manager's, and names the Workload with this key. */
bool fleet_managed_is_part_of(const struct sched_msg *m, const char *workload,
			      const struct replica_body_manager *by);
/* Sets the part to the object that the cluster shows under its name. workload: the key of the
 * Workload. */
void fleet_managed_see(struct fleet_there *t, struct fleet_part *part, const char *workload,
		       const struct replica_body_manager *by);
/* The object of the part is gone from the cluster. */
void fleet_managed_drop(struct fleet_part *part, const struct sched_msg *gone);
/* Forgets the parts of which there is nothing to know any more, and that are not wanted. */
void fleet_managed_tidy(struct fleet_there *t,
			bool (*wanted)(const void *ctx, const struct fleet_part *part),
			const void *ctx);
/* The connection is lost: no answer to a write over it will come. */
void fleet_managed_lose(struct fleet_there *t);
/* All lists of a new connection are complete: what it has not shown is gone. */
void fleet_managed_reach(struct fleet_there *t, uint64_t source);
/* The digest of the object m, from d where d has it already. */
uint64_t fleet_managed_digest(struct fleet_digest *d, const struct sched_msg *m);
/* note_sent: a create of the part was sent at `now`, wall ns. is_sent: one may still take effect.
 */
void fleet_managed_note_sent(struct fleet_part *part, int64_t now);
bool fleet_managed_is_sent(const struct fleet_part *part, int64_t now);
/* The effect of the last write is not seen yet. version: of the object as read; 0: it is absent. */
bool fleet_managed_awaits(const struct fleet_write *w, int64_t version, int64_t now);
/* Whether the pause after a failure goes on. */
bool fleet_managed_is_paused(const struct fleet_tries *t, int64_t now);
/* Whether nothing is left of it on any cluster from which it could be removed. */
bool fleet_managed_is_gone(const struct fleet_managed *g);

#endif
