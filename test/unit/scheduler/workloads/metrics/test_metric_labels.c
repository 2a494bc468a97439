#include "scheduler/workloads/metrics/metric_labels.h"

#include "api/meta/meta.h"
#include "base/attrs.h"
#include "lib/unit.h"

static const char *tracked[] = { "a", "b" };
static const struct kueue_conf_metrics_label labels[] = {
	{ "custom_team", "team", false, KUEUE_CONF_METRICS_CLUSTER_QUEUE, NULL, 0 },
	{ "custom_tier", "tier", false, KUEUE_CONF_METRICS_CLUSTER_QUEUE, tracked, 2 },
	{ "custom_bill", "bill", true, KUEUE_CONF_METRICS_LOCAL_QUEUE, NULL, 0 },
};
static const struct kueue_conf_metrics conf = { .labels = labels, .nlabels = ARRAY_LEN(labels) };

static bool see(struct metric_labels *l, const char *team, const char *tier)
{
	struct field_pair v[] = { { "team", team }, { "tier", tier } };
	const struct api_meta m = { .labels = { v, 2 } };

	return metric_labels_seen(l, KUEUE_CONF_METRICS_CLUSTER_QUEUE, STR_LIT("q"), &m);
}

static void expect(const struct metric_labels *l, const char *team, const char *tier)
{
	const char *v[KUEUE_CONF_METRICS_LABELS_OF_KIND];

	metric_labels_values(l, KUEUE_CONF_METRICS_CLUSTER_QUEUE, STR_LIT("q"), v);
	assert_string_equal(v[0], team);
	assert_string_equal(v[1], tier);
}

static void values_are_those_that_were_seen(void **state)
{
	struct metric_labels *l = metric_labels_create(&conf);
	const char *names[KUEUE_CONF_METRICS_LABELS_OF_KIND];

	(void)state;
	assert_int_equal(metric_labels_names(l, KUEUE_CONF_METRICS_CLUSTER_QUEUE, names), 2);
	assert_string_equal(names[1], "custom_tier");
	assert_int_equal(metric_labels_names(l, KUEUE_CONF_METRICS_COHORT, names), 0);
	expect(l, "", "");
	assert_true(see(l, "red", "a"));
	expect(l, "red", "a");
	assert_false(see(l, "red", "a")); /* nothing new */
	assert_true(see(l, "", "c"));
	expect(l, "", KUEUE_CONF_METRICS_UNTRACKED);
	assert_true(metric_labels_seen(l, KUEUE_CONF_METRICS_CLUSTER_QUEUE, STR_LIT("q"), NULL));
	expect(l, "", "");
	metric_labels_destroy(l);
}

static void annotations(void **state)
{
	struct metric_labels *l = metric_labels_create(&conf);
	struct field_pair one = { "bill", "7" };
	const struct api_meta m = { .annotations = { &one, 1 } };
	const char *v[KUEUE_CONF_METRICS_LABELS_OF_KIND];

	(void)state;
	(void)metric_labels_seen(l, KUEUE_CONF_METRICS_LOCAL_QUEUE, STR_LIT("ns/q"), &m);
	metric_labels_values(l, KUEUE_CONF_METRICS_LOCAL_QUEUE, STR_LIT("ns/q"), v);
	assert_string_equal(v[0], "7");
	assert_true(metric_labels_shows(l, STR_LIT("ns/q"))); /* all are */
	assert_true(metric_labels_shows(l, STR_LIT("ns/other")));
	metric_labels_destroy(l);
}

static void some_local_queues(void **state)
{
	static const struct selector_requirement req = { "show", SELECTOR_EXISTS, { NULL, 0 } };
	static const struct kueue_conf_metrics some = {
		.some_local_queues = true, .of_local_queues = { .requirements = &req, .n = 1 }
	};
	struct metric_labels *l = metric_labels_create(&some);
	struct field_pair one = { "show", "" };
	const struct api_meta with = { .labels = { &one, 1 } }, without = { .name = "q" };
	const struct str key = STR_LIT("ns/q");

	(void)state;
	assert_true(metric_labels_matter(l, KUEUE_CONF_METRICS_LOCAL_QUEUE));
	assert_false(metric_labels_matter(l, KUEUE_CONF_METRICS_CLUSTER_QUEUE));
	assert_false(metric_labels_matter(l, KUEUE_CONF_METRICS_KINDS_));
	assert_false(metric_labels_shows(l, key));
	assert_false(metric_labels_seen(l, KUEUE_CONF_METRICS_LOCAL_QUEUE, key, &with));
	assert_true(metric_labels_shows(l, key));
	assert_true(metric_labels_seen(l, KUEUE_CONF_METRICS_LOCAL_QUEUE, key, &without));
	assert_false(metric_labels_shows(l, key));
	assert_false(metric_labels_seen(l, KUEUE_CONF_METRICS_LOCAL_QUEUE, key, &without));
	metric_labels_destroy(l);
}

static void see_workload(struct metric_labels *l, const char *key, const char *tier,
			 const char *bill)
{
	struct field_pair label = { "tier", tier }, note = { "bill", bill };
	const struct api_meta m = { .labels = { &label, 1 }, .annotations = { &note, 1 } };

	metric_labels_workload(l, str_of(key), &m);
}

static void expect_sort(const struct metric_labels *l, const char *key, const char *tier,
			const char *bill)
{
	const char *v[KUEUE_CONF_METRICS_WORKLOAD_MAX];
	size_t sort = metric_labels_sort(l, str_of(key));

	assert_true(sort < metric_labels_sorts(l));
	assert_int_equal(metric_labels_sort_values(l, sort, v), 2);
	assert_string_equal(v[0], tier);
	assert_string_equal(v[1], bill);
}

static void workloads_are_sorted(void **state)
{
	static const char *bills[] = { "x", "y", "z" };
	static const struct kueue_conf_metrics_label of_workloads[] = {
		{ "custom_tier", "tier", false, KUEUE_CONF_METRICS_WORKLOAD, tracked, 2 },
		{ "custom_team", "team", false, KUEUE_CONF_METRICS_CLUSTER_QUEUE, tracked, 2 },
		{ "custom_bill", "bill", true, KUEUE_CONF_METRICS_WORKLOAD, bills, 3 },
	};
	static const struct kueue_conf_metrics both = { .labels = of_workloads,
							.nlabels = ARRAY_LEN(of_workloads) };
	static const char none[] = KUEUE_CONF_METRICS_UNTRACKED;
	struct metric_labels *l = metric_labels_create(&both);
	const struct api_meta bare = { .name = "w" };

	(void)state;
	assert_int_equal(metric_labels_sorts(l), 3 * 4);
	expect_sort(l, "ns/w", none, none);
	see_workload(l, "ns/w", "b", "z");
	see_workload(l, "ns/v", "a", "other");
	expect_sort(l, "ns/w", "b", "z");
	expect_sort(l, "ns/v", "a", none);
	see_workload(l, "ns/w", "", "x");
	expect_sort(l, "ns/w", none, "x");
	metric_labels_workload(l, STR_LIT("ns/w"), &bare);
	expect_sort(l, "ns/w", none, none);
	metric_labels_workload(l, STR_LIT("ns/v"), NULL);
	expect_sort(l, "ns/v", none, none);
	metric_labels_destroy(l);
}

static void without_labels_workloads_are_of_one_sort(void **state)
{
	struct metric_labels *l = metric_labels_create(&conf);
	const char *v[1] = { "untouched" };

	(void)state;
	see_workload(l, "ns/w", "a", "x");
	assert_int_equal(metric_labels_sorts(l), 1);
	assert_int_equal(metric_labels_sort(l, STR_LIT("ns/w")), 0);
	assert_int_equal(metric_labels_sort_values(l, 0, v), 0);
	assert_string_equal(v[0], "untouched");
	metric_labels_destroy(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_those_that_were_seen),
		cmocka_unit_test(annotations),
		cmocka_unit_test(some_local_queues),
		cmocka_unit_test(workloads_are_sorted),
		cmocka_unit_test(without_labels_workloads_are_of_one_sort),
	};

	return cmocka_run_group_tests_name("workloads/metrics/metric_labels", tests, NULL, NULL);
}
