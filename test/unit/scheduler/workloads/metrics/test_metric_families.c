#include "scheduler/workloads/metrics/metric_families.h"

#include <stdlib.h>
#include <string.h>

#include "api/meta/meta.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "collections/strmap.h"
#include "lib/unit.h"
#include "obs/exposition.h"
#include "obs/metric.h"
#include "process/file.h"
#include "process/version.h"
#include "scheduler/workloads/conf/kueue_conf.h"

static const struct kueue_conf_metrics everything = {
	.queue_resources = true, .local_queues = true, .cohorts = true, .creation_latency = true
};

static bool has(struct metric_registry *r, const char *line)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	exposition_render(r, &out);
	return strstr(out.p, line) != NULL;
}

/* Of the first series that begins so. */
static double value_of(struct metric_registry *r, const char *series)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	const char *line;

	exposition_render(r, &out);
	line = strstr(out.p, series);
	assert_non_null(line);
	return strtod(strstr(line, "} ") + 2, NULL);
}

static void each_is_described(void **state)
{
	struct strmap *names = strmap_create(NULL);

	(void)state;
	for (int i = 0; i < QF_COUNT_; i++) {
		struct metric_families_row row =
			metric_families_describe((enum metric_families_id)i);

		assert_true(row.name != NULL && row.labels != NULL && row.help != NULL);
		assert_false(strmap_get(names, str_of(row.name)) != NULL);
		strmap_set(names, str_of(row.name), names);
		assert_int_equal(strcmp(row.type, "counter") == 0,
				 strstr(row.name, "_total") != NULL);
		assert_int_equal(strcmp(row.type, "histogram") == 0,
				 strstr(row.name, "_seconds") != NULL);
	}
	strmap_destroy(names);
}

static void the_configuration_switches_groups_off(void **state)
{
	static const struct {
		const char *name;
		struct kueue_conf_metrics conf;
		enum metric_families_id there, absent;
	} rows[] = {
		{ "nothing", { .cohorts = false }, QF_PENDING, QF_USAGE },
		{ "resources of ClusterQueues",
		  { .queue_resources = true },
		  QF_USAGE,
		  QF_LOCAL_USAGE },
		{ "LocalQueues", { .local_queues = true }, QF_LOCAL_PENDING, QF_LOCAL_USAGE },
		{ "Cohorts", { .cohorts = true }, QF_COHORT_INFO, QF_LOCAL_PENDING },
		{ "resources of ClusterQueues, LocalQueues",
		  { .queue_resources = true, .local_queues = true },
		  QF_LOCAL_USAGE,
		  QF_COHORT_INFO },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct metric_registry *r = metric_registry_create();
		struct metric_families *f = metric_families_create(r, &rows[i].conf, "leader");
		const char *const labels[4] = { "a", "b", "c", "d" };

		unit_row(rows[i].name);
		assert_true(has(r, "kueue_build_info{git_version=\"v" HEADGATE_VERSION "\""));
		assert_true(value_of(r, "kueue_build_info{") == 1);
		assert_false(metric_families_has(f, QF_CREATION_LATENCY));
		assert_true(metric_families_has(f, rows[i].there));
		assert_false(metric_families_has(f, rows[i].absent));
		metric_families_set(f, rows[i].there, labels, 1);
		metric_families_set(f, rows[i].absent, labels, 1);
		metric_families_destroy(f);
		metric_registry_destroy(r);
	}
}

static void series_of_removed_queues_are_removed(void **state)
{
	static const char *const queues[] = { "a", "b" };
	struct metric_registry *r = metric_registry_create();
	struct metric_families *f = metric_families_create(r, &everything, "standalone");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(queues); i++) {
		const char *const labels[5] = { queues[i], "x", "", "", "" };

		metric_families_add(f, QF_ADMITTED_TOTAL, labels, 1);
		metric_families_observe(f, QF_RESERVED_WAIT, labels, -1);
		metric_families_add(f, QF_PREEMPTED_TOTAL, labels, 1);
		metric_families_add(f, QF_LOCAL_EVICTED_TOTAL, labels, 1);
		metric_families_add(f, QF_COHORT_ADMITTED_TOTAL, labels, 1);
		metric_families_observe(
			f, QF_GATE_REMOVAL,
			(const char *const[]){ "kueue.x-k8s.io/admission", queues[i], "true" }, 1);
	}
	assert_true(has(r, "kueue_admitted_workloads_total{cluster_queue=\"a\",priority_class="
			   "\"x\",replica_role=\"standalone\"} 1"));
	assert_true(has(r, "kueue_quota_reserved_wait_time_seconds_sum{cluster_queue=\"a\","
			   "priority_class=\"x\",replica_role=\"standalone\"} 0"));
	metric_families_seen(f, SCHED_CLUSTER_QUEUES, STR_LIT("a"), NULL);
	assert_false(has(r, "cluster_queue=\"a\""));
	assert_true(has(r, "cluster_queue=\"b\""));
	assert_true(has(r, "local_queue_evicted_workloads_total{name=\"a\",namespace=\"x\""));
	metric_families_seen(f, SCHED_LOCAL_QUEUES, STR_LIT("x/a"), NULL);
	metric_families_seen(f, SCHED_LOCAL_QUEUES, STR_LIT("y/b"), NULL);
	assert_false(has(r, "{name=\"a\""));
	assert_true(has(r, "{name=\"b\""));
	metric_families_seen(f, SCHED_COHORTS, STR_LIT("a"), NULL);
	assert_false(has(r, "{cohort=\"a\""));
	assert_true(has(r, "{cohort=\"b\""));
	metric_families_destroy(f);
	metric_registry_destroy(r);
}

static void see(struct metric_families *f, enum sched_resource r, const char *key,
		const char *label, const char *value)
{
	struct field_pair one = { label, value };
	struct api_meta m = { .labels = { &one, 1 } };

	metric_families_seen(f, r, str_of(key), &m);
}

/* Each kind has its own labels; series with former labels are removed. */
static void labels_that_are_added(void **state)
{
	static const struct kueue_conf_metrics_label labels[] = {
		{ "custom_team", "team", false, KUEUE_CONF_METRICS_CLUSTER_QUEUE, NULL, 0 },
		{ "custom_site", "site", false, KUEUE_CONF_METRICS_LOCAL_QUEUE, NULL, 0 },
		{ "custom_unit", "unit", false, KUEUE_CONF_METRICS_COHORT, NULL, 0 },
	};
	struct kueue_conf_metrics conf = everything;
	struct metric_registry *r = metric_registry_create();
	struct metric_families *f;
	const char *const queue[] = { "q", "c" }, *const local[] = { "l", "ns", "c" };

	(void)state;
	conf.labels = labels;
	conf.nlabels = ARRAY_LEN(labels);
	f = metric_families_create(r, &conf, "leader");
	see(f, SCHED_CLUSTER_QUEUES, "q", "team", "red");
	see(f, SCHED_LOCAL_QUEUES, "ns/l", "site", "north");
	see(f, SCHED_COHORTS, "q", "unit", "x");
	metric_families_add(f, QF_ADMITTED_TOTAL, queue, 1);
	metric_families_add(f, QF_PREEMPTED_TOTAL, queue, 1);
	metric_families_add(f, QF_LOCAL_ADMITTED_TOTAL, local, 1);
	metric_families_add(f, QF_COHORT_ADMITTED_TOTAL, queue, 1);
	metric_families_add(f, QF_ATTEMPTS, queue, 1);
	assert_true(has(r,
			"kueue_admitted_workloads_total{cluster_queue=\"q\",priority_class=\"c\","
			"replica_role=\"leader\",custom_team=\"red\"} 1"));
	assert_true(has(r, "reason=\"c\",replica_role=\"leader\",custom_team=\"red\"} 1"));
	assert_true(has(r, "{name=\"l\",namespace=\"ns\",priority_class=\"c\",replica_role="
			   "\"leader\",custom_site=\"north\"} 1"));
	assert_true(has(r, "{cohort=\"q\",priority_class=\"c\",replica_role=\"leader\","
			   "custom_unit=\"x\"} 1"));
	assert_true(has(r, "{result=\"q\",replica_role=\"leader\"} 1"));
	see(f, SCHED_CLUSTER_QUEUES, "q", "team", "blue");
	assert_false(has(r, "custom_team=\"red\""));
	metric_families_add(f, QF_ADMITTED_TOTAL, queue, 1);
	assert_true(has(r, "custom_team=\"blue\"} 1"));
	assert_true(has(r, "custom_site=\"north\"} 1"));
	metric_families_destroy(f);
	metric_registry_destroy(r);
}

/* Kueue: labels of ClusterQueues go before those of Workloads. */
static void labels_of_workloads(void **state)
{
	static const char *tiers[] = { "gold" };
	static const struct kueue_conf_metrics_label labels[] = {
		{ "custom_tier", "tier", false, KUEUE_CONF_METRICS_WORKLOAD, tiers, 1 },
		{ "custom_team", "team", false, KUEUE_CONF_METRICS_CLUSTER_QUEUE, NULL, 0 },
	};
	struct kueue_conf_metrics conf = everything;
	struct metric_registry *r = metric_registry_create();
	struct metric_families *f;
	struct field_pair one = { "tier", "gold" };
	struct api_meta m = { .labels = { &one, 1 } };

	(void)state;
	conf.labels = labels;
	conf.nlabels = ARRAY_LEN(labels);
	f = metric_families_create(r, &conf, "leader");
	see(f, SCHED_CLUSTER_QUEUES, "q", "team", "red");
	metric_families_workload(f, STR_LIT("ns/w"), &m);
	assert_int_equal(metric_families_sorts(f), 2);
	metric_families_begin(f);
	metric_families_admitted(f, "q", metric_families_sort(f, STR_LIT("ns/w")), 3);
	metric_families_admitted(f, "q", metric_families_sort(f, STR_LIT("ns/other")), 4);
	metric_families_set(f, QF_RESERVING, (const char *const[]){ "q" }, 7);
	metric_families_end(f);
	assert_true(has(r, "kueue_admitted_active_workloads{cluster_queue=\"q\",replica_role="
			   "\"leader\",custom_team=\"red\",custom_tier=\"gold\"} 3"));
	assert_true(
		has(r, "custom_team=\"red\",custom_tier=\"" KUEUE_CONF_METRICS_UNTRACKED "\"} 4"));
	assert_true(has(r, "kueue_reserving_active_workloads{cluster_queue=\"q\",replica_role="
			   "\"leader\",custom_team=\"red\"} 7"));
	metric_families_destroy(f);
	metric_registry_destroy(r);
}

static void only_selected_local_queues_have_metrics(void **state)
{
	static const char *values[] = { "yes" };
	static const struct selector_requirement req = { "metrics", SELECTOR_IN, { values, 1 } };
	struct kueue_conf_metrics conf = everything;
	struct metric_registry *r = metric_registry_create();
	struct metric_families *f;
	const char *const a[] = { "a", "ns", "c" }, *const b[] = { "b", "ns", "c" };

	(void)state;
	conf.some_local_queues = true;
	conf.of_local_queues = (struct selector){ .requirements = &req, .n = 1 };
	f = metric_families_create(r, &conf, "leader");
	see(f, SCHED_LOCAL_QUEUES, "ns/a", "metrics", "yes");
	see(f, SCHED_LOCAL_QUEUES, "ns/b", "metrics", "no");
	metric_families_add(f, QF_LOCAL_ADMITTED_TOTAL, a, 1);
	metric_families_add(f, QF_LOCAL_ADMITTED_TOTAL, b, 1);
	metric_families_set(f, QF_LOCAL_PENDING, b, 1);
	metric_families_observe(f, QF_LOCAL_READY_WAIT, b, 1);
	metric_families_add(f, QF_ADMITTED_TOTAL, b, 1);
	assert_true(has(r, "{name=\"a\""));
	assert_false(has(r, "{name=\"b\""));
	assert_true(has(r, "{cluster_queue=\"b\""));
	see(f, SCHED_LOCAL_QUEUES, "ns/a", "metrics", "no");
	assert_false(has(r, "{name=\"a\""));
	metric_families_destroy(f);
	metric_registry_destroy(r);
}

/* The labels as the page shows them: each in back-quotes. */
static void add_labels(const char *labels, struct strbuf *out)
{
	struct str rest = str_of(labels);

	while (rest.len > 0) {
		struct str one = str_trim(str_next(&rest, ','));

		strbuf_printf(out, "%s`" STR_FMT "`", out->len > 0 ? ", " : "", STR_ARG(one));
	}
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what)) {
		n++;
	}
	return n;
}

/* docs/reference/workload-metrics.md has each of them, with type and labels, and no others. */
static void the_page_has_them_all(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf page = STRBUF_INIT;
	size_t rows = 0;

	(void)state;
	assert_int_equal(file_read_all("docs/reference/workload-metrics.md", 1 << 20, &page, NULL),
			 0);
	for (int i = 0; i < QF_COUNT_; i++) {
		struct metric_families_row row =
			metric_families_describe((enum metric_families_id)i);
		CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, labels = STRBUF_INIT;

		add_labels(row.labels, &labels);
		strbuf_printf(&line, "\n| `kueue_%s` | %s | %s | ", row.name, row.type, labels.p);
		if (strstr(page.p, line.p) == NULL) {
			fail_msg("docs/reference/workload-metrics.md lacks \"%s\"", line.p + 1);
		}
		rows++;
	}
	/* kueue_build_info stands for itself. */
	assert_int_equal(count(page.p, "\n| `kueue_"), rows + 1);
	assert_non_null(strstr(page.p,
			       "\n| `kueue_build_info` | gauge | `git_version`, `git_commit`, "
			       "`build_date`, `go_version`, `compiler`, `platform` | "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_described),
		cmocka_unit_test(the_configuration_switches_groups_off),
		cmocka_unit_test(the_page_has_them_all),
		cmocka_unit_test(series_of_removed_queues_are_removed),
		cmocka_unit_test(labels_that_are_added),
		cmocka_unit_test(labels_of_workloads),
		cmocka_unit_test(only_selected_local_queues_have_metrics),
	};

	return cmocka_run_group_tests_name("workloads/metrics/metric_families", tests, NULL, NULL);
}
