#include "scheduler/workloads/engine/queue_refresh.h"

#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "lib/net/fake_transport.h"
#include "lib/unit.h"
#include "lib/workloads/workload_engine_fixture.h"
#include "obs/metric.h"

/* The engine with many queues: when it writes their statuses. */

#define MANY 1000
#define STATUS "status?fieldManager=headgate-quota-status&force=true"
#define AT_ONCE 48 /* statuses of queues under way at most */

static void see_queue(struct workload_engine_fixture *f, unsigned i, const char *stop)
{
	CLEANUP(xmalloc_freep) char *name = xmalloc_printf("q%u", i);
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("ns/%s", name);
	CLEANUP(xmalloc_freep)
	char *queue = xmalloc_printf(
		"{\"metadata\":{\"name\":\"%s\",\"generation\":%d," WORKLOAD_ENGINE_FIXTURE_KEPT
		"},\"spec\":{\"namespaceSelector\":{},\"stopPolicy\":\"%s\",\"resourceGroups\":[{"
		"\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"default\",\"resources\":[{"
		"\"name\":\"cpu\",\"nominalQuota\":\"1\"}]}]}]}}",
		name, strcmp(stop, "None") == 0 ? 1 : 2, stop);
	CLEANUP(xmalloc_freep)
	char *local = xmalloc_printf("{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\","
				     "\"generation\":1},\"spec\":{\"clusterQueue\":\"%s\"}}",
				     name, name);

	workload_engine_fixture_see(f, SCHED_CLUSTER_QUEUES, name, queue);
	workload_engine_fixture_see(f, SCHED_LOCAL_QUEUES, key, local);
}

struct answered { /* statuses of queues */
	unsigned n;
	bool team; /* one of them was that of ClusterQueue team */
};

static struct answered answer_all(struct workload_engine_fixture *f)
{
	struct answered a = { 0 };

	while (fake_transport_pending(f->transport) > 0) {
		uint64_t id = fake_transport_expect_prefix(f->transport, "");
		const char *url = fake_transport_request(f->transport, id)->url;

		a.n += strstr(url, STATUS) != NULL;
		a.team |= strstr(url, "clusterqueues/team/" STATUS) != NULL;
		fake_transport_answer(f->transport, id, 200,
				      "{\"metadata\":{\"resourceVersion\":\"1\"}}");
	}
	return a;
}

static struct answered step(struct workload_engine_fixture *f)
{
	clock_fake_advance(&f->clock, CLOCK_NS_PER_S);
	workload_engine_fixture_step(f);
	return answer_all(f);
}

static void settle(struct workload_engine_fixture *f)
{
	do {
		(void)step(f);
	} while (f->due != CLOCK_NEVER);
}

static void begin(struct workload_engine_fixture *f)
{
	workload_engine_fixture_init(f, false);
	workload_engine_fixture_world(f);
	for (unsigned i = 0; i < MANY; i++) {
		see_queue(f, i, "None");
	}
}

/* It is among the next writes, however many other queues wait. */
static void a_queue_does_not_wait_for_all_others(void **state)
{
	struct workload_engine_fixture f;
	struct answered a;

	(void)state;
	begin(&f);
	a = step(&f);
	assert_in_range(a.n, 1, AT_ONCE);
	assert_true(a.team);
	/* Only now its status changes. */
	workload_engine_fixture_workload(&f, "one", 0, "1");
	a = step(&f);
	assert_in_range(a.n, 1, AT_ONCE);
	assert_true(a.team);
	settle(&f);
	/* Nor when the statuses of all of them change. */
	for (unsigned i = 0; i < MANY; i++) {
		see_queue(&f, i, "Hold");
	}
	workload_engine_fixture_workload(&f, "two", 0, "1");
	a = step(&f);
	assert_in_range(a.n, 1, AT_ONCE);
	assert_true(a.team);
	workload_engine_fixture_finish(&f);
}

static void unchanged_statuses_are_not_written(void **state)
{
	struct workload_engine_fixture f;
	unsigned writes = 0;

	(void)state;
	begin(&f);
	settle(&f);
	workload_engine_fixture_workload(&f, "one", 0, "1");
	for (unsigned i = 0; i < 5; i++) {
		writes += step(&f).n;
	}
	/* It waits for a moment, perhaps, and is admitted: two objects. */
	assert_in_range(writes, 2, 4);
	workload_engine_fixture_finish(&f);
}

static double gauge(const struct workload_engine_fixture *f)
{
	static const char *const labels[] = { "cluster_queue", "replica_role", NULL };
	const char *const values[] = { "team", "leader" };

	return metric_cell_get(
		metric_cell(metric_register(f->counters, "kueue_admitted_active_workloads", "",
					    METRIC_GAUGE, labels),
			    values));
}

/* Gauges do not wait for the API server to take the statuses. */
static void gauges_go_ahead(void **state)
{
	struct workload_engine_fixture f;

	(void)state;
	workload_engine_fixture_init(&f, false);
	workload_engine_fixture_world(&f);
	workload_engine_fixture_step(&f);
	workload_engine_fixture_workload(&f, "one", 0, "1");
	clock_fake_advance(&f.clock, CLOCK_NS_PER_S);
	workload_engine_fixture_step(&f);
	assert_true(gauge(&f) > 0);
	assert_int_equal(answer_all(&f).n, 2);
	workload_engine_fixture_finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_does_not_wait_for_all_others),
		cmocka_unit_test(unchanged_statuses_are_not_written),
		cmocka_unit_test(gauges_go_ahead),
	};

	return cmocka_run_group_tests_name("workloads/engine/queue_refresh", tests, NULL, NULL);
}
