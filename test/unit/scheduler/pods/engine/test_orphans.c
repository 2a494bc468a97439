#include "scheduler/pods/engine/orphans.h"

#include <string.h>

#include "kube/pool.h"
#include "kube/recorder.h"
#include "lib/net/fake_transport.h"
#include "lib/pods/cache_fixture.h"
#include "lib/unit.h"

struct fixture {
	struct cache_fixture *cache;
	struct clock_fake clock;
	struct fake_transport *transport;
	struct recorder *recorder;
	struct orphans *orphans;
};

static void begin(struct fixture *f)
{
	f->cache = cache_fixture_create();
	clock_fake_init(&f->clock, 0);
	f->transport = fake_transport_create(&f->clock);
	f->recorder = recorder_create(
		&(struct pool_options){ .transport = fake_transport_base(f->transport),
					.clock = &f->clock.base,
					.timeout_ns = CLOCK_NS_PER_S },
		"volcano", "volcano");
	f->orphans = orphans_create();
}

static void end(struct fixture *f)
{
	orphans_destroy(f->orphans);
	orphans_destroy(NULL);
	recorder_destroy(f->recorder);
	fake_transport_destroy(f->transport);
	cache_fixture_destroy(f->cache);
}

static void see(struct fixture *f, const struct cache_fixture_pod *p)
{
	const struct task *t = cache_fixture_pod(f->cache, p);

	orphans_pod_upserted(f->orphans, f->cache->c, t, clock_mono(&f->clock.base));
}

/* As many events as were recorded after this time. */
static unsigned after(struct fixture *f, int64_t ns)
{
	unsigned n = 0;

	clock_fake_advance(&f->clock, ns);
	orphans_record_due(f->orphans, f->cache->c, f->recorder, clock_mono(&f->clock.base));
	while (pool_step(recorder_pool(f->recorder))) {
	}
	while (fake_transport_pending(f->transport) > 0) {
		uint64_t id = fake_transport_expect_prefix(f->transport,
							   "POST /api/v1/namespaces/ns/events");
		const char *body = fake_transport_body(f->transport, id).p;

		assert_non_null(strstr(body, "PodGroupMissing"));
		assert_non_null(strstr(body, cluster_task_find(f->cache->c, STR_LIT("ns/p"))->uid));
		assert_non_null(strstr(body, "waits for PodGroup g, which does not exist"));
		fake_transport_answer(f->transport, id, 201, "{}");
		n++;
	}
	return n;
}

static const struct cache_fixture_pod lone = { .name = "p", .group = "g" };

static void test_recorded_once(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	see(&f, &lone);
	assert_int_equal(after(&f, ORPHANS_GRACE_NS - 1), 0);
	see(&f, &lone); /* an update takes nothing off the time */
	assert_int_equal(after(&f, 1), 1);
	see(&f, &lone);
	assert_int_equal(after(&f, 10 * ORPHANS_GRACE_NS), 0);
	end(&f);
}

/* Of Kubernetes' PodGroups the message says which version of the API is read. */
static void test_a_podgroup_of_kubernetes(void **state)
{
	struct fixture f;
	const char *body;
	uint64_t id;

	(void)state;
	begin(&f);
	cache_fixture_json(f.cache, SCHED_PODS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u\","
			   "\"annotations\":{\"volcano.sh/queue-allocation-gate\":\"true\"}},"
			   "\"spec\":{\"schedulerName\":\"default-scheduler\",\"schedulingGroup\":"
			   "{\"podGroupName\":\"g\"}}}");
	orphans_pod_upserted(f.orphans, f.cache->c, cache_fixture_task(f.cache, "p"),
			     clock_mono(&f.clock.base));
	clock_fake_advance(&f.clock, ORPHANS_GRACE_NS);
	orphans_record_due(f.orphans, f.cache->c, f.recorder, clock_mono(&f.clock.base));
	while (pool_step(recorder_pool(f.recorder))) {
	}
	id = fake_transport_expect_prefix(f.transport, "POST /api/v1/namespaces/ns/events");
	body = fake_transport_body(f.transport, id).p;
	assert_non_null(strstr(body, "waits for PodGroup g of scheduling.k8s.io/v1beta1, which "
				     "does not exist"));
	fake_transport_answer(f.transport, id, 201, "{}");
	end(&f);
}

static void test_pods_that_are_no_orphans(void **state)
{
	static const struct {
		const char *what;
		struct cache_fixture_pod pod;
	} rows[] = {
		{ "its PodGroup is there", { .name = "p", .group = "there" } },
		{ "it names none", { .name = "p" } },
		{ "it has a node", { .name = "p", .group = "g", .node = "n" } },
		{ "it is another scheduler's",
		  { .name = "p", .group = "g", .node = "n", .scheduler = "default-scheduler" } },
		{ "it is over", { .name = "p", .group = "g", .phase = "Failed" } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;

		begin(&f);
		(void)cache_fixture_group(f.cache, "there", "q", 1);
		see(&f, &rows[i].pod);
		if (after(&f, ORPHANS_GRACE_NS) != 0) {
			fail_msg("%s", rows[i].what);
		}
		end(&f);
	}
}

static void test_the_podgroup_comes_in_time_and_goes(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	see(&f, &lone);
	(void)cache_fixture_group(f.cache, "g", "q", 1);
	assert_int_equal(after(&f, ORPHANS_GRACE_NS), 0);
	orphans_podgroup_deleted(f.orphans, f.cache->c,
				 cluster_podgroup_find(f.cache->c, STR_LIT("ns/g")),
				 clock_mono(&f.clock.base));
	cache_fixture_delete(f.cache, SCHED_PODGROUPS, "ns/g");
	assert_int_equal(after(&f, ORPHANS_GRACE_NS), 1);
	end(&f);
}

static void test_a_pod_that_is_gone_is_forgotten(void **state)
{
	static const struct cache_fixture_pod again = { .name = "p", .group = "g", .uid = "new-" };
	struct fixture f;

	(void)state;
	begin(&f);
	see(&f, &lone);
	(void)after(&f, ORPHANS_GRACE_NS / 2);
	orphans_pod_deleted(f.orphans, cache_fixture_task(f.cache, "p"));
	cache_fixture_delete(f.cache, SCHED_PODS, "ns/p");
	see(&f, &again);
	assert_int_equal(after(&f, ORPHANS_GRACE_NS / 2), 0);
	assert_int_equal(after(&f, ORPHANS_GRACE_NS / 2), 1);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorded_once),
		cmocka_unit_test(test_a_podgroup_of_kubernetes),
		cmocka_unit_test(test_pods_that_are_no_orphans),
		cmocka_unit_test(test_the_podgroup_comes_in_time_and_goes),
		cmocka_unit_test(test_a_pod_that_is_gone_is_forgotten),
	};

	return cmocka_run_group_tests_name("pods/engine/orphans", tests, NULL, NULL);
}
