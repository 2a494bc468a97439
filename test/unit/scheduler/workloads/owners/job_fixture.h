/* test/unit/scheduler/workloads/owners/job_fixture.h: a Job of three pods and its Workload for unit
 * tests, and the world that a plan for it sees: flavor "spot" (label type=spot, one toleration),
 * WorkloadPriorityClass "high" (10). All in the arena of decode_fixture.h. */
#ifndef TEST_UNIT_SCHEDULER_WORKLOADS_OWNERS_JOB_FIXTURE_H
#define TEST_UNIT_SCHEDULER_WORKLOADS_OWNERS_JOB_FIXTURE_H

#include "api/core/batch.h"
#include "api/kueue/kueue_workload.h"
#include "scheduler/workloads/owners/owner_plan.h"

#define JOB_FIXTURE_NOW (INT64_C(1700000000) * 1000000000)
/* Status of a Workload, in single quotes. */
#define JOB_FIXTURE_CONDITION(type, status, reason)                                                \
	"{'type':'" type "','status':'" status "','reason':'" reason "','message':'m'}"
#define JOB_FIXTURE_ADMISSION                                                                      \
	"'admission':{'clusterQueue':'cq','podSetAssignments':[{'name':'main',"                    \
	"'flavors':{'cpu':'spot','memory':'spot'},'count':3}]}"
#define JOB_FIXTURE_ADMITTED                                                                       \
	JOB_FIXTURE_ADMISSION ",'conditions':[" JOB_FIXTURE_CONDITION(                             \
		"QuotaReserved", "True",                                                           \
		"QuotaReserved") "," JOB_FIXTURE_CONDITION("Admitted", "True", "Admitted") "]"

struct job_fixture { /* members of JSON objects in single quotes, "" or NULL: none */
	const char *labels, *annotations, *meta, *spec, *status; /* of the Job */
	const char *template_meta, *template_spec;               /* of its pod template */
	bool runs;                                               /* not suspended */
};
struct job_fixture_workload {
	const char *uid, *owner; /* default "w-1", "j-1"; owner "": none */
	const char *meta, *spec, *status;
	const char *podset;        /* members of the pod set */
	const char *template_spec; /* of its pod template */
	int count;                 /* 0: 3 */
	bool no_finalizer;
};

void job_fixture_job(const struct job_fixture *f, struct api_job *ret);
void job_fixture_workload(const struct job_fixture_workload *f, struct api_workload *ret);
void job_fixture_env(struct owner_plan_env *ret);
/* The patch (JSON) must equal this (JSON in single quotes). */
void job_fixture_expect_json(struct str have, const char *want);

#endif
