#include "kube/recorder.h"

#include <stdio.h>

#include "lib/unit.h"

#include "api/meta/validate.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "kube/pool.h"
#include "lib/net/fake_transport.h"

#define S CLOCK_NS_PER_S
#define EVENTS "/api/v1/namespaces/n/events"

struct fixture {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct recorder *recorder;
};

static const struct recorder_object pod = {
	.api_version = "v1", .kind = "Pod", .namespace_ = "n", .name = "p", .uid = "u"
};

static void begin(struct fixture *f)
{
	struct pool_options opt = { .seed = 1 };

	clock_fake_init(&f->clock, INT64_C(1767323045) * S);
	f->transport = fake_transport_create(&f->clock);
	opt.transport = fake_transport_base(f->transport);
	opt.clock = &f->clock.base;
	f->recorder = recorder_create(&opt, "headgate-scheduler", "host-1");
}

static void end(struct fixture *f)
{
	recorder_destroy(f->recorder);
	fake_transport_destroy(f->transport);
}

static void step(struct fixture *f)
{
	while (pool_step(recorder_pool(f->recorder))) {
	}
}

static void event(struct fixture *f, const char *reason, const char *message)
{
	recorder_event(f->recorder, &pod, true, reason, message);
	step(f);
}

static struct jdoc *body_of(struct fixture *f, uint64_t id)
{
	struct jdoc *doc;

	assert_int_equal(jdoc_parse(fake_transport_body(f->transport, id), &doc, NULL), 0);
	return doc;
}

/* Answers the oldest request with status. */
static void answer(struct fixture *f, const char *prefix, int status)
{
	fake_transport_answer(f->transport, fake_transport_expect_prefix(f->transport, prefix),
			      status, "{}");
	step(f);
}

static void expect_count(struct fixture *f, uint64_t id, int64_t count)
{
	struct jdoc *doc = body_of(f, id);

	assert_int_equal(jdoc_int(jdoc_get(doc, "count"), -1), count);
	jdoc_destroy(doc);
}

static void test_shape(void **state)
{
	struct fixture f;
	struct jdoc *doc;
	const char *name;
	uint64_t id;
	(void)state;

	begin(&f);
	event(&f, "QueueFull", "no room in queue \"a\"");
	id = fake_transport_expect(f.transport, "POST " EVENTS);
	doc = body_of(&f, id);
	assert_string_equal(jdoc_path_str(doc, "kind"), "Event");
	name = jdoc_path_str(doc, "metadata.name");
	assert_int_equal(strncmp(name, "p.", 2), 0);
	assert_int_equal(strlen(name), 2 + 16);
	assert_string_equal(jdoc_path_str(doc, "metadata.namespace"), "n");
	assert_string_equal(jdoc_path_str(doc, "involvedObject.apiVersion"), "v1");
	assert_string_equal(jdoc_path_str(doc, "involvedObject.kind"), "Pod");
	assert_string_equal(jdoc_path_str(doc, "involvedObject.namespace"), "n");
	assert_string_equal(jdoc_path_str(doc, "involvedObject.name"), "p");
	assert_string_equal(jdoc_path_str(doc, "involvedObject.uid"), "u");
	assert_string_equal(jdoc_path_str(doc, "type"), "Warning");
	assert_string_equal(jdoc_path_str(doc, "reason"), "QueueFull");
	assert_string_equal(jdoc_path_str(doc, "message"), "no room in queue \"a\"");
	assert_string_equal(jdoc_path_str(doc, "source.component"), "headgate-scheduler");
	assert_string_equal(jdoc_path_str(doc, "reportingComponent"), "headgate-scheduler");
	assert_string_equal(jdoc_path_str(doc, "reportingInstance"), "host-1");
	assert_string_equal(jdoc_path_str(doc, "firstTimestamp"), "2026-01-02T03:04:05Z");
	assert_string_equal(jdoc_path_str(doc, "lastTimestamp"), "2026-01-02T03:04:05Z");
	assert_int_equal(jdoc_int(jdoc_get(doc, "count"), 0), 1);
	jdoc_destroy(doc);
	end(&f);
}

static void test_cluster_scoped(void **state)
{
	const struct recorder_object queue = { .kind = "Queue", .name = "q" };
	struct fixture f;
	struct jdoc *doc;
	(void)state;

	begin(&f);
	recorder_event(f.recorder, &queue, false, "Closed", "closed");
	step(&f);
	doc = body_of(&f,
		      fake_transport_expect(f.transport, "POST /api/v1/namespaces/default/events"));
	assert_null(jdoc_path(doc, "involvedObject.namespace"));
	assert_null(jdoc_path(doc, "involvedObject.uid"));
	assert_string_equal(jdoc_path_str(doc, "type"), "Normal");
	jdoc_destroy(doc);
	end(&f);
}

static void test_repeats_are_counted_and_spread(void **state)
{
	struct fixture f;
	struct jdoc *doc;
	uint64_t id;
	(void)state;

	begin(&f);
	event(&f, "R", "m");
	answer(&f, "POST " EVENTS, 201);
	for (int i = 0; i < 59; i++) {
		clock_fake_advance(&f.clock, S);
		event(&f, "R", "m");
	}
	fake_transport_expect_none(f.transport);
	clock_fake_advance(&f.clock, S);
	event(&f, "R", "m");
	id = fake_transport_expect_prefix(f.transport, "PATCH " EVENTS "/p.");
	assert_string_equal(fake_transport_request(f.transport, id)->content_type,
			    "application/merge-patch+json");
	doc = body_of(&f, id);
	assert_int_equal(jdoc_count(doc), 2);
	assert_int_equal(jdoc_int(jdoc_get(doc, "count"), 0), 61);
	assert_string_equal(jdoc_path_str(doc, "lastTimestamp"), "2026-01-02T03:05:05Z");
	jdoc_destroy(doc);
	fake_transport_answer(f.transport, id, 200, "{}");
	/* The next interval is two minutes. */
	clock_fake_advance(&f.clock, 119 * S);
	event(&f, "R", "m");
	fake_transport_expect_none(f.transport);
	clock_fake_advance(&f.clock, S);
	event(&f, "R", "m");
	expect_count(&f, fake_transport_expect_prefix(f.transport, "PATCH " EVENTS), 63);
	end(&f);
}

static void test_interval_is_capped(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f);
	event(&f, "R", "m");
	answer(&f, "POST ", 201);
	for (int i = 0; i < 10; i++) {
		clock_fake_advance(&f.clock, 16 * 60 * S);
		event(&f, "R", "m");
		answer(&f, "PATCH ", 200);
	}
	end(&f);
}

static void test_different_events_do_not_merge(void **state)
{
	struct recorder_object other = pod;
	struct fixture f;
	(void)state;

	begin(&f);
	event(&f, "R", "m");
	event(&f, "R", "m2");
	event(&f, "R2", "m");
	other.uid = "u2";
	recorder_event(f.recorder, &other, true, "R", "m");
	step(&f);
	assert_int_equal(fake_transport_pending(f.transport), 4);
	end(&f);
}

static void test_an_expired_event_is_created_again(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f);
	event(&f, "R", "m");
	answer(&f, "POST ", 201);
	clock_fake_advance(&f.clock, 60 * S);
	event(&f, "R", "m");
	answer(&f, "PATCH ", 404);
	expect_count(&f, fake_transport_expect(f.transport, "POST " EVENTS), 2);
	end(&f);
}

static void test_lost_answer_of_a_create(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f);
	event(&f, "R", "m");
	fake_transport_fail(f.transport, fake_transport_expect_prefix(f.transport, "POST "),
			    ERR_TIMEOUT, true);
	clock_fake_advance(&f.clock, S);
	step(&f);
	answer(&f, "POST ", 409); /* it was there after all */
	clock_fake_advance(&f.clock, 60 * S);
	event(&f, "R", "m");
	fake_transport_expect_prefix(f.transport, "PATCH ");
	assert_int_equal(recorder_dropped(f.recorder), 0);
	end(&f);
}

static void test_gives_up(void **state)
{
	static const int refusals[] = { 403, 404, 422 };
	struct fixture f;
	(void)state;

	begin(&f);
	for (int i = 0; i < 3; i++) {
		char message[8];

		snprintf(message, sizeof(message), "%d", i);
		event(&f, "R", message);
		answer(&f, "POST ", refusals[i]);
		assert_int_equal(recorder_dropped(f.recorder), i + 1);
	}
	event(&f, "R", "unavailable");
	for (int i = 0; i < 10; i++) {
		answer(&f, "POST ", 500);
		clock_fake_advance(&f.clock, 60 * S);
		step(&f);
	}
	fake_transport_expect_none(f.transport);
	assert_int_equal(recorder_dropped(f.recorder), 4);
	end(&f);
}

static void test_hints_give_way(void **state)
{
	struct fixture f;
	char message[16];
	(void)state;

	begin(&f);
	for (int i = 0; i < RECORDER_MAX_HINTS + 5; i++) {
		snprintf(message, sizeof(message), "m%d", i);
		recorder_hint(f.recorder, &pod, "R", message);
	}
	assert_int_equal(pool_waiting(recorder_pool(f.recorder)), RECORDER_MAX_HINTS);
	assert_int_equal(recorder_dropped(f.recorder), 5);
	recorder_event(f.recorder, &pod, true, "R", "news");
	assert_int_equal(pool_waiting(recorder_pool(f.recorder)), RECORDER_MAX_HINTS + 1);
	end(&f);
}

/* However fast they are sent: a hint is a write, too. */
static void test_hints_have_a_rate(void **state)
{
	struct fixture f;
	char message[16];
	(void)state;

	begin(&f);
	for (int i = 0; i < RECORDER_MAX_HINTS + 1; i++) {
		snprintf(message, sizeof(message), "m%d", i);
		recorder_hint(f.recorder, &pod, "R", message);
		step(&f);
		if (i < RECORDER_MAX_HINTS) {
			answer(&f, "POST ", 201);
		}
	}
	assert_int_equal(recorder_dropped(f.recorder), 1);
	clock_fake_advance(&f.clock, S);
	for (int i = 0; i < RECORDER_HINTS_PER_S + 1; i++) {
		snprintf(message, sizeof(message), "n%d", i);
		recorder_hint(f.recorder, &pod, "R", message);
	}
	assert_int_equal(recorder_dropped(f.recorder), 2);
	clock_fake_advance(&f.clock, 3600 * S);
	assert_int_equal(pool_waiting(recorder_pool(f.recorder)), RECORDER_HINTS_PER_S);
	end(&f);
}

static void test_pressure_drops_the_oldest(void **state)
{
	struct fixture f;
	char message[16];
	struct jdoc *doc;
	(void)state;

	begin(&f);
	for (int i = 0; i < RECORDER_MAX_WAITING + 1; i++) {
		snprintf(message, sizeof(message), "m%d", i);
		recorder_event(f.recorder, &pod, true, "R", message);
		assert_int_equal(recorder_dropped(f.recorder), i == RECORDER_MAX_WAITING ? 1 : 0);
	}
	assert_int_equal(pool_waiting(recorder_pool(f.recorder)), RECORDER_MAX_WAITING);
	step(&f);
	doc = body_of(&f, fake_transport_expect_prefix(f.transport, "POST "));
	assert_string_equal(jdoc_path_str(doc, "message"), "m1");
	jdoc_destroy(doc);
	end(&f);
}

static void test_memory_is_bounded(void **state)
{
	struct fixture f;
	char message[16];
	(void)state;

	begin(&f);
	event(&f, "R", "first");
	answer(&f, "POST ", 201);
	for (int i = 1; i <= RECORDER_MAX_KNOWN; i++) {
		snprintf(message, sizeof(message), "m%d", i);
		event(&f, "R", message);
		answer(&f, "POST ", 201);
	}
	/* The oldest is forgotten, and so created again; the newest is not. */
	event(&f, "R", message);
	fake_transport_expect_none(f.transport);
	event(&f, "R", "first");
	expect_count(&f, fake_transport_expect_prefix(f.transport, "POST "), 1);
	end(&f);
}

static void test_long_texts_are_cut(void **state)
{
	char message[RECORDER_MAX_MESSAGE + 10], name[300];
	struct recorder_object o = pod;
	struct fixture f;
	struct jdoc *doc;
	(void)state;

	memset(message, 'x', sizeof(message));
	message[sizeof(message) - 1] = '\0';
	/* a character of two bytes across the limit */
	message[RECORDER_MAX_MESSAGE - 1] = '\xc3';
	message[RECORDER_MAX_MESSAGE] = '\xa4';
	memset(name, 'n', sizeof(name));
	name[253] = '\0';
	o.name = name;
	begin(&f);
	recorder_event(f.recorder, &o, true, "R", message);
	step(&f);
	doc = body_of(&f, fake_transport_expect_prefix(f.transport, "POST "));
	assert_int_equal(strlen(jdoc_path_str(doc, "message")), RECORDER_MAX_MESSAGE - 1);
	assert_int_equal(strlen(jdoc_path_str(doc, "metadata.name")), 253);
	assert_int_equal(strlen(jdoc_path_str(doc, "involvedObject.name")), 253);
	jdoc_destroy(doc);
	end(&f);
	recorder_destroy(NULL);
}

/* Of a long name only the beginning is in the name of the event, which must be a valid one. */
static void test_names_are_valid_when_cut(void **state)
{
	static const char last[] = "-.n";
	(void)state;

	for (size_t i = 0; i < sizeof(last) - 1; i++) {
		struct recorder_object o = pod;
		struct fixture f;
		struct jdoc *doc;
		char name[254];

		memset(name, 'n', sizeof(name));
		name[253] = '\0';
		name[235] = last[i]; /* the last byte before the cut */
		o.name = name;
		begin(&f);
		recorder_event(f.recorder, &o, true, "R", "m");
		step(&f);
		doc = body_of(&f, fake_transport_expect_prefix(f.transport, "POST "));
		assert_true(validate_is_dns_subdomain(str_of(jdoc_path_str(doc, "metadata.name"))));
		jdoc_destroy(doc);
		end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shape),
		cmocka_unit_test(test_cluster_scoped),
		cmocka_unit_test(test_repeats_are_counted_and_spread),
		cmocka_unit_test(test_interval_is_capped),
		cmocka_unit_test(test_different_events_do_not_merge),
		cmocka_unit_test(test_an_expired_event_is_created_again),
		cmocka_unit_test(test_lost_answer_of_a_create),
		cmocka_unit_test(test_gives_up),
		cmocka_unit_test(test_hints_give_way),
		cmocka_unit_test(test_hints_have_a_rate),
		cmocka_unit_test(test_pressure_drops_the_oldest),
		cmocka_unit_test(test_memory_is_bounded),
		cmocka_unit_test(test_long_texts_are_cut),
		cmocka_unit_test(test_names_are_valid_when_cut),
	};

	return cmocka_run_group_tests_name("recorder", tests, NULL, NULL);
}
