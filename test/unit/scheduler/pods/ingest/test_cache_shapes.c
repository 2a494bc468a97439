#include "lib/pods/cache_fixture.h"
#include "lib/unit.h"

static void node(struct cache_fixture *f, const char *name, const char *labels, const char *memory)
{
	cache_fixture_json(
		f, SCHED_NODES,
		"{\"metadata\":{\"name\":\"%s\",\"labels\":{\"host\":\"%s\"%s}},\"spec\":{"
		"\"taints\":[{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":"
		"\"NoSchedule\"}]},\"status\":{\"allocatable\":{\"cpu\":\"4\",\"memory\":"
		"\"%s\"}}}",
		name, name, labels, memory);
}

/* A gang that still did not fit after nodes were added is not published again for equal nodes. */
static void test_only_nodes_of_another_shape_end_the_wait(void **state)
{
	static const struct {
		const char *name, *labels, *memory;
		bool ends;
	} rows[] = {
		{ "a1", "", "16311Mi", true },
		{ "a2", "", "16309Mi", false },
		{ "a3", "", "32Gi", true },
		{ "b1", ",\"pool\":\"gpu\"", "16311Mi", true },
		{ "b2", ",\"pool\":\"gpu\"", "16311Mi", false },
	};
	struct cache_fixture *f = *state;
	struct task *t = cache_fixture_pod(f, &cache_fixture_pending);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
		cluster_task_set_retry(f->c, t, MODEL_TIME_NEVER);
		node(f, rows[i].name, rows[i].labels, rows[i].memory);
		assert_int_equal(t->retry_at, rows[i].ends ? MODEL_TIME_NONE : MODEL_TIME_NEVER);
	}
}

static void see(struct cache_fixture *f, const char *name, const char *meta, const char *spec,
		const char *status)
{
	cache_fixture_json(f, SCHED_PODS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"uid\":\"%s\","
			   "\"resourceVersion\":\"%lld\",\"annotations\":{"
			   "\"scheduling.k8s.io/group-name\":\"g\","
			   "\"scheduling.volcano.sh/queue-allocation-gate\":\"true\"%s},"
			   "\"spec\":{\"schedulerName\":\"volcano\"%s},\"status\":{%s}}",
			   name, name, (long long)++f->version, meta, spec, status);
}

/* Reservations of the gang ended without a node, too often: it waits until something changes that
 * may let it find one, whichever of its pods that is about. */
static void test_only_changes_of_the_gang_end_its_wait(void **state)
{
	static const struct {
		const char *about, *pod, *meta, *spec, *status;
		bool ends;
	} rows[] = {
		{ "nothing", "a", "}", "", "", false },
		{ "our mark", "a", ",\"headgate.io/reserved\":\"q\"}", "", "", false },
		{ "our conditions", "a", "}", "",
		  "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":"
		  "\"NotReadyForScheduling\"},{\"type\":\"headgate.io/ReservationTimedOut\","
		  "\"status\":\"True\",\"message\":\"2 reservations\"}]",
		  false },
		{ "a nomination", "a", "}", "", "\"nominatedNodeName\":\"n\"", false },
		{ "a toleration", "a", "}", ",\"tolerations\":[{\"operator\":\"Exists\"}]", "",
		  true },
		{ "its request", "a", "}",
		  ",\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]", "", true },
		{ "its labels", "a", "},\"labels\":{\"app\":\"x\"}", "", "", true },
		{ "its role", "a", ",\"volcano.sh/task-spec\":\"worker\"}", "", "", true },
		{ "another gate", "a", "}", ",\"schedulingGates\":[{\"name\":\"other\"}]", "",
		  true },
		{ "another member", "c", "}", "", "", true },
	};
	struct cache_fixture *f = *state;
	struct task *a, *b;

	(void)cache_fixture_group(f, "g", "q", 2);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].about);
		see(f, "a", "}", "", "");
		see(f, "b", "}", "", "");
		a = cache_fixture_task(f, "a");
		b = cache_fixture_task(f, "b");
		cluster_task_set_retry(f->c, a, MODEL_TIME_NEVER);
		cluster_task_set_retry(f->c, b, MODEL_TIME_NEVER);
		see(f, rows[i].pod, rows[i].meta, rows[i].spec, rows[i].status);
		assert_int_equal(a->retry_at, rows[i].ends ? MODEL_TIME_NONE : MODEL_TIME_NEVER);
		assert_int_equal(b->retry_at, rows[i].ends ? MODEL_TIME_NONE : MODEL_TIME_NEVER);
	}
}

/* A member that leaves: one of those that wait, or one that has run. */
static void test_members_that_leave(void **state)
{
	static const struct {
		const char *about, *spec, *status;
		bool ends;
	} rows[] = {
		{ "it waited", "", "", true },
		{ "it ran", ",\"nodeName\":\"n\"", "\"phase\":\"Running\"", false },
		{ "it has finished", ",\"nodeName\":\"n\"", "\"phase\":\"Succeeded\"", false },
	};
	struct cache_fixture *f = *state;

	(void)cache_fixture_group(f, "g", "q", 2);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct task *b;

		unit_row(rows[i].about);
		see(f, "a", "}", rows[i].spec, rows[i].status);
		see(f, "b", "}", "", "");
		b = cache_fixture_task(f, "b");
		cluster_task_set_retry(f->c, b, MODEL_TIME_NEVER);
		cache_fixture_delete(f, SCHED_PODS, "ns/a");
		assert_int_equal(b->retry_at, rows[i].ends ? MODEL_TIME_NONE : MODEL_TIME_NEVER);
		/* One that goes to another PodGroup leaves nothing behind. */
		cluster_task_set_retry(f->c, b, MODEL_TIME_NEVER);
		(void)cache_fixture_pod(
			f, &(struct cache_fixture_pod){ .name = "b", .uid = "b", .group = "h" });
		assert_int_equal(b->retry_at, MODEL_TIME_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CACHE_FIXTURE_TEST(test_only_nodes_of_another_shape_end_the_wait),
		CACHE_FIXTURE_TEST(test_only_changes_of_the_gang_end_its_wait),
		CACHE_FIXTURE_TEST(test_members_that_leave),
	};

	return cmocka_run_group_tests_name("pods/ingest/cache_shapes", tests, NULL, NULL);
}
