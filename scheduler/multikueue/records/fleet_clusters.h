/* scheduler/multikueue/records/fleet_clusters.h: the worker clusters of the fleet:
 * MultiKueueClusters, the Secrets and files with their kubeconfigs, and a connection for each.
 * Owner: the fleet thread. */
#ifndef SCHEDULER_MULTIKUEUE_RECORDS_FLEET_CLUSTERS_H
#define SCHEDULER_MULTIKUEUE_RECORDS_FLEET_CLUSTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "collections/vec.h"
#include "scheduler/multikueue/manager/carried.h"

struct api_multikueue_cluster;
struct fleet_clusters;
struct link;
struct link_options;
struct sched_msg;
struct strmap;

struct fleet_cluster {
	char *name; /* of the MultiKueueCluster */
	struct link *link;
	uint64_t source; /* of the connection, when its lists are complete; 0: not connected */
	bool is_stalled; /* its watch of Workloads fails: replicas are as they were seen last */
	bool is_gone;    /* the MultiKueueCluster was deleted; the name stays valid */
	bool was_up;     /* it has been connected before */
	int64_t up_at;   /* wall ns: since when it is connected, unless source is 0 */
	unsigned stalled_jobs; /* kinds of jobs of which its watch fails; bits of enum carried */
	int64_t stalled_at;    /* wall ns: since when one of the watches fails */
	int64_t gone_at;       /* wall ns */
	/* Objects of jobs on the worker: struct sched_msg, by key. */
	struct strmap *carried[CARRIED_COUNT_];
	uint64_t other_source; /* the connection that showed an object of another manager last */
	/* The ClusterQueue of each LocalQueue ("namespace/name") of the worker, where it may be
	 * read. */
	struct strmap *queues;
	/* The replica of each variant on the worker (variants.h), by "namespace/name": of what was
	 * seen by the connection with the number variants_source, and by the last one of which the
	 * lists were complete. */
	struct strmap *variants;
	uint64_t variants_source, variants_complete;
};

#define FLEET_CLUSTERS_REREAD_NS (10 * INT64_C(1000000000)) /* of files with kubeconfigs */

/* link: of every connection; its cluster and seed are set for each. namespace_: of the Secrets.
 * root: the folder below which files are read. All must outlive the clusters. */
struct fleet_clusters *fleet_clusters_create(const struct link_options *link,
					     const char *namespace_, const char *root);
void fleet_clusters_destroy(struct fleet_clusters *c); /* NULL is fine */
/* UPSERT and DELETE of MultiKueueClusters and Secrets. */
void fleet_clusters_handle(struct fleet_clusters *c, struct sched_msg *m);
/* All Secrets have been read: one that is missing is missing. Until then nothing is connected. */
void fleet_clusters_secrets_listed(struct fleet_clusters *c);
/* NULL: there is no such cluster. */
const struct api_multikueue_cluster *fleet_clusters_object(const struct fleet_clusters *c,
							   const char *name);
struct fleet_cluster *fleet_clusters_find(struct fleet_clusters *c, struct str name);
/* The cluster with the connection of this number; NULL: it has ended. */
struct fleet_cluster *fleet_clusters_of(struct fleet_clusters *c, uint64_t source);
/* A LocalQueue of the worker; m: UPSERT or DELETE. */
void fleet_clusters_queue(struct fleet_cluster *c, const struct sched_msg *m);
/* A Workload of the worker; m: UPSERT, DELETE or BAD_OBJECT. Returns the key of the replica of
 * which it is a variant; NULL: it is none. An UPSERT says so itself; otherwise it is as it was seen
 * last. *ret_before: the same before m. The caller frees both. */
char *fleet_clusters_variant(struct fleet_cluster *c, const struct sched_msg *m, char **ret_before);
/* The lists of c->source are complete: variants that it has not shown are forgotten. */
void fleet_clusters_reach(struct fleet_cluster *c);
/* The ClusterQueue of a replica's LocalQueue; the LocalQueue itself where that may not be read.
 * NULL is returned for NULL. */
const char *fleet_clusters_queue_of(const struct fleet_cluster *c, const char *local_queue);
/* As fleet_clusters_find, and clusters that were deleted as well. */
struct fleet_cluster *fleet_clusters_any(const struct fleet_clusters *c, struct str name);
/* Connects what is due. Returns the monotonic time at which to call it again. */
int64_t fleet_clusters_step(struct fleet_clusters *c);
/* The watch of this kind fails, or works again; now: wall ns. False: it is not one that is needed.
 */
bool fleet_clusters_stall(struct fleet_cluster *c, enum sched_resource r, bool fails, int64_t now);
/* The object of a job with this key on the worker; NULL: there is none, or the kind is not carried.
 */
struct sched_msg *fleet_clusters_carried(const struct fleet_cluster *c, enum sched_resource r,
					 struct str key);
/* In the order in which they were read first. */
struct fleet_cluster *fleet_clusters_at(const struct fleet_clusters *c, size_t i);
size_t fleet_clusters_count(const struct fleet_clusters *c);

#endif
