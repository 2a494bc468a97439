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
	struct cache_fixture_pod p = { .name = "p", .opted_in = true, .gated = true };
	struct task *t = cache_fixture_pod(f, &p);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
		t->retry_at = MODEL_TIME_NEVER;
		node(f, rows[i].name, rows[i].labels, rows[i].memory);
		assert_int_equal(t->retry_at, rows[i].ends ? MODEL_TIME_NONE : MODEL_TIME_NEVER);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CACHE_FIXTURE_TEST(test_only_nodes_of_another_shape_end_the_wait),
	};

	return cmocka_run_group_tests_name("pods/ingest/cache_shapes", tests, NULL, NULL);
}
