#include "scheduler/workloads/writes/finalizers.h"

#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/meta/meta.h"
#include "base/clock.h"
#include "kube/pool.h"
#include "lib/net/fake_transport.h"
#include "lib/unit.h"
#include "lib/workloads/admission_cycle_fixture.h"
#include "scheduler/workloads/forest/forest.h"

#define API "PATCH /apis/kueue.x-k8s.io/v1beta2/"

static const char world[] = "queue team\n"
			    "quota team default cpu nominal=3\n"
			    "workload ns/one queue=team cpu=2 holds=default reserved=-60s\n";

struct fixture {
	struct admission_cycle_fixture q;
	struct clock_fake clock;
	struct fake_transport *transport;
	struct finalizers *f;
};

static void drop(void *ctx, struct sched_msg *m)
{
	(void)ctx;
	message_free(m);
}

static void begin(struct fixture *x)
{
	struct pool_options base = { .backoff_min_ns = CLOCK_NS_PER_MS,
				     .backoff_max_ns = CLOCK_NS_PER_S,
				     .timeout_ns = CLOCK_NS_PER_S };

	memset(x, 0, sizeof(*x));
	admission_cycle_fixture_init(&x->q, world);
	clock_fake_init(&x->clock, 0);
	x->transport = fake_transport_create(&x->clock);
	base.transport = fake_transport_base(x->transport);
	base.clock = &x->clock.base;
	x->f = finalizers_create(&base, drop);
}

static void end(struct fixture *x)
{
	finalizers_destroy(x->f);
	fake_transport_destroy(x->transport);
	admission_cycle_fixture_finish(&x->q);
}

static void see(struct fixture *x, enum sched_resource r, const char *name, bool deleted,
		const char *finalizer)
{
	const char *const list[] = { "other", finalizer };
	struct api_meta meta = { .name = name,
				 .uid = "u-1",
				 .resource_version = "7",
				 .deleted = deleted ? 1 : FIELD_NO_TIME };

	if (finalizer != NULL) {
		meta.finalizers = (struct field_strs){ list, ARRAY_LEN(list) };
	}
	finalizers_seen(x->f, r, str_of(name), &meta);
}

static void run(struct fixture *x)
{
	finalizers_run(x->f, x->q.w.q);
	while (pool_step(finalizers_pool(x->f))) {
	}
}

static void expect(struct fixture *x, const char *line, const char *body)
{
	uint64_t id = fake_transport_expect(x->transport, line);

	assert_string_equal(fake_transport_request(x->transport, id)->content_type,
			    "application/json-patch+json");
	assert_string_equal(fake_transport_body(x->transport, id).p, body);
	fake_transport_answer(x->transport, id, 200, "{}");
}

static void each_gets_it_once(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	see(&x, SCHED_FLAVORS, "default", false, NULL);
	run(&x);
	expect(&x, API "resourceflavors/default",
	       "[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"u-1\"},"
	       "{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":\"7\"},"
	       "{\"op\":\"add\",\"path\":\"/metadata/finalizers\",\"value\":["
	       "\"kueue.x-k8s.io/resource-in-use\"]}]");
	run(&x);
	fake_transport_expect_none(x.transport);
	see(&x, SCHED_ADMISSION_CHECKS, "check", false, "another");
	run(&x);
	expect(&x, API "admissionchecks/check",
	       "[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"u-1\"},"
	       "{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":\"7\"},"
	       "{\"op\":\"add\",\"path\":\"/metadata/finalizers/-\",\"value\":"
	       "\"kueue.x-k8s.io/resource-in-use\"}]");
	end(&x);
}

static void whoever_has_it_is_left_alone(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	see(&x, SCHED_CLUSTER_QUEUES, "team", false, KUEUE_FINALIZER);
	see(&x, SCHED_FLAVORS, "default", true, NULL);
	see(&x, SCHED_COHORTS, "all", false, NULL);
	see(&x, SCHED_FLAVORS, "gone", false, NULL);
	finalizers_seen(x.f, SCHED_FLAVORS, STR_LIT("gone"), NULL);
	run(&x);
	fake_transport_expect_none(x.transport);
	end(&x);
}

static void a_queue_stays_while_quota_of_it_is_held(void **state)
{
	struct fixture x;
	struct workload *one;

	(void)state;
	begin(&x);
	see(&x, SCHED_CLUSTER_QUEUES, "team", true, KUEUE_FINALIZER);
	see(&x, SCHED_FLAVORS, "default", true, KUEUE_FINALIZER);
	see(&x, SCHED_FLAVORS, "unused", true, KUEUE_FINALIZER);
	run(&x);
	expect(&x, API "resourceflavors/unused",
	       "[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"u-1\"},"
	       "{\"op\":\"test\",\"path\":\"/metadata/finalizers/1\",\"value\":"
	       "\"kueue.x-k8s.io/resource-in-use\"},"
	       "{\"op\":\"remove\",\"path\":\"/metadata/finalizers/1\"}]");
	fake_transport_expect_none(x.transport);
	one = quota_workload_find(x.q.w.q, STR_LIT("ns/one"));
	forest_release(x.q.w.f, one);
	run(&x);
	fake_transport_answer(x.transport,
			      fake_transport_expect(x.transport, API "clusterqueues/team"), 200,
			      "{}");
	fake_transport_expect_none(x.transport);
	/* The queue is gone, and with it what named the flavor. */
	finalizers_seen(x.f, SCHED_CLUSTER_QUEUES, STR_LIT("team"), NULL);
	quota_node_clear(quota_queue_find(x.q.w.q, STR_LIT("team")));
	run(&x);
	(void)fake_transport_expect(x.transport, API "resourceflavors/default");
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_gets_it_once),
		cmocka_unit_test(whoever_has_it_is_left_alone),
		cmocka_unit_test(a_queue_stays_while_quota_of_it_is_held),
	};

	return cmocka_run_group_tests_name("workloads/writes/finalizers", tests, NULL, NULL);
}
