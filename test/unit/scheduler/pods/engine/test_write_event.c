#include "scheduler/pods/engine/write_event.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "enc/json/jdoc.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "lib/net/fake_transport.h"
#include "lib/pods/cluster_fixture.h"
#include "scheduler/base/message.h"
#include "scheduler/pods/model/cluster.h"

/* The event that is sent, as its fields: NULL, where there is none. */
static void assert_event(struct fake_transport *net, const char *type, const char *reason)
{
	struct jdoc *doc = NULL;
	uint64_t id;

	if (reason == NULL) {
		fake_transport_expect_none(net);
		return;
	}
	id = fake_transport_expect(net, "POST /api/v1/namespaces/ns/events");
	assert_int_equal(jdoc_parse(fake_transport_body(net, id), &doc, NULL), 0);
	assert_string_equal(jdoc_path_str(doc, "type"), type);
	assert_string_equal(jdoc_path_str(doc, "reason"), reason);
	assert_string_equal(jdoc_path_str(doc, "message"), "text");
	assert_string_equal(jdoc_path_str(doc, "involvedObject.name"), "p");
	jdoc_destroy(doc);
	fake_transport_expect_none(net);
}

static void which_outcomes_are_recorded(void **state)
{
	static const struct {
		enum sched_request request;
		enum sched_outcome outcome;
		const char *uid;           /* NULL: that of the pod */
		const char *type, *reason; /* NULL: no event */
	} cases[] = {
		{ SCHED_REQ_BIND, SCHED_DONE, NULL, "Normal", "Scheduled" },
		{ SCHED_REQ_BIND, SCHED_REJECTED, NULL, "Warning", "FailedBinding" },
		{ SCHED_REQ_UNGATE, SCHED_REJECTED, NULL, "Warning", "FailedGateRemoval" },
		{ SCHED_REQ_POD_STATUS, SCHED_REJECTED, NULL, "Warning", "FailedStatusUpdate" },
		{ SCHED_REQ_EVICT, SCHED_DONE, NULL, "Normal", "Evict" },
		{ SCHED_REQ_EVICT, SCHED_REJECTED, NULL, "Warning", "FailedEviction" },
		{ SCHED_REQ_UNGATE, SCHED_DONE, NULL, NULL, NULL },
		{ SCHED_REQ_POD_STATUS, SCHED_DONE, NULL, NULL, NULL },
		{ SCHED_REQ_BIND, SCHED_GONE, NULL, NULL, NULL },
		{ SCHED_REQ_EVICT, SCHED_GONE, NULL, NULL, NULL },
		{ SCHED_REQ_BIND, SCHED_DONE, "another", NULL, NULL },
		{ SCHED_REQ_EVICT, SCHED_REJECTED, "another", NULL, NULL },
		/* It was seen to be gone before the answer came. */
		{ SCHED_REQ_EVICT, SCHED_DONE, "another", "Normal", "Evict" },
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
		while (pool_step(recorder_pool(r))) {
		}
		assert_event(net, cases[i].type, cases[i].reason);
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
