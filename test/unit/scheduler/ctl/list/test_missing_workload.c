#include "scheduler/ctl/list/missing_workload.h"

#include "base/attrs.h"
#include "base/err.h"
#include "enc/json/jdoc.h"
#include "lib/unit.h"

#define WORKLOAD(space, owner)                                                                     \
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w-" owner           \
	", namespace: " space ", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: " owner \
	"}]}}\n---\n"

static void test_of_manifests(void **state)
{
	static const struct {
		const char *type, *key, *text;
		bool as_is; /* Jobs are not read: their names are known by their Workloads */
	} rows[] = {
		{ "job", "team/train-2",
		  "job team/train-2 not found in the manifests; did you mean train-1?", false },
		{ "job", "team/queued",
		  "job team/queued has no Workload: it has the label kueue.x-k8s.io/queue-name=lq, "
		  "but no Workload was made for it",
		  false },
		{ "job", "team/train-2",
		  "job team/train-2 has no Workload; it gets one if it has the label "
		  "kueue.x-k8s.io/queue-name; did you mean train-1?",
		  true },
		{ "job", "other/train-2",
		  "job other/train-2 has no Workload; it gets one if it has the label "
		  "kueue.x-k8s.io/queue-name",
		  true },
		{ "thing.example.com", "team/train-2",
		  "thing.example.com team/train-2 has no Workload; it gets one if it has the label "
		  "kueue.x-k8s.io/queue-name",
		  false },
	};
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
	struct live_workloads s = { .in = in };
	struct cluster_args a = { .files = { .n = 1 } };
	struct jdoc *job = NULL;

	(void)state;
	assert_int_equal(
		sim_input_add(in, "w.yaml",
			      STR_LIT(WORKLOAD("team", "train-1") WORKLOAD("elsewhere", "train-3")),
			      NULL),
		0);
	assert_int_equal(jdoc_parse(STR_LIT("{\"metadata\": {\"name\": \"queued\", \"namespace\": "
					    "\"team\", \"labels\": "
					    "{\"kueue.x-k8s.io/queue-name\": \"lq\"}}}"),
				    &job, NULL),
			 0);
	assert_int_equal(sim_input_take(in, SCHED_JOBS, job, "f", NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;

		unit_row(rows[i].type);
		a.as_is = rows[i].as_is;
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
