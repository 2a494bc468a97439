#include "scheduler/workloads/preempt/victim.h"

#include <assert.h>

#include "base/arena.h"
#include "base/attrs.h"

const char *victim_reason_name(enum victim_reason r)
{
	switch (r) {
	case VICTIM_IN_CLUSTER_QUEUE:
		return "InClusterQueue";
	case VICTIM_IN_COHORT_RECLAMATION:
		return "InCohortReclamation";
	case VICTIM_IN_COHORT_FAIR_SHARING:
		return "InCohortFairSharing";
	case VICTIM_IN_COHORT_RECLAIM_WHILE_BORROWING:
		return "InCohortReclaimWhileBorrowing";
	}
	assert(!"a reason of preemption");
	return "";
}

static const char *phrase(enum victim_reason r)
{
	switch (r) {
	case VICTIM_IN_CLUSTER_QUEUE:
		return "prioritization in the ClusterQueue";
	case VICTIM_IN_COHORT_RECLAMATION:
		return "reclamation within the cohort";
	case VICTIM_IN_COHORT_FAIR_SHARING:
		return "fair sharing within the cohort";
	case VICTIM_IN_COHORT_RECLAIM_WHILE_BORROWING:
		return "reclamation within the cohort while borrowing";
	}
	assert(!"a reason of preemption");
	return "";
}

/* The first call returns the length, so that a path that is longer than the buffer is written by a
 * second one. */
static const char *path_of(const struct forest *f, uint32_t node, struct arena *arena)
{
	char small[512];
	size_t n = forest_path(f, node, small, sizeof(small));
	char *path;

	if (n < sizeof(small)) {
		return arena_dup_n(arena, small, n);
	}
	path = arena_alloc(arena, n + 1);
	forest_path(f, node, path, n + 1);
	return path;
}

/* The parts are those of Kueue's message, with UNKNOWN for a Workload without the label of its
 * job. */
const char *victim_message(const struct forest *f, const struct workload *preemptor, uint32_t node,
			   const struct victim *v, struct arena *arena)
{
	const struct workload *w = forest_model(f)->workloads.v[v->workload];
	const char *job = preemptor->object.job_uid;
	const char *const parts[] = {
		"Preempted to make room for a workload (UID: ",
		preemptor->object.uid == NULL ? "" : preemptor->object.uid,
		", JobUID: ",
		job == NULL || *job == '\0' ? "UNKNOWN" : job,
		") due to ",
		phrase(v->reason),
		"; preemptor path: ",
		path_of(f, node, arena),
		"; preemptee path: ",
		path_of(f, w->holding.node, arena),
	};

	/* The path of its ClusterQueue is in the message. */
	assert(w->holding.node != MODEL_NONE);
	return arena_join(arena, parts, ARRAY_LEN(parts));
}
