#include "scheduler/ctl/list/kueue_kinds.h"

#include "lib/unit.h"

#include "base/attrs.h"

static void test_singular_plural_and_short_names(void **state)
{
	static const struct {
		const char *alias, *kind; /* NULL: none */
	} rows[] = {
		{ "clusterqueue", "ClusterQueue" },
		{ "clusterqueues", "ClusterQueue" },
		{ "ClusterQueue", "ClusterQueue" },
		{ "cq", "ClusterQueue" },
		{ "lq", "LocalQueue" },
		{ "queue", "LocalQueue" },
		{ "workload", "Workload" },
		{ "wl", "Workload" },
		{ "kwl", "Workload" },
		{ "rf", "ResourceFlavor" },
		{ "cohort", "Cohort" },
		{ "workloads.kueue.x-k8s.io", "Workload" },
		{ "queue.scheduling.volcano.sh", NULL },
		{ "pod", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct kinds_row *k = kueue_kinds_find(rows[i].alias);

		unit_row(rows[i].alias);
		if (rows[i].kind == NULL) {
			assert_null(k);
		} else {
			assert_non_null(k);
			assert_string_equal(k->kind, rows[i].kind);
		}
	}
}

static void test_kinds_that_a_verb_accepts(void **state)
{
	static const char *const kinds[] = { "ClusterQueue", "LocalQueue", NULL };

	(void)state;
	assert_string_equal(kueue_kinds_need("stop", "cq", kinds)->plural, "clusterqueues");
	assert_null(kueue_kinds_need("stop", "wl", kinds));
	assert_null(kueue_kinds_need("stop", "cow", kinds));
	assert_null(kueue_kinds_need("stop", NULL, kinds));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_singular_plural_and_short_names),
		cmocka_unit_test(test_kinds_that_a_verb_accepts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
