#include "app/quota_metrics.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/counter.h"
#include "base/strbuf.h"
#include "lib/quota_cycle_fixture.h"
#include "lib/unit.h"
#include "quota/quota_apply.h"

static const char world[] = "queue a within=LowerPriority\n"
			    "quota a default cpu nominal=3\n"
			    "queue b\n"
			    "quota b default cpu nominal=3\n"
			    "workload ns/low queue=a cpu=2 holds=default reserved=-60s admitted\n"
			    "workload ns/high queue=a cpu=3 prio=9\n"
			    "workload ns/small queue=b cpu=1\n"
			    "workload ns/big queue=b cpu=9 prio=1 created=-10s\n";

struct fixture {
	struct quota_cycle_fixture f;
	struct counter_registry *counters;
	struct quota_metrics *m;
	struct strbuf text;
};

static void begin(struct fixture *x)
{
	memset(x, 0, sizeof(*x));
	strbuf_init(&x->text);
	quota_cycle_fixture_init(&x->f, world);
	x->counters = counter_registry_create();
	x->m = quota_metrics_create(x->counters);
}

static void end(struct fixture *x)
{
	quota_metrics_destroy(x->m);
	counter_registry_destroy(x->counters);
	quota_cycle_fixture_finish(&x->f);
	strbuf_finish(&x->text);
}

static void emit(void *ctx, const char *bytes, size_t len)
{
	struct fixture *x = ctx;

	strbuf_add(&x->text, bytes, len);
}

static void expect(struct fixture *x, const char *line, bool there)
{
	char whole[200];

	strbuf_reset(&x->text);
	counter_render(x->counters, emit, x);
	snprintf(whole, sizeof(whole), "\n%s", line);
	if ((strstr(x->text.p, whole) != NULL) != there) {
		fail_msg("%s %s in %s", line, there ? "not" : "is", x->text.p);
	}
}

static void cycles_are_counted(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	for (unsigned i = 0; i < 3; i++) {
		const struct quota_decisions *d = quota_cycle_run(x.f.cycle, x.f.w.now);

		quota_metrics_cycle(x.m, x.f.w.q, d);
		for (size_t k = 0; k < d->n; k++) {
			quota_apply(x.f.w.f, &d->v[k], x.f.w.now);
		}
	}
	expect(&x,
	       "kueue_preempted_workloads_total{preempting_cluster_queue=\"a\","
	       "reason=\"InClusterQueue\"} 1\n",
	       true);
	expect(&x, "kueue_quota_reserved_workloads_total{cluster_queue=\"b\"} 1\n", true);
	expect(&x, "kueue_admission_attempts_total{result=\"success\"} 3\n", true);
	end(&x);
}

static void admissions_and_evictions_are_counted_as_they_are_told(void **state)
{
	static const char *const reasons[] = { "Admitted", "EvictedDueToPreempted",
					       "EvictedDueToDeactivatedDueToAdmissionCheck",
					       "QuotaReserved", "Preempted" };
	struct fixture x;

	(void)state;
	begin(&x);
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		quota_metrics_event(x.m, "a", reasons[i]);
	}
	expect(&x, "kueue_admitted_workloads_total{cluster_queue=\"a\"} 1\n", true);
	expect(&x,
	       "kueue_evicted_workloads_total{cluster_queue=\"a\",reason=\"Preempted\","
	       "underlying_cause=\"\"} 1\n",
	       true);
	expect(&x,
	       "kueue_evicted_workloads_total{cluster_queue=\"a\",reason=\"Deactivated\","
	       "underlying_cause=\"AdmissionCheck\"} 1\n",
	       true);
	end(&x);
}

static void gauges_follow_the_queues(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	quota_metrics_queues(x.m, x.f.w.f);
	expect(&x, "kueue_pending_workloads{cluster_queue=\"b\",status=\"active\"} 2\n", true);
	expect(&x, "kueue_reserving_active_workloads{cluster_queue=\"a\"} 1\n", true);
	expect(&x, "kueue_admitted_active_workloads{cluster_queue=\"a\"} 1\n", true);
	expect(&x, "kueue_cluster_queue_status{cluster_queue=\"a\",status=\"active\"} 1\n", true);
	(void)quota_cycle_fixture_run(&x.f);
	quota_metrics_queues(x.m, x.f.w.f);
	expect(&x, "kueue_pending_workloads{cluster_queue=\"b\",status=\"inadmissible\"} 1\n",
	       true);
	/* A queue that is gone has no series. */
	quota_world_node(&x.f.w, "b")->exists = false;
	quota_metrics_queues(x.m, x.f.w.f);
	expect(&x, "kueue_pending_workloads{cluster_queue=\"b\"", false);
	expect(&x, "kueue_cluster_queue_status{cluster_queue=\"b\"", false);
	expect(&x, "kueue_reserving_active_workloads{cluster_queue=\"a\"} 1\n", true);
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cycles_are_counted),
		cmocka_unit_test(admissions_and_evictions_are_counted_as_they_are_told),
		cmocka_unit_test(gauges_follow_the_queues),
	};

	return cmocka_run_group_tests_name("app/quota_metrics", tests, NULL, NULL);
}
