#include "scheduler/workloads/controller/owner_world.h"

#include "lib/unit.h"

#include "api/kueue/kueue.h"
#include "api/meta/selector.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "scheduler/base/message_decode.h"

/* An object in JSON, with ' for "; True: plans may change. */
static bool see(struct owner_world *w, enum sched_resource r, const char *key, const char *json)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct sched_msg *m;
	bool changed;

	strbuf_add_c(&text, json);
	for (size_t i = 0; i < text.len; i++) {
		text.p[i] = text.p[i] == '\'' ? '"' : text.p[i];
	}
	m = message_decode(r, str_of(key), strbuf_str(&text), 1);
	assert_int_equal(m->kind, SCHED_MSG_UPSERT);
	changed = owner_world_object(w, m);
	message_free(m);
	return changed;
}

static void see_gone(struct owner_world *w, enum sched_resource r, const char *key)
{
	struct sched_msg *m = message_new(SCHED_MSG_DELETE);

	m->resource = r;
	m->key = str_of(key);
	assert_false(owner_world_object(w, m));
	message_free(m);
}

static void flavors_and_classes(void **state)
{
	struct owner_world *w = owner_world_create(NULL);
	struct owner_plan_env env;
	const char *spot = "{'metadata':{'name':'spot'},'spec':{'nodeLabels':{'a':'b'}}}";
	const char *class_c = "{'metadata':{'name':'c'},'value':7}";
	const char *name = NULL;
	int32_t value = 0;

	(void)state;
	owner_world_env(w, &env);
	assert_null(env.flavors.find(env.flavors.ctx, "spot"));
	assert_true(see(w, SCHED_FLAVORS, "spot", spot));
	assert_false(see(w, SCHED_FLAVORS, "spot", spot));
	assert_true(field_map_is(&env.flavors.find(env.flavors.ctx, "spot")->spec.node_labels, "a",
				 "b"));
	see_gone(w, SCHED_FLAVORS, "spot");
	assert_null(env.flavors.find(env.flavors.ctx, "spot"));

	assert_true(see(w, SCHED_WORKLOAD_PRIORITY_CLASSES, "c", class_c));
	assert_false(see(w, SCHED_WORKLOAD_PRIORITY_CLASSES, "c", class_c));
	assert_true(env.classes.queue_class(env.classes.ctx, "c", &value));
	assert_int_equal(value, 7);
	assert_false(env.classes.queue_class(env.classes.ctx, "x", &value));

	assert_false(env.classes.pod_class(env.classes.ctx, NULL, &name, &value));
	assert_true(see(w, SCHED_PRIORITY_CLASSES, "high",
			"{'metadata':{'name':'high'},'value':9,'globalDefault':true}"));
	assert_true(see(w, SCHED_PRIORITY_CLASSES, "low",
			"{'metadata':{'name':'low'},'value':1,'globalDefault':true}"));
	/* Of several defaults the lowest. */
	assert_true(env.classes.pod_class(env.classes.ctx, NULL, &name, &value));
	assert_string_equal(name, "low");
	assert_int_equal(value, 1);
	see_gone(w, SCHED_PRIORITY_CLASSES, "low");
	assert_true(env.classes.pod_class(env.classes.ctx, NULL, &name, &value));
	assert_string_equal(name, "high");
	see_gone(w, SCHED_WORKLOAD_PRIORITY_CLASSES, "c");
	assert_false(env.classes.queue_class(env.classes.ctx, "c", &value));
	/* No plan reads other kinds. */
	assert_false(see(w, SCHED_TOPOLOGIES, "t", "{'metadata':{'name':'t'}}"));
	see_gone(w, SCHED_TOPOLOGIES, "t");
	owner_world_destroy(w);
}

static void which_namespaces_are_managed(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct owner_world *w;
	const char *json;
	struct selector s;

	(void)state;
	assert_int_equal(selector_parse_labels(STR_LIT("team"), arena, &s, NULL), 0);
	w = owner_world_create(&s);
	assert_false(owner_world_manages(w, "a"));
	json = "{'metadata':{'name':'a','labels':{'team':'x'}}}";
	assert_true(see(w, SCHED_NAMESPACES, "a", json));
	assert_false(see(w, SCHED_NAMESPACES, "a", json));
	assert_true(owner_world_manages(w, "a"));
	assert_true(see(w, SCHED_NAMESPACES, "a", "{'metadata':{'name':'a'}}"));
	assert_false(owner_world_manages(w, "a"));
	assert_false(see(w, SCHED_NAMESPACES, "b", "{'metadata':{'name':'b'}}"));
	see_gone(w, SCHED_NAMESPACES, "a");
	owner_world_destroy(w);
	/* Without a selector: all. */
	w = owner_world_create(NULL);
	assert_true(owner_world_manages(w, "a"));
	owner_world_destroy(w);
}

static void which_namespaces_end(void **state)
{
	struct owner_world *w = owner_world_create(NULL);
	const char *json;

	(void)state;
	assert_false(see(w, SCHED_NAMESPACES, "a", "{'metadata':{'name':'a'}}"));
	assert_false(owner_world_ends(w, "a"));
	json = "{'metadata':{'name':'a','deletionTimestamp':'2026-01-01T00:00:00Z'}}";
	assert_true(see(w, SCHED_NAMESPACES, "a", json));
	assert_false(see(w, SCHED_NAMESPACES, "a", json));
	assert_true(owner_world_ends(w, "a"));
	assert_false(owner_world_ends(w, "b"));
	see_gone(w, SCHED_NAMESPACES, "a");
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

	return cmocka_run_group_tests(tests, NULL, NULL);
}
