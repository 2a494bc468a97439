#include "scheduler/workloads/engine/pending_events.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "lib/net/fake_transport.h"
#include "lib/unit.h"
#include "scheduler/workloads/model/quota_store.h"

struct fixture {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct recorder *recorder;
	struct quota_model *q;
	struct pending_events *events;
	struct workload *one, *two;
};

static struct workload *add(struct fixture *f, const char *key, const char *uid)
{
	struct workload *w = quota_workload_add(f->q, str_of(key));

	w->object.uid = quota_name(f->q, str_of(uid));
	return w;
}

static void begin(struct fixture *f)
{
	struct pool_options base = { .timeout_ns = CLOCK_NS_PER_S };

	clock_fake_init(&f->clock, CLOCK_NS_PER_S);
	f->transport = fake_transport_create(&f->clock);
	base.transport = fake_transport_base(f->transport);
	base.clock = &f->clock.base;
	f->recorder = recorder_create(&base, "test", "test");
	f->q = quota_create();
	f->events = pending_events_create(f->recorder);
	f->one = add(f, "a/one", "1");
	f->two = add(f, "b/two", "2");
}

static void end(struct fixture *f)
{
	pending_events_destroy(f->events);
	quota_destroy(f->q);
	recorder_destroy(f->recorder);
	fake_transport_destroy(f->transport);
}

static void put(struct fixture *f, const struct workload *written, const struct workload *about,
		const char *reason)
{
	struct workload_status_event e = { .workload = about->id,
					   .reason = reason,
					   .message = "m" };
	struct workload_status_events list = { &e, 1, 1 };

	pending_events_add(f->events, f->q, written, &list);
}

static void assert_recorded(struct fixture *f, const char *space, const char *reason)
{
	char line[64];
	uint64_t id;

	while (pool_step(recorder_pool(f->recorder))) {
	}
	snprintf(line, sizeof(line), "POST /api/v1/namespaces/%s/events", space);
	id = fake_transport_expect(f->transport, line);
	assert_non_null(strstr(fake_transport_body(f->transport, id).p, reason));
	fake_transport_answer(f->transport, id, 201, "{}");
}

static void assert_none(struct fixture *f)
{
	while (pool_step(recorder_pool(f->recorder))) {
	}
	fake_transport_expect_none(f->transport);
}

static void in_order_when_written(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	put(&f, f.one, f.one, "First");
	put(&f, f.two, f.two, "Other");
	put(&f, f.one, f.two, "AboutTwo");
	assert_none(&f);
	pending_events_settle(f.events, str_of("a/one"), true);
	assert_recorded(&f, "a", "First");
	assert_recorded(&f, "b", "AboutTwo");
	assert_none(&f);
	pending_events_settle(f.events, str_of("a/one"), true);
	assert_none(&f);
	pending_events_settle(f.events, str_of("b/two"), true);
	assert_recorded(&f, "b", "Other");
	end(&f);
}

static void never_when_not_written(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	put(&f, f.one, f.one, "First");
	pending_events_settle(f.events, str_of("a/one"), false);
	pending_events_settle(f.events, str_of("a/one"), true);
	assert_none(&f);
	put(&f, f.one, f.one, "Second");
	pending_events_settle(f.events, str_of("a/one"), true);
	assert_recorded(&f, "a", "Second");
	put(&f, f.two, f.two, "Left");
	end(&f);
}

static void a_refusal_is_recorded_at_once(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	pending_events_refused(f.events, f.one, "spec.x: no");
	assert_recorded(&f, "a", "WorkloadWriteRefused");
	assert_none(&f);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order_when_written),
		cmocka_unit_test(never_when_not_written),
		cmocka_unit_test(a_refusal_is_recorded_at_once),
	};

	return cmocka_run_group_tests_name("workloads/engine/pending_events", tests, NULL, NULL);
}
