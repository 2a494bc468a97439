/* A worker cluster answers, late, too much, nothing or not at all. The Workload ns/p waits in
 * ClusterQueue team of 4 cpu for the victim ns/v. */
#include "scheduler/multikueue/worker/survey.h"

#include <pthread.h>
#include <string.h>

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "lib/net/fake_transport.h"
#include "scheduler/workloads/conf/kueue_conf.h"

#define BEGAN (INT64_C(1700000000) * CLOCK_NS_PER_S)
#define KUEUE "/apis/kueue.x-k8s.io/v1beta2/"
#define LIMIT "?limit=500"
#define LIST(next, items)                                                                          \
	"{\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"" next "\"},\"items\":[" items "]}"

#define WORKLOAD(name, priority, more)                                                             \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"ns\",\"uid\":\"u-" name              \
	"\",\"creationTimestamp\":\"2023-11-14T22:00:00Z\"},\"spec\":{\"queueName\":\"lq\","       \
	"\"priority\":" priority ",\"podSets\":[{\"name\":\"main\",\"count\":4,\"template\":{"     \
	"\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}"  \
	"]}}}]}" more "}"
#define CONDITION(type)                                                                            \
	"{\"type\":\"" type "\",\"status\":\"True\",\"reason\":\"r\",\"message\":\"\","            \
	"\"lastTransitionTime\":\"2023-11-14T21:59:00Z\"}"
#define ADMITTED                                                                                   \
	",\"status\":{\"conditions\":[" CONDITION("QuotaReserved") "," CONDITION(                  \
		"Admitted") "],"                                                                   \
			    "\"admission\":{\"clusterQueue\":\"team\",\"podSetAssignments\":[{"    \
			    "\"name\":\"main\","                                                   \
			    "\"flavors\":{\"cpu\":\"default\"},\"resourceUsage\":{\"cpu\":\"4\"}," \
			    "\"count\":4}]}}"
#define V WORKLOAD("v", "0", ADMITTED)
#define P WORKLOAD("p", "10", "")
/* v: 4 pods that ran 60 s; 4 pods wait for 30 s. */
#define COST (4 * (60 + 60) + 4 * 30)

/* The lists in the order in which they are requested. */
static const struct {
	const char *path, *objects;
} lists[] = {
	{ "/api/v1/namespaces", "{\"metadata\":{\"name\":\"ns\"}}" },
	{ KUEUE "resourceflavors", "{\"metadata\":{\"name\":\"default\"},\"spec\":{}}" },
	{ KUEUE "clusterqueues",
	  "{\"metadata\":{\"name\":\"team\"},\"spec\":{\"namespaceSelector\":{},"
	  "\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"},"
	  "\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":"
	  "\"default\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"4\"}]}]}]}}" },
	{ KUEUE "cohorts", "" },
	{ KUEUE "localqueues",
	  "{\"metadata\":{\"name\":\"lq\",\"namespace\":\"ns\"},\"spec\":{\"clusterQueue\":"
	  "\"team\"}}" },
	{ KUEUE "admissionchecks", "" },
	{ "/api/v1/limitranges", "" },
	{ "/apis/node.k8s.io/v1/runtimeclasses", "" },
	{ KUEUE "topologies", "" },
};
#define N ARRAY_LEN(lists)

struct test {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct kueue_conf *conf;
	struct survey_options opt;
	struct survey *survey;
	struct survey_answer *answer;
	unsigned answers;
	bool destroys; /* in on_done */
	uint64_t ids[N];
};

static void on_done(void *ctx, struct survey_answer *answer)
{
	struct test *t = ctx;

	t->answer = answer;
	t->answers++;
	if (t->destroys) {
		survey_destroy(t->survey);
		t->survey = NULL;
	}
}

static void init(struct test *t)
{
	*t = (struct test){ .answers = 0 };
	clock_fake_init(&t->clock, BEGAN);
	t->transport = fake_transport_create(&t->clock);
	assert_int_equal(kueue_conf_read(NULL, NULL, NULL, &t->conf, NULL), 0);
	t->opt = (struct survey_options){ .transport = fake_transport_base(t->transport),
					  .clock = &t->clock.base,
					  .conf = t->conf,
					  .on_done = on_done,
					  .ctx = t };
}

static void start(struct test *t)
{
	static const struct survey_want want = { .key = "ns/p" };

	t->survey = survey_start(&t->opt, &want, 1);
}

static void finish(struct test *t)
{
	survey_destroy(t->survey);
	if (t->transport != NULL) {
		assert_int_equal(fake_transport_open(t->transport), 0);
		fake_transport_destroy(t->transport);
	}
	survey_answer_destroy(t->answer);
	kueue_conf_destroy(t->conf);
}

static void expect(struct test *t, const char *path, const char *query, uint64_t *ret_id)
{
	CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT;

	strbuf_printf(&line, "GET %s%s", path, query);
	*ret_id = fake_transport_expect(t->transport, line.p);
}

/* All lists but that of Workloads are requested at once. */
static void expect_all(struct test *t)
{
	assert_int_equal(fake_transport_run(t->transport), 1);
	for (size_t i = 0; i < N; i++) {
		expect(t, lists[i].path, LIMIT, &t->ids[i]);
	}
	fake_transport_expect_none(t->transport);
}

static void answer_list(struct test *t, size_t i)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	strbuf_printf(&body, LIST("", "%s"), lists[i].objects);
	fake_transport_answer(t->transport, t->ids[i], 200, body.p);
}

static uint64_t reach_workloads(struct test *t)
{
	uint64_t id;

	start(t);
	expect_all(t);
	for (size_t i = 0; i < N; i++) {
		fake_transport_expect_none(t->transport);
		answer_list(t, i);
	}
	expect(t, KUEUE "workloads", LIMIT, &id);
	return id;
}

static void expect_error(const struct test *t, enum err_code code, const char *text)
{
	assert_int_equal(t->answers, 1);
	assert_int_equal(t->answer->err.code, code);
	assert_string_equal(t->answer->err.text, text);
	assert_null(t->answer->prices);
	assert_int_equal(t->answer->n, 0);
	assert_null(t->answer->model);
}

static void expect_price(const struct test *t)
{
	assert_int_equal(t->answers, 1);
	assert_string_equal(t->answer->err.text, "");
	assert_int_equal(t->answer->err.code, ERR_NONE);
	assert_int_equal(t->answer->n, 1);
	assert_string_equal(t->answer->prices[0].key, "ns/p");
	assert_int_equal(t->answer->prices[0].price.verdict, PRICE_PREEMPTS);
	assert_int_equal(t->answer->prices[0].price.cost, COST);
}

static void test_a_price(void **state)
{
	struct test t;
	uint64_t id;

	(void)state;
	init(&t);
	id = reach_workloads(&t);
	fake_transport_answer(t.transport, id, 200, LIST("", V "," P));
	expect_price(&t);
	assert_int_equal(t.answer->objects, 6);
	assert_int_equal(t.answer->bad, 0);
	finish(&t);
}

static void test_pages(void **state)
{
	struct test t;
	uint64_t id;

	(void)state;
	init(&t);
	id = reach_workloads(&t);
	fake_transport_answer(t.transport, id, 200, LIST("a/b", V));
	expect(&t, KUEUE "workloads", LIMIT "&continue=a%2Fb", &id);
	assert_int_equal(t.answers, 0);
	fake_transport_answer(t.transport, id, 200, LIST("", P));
	expect_price(&t);
	finish(&t);
}

static void test_a_page_that_is_too_large(void **state)
{
	struct test t;
	uint64_t id;

	(void)state;
	init(&t);
	id = reach_workloads(&t);
	fake_transport_too_large(t.transport, id);
	expect(&t, KUEUE "workloads", "?limit=250", &id);
	fake_transport_answer(t.transport, id, 200, LIST("a", V));
	expect(&t, KUEUE "workloads", "?limit=500&continue=a", &id);
	fake_transport_answer(t.transport, id, 200, LIST("", P));
	expect_price(&t);
	finish(&t);
}

static void test_many_wants_and_promises(void **state)
{
	static const char *const promised[] = { "ns/v" };
	static const struct survey_want wants[] = { { .key = "ns/p" },
						    { .key = "ns/p", promised, 1 },
						    { .key = "ns/none" } };
	struct test t;
	struct price again;
	uint64_t id;

	(void)state;
	init(&t);
	t.survey = survey_start(&t.opt, wants, ARRAY_LEN(wants));
	expect_all(&t);
	for (size_t i = 0; i < N; i++) {
		answer_list(&t, N - 1 - i); /* in any order */
	}
	expect(&t, KUEUE "workloads", LIMIT, &id);
	fake_transport_answer(t.transport, id, 200, LIST("", P "," V));
	assert_int_equal(t.answer->n, ARRAY_LEN(wants));
	assert_int_equal(t.answer->prices[0].price.verdict, PRICE_PREEMPTS);
	assert_int_equal(t.answer->prices[1].price.verdict, PRICE_CANNOT);
	assert_string_equal(t.answer->prices[2].key, "ns/none");
	assert_int_equal(t.answer->prices[2].price.verdict, PRICE_UNKNOWN);
	/* Another promise later on: without another survey. */
	price_model_find(t.answer->model, STR_LIT("ns/p"), promised, 1, t.answer->arena, &again);
	assert_int_equal(again.verdict, PRICE_CANNOT);
	finish(&t);
}

/* Every right that is missing is named. */
static void test_missing_rights(void **state)
{
	struct test t;

	(void)state;
	init(&t);
	start(&t);
	expect_all(&t);
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(t.answers, 0);
		if (i == 0 || i == 3) {
			fake_transport_answer(t.transport, t.ids[i], 403, "{\"message\":\"no\"}");
		} else {
			answer_list(&t, i);
		}
	}
	expect_error(&t, ERR_FORBIDDEN, "may not list namespaces, cohorts.kueue.x-k8s.io");
	fake_transport_expect_none(t.transport);
	finish(&t);
}

static void test_no_right_to_list_workloads(void **state)
{
	struct test t;
	uint64_t id;

	(void)state;
	init(&t);
	id = reach_workloads(&t);
	fake_transport_answer(t.transport, id, 403, "{}");
	expect_error(&t, ERR_FORBIDDEN, "may not list workloads.kueue.x-k8s.io");
	finish(&t);
}

/* A Kueue without Cohorts and Topologies can be priced, one without ClusterQueues cannot. */
static void test_kinds_that_are_not_served(void **state)
{
	struct test t;
	uint64_t id;

	(void)state;
	init(&t);
	start(&t);
	expect_all(&t);
	for (size_t i = 0; i < N; i++) {
		if (lists[i].objects[0] == '\0') {
			fake_transport_answer(t.transport, t.ids[i], 404, "{}");
		} else {
			answer_list(&t, i);
		}
	}
	expect(&t, KUEUE "workloads", LIMIT, &id);
	fake_transport_answer(t.transport, id, 200, LIST("", V "," P));
	expect_price(&t);
	finish(&t);

	init(&t);
	start(&t);
	expect_all(&t);
	fake_transport_answer(t.transport, t.ids[2], 404, "{\"message\":\"no such page\"}");
	expect_error(&t, ERR_NOT_FOUND, "clusterqueues.kueue.x-k8s.io: no such page");
	finish(&t);
}

/* The others are cancelled, and nothing is waited for. */
static void test_failures(void **state)
{
	static const struct {
		int status;
		const char *body;
		enum err_code code;
		const char *text;
	} rows[] = {
		{ 500, "{\"message\":\"etcd\"}", ERR_UNAVAILABLE, "limitranges: etcd" },
		{ 429, "{}", ERR_UNAVAILABLE, "limitranges: HTTP status 429 Too Many Requests" },
		{ 410, "{}", ERR_GONE, "limitranges: HTTP status 410 Gone" },
		{ 200, "<html>", ERR_INVALID, "limitranges: list: not an object" },
		{ 200, LIST("", "{\"metadata\":{\"name\":\"a\"}} 7"), ERR_INVALID,
		  "limitranges: list: items[1]: broken JSON" },
		{ 200, LIST("\\q", ""), ERR_INVALID, "limitranges: metadata.continue: broken" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct test t;

		unit_row(rows[i].text);
		init(&t);
		start(&t);
		expect_all(&t);
		fake_transport_answer(t.transport, t.ids[6], rows[i].status, rows[i].body);
		expect_error(&t, rows[i].code, rows[i].text);
		finish(&t);
	}
}

static void test_deadline(void **state)
{
	struct test t;
	uint64_t id;

	(void)state;
	init(&t);
	t.opt.limit_ns = 3 * CLOCK_NS_PER_S;
	start(&t);
	expect_all(&t);
	assert_int_equal(fake_transport_request(t.transport, t.ids[0])->timeout_ns,
			 3 * CLOCK_NS_PER_S);
	clock_fake_advance(&t.clock, CLOCK_NS_PER_S);
	for (size_t i = 0; i < N; i++) {
		answer_list(&t, i);
	}
	expect(&t, KUEUE "workloads", LIMIT, &id);
	assert_int_equal(fake_transport_request(t.transport, id)->timeout_ns, 2 * CLOCK_NS_PER_S);
	/* A page in time, but not the list. */
	clock_fake_advance(&t.clock, 2 * CLOCK_NS_PER_S);
	fake_transport_answer(t.transport, id, 200, LIST("a", V));
	expect_error(&t, ERR_TIMEOUT, "workloads.kueue.x-k8s.io: the time is over");
	finish(&t);

	init(&t);
	start(&t);
	expect_all(&t);
	assert_int_equal(fake_transport_request(t.transport, t.ids[0])->timeout_ns,
			 SURVEY_LIMIT_NS);
	fake_transport_fail(t.transport, t.ids[1], ERR_TIMEOUT, true);
	expect_error(&t, ERR_TIMEOUT, "resourceflavors.kueue.x-k8s.io: Timeout");
	finish(&t);
}

/* At each limit, and one beyond. */
static void test_limits(void **state)
{
	static const size_t objects = 6;
	size_t bytes = strlen(LIST("", V "," P));
	struct test t;
	uint64_t id;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		bytes += strlen(LIST("", "")) + strlen(lists[i].objects);
	}
	for (size_t less = 0; less < 2; less++) {
		init(&t);
		t.opt.max_objects = objects - less;
		id = reach_workloads(&t);
		fake_transport_answer(t.transport, id, 200, LIST("", V "," P));
		if (less == 0) {
			expect_price(&t);
		} else {
			expect_error(&t, ERR_INVALID,
				     "workloads.kueue.x-k8s.io: there are more than 5 objects");
		}
		finish(&t);

		init(&t);
		t.opt.max_bytes = bytes - less;
		id = reach_workloads(&t);
		fake_transport_answer(t.transport, id, 200, LIST("", V "," P));
		if (less == 0) {
			expect_price(&t);
		} else {
			assert_int_equal(t.answer->err.code, ERR_INVALID);
		}
		finish(&t);
	}
}

static void test_objects_that_cannot_be_read(void **state)
{
	struct test t;
	uint64_t id;

	(void)state;
	init(&t);
	id = reach_workloads(&t);
	fake_transport_answer(t.transport, id, 200,
			      LIST("", V "," P ",{\"metadata\":{\"name\":\"odd\",\"namespace\":"
					 "\"ns\"},\"spec\":7},7,{\"metadata\":{}}"));
	expect_price(&t);
	assert_int_equal(t.answer->bad, 1);
	finish(&t);
}

/* --- its life ----------------------------------------------------------------------------------*/

static void test_destroyed_before_it_begins(void **state)
{
	struct test t;

	(void)state;
	init(&t);
	start(&t);
	survey_destroy(t.survey);
	t.survey = NULL;
	fake_transport_run(t.transport);
	fake_transport_expect_none(t.transport);
	assert_int_equal(t.answers, 0);
	finish(&t);
}

static void test_destroyed_in_flight(void **state)
{
	struct test t;

	(void)state;
	init(&t);
	start(&t);
	expect_all(&t);
	survey_destroy(t.survey);
	t.survey = NULL;
	/* The first answer ends the others. */
	answer_list(&t, 0);
	assert_int_equal(fake_transport_open(t.transport), 0);
	assert_int_equal(t.answers, 0);
	finish(&t);
}

static void test_destroyed_by_its_receiver(void **state)
{
	struct test t;
	uint64_t id;

	(void)state;
	init(&t);
	t.destroys = true;
	id = reach_workloads(&t);
	fake_transport_answer(t.transport, id, 200, LIST("", V "," P));
	expect_price(&t);
	finish(&t);

	init(&t);
	t.destroys = true;
	start(&t);
	expect_all(&t);
	fake_transport_answer(t.transport, t.ids[4], 500, "{}");
	assert_int_equal(t.answers, 1);
	finish(&t);
}

static void *destroy(void *survey)
{
	survey_destroy(survey);
	return NULL;
}

/* Whichever comes first: the answers or the end. */
static void test_destroyed_by_another_thread(void **state)
{
	(void)state;
	for (int round = 0; round < 50; round++) {
		struct test t;
		pthread_t thread;
		uint64_t id;

		init(&t);
		id = reach_workloads(&t);
		assert_int_equal(pthread_create(&thread, NULL, destroy, t.survey), 0);
		t.survey = NULL;
		fake_transport_answer(t.transport, id, 200, LIST("", V "," P));
		pthread_join(thread, NULL);
		if (t.answers > 0) {
			expect_price(&t);
		}
		finish(&t);
	}
}

static void test_the_transport_is_destroyed(void **state)
{
	struct test t;

	(void)state;
	init(&t);
	start(&t);
	fake_transport_destroy(t.transport);
	t.transport = NULL;
	expect_error(&t, ERR_CANCELLED, "the connection is closed");
	finish(&t);

	init(&t);
	start(&t);
	expect_all(&t);
	fake_transport_destroy(t.transport);
	t.transport = NULL;
	assert_int_equal(t.answers, 1);
	assert_int_equal(t.answer->err.code, ERR_CANCELLED);
	finish(&t);

	init(&t);
	start(&t);
	expect_all(&t);
	survey_destroy(t.survey);
	t.survey = NULL;
	fake_transport_destroy(t.transport);
	t.transport = NULL;
	assert_int_equal(t.answers, 0);
	finish(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_price),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_a_page_that_is_too_large),
		cmocka_unit_test(test_many_wants_and_promises),
		cmocka_unit_test(test_missing_rights),
		cmocka_unit_test(test_no_right_to_list_workloads),
		cmocka_unit_test(test_kinds_that_are_not_served),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_objects_that_cannot_be_read),
		cmocka_unit_test(test_destroyed_before_it_begins),
		cmocka_unit_test(test_destroyed_in_flight),
		cmocka_unit_test(test_destroyed_by_its_receiver),
		cmocka_unit_test(test_destroyed_by_another_thread),
		cmocka_unit_test(test_the_transport_is_destroyed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
