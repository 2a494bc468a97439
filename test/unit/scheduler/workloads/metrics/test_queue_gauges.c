#include "scheduler/workloads/metrics/queue_gauges.h"

#include <stdio.h>
#include <string.h>

#include "api/meta/meta.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/recorded.h"
#include "lib/unit.h"
#include "lib/workloads/workload_cache_fixture.h"
#include "obs/exposition.h"
#include "obs/metric.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "scheduler/workloads/metrics/metric_families.h"

#define ROLE "replica_role=\"leader\""

static struct strbuf recorded; /* the whole exposition at the end of each test */

struct fixture {
	struct workload_cache_fixture q;
	struct metric_registry *counters;
	struct metric_families *m;
	struct strbuf text;
};

static const struct kueue_conf_metrics everything = {
	.queue_resources = true, .local_queues = true, .cohorts = true, .creation_latency = true
};

static void begin(struct fixture *x, const struct kueue_conf_metrics *conf)
{
	memset(x, 0, sizeof(*x));
	strbuf_init(&x->text);
	workload_cache_fixture_init(&x->q);
	workload_cache_fixture_world(&x->q);
	x->counters = metric_registry_create();
	x->m = metric_families_create(x->counters, conf, "leader");
	workload_cache_fixture_see(
		&x->q, SCHED_CLUSTER_QUEUES, "team",
		"{\"metadata\":{\"name\":\"team\",\"generation\":2},\"spec\":{"
		"\"namespaceSelector\":{},\"cohortName\":\"all\",\"resourceGroups\":[{"
		"\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"default\","
		"\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"3\",\"lendingLimit\":"
		"\"1500m\"}]}]}]}}");
	workload_cache_fixture_workload(&x->q, "runs", 0, "2",
					WORKLOAD_CACHE_FIXTURE_ADMITTED("2"));
	workload_cache_fixture_workload(&x->q, "waits", 0, "2", "");
	workload_cache_fixture_workload(
		&x->q, "done", 0, "1",
		"\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\"}]");
	workload_cache_fixture_cycle(&x->q);
}

static void end(struct fixture *x, const char *name)
{
	recorded_series(x->counters, name, &recorded);
	metric_families_destroy(x->m);
	metric_registry_destroy(x->counters);
	workload_cache_fixture_finish(&x->q);
	strbuf_finish(&x->text);
}

static void set_gauges(struct fixture *x)
{
	queue_gauges_set(x->m, x->q.cache);
	strbuf_reset(&x->text);
	exposition_render(x->counters, &x->text);
}

static void expect_line(struct fixture *x, const char *text)
{
	char line[300];

	snprintf(line, sizeof(line), "\nkueue_%s\n", text);
	if (strstr(x->text.p, line) == NULL) {
		fail_msg("%s is not in %s", line, x->text.p);
	}
}

static void expect(struct fixture *x, const char *series, const char *value)
{
	char line[300];

	snprintf(line, sizeof(line), "%s," ROLE "} %s", series, value);
	expect_line(x, line);
}

static void how_things_stand(void **state)
{
	static const char *const rows[][2] = {
		{ "pending_workloads{cluster_queue=\"team\",status=\"inadmissible\"", "1" },
		{ "pending_workloads{cluster_queue=\"team\",status=\"active\"", "0" },
		{ "pending_scheduling_hashes{cluster_queue=\"team\",status=\"inadmissible\"", "1" },
		{ "unadmitted_workloads{cluster_queue=\"team\",reason=\"NoReservation\","
		  "underlying_cause=\"WaitingForQuota\"",
		  "1" },
		{ "reserving_active_workloads{cluster_queue=\"team\"", "1" },
		{ "admitted_active_workloads{cluster_queue=\"team\"", "1" },
		{ "finished_workloads{cluster_queue=\"team\"", "1" },
		{ "cluster_queue_status{cluster_queue=\"team\",status=\"active\"", "1" },
		{ "cluster_queue_status{cluster_queue=\"team\",status=\"pending\"", "0" },
		{ "cluster_queue_info{cluster_queue=\"team\",parent_cohort=\"all\",root_cohort="
		  "\"all\"",
		  "1" },
		{ "cluster_queue_resource_reservation{cohort=\"all\",cluster_queue=\"team\","
		  "flavor=\"default\",resource=\"cpu\"",
		  "2" },
		{ "cluster_queue_resource_pending{cluster_queue=\"team\",resource=\"cpu\"", "2" },
		{ "cluster_queue_nominal_quota{cohort=\"all\",cluster_queue=\"team\",flavor="
		  "\"default\",resource=\"cpu\"",
		  "3" },
		{ "cluster_queue_lending_limit{cohort=\"all\",cluster_queue=\"team\",flavor="
		  "\"default\",resource=\"cpu\"",
		  "1.5" },
		{ "cluster_queue_borrowing_limit{cohort=\"all\",cluster_queue=\"team\",flavor="
		  "\"default\",resource=\"cpu\"",
		  "+Inf" },
		{ "cohort_subtree_quota{cohort=\"all\",flavor=\"default\",resource=\"cpu\"",
		  "1.5" },
		{ "cohort_subtree_resource_reservations{cohort=\"all\",flavor=\"default\","
		  "resource=\"cpu\"",
		  "2" },
		{ "cohort_subtree_admitted_active_workloads{cohort=\"all\"", "1" },
		{ "cohort_info{cohort=\"all\",parent_cohort=\"\",root_cohort=\"all\"", "1" },
		{ "local_queue_pending_workloads{name=\"lq\",namespace=\"ns\",status="
		  "\"inadmissible\"",
		  "1" },
		{ "local_queue_unadmitted_workloads{name=\"lq\",namespace=\"ns\",cluster_queue="
		  "\"team\",reason=\"NoReservation\",underlying_cause=\"WaitingForQuota\"",
		  "1" },
		{ "local_queue_reserving_active_workloads{name=\"lq\",namespace=\"ns\"", "1" },
		{ "local_queue_status{name=\"lq\",namespace=\"ns\",active=\"True\"", "1" },
		{ "local_queue_resource_usage{name=\"lq\",namespace=\"ns\",flavor=\"default\","
		  "resource=\"cpu\"",
		  "2" },
	};
	struct fixture x;

	(void)state;
	begin(&x, &everything);
	set_gauges(&x);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row_number(i);
		expect(&x, rows[i][0], rows[i][1]);
	}
	end(&x, __func__);
}

static void removed_queues_have_no_gauges(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x, &everything);
	set_gauges(&x);
	workload_cache_fixture_gone(&x.q, SCHED_LOCAL_QUEUES, "ns/lq");
	workload_cache_fixture_gone(&x.q, SCHED_CLUSTER_QUEUES, "team");
	workload_cache_fixture_later(&x.q, 2);
	set_gauges(&x);
	assert_null(strstr(x.text.p, "{cluster_queue=\"team\""));
	assert_null(strstr(x.text.p, "{name=\"lq\""));
	assert_null(strstr(x.text.p, "cohort=\"all\""));
	end(&x, __func__);
}

static void see_tier(struct fixture *x, const char *key, const char *tier)
{
	struct field_pair one = { "tier", tier };
	const struct api_meta m = { .labels = { &one, 1 } };

	metric_families_workload(x->m, str_of(key), &m);
}

/* A series for each kind of Workload in the queue, also when none of it is admitted. */
static void admitted_by_labels(void **state)
{
	static const char *tiers[] = { "gold", "tin", "zinc" };
	static const struct kueue_conf_metrics_label label = {
		"custom_tier", "tier", false, KUEUE_CONF_METRICS_WORKLOAD, tiers, 3
	};
	struct kueue_conf_metrics conf = everything;
	struct fixture x;

	(void)state;
	conf.labels = &label;
	conf.nlabels = 1;
	begin(&x, &conf);
	see_tier(&x, "ns/runs", "gold");
	see_tier(&x, "ns/waits", "tin");
	see_tier(&x, "ns/done", "none of them");
	set_gauges(&x);
	expect_line(&x, "admitted_active_workloads{cluster_queue=\"team\"," ROLE
			",custom_tier=\"gold\"} 1");
	expect_line(&x, "admitted_active_workloads{cluster_queue=\"team\"," ROLE
			",custom_tier=\"tin\"} 0");
	expect_line(&x, "admitted_active_workloads{cluster_queue=\"team\"," ROLE
			",custom_tier=\"" KUEUE_CONF_METRICS_UNTRACKED "\"} 0");
	assert_null(strstr(x.text.p, "zinc"));
	expect(&x, "reserving_active_workloads{cluster_queue=\"team\"", "1");
	end(&x, __func__);
}

/* Open gates count in neither; without the feature there is no gauge. */
static void closed_preemption_gates(void **state)
{
	struct quota_model *q;
	struct fixture x;

	(void)state;
	begin(&x, &everything);
	workload_cache_fixture_gated(&x.q, "blocked",
				     WORKLOAD_CACHE_FIXTURE_CONDITION("BlockedOnPreemptionGates"));
	workload_cache_fixture_gated(&x.q, "gated", "");
	workload_cache_fixture_gated(&x.q, "gated-too", "");
	workload_cache_fixture_gated(
		&x.q, "open", "\"preemptionGates\":[{\"name\":\"g\",\"position\":\"Open\"}]");
	set_gauges(&x);
	assert_null(strstr(x.text.p, "preemption_gated_workloads{"));
	q = (struct quota_model *)(uintptr_t)workload_cache_model(x.q.cache);
	q->options.preemption_gates = true;
	set_gauges(&x);
	expect(&x, "preemption_gated_workloads{cluster_queue=\"team\",status=\"blocked\"", "1");
	expect(&x, "preemption_gated_workloads{cluster_queue=\"team\",status=\"gated\"", "2");
	end(&x, __func__);
}

static int check_recorded(void **state)
{
	(void)state;
	recorded_check("test/unit/scheduler/workloads/metrics/queue_gauges.txt", &recorded);
	strbuf_finish(&recorded);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(how_things_stand),
		cmocka_unit_test(removed_queues_have_no_gauges),
		cmocka_unit_test(admitted_by_labels),
		cmocka_unit_test(closed_preemption_gates),
	};

	return cmocka_run_group_tests_name("workloads/metrics/queue_gauges", tests, NULL,
					   check_recorded);
}
