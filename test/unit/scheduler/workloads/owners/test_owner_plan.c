#include "scheduler/workloads/owners/owner_plan.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/workloads/owners/job_fixture.h"

#define META "'metadata':{'uid':'w-1','resourceVersion':'7'"
#define RESERVED                                                                                   \
	JOB_FIXTURE_ADMISSION                                                                      \
	",'conditions':[" JOB_FIXTURE_CONDITION("QuotaReserved", "True", "q") "]"

static const struct owner_write_object owner[] = { { "j", "j-1" } };
static const struct owner_plan_refs refs = { "v1", "Pod", false, owner, 1 };

static void drop_finalizer(struct owner_plan *p, const struct api_workload *w)
{
	owner_plan_drop_finalizer(p, w);
}

static void delete_(struct owner_plan *p, const struct api_workload *w)
{
	owner_plan_delete(p, w);
}

static void adopt(struct owner_plan *p, const struct api_workload *w)
{
	owner_plan_adopt(p, &refs, w);
}

static void sync_(struct owner_plan *p, const struct api_workload *w)
{
	const struct owner_spec s = { .queue = "other",
				      .class_group = "kueue.x-k8s.io",
				      .class_kind = "WorkloadPriorityClass",
				      .class_name = "high",
				      .priority = 10,
				      .gated_by = "x" };

	owner_plan_sync(p, &s, w);
}

static const struct {
	const char *name;
	void (*plan)(struct owner_plan *p, const struct api_workload *w);
	struct job_fixture_workload w;
	enum owner_write_kind kind;
	const char *want; /* NULL: nothing is written */
} table[] = {
	{ "without finalizer",
	  drop_finalizer,
	  { .status = NULL },
	  OWNER_DROP_FINALIZER,
	  "{" META ",'finalizers':[]}}" },
	{ "there is none", drop_finalizer, { .no_finalizer = true }, OWNER_DROP_FINALIZER, NULL },
	{ "a delete begins with the finalizer",
	  delete_,
	  { .status = NULL },
	  OWNER_DROP_FINALIZER,
	  "{" META ",'finalizers':[]}}" },
	{ "and ends with the object",
	  delete_,
	  { .no_finalizer = true },
	  OWNER_DELETE,
	  "{'apiVersion':'v1','kind':'DeleteOptions','preconditions':{'uid':'w-1'}}" },
	{ "which is on its way",
	  delete_,
	  { .no_finalizer = true, .meta = "'deletionTimestamp':'2026-01-01T00:00:00Z'" },
	  OWNER_DELETE,
	  NULL },
	{ "owners",
	  adopt,
	  { .status = NULL },
	  OWNER_SYNC,
	  "{" META ",'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'j','uid':'j-1'}]}"
	  "}" },
	{ "queue, class and gate follow",
	  sync_,
	  { .status = NULL },
	  OWNER_SYNC,
	  "{" META ",'annotations':{'kueue.x-k8s.io/admission-gated-by':'x'}},'spec':{"
	  "'queueName':'other','priority':10,'priorityClassRef':{'group':'kueue.x-k8s.io',"
	  "'kind':'WorkloadPriorityClass','name':'high'},'maximumExecutionTimeSeconds':null}}" },
	{ "of one that holds quota only the gate",
	  sync_,
	  { .status = RESERVED },
	  OWNER_SYNC,
	  "{" META ",'annotations':{'kueue.x-k8s.io/admission-gated-by':'x'}},'spec':{"
	  "'queueName':'lq','priority':0,'priorityClassRef':null,"
	  "'maximumExecutionTimeSeconds':null}}" },
	{ "and the class, if it was one of queues",
	  sync_,
	  { .status = RESERVED,
	    .spec = "'priorityClassRef':{'group':'kueue.x-k8s.io','kind':"
		    "'WorkloadPriorityClass','name':'low'}" },
	  OWNER_SYNC,
	  "{" META ",'annotations':{'kueue.x-k8s.io/admission-gated-by':'x'}},'spec':{"
	  "'queueName':'lq','priority':10,'priorityClassRef':{'group':'kueue.x-k8s.io',"
	  "'kind':'WorkloadPriorityClass','name':'high'},'maximumExecutionTimeSeconds':null}}" },
};

static void rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		CLEANUP(owner_plan_finish) struct owner_plan p = { .arena = arena };
		struct api_workload w;

		unit_row(table[i].name);
		job_fixture_workload(&table[i].w, &w);
		table[i].plan(&p, &w);
		assert_int_equal(p.writes.n, table[i].want != NULL);
		if (table[i].want != NULL) {
			assert_int_equal(p.writes.v[0].kind, table[i].kind);
			assert_string_equal(p.writes.v[0].workload, "w");
			job_fixture_expect_json(str_of(p.writes.v[0].body), table[i].want);
		}
	}
}

static void templates_go_between(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(owner_plan_finish) struct owner_plan p = { .arena = arena };
	struct owner_spec_podset podsets[] = { { "a", 1, 0, { "x", "u-x" } },
					       { "b", 3, 2, { "y", "u-y" } } };
	const struct owner_spec s = { .queue = "lq", .podsets = podsets, .npodsets = 2 };
	const struct job_fixture_workload f = { .status = NULL };
	struct api_workload w;
	const struct owner_write *u;

	(void)state;
	job_fixture_workload(&f, &w);
	owner_plan_update(&p, &s, &w);
	u = &p.writes.v[0];
	assert_int_equal(u->ngaps, 2);
	assert_string_equal(u->gaps[0].from.uid, "u-x");
	assert_string_equal(u->gaps[1].from.uid, "u-y");
	job_fixture_expect_json(
		str_of(arena_printf(arena, "%s1%s2%s", u->body, u->gaps[0].tail, u->gaps[1].tail)),
		"{" META ",'annotations':{'kueue.x-k8s.io/admission-gated-by':null}},'spec':{"
		"'podSets':[{'name':'a','count':1,'template':1},{'name':'b','count':3,'minCount':2,"
		"'template':2}],'queueName':'lq','priority':0,'priorityClassRef':null,"
		"'maximumExecutionTimeSeconds':null}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(templates_go_between),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
