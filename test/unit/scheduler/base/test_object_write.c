#include "scheduler/base/object_write.h"

#include <stdio.h>

#include "api/volcano/scheduling.h"
#include "base/attrs.h"
#include "kube/pool.h"
#include "lib/net/write_fixture.h"
#include "lib/unit.h"

static struct object_write_target target;

/* spec: method and flags; the rest is filled in. */
static void begin_spec(struct write_fixture *f, struct object_write_spec spec)
{
	struct pool_options base;

	spec.request = SCHED_REQ_QUEUE;
	spec.resource = SCHED_QUEUES;
	spec.key = STR_LIT("k");
	spec.path = "/x";
	spec.content_type = "application/json";
	spec.body = STR_LIT("{}");
	write_fixture_init(f);
	base = write_fixture_options(f);
	base.may_send = f->target.may_send;
	base.ctx = f;
	f->pool = object_write_pool(&base, "test", base.slots, f->target.post, &target);
	pool_add(f->pool, spec.key, object_write_new(&spec));
}

static void begin(struct write_fixture *f, enum http_method method)
{
	begin_spec(f, (struct object_write_spec){ .method = method });
}

static void test_outcomes(void **state)
{
	static const struct {
		enum http_method method;
		const char *line;
		int status;
		const char *body;
		enum sched_outcome outcome;
	} rows[] = {
		{ HTTP_POST, "POST /x", 201, "{}", SCHED_DONE },
		{ HTTP_POST, "POST /x", 409, "{}", SCHED_DONE },
		{ HTTP_PATCH, "PATCH /x", 404, "{}", SCHED_GONE },
		{ HTTP_PATCH, "PATCH /x", 422, "{}", SCHED_REJECTED },
		{ HTTP_PATCH, "PATCH /x", 422,
		  "{\"message\":\"the server rejected our request due to an error in our "
		  "request\"}",
		  SCHED_STALE },
		{ HTTP_PATCH, "PATCH /x", 403, "{}", SCHED_REJECTED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct write_fixture f;

		unit_row_number(i);
		begin(&f, rows[i].method);
		fake_transport_answer(f.transport, write_fixture_expect(&f, rows[i].line),
				      rows[i].status, rows[i].body);
		write_fixture_outcome(&f, rows[i].outcome);
		assert_true(str_eq_c(f.last->key, "k"));
		assert_int_equal(f.last->resource, SCHED_QUEUES);
		assert_int_equal(f.last->request, SCHED_REQ_QUEUE);
		assert_int_equal(f.last->status, rows[i].status);
		write_fixture_finish(&f);
	}
}

/* It may have had its effect: the sender looks before it decides anew. */
static void test_once(void **state)
{
	struct write_fixture f;

	(void)state;
	begin_spec(&f, (struct object_write_spec){ .method = HTTP_POST, .once = true });
	fake_transport_answer(f.transport, write_fixture_expect(&f, "POST /x"), 503, "{}");
	write_fixture_outcome(&f, SCHED_UNANSWERED);
	write_fixture_finish(&f);
}

/* A create that finds an object of the name reports this. */
static void test_reads_existing(void **state)
{
	static const struct {
		const char *body;
		const char *name; /* NULL: it cannot be decoded */
	} rows[] = {
		{ "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"7\"}}", "n" },
		{ "{\"metadata\":{\"name\":5}}", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct object_write_spec spec = { .method = HTTP_POST,
							.reads_existing = true,
							.name = "n" };
		struct write_fixture f;
		const struct api_queue *q;

		unit_row_number(i);
		begin_spec(&f, spec);
		fake_transport_answer(f.transport, write_fixture_expect(&f, "POST /x"), 409, "{}");
		/* Gone meanwhile: it is created after all, or found again. */
		fake_transport_answer(f.transport, write_fixture_expect(&f, "GET /x/n"), 404, "{}");
		write_fixture_no_outcome(&f);
		write_fixture_later(&f);
		fake_transport_answer(f.transport, write_fixture_expect(&f, "POST /x"), 409, "{}");
		fake_transport_answer(f.transport, write_fixture_expect(&f, "GET /x/n"), 200,
				      rows[i].body);
		write_fixture_outcome(&f, SCHED_STALE);
		q = f.last->object;
		assert_true((q == NULL) == (rows[i].name == NULL));
		if (q != NULL) {
			assert_string_equal(q->meta.name, rows[i].name);
			assert_int_equal(f.last->resource_version, 7);
		}
		write_fixture_finish(&f);
	}
}

/* A deletion that names the UID of its object. */
static void test_deletes_one_object(void **state)
{
	struct write_fixture f;

	(void)state;
	begin_spec(&f, (struct object_write_spec){ .method = HTTP_DELETE, .names_version = true });
	fake_transport_answer(f.transport, write_fixture_expect(&f, "DELETE /x"), 409, "{}");
	write_fixture_outcome(&f, SCHED_STALE);
	write_fixture_finish(&f);
}

/* Another manager's fields are left to it; other conflicts pass. */
static void test_applies_that_yield(void **state)
{
	static const struct {
		const char *message;
		enum sched_outcome outcome;
	} rows[] = {
		{ "Apply failed with 1 conflict: conflict with \\\"x\\\": .status.a", SCHED_STALE },
		{ "Precondition failed: UID in precondition: a, UID in object meta: b",
		  SCHED_GONE },
		{ "the object has been modified", SCHED_DONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct write_fixture f;
		char body[256];

		unit_row_number(i);
		begin_spec(&f, (struct object_write_spec){ .method = HTTP_PATCH,
							   .keeps_foreign_fields = true });
		snprintf(body, sizeof(body), "{\"message\":\"%s\"}", rows[i].message);
		fake_transport_answer(f.transport, write_fixture_expect(&f, "PATCH /x"), 409, body);
		if (rows[i].outcome == SCHED_DONE) {
			write_fixture_no_outcome(&f);
			write_fixture_later(&f);
			fake_transport_answer(f.transport, write_fixture_expect(&f, "PATCH /x"),
					      200, "{}");
		}
		write_fixture_outcome(&f, rows[i].outcome);
		write_fixture_finish(&f);
	}
}

/* A conflict of a patch that names a version is about that version; other failures are not. */
static void test_patches_that_name_a_version(void **state)
{
	static const struct {
		int status;
		enum sched_outcome outcome;
	} rows[] = { { 409, SCHED_STALE }, { 403, SCHED_REJECTED }, { 404, SCHED_GONE } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct write_fixture f;

		unit_row_number(i);
		begin_spec(&f, (struct object_write_spec){ .method = HTTP_PATCH,
							   .names_version = true });
		fake_transport_answer(f.transport, write_fixture_expect(&f, "PATCH /x"),
				      rows[i].status, "{}");
		write_fixture_outcome(&f, rows[i].outcome);
		write_fixture_finish(&f);
	}
}

static void test_writes_that_insist(void **state)
{
	struct write_fixture f;

	(void)state;
	begin_spec(&f, (struct object_write_spec){ .method = HTTP_PATCH, .retries_refused = true });
	fake_transport_answer(f.transport, write_fixture_expect(&f, "PATCH /x"), 403, "{}");
	write_fixture_outcome(&f, SCHED_REJECTED);
	while (pool_step(f.pool)) {
	}
	fake_transport_expect_none(f.transport);
	write_fixture_later(&f);
	fake_transport_answer(f.transport, write_fixture_expect(&f, "PATCH /x"), 200, "{}");
	write_fixture_outcome(&f, SCHED_DONE);
	write_fixture_finish(&f);
}

static void test_passing_failures_are_sent_again(void **state)
{
	struct write_fixture f;

	(void)state;
	begin(&f, HTTP_PATCH);
	fake_transport_answer(f.transport, write_fixture_expect(&f, "PATCH /x"), 503, "{}");
	write_fixture_later(&f);
	fake_transport_answer(f.transport, write_fixture_expect(&f, "PATCH /x"), 409, "{}");
	write_fixture_later(&f);
	fake_transport_answer(f.transport, write_fixture_expect(&f, "PATCH /x"), 200, "{}");
	write_fixture_outcome(&f, SCHED_DONE);
	write_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_reads_existing),
		cmocka_unit_test(test_deletes_one_object),
		cmocka_unit_test(test_applies_that_yield),
		cmocka_unit_test(test_patches_that_name_a_version),
		cmocka_unit_test(test_writes_that_insist),
		cmocka_unit_test(test_passing_failures_are_sent_again),
	};

	return cmocka_run_group_tests_name("base/object_write", tests, NULL, NULL);
}
