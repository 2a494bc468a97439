/* scheduler/multikueue/variants.h: the Workloads of which a replica consists on its
 * cluster. That is the replica alone, unless the worker's Kueue has the feature gate
 * ConcurrentAdmission and the ClusterQueue a concurrentAdmissionPolicy. Then the replica has a
 * label and is never queued. Kueue makes a variant of it for each flavor: a Workload that the
 * replica controls, with the replica's labels, annotations and preemption gates, and one more gate,
 * which Kueue opens itself for one variant after the other. The replica gets quota when a variant
 * is admitted. So it is the variants that ask to preempt, and a variant of which the manager's gate
 * is opened, one at a time. Pure; owned by the caller. */
#ifndef SCHEDULER_MULTIKUEUE_VARIANTS_H
#define SCHEDULER_MULTIKUEUE_VARIANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "collections/vec.h"
#include "scheduler/multikueue/observe.h"

struct api_workload;

/* The replica itself, or a variant of it. */
struct variant {
	char *key; /* "namespace/name" */
	char *uid; /* "": unknown */
	char *of;  /* UID of the Workload that controls it; NULL: none does */
	char *version;
	int64_t version_n; /* the same as a number */
	char *other_gate;  /* one of another controller, which is closed; NULL: none */
	uint64_t source;   /* the connection that showed it last */
	bool parent;       /* it has the label: its variants are queued, not itself */
	bool active;
	struct observation seen;
	uint64_t asked; /* its place in the order in which signals were seen first; 0: never */
	unsigned tried; /* how often the manager has closed its gate again */
};

/* In no order; a vec. */
struct variants VEC(struct variant *);

/* The Workload that controls this one, by name; NULL: it is no variant. Borrowed. */
const char *variants_parent(const struct api_workload *w);
/* As a connection has shown it. The caller destroys it. */
struct variant *variants_read(struct str key, const struct api_workload *w, uint64_t source);
void variants_free(struct variant *v); /* NULL is fine */
/* Takes v in place of the one with its key. signals: of its Workload so far. */
void variants_adopt(struct variants *list, struct variant *v, uint64_t *signals);
void variants_remove(struct variants *list, struct str key);
/* Removes those that another connection has shown. */
void variants_keep(struct variants *list, uint64_t source);
void variants_finish(struct variants *list);
/* The Workload that counts for the replica `self`: itself, or the one of its active variants that
 * has come furthest; of several that ask to preempt, one that was not tried before. closed: the
 * first one with a closed gate instead, where there is one. */
struct variant *variants_choose(const struct variants *list, struct variant *self, bool closed);
/* The replica as the one that counts shows it. The state of the replica is taken into account, too.
 * *ret_unanswered: a cycle has not looked at one of the variants yet. */
struct observation variants_observe(const struct variants *list, const struct variant *self,
				    const struct variant *counts, bool *ret_unanswered);

#endif
