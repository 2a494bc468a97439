#include "scheduler/ctl/list/missing_workload.h"

#include "base/attrs.h"
#include "base/err.h"
#include "lib/unit.h"

#define WORKLOAD(space, owner)                                                                     \
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w-" owner           \
	", namespace: " space ", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: " owner \
	"}]}}\n---\n"

/* Manifests have no Jobs: their names are known by their Workloads. */
static void test_of_manifests(void **state)
{
	static const struct {
		const char *type, *key, *text;
	} rows[] = {
		{ "job", "team/train-2",
		  "job team/train-2 has no Workload; it gets one if it has the label "
		  "kueue.x-k8s.io/queue-name; did you mean train-1?" },
		{ "job", "other/train-2",
		  "job other/train-2 has no Workload; it gets one if it has the label "
		  "kueue.x-k8s.io/queue-name" },
		{ "thing.example.com", "team/train-2",
		  "thing.example.com team/train-2 has no Workload; it gets one if it has the label "
		  "kueue.x-k8s.io/queue-name" },
	};
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
	struct live_workloads s = { .in = in };
	const struct cluster_args a = { .files = { .n = 1 } };

	(void)state;
	assert_int_equal(
		sim_input_add(in, "w.yaml",
			      STR_LIT(WORKLOAD("team", "train-1") WORKLOAD("elsewhere", "train-3")),
			      NULL),
		0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;

		unit_row(rows[i].type);
		assert_int_equal(missing_workload_explain(&a, &s, rows[i].type, rows[i].key, &err),
				 -ERR_NOT_FOUND);
		assert_string_equal(err.text, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_manifests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
