#include "scheduler/pods/engine/foreign.h"

#include <string.h>

#include "base/clock.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "lib/net/fake_transport.h"
#include "lib/unit.h"
#include "obs/metric.h"
#include "scheduler/pods/model/model.h"

#define NOW (INT64_C(1750000000) * CLOCK_NS_PER_S)

static double value_of(struct metric_registry *r, const char *name)
{
	return metric_cell_get(
		metric_cell(metric_register(r, name, "", METRIC_COUNTER, NULL), NULL));
}

static void expect_event(struct fake_transport *transport, struct recorder *recorder,
			 const char *reason, const char *name)
{
	uint64_t id;

	while (pool_step(recorder_pool(recorder))) {
	}
	id = fake_transport_expect_prefix(transport, "POST /api/v1/namespaces/ns/events");
	assert_non_null(strstr(fake_transport_body(transport, id).p, reason));
	assert_non_null(strstr(fake_transport_body(transport, id).p, name));
	assert_non_null(strstr(fake_transport_body(transport, id).p, "\"Warning\""));
	fake_transport_answer(transport, id, 201, "{}");
}

static void test_event_metric_and_text(void **state)
{
	static char name[] = "podgroup-u-1", uid[] = "u-2", pod[] = "p";
	const struct task t = { .namespace_ = "ns", .name = pod, .uid = "u-1" };
	const struct podgroup j = { .namespace_ = "ns", .name = name, .uid = uid };
	struct clock_fake clock;
	struct fake_transport *transport;
	struct metric_registry *counters = metric_registry_create();
	struct foreign *f = foreign_create(counters);
	struct recorder *recorder;
	char text[300] = "as it was";

	(void)state;
	clock_fake_init(&clock, NOW);
	transport = fake_transport_create(&clock);
	recorder =
		recorder_create(&(struct pool_options){ .transport = fake_transport_base(transport),
							.clock = &clock.base,
							.timeout_ns = CLOCK_NS_PER_S },
				"volcano", "volcano");
	assert_false(foreign_describe(f, text, sizeof(text)));
	assert_string_equal(text, "as it was");
	assert_true(value_of(counters, "headgate_foreign_binds_total") == 0);
	foreign_bind(f, recorder, &t, "node-7", NOW);
	expect_event(transport, recorder, "ForeignBind", "node-7");
	assert_true(foreign_describe(f, text, sizeof(text)));
	assert_string_equal(text,
			    "at 2025-06-15T15:06:40Z pod ns/p was bound to node node-7, and not by "
			    "Headgate (1 foreign binds, 0 foreign PodGroups in all)");
	foreign_podgroup(f, recorder, &j, NOW + 5 * CLOCK_NS_PER_S);
	expect_event(transport, recorder, "ForeignPodGroup", "podgroup-u-1");
	assert_true(foreign_describe(f, text, sizeof(text)));
	assert_string_equal(text,
			    "at 2025-06-15T15:06:45Z PodGroup ns/podgroup-u-1 was made, and not by "
			    "Headgate (1 foreign binds, 1 foreign PodGroups in all)");
	assert_true(value_of(counters, "headgate_foreign_binds_total") == 1);
	assert_true(value_of(counters, "headgate_foreign_podgroups_total") == 1);
	recorder_destroy(recorder);
	fake_transport_destroy(transport);
	foreign_destroy(f);
	foreign_destroy(NULL);
	metric_registry_destroy(counters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_metric_and_text),
	};

	return cmocka_run_group_tests_name("pods/engine/foreign", tests, NULL, NULL);
}
