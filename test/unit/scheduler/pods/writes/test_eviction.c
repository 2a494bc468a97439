#include "scheduler/pods/writes/eviction.h"

#include "base/attrs.h"
#include "kube/pool.h"
#include "lib/net/write_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/model.h"

#define DELETE "DELETE /api/v1/namespaces/ns/pods/p"
#define STATUS "PATCH /api/v1/namespaces/ns/pods/p/status"
#define EVICT "POST /api/v1/namespaces/ns/pods/p/eviction"

static void begin(struct write_fixture *f, const struct eviction_options *opt)
{
	write_fixture_init(f);
	write_fixture_pool(f, &pod_write_pool_ops, &f->target);
	pool_add(f->pool, STR_LIT("ns/p"), eviction_new(write_fixture_task(), opt));
}

static void begin_deletion(struct write_fixture *f)
{
	const struct eviction_options opt = { .by_api = false };

	begin(f, &opt);
}

static void begin_eviction(struct write_fixture *f)
{
	const struct eviction_options opt = { .by_api = true, .victim_text = "for another" };

	begin(f, &opt);
}

static void test_delete_has_a_uid_precondition(void **state)
{
	struct write_fixture f;
	uint64_t id;

	(void)state;
	begin_deletion(&f);
	id = write_fixture_expect(&f, DELETE);
	assert_true(str_eq_c(fake_transport_body(f.transport, id),
			     "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{"
			     "\"uid\":\"u-1\"}}"));
	fake_transport_answer(f.transport, id, 200, "{}");
	write_fixture_outcome(&f, SCHED_DONE);
	write_fixture_finish(&f);
}

/* A pod without a node may have got one since: the API server refuses then. */
static void test_without_a_node_it_must_be_unchanged(void **state)
{
	struct write_fixture f;
	struct task t = *write_fixture_task();
	uint64_t id;

	(void)state;
	t.node = MODEL_NONE;
	t.resource_version = 7;
	write_fixture_init(&f);
	write_fixture_pool(&f, &pod_write_pool_ops, &f.target);
	pool_add(f.pool, STR_LIT("ns/p"),
		 eviction_new(&t, &(struct eviction_options){ .victim_text = NULL }));
	id = write_fixture_expect(&f, DELETE);
	assert_true(str_eq_c(fake_transport_body(f.transport, id),
			     "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{"
			     "\"uid\":\"u-1\",\"resourceVersion\":\"7\"}}"));
	fake_transport_answer(f.transport, id, 409, "{}");
	fake_transport_answer(f.transport,
			      write_fixture_expect(&f, "GET /api/v1/namespaces/ns/pods/p"), 200,
			      "{\"metadata\":{\"uid\":\"u-1\"},\"spec\":{\"nodeName\":\"n\"}}");
	write_fixture_outcome(&f, SCHED_STALE);
	write_fixture_finish(&f);
}

static void test_a_victim_that_is_gone_already_is_fine(void **state)
{
	struct write_fixture f;

	(void)state;
	begin_deletion(&f);
	fake_transport_answer(f.transport, write_fixture_expect(&f, DELETE), 404, "{}");
	write_fixture_outcome(&f, SCHED_DONE);
	write_fixture_finish(&f);
}

/* Whatever becomes of the condition, the pod is deleted. */
static void test_a_victim_gets_its_condition_first(void **state)
{
	static const int answers[] = { 200, 500, 403, 429 };
	const struct eviction_options opt = { .victim_text = "for another",
					      .now = 60 * CLOCK_NS_PER_S };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct write_fixture f;
		uint64_t id;

		begin(&f, &opt);
		id = write_fixture_expect(&f, STATUS);
		assert_true(str_eq_c(fake_transport_body(f.transport, id),
				     "{\"metadata\":{\"uid\":\"u-1\"},\"status\":{\"conditions\":[{"
				     "\"lastTransitionTime\":\"1970-01-01T00:01:00Z\",\"message\":"
				     "\"for another\",\"reason\":\"PreemptionByScheduler\","
				     "\"status\":\"True\",\"type\":\"DisruptionTarget\"}]}}"));
		fake_transport_answer(f.transport, id, answers[i], "{}");
		write_fixture_no_outcome(&f);
		fake_transport_answer(f.transport, write_fixture_expect(&f, DELETE), 200, "{}");
		write_fixture_outcome(&f, SCHED_DONE);
		write_fixture_finish(&f);
	}
}

static void test_the_condition_of_a_pod_that_is_gone(void **state)
{
	const struct eviction_options opt = { .victim_text = "for another" };
	struct write_fixture f;

	(void)state;
	begin(&f, &opt);
	fake_transport_answer(f.transport, write_fixture_expect(&f, STATUS), 404, "{}");
	write_fixture_outcome(&f, SCHED_DONE);
	write_fixture_finish(&f);
}

static void test_the_eviction_api(void **state)
{
	struct write_fixture f;
	uint64_t id;

	(void)state;
	begin_eviction(&f);
	id = write_fixture_expect(&f, EVICT);
	assert_true(str_eq_c(fake_transport_body(f.transport, id),
			     "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{"
			     "\"namespace\":\"ns\",\"name\":\"p\"},\"deleteOptions\":{"
			     "\"preconditions\":{\"uid\":\"u-1\"}}}"));
	fake_transport_answer(f.transport, id, 201, "{}");
	write_fixture_outcome(&f, SCHED_DONE);
	write_fixture_finish(&f);
}

/* The budget says no: another victim is to be found. Any other answer leads to another attempt.
 */
static void test_what_a_budget_says_is_final(void **state)
{
	static const struct {
		int status;
		bool final;
		const char *body, *text;
	} rows[] = {
		{ 429, true,
		  "{\"message\":\"Cannot evict.\",\"details\":{\"causes\":[{\"reason\":\"Other\"},{"
		  "\"reason\":\"DisruptionBudget\",\"message\":\"b needs 3\"}]}}",
		  "Cannot evict. b needs 3" },
		{ 429, true, "{\"details\":{\"causes\":[{\"reason\":\"DisruptionBudget\"}]}}",
		  " " },
		{ 429, false, "{\"message\":\"too many requests\"}", NULL },
		{ 429, false, "no JSON", NULL },
		{ 500, true,
		  "{\"message\":\"This pod has more than one PodDisruptionBudget, which\"}",
		  "This pod has more than one PodDisruptionBudget, which" },
		{ 500, false, "{\"message\":\"etcd\"}", NULL },
		{ 503, false, "{\"message\":\"more than one PodDisruptionBudget\"}", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct write_fixture f;

		unit_row(rows[i].body);
		begin_eviction(&f);
		fake_transport_answer(f.transport, write_fixture_expect(&f, EVICT), rows[i].status,
				      rows[i].body);
		if (rows[i].final) {
			write_fixture_outcome(&f, SCHED_REJECTED);
			assert_string_equal(f.last->text, rows[i].text);
			assert_int_equal(f.last->status, rows[i].status);
		} else {
			write_fixture_no_outcome(&f);
			write_fixture_later(&f);
			fake_transport_answer(f.transport, write_fixture_expect(&f, EVICT), 201,
					      "{}");
			write_fixture_outcome(&f, SCHED_DONE);
		}
		write_fixture_finish(&f);
	}
}

static void test_an_eviction_of_a_pod_that_terminates(void **state)
{
	struct write_fixture f;

	(void)state;
	begin_eviction(&f);
	fake_transport_answer(f.transport, write_fixture_expect(&f, EVICT), 409, "{}");
	fake_transport_answer(
		f.transport, write_fixture_expect(&f, "GET /api/v1/namespaces/ns/pods/p"), 200,
		"{\"metadata\":{\"uid\":\"u-1\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}");
	write_fixture_outcome(&f, SCHED_DONE);
	write_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delete_has_a_uid_precondition),
		cmocka_unit_test(test_without_a_node_it_must_be_unchanged),
		cmocka_unit_test(test_a_victim_that_is_gone_already_is_fine),
		cmocka_unit_test(test_a_victim_gets_its_condition_first),
		cmocka_unit_test(test_the_condition_of_a_pod_that_is_gone),
		cmocka_unit_test(test_the_eviction_api),
		cmocka_unit_test(test_what_a_budget_says_is_final),
		cmocka_unit_test(test_an_eviction_of_a_pod_that_terminates),
	};

	return cmocka_run_group_tests_name("pods/writes/eviction", tests, NULL, NULL);
}
