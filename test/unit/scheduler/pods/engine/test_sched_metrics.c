#include "scheduler/pods/engine/sched_metrics.h"

#include <string.h>

#include "base/strbuf.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/pods/res_fixture.h"
#include "lib/recorded.h"
#include "lib/unit.h"
#include "obs/exposition.h"
#include "obs/metric.h"
#include "scheduler/pods/ledger/totals.h"
#include "scheduler/pods/session/decision.h"

static bool shows(struct metric_registry *r, const char *line)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	exposition_render(r, &text);
	return strstr(text.p, line) != NULL;
}

static void test_gauges_of_queues_come_and_go(void **state)
{
	struct metric_registry *r = metric_registry_create();
	struct sched_metrics *m = sched_metrics_create(r);
	struct cluster *c = cluster_create();
	struct queue_totals totals[4];
	struct queue *q = cluster_fixture_queue(c, "q", NULL, 2000);

	(void)state;
	memset(totals, 0, sizeof(totals));
	totals[q->id].gated = 7;
	totals[q->id].reserved.v[RES_CPU] = 1500;
	sched_metrics_totals(m, c, totals);
	assert_true(shows(r, "headgate_queue_gated_pods{queue_name=\"q\"} 7"));
	assert_true(shows(r, "headgate_queue_reserved_milli_cpu{queue_name=\"q\"} 1500"));
	assert_true(shows(r, "volcano_queue_capacity_milli_cpu{queue_name=\"q\"} 2000"));
	assert_false(shows(
		r, "volcano_queue_capacity_memory_bytes{queue_name=\"q\"}")); /* not limited */
	q->exists = false;
	sched_metrics_totals(m, c, totals);
	assert_false(shows(r, "queue_name=\"q\""));
	sched_metrics_destroy(m);
	cluster_destroy(c);
	metric_registry_destroy(r);
}

/* cpu and memory have metrics of their own, all other resources one with their name as a label;
 * a resource without a limit has none. */
static void test_gauges_of_all_resources(void **state)
{
	static const char *const lines[] = {
		"headgate_queue_reserved_milli_cpu{queue_name=\"q\"} 1500",
		"headgate_queue_reserved_memory_bytes{queue_name=\"q\"} 64",
		"headgate_queue_reserved_scalar_resources{queue_name=\"q\",resource=\"a/gpu\"} 3",
		"headgate_queue_reserved_scalar_resources{queue_name=\"q\",resource=\"pods\"} 2",
		"volcano_queue_capacity_scalar_resources{queue_name=\"q\",resource=\"a/gpu\"} 4",
	};
	struct metric_registry *r = metric_registry_create();
	struct sched_metrics *m = sched_metrics_create(r);
	struct cluster *c = cluster_create();
	struct queue_totals totals[4];
	struct queue *q = cluster_fixture_queue(c, "q", NULL, 2000);
	unsigned gpu = (unsigned)res_names_add(c->res, STR_LIT("a/gpu"));

	(void)state;
	memset(totals, 0, sizeof(totals));
	totals[q->id].reserved.v[RES_CPU] = 1500;
	totals[q->id].reserved.v[RES_MEMORY] = 64;
	totals[q->id].reserved.v[RES_PODS] = 2;
	res_fixture_set(c->res, &totals[q->id].reserved, gpu, 3);
	res_fixture_set(c->res, &q->capability, gpu, 4);
	sched_metrics_totals(m, c, totals);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (!shows(r, lines[i])) {
			fail_msg("%s", lines[i]);
		}
	}
	assert_false(shows(r, "volcano_queue_capacity_memory_bytes{"));
	/* A limit that is taken away leaves no series. */
	res_fill(&q->capability, RES_UNLIMITED);
	sched_metrics_totals(m, c, totals);
	assert_false(shows(r, "volcano_queue_capacity_milli_cpu{queue_name=\"q\"}"));
	assert_false(shows(r, "volcano_queue_capacity_scalar_resources{queue_name=\"q\""));
	sched_metrics_destroy(m);
	cluster_destroy(c);
	metric_registry_destroy(r);
}

static void test_hole_22_decisions_and_outcomes_are_counted(void **state)
{
	struct metric_registry *r = metric_registry_create();
	struct sched_metrics *m = sched_metrics_create(r);
	struct cluster *c = cluster_create();
	struct podgroup *g;
	struct task *t;
	struct sched_msg done = { .request = SCHED_REQ_UNGATE, .outcome = SCHED_REJECTED };

	(void)state;
	cluster_fixture_queue(c, "q", NULL, 2000);
	g = cluster_fixture_podgroup(c, "j", "q", 1);
	t = cluster_fixture_task(c, "t", g, 1000);
	t->created = 0;
	{
		struct decision v[] = {
			{ .kind = DECISION_UNGATE, .task = t->id },
			{ .kind = DECISION_PUBLISH, .task = t->id },
			{ .kind = DECISION_AWAIT, .task = t->id, .in_vain = 4 },
			{ .kind = DECISION_AWAIT, .task = t->id },
			{ .kind = DECISION_QUEUE_SCANNED, .task = MODEL_NONE },
		};
		struct decisions d = { v, 5, 5 };

		sched_metrics_decisions(m, c, &d, INT64_C(2000000000));
	}
	sched_metrics_request(m, &done);
	sched_metrics_bad_object(m, "queues");
	sched_metrics_conf(m, false);
	assert_true(shows(r, "headgate_decisions_total{queue_name=\"q\",decision=\"ungate\"} 1"));
	assert_true(shows(r, "headgate_decisions_total{queue_name=\"q\",decision=\"publish\"} 1"));
	assert_true(shows(r, "headgate_evictions_in_vain_total{queue_name=\"q\"} 4"));
	assert_true(shows(r, "headgate_gate_wait_seconds_sum{queue_name=\"q\"} 2"));
	assert_true(shows(r, "headgate_requests_total{request=\"ungate\",outcome=\"rejected\"} 1"));
	assert_true(shows(r, "headgate_bad_objects_total{resource=\"queues\"} 1"));
	assert_true(shows(r, "headgate_events_dropped_total 0"));
	sched_metrics_events_dropped(m, 3);
	sched_metrics_events_dropped(m, 3);
	sched_metrics_events_dropped(m, 5);
	assert_true(shows(r, "headgate_events_dropped_total 5"));
	assert_true(shows(r, "headgate_configuration_reloads_total{result=\"failed\"} 1"));
	sched_metrics_destroy(m);
	cluster_destroy(c);
	metric_registry_destroy(r);
}

static void fill(struct res *r, struct res_names *names, unsigned gpu, int64_t n)
{
	r->v[RES_CPU] = n;
	r->v[RES_MEMORY] = n + 1;
	res_fixture_set(names, r, gpu, n + 2);
}

/* One queue with a number of its own in each place, one of each decision, and each request with
 * each outcome: the whole exposition. */
static void test_the_whole_exposition(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct metric_registry *r = metric_registry_create();
	struct sched_metrics *m = sched_metrics_create(r);
	struct cluster *c = cluster_create();
	struct queue *q = cluster_fixture_queue(c, "q", NULL, 2000);
	struct task *t =
		cluster_fixture_task(c, "t", cluster_fixture_podgroup(c, "j", "q", 1), 1000);
	unsigned gpu = (unsigned)res_names_add(c->res, STR_LIT("a/gpu"));
	struct queue_totals totals[4] = { 0 };
	struct queue_totals *at = &totals[q->id];
	struct decision all[DECISION_KIND_COUNT_] = { 0 };
	struct decisions d = { all, DECISION_KIND_COUNT_, DECISION_KIND_COUNT_ };

	(void)state;
	fill(&at->allocated, c->res, gpu, 10);
	fill(&at->request, c->res, gpu, 20);
	fill(&q->deserved, c->res, gpu, 30);
	fill(&q->capability, c->res, gpu, 40);
	fill(&at->reserved, c->res, gpu, 50);
	fill(&at->published, c->res, gpu, 60);
	at->gated = 70;
	at->patching = 71;
	at->ungated = 72;
	at->published_pods = 73;
	at->withdrawn = 74;
	at->stuck = 76;
	q->weight = 75;
	for (unsigned i = 0; i < PODGROUP_PHASE_COUNT_; i++) {
		at->podgroups[i] = 80 + i;
	}
	sched_metrics_totals(m, c, totals);
	t->created = 0;
	for (unsigned i = 0; i < DECISION_KIND_COUNT_; i++) {
		all[i].kind = (enum decision_kind)i;
		all[i].task = t->id;
	}
	sched_metrics_decisions(m, c, &d, INT64_C(2000000000));
	t->created = MODEL_TIME_NONE; /* its age is not known */
	sched_metrics_decisions(m, c, &d, INT64_C(2000000000));
	t->created = 0;
	t->podgroup = MODEL_NONE;
	all[DECISION_UNGATE].uncharged = true; /* it has waited for nothing */
	sched_metrics_decisions(m, c, &d, INT64_C(2000000000));
	for (unsigned i = 0; i < SCHED_REQ_COUNT_; i++) {
		for (unsigned o = SCHED_DONE; o <= SCHED_STALE; o++) {
			sched_metrics_request(
				m, &(struct sched_msg){ .request = (enum sched_request)i,
							.outcome = (enum sched_outcome)o });
		}
	}
	sched_metrics_cycle(m, INT64_C(3000000));
	sched_metrics_action(m, "allocate", INT64_C(400000));
	sched_metrics_bad_object(m, "queues");
	sched_metrics_conf(m, true);
	sched_metrics_conf(m, false);
	exposition_render(r, &text);
	recorded_check("test/unit/scheduler/pods/engine/sched_metrics.txt", &text);
	sched_metrics_destroy(m);
	cluster_destroy(c);
	metric_registry_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gauges_of_queues_come_and_go),
		cmocka_unit_test(test_gauges_of_all_resources),
		cmocka_unit_test(test_the_whole_exposition),
		cmocka_unit_test(test_hole_22_decisions_and_outcomes_are_counted),
	};

	return cmocka_run_group_tests_name("pods/engine/sched_metrics", tests, NULL, NULL);
}
