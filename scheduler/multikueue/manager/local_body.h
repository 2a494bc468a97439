/* scheduler/multikueue/manager/local_body.h: the writes to the status of the local Workload. They
 * are made from its JSON, so that what no field table knows stays. Pure.
 *
 * The admission status is written as the field manager "kueue-admission" writes it, which is the
 * core's: with everything that it keeps there (nine conditions, admission, requeueState,
 * resourceRequests, accumulatedPastExecutionTimeSeconds, schedulingStats, clusterName,
 * nominatedClusterNames, unhealthyNodes, preemptionGates, admissionChecks), as it stands, and with
 * the change. So nothing of the core's is removed, and the core can take off again what is written
 * here. The resourceVersion keeps the write from undoing one of the core's. */
#ifndef SCHEDULER_MULTIKUEUE_MANAGER_LOCAL_BODY_H
#define SCHEDULER_MULTIKUEUE_MANAGER_LOCAL_BODY_H

#include <stdint.h>

struct jdoc;
struct manager_action;
struct strbuf;

/* The apply of NOMINATE, SET_CLUSTER (cluster: its name) or SET_CHECK. check: the name of the
 * AdmissionCheck; its podSetUpdates and requeueAfterSeconds are replaced, its retryCount, which is
 * the core's, stays. now: wall ns. */
struct local_body {
	const struct jdoc *local;
	const char *check, *cluster;
	int64_t now;
};
void local_body_admission(const struct local_body *of, const struct manager_action *a,
			  struct strbuf *out);
/* The apply of FINISH, of the condition Finished alone. */
void local_body_finished(const struct local_body *of, const struct manager_action *a,
			 struct strbuf *out);

#endif
