/* scheduler/base/sched_kinds.h: the one table of the kinds of objects that the scheduler and
 * headgatectl read. Watches, decoding, lists, simulations and the paths of writes follow from it;
 * the names of a kind are those of common/api/kinds.h. Any thread. */
#ifndef SCHEDULER_BASE_SCHED_KINDS_H
#define SCHEDULER_BASE_SCHED_KINDS_H

#include <stdbool.h>

#include "base/str.h"

struct field_table;
struct kinds_row;
struct strbuf;

/* In the order in which they are watched: kinds of the pods wing, then kinds watched only when the
 * Workload engine runs, then kinds that the fleet alone watches, then one that is watched for the
 * plugin pdb alone, then kinds never watched. */
enum sched_resource {
	SCHED_PODS,
	SCHED_NODES,
	SCHED_QUEUES,
	SCHED_PODGROUPS,
	SCHED_KUBE_PODGROUPS, /* of Kubernetes, where it serves them */
	SCHED_PRIORITY_CLASSES,
	SCHED_NAMESPACES,
	SCHED_CLAIMS,  /* PersistentVolumeClaims */
	SCHED_VOLUMES, /* PersistentVolumes */
	SCHED_STORAGE_CLASSES,
	SCHED_CSI_NODES,
	SCHED_CSI_DRIVERS,
	SCHED_STORAGE_CAPACITIES, /* CSIStorageCapacities */
	SCHED_FLAVORS,
	SCHED_CLUSTER_QUEUES,
	SCHED_COHORTS,
	SCHED_LOCAL_QUEUES,
	SCHED_WORKLOADS,
	SCHED_WORKLOAD_PRIORITY_CLASSES,
	SCHED_ADMISSION_CHECKS,
	SCHED_LIMIT_RANGES,
	SCHED_RUNTIME_CLASSES,
	SCHED_JOBS,
	SCHED_MULTIKUEUE_CONFIGS,
	SCHED_MULTIKUEUE_CLUSTERS,
	SCHED_SECRETS,
	SCHED_BUDGETS, /* PodDisruptionBudgets */
	SCHED_TOPOLOGIES,
	SCHED_RESOURCE_COUNT_,
	SCHED_CUSTOM /* of kinds that a configuration names (custom_kinds.h): it has no names of its
			own, and no path */
};

enum sched_wing {
	SCHED_WING_PODS = 1,
	SCHED_WING_WORKLOADS = 2,
	SCHED_WING_FLEET = 4, /* of many clusters; its kinds alone, not those it shares */
};

struct sched_kind {
	const struct field_table *fields; /* decodes objects of the kind */
	unsigned wings;                   /* with a cache for its objects; enum sched_wing */
	bool unwatched;                   /* not by every process with the wing: SCHED_BUDGETS with
					     the plugin pdb only, others by none */
	bool needed;    /* headgatectl fails where the cluster does not serve it, and so does the
			   scheduler if it is of the pods wing */
	bool without;   /* it is done without where the right to list it is missing: it only helps
			   to place pods better */
	bool reports;   /* its status only reports: without it the object counts as much */
	int read_order; /* place in the order in which headgatectl reads objects: objects that
			others refer to come first; 0: not read */
	const char *label; /* see sched_kinds_label; NULL: its plural */
};

/* Static; r below SCHED_RESOURCE_COUNT_, here and below, or for these two SCHED_CUSTOM. */
const struct sched_kind *sched_kinds_get(enum sched_resource r);
/* Its name in logs, metrics and warnings: the plural, with the group if another kind here has the
 * same plural. */
const char *sched_kinds_label(enum sched_resource r);
const struct kinds_row *sched_kinds_names(enum sched_resource r);
/* Whether the scheduler does without the kind where the cluster does not serve it. */
bool sched_kinds_may_be_missing(enum sched_resource r);
/* Whether it does without the kind where it may not list it. */
bool sched_kinds_may_be_forbidden(enum sched_resource r);
/* The number of kinds that are watched, with or without the Workload engine: the first ones of enum
 * sched_resource. Those of the fleet do not count. */
unsigned sched_kinds_watched(bool workloads);
/* The kind that headgatectl reads next for a wing, in the order of read_order; for the first one *r
 * is SCHED_RESOURCE_COUNT_. False: there is no further one. */
bool sched_kinds_next(enum sched_wing wing, enum sched_resource *r);
/* Appends a path as rest_path does: "/api/v1/namespaces/ns/pods/name[/sub]". namespace_, name and
 * sub may be NULL: without a name it is the path of the collection, without a namespace of all
 * namespaces. */
void sched_kinds_path(enum sched_resource r, const char *namespace_, const char *name,
		      const char *sub, struct strbuf *out);
/* The same for an object by the key of messages: "ns/name", or "name". */
void sched_kinds_key_path(enum sched_resource r, struct str key, const char *sub,
			  struct strbuf *out);

#endif
