#include <stdio.h>
#include <string.h>

#include "scheduler/pods/writes/pod_write.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "kube/pool.h"
#include "lib/net/write_fixture.h"
#include "lib/unit.h"

/* A kind of write; the test chooses its verdict on failures. */
static enum pod_write_judgement judgement;

static void fill(const struct pod_write *w, struct http_call *call, struct strbuf *scratch)
{
	(void)w;
	strbuf_add_c(scratch, "/write");
	call->method = HTTP_POST;
	call->url = scratch->p;
}

static enum pod_write_judgement judge(const struct pod_write *w, const struct jdoc *pod)
{
	(void)w;
	(void)pod;
	return judgement;
}

static const struct pod_write_kind repeatable = { .request = SCHED_REQ_UNGATE,
						  .fill = fill,
						  .judge = judge };
static const struct pod_write_kind once = {
	.request = SCHED_REQ_BIND, .fill = fill, .judge = judge, .read_after_unknown = true
};

#define READ "GET /api/v1/namespaces/ns/pods/p"
#define OURS "{\"metadata\":{\"uid\":\"u-1\"}}"
#define OTHER "{\"metadata\":{\"uid\":\"u-2\"}}"

static void begin(struct write_fixture *f, const struct pod_write_kind *kind)
{
	write_fixture_init(f);
	write_fixture_pool(f, &pod_write_pool_ops, &f->target);
	pool_add(f->pool, STR_LIT("ns/p"), pod_write_new(kind, write_fixture_task()));
}

static void test_answers_that_end_at_once(void **state)
{
	static const struct {
		const char *name;
		int status;
		enum sched_outcome outcome;
	} rows[] = {
		{ "OK", 200, SCHED_DONE },
		{ "Created", 201, SCHED_DONE },
		{ "Not Found", 404, SCHED_GONE },
		{ "Forbidden", 403, SCHED_REJECTED },
		{ "Unsupported Media Type", 415, SCHED_REJECTED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct write_fixture f;

		unit_row(rows[i].name);
		begin(&f, &repeatable);
		fake_transport_answer(f.transport, write_fixture_expect(&f, "POST /write"),
				      rows[i].status, "{}");
		write_fixture_outcome(&f, rows[i].outcome);
		assert_string_equal(f.last->uid, "u-1");
		assert_true(str_eq_c(f.last->key, "ns/p"));
		write_fixture_finish(&f);
	}
}

static void test_the_version_of_the_answer_is_reported(void **state)
{
	struct write_fixture f;

	(void)state;
	begin(&f, &repeatable);
	fake_transport_answer(f.transport, write_fixture_expect(&f, "POST /write"), 200,
			      "{\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"41\"}}");
	write_fixture_outcome(&f, SCHED_DONE);
	assert_int_equal(f.last->resource_version, 41);
	write_fixture_finish(&f);
}

static void test_hole_11_passing_failures_are_sent_again(void **state)
{
	static const int statuses[] = { 500, 503, 429, 408, 401 };
	struct write_fixture f;

	(void)state;
	begin(&f, &repeatable);
	for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
		unit_row_number(i);
		fake_transport_answer(f.transport, write_fixture_expect(&f, "POST /write"),
				      statuses[i], "");
		write_fixture_no_outcome(&f);
		write_fixture_later(&f);
	}
	fake_transport_fail(f.transport, write_fixture_expect(&f, "POST /write"), ERR_TIMEOUT,
			    true);
	write_fixture_later(&f);
	fake_transport_answer(f.transport, write_fixture_expect(&f, "POST /write"), 200, "{}");
	write_fixture_outcome(&f, SCHED_DONE);
	write_fixture_finish(&f);
}

static void test_refusals_are_compared_with_the_pod(void **state)
{
	static const struct {
		const char *name;
		int status;
		const char *pod;
		enum pod_write_judgement judgement;
		enum sched_outcome outcome;
	} rows[] = {
		{ "Conflict, another pod", 409, OTHER, POD_WRITE_REFUSED, SCHED_GONE },
		{ "Unprocessable Entity, another pod", 422, OTHER, POD_WRITE_REFUSED, SCHED_GONE },
		{ "Conflict, the write is done", 409, OURS, POD_WRITE_IS_DONE, SCHED_DONE },
		{ "Conflict, the pod is newer", 409, OURS, POD_WRITE_IS_STALE, SCHED_STALE },
		{ "Unprocessable Entity", 422, OURS, POD_WRITE_REFUSED, SCHED_REJECTED },
		{ "Bad Request", 400, OURS, POD_WRITE_REFUSED, SCHED_REJECTED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct write_fixture f;

		unit_row(rows[i].name);
		begin(&f, &repeatable);
		judgement = rows[i].judgement;
		fake_transport_answer(f.transport, write_fixture_expect(&f, "POST /write"),
				      rows[i].status, "{\"kind\":\"Status\",\"message\":\"no\"}");
		write_fixture_no_outcome(&f);
		fake_transport_answer(f.transport, write_fixture_expect(&f, READ), 200,
				      rows[i].pod);
		write_fixture_outcome(&f, rows[i].outcome);
		if (rows[i].outcome == SCHED_REJECTED) {
			assert_int_equal(f.last->status, rows[i].status);
			assert_non_null(strstr(f.last->text, "no"));
		}
		write_fixture_finish(&f);
	}
}

static void test_a_conflict_of_versions_is_sent_again(void **state)
{
	struct write_fixture f;

	(void)state;
	begin(&f, &repeatable);
	judgement = POD_WRITE_REFUSED;
	fake_transport_answer(f.transport, write_fixture_expect(&f, "POST /write"), 409, "{}");
	fake_transport_answer(f.transport, write_fixture_expect(&f, READ), 200, OURS);
	write_fixture_no_outcome(&f);
	write_fixture_later(&f);
	fake_transport_answer(f.transport, write_fixture_expect(&f, "POST /write"), 200, "{}");
	write_fixture_outcome(&f, SCHED_DONE);
	write_fixture_finish(&f);
}

static void test_unknown_outcome_is_read_before_it_is_repeated(void **state)
{
	struct write_fixture f;

	(void)state;
	begin(&f, &once);
	judgement = POD_WRITE_NOT_YET;
	fake_transport_fail(f.transport, write_fixture_expect(&f, "POST /write"), ERR_TIMEOUT,
			    true);
	fake_transport_answer(f.transport, write_fixture_expect(&f, READ), 200, OURS);
	write_fixture_later(&f);
	fake_transport_fail(f.transport, write_fixture_expect(&f, "POST /write"), ERR_IO, true);
	judgement = POD_WRITE_IS_DONE;
	fake_transport_answer(f.transport, write_fixture_expect(&f, READ), 200, OURS);
	write_fixture_outcome(&f, SCHED_DONE);
	write_fixture_finish(&f);
}

/* The first attempt may have removed the gate, so that the refusal of the second one says nothing:
 * a reservation that is given back here would be given out twice. */
static void test_a_refusal_after_an_unknown_outcome_is_compared_with_the_pod(void **state)
{
	static const struct {
		enum pod_write_judgement judgement;
		enum sched_outcome outcome;
	} rows[] = { { POD_WRITE_IS_DONE, SCHED_DONE }, { POD_WRITE_REFUSED, SCHED_REJECTED } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct write_fixture f;

		unit_row_number(i);
		begin(&f, &repeatable);
		judgement = rows[i].judgement;
		fake_transport_answer(f.transport, write_fixture_expect(&f, "POST /write"), 500,
				      "{}");
		write_fixture_later(&f);
		fake_transport_answer(f.transport, write_fixture_expect(&f, "POST /write"), 403,
				      "{}");
		write_fixture_no_outcome(&f);
		fake_transport_answer(f.transport, write_fixture_expect(&f, READ), 200, OURS);
		write_fixture_outcome(&f, rows[i].outcome);
		write_fixture_finish(&f);
	}
}

static void test_a_write_that_was_never_sent_is_sent_again(void **state)
{
	struct write_fixture f;

	(void)state;
	begin(&f, &once);
	fake_transport_fail(f.transport, write_fixture_expect(&f, "POST /write"), ERR_UNAVAILABLE,
			    false);
	write_fixture_later(&f);
	fake_transport_answer(f.transport, write_fixture_expect(&f, "POST /write"), 201, "{}");
	write_fixture_outcome(&f, SCHED_DONE);
	write_fixture_finish(&f);
}

static void test_read_that_finds_nothing_means_gone(void **state)
{
	struct write_fixture f;

	(void)state;
	begin(&f, &once);
	fake_transport_fail(f.transport, write_fixture_expect(&f, "POST /write"), ERR_IO, true);
	fake_transport_answer(f.transport, write_fixture_expect(&f, READ), 404, "{}");
	write_fixture_outcome(&f, SCHED_GONE);
	write_fixture_finish(&f);
}

static void test_nothing_is_sent_without_leadership(void **state)
{
	struct write_fixture f;

	(void)state;
	begin(&f, &once);
	f.refuse = true;
	pool_step(f.pool);
	write_fixture_outcome(&f, SCHED_CANCELLED);
	write_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_that_end_at_once),
		cmocka_unit_test(test_the_version_of_the_answer_is_reported),
		cmocka_unit_test(test_hole_11_passing_failures_are_sent_again),
		cmocka_unit_test(test_refusals_are_compared_with_the_pod),
		cmocka_unit_test(test_a_conflict_of_versions_is_sent_again),
		cmocka_unit_test(test_unknown_outcome_is_read_before_it_is_repeated),
		cmocka_unit_test(test_a_refusal_after_an_unknown_outcome_is_compared_with_the_pod),
		cmocka_unit_test(test_a_write_that_was_never_sent_is_sent_again),
		cmocka_unit_test(test_read_that_finds_nothing_means_gone),
		cmocka_unit_test(test_nothing_is_sent_without_leadership),
	};

	return cmocka_run_group_tests_name("pods/writes/pod_write", tests, NULL, NULL);
}
