#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/pods/cache_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/values/pod_class.h"

#define GATE "\"scheduling.volcano.sh/queue-allocation-gate\""

/* A pod of kube-scheduler that opted in; more members of its annotations and its spec. */
static struct task *see_pod(struct cache_fixture *f, const char *name, const char *annotations,
			    const char *spec)
{
	cache_fixture_json(f, SCHED_PODS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"uid\":\"uid-%s\","
			   "\"annotations\":{" GATE ":\"true\"%s}},\"spec\":{\"schedulerName\":"
			   "\"default-scheduler\",\"containers\":[{\"name\":\"c\",\"resources\":{"
			   "\"requests\":{\"cpu\":\"1\"}}}]%s}}",
			   name, name, annotations, spec);
	return cache_fixture_task(f, name);
}

#define QUEUE(q) ",\"scheduling.volcano.sh/queue-name\":\"" q "\""
#define GROUP(g) ",\"schedulingGroup\":{\"podGroupName\":\"" g "\"}"
#define GATED ",\"schedulingGates\":[{\"name\":" GATE "}]"

static void see_group(struct cache_fixture *f, const char *spec)
{
	cache_fixture_json(f, SCHED_KUBE_PODGROUPS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"uid-g\"},"
			   "\"spec\":{%s}}",
			   spec);
}

#define GANG(min) "\"schedulingPolicy\":{\"gang\":{\"minCount\":" min "}}"

static const struct podgroup *podgroup_of(const struct cache_fixture *f, const struct task *t)
{
	return f->c->podgroups.v[t->podgroup];
}

/* Each queue that its pods name has a part, which is what the PodGroup says; whichever is seen
 * first. Volcano's PodGroup of the same name is another one. */
static void parts_follow_the_podgroup(void **state)
{
	struct cache_fixture *f = *state;
	const struct podgroup *a, *b;

	(void)cache_fixture_group(f, "g", "q", 5);
	a = podgroup_of(f, see_pod(f, "a", QUEUE("q"), GROUP("g") GATED));
	assert_int_equal(a->kind, PODGROUP_PART);
	assert_false(a->exists);
	assert_int_equal(a->queue, MODEL_NONE);
	see_group(f, "\"priority\":7," GANG("2"));
	assert_true(a->exists);
	assert_int_equal(a->min_member, 2);
	assert_int_equal(a->priority, 7);
	assert_string_equal(a->uid, "uid-g");
	assert_string_equal(f->c->queues.v[a->queue]->name, "q");
	b = podgroup_of(f, see_pod(f, "b", "", GROUP("g") GATED));
	assert_ptr_not_equal(a, b);
	assert_true(b->exists);
	assert_int_equal(b->min_member, 2);
	assert_string_equal(f->c->queues.v[b->queue]->name, "default");
	assert_ptr_equal(podgroup_of(f, see_pod(f, "c", QUEUE("q"), GROUP("g") GATED)), a);
	see_group(f, GANG("2147483647"));
	assert_int_equal(a->min_member, INT32_MAX);
	assert_int_equal(b->min_member, INT32_MAX);
	see_group(f, "\"schedulingPolicy\":{\"basic\":{}}");
	assert_int_equal(b->min_member, 0);
	/* A pod that names another queue moves to the part of that one. */
	assert_ptr_equal(podgroup_of(f, see_pod(f, "b", QUEUE("q"), GROUP("g") GATED)), a);
	assert_int_equal(f->bad, 0);
}

/* A queue may be called anything: no name of one is that of another part or PodGroup. */
static void queues_of_any_name(void **state)
{
	static const char *const names[] = { "x", "x/y", "/", "//ns/g", "ns/g" };
	struct cache_fixture *f = *state;
	uint32_t before = UINT32_MAX;

	see_group(f, GANG("1"));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(strbuf_finish) struct strbuf queue = STRBUF_INIT;
		CLEANUP(strbuf_finish) struct strbuf name = STRBUF_INIT;
		const struct task *t;

		unit_row(names[i]);
		strbuf_printf(&queue, ",\"scheduling.volcano.sh/queue-name\":\"%s\"", names[i]);
		strbuf_printf(&name, "p%zu", i);
		t = see_pod(f, name.p, queue.p, GROUP("g") GATED);
		assert_int_not_equal(t->podgroup, before);
		before = t->podgroup;
		assert_int_equal(podgroup_of(f, t)->tasks.n, 1);
	}
}

/* The pods that are ungated keep their quota; the others wait for a PodGroup of the name. */
static void deletion_leaves_charges(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t, *waits;

	see_group(f, GANG("2"));
	t = see_pod(f, "t", QUEUE("q"), GROUP("g"));
	waits = see_pod(f, "waits", QUEUE("q"), GROUP("g") GATED);
	ledger_charge(f->c, t, queue_find(f->c, STR_LIT("q")), CHARGE_UNGATED);
	cache_fixture_delete(f, SCHED_KUBE_PODGROUPS, "ns/g");
	assert_false(podgroup_of(f, waits)->exists);
	assert_int_equal(podgroup_of(f, waits)->queue, MODEL_NONE);
	assert_int_equal(t->charge, CHARGE_UNGATED);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	cache_fixture_delete(f, SCHED_KUBE_PODGROUPS, "ns/g");
	cache_fixture_delete(f, SCHED_PODS, "ns/t");
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
	cache_fixture_delete(f, SCHED_PODS, "ns/waits");
	assert_null(cluster_podgroup_find(f->c, STR_LIT("//ns/g/q")));
	assert_null(cluster_podgroup_find(f->c, STR_LIT("//ns/g")));
	/* Without pods it goes at once. */
	see_group(f, GANG("2"));
	assert_non_null(cluster_podgroup_find(f->c, STR_LIT("//ns/g")));
	cache_fixture_delete(f, SCHED_KUBE_PODGROUPS, "ns/g");
	assert_null(cluster_podgroup_find(f->c, STR_LIT("//ns/g")));
}

/* Of an unknown PodGroup that cannot be read no gang starts; a known one stays as it was. */
static void bad_ones_start_nothing(void **state)
{
	static const struct {
		const char *spec, *error;
	} rows[] = {
		{ GANG("0"), "spec.schedulingPolicy.gang.minCount: 0: must be at least 1" },
		{ GANG("-1"), "spec.schedulingPolicy.gang.minCount: -1: must be at least 1" },
		{ "\"schedulingPolicy\":{\"gang\":{}}",
		  "spec.schedulingPolicy.gang.minCount: 0: must be at least 1" },
		{ GANG("\"two\""), NULL },
	};
	struct cache_fixture *f = *state;
	const struct task *t = see_pod(f, "t", QUEUE("q"), GROUP("g") GATED);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;

		unit_row_number(i);
		strbuf_printf(&json,
			      "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"u\"},"
			      "\"spec\":{%s}}",
			      rows[i].spec);
		cache_fixture_raw(f, SCHED_KUBE_PODGROUPS, "ns/g", json.p);
		assert_int_equal(f->bad, 2 * i + 1);
		if (rows[i].error != NULL) {
			assert_string_equal(f->bad_text, rows[i].error);
		}
		assert_true(podgroup_of(f, t)->exists);
		assert_int_equal(podgroup_of(f, t)->min_member, INT32_MAX);
		see_group(f, GANG("2"));
		cache_fixture_raw(f, SCHED_KUBE_PODGROUPS, "ns/g", json.p);
		/* That was another UID; the same one keeps what was known. */
		cache_fixture_delete(f, SCHED_KUBE_PODGROUPS, "ns/g");
	}
	see_group(f, GANG("2"));
	cache_fixture_raw(f, SCHED_KUBE_PODGROUPS, "ns/g",
			  "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"uid-g\"},"
			  "\"spec\":{" GANG("0") "}}");
	assert_int_equal(podgroup_of(f, t)->min_member, 2);
	cache_fixture_raw(f, SCHED_KUBE_PODGROUPS, "ns/Not_A_Name",
			  "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"Not_A_Name\"},"
			  "\"spec\":{" GANG("1") "}}");
	assert_string_equal(f->bad_text, "metadata.name: missing, or not a name");
}

static void older_versions_are_ignored(void **state)
{
	struct cache_fixture *f = *state;
	const struct task *t = see_pod(f, "t", QUEUE("q"), GROUP("g") GATED);

	cache_fixture_json(f, SCHED_KUBE_PODGROUPS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"uid-g\","
			   "\"resourceVersion\":\"7\"},\"spec\":{" GANG("2") "}}");
	cache_fixture_json(f, SCHED_KUBE_PODGROUPS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"uid-g\","
			   "\"resourceVersion\":\"6\"},\"spec\":{" GANG("3") "}}");
	assert_int_equal(podgroup_of(f, t)->min_member, 2);
}

/* Which of two PodGroups counts cannot be known; ours is not asked to honour the field. */
static void pods_that_name_two(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t;

	t = see_pod(f, "t", QUEUE("q") ",\"scheduling.k8s.io/group-name\":\"v\"", GROUP("g") GATED);
	assert_int_equal(podgroup_of(f, t)->kind, PODGROUP_ALONE);
	assert_string_equal(t->klass->unsupported, POD_CLASS_TWO_GROUPS);
	/* The annotation can be removed. */
	t = see_pod(f, "t", QUEUE("q"), GROUP("g") GATED);
	assert_int_equal(podgroup_of(f, t)->kind, PODGROUP_PART);
	assert_null(t->klass->unsupported);
	cache_fixture_json(f, SCHED_PODS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"o\",\"uid\":\"uid-o\"},"
			   "\"spec\":{\"schedulerName\":\"volcano\"" GROUP("g") "}}");
	t = cache_fixture_task(f, "o");
	assert_int_equal(t->podgroup, MODEL_NONE);
	assert_string_equal(t->klass->unsupported, POD_CLASS_SCHEDULING_GROUP);
}

/* A pod that names what no PodGroup can be called is kept as it was, or waits. */
static void names_that_none_can_have(void **state)
{
	static const char *const groups[] = {
		",\"schedulingGroup\":{}",
		GROUP(""),
		GROUP("a/b"),
		GROUP("Upper"),
	};
	struct cache_fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
		CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
		const struct task *t;

		unit_row_number(i);
		strbuf_printf(&json,
			      "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"t\",\"uid\":\"u\","
			      "\"annotations\":{" GATE ":\"true\"}},\"spec\":{\"schedulerName\":"
			      "\"default-scheduler\"%s" GATED "}}",
			      groups[i]);
		cache_fixture_raw(f, SCHED_PODS, "ns/t", json.p);
		assert_int_equal(f->bad, i + 1);
		assert_string_equal(f->bad_text,
				    "spec.schedulingGroup.podGroupName: missing, or not a name");
		t = cache_fixture_task(f, "t");
		assert_int_not_equal(t->flags & TASK_PARKED, 0);
		assert_int_equal(podgroup_of(f, t)->kind, PODGROUP_ALONE);
		cache_fixture_delete(f, SCHED_PODS, "ns/t");
	}
}

/* An update that cannot be read leaves the pod in its PodGroup. */
static void an_unreadable_update(void **state)
{
	struct cache_fixture *f = *state;
	const struct task *t = see_pod(f, "t", QUEUE("q"), GROUP("g") GATED);
	const struct podgroup *g = podgroup_of(f, t);

	cache_fixture_raw(f, SCHED_PODS, "ns/t",
			  "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"t\",\"uid\":\"uid-t\","
			  "\"annotations\":{" GATE ":\"true\"}},\"spec\":{\"schedulerName\":"
			  "\"default-scheduler\",\"schedulingGroup\":7" GATED "}}");
	assert_int_equal(f->bad, 1);
	assert_ptr_equal(podgroup_of(f, cache_fixture_task(f, "t")), g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CACHE_FIXTURE_TEST(parts_follow_the_podgroup),
		CACHE_FIXTURE_TEST(queues_of_any_name),
		CACHE_FIXTURE_TEST(deletion_leaves_charges),
		CACHE_FIXTURE_TEST(bad_ones_start_nothing),
		CACHE_FIXTURE_TEST(older_versions_are_ignored),
		CACHE_FIXTURE_TEST(pods_that_name_two),
		CACHE_FIXTURE_TEST(names_that_none_can_have),
		CACHE_FIXTURE_TEST(an_unreadable_update),
	};

	return cmocka_run_group_tests_name("cache_kube_podgroup", tests, NULL, NULL);
}
