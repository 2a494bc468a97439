/* Reviews that name a queue which the webhook does not know, over real sockets, with an API server
 * that the test answers for. The order of events is asserted, never their time. */
#include "lib/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "lib/net/fake_transport.h"
#include "lib/net/https_fixture.h"
#include "obs/metric.h"
#include "play/probe.h"
#include "webhook/server/lister.h"
#include "webhook/server/lookups.h"
#include "webhook/server/router.h"

#define QUEUES "/apis/scheduling.volcano.sh/v1beta1/queues"
#define GET_QUEUE "GET " QUEUES "/"
#define QUEUE(name, rv)                                                                            \
	"{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" rv "\"},"                    \
	"\"status\":{\"state\":\"Open\"}}"
#define LIST_OF(items) "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[" items "]}"
#define DELETED(object) "{\"type\":\"DELETED\",\"object\":" object "}\n"
#define REVIEW(queue)                                                                              \
	"{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{"       \
	"\"uid\":\"u\",\"operation\":\"CREATE\",\"namespace\":\"ns\",\"object\":{"                 \
	"\"metadata\":{\"name\":\"g\"},\"spec\":{\"queue\":\"" queue "\"}}}}"
#define WAITING 12

struct set {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct metric_registry *registry;
	struct lister *lister;
	struct router *router;
	struct https_fixture web;
	struct http_loop *client; /* does not try whether calls can share a connection */
	uint64_t stream;          /* the watch of queues */
};

/* The queue "known" at version 10; both streams are open. */
static void connect_lister(struct set *s)
{
	uint64_t call;

	lister_connect(s->lister, fake_transport_base(s->transport), &s->clock.base);
	fake_transport_run(s->transport);
	call = fake_transport_expect_prefix(s->transport, "GET " QUEUES "?limit=");
	fake_transport_answer(s->transport, call, 200, LIST_OF(QUEUE("known", "5")));
	call = fake_transport_expect_prefix(s->transport, "GET /api/v1/namespaces?limit=");
	fake_transport_answer(s->transport, call, 200, LIST_OF(""));
	s->stream = fake_transport_expect_prefix(s->transport, "GET " QUEUES "?watch=1");
	fake_transport_expect_prefix(s->transport, "GET /api/v1/namespaces?watch=1");
	assert_true(lister_is_synced(s->lister));
}

static void begin(struct set *s)
{
	struct router_options opt = { .admit = { .max_queue_depth = 5 } };

	*s = (struct set){ 0 };
	clock_fake_init(&s->clock, 1000 * CLOCK_NS_PER_S);
	s->transport = fake_transport_create(&s->clock);
	s->registry = metric_registry_create();
	s->lister = lister_create(s->registry);
	opt.lister = s->lister;
	opt.registry = s->registry;
	assert_int_equal(router_create(&opt, &s->router, NULL), 0);
	connect_lister(s);
	https_fixture_start(&s->web,
			    (struct http_server_options){
				    .threads = 2, .handler = router_handle, .ctx = s->router },
			    true);
	s->client = https_fixture_new_loop(&s->web, true);
}

static void end(struct set *s)
{
	http_server_stop(s->web.server, 0);
	http_loop_destroy(s->client);
	https_fixture_stop(&s->web);
	fake_transport_destroy(s->transport);
	router_destroy(s->router);
	lister_destroy(s->lister);
	metric_registry_destroy(s->registry);
}

static void post(struct set *s, struct https_call *c, const char *review)
{
	char url[100];

	snprintf(url, sizeof(url), "%s/podgroups/validate", s->web.base);
	https_fixture_submit_on(s->client, c, url,
				(struct http_call){ .method = HTTP_POST,
						    .content_type = "application/json",
						    .body = str_of(review) });
}

static bool is_done(struct https_call *c)
{
	bool done;

	pthread_mutex_lock(&c->lock);
	done = c->done;
	pthread_mutex_unlock(&c->lock);
	return done;
}

static void expect(struct https_call *c, bool allowed)
{
	https_fixture_wait(c);
	assert_int_equal(c->status, 200);
	strbuf_add_c(&c->body, "");
	assert_non_null(strstr(c->body.p, allowed ? "\"allowed\":true" : "\"allowed\":false"));
	https_fixture_finish(c);
}

/* Waits until the read of some queue was begun, and takes it. */
static uint64_t next_read(struct set *s)
{
	fake_transport_wait(s->transport, 1);
	return fake_transport_expect_prefix(s->transport, GET_QUEUE);
}

static void test_others_are_answered_while_reads_hang(void **state UNUSED)
{
	struct https_call waiting[WAITING], other;
	uint64_t reads[WAITING];
	struct set s;

	begin(&s);
	for (unsigned i = 0; i < WAITING; i++) {
		char review[400];

		snprintf(review, sizeof(review), REVIEW("new%u"), i);
		post(&s, &waiting[i], review);
	}
	/* More reviews wait than there are threads. */
	for (unsigned i = 0; i < WAITING; i++) {
		reads[i] = next_read(&s);
	}
	for (unsigned i = 0; i < 2 * WAITING; i++) {
		post(&s, &other, REVIEW("known"));
		expect(&other, true);
	}
	for (unsigned i = 0; i < WAITING; i++) {
		assert_false(is_done(&waiting[i]));
		assert_true(fake_transport_is_open(s.transport, reads[i]));
	}
	for (unsigned i = 0; i < WAITING; i++) {
		fake_transport_answer(s.transport, reads[i], 404, "{}");
	}
	for (unsigned i = 0; i < WAITING; i++) {
		expect(&waiting[i], false);
	}
	fake_transport_expect_none(s.transport);
	end(&s);
}

static void test_answer_lets_all_in_that_wait(void **state UNUSED)
{
	struct https_call waiting[WAITING], other;
	struct set s;
	uint64_t read;

	begin(&s);
	for (unsigned i = 0; i < WAITING; i++) {
		post(&s, &waiting[i], REVIEW("new"));
	}
	read = next_read(&s);
	post(&s, &other, REVIEW("known"));
	expect(&other, true);
	fake_transport_answer(s.transport, read, 200, QUEUE("new", "11"));
	for (unsigned i = 0; i < WAITING; i++) {
		expect(&waiting[i], true);
	}
	fake_transport_expect_none(s.transport); /* one read for all */
	post(&s, &other, REVIEW("new"));
	expect(&other, true);
	end(&s);
}

static void test_absent_and_failed_are_not_read_again_at_once(void **state UNUSED)
{
	struct https_call c;
	struct set s;

	begin(&s);
	post(&s, &c, REVIEW("typo"));
	fake_transport_answer(s.transport, next_read(&s), 404, "{}");
	expect(&c, false);
	post(&s, &c, REVIEW("late"));
	fake_transport_fail(s.transport, next_read(&s), ERR_TIMEOUT, true);
	expect(&c, false);
	post(&s, &c, REVIEW("typo"));
	expect(&c, false);
	post(&s, &c, REVIEW("late"));
	expect(&c, false);
	fake_transport_expect_none(s.transport);
	end(&s);
}

static void test_beyond_the_cap_nothing_waits(void **state UNUSED)
{
	struct https_call waiting[LOOKUPS_IN_FLIGHT], other;
	uint64_t reads[LOOKUPS_IN_FLIGHT];
	struct set s;

	begin(&s);
	for (unsigned i = 0; i < LOOKUPS_IN_FLIGHT; i++) {
		char review[400];

		snprintf(review, sizeof(review), REVIEW("new%u"), i);
		post(&s, &waiting[i], review);
		reads[i] = next_read(&s);
	}
	post(&s, &other, REVIEW("one-more"));
	expect(&other, false);
	fake_transport_expect_none(s.transport);
	for (unsigned i = 0; i < LOOKUPS_IN_FLIGHT; i++) {
		fake_transport_answer(s.transport, reads[i], 404, "{}");
		expect(&waiting[i], false);
	}
	end(&s);
}

/* The queue was there when it was read, and its deletion overtakes the answer. */
static void test_deleted_queue_does_not_come_back(void **state UNUSED)
{
	struct https_call c;
	struct set s;
	uint64_t read;

	begin(&s);
	post(&s, &c, REVIEW("gone"));
	read = next_read(&s);
	fake_transport_chunk(s.transport, s.stream, DELETED(QUEUE("gone", "12")));
	fake_transport_chunk(s.transport, s.stream, DELETED(QUEUE("known", "13")));
	fake_transport_answer(s.transport, read, 200, QUEUE("gone", "11"));
	expect(&c, false);
	end(&s);
}

/* The answer overtakes the deletion: the stream ends what the answer began. */
static void test_queue_that_was_read_is_deleted(void **state UNUSED)
{
	const struct admit_view *view;
	struct https_call c;
	struct set s;

	begin(&s);
	post(&s, &c, REVIEW("new"));
	fake_transport_answer(s.transport, next_read(&s), 200, QUEUE("new", "11"));
	expect(&c, true);
	fake_transport_chunk(s.transport, s.stream, DELETED(QUEUE("new", "12")));
	view = lister_view(s.lister);
	assert_null(admit_find_queue(view, "new"));
	lister_release(view);
	end(&s);
}

static void test_client_that_goes_away(void **state UNUSED)
{
	static const char head[] = "POST /podgroups/validate HTTP/1.1\r\nHost: x\r\n"
				   "Content-Type: application/json\r\nContent-Length: ";
	struct https_call other;
	struct set s;
	char text[1000];
	uint64_t read;
	int fd;

	begin(&s);
	fd = probe_connect(http_server_port(s.web.server));
	snprintf(text, sizeof(text), "%s%zu\r\n\r\n%s", head, strlen(REVIEW("new")), REVIEW("new"));
	assert_true(probe_send(fd, text, strlen(text)));
	read = next_read(&s);
	close(fd);
	while (http_server_in_flight(s.web.server) > 0) {
		/* Others are served until the server has noticed. */
		post(&s, &other, REVIEW("known"));
		expect(&other, true);
	}
	fake_transport_answer(s.transport, read, 404, "{}");
	post(&s, &other, REVIEW("new"));
	expect(&other, false);
	end(&s);
}

static void *stop_server(void *arg)
{
	struct set *s = arg;

	http_server_stop(s->web.server, 300000);
	lister_stop_lookups(s->lister);
	return NULL;
}

static void test_stop_answers_what_waits(void **state UNUSED)
{
	struct https_call c;
	pthread_t thread;
	struct set s;
	uint64_t read;

	begin(&s);
	post(&s, &c, REVIEW("new"));
	read = next_read(&s);
	assert_int_equal(pthread_create(&thread, NULL, stop_server, &s), 0);
	fake_transport_answer(s.transport, read, 200, QUEUE("new", "11"));
	expect(&c, true);
	pthread_join(thread, NULL);
	end(&s);
}

static void test_stop_cuts_what_waits_for_too_long(void **state UNUSED)
{
	struct https_call c;
	struct set s;
	uint64_t read;

	begin(&s);
	post(&s, &c, REVIEW("new"));
	read = next_read(&s);
	http_server_stop(s.web.server, 0);
	https_fixture_wait(&c);
	assert_int_equal(c.status, 0);
	https_fixture_finish(&c);
	/* The server is there until the read has ended. */
	fake_transport_answer(s.transport, read, 200, QUEUE("new", "11"));
	lister_stop_lookups(s.lister);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_others_are_answered_while_reads_hang),
		cmocka_unit_test(test_answer_lets_all_in_that_wait),
		cmocka_unit_test(test_absent_and_failed_are_not_read_again_at_once),
		cmocka_unit_test(test_beyond_the_cap_nothing_waits),
		cmocka_unit_test(test_deleted_queue_does_not_come_back),
		cmocka_unit_test(test_queue_that_was_read_is_deleted),
		cmocka_unit_test(test_client_that_goes_away),
		cmocka_unit_test(test_stop_answers_what_waits),
		cmocka_unit_test(test_stop_cuts_what_waits_for_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
