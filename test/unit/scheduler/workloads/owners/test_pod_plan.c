#include "scheduler/workloads/owners/pod_plan.h"

#include "lib/unit.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/compares.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/workloads/owners/job_fixture.h"
#include "unit/scheduler/workloads/owners/pod_fixture.h"

#define C JOB_FIXTURE_CONDITION
#define ASSIGNED(podset) "{'name':'" podset "','flavors':{'cpu':'spot'},'count':1}"
#define HOLDS                                                                                      \
	"'admission':{'clusterQueue':'cq','podSetAssignments':[" ASSIGNED("main") "," ASSIGNED(    \
		"r1") "," ASSIGNED("r2") "]},'conditions':[" C("QuotaReserved", "True", "q")
#define ADMITTED HOLDS "," C("Admitted", "True", "a") "]"
#define RESERVED HOLDS "]"
#define CHECKS ",'admissionChecks':[{'name':'a','state':'Pending','message':'buying'}]"
#define EVICTED HOLDS "," C("Admitted", "True", "a") "," C("Evicted", "True", "Preempted") "]"
#define FINISHED "'conditions':[" C("Finished", "True", "Succeeded") "]"
#define DELETED ",'deletionTimestamp':'2026-01-01T00:00:00Z'"
#define PREBUILT ",'kueue.x-k8s.io/queue-name':'lq','kueue.x-k8s.io/prebuilt-workload-name':'w'"
#define LATER(status, reason) C("WaitingForReplacementPods", status, reason)

/* Of a Workload: none, one of the pod alone, one of the group. */
static const struct row {
	const char *name;
	const char *pods; /* see pod_fixture.h */
	const char *want; /* kinds of writes, and of which pod */
	struct pod_fixture of;
	struct pod_fixture_workload w;
	bool has, has_prebuilt, elsewhere, name_taken, ending, pods_ready;
} table[] = {
	/* --- which pods are managed --- */
	{ .name = "no queue", .pods = "a:G", .of = { .labels = "" }, .want = "" },
	{ .name = "a namespace that is not managed", .pods = "a:G", .elsewhere = true, .want = "" },
	{ .name = "a class that is not known yet",
	  .pods = "a:G",
	  .of = { .labels =
			  ",'kueue.x-k8s.io/queue-name':'lq','kueue.x-k8s.io/priority-class':'x'" },
	  .want = "NOTE:a" },
	{ .name = "its pods may go meanwhile",
	  .pods = "a:G b:Gd",
	  .of = { .total = "2",
		  .labels =
			  ",'kueue.x-k8s.io/queue-name':'lq','kueue.x-k8s.io/priority-class':'x'" },
	  .want = "NOTE:a POD_DROP_FINALIZER:b" },
	/* --- one pod --- */
	{ .name = "a pod gets a Workload", .pods = "a:G", .want = "CREATE" },
	{ .name = "it waits", .pods = "a:G", .has = true, .want = "" },
	{ .name = "it holds quota, checks are not ready",
	  .pods = "a:G",
	  .has = true,
	  .w = { .status = RESERVED },
	  .want = "" },
	{ .name = "a check of its says what it does",
	  .pods = "a:G",
	  .has = true,
	  .w = { .status = RESERVED CHECKS },
	  .want = "NOTE:a" },
	{ .name = "it is let go",
	  .pods = "a:G",
	  .has = true,
	  .w = { .status = ADMITTED },
	  .want = "POD_START:a" },
	/* --- one pod with a prebuilt Workload --- */
	{ .name = "it is not there: the pod waits",
	  .pods = "a:G",
	  .of = { .labels = PREBUILT },
	  .want = "" },
	{ .name = "the pod does not run without it",
	  .pods = "a:R",
	  .of = { .labels = PREBUILT },
	  .want = "POD_END:a" },
	{ .name = "nor when it has ended: it is released",
	  .pods = "a:S",
	  .of = { .labels = PREBUILT },
	  .want = "POD_DROP_FINALIZER:a" },
	{ .name = "it becomes owned",
	  .pods = "a:G",
	  .of = { .labels = PREBUILT },
	  .has_prebuilt = true,
	  .w = { .owners = "" },
	  .want = "SYNC" },
	{ .name = "it belongs to another owner",
	  .pods = "a:R",
	  .of = { .labels = PREBUILT },
	  .has_prebuilt = true,
	  .w = { .meta = ",'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'z','uid':"
			 "'u-z','controller':true}]",
		 .owners = "" },
	  .want = "POD_END:a" },
	{ .name = "it has other pods",
	  .pods = "a:G",
	  .of = { .labels = PREBUILT },
	  .has_prebuilt = true,
	  .w = { .podsets = "main:1 more:1" },
	  .want = "STATUS" },
	{ .name = "it is admitted",
	  .pods = "a:G",
	  .of = { .labels = PREBUILT },
	  .has_prebuilt = true,
	  .w = { .status = ADMITTED },
	  .want = "POD_START:a" },
	{ .name = "it is deleted",
	  .pods = "a:R",
	  .of = { .labels = PREBUILT },
	  .has_prebuilt = true,
	  .w = { .meta = DELETED, .status = ADMITTED },
	  .want = "POD_END:a" },
	/* --- */
	{ .name = "it is sent to another cluster: it is held here",
	  .pods = "a:G",
	  .has = true,
	  .w = { .status = ADMITTED ",'clusterName':'worker1'" },
	  .want = "" },
	{ .name = "its node selector and the flavor's differ: it can never start",
	  .pods = "a:G",
	  .of = { .spec = ",'nodeSelector':{'type':'other'}" },
	  .has = true,
	  .w = { .status = ADMITTED },
	  .want = "STATUS" },
	{ .name = "it runs", .pods = "a:R", .has = true, .w = { .status = ADMITTED }, .want = "" },
	{ .name = "its gate was removed by a user",
	  .pods = "a:P",
	  .has = true,
	  .want = "POD_END:a" },
	{ .name = "it runs without a Workload", .pods = "a:R", .want = "POD_END:a" },
	{ .name = "it is preempted: first the reason is written",
	  .pods = "a:R",
	  .has = true,
	  .w = { .status = EVICTED },
	  .want = "POD_END:a" },
	{ .name = "then it is deleted",
	  .pods = "a:Rt",
	  .has = true,
	  .w = { .status = EVICTED },
	  .want = "POD_DELETE:a" },
	{ .name = "a pod on its way out lets go of everything",
	  .pods = "a:Rtd",
	  .has = true,
	  .w = { .status = EVICTED },
	  .want = "DROP_FINALIZER POD_DROP_FINALIZER:a" },
	{ .name = "it was preempted before it was let go: it stays",
	  .pods = "a:G",
	  .has = true,
	  .w = { .status = EVICTED },
	  .want = "" },
	{ .name = "it ended",
	  .pods = "a:S",
	  .has = true,
	  .w = { .status = ADMITTED },
	  .want = "STATUS" },
	{ .name = "and the Workload says so",
	  .pods = "a:S",
	  .has = true,
	  .w = { .status = FINISHED },
	  .want = "POD_DROP_FINALIZER:a DROP_FINALIZER" },
	{ .name = "it ended, and its Workload was removed meanwhile",
	  .pods = "a:S",
	  .want = "POD_DROP_FINALIZER:a" },
	{ .name = "it is gone", .pods = "", .has = true, .want = "DROP_FINALIZER" },
	{ .name = "its Workload is deleted: it cannot run on",
	  .pods = "a:R",
	  .has = true,
	  .w = { .meta = DELETED, .status = ADMITTED },
	  .want = "POD_END:a" },
	{ .name = "its Workload is deleted before it was let go: it ends as well",
	  .pods = "a:G",
	  .has = true,
	  .w = { .meta = DELETED },
	  .want = "POD_END:a" },
	/* --- a group --- */
	{ .name = "a member that a user ungated runs without quota",
	  .pods = "a:P b:G",
	  .of = { .total = "2" },
	  .has = true,
	  .w = { .podsets = "r1:2", .owners = "a b" },
	  .want = "POD_END:a" },
	{ .name = "nor before the group is complete",
	  .pods = "a:P b:G",
	  .of = { .total = "3" },
	  .want = "POD_END:a" },
	{ .name = "a group that is not complete",
	  .pods = "a:G b:G",
	  .of = { .total = "3" },
	  .want = "" },
	{ .name = "a group that is",
	  .pods = "a:G b:G2 c:G",
	  .of = { .total = "3" },
	  .want = "CREATE" },
	{ .name = "one that is admitted with the first pod",
	  .pods = "a:G",
	  .of = { .total = "3",
		  .annotations = ",'kueue.x-k8s.io/pod-group-fast-admission':'true'" },
	  .want = "CREATE" },
	{ .name = "no number", .pods = "a:G", .of = { .total = "x" }, .want = "NOTE:a" },
	{ .name = "two numbers", .pods = "a:G b:Go", .of = { .total = "2" }, .want = "NOTE:a" },
	{ .name = "one too many before there is a Workload",
	  .pods = "a:G b:G c:G",
	  .of = { .total = "2" },
	  .want = "POD_DROP_FINALIZER:c CREATE" },
	{ .name = "and without its finalizer it goes",
	  .pods = "a:G b:G c:Gx",
	  .of = { .total = "2" },
	  .want = "POD_DELETE:c CREATE" },
	{ .name = "one that will never run does not count",
	  .pods = "a:Gd b:G c:G",
	  .of = { .total = "2" },
	  .want = "POD_DROP_FINALIZER:a CREATE" },
	{ .name = "a group is let go",
	  .pods = "a:G b:G2",
	  .of = { .total = "2" },
	  .has = true,
	  .w = { .podsets = "r1:1 r2:1", .owners = "a b", .status = ADMITTED },
	  .want = "POD_START:a POD_START:b" },
	{ .name = "the others of a group that was admitted at once",
	  .pods = "a:R b:G",
	  .of = { .total = "3",
		  .annotations = ",'kueue.x-k8s.io/pod-group-fast-admission':'true'" },
	  .has = true,
	  .w = { .podsets = "r1:3", .owners = "a", .status = ADMITTED },
	  .want = "SYNC POD_START:b" },
	{ .name = "one too many of a group that runs",
	  .pods = "a:R b:R c:G",
	  .of = { .total = "2" },
	  .has = true,
	  .w = { .podsets = "r1:2", .owners = "a b", .status = ADMITTED },
	  .want = "POD_DROP_FINALIZER:c" },
	{ .name = "a pod failed: another one has to come",
	  .pods = "a:R b:F",
	  .of = { .total = "2" },
	  .has = true,
	  .w = { .podsets = "r1:2", .owners = "a b", .status = ADMITTED },
	  .want = "STATUS" },
	{ .name = "it came",
	  .pods = "a:R b:F c:G",
	  .of = { .total = "2" },
	  .has = true,
	  .w = { .podsets = "r1:2",
		 .owners = "a b",
		 .status =
			 HOLDS "," C("Admitted", "True", "a") "," LATER("True", "PodsFailed") "]" },
	  .want = "SYNC POD_DROP_FINALIZER:b STATUS POD_START:c" },
	{ .name = "one has ended: its quota is free",
	  .pods = "a:R b:S",
	  .of = { .total = "2" },
	  .has = true,
	  .w = { .podsets = "r1:2", .owners = "a b", .status = ADMITTED },
	  .want = "STATUS" },
	{ .name = "all have ended",
	  .pods = "a:S b:S",
	  .of = { .total = "2" },
	  .has = true,
	  .w = { .podsets = "r1:2", .owners = "a b", .status = ADMITTED },
	  .want = "STATUS" },
	{ .name = "all have ended, but it serves",
	  .pods = "a:S b:S",
	  .of = { .total = "2", .annotations = ",'kueue.x-k8s.io/pod-group-serving':'true'" },
	  .has = true,
	  .w = { .podsets = "r1:2", .owners = "a b", .status = ADMITTED },
	  .want = "" },
	{ .name = "what failed is not to be replaced",
	  .pods = "a:S b:F",
	  .of = { .total = "2", .annotations = ",'kueue.x-k8s.io/retriable-in-group':'false'" },
	  .has = true,
	  .w = { .podsets = "r1:2", .owners = "a b", .status = ADMITTED },
	  .want = "STATUS" },
	{ .name = "a group that is finished lets go of its pods",
	  .pods = "a:S b:S",
	  .of = { .total = "2" },
	  .has = true,
	  .w = { .podsets = "r1:2", .owners = "a b", .status = FINISHED },
	  .want = "POD_DROP_FINALIZER:a POD_DROP_FINALIZER:b DROP_FINALIZER" },
	{ .name = "a member that came too late gets a note",
	  .pods = "a:S b:S c:G",
	  .of = { .total = "2" },
	  .has = true,
	  .w = { .podsets = "r1:2", .owners = "a b", .status = FINISHED },
	  .want = "POD_DROP_FINALIZER:a POD_DROP_FINALIZER:b POD_DROP_FINALIZER:c NOTE:c "
		  "DROP_FINALIZER" },
	{ .name = "a group is preempted: what was let go goes",
	  .pods = "a:R b:P c:G",
	  .of = { .total = "3" },
	  .has = true,
	  .w = { .podsets = "r1:3", .owners = "a b c", .status = EVICTED },
	  .want = "POD_END:a POD_END:b" },
	{ .name = "it has to be replaced before it queues again",
	  .pods = "c:G",
	  .of = { .total = "3" },
	  .has = true,
	  .w = { .podsets = "r1:3", .owners = "a b c", .status = EVICTED },
	  .want = "STATUS" },
	{ .name = "a Workload of other roles that waits becomes what the pods are",
	  .pods = "a:G b:G2",
	  .of = { .total = "2" },
	  .has = true,
	  .w = { .podsets = "r9:2", .owners = "a b" },
	  .want = "UPDATE" },
	{ .name = "one that holds quota goes",
	  .pods = "a:G b:G2",
	  .of = { .total = "2" },
	  .has = true,
	  .w = { .podsets = "r9:2", .owners = "a b", .status = RESERVED },
	  .want = "DROP_FINALIZER" },
	{ .name = "the name of another Workload",
	  .pods = "a:G b:Gd",
	  .of = { .total = "2" },
	  .name_taken = true,
	  .want = "NOTE:a POD_DROP_FINALIZER:b" },
	{ .name = "a group is gone",
	  .pods = "",
	  .has = true,
	  .w = { .podsets = "r1:2", .owners = "a b", .status = ADMITTED },
	  .want = "DROP_FINALIZER" },
	{ .name = "the Workload of a group is deleted",
	  .pods = "a:Rtd b:Gd",
	  .of = { .total = "2" },
	  .has = true,
	  .w = { .podsets = "r1:2", .owners = "a b", .meta = DELETED, .status = ADMITTED },
	  .want = "POD_DROP_FINALIZER:a POD_DROP_FINALIZER:b" },
	{ .name = "it stays while one of its pods has the finalizer",
	  .pods = "a:Rtdx b:Gd",
	  .of = { .total = "2" },
	  .has = true,
	  .w = { .podsets = "r1:2", .owners = "a b", .meta = DELETED, .status = ADMITTED },
	  .want = "POD_DROP_FINALIZER:b" },
	{ .name = "it goes when none of its pods has the finalizer",
	  .pods = "a:Rtdx b:Gdx",
	  .of = { .total = "2" },
	  .has = true,
	  .w = { .podsets = "r1:2", .owners = "a b", .meta = DELETED, .status = ADMITTED },
	  .want = "DROP_FINALIZER" },
	{ .name = "pods that are being deleted, and their Workload is gone already",
	  .pods = "a:Rtd b:Rd",
	  .of = { .total = "2" },
	  .want = "POD_DROP_FINALIZER:a POD_DROP_FINALIZER:b" },
	{ .name = "another one is there and waits for those that come",
	  .pods = "a:Rtd b:G",
	  .of = { .total = "2" },
	  .want = "POD_DROP_FINALIZER:a CREATE" },
	{ .name = "it is deleted: pods that end get no replacement",
	  .pods = "a:Rtd b:Rt",
	  .of = { .total = "2" },
	  .has = true,
	  .w = { .podsets = "r1:2", .owners = "a b", .meta = DELETED, .status = ADMITTED },
	  .want = "POD_DELETE:b POD_DROP_FINALIZER:a" },
	{ .name = "a group that is deleted by hand waits for other pods",
	  .pods = "a:Fd b:Fd",
	  .of = { .total = "2" },
	  .has = true,
	  .w = { .podsets = "r1:2", .owners = "a b", .status = ADMITTED },
	  .want = "STATUS" },
	{ .name = "with its namespace it goes",
	  .pods = "a:Rd b:R c:Gd",
	  .of = { .total = "3" },
	  .ending = true,
	  .has = true,
	  .w = { .podsets = "r1:3", .owners = "a b c", .status = ADMITTED },
	  .want = "POD_DROP_FINALIZER:a POD_DROP_FINALIZER:c" },
	{ .name = "nothing begins in a namespace that goes",
	  .pods = "a:G",
	  .ending = true,
	  .want = "" },
	{ .name = "its pods are ready",
	  .pods = "a:R b:R",
	  .of = { .total = "2" },
	  .pods_ready = true,
	  .has = true,
	  .w = { .podsets = "r1:2", .owners = "a b", .status = ADMITTED },
	  .want = "STATUS" },
};

static void add_kinds(const struct owner_plan *plan, struct strbuf *out)
{
	static const char *const names[OWNER_WRITE_COUNT_] = {
		[OWNER_CREATE] = "CREATE",
		[OWNER_UPDATE] = "UPDATE",
		[OWNER_SYNC] = "SYNC",
		[OWNER_STATUS] = "STATUS",
		[OWNER_DROP_FINALIZER] = "DROP_FINALIZER",
		[OWNER_DELETE] = "DELETE",
		[OWNER_POD_START] = "POD_START",
		[OWNER_POD_END] = "POD_END",
		[OWNER_POD_DELETE] = "POD_DELETE",
		[OWNER_POD_DROP_FINALIZER] = "POD_DROP_FINALIZER",
		[OWNER_NOTE] = "NOTE",
	};

	for (size_t i = 0; i < plan->writes.n; i++) {
		const struct owner_write *w = &plan->writes.v[i];

		strbuf_printf(out, "%s%s%s%s", i > 0 ? " " : "", names[w->kind],
			      w->workload == NULL ? ":" : "",
			      w->workload == NULL ? w->about.name : "");
		assert_true(w->pods);
		assert_int_equal(w->workload == NULL, w->kind >= OWNER_JOB_START);
	}
}

static const struct field_strs notes_to_copy = { (const char *const[]){ "cost" }, 1 };

static void run(const struct row *r, struct owner_plan *plan)
{
	static struct api_pod pods[POD_FIXTURE_MAX];
	static const struct api_pod *list[POD_FIXTURE_MAX];
	static struct api_workload w;
	static const struct api_workload *workloads[] = { &w };
	struct pod_plan_of of = { .pods = list,
				  .n = pod_fixture_pods(&r->of, r->pods, pods),
				  .workloads = workloads,
				  .nworkloads = r->has,
				  .prebuilt = r->has_prebuilt ? &w : NULL,
				  .name_taken = r->name_taken,
				  .elsewhere = r->elsewhere,
				  .ending = r->ending };
	struct owner_plan_env env;

	for (size_t i = 0; i < of.n; i++) {
		list[i] = &pods[i];
	}
	pod_fixture_workload(&r->w, &w);
	job_fixture_env(&env);
	env.pods_ready = r->pods_ready;
	env.annotation_keys = &notes_to_copy;
	pod_plan(&of, &env, plan);
}

static void rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		CLEANUP(owner_plan_finish) struct owner_plan plan = { .arena = arena };
		CLEANUP(strbuf_finish) struct strbuf have = STRBUF_INIT;

		unit_row(table[i].name);
		run(&table[i], &plan);
		add_kinds(&plan, &have);
		assert_string_equal(have.p, table[i].want);
	}
}

static void add_whole(const struct owner_write *w, struct strbuf *out)
{
	strbuf_add_c(out, w->body);
	for (size_t i = 0; i < w->ngaps; i++) {
		strbuf_printf(out, "{'%s':1}%s", w->gaps[i].from.name, w->gaps[i].tail);
	}
	for (size_t i = 0; i < out->len; i++) {
		out->p[i] = out->p[i] == '\'' ? '"' : out->p[i];
	}
}

static void bodies_of_new_workloads(void **state)
{
	static const struct {
		struct row row;
		const char *want;
	} cases[] = {
		{ { .pods = "a:G" },
		  "'name':'pod-a-%s','labels':{'kueue.x-k8s.io/job-uid':'u-a'},'finalizers':["
		  "'kueue.x-k8s.io/resource-in-use'],'ownerReferences':[{'apiVersion':'v1','kind':"
		  "'Pod','name':'a','uid':'u-a','controller':true,'blockOwnerDeletion':true}]},"
		  "'spec':{'podSets':[{'name':'main','count':1,'template':{'a':1}}]" },
		{ { .pods = "b:G2 a:G c:G2", .of = { .total = "3" } },
		  "'name':'g','annotations':{'kueue.x-k8s.io/is-group-workload':'true'},"
		  "'finalizers':['kueue.x-k8s.io/resource-in-use'],'ownerReferences':["
		  "{'apiVersion':'v1','kind':'Pod','name':'b','uid':'u-b'},"
		  "{'apiVersion':'v1','kind':'Pod','name':'a','uid':'u-a'},"
		  "{'apiVersion':'v1','kind':'Pod','name':'c','uid':'u-c'}]},"
		  "'spec':{'podSets':[{'name':'r1','count':1,'template':{'a':1}},"
		  "{'name':'r2','count':2,'template':{'b':1}}]" },
		{ { .pods = "a:G", .of = { .total = "1", .annotations = ",'cost':'7','x':'y'" } },
		  "'name':'g','annotations':{'kueue.x-k8s.io/is-group-workload':'true',"
		  "'cost':'7'},'finalizers':['kueue.x-k8s.io/resource-in-use'],"
		  "'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'a','uid':'u-a'}]},"
		  "'spec':{'podSets':[{'name':'r1','count':1,'template':{'a':1}}]" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		CLEANUP(owner_plan_finish) struct owner_plan plan = { .arena = arena };
		CLEANUP(strbuf_finish) struct strbuf have = STRBUF_INIT;
		CLEANUP(strbuf_finish) struct strbuf want = STRBUF_INIT;
		const char *hash = i == 0 ? "" : NULL;

		unit_row_number(i);
		run(&cases[i].row, &plan);
		assert_int_equal(plan.writes.n, 1);
		add_whole(&plan.writes.v[0], &have);
		if (hash != NULL) { /* five digits of a hash, as Kueue makes it */
			hash = arena_dup_n(arena, plan.writes.v[0].workload + 6, 5);
		}
		strbuf_add_c(&want, "{'apiVersion':'kueue.x-k8s.io/v1beta2','kind':'Workload',"
				    "'metadata':{'namespace':'ns',");
		for (const char *p = cases[i].want; *p != '\0'; p++) {
			if (p[0] == '%' && p[1] == 's') {
				strbuf_add_c(&want, hash);
				p++;
			} else {
				strbuf_add_ch(&want, *p);
			}
		}
		strbuf_add_c(&want, ",'queueName':'lq','priority':0}}");
		job_fixture_expect_json(strbuf_str(&have), want.p);
	}
}

static void annotations_to_copy_must_agree(void **state)
{
	static const struct pod_fixture of[] = { { .total = "2", .annotations = ",'cost':'1'" },
						 { .total = "2", .annotations = ",'cost':'2'" } };
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(owner_plan_finish) struct owner_plan plan = { .arena = arena };
	static struct api_pod pods[2];
	const struct api_pod *list[] = { &pods[0], &pods[1] };
	const struct pod_plan_of all = { .pods = list, .n = 2 };
	struct owner_plan_env env;

	(void)state;
	assert_int_equal(pod_fixture_pods(&of[0], "a:G", &pods[0]), 1);
	assert_int_equal(pod_fixture_pods(&of[1], "b:G", &pods[1]), 1);
	job_fixture_env(&env);
	env.annotation_keys = &notes_to_copy;
	pod_plan(&all, &env, &plan);
	assert_int_equal(plan.writes.n, 1);
	assert_int_equal(plan.writes.v[0].kind, OWNER_NOTE);
	assert_string_equal(plan.writes.v[0].message,
			    "pods of the group have different values of the annotation cost");
}

/* A pod set has at most 18 roles: that is what the Workload's CRD allows. */
static void too_many_roles(void **state)
{
	(void)state;
	for (unsigned n = OWNER_SPEC_PODSETS_MAX; n <= OWNER_SPEC_PODSETS_MAX + 1; n++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		CLEANUP(owner_plan_finish) struct owner_plan plan = { .arena = arena };
		static struct api_pod pods[POD_FIXTURE_MAX];
		const struct api_pod *list[POD_FIXTURE_MAX];
		char total[8];
		const struct pod_fixture f = { .total = total };
		struct pod_plan_of of = { .pods = list, .n = n };
		struct owner_plan_env env;

		(void)snprintf(total, sizeof(total), "%u", n);
		for (unsigned i = 0; i < n; i++) {
			struct field_pair *notes;
			char *text = arena_printf(arena, "p%u:G", i);

			assert_int_equal(pod_fixture_pods(&f, text, &pods[i]), 1);
			list[i] = &pods[i];
			notes = arena_zero(arena, 2, sizeof(*notes));
			notes[0] = (struct field_pair){ "kueue.x-k8s.io/pod-group-total-count",
							total };
			notes[1] = (struct field_pair){ "kueue.x-k8s.io/role-hash",
							arena_printf(arena, "r%02u", i) };
			pods[i].meta.annotations.v = notes;
			pods[i].meta.annotations.n = 2;
		}
		job_fixture_env(&env);
		pod_plan(&of, &env, &plan);
		assert_int_equal(plan.writes.n, 1);
		assert_int_equal(plan.writes.v[0].kind,
				 n > OWNER_SPEC_PODSETS_MAX ? OWNER_NOTE : OWNER_CREATE);
	}
}

enum { MEMBERS = 1000 };

/* Which of them own the Workload is asked at each change of a pod: pair by pair it would be half a
 * million comparisons. */
static void many_pods_own_their_workload(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(owner_plan_finish) struct owner_plan plan = { .arena = arena };
	static struct api_pod pods[MEMBERS];
	static const struct api_pod *list[MEMBERS];
	static struct api_owner owners[MEMBERS];
	const struct pod_fixture f = { .total = "1000" };
	const struct pod_fixture_workload wf = { .podsets = "r1:1000", .owners = "a" };
	const struct api_workload *workloads[1];
	struct api_workload w;
	struct pod_plan_of of = {
		.pods = list, .n = MEMBERS, .workloads = workloads, .nworkloads = 1
	};
	struct owner_plan_env env;

	(void)state;
	pod_fixture_workload(&wf, &w);
	workloads[0] = &w;
	assert_int_equal(pod_fixture_pods(&f, "a:G", pods), 1);
	for (unsigned i = 0; i < MEMBERS; i++) {
		pods[i] = pods[0];
		pods[i].meta.name = arena_printf(arena, "p%04u", i);
		pods[i].meta.uid = arena_printf(arena, "uid-%04u", i);
		list[i] = &pods[i];
		owners[i] =
			(struct api_owner){ .name = pods[i].meta.name, .uid = pods[i].meta.uid };
	}
	w.meta.owners.v = owners;
	w.meta.owners.n = MEMBERS;
	job_fixture_env(&env);
	compares_made = 0;
	pod_plan(&of, &env, &plan);
	assert_int_equal(plan.writes.n, 0);
	assert_in_range(compares_made, MEMBERS, 100 * MEMBERS);
	/* One of them came later. */
	w.meta.owners.n = MEMBERS - 1;
	pod_plan(&of, &env, &plan);
	assert_int_equal(plan.writes.n, 1);
	assert_int_equal(plan.writes.v[0].kind, OWNER_SYNC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(bodies_of_new_workloads),
		cmocka_unit_test(annotations_to_copy_must_agree),
		cmocka_unit_test(too_many_roles),
		cmocka_unit_test(many_pods_own_their_workload),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
