#include "scheduler/workloads/metrics/workload_metrics.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/recorded.h"
#include "lib/unit.h"
#include "lib/workloads/admission_cycle_fixture.h"
#include "lib/workloads/decided.h"
#include "obs/exposition.h"
#include "obs/metric.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "scheduler/workloads/metrics/metric_families.h"
#include "scheduler/workloads/model/quota_store.h"

#define S INT64_C(1000000000)
#define ROLE "replica_role=\"leader\""

static const char world[] = "cohort all\n"
			    "queue a within=LowerPriority cohort=all\n"
			    "quota a default cpu nominal=3\n"
			    "queue b\n"
			    "quota b default cpu nominal=3\n"
			    "workload ns/low queue=a cpu=2 holds=default reserved=-60s admitted\n"
			    "workload ns/high queue=a cpu=3 prio=9\n"
			    "workload ns/small queue=b cpu=1\n"
			    "workload ns/big queue=b cpu=9 prio=1 created=-10s\n";

static struct strbuf recorded; /* the whole exposition at the end of each test */

struct fixture {
	struct admission_cycle_fixture f;
	struct metric_registry *counters;
	struct metric_families *m;
	struct strbuf text;
	struct workload_status before, after;
};

static void begin(struct fixture *x)
{
	static const struct kueue_conf_metrics conf = { .queue_resources = true,
							.local_queues = true,
							.cohorts = true,
							.creation_latency = true };

	memset(x, 0, sizeof(*x));
	strbuf_init(&x->text);
	admission_cycle_fixture_init(&x->f, world);
	x->counters = metric_registry_create();
	x->m = metric_families_create(x->counters, &conf, "leader");
	x->before.arena = arena_create(0);
	x->after.arena = arena_create(0);
}

static void end(struct fixture *x, const char *name)
{
	recorded_series(x->counters, name, &recorded);
	arena_destroy(x->before.arena);
	arena_destroy(x->after.arena);
	workload_status_finish(&x->before);
	workload_status_finish(&x->after);
	metric_families_destroy(x->m);
	metric_registry_destroy(x->counters);
	admission_cycle_fixture_finish(&x->f);
	strbuf_finish(&x->text);
}

static void expect(struct fixture *x, const char *series, const char *value)
{
	char line[300];

	strbuf_reset(&x->text);
	exposition_render(x->counters, &x->text);
	snprintf(line, sizeof(line), "\nkueue_%s," ROLE "} %s\n", series, value);
	if (strstr(x->text.p, line) == NULL) {
		fail_msg("%s is not in %s", line, x->text.p);
	}
}

static void cycles_are_counted(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	for (unsigned i = 0; i < 3; i++) {
		const struct admission_decisions *d = admission_cycle_run(x.f.cycle, x.f.w.now);

		workload_metrics_cycle(x.m, x.f.w.q, d, 0.25);
		decided_apply(x.f.w.f, d, x.f.w.now);
	}
	expect(&x,
	       "preempted_workloads_total{preempting_cluster_queue=\"a\","
	       "reason=\"InClusterQueue\"",
	       "1");
	expect(&x, "admission_attempts_total{result=\"success\"", "3");
	expect(&x, "admission_attempt_duration_seconds_sum{result=\"success\"", "0.75");
	expect(&x, "admission_cycle_preemption_skips{cluster_queue=\"a\"", "0");
	end(&x, __func__);
}

static void set(struct workload_status *status, const char *type, bool is_true, const char *reason,
		int64_t at)
{
	struct condition to = { type, is_true ? "True" : "False", reason, "m", at, 1 };

	(void)workload_status_set_condition(status, &to);
}

static void record_status(struct fixture *x, const char *workload)
{
	workload_metrics_status(x->m, x->f.w.f, quota_world_workload(&x->f.w, workload), &x->before,
				&x->after);
}

static void admission_and_how_long_it_took(void **state)
{
	struct fixture x;
	struct workload_status_check check = { .name = "c", .state = QUOTA_CHECK_READY };
	struct workload *w;

	(void)state;
	begin(&x);
	w = quota_world_workload(&x.f.w, "low");
	w->object.priority_class = "gold";
	w->object.created = 100 * S;
	x.after.queue = "a";
	set(&x.before, "Requeued", true, "Preempted", 130 * S);
	set(&x.after, "Requeued", true, "Preempted", 130 * S);
	set(&x.after, "QuotaReserved", true, "QuotaReserved", 150 * S);
	vec_push(&x.after.checks, check);
	set(&x.after, "Admitted", true, "Admitted", 157 * S);
	record_status(&x, "low");
	expect(&x, "quota_reserved_workloads_total{cluster_queue=\"a\",priority_class=\"gold\"",
	       "1");
	expect(&x,
	       "quota_reserved_wait_time_seconds_sum{cluster_queue=\"a\",priority_class=\"gold\"",
	       "20");
	expect(&x, "admission_wait_time_seconds_sum{cluster_queue=\"a\",priority_class=\"gold\"",
	       "27");
	expect(&x,
	       "admission_checks_wait_time_seconds_sum{cluster_queue=\"a\",priority_class="
	       "\"gold\"",
	       "7");
	expect(&x,
	       "local_queue_admitted_workloads_total{name=\"queue-a\",namespace=\"ns\","
	       "priority_class=\"gold\"",
	       "1");
	expect(&x, "cohort_subtree_admitted_workloads_total{cohort=\"all\",priority_class=\"gold\"",
	       "1");
	/* The same again is not counted. */
	set(&x.before, "QuotaReserved", true, "QuotaReserved", 150 * S);
	set(&x.before, "Admitted", true, "Admitted", 157 * S);
	record_status(&x, "low");
	expect(&x, "admitted_workloads_total{cluster_queue=\"a\",priority_class=\"gold\"", "1");
	end(&x, __func__);
}

static void readiness_end_and_how_long_it_took(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	quota_world_workload(&x.f.w, "low")->object.created = 100 * S;
	x.before.queue = x.after.queue = "a";
	set(&x.before, "Admitted", true, "Admitted", 110 * S);
	set(&x.after, "Admitted", true, "Admitted", 110 * S);
	set(&x.after, "PodsReady", true, "Started", 125 * S);
	record_status(&x, "low");
	expect(&x, "ready_wait_time_seconds_sum{cluster_queue=\"a\",priority_class=\"\"", "25");
	expect(&x,
	       "admitted_until_ready_wait_time_seconds_sum{cluster_queue=\"a\",priority_class="
	       "\"\"",
	       "15");
	set(&x.before, "PodsReady", true, "Started", 125 * S);
	set(&x.after, "Finished", true, "Succeeded", 140 * S);
	x.after.has_past_seconds = true;
	x.after.past_seconds = 12;
	record_status(&x, "low");
	expect(&x, "finished_workloads_total{cluster_queue=\"a\",priority_class=\"\"", "1");
	expect(&x, "execution_time_seconds_sum{cluster_queue=\"a\",priority_class=\"\"", "42");
	end(&x, __func__);
}

static void the_first_admission_is_all_it_ran(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	x.before.queue = x.after.queue = "a";
	set(&x.before, "Admitted", true, "Admitted", 110 * S);
	set(&x.after, "Admitted", true, "Admitted", 110 * S);
	set(&x.after, "Finished", true, "Succeeded", 140 * S);
	record_status(&x, "low");
	expect(&x, "execution_time_seconds_sum{cluster_queue=\"a\",priority_class=\"\"", "30");
	end(&x, __func__);
}

static void evictions_and_how_long_they_took(void **state)
{
	struct workload_status_eviction once = { "Deactivated", "AdmissionCheck", 1 };
	struct workload_status_eviction twice = { "Deactivated", "AdmissionCheck", 2 };
	struct fixture x;

	(void)state;
	begin(&x);
	x.before.queue = x.after.queue = "a";
	set(&x.before, "QuotaReserved", true, "QuotaReserved", 100 * S);
	set(&x.before, "PodsReady", true, "Started", 125 * S);
	set(&x.after, "QuotaReserved", true, "QuotaReserved", 100 * S);
	set(&x.after, "Evicted", true, "DeactivatedDueToAdmissionCheck", 130 * S);
	vec_push(&x.after.evictions, once);
	record_status(&x, "low");
	x.after.evictions.v[0] = twice;
	vec_push(&x.before.evictions, once);
	record_status(&x, "low");
	expect(&x,
	       "evicted_workloads_total{cluster_queue=\"a\",reason=\"Deactivated\","
	       "underlying_cause=\"AdmissionCheck\",priority_class=\"\"",
	       "2");
	expect(&x,
	       "evicted_workloads_once_total{cluster_queue=\"a\",reason=\"Deactivated\","
	       "underlying_cause=\"AdmissionCheck\",priority_class=\"\"",
	       "1");
	expect(&x,
	       "pods_ready_to_evicted_time_seconds_sum{cluster_queue=\"a\",reason="
	       "\"Deactivated\",underlying_cause=\"AdmissionCheck\"",
	       "10");
	x.before.evictions.v[0] = twice;
	x.after.queue = NULL;
	set(&x.after, "QuotaReserved", false, "PendingEvaluation", 138 * S);
	record_status(&x, "low");
	expect(&x,
	       "workload_eviction_latency_seconds_sum{cluster_queue=\"a\",reason="
	       "\"DeactivatedDueToAdmissionCheck\"",
	       "8");
	end(&x, __func__);
}

/* Others may write any number, and namespaces with queues of their own come and go. */
static void a_jump_and_a_local_queue_that_is_gone(void **state)
{
	struct workload_status_eviction many = { "Deactivated", "", INT32_MAX };
	struct fixture x;

	(void)state;
	begin(&x);
	quota_local_remove(x.f.w.q, quota_local_find(x.f.w.q, STR_LIT("ns/queue-a")));
	x.before.queue = x.after.queue = "a";
	set(&x.after, "QuotaReserved", true, "QuotaReserved", 150 * S);
	set(&x.after, "Finished", true, "Succeeded", 160 * S);
	vec_push(&x.after.evictions, many);
	record_status(&x, "low");
	expect(&x,
	       "evicted_workloads_total{cluster_queue=\"a\",reason=\"Deactivated\","
	       "underlying_cause=\"\",priority_class=\"\"",
	       "2147483647");
	expect(&x, "finished_workloads_total{cluster_queue=\"a\",priority_class=\"\"", "1");
	assert_null(strstr(x.text.p, "{name=\"queue-a\""));
	end(&x, __func__);
}

static void durations_of_owners(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	workload_metrics_created(x.m, "Job", 2 * S);
	workload_metrics_ungated(x.m, "a", true, S / 2);
	workload_metrics_ungated(x.m, "a", true, -S); /* clocks differ */
	expect(&x, "workload_creation_latency_seconds_sum{job_kind=\"Job\"", "2");
	expect(&x,
	       "pod_scheduling_gate_removal_seconds_count{name=\"kueue.x-k8s.io/admission\","
	       "cluster_queue=\"a\",is_group=\"true\"",
	       "2");
	expect(&x,
	       "pod_scheduling_gate_removal_seconds_sum{name=\"kueue.x-k8s.io/admission\","
	       "cluster_queue=\"a\",is_group=\"true\"",
	       "0.5");
	end(&x, __func__);
}

static int check_recorded(void **state)
{
	(void)state;
	recorded_check("test/unit/scheduler/workloads/metrics/workload_metrics.txt", &recorded);
	strbuf_finish(&recorded);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_and_a_local_queue_that_is_gone),
		cmocka_unit_test(durations_of_owners),
		cmocka_unit_test(cycles_are_counted),
		cmocka_unit_test(admission_and_how_long_it_took),
		cmocka_unit_test(readiness_end_and_how_long_it_took),
		cmocka_unit_test(the_first_admission_is_all_it_ran),
		cmocka_unit_test(evictions_and_how_long_they_took),
	};

	return cmocka_run_group_tests_name("workloads/metrics/workload_metrics", tests, NULL,
					   check_recorded);
}
