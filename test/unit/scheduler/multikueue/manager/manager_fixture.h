/* test/unit/scheduler/multikueue/manager/manager_fixture.h: a local Workload with its Job, and up
 * to five worker clusters w1 to w5, in words; and the step of the manager as text. A word that is
 * not known fails the test. One arena per program, made by decode_fixture_open.
 *
 * Of the local side: "gone" "deleting" "finished[=Reason]" "quota[=SECONDS]" (ago, or
 * "none": no time) "evicted" "inactive" ·
 * "pending" "ready" "retry" "rejected" (the check of MultiKueue; "=SECONDS": since so long; none of
 * them: there is no check)
 * "message=M" (its message; _ stands for a blank) "retries=N" "other=State" (another check) ·
 * "cluster=w1" "nominated=w1,w2" "podset=NAME" "priority=N" "class=NAME" "gate" "delayed"
 * (topology) · "owner=KIND" ("none": no owner) "secondary" (the owner does not control) "nojob"
 * "otherjob" (another UID) "unmanaged" · of the Job: "suspended" "active=N" "done" "sure" (its end
 * is decided) "label=CLASS" · "elastic" "replaces".
 * Of a cluster: "lost=SECONDS" (ago) "never[=SECONDS]" (as a manager before reported)
 * "unconfigured" · "replica" (no cycle has looked at it) "gated" "declined" "preempting" "reserved"
 * "admitted" "evicted" "finished=Reason" "deactivated" "inactive" "deleting" "finalizer"
 * "podset=NAME" "priority=N" "class=NAME" "gate" "topology" · "job" "jobsuspended" "jobactive=N"
 * "jobdone" "jobdeleting" "joblabel=CLASS" "jobsent" · "taken" "jobtaken". */
#ifndef TEST_UNIT_SCHEDULER_MULTIKUEUE_MANAGER_MANAGER_FIXTURE_H
#define TEST_UNIT_SCHEDULER_MULTIKUEUE_MANAGER_MANAGER_FIXTURE_H

#include "api/core/batch.h"
#include "api/kueue/kueue_workload.h"
#include "scheduler/multikueue/manager/carried.h"
#include "scheduler/multikueue/manager/manager.h"

#define MANAGER_FIXTURE_NOW (INT64_C(1800000000) * 1000000000)
#define MANAGER_FIXTURE_CLUSTERS 5

struct strbuf;

struct manager_fixture {
	struct manager_options opt;
	struct manager_view view;
	struct manager_cluster clusters[MANAGER_FIXTURE_CLUSTERS];
	struct api_workload local, replicas[MANAGER_FIXTURE_CLUSTERS];
	struct api_job job, jobs[MANAGER_FIXTURE_CLUSTERS];
	struct carried_object local_job;
	struct carried_object objects[MANAGER_FIXTURE_CLUSTERS];
};

/* Kueue's defaults, and workerLostTimeout 5 minutes, as its tests have it. clusters[i]: of w(i+1);
 * NULL ends them. */
void manager_fixture_make(struct manager_fixture *f, const char *local,
			  const char *const *clusters);
struct manager_fixture_row {
	const char *name, *local, *clusters[4], *want; /* NULL ends the clusters */
};
/* Each row's step must be as it wants. */
void manager_fixture_run(const struct manager_fixture_row *rows, size_t n);
/* Sets how the replicas of n clusters differ from the local Workload. */
void manager_fixture_compare(const struct api_workload *local, struct manager_cluster *c, size_t n);
/* The step: "Nominate w1 w2; CreateReplica w1; at +300". Of SetCheck and Finish the text follows in
 * quotes; an event is "(Normal)" or "(Warning)". */
void manager_fixture_step(const struct manager_fixture *f, struct strbuf *out);
/* The same must equal want. */
void manager_fixture_expect(const struct manager_fixture *f, const char *want);

#endif
