#include "webhook/server/lookups.h"

#include "lib/unit.h"

#include <pthread.h>
#include <stdio.h>

#include "base/attrs.h"
#include "base/err.h"
#include "lib/net/fake_transport.h"
#include "obs/metric.h"

#define PATH "GET /apis/scheduling.volcano.sh/v1beta1/queues/"

struct set {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct metric_registry *registry;
	struct lookups *lookups;
	unsigned found;
};

static void on_found(void *ctx, struct str object)
{
	struct set *s = ctx;

	assert_true(str_eq_c(object, "{\"q\":1}"));
	s->found++;
}

static void begin(struct set *s)
{
	*s = (struct set){ 0 };
	clock_fake_init(&s->clock, 1000 * CLOCK_NS_PER_S);
	s->transport = fake_transport_create(&s->clock);
	s->registry = metric_registry_create();
	s->lookups = lookups_create(
		&(struct lookups_options){ .transport = fake_transport_base(s->transport),
					   .clock = &s->clock.base,
					   .registry = s->registry,
					   .on_found = on_found,
					   .ctx = s });
}

static void end(struct set *s)
{
	fake_transport_destroy(s->transport);
	lookups_destroy(s->lookups);
	lookups_destroy(NULL);
	metric_registry_destroy(s->registry);
}

static double counted(struct set *s, const char *result)
{
	static const char *const labels[] = { "result", NULL };
	struct metric_family *f = metric_register(
		s->registry, "headgate_webhook_queue_lookups_total", "", METRIC_COUNTER, labels);

	return metric_cell_get(metric_cell(f, &result));
}

static uint64_t ask(struct set *s, const char *name)
{
	return lookups_ask(s->lookups, name, NULL);
}

static void test_one_read_for_all_that_ask(void **state UNUSED)
{
	struct set s;
	uint64_t a, b, call;

	begin(&s);
	a = ask(&s, "a");
	assert_true(a != 0);
	assert_int_equal(ask(&s, "a"), a);
	b = ask(&s, "b");
	assert_true(b != 0 && b != a);
	call = fake_transport_expect(s.transport, PATH "a");
	assert_true(fake_transport_request(s.transport, call)->timeout_ns == LOOKUPS_DEADLINE_NS);
	fake_transport_expect(s.transport, PATH "b");
	fake_transport_expect_none(s.transport);
	fake_transport_answer(s.transport, call, 200, "{\"q\":1}");
	assert_int_equal(s.found, 1);
	assert_true(counted(&s, "found") == 1);
	end(&s);
	assert_int_equal(s.found, 1);
}

static void test_answers_are_remembered_for_a_while(void **state UNUSED)
{
	struct set s;

	begin(&s);
	for (int i = 0; i < 3; i++) {
		uint64_t call;

		assert_true(ask(&s, "a") != 0);
		call = fake_transport_expect(s.transport, PATH "a");
		if (i == 0) {
			fake_transport_answer(s.transport, call, 404, "{}");
		} else if (i == 1) {
			fake_transport_fail(s.transport, call, ERR_TIMEOUT, true);
		} else {
			fake_transport_answer(s.transport, call, 200, "{\"q\":1}");
		}
		assert_int_equal(ask(&s, "a"), 0);
		fake_transport_advance(s.transport, LOOKUPS_REMEMBER_NS - 1);
		assert_int_equal(ask(&s, "a"), 0);
		fake_transport_expect_none(s.transport);
		fake_transport_advance(s.transport, 1);
	}
	assert_true(counted(&s, "absent") == 1);
	assert_true(counted(&s, "failed") == 1);
	assert_true(counted(&s, "found") == 1);
	assert_true(counted(&s, "limited") == 0);
	end(&s);
}

static void test_in_flight_is_capped(void **state UNUSED)
{
	char name[16];
	uint64_t first = 0;
	struct set s;

	begin(&s);
	for (unsigned i = 0; i < LOOKUPS_IN_FLIGHT; i++) {
		uint64_t call;

		snprintf(name, sizeof(name), "q%u", i);
		assert_true(ask(&s, name) != 0);
		call = fake_transport_expect_prefix(s.transport, PATH);
		first = i == 0 ? call : first;
	}
	assert_int_equal(ask(&s, "more"), 0);
	assert_true(counted(&s, "limited") == 1);
	assert_true(ask(&s, "q0") != 0); /* joins */
	fake_transport_expect_none(s.transport);
	fake_transport_answer(s.transport, first, 404, "{}");
	assert_true(ask(&s, "more") != 0);
	end(&s);
}

static void test_table_is_bounded(void **state UNUSED)
{
	char name[16];
	struct set s;

	begin(&s);
	for (unsigned i = 0; i < LOOKUPS_SLOTS + 1; i++) {
		snprintf(name, sizeof(name), "q%u", i);
		assert_true(ask(&s, name) != 0);
		fake_transport_advance(s.transport, 1);
		fake_transport_answer(s.transport, fake_transport_expect_prefix(s.transport, PATH),
				      404, "{}");
	}
	/* The oldest answer made room, the second is remembered. */
	assert_int_equal(ask(&s, "q1"), 0);
	assert_true(ask(&s, "q0") != 0);
	end(&s);
}

static void test_names_that_no_queue_has(void **state UNUSED)
{
	static char long_name[300];
	static const char *const names[] = { "", "A", "a/b", "../pods", "a b", "\n", long_name };
	struct set s;

	memset(long_name, 'a', sizeof(long_name) - 1);
	begin(&s);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		unit_row_number(i);
		assert_int_equal(ask(&s, names[i]), 0);
	}
	fake_transport_expect_none(s.transport);
	end(&s);
}

static void *stop(void *arg)
{
	struct set *s = arg;

	lookups_stop(s->lookups);
	return NULL;
}

static void test_stop_waits_for_what_is_in_flight(void **state UNUSED)
{
	pthread_t thread;
	struct set s;

	begin(&s);
	assert_true(ask(&s, "a") != 0);
	assert_int_equal(pthread_create(&thread, NULL, stop, &s), 0);
	fake_transport_answer(s.transport, fake_transport_expect(s.transport, PATH "a"), 404, "{}");
	pthread_join(thread, NULL);
	assert_int_equal(ask(&s, "b"), 0);
	fake_transport_expect_none(s.transport);
	end(&s);
}

/* The transport goes away first. */
static void test_end_while_in_flight(void **state UNUSED)
{
	struct set s;

	begin(&s);
	assert_true(ask(&s, "a") != 0);
	end(&s);
	assert_int_equal(s.found, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_read_for_all_that_ask),
		cmocka_unit_test(test_answers_are_remembered_for_a_while),
		cmocka_unit_test(test_in_flight_is_capped),
		cmocka_unit_test(test_table_is_bounded),
		cmocka_unit_test(test_names_that_no_queue_has),
		cmocka_unit_test(test_stop_waits_for_what_is_in_flight),
		cmocka_unit_test(test_end_while_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
