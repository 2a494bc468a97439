#include "scheduler/workloads/conf/kueue_conf_metrics.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "scheduler/workloads/conf/kueue_conf.h"

#define GATE "featureGates: {CustomMetricLabels: true}\n"
#define LABELS(list) GATE "metrics: {customLabels: [" list "]}\n"
#define FIVE(letter)                                                                               \
	"{name: " letter "1}, {name: " letter "2}, {name: " letter "3}, {name: " letter            \
	"4}, {name: " letter "5}"

static void warn(void *ctx, const char *text)
{
	strbuf_printf(ctx, "%s;", text);
}

static int read_text(const char *text, struct strbuf *warnings, struct kueue_conf **ret,
		     struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	assert_int_equal(yaml_parse(str_of(text), &d, NULL), 0);
	return kueue_conf_read(d, warn, warnings, ret, err);
}

static void switches(void **state)
{
	static const struct {
		const char *text;
		bool resources, locals, cohorts, latency, some;
	} rows[] = {
		{ "kind: Configuration\n", false, true, true, true, false },
		{ "metrics: {enableClusterQueueResources: true}\n", true, true, true, true, false },
		{ "featureGates: {LocalQueueMetrics: false, MetricsForCohorts: false, "
		  "MetricForWorkloadCreationLatency: false}\n",
		  false, false, false, false, false },
		{ "metrics: {localQueueMetrics: {enable: false}}\n", false, false, true, true,
		  false },
		{ "metrics: {localQueueMetrics: {enable: true, localQueueSelector: {matchLabels: "
		  "{a: b}}}}\n",
		  false, true, true, true, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
		CLEANUP(strbuf_finish) struct strbuf warnings = STRBUF_INIT;

		unit_row(rows[i].text);
		assert_int_equal(read_text(rows[i].text, &warnings, &c, NULL), 0);
		assert_int_equal(c->metrics.queue_resources, rows[i].resources);
		assert_int_equal(c->metrics.local_queues, rows[i].locals);
		assert_int_equal(c->metrics.cohorts, rows[i].cohorts);
		assert_int_equal(c->metrics.creation_latency, rows[i].latency);
		assert_int_equal(c->metrics.some_local_queues, rows[i].some);
		assert_int_equal(warnings.len, 0);
	}
}

static void the_labels(void **state)
{
	CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
	CLEANUP(strbuf_finish) struct strbuf warnings = STRBUF_INIT;

	(void)state;
	assert_int_equal(
		read_text(LABELS("{name: team}, {name: cost, sourceLabelKey: x.y/cost-center}, "
				 "{name: w, sourceKind: Workload, trackedValues: [a]}, "
				 "{name: b, sourceKind: Cohort, sourceAnnotationKey: c/d, "
				 "trackedValues: [u, v]}"),
			  &warnings, &c, NULL),
		0);
	assert_int_equal(c->metrics.nlabels, 4);
	assert_string_equal(c->metrics.labels[0].name, "custom_team");
	assert_string_equal(c->metrics.labels[0].key, "team");
	assert_int_equal(c->metrics.labels[0].kind, KUEUE_CONF_METRICS_CLUSTER_QUEUE);
	assert_string_equal(c->metrics.labels[1].key, "x.y/cost-center");
	assert_false(c->metrics.labels[1].is_annotation);
	assert_string_equal(c->metrics.labels[2].name, "custom_w");
	assert_int_equal(c->metrics.labels[2].kind, KUEUE_CONF_METRICS_WORKLOAD);
	assert_int_equal(c->metrics.labels[2].ntracked, 1);
	assert_string_equal(c->metrics.labels[3].name, "custom_b");
	assert_true(c->metrics.labels[3].is_annotation);
	assert_int_equal(c->metrics.labels[3].kind, KUEUE_CONF_METRICS_COHORT);
	assert_int_equal(c->metrics.labels[3].ntracked, 2);
	assert_int_equal(warnings.len, 0);
}

static void without_the_gate_there_are_none(void **state)
{
	CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
	CLEANUP(strbuf_finish) struct strbuf warnings = STRBUF_INIT;

	(void)state;
	assert_int_equal(
		read_text("metrics: {customLabels: [{name: team}]}\n", &warnings, &c, NULL), 0);
	assert_int_equal(c->metrics.nlabels, 0);
	assert_non_null(strstr(warnings.p, "the gate CustomMetricLabels is off"));
}

static void errors_name_the_field(void **state)
{
	static const struct {
		const char *text, *error; /* NULL: it is right */
	} rows[] = {
		{ "metrics: {enableClusterQueueResources: yes please}\n",
		  "metrics.enableClusterQueueResources: must be a boolean" },
		{ "metrics: {localQueueMetrics: 1}\n", "metrics.localQueueMetrics: must be" },
		{ "metrics: {localQueueMetrics: {enable: 1}}\n",
		  "metrics.localQueueMetrics.enable: must be" },
		{ "metrics: {localQueueMetrics: {localQueueSelector: {matchExpressions: [{key: a, "
		  "operator: No}]}}}\n",
		  "metrics.localQueueMetrics.localQueueSelector" },
		{ "metrics: {customLabels: 1}\n", "metrics.customLabels: must be a list" },
		{ LABELS("{name: 1a}"), "metrics.customLabels[0].name" },
		{ LABELS("{name: a-b}"), "metrics.customLabels[0].name" },
		{ LABELS("{name: a}, {name: a}"), "metrics.customLabels[1].name" },
		{ LABELS("{name: a, sourceLabelKey: -x}"), "customLabels[0].sourceLabelKey" },
		{ LABELS("{name: a, sourceAnnotationKey: 'x y'}"),
		  "customLabels[0].sourceAnnotationKey" },
		{ LABELS("{name: a, sourceLabelKey: x, sourceAnnotationKey: y}"),
		  "customLabels[0].sourceAnnotationKey: not together" },
		{ LABELS("{name: a, sourceKind: Job}"), "customLabels[0].sourceKind" },
		{ LABELS("{name: a, trackedValues: [x, x]}"), "customLabels[0].trackedValues" },
		{ LABELS("{name: a, sourceKind: Workload}"),
		  "customLabels[0].trackedValues: must be 1 to 12" },
		{ LABELS("{name: a, trackedValues: [1a,2a,3a,4a,5a,6a,7a,8a,9a,10a,11a,12a,13a,14a,"
			 "15a,16a]}"),
		  NULL },
		{ LABELS("{name: a, trackedValues: [1a,2a,3a,4a,5a,6a,7a,8a,9a,10a,11a,12a,13a,14a,"
			 "15a,16a,17a]}"),
		  "customLabels[0].trackedValues: must be 0 to 16" },
		{ LABELS(FIVE("a") ", {name: x}"), NULL },
		{ LABELS(FIVE("a") ", {name: x}, {name: y}"), "customLabels[6].sourceKind: too" },
		{ LABELS(FIVE("a") "," FIVE("b") "," FIVE("c") "," FIVE("d") ",{name: x}"),
		  "metrics.customLabels: more than 20" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
		CLEANUP(strbuf_finish) struct strbuf warnings = STRBUF_INIT;
		struct err err = ERR_INIT;
		int r = read_text(rows[i].text, &warnings, &c, &err);

		if (rows[i].error == NULL) {
			assert_int_equal(r, 0);
		} else if (r != -ERR_INVALID || strstr(err.text, rows[i].error) == NULL) {
			fail_msg("%s: %s", rows[i].text, r < 0 ? err.text : "no error");
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switches),
		cmocka_unit_test(the_labels),
		cmocka_unit_test(without_the_gate_there_are_none),
		cmocka_unit_test(errors_name_the_field),
	};

	return cmocka_run_group_tests_name("workloads/conf/kueue_conf_metrics", tests, NULL, NULL);
}
