#include "scheduler/pods/engine/write_event.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "lib/net/fake_transport.h"
#include "lib/pods/cluster_fixture.h"
#include "scheduler/base/message.h"
#include "scheduler/pods/model/cluster.h"

static void which_outcomes_are_recorded(void **state)
{
	static const struct {
		enum sched_request request;
		enum sched_outcome outcome;
		const char *uid; /* NULL: that of the pod */
		bool recorded;
	} cases[] = {
		{ SCHED_REQ_BIND, SCHED_DONE, NULL, true },
		{ SCHED_REQ_BIND, SCHED_REJECTED, NULL, true },
		{ SCHED_REQ_EVICT, SCHED_DONE, NULL, true },
		{ SCHED_REQ_UNGATE, SCHED_DONE, NULL, false },
		{ SCHED_REQ_BIND, SCHED_GONE, NULL, false },
		{ SCHED_REQ_BIND, SCHED_DONE, "another", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct pool_options o = { .backoff_min_ns = CLOCK_NS_PER_MS,
					  .backoff_max_ns = CLOCK_NS_PER_S,
					  .timeout_ns = CLOCK_NS_PER_S };
		struct cluster *c = cluster_create();
		struct sched_msg m = { .request = cases[i].request,
				       .outcome = cases[i].outcome,
				       .text = "text" };
		struct fake_transport *net;
		struct clock_fake clock;
		struct recorder *r;
		const struct task *t;

		unit_row_number(i);
		clock_fake_init(&clock, 0);
		net = fake_transport_create(&clock);
		o.transport = fake_transport_base(net);
		o.clock = &clock.base;
		r = recorder_create(&o, "headgate", "here");
		(void)cluster_fixture_queue(c, "q", NULL, -1);
		t = cluster_fixture_task(c, "p", cluster_fixture_podgroup(c, "j", "q", 1), 1);
		m.key = STR_LIT("ns/p");
		m.uid = cases[i].uid == NULL ? t->uid : cases[i].uid;
		write_event_record(r, c, &m);
		assert_int_equal(pool_waiting(recorder_pool(r)), cases[i].recorded);
		recorder_destroy(r);
		fake_transport_destroy(net);
		cluster_destroy(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(which_outcomes_are_recorded) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
