#include "scheduler/workloads/owners/job_plan.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/workloads/owners/job_fixture.h"

#define STARTED "'headgate.io/started':'true'"
#define STOPPING "'kueue.x-k8s.io/stopping':'true'"
#define PREBUILT "'kueue.x-k8s.io/queue-name':'lq','kueue.x-k8s.io/prebuilt-workload-name':'w'"
#define C JOB_FIXTURE_CONDITION
#define DELETED "'deletionTimestamp':'2026-01-01T00:00:00Z'"
#define OTHER_PODS "'hostNetwork':true,'tolerations':[{'key':'x','operator':'Exists'}]"
#define RESERVED JOB_FIXTURE_ADMISSION ",'conditions':[" C("QuotaReserved", "True", "QuotaReserved")

#define CHECK(name, state, message)                                                                \
	"{'name':'" name "','state':'" state "','message':'" message "'}"

static const struct row {
	const char *name;
	const char *want; /* kinds of writes */
	struct job_fixture job;
	struct job_fixture_workload w;
	bool no_job, has, has_prebuilt, starting, stays, pods_ready;
	enum job_plan_place place;
} table[] = {
	/* --- which Jobs are managed --- */
	{ .name = "a Job without queue is not ours", .job = { .labels = "" }, .want = "" },
	{ .name = "a Job that is gone lets its Workload go",
	  .no_job = true,
	  .has = true,
	  .want = "DROP_FINALIZER" },
	{ .name = "a Job that is going as well",
	  .job = { .meta = DELETED },
	  .has = true,
	  .want = "DROP_FINALIZER" },
	{ .name = "a priority class that is not known yet",
	  .job = { .labels = "'kueue.x-k8s.io/queue-name':'lq',"
			     "'kueue.x-k8s.io/priority-class':'none'" },
	  .want = "NOTE+WorkloadPriorityClassNotFound" },
	{ .name = "a priority class of its pods that is not known",
	  .job = { .template_spec = "'priorityClassName':'none'" },
	  .want = "NOTE+PriorityClassNotFound" },
	/* --- a Job that belongs to something else --- */
	{ .name = "another controller queues for it", .place = JOB_PLAN_ELSEWHERE, .want = "" },
	{ .name = "what it belongs to runs", .place = JOB_PLAN_NESTED, .want = "START+Started" },
	{ .name = "so does it", .job = { .runs = true }, .place = JOB_PLAN_NESTED, .want = "" },
	{ .name = "one that does not queue is started by its maker",
	  .job = { .labels = "" },
	  .place = JOB_PLAN_NESTED,
	  .want = "" },
	{ .name = "one that has ended is not started",
	  .job = { .status = "'conditions':[{'type':'Complete','status':'True'}]" },
	  .place = JOB_PLAN_NESTED,
	  .want = "" },
	{ .name = "what it belongs to waits, and it does not",
	  .job = { .runs = true },
	  .place = JOB_PLAN_HELD,
	  .want = "SUSPEND+Suspended" },
	{ .name = "whether it has a queue or not",
	  .job = { .labels = "", .runs = true },
	  .place = JOB_PLAN_HELD,
	  .want = "SUSPEND+Suspended" },
	{ .name = "it waits, too", .place = JOB_PLAN_HELD, .want = "" },
	{ .name = "its start may be under way",
	  .starting = true,
	  .place = JOB_PLAN_HELD,
	  .want = "SUSPEND+Suspended" },
	{ .name = "it has ended",
	  .job = { .runs = true, .status = "'conditions':[{'type':'Complete','status':'True'}]" },
	  .place = JOB_PLAN_HELD,
	  .want = "" },
	{ .name = "too many owners above a Job that queues",
	  .job = { .runs = true },
	  .place = JOB_PLAN_TOO_DEEP,
	  .want = "NOTE+JobNestingTooDeep SUSPEND+Suspended" },
	{ .name = "and above one that does not",
	  .job = { .labels = "", .runs = true },
	  .place = JOB_PLAN_TOO_DEEP,
	  .want = "NOTE+JobNestingTooDeep" },
	/* --- exactly one Workload --- */
	{ .name = "a suspended Job gets one", .want = "CREATE+CreatedWorkload" },
	{ .name = "not while pods are left", .job = { .status = "'active':1" }, .want = "" },
	{ .name = "a Job that runs without one is stopped",
	  .job = { .runs = true },
	  .want = "SUSPEND+Stopped" },
	{ .name = "a Job that has ended without one is left alone",
	  .job = { .runs = true, .status = "'conditions':[{'type':'Complete','status':'True'}]" },
	  .want = "" },
	{ .name = "one that fits and waits: nothing to do", .has = true, .want = "" },
	{ .name = "one that does not fit is changed",
	  .job = { .template_spec = OTHER_PODS },
	  .has = true,
	  .want = "UPDATE+UpdatedWorkload" },
	{ .name = "one that does not fit and holds quota goes",
	  .job = { .spec = "'parallelism':2" },
	  .has = true,
	  .w = { .status = RESERVED "]" },
	  .want = "DROP_FINALIZER" },
	{ .name = "and is deleted when its finalizer is gone",
	  .job = { .spec = "'parallelism':2" },
	  .has = true,
	  .w = { .no_finalizer = true, .status = RESERVED "]" },
	  .want = "DELETE+DeletedWorkload" },
	{ .name = "one of an earlier Job of this name does not count",
	  .has = true,
	  .w = { .owner = "j-0" },
	  .want = "DROP_FINALIZER" },
	{ .name = "nor when it has been let go",
	  .has = true,
	  .w = { .owner = "j-0", .no_finalizer = true },
	  .want = "CREATE+CreatedWorkload" },
	{ .name = "another queue",
	  .job = { .labels = "'kueue.x-k8s.io/queue-name':'other'" },
	  .has = true,
	  .want = "SYNC" },
	{ .name = "another queue, but quota is held",
	  .job = { .labels = "'kueue.x-k8s.io/queue-name':'other'" },
	  .has = true,
	  .w = { .status = RESERVED "]" },
	  .want = "" },
	{ .name = "another priority",
	  .job = { .labels = "'kueue.x-k8s.io/queue-name':'lq',"
			     "'kueue.x-k8s.io/priority-class':'high'" },
	  .has = true,
	  .want = "SYNC" },
	{ .name = "a gate that was put on",
	  .job = { .annotations = "'kueue.x-k8s.io/admission-gated-by':'x'" },
	  .has = true,
	  .want = "SYNC" },
	/* --- prebuilt ones --- */
	{ .name = "a prebuilt one that is not there yet",
	  .job = { .labels = PREBUILT },
	  .want = "" },
	{ .name = "a prebuilt one becomes owned",
	  .job = { .labels = PREBUILT },
	  .has_prebuilt = true,
	  .w = { .owner = "" },
	  .want = "SYNC" },
	{ .name = "a prebuilt one of another owner",
	  .job = { .labels = PREBUILT, .runs = true },
	  .has_prebuilt = true,
	  .w = { .owner = "j-0" },
	  .want = "SUSPEND+Stopped" },
	{ .name = "a prebuilt one that says something else",
	  .job = { .labels = PREBUILT, .spec = "'parallelism':2" },
	  .has_prebuilt = true,
	  .want = "STATUS+FinishedWorkload" },
	{ .name = "a prebuilt one that was admitted",
	  .job = { .labels = PREBUILT },
	  .has_prebuilt = true,
	  .w = { .status = JOB_FIXTURE_ADMITTED },
	  .want = "START+Started" },
	/* --- start --- */
	{ .name = "admitted: started",
	  .has = true,
	  .w = { .status = JOB_FIXTURE_ADMITTED },
	  .want = "START+Started" },
	{ .name = "reserved, and a check says what it does: so says the Job",
	  .has = true,
	  .w = { .status = RESERVED "],'admissionChecks':[" CHECK("a", "Pending", "buying") "]" },
	  .want = "NOTE+UpdatedAdmissionCheck" },
	{ .name = "a check that has nothing to say",
	  .has = true,
	  .w = { .status = RESERVED "],'admissionChecks':[" CHECK("a", "Pending", "") "," CHECK(
			 "b", "Ready", "done") "]" },
	  .want = "" },
	{ .name = "a check of a Workload that holds no quota",
	  .has = true,
	  .w = { .status = "'admissionChecks':[" CHECK("a", "Pending", "buying") "]" },
	  .want = "" },
	{ .name = "reserved, not admitted: not started",
	  .has = true,
	  .w = { .status = RESERVED "]" },
	  .want = "" },
	{ .name = "admitted, but a user had started the Job, and suspended it",
	  .job = { .status = "'startTime':'2026-01-01T00:00:00Z'" },
	  .has = true,
	  .w = { .status = JOB_FIXTURE_ADMITTED },
	  .want = "RESET" },
	{ .name = "its pods have not ended yet",
	  .job = { .status = "'active':1" },
	  .has = true,
	  .w = { .status = JOB_FIXTURE_ADMITTED },
	  .want = "" },
	{ .name = "seen admitted, but that is about to change",
	  .has = true,
	  .stays = true,
	  .w = { .status = JOB_FIXTURE_ADMITTED },
	  .want = "" },
	{ .name = "a flavor that is not known yet",
	  .has = true,
	  .w = { .status =
			 "'admission':{'clusterQueue':'cq','podSetAssignments':[{'name':"
			 "'main','flavors':{'cpu':'x'},'count':3}]},'conditions':[" C(
				 "QuotaReserved", "True", "r") "," C("Admitted", "True", "r") "]" },
	  .want = "" },
	{ .name = "the Job wants another node: it can never start",
	  .job = { .template_spec = "'nodeSelector':{'type':'other'}" },
	  .has = true,
	  .w = { .status = JOB_FIXTURE_ADMITTED },
	  .want = "STATUS+FinishedWorkload" },
	{ .name = "running: nothing to do",
	  .job = { .runs = true },
	  .has = true,
	  .w = { .status = JOB_FIXTURE_ADMITTED },
	  .want = "" },
	{ .name = "running: what was added to its template is no difference",
	  .job = { .runs = true,
		   .template_spec = "'nodeSelector':{'type':'spot'},'tolerations':[{'key':'spot',"
				    "'operator':'Exists','effect':'NoSchedule'}]" },
	  .has = true,
	  .w = { .status = JOB_FIXTURE_ADMITTED },
	  .want = "" },
	{ .name = "running with fewer pods after a partial admission",
	  .job = { .runs = true,
		   .annotations = "'kueue.x-k8s.io/job-min-parallelism':'2'",
		   .spec = "'parallelism':2" },
	  .has = true,
	  .w = { .podset = "'minCount':2", .status = JOB_FIXTURE_ADMITTED },
	  .want = "" },
	/* --- stop --- */
	{ .name = "unsuspended by a user",
	  .job = { .runs = true },
	  .has = true,
	  .want = "SUSPEND+Stopped" },
	{ .name = "evicted: stopped",
	  .job = { .runs = true, .status = "'active':3" },
	  .has = true,
	  .w = { .status = RESERVED
		 "," C("Admitted", "True", "r") "," C("Evicted", "True", "Preempted") "]" },
	  .want = "SUSPEND+Stopped" },
	{ .name = "evicted while the start may be under way: stopped as well",
	  .has = true,
	  .starting = true,
	  .w = { .status = RESERVED
		 "," C("Admitted", "True", "r") "," C("Evicted", "True", "Preempted") "]" },
	  .want = "SUSPEND+Stopped" },
	{ .name = "deleted while the start may be under way: not let go before it is stopped",
	  .has = true,
	  .starting = true,
	  .w = { .meta = DELETED, .status = JOB_FIXTURE_ADMITTED },
	  .want = "SUSPEND+Stopped" },
	{ .name = "gone while the start may be under way: stopped before it gets another one",
	  .starting = true,
	  .want = "SUSPEND+Stopped" },
	{ .name = "stopped: when it started is forgotten first",
	  .job = { .annotations = STOPPING, .status = "'startTime':'2026-01-01T00:00:00Z'" },
	  .has = true,
	  .w = { .status = RESERVED "," C("Evicted", "True", "Preempted") "]" },
	  .want = "RESET" },
	{ .name = "but its pods end before",
	  .job = { .annotations = STOPPING,
		   .status = "'startTime':'2026-01-01T00:00:00Z','active':1" },
	  .has = true,
	  .w = { .status = RESERVED "," C("Evicted", "True", "Preempted") "]" },
	  .want = "" },
	{ .name = "Kubernetes has removed its start time by itself",
	  .job = { .annotations = STOPPING, .status = "'active':1" },
	  .has = true,
	  .w = { .status = RESERVED "," C("Evicted", "True", "Preempted") "]" },
	  .want = "" },
	{ .name = "then the template is restored",
	  .job = { .annotations = STOPPING },
	  .has = true,
	  .w = { .status = RESERVED "," C("Evicted", "True", "Preempted") "]" },
	  .want = "RESTORE" },
	{ .name = "admitted again before it was restored: restored first",
	  .job = { .annotations = STOPPING },
	  .has = true,
	  .w = { .status = JOB_FIXTURE_ADMITTED },
	  .want = "RESTORE" },
	{ .name = "its user has suspended it: restored before it is started again",
	  .job = { .annotations = STARTED },
	  .has = true,
	  .w = { .status = JOB_FIXTURE_ADMITTED },
	  .want = "RESTORE" },
	{ .name = "the same when the Workload has been deactivated meanwhile",
	  .job = { .annotations = STARTED, .template_spec = OTHER_PODS },
	  .has = true,
	  .w = { .spec = "'active':false" },
	  .want = "RESTORE" },
	{ .name = "stopped without a Workload: the mark goes",
	  .job = { .annotations = STOPPING },
	  .want = "RESTORE" },
	/* --- the end --- */
	{ .name = "the Job has ended",
	  .job = { .runs = true, .status = "'conditions':[{'type':'Complete','status':'True'}]" },
	  .has = true,
	  .w = { .status = JOB_FIXTURE_ADMITTED },
	  .want = "STATUS+FinishedWorkload" },
	{ .name = "the Job has ended and says something else than its Workload, which ends as well",
	  .job = { .spec = "'parallelism':2",
		   .runs = true,
		   .status = "'conditions':[{'type':'Complete','status':'True'}]" },
	  .has = true,
	  .w = { .status = JOB_FIXTURE_ADMITTED },
	  .want = "STATUS+FinishedWorkload" },
	{ .name = "the Workload is finished, the Job was never started",
	  .has = true,
	  .w = { .status = "'conditions':[" C("Finished", "True", "FailedToStart") "]" },
	  .want = "" },
	{ .name = "the Workload is finished, the Job runs",
	  .job = { .runs = true },
	  .has = true,
	  .w = { .status = "'conditions':[" C("Finished", "True", "OutOfSync") "]" },
	  .want = "SUSPEND+Stopped" },
	{ .name = "the Workload is deleted under a running Job",
	  .job = { .runs = true },
	  .has = true,
	  .w = { .meta = DELETED, .status = JOB_FIXTURE_ADMITTED },
	  .want = "SUSPEND+Stopped" },
	{ .name = "the Workload is deleted, the Job has pods left",
	  .job = { .status = "'active':1" },
	  .has = true,
	  .w = { .meta = DELETED },
	  .want = "" },
	{ .name = "the Workload is deleted, the Job has stopped",
	  .has = true,
	  .w = { .meta = DELETED },
	  .want = "DROP_FINALIZER" },
	/* --- progress --- */
	{ .name = "PodsReady is written",
	  .pods_ready = true,
	  .job = { .runs = true },
	  .has = true,
	  .w = { .status = JOB_FIXTURE_ADMITTED },
	  .want = "STATUS" },
};

static void add_kinds(const struct owner_plan *plan, struct strbuf *out)
{
	static const char *const names[OWNER_WRITE_COUNT_] = {
		"CREATE", "UPDATE",  "SYNC",  "STATUS",  "DROP_FINALIZER",      "DELETE",
		"START",  "SUSPEND", "RESET", "RESTORE", [OWNER_NOTE] = "NOTE",
	};

	for (size_t i = 0; i < plan->writes.n; i++) {
		const struct owner_write *w = &plan->writes.v[i];

		strbuf_printf(out, "%s%s%s%s", i > 0 ? " " : "", names[w->kind],
			      w->event == NULL ? "" : "+", w->event == NULL ? "" : w->event);
		assert_int_equal(w->workload == NULL, w->kind >= OWNER_JOB_START);
		assert_int_equal(w->ngaps == 1, w->kind == OWNER_CREATE || w->kind == OWNER_UPDATE);
	}
}

static bool not_now(void *ctx UNUSED, const struct api_workload *w UNUSED)
{
	return false;
}

static void rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct row *r = &table[i];
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		CLEANUP(owner_plan_finish) struct owner_plan plan = { .arena = arena };
		CLEANUP(strbuf_finish) struct strbuf have = STRBUF_INIT;
		struct api_job job;
		struct api_workload w;
		const struct api_workload *list[] = { &w };
		struct job_plan_of of = { .workloads = list };
		struct owner_plan_env env;

		unit_row(r->name);
		job_fixture_job(&r->job, &job);
		job_fixture_workload(&r->w, &w);
		job_fixture_env(&env);
		env.pods_ready = r->pods_ready;
		of.job = r->no_job ? NULL : &job;
		of.n = r->has;
		of.prebuilt = r->has_prebuilt ? &w : NULL;
		of.starting = r->starting;
		of.place = r->place;
		env.may_start = r->stays ? not_now : NULL;
		job_plan(&of, &env, &plan);
		add_kinds(&plan, &have);
		assert_string_equal(have.p, r->want);
	}
}

static void events_of_the_job(void **state)
{
	static const struct {
		struct job_fixture job;
		struct job_fixture_workload w;
		const char *want;
		bool warning;
	} cases[] = {
		{ .job = { .labels = "'kueue.x-k8s.io/queue-name':'lq',"
				     "'kueue.x-k8s.io/priority-class':'none'" },
		  .want = "WorkloadPriorityClass \"none\" not found",
		  .warning = true },
		{ .w = { .status = RESERVED
			 "],'admissionChecks':[" CHECK("a", "Pending", "x") "," CHECK(
				 "b", "Ready", "y") "," CHECK("c", "Pending", "z") "]" },
		  .want = "a: x; c: z" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		CLEANUP(owner_plan_finish) struct owner_plan plan = { .arena = arena };
		struct api_job job;
		struct api_workload w;
		const struct api_workload *list[] = { &w };
		struct owner_plan_env env;
		const struct job_plan_of of = { .job = &job, .workloads = list, .n = 1 };

		unit_row_number(i);
		job_fixture_job(&cases[i].job, &job);
		job_fixture_workload(&cases[i].w, &w);
		job_fixture_env(&env);
		job_plan(&of, &env, &plan);
		assert_int_equal(plan.writes.n, 1);
		assert_string_equal(plan.writes.v[0].message, cases[i].want);
		assert_string_equal(plan.writes.v[0].about.name, "j");
		assert_int_equal(plan.writes.v[0].warning, cases[i].warning);
	}
}

static void a_new_workload_says_what_the_job_does(void **state)
{
	const struct job_fixture f = {
		.labels = "'kueue.x-k8s.io/queue-name':'lq','kueue.x-k8s.io/priority-class':"
			  "'high','kueue.x-k8s.io/max-exec-time-seconds':'60',"
			  "'team':'red','kueue.x-k8s.io/job-uid':'forged','other':'o'",
		.annotations = "'kueue.x-k8s.io/job-min-parallelism':'2',"
			       "'kueue.x-k8s.io/admission-gated-by':'x',"
			       "'provreq.kueue.x-k8s.io/hours':'2',"
			       "'cost':'7','other':'o'",
	};
	const struct field_strs keys = {
		(const char *const[]){ "team", "absent", "kueue.x-k8s.io/job-uid" }, 3
	};
	const struct field_strs notes = {
		(const char *const[]){ "cost", "absent", "kueue.x-k8s.io/admission-gated-by",
				       "provreq.kueue.x-k8s.io/hours" },
		4
	};
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(owner_plan_finish) struct owner_plan plan = { .arena = arena };
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct api_job job;
	struct owner_plan_env env;
	const struct job_plan_of of = { .job = &job };

	(void)state;
	job_fixture_job(&f, &job);
	job_fixture_env(&env);
	env.label_keys = &keys;
	env.annotation_keys = &notes;
	job_plan(&of, &env, &plan);
	assert_int_equal(plan.writes.n, 1);
	strbuf_printf(&text, "%s{}%s", plan.writes.v[0].body, plan.writes.v[0].gaps[0].tail);
	job_fixture_expect_json(
		strbuf_str(&text),
		"{'apiVersion':'kueue.x-k8s.io/v1beta2','kind':'Workload','metadata':{"
		"'namespace':'ns','name':'job-j-dd315',"
		"'labels':{'kueue.x-k8s.io/job-uid':'j-1','team':'red'},"
		"'annotations':{'kueue.x-k8s.io/admission-gated-by':'x',"
		"'provreq.kueue.x-k8s.io/hours':'2','cost':'7'},"
		"'finalizers':['kueue.x-k8s.io/resource-in-use'],"
		"'ownerReferences':[{'apiVersion':'batch/v1','kind':'Job','name':'j','uid':'j-1',"
		"'controller':true,'blockOwnerDeletion':true}]},"
		"'spec':{'podSets':[{'name':'main','count':3,'minCount':2,'template':{}}],"
		"'queueName':'lq','priority':10,'priorityClassRef':{'group':'kueue.x-k8s.io',"
		"'kind':'WorkloadPriorityClass','name':'high'},"
		"'maximumExecutionTimeSeconds':60}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(events_of_the_job),
		cmocka_unit_test(a_new_workload_says_what_the_job_does),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
