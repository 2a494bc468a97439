/* scheduler/ctl/quota_source.h: the quota part as it stands, for verbs that look at it: objects
 * from consistent lists of a cluster, or from manifests, and the same loader for both. One thread.
 */
#ifndef SCHEDULER_CTL_QUOTA_SOURCE_H
#define SCHEDULER_CTL_QUOTA_SOURCE_H

#include "ctl/cluster_args.h"
#include "ctl/quota_simulation.h"
#include "ctl/sim_input.h"

struct quota_source {
	struct sim_input *in;
	struct quota_simulation *world; /* no cycle has run; NULL: was not asked for */
	int64_t now;                    /* wall ns */
};

/* Objects of these kinds alone; bits of enum sim_kind: 1u << SIM_WORKLOAD. */
int quota_source_read(const struct cluster_args *a, unsigned kinds, struct quota_source *ret,
		      struct err *err);
/* Pods alone: of a cluster those that the selectors (NULL: all) choose in the namespace, or in all;
 * of manifests all there are. */
int quota_source_pods(const struct cluster_args *a, const char *labels, const char *fields,
		      struct quota_source *ret, struct err *err);
/* All objects of the quota part, and the world that they make. What cannot be read is left out,
 * with a warning that names object and field. */
int quota_source_load(const struct cluster_args *a, struct quota_source *ret, struct err *err);
void quota_source_finish(struct quota_source *s); /* for CLEANUP; zeroed is fine */

#endif
