#include "api/kinds.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/xmalloc.h"

static void test_sorted(void **state)
{
	size_t n;
	const struct kinds_row *k = kinds_all(&n);
	(void)state;

	assert_true(n >= 18);
	for (size_t i = 1; i < n; i++) {
		int c = strcmp(k[i - 1].group, k[i].group);

		assert_true(c < 0 || (c == 0 && strcmp(k[i - 1].plural, k[i].plural) < 0));
	}
}

static void test_by_kind(void **state)
{
	size_t n;
	const struct kinds_row *k = kinds_all(&n);
	(void)state;

	for (size_t i = 0; i < n; i++) {
		CLEANUP(xmalloc_freep)
		char *version = xmalloc_printf("%s%s%s", k[i].group,
					       k[i].group[0] == '\0' ? "" : "/", k[i].version);

		assert_ptr_equal(kinds_by_kind(version, k[i].kind), &k[i]);
		assert_ptr_equal(kinds_by_fields(k[i].fields), &k[i]);
	}
	assert_string_equal(kinds_by_kind("scheduling.volcano.sh/v1beta1", "Queue")->plural,
			    "queues");
	assert_string_equal(kinds_by_kind("v1", "Pod")->plural, "pods");
	assert_null(kinds_by_kind("v1", "Queue"));
	assert_null(kinds_by_kind(NULL, NULL));
}

static void test_alias(void **state)
{
	static const struct {
		const char *alias, *plural;
	} rows[] = {
		{ "pods", "pods" },
		{ "pod", "pods" },
		{ "Pod", "pods" },
		{ "po", "pods" },
		{ "PO", NULL },
		{ "q", "queues" },
		{ "queues.scheduling.volcano.sh", "queues" },
		{ "queues.other", NULL },
		{ "queue-v1beta1", "queues" },
		{ "pg", "podgroups" },
		{ "PodGroup", "podgroups" },
		{ "ns", "namespaces" },
		{ "queue", "queues" },
		{ "queues", "queues" },
		{ "queues.kueue.x-k8s.io", "localqueues" },
		{ "lq", "localqueues" },
		{ "cq", "clusterqueues" },
		{ "flavor", "resourceflavors" },
		{ "kwl", "workloads" },
		{ "Job", "jobs" },
		{ "mkc", "multikueueclusters" },
		{ "mkconf", "multikueueconfigs" },
		{ "secret", "secrets" },
		{ "", NULL },
		{ "widgets", NULL },
		{ ",", NULL },
	};
	(void)state;

	assert_string_equal(kinds_by_alias(STR_LIT("podgroup"))->group, "scheduling.volcano.sh");
	assert_string_equal(kinds_by_alias(STR_LIT("podgroups.scheduling.k8s.io"))->group,
			    "scheduling.k8s.io");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct kinds_row *k = kinds_by_alias(str_of(rows[i].alias));

		unit_row(rows[i].alias);
		if (rows[i].plural == NULL) {
			assert_null(k);
		} else {
			assert_non_null(k);
			assert_string_equal(k->plural, rows[i].plural);
		}
	}
}

static void test_scope(void **state)
{
	static const char *const cluster[] = {
		"namespaces",
		"nodes",
		"admissionchecks",
		"clusterqueues",
		"cohorts",
		"topologies",
		"workloadpriorityclasses",
		"resourceflavors",
		"multikueueclusters",
		"multikueueconfigs",
		"priorityclasses",
		"queues",
		"runtimeclasses",
		"persistentvolumes",
		"storageclasses",
		"csinodes",
		"csidrivers",
	};
	size_t n;
	const struct kinds_row *k = kinds_all(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		bool found = false;

		unit_row(k[i].plural);
		for (size_t j = 0; j < ARRAY_LEN(cluster); j++) {
			found |= strcmp(k[i].plural, cluster[j]) == 0;
		}
		assert_int_equal(k[i].namespaced, !found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted),
		cmocka_unit_test(test_by_kind),
		cmocka_unit_test(test_alias),
		cmocka_unit_test(test_scope),
	};

	return cmocka_run_group_tests_name("kinds", tests, NULL, NULL);
}
