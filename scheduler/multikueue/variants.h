/* scheduler/multikueue/variants.h: the Workloads of which a replica consists on its
 * cluster. That is the replica alone, unless the worker's Kueue has the feature gate
 * ConcurrentAdmission and the ClusterQueue a concurrentAdmissionPolicy. Then the replica has a
 * label and is never queued. Kueue makes a variant of it for each flavor: a Workload that the
 * replica controls, with the replica's labels, annotations and preemption gates, and one more gate,
 * which Kueue opens itself for one variant after the other. The replica gets quota when a variant
 * is admitted. So it is the variants that ask to preempt, and a variant of which the manager's gate
 * is opened, one at a time. A variant that Kueue has switched off keeps an open gate, and may be
 * switched on again with it.
 *
 * The rules are those of Kueue 0.19 (pkg/controller/concurrentadmission). Owner: the thread that
 * owns the list, which is the fleet thread or headgatectl. A variant is the list's from
 * variants_adopt until it is replaced or removed; pointers to it are good until then. A list has no
 * more than VARIANTS_MAX, so that each function is O(VARIANTS_MAX). Pure. */
#ifndef SCHEDULER_MULTIKUEUE_VARIANTS_H
#define SCHEDULER_MULTIKUEUE_VARIANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "collections/vec.h"
#include "scheduler/multikueue/observe.h"

#define VARIANTS_MAX 16 /* of one replica: Kueue's limit of flavors of a ClusterQueue */

struct api_workload;

/* The replica itself, or a variant of it. */
struct variant {
	char *key; /* "namespace/name" */
	char *uid; /* "": unknown */
	char *of;  /* UID of the Workload that controls it; NULL: none does */
	char *version;
	int64_t version_n; /* the same as a number */
	char *other_gate;  /* one of another controller that is closed; NULL: none, or the one that
			    * Kueue opens itself */
	uint64_t source;   /* the connection that showed it last */
	bool parent;       /* it has the label: its variants are queued, not itself */
	bool active;
	struct observation seen;
	uint64_t asked;      /* its place in the order in which signals were seen first; 0: never */
	unsigned tried;      /* in how many epochs of the token the manager has written its gate */
	int64_t tried_epoch; /* the last of them; VARIANTS_NO_EPOCH: none */
	unsigned refused;    /* how often its API server has refused to open the gate */
};

#define VARIANTS_NO_EPOCH INT64_C(-1)

/* In no order; a vec. */
struct variants VEC(struct variant *);

/* The Workload that controls this one, by name; NULL: it is no variant. Borrowed. */
const char *variants_parent(const struct api_workload *w);
/* As a connection has shown it. The caller destroys it. */
struct variant *variants_read(struct str key, const struct api_workload *w, uint64_t source);
void variants_free(struct variant *v); /* NULL is fine */
/* Takes v in place of the one with its key; where the list is full, in place of one that the
 * replica does not control. uid: of the replica; NULL: not known yet. signals: of its Workload so
 * far. False: the list is full, and v was freed. */
bool variants_adopt(struct variants *list, struct variant *v, const char *uid, uint64_t *signals);
/* A connection has shown that it exists, and no more. */
void variants_show(struct variants *list, struct str key, uint64_t source);
void variants_remove(struct variants *list, struct str key);
/* Removes those that another connection has shown. */
void variants_keep(struct variants *list, uint64_t source);
void variants_finish(struct variants *list);
/* The Workload that counts for the replica `self`: itself, or the one of its active variants that
 * has come furthest; of several, one that was not refused, and was not tried before. closed: the
 * first one with a closed gate instead, where there is one. epoch: of the token while it is
 * granted, which does not count as tried; VARIANTS_NO_EPOCH: it is not. */
struct variant *variants_choose(const struct variants *list, struct variant *self, bool closed,
				int64_t epoch);
/* One with an open gate that must be closed before anything else is done, active or not: it does
 * not count, or the replica runs already. NULL: there is none. */
struct variant *variants_stray(const struct variants *list, struct variant *self,
			       const struct variant *counts);
/* The replica as the one that counts shows it. The state of the replica is taken into account, too.
 * *ret_unanswered: a cycle has not looked at one of the variants yet; or what keeps all of them
 * from preempting is the gate that Kueue is about to open for one. */
struct observation variants_observe(const struct variants *list, struct variant *self,
				    const struct variant *counts, bool *ret_unanswered);

#endif
