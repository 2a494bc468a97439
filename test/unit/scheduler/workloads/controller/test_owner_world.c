#include "scheduler/workloads/controller/owner_world.h"

#include "lib/unit.h"

#include "api/core/namespace.h"
#include "api/kueue/kueue.h"
#include "api/meta/selector.h"
#include "api/volcano/scheduling.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "lib/decode_fixture.h"

static void flavors_and_classes(void **state)
{
	struct owner_world *w = owner_world_create(NULL);
	struct owner_plan_env env;
	struct api_resource_flavor rf;
	struct api_workload_priority_class wpc;
	struct api_priority_class pc;
	const char *name = NULL;
	int32_t value = 0;

	(void)state;
	owner_world_env(w, &env);
	assert_null(env.flavors.find(env.flavors.ctx, "spot"));
	decode_fixture(&kueue_resource_flavor_fields,
		       "{'metadata':{'name':'spot'},'spec':{'nodeLabels':{'a':'b'}}}", &rf);
	assert_true(owner_world_flavor(w, &rf));
	assert_false(owner_world_flavor(w, &rf));
	assert_true(field_map_is(&env.flavors.find(env.flavors.ctx, "spot")->spec.node_labels, "a",
				 "b"));
	owner_world_flavor_gone(w, STR_LIT("spot"));
	assert_null(env.flavors.find(env.flavors.ctx, "spot"));

	decode_fixture(&kueue_workload_priority_class_fields, "{'metadata':{'name':'c'},'value':7}",
		       &wpc);
	assert_true(owner_world_class(w, &wpc));
	assert_false(owner_world_class(w, &wpc));
	assert_true(env.classes.queue_class(env.classes.ctx, "c", &value));
	assert_int_equal(value, 7);
	assert_false(env.classes.queue_class(env.classes.ctx, "x", &value));

	assert_false(env.classes.pod_class(env.classes.ctx, NULL, &name, &value));
	decode_fixture(&scheduling_priority_class_fields,
		       "{'metadata':{'name':'high'},'value':9,'globalDefault':true}", &pc);
	assert_true(owner_world_pod_class(w, &pc));
	decode_fixture(&scheduling_priority_class_fields,
		       "{'metadata':{'name':'low'},'value':1,'globalDefault':true}", &pc);
	assert_true(owner_world_pod_class(w, &pc));
	/* Of several defaults the lowest. */
	assert_true(env.classes.pod_class(env.classes.ctx, NULL, &name, &value));
	assert_string_equal(name, "low");
	assert_int_equal(value, 1);
	owner_world_destroy(w);
}

static void which_namespaces_are_managed(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct owner_world *w;
	struct api_namespace ns;
	struct selector s;

	(void)state;
	assert_int_equal(selector_parse_labels(STR_LIT("team"), arena, &s, NULL), 0);
	w = owner_world_create(&s);
	assert_false(owner_world_manages(w, "a"));
	decode_fixture(&namespace_fields, "{'metadata':{'name':'a','labels':{'team':'x'}}}", &ns);
	assert_true(owner_world_namespace(w, &ns));
	assert_false(owner_world_namespace(w, &ns));
	assert_true(owner_world_manages(w, "a"));
	decode_fixture(&namespace_fields, "{'metadata':{'name':'a'}}", &ns);
	assert_true(owner_world_namespace(w, &ns));
	assert_false(owner_world_manages(w, "a"));
	decode_fixture(&namespace_fields, "{'metadata':{'name':'b'}}", &ns);
	assert_false(owner_world_namespace(w, &ns));
	owner_world_namespace_gone(w, STR_LIT("a"));
	owner_world_destroy(w);
	/* Without a selector: all. */
	w = owner_world_create(NULL);
	assert_true(owner_world_manages(w, "a"));
	owner_world_destroy(w);
}

static void which_namespaces_end(void **state)
{
	struct owner_world *w = owner_world_create(NULL);
	struct api_namespace ns;

	(void)state;
	decode_fixture(&namespace_fields, "{'metadata':{'name':'a'}}", &ns);
	assert_false(owner_world_namespace(w, &ns));
	assert_false(owner_world_ends(w, "a"));
	decode_fixture(&namespace_fields,
		       "{'metadata':{'name':'a','deletionTimestamp':'2026-01-01T00:00:00Z'}}", &ns);
	assert_true(owner_world_namespace(w, &ns));
	assert_false(owner_world_namespace(w, &ns));
	assert_true(owner_world_ends(w, "a"));
	assert_false(owner_world_ends(w, "b"));
	owner_world_namespace_gone(w, STR_LIT("a"));
	assert_false(owner_world_ends(w, "a"));
	owner_world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flavors_and_classes),
		cmocka_unit_test(which_namespaces_are_managed),
		cmocka_unit_test(which_namespaces_end),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
