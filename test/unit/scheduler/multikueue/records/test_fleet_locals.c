#include "scheduler/multikueue/records/fleet_locals.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "lib/multikueue/fleet_fixture.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/manager/carried.h"
#include "scheduler/multikueue/records/fleet_workload.h"

#define OWNED_BY(version, kind, name)                                                              \
	"{'metadata':{'name':'w','namespace':'ns','ownerReferences':[{'apiVersion':'" version      \
	"','kind':'" kind "','name':'" name "','uid':'u','controller':true}]}}"

struct world {
	struct fleet_locals *l;
	struct fleet_workload *w;
	unsigned looks;
};

static void look_at(void *ctx, struct fleet_workload *w)
{
	struct world *world = ctx;

	assert_ptr_equal(w, world->w);
	world->looks++;
}

static void set_local(struct world *w, const char *json)
{
	struct sched_msg *m = fleet_fixture_object(SCHED_WORKLOADS, "ns/w", 1, json);

	assert_int_equal(fleet_workload_set_local(w->w, m, 0, NULL), 0);
	message_free(m);
}

static void begin_with(struct world *w, unsigned kinds, const char *json)
{
	*w = (struct world){ .looks = 0 };
	w->l = fleet_locals_create(kinds, (struct custom_kinds){ 0 }, look_at, w);
	w->w = fleet_workload_create(str_of("ns/w"));
	w->w->managed = fleet_managed_create();
	set_local(w, json);
	(void)fleet_locals_follow(w->l, w->w);
}

static void begin(struct world *w, const char *json)
{
	begin_with(w, 1u << CARRIED_JOBS | 1u << CARRIED_PODS, json);
}

static void end(struct world *w)
{
	fleet_locals_leave(w->l, w->w);
	fleet_workload_destroy(w->w);
	fleet_locals_destroy(w->l);
}

static void handle(struct world *w, struct sched_msg *m)
{
	fleet_locals_handle(w->l, m);
	message_free(m);
}

static void add(struct world *w, enum sched_resource r, const char *key, const char *json)
{
	handle(w, fleet_fixture_object(r, key, 1, json));
}

static size_t count(const struct world *w)
{
	const struct fleet_job *j = fleet_locals_of(w->l, w->w);

	return j == NULL ? 0 : j->objects.n;
}

static void test_job(void **state UNUSED)
{
	struct world w;

	begin(&w, OWNED_BY("batch/v1", "Job", "j"));
	assert_int_equal(count(&w), 0);
	add(&w, SCHED_JOBS, "ns/other", "{'metadata':{'name':'other','namespace':'ns'}}");
	assert_int_equal(w.looks, 0);
	add(&w, SCHED_JOBS, "ns/j", "{'metadata':{'name':'j','namespace':'ns'}}");
	assert_int_equal(w.looks, 1);
	assert_int_equal(count(&w), 1);
	assert_ptr_equal(fleet_locals_with(w.l, SCHED_JOBS, str_of("ns/j")),
			 fleet_locals_of(w.l, w.w));
	assert_non_null(fleet_locals_find(w.l, SCHED_JOBS, str_of("ns/j")));
	assert_null(fleet_locals_find(w.l, SCHED_NODES, str_of("ns/j")));
	handle(&w, fleet_fixture_deleted(SCHED_JOBS, "ns/j"));
	assert_int_equal(w.looks, 2);
	assert_int_equal(count(&w), 0);
	handle(&w, fleet_fixture_deleted(SCHED_JOBS, "ns/j"));
	assert_int_equal(w.looks, 2);
	end(&w);
}

static void test_owners(void **state UNUSED)
{
	struct world w;

	begin(&w, OWNED_BY("batch/v1", "CronJob", "j"));
	assert_null(fleet_locals_kind(w.l, w.w));
	assert_null(fleet_locals_of(w.l, w.w));
	set_local(&w, "{'metadata':{'name':'w','namespace':'ns'}}");
	assert_false(fleet_locals_follow(w.l, w.w));
	set_local(&w, OWNED_BY("batch/v1", "Job", "j"));
	assert_true(fleet_locals_follow(w.l, w.w));
	assert_false(fleet_locals_follow(w.l, w.w));
	assert_ptr_equal(fleet_locals_kind(w.l, w.w), carried_row(CARRIED_JOBS));
	set_local(&w, OWNED_BY("batch/v1", "Job", "k"));
	assert_true(fleet_locals_follow(w.l, w.w));
	add(&w, SCHED_JOBS, "ns/j", "{'metadata':{'name':'j','namespace':'ns'}}");
	assert_int_equal(w.looks, 0);
	end(&w);
}

#define GROUP(name) "'labels':{'kueue.x-k8s.io/pod-group-name':'" name "'}"

/* The Workload of a group has its name, and owners that do not control it. */
static void test_group(void **state UNUSED)
{
	const struct fleet_job *j;
	struct world w;

	begin(&w, "{'metadata':{'name':'w','namespace':'ns','annotations':{"
		  "'kueue.x-k8s.io/is-group-workload':'true'},'ownerReferences':[{"
		  "'apiVersion':'v1','kind':'Pod','name':'b','uid':'u'}]}}");
	add(&w, SCHED_PODS, "ns/b", "{'metadata':{'name':'b','namespace':'ns'," GROUP("w") "}}");
	add(&w, SCHED_PODS, "ns/c", "{'metadata':{'name':'c','namespace':'ns'," GROUP("x") "}}");
	add(&w, SCHED_PODS, "ns/a", "{'metadata':{'name':'a','namespace':'ns'," GROUP("w") "}}");
	add(&w, SCHED_PODS, "no/d", "{'metadata':{'name':'d','namespace':'no'," GROUP("w") "}}");
	add(&w, SCHED_PODS, "ns/w", "{'metadata':{'name':'w','namespace':'ns'}}"); /* alone */
	j = fleet_locals_of(w.l, w.w);
	assert_int_equal(j->objects.n, 2);
	assert_true(str_eq_c(j->objects.v[0]->object->key, "ns/a"));
	assert_true(str_eq_c(j->objects.v[1]->object->key, "ns/b"));
	assert_int_equal(w.looks, 2);
	/* It leaves the group. */
	add(&w, SCHED_PODS, "ns/b", "{'metadata':{'name':'b','namespace':'ns'}}");
	assert_int_equal(count(&w), 1);
	assert_int_equal(w.looks, 3);
	end(&w);
}

static void test_pod_alone(void **state UNUSED)
{
	struct world w;

	begin(&w, OWNED_BY("v1", "Pod", "p"));
	assert_ptr_equal(fleet_locals_kind(w.l, w.w), carried_row(CARRIED_PODS));
	add(&w, SCHED_PODS, "ns/p", "{'metadata':{'name':'p','namespace':'ns'}}");
	add(&w, SCHED_JOBS, "ns/p", "{'metadata':{'name':'p','namespace':'ns'}}");
	assert_int_equal(count(&w), 1);
	end(&w);
	begin_with(&w, 1u << CARRIED_JOBS, OWNED_BY("v1", "Pod", "p"));
	assert_null(fleet_locals_kind(w.l, w.w));
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_job),
					    cmocka_unit_test(test_owners),
					    cmocka_unit_test(test_group),
					    cmocka_unit_test(test_pod_alone) };

	return cmocka_run_group_tests_name("fleet/locals", tests, NULL, NULL);
}
