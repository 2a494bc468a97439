#include "scheduler/workloads/controller/owner_request.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "kube/recorder.h"
#include "lib/net/fake_transport.h"
#include "process/log.h"
#include "scheduler/workloads/owners/owner_write.h"

#define JOB "/apis/batch/v1/namespaces/ns/jobs/j"
#define POD "/api/v1/namespaces/ns/pods/j"
#define END "PATCH " POD "/status?fieldManager=headgate-job&force=true"
#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads"
#define EVENT "POST /api/v1/namespaces/ns/events"
#define TEMPLATE "{\"metadata\":{\"uid\":\"j-1\"},\"spec\":{\"template\":{\"spec\":{\"x\":1}}}}"

struct fixture {
	struct clock_fake clock;
	struct fake_transport *net;
	struct recorder *recorder;
	struct owner_request_target target;
	struct pool *pool;
	bool refuse;
};

static bool may_send(void *ctx)
{
	const struct fixture *f = ctx;

	return !f->refuse;
}

static void begin(struct fixture *f)
{
	struct pool_options o = { .backoff_min_ns = CLOCK_NS_PER_MS,
				  .backoff_max_ns = CLOCK_NS_PER_S,
				  .refused_max_ns = 60 * CLOCK_NS_PER_S,
				  .timeout_ns = CLOCK_NS_PER_S };

	*f = (struct fixture){ .refuse = false };
	clock_fake_init(&f->clock, 0);
	f->net = fake_transport_create(&f->clock);
	o.transport = fake_transport_base(f->net);
	o.clock = &f->clock.base;
	f->recorder = recorder_create(&o, "headgate", "here");
	f->target = (struct owner_request_target){ f->recorder, may_send, f };
	o.ops = &owner_request_ops;
	o.ctx = &f->target;
	o.may_send = owner_request_may_send;
	o.slots = 4;
	f->pool = pool_create(&o);
}

static void end(struct fixture *f)
{
	pool_destroy(f->pool);
	recorder_destroy(f->recorder);
	fake_transport_destroy(f->net);
}

static void add(struct fixture *f, const struct owner_write *w)
{
	struct owner_write about = *w;

	about.about = (struct owner_write_object){ "j", "j-1" };
	pool_add(f->pool, STR_LIT("k"), owner_request_new("ns", &about));
}

static void step(struct fixture *f)
{
	while (pool_step(f->pool) || pool_step(recorder_pool(f->recorder))) {
	}
}

static uint64_t expect_call(struct fixture *f, const char *line)
{
	step(f);
	return fake_transport_expect(f->net, line);
}

static void later(struct fixture *f)
{
	fake_transport_advance(f->net, 2 * CLOCK_NS_PER_S);
	step(f);
}

static const struct {
	struct owner_write w;
	const char *line, *type;
	bool again; /* after a conflict: it is about the object, whatever its version */
} kinds[] = {
	{ { OWNER_UPDATE, .workload = "w", .body = "{}" },
	  "PATCH " WORKLOADS "/w",
	  "application/merge-patch+json",
	  false },
	{ { OWNER_JOB_DELETE, .body = "{}" }, "DELETE " JOB, "application/json", true },
	{ { OWNER_SYNC, .workload = "w", .body = "{}" },
	  "PATCH " WORKLOADS "/w",
	  "application/merge-patch+json",
	  false },
	{ { OWNER_STATUS, .workload = "w", .body = "{}" },
	  "PATCH " WORKLOADS "/w/status?fieldManager=headgate-job&force=true",
	  "application/apply-patch+yaml",
	  false },
	{ { OWNER_DROP_FINALIZER, .workload = "w", .body = "{}" },
	  "PATCH " WORKLOADS "/w",
	  "application/merge-patch+json",
	  false },
	{ { OWNER_DELETE, .workload = "w", .body = "{}" },
	  "DELETE " WORKLOADS "/w",
	  "application/json",
	  true },
	{ { OWNER_POD_START, .body = "{}" }, "PATCH " POD, "application/merge-patch+json", false },
	{ { OWNER_POD_END, .body = "{}" }, END, "application/apply-patch+yaml", true },
	{ { OWNER_POD_DELETE, .body = "{}" }, "DELETE " POD, "application/json", true },
	{ { OWNER_POD_DROP_FINALIZER, .body = "{}" },
	  "PATCH " POD,
	  "application/merge-patch+json",
	  false },
	{ { OWNER_JOB_START, .body = "{}" }, "PATCH " JOB, "application/merge-patch+json", false },
	{ { OWNER_JOB_SUSPEND, .body = "{}" },
	  "PATCH " JOB,
	  "application/merge-patch+json",
	  false },
	{ { OWNER_JOB_RESET, .body = "{}" },
	  "PATCH " JOB "/status",
	  "application/merge-patch+json",
	  false },
	{ { OWNER_JOB_RESTORE, .body = "{}" },
	  "PATCH " JOB,
	  "application/merge-patch+json",
	  false },
};

static void where_each_kind_goes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct fixture f;
		uint64_t id;

		unit_row_number(i);
		begin(&f);
		add(&f, &kinds[i].w);
		id = expect_call(&f, kinds[i].line);
		assert_string_equal(fake_transport_request(f.net, id)->content_type, kinds[i].type);
		assert_true(str_eq_c(fake_transport_body(f.net, id), "{}"));
		fake_transport_answer(f.net, id, 409, "{}");
		later(&f);
		if (kinds[i].again) {
			fake_transport_answer(f.net, expect_call(&f, kinds[i].line), 200, "{}");
		}
		assert_int_equal(pool_in_flight(f.pool), 0);
		fake_transport_expect_none(f.net);
		end(&f);
	}
}

static const struct owner_write_gap gap = { { "j", "j-1" }, "}" };
static const struct owner_write create = { OWNER_CREATE,      .workload = "w",
					   .body = "{\"t\":", .gaps = &gap,
					   .ngaps = 1,        .event = "CreatedWorkload",
					   .message = "m" };

static void the_template_comes_from_the_job(void **state)
{
	struct fixture f;
	uint64_t id;

	(void)state;
	begin(&f);
	add(&f, &create);
	fake_transport_answer(f.net, expect_call(&f, "GET " JOB), 200, TEMPLATE);
	id = expect_call(&f, "POST " WORKLOADS);
	assert_true(str_eq_c(fake_transport_body(f.net, id), "{\"t\":{\"spec\":{\"x\":1}}}"));
	fake_transport_answer(f.net, id, 503, "{}");
	fake_transport_expect_none(f.net);
	later(&f);
	/* Once read it is not read again. */
	fake_transport_answer(f.net, expect_call(&f, "POST " WORKLOADS), 201, "{}");
	fake_transport_answer(f.net, expect_call(&f, EVENT), 201, "{}");
	end(&f);
}

/* Of the object that was planned for the template is known already; another one fills nothing. */
static void the_template_is_given_with_the_plan(void **state)
{
	static const char other[] =
		"{\"metadata\":{\"uid\":\"j-2\"},\"spec\":{\"template\":{\"spec\":{}}}}";
	struct owner_write about = create;
	struct owner_request *r;
	struct fixture f;
	uint64_t id;

	(void)state;
	about.about = (struct owner_write_object){ "j", "j-1" };
	for (int given = 0; given < 2; given++) {
		begin(&f);
		r = owner_request_new("ns", &about);
		owner_request_fill(r, "j-2", str_of(other));
		owner_request_fill(r, "j-1", str_of("{"));
		if (given) {
			owner_request_fill(r, "j-1", str_of(TEMPLATE));
			owner_request_fill(r, "j-1", str_of(TEMPLATE)); /* no effect */
		}
		pool_add(f.pool, STR_LIT("k"), r);
		if (!given) {
			fake_transport_answer(f.net, expect_call(&f, "GET " JOB), 200, TEMPLATE);
		}
		id = expect_call(&f, "POST " WORKLOADS);
		assert_true(
			str_eq_c(fake_transport_body(f.net, id), "{\"t\":{\"spec\":{\"x\":1}}}"));
		fake_transport_answer(f.net, id, 201, "{}");
		fake_transport_answer(f.net, expect_call(&f, EVENT), 201, "{}");
		end(&f);
	}
}

static void the_specs_come_from_the_pods(void **state)
{
	static const struct owner_write_gap gaps[] = { { { "a", "u-a" }, "," },
						       { { "b", "u-b" }, "]" } };
	const struct owner_write w = { OWNER_CREATE,
				       .pods = true,
				       .workload = "w",
				       .body = "[",
				       .gaps = gaps,
				       .ngaps = 2,
				       .event = "CreatedWorkload",
				       .message = "m" };
	struct fixture f;
	uint64_t id;

	(void)state;
	begin(&f);
	add(&f, &w);
	fake_transport_answer(f.net, expect_call(&f, "GET /api/v1/namespaces/ns/pods/a"), 200,
			      "{\"metadata\":{\"uid\":\"u-a\"},\"spec\":{\"x\":1}}");
	fake_transport_answer(f.net, expect_call(&f, "GET /api/v1/namespaces/ns/pods/b"), 200,
			      "{\"metadata\":{\"uid\":\"u-b\"},\"spec\":{\"x\":2}}");
	id = expect_call(&f, "POST " WORKLOADS);
	assert_true(str_eq_c(fake_transport_body(f.net, id),
			     "[{\"spec\":{\"x\":1}},{\"spec\":{\"x\":2}}]"));
	fake_transport_answer(f.net, id, 201, "{}");
	id = expect_call(&f, EVENT);
	assert_non_null(strstr(fake_transport_body(f.net, id).p, "\"kind\":\"Pod\""));
	fake_transport_answer(f.net, id, 201, "{}");
	end(&f);
}

static void a_job_that_is_another_one(void **state)
{
	static const char *const answers[] = { "{\"metadata\":{\"uid\":\"j-2\"}}",
					       "{\"metadata\":{\"uid\":\"j-1\"},\"spec\":{}}",
					       "nonsense" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct fixture f;

		unit_row(answers[i]);
		begin(&f);
		add(&f, &create);
		fake_transport_answer(f.net, expect_call(&f, "GET " JOB), 200, answers[i]);
		later(&f);
		fake_transport_expect_none(f.net);
		assert_int_equal(pool_waiting(f.pool), 0);
		end(&f);
	}
}

static void a_pod_that_is_another_one_or_has_no_spec(void **state)
{
	static const char *const answers[] = { "{\"metadata\":{\"uid\":\"u-b\"},\"spec\":{}}",
					       "{\"metadata\":{\"uid\":\"u-a\"}}",
					       "{\"metadata\":{\"uid\":\"u-a\"},\"spec\":1}",
					       "nonsense" };
	static const struct owner_write_gap one = { { "a", "u-a" }, "" };
	const struct owner_write w = { OWNER_CREATE,
				       .pods = true,
				       .workload = "w",
				       .body = "",
				       .gaps = &one,
				       .ngaps = 1,
				       .event = "CreatedWorkload",
				       .message = "m" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct fixture f;

		unit_row(answers[i]);
		begin(&f);
		add(&f, &w);
		fake_transport_answer(f.net, expect_call(&f, "GET /api/v1/namespaces/ns/pods/a"),
				      200, answers[i]);
		later(&f);
		fake_transport_expect_none(f.net);
		assert_int_equal(pool_waiting(f.pool), 0);
		end(&f);
	}
}

static void answers_and_their_outcomes(void **state)
{
	static const char other[] = "{\"kind\":\"Status\",\"message\":\"Job.batch \\\"j\\\" is "
				    "invalid: metadata.uid: Invalid value: \\\"u\\\": field "
				    "is immutable\",\"reason\":\"Invalid\",\"code\":422}";
	static const struct {
		int status;
		bool again, recorded;
		const char *body;
	} cases[] = {
		{ 404, false, false, "{}" },
		{ 409, false, false, "{}" },
		{ 422, true, true, "{}" },
		{ 422, false, false, other }, /* another object of this name */
		{ 403, true, true, "{}" },
		{ 401, true, false, "{}" },
		{ 500, true, false, "{}" },
		{ 503, true, false, "{}" },
	};
	const struct owner_write w = { OWNER_JOB_START, .body = "{}", .event = "Started",
				       .message = "m" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture f;

		unit_row_number(i);
		begin(&f);
		add(&f, &w);
		fake_transport_answer(f.net, expect_call(&f, "PATCH " JOB), cases[i].status,
				      cases[i].body);
		if (cases[i].recorded) {
			fake_transport_answer(f.net, expect_call(&f, EVENT), 201, "{}");
		}
		later(&f);
		if (cases[i].again) {
			(void)fake_transport_expect(f.net, "PATCH " JOB);
		}
		fake_transport_expect_none(f.net);
		end(&f);
	}
}

/* A conflict without resourceVersion is not about a version: no newer object would retry the write.
 */
static void a_conflict_without_a_version_is_sent_again(void **state)
{
	static const char other[] =
		"{\"kind\":\"Status\",\"message\":\"Precondition failed: UID in "
		"precondition: u, UID in object meta: v\","
		"\"reason\":\"Conflict\",\"code\":409}";
	static const struct {
		struct owner_write w;
		const char *line, *body;
		bool again;
	} cases[] = {
		{ { OWNER_POD_END, .body = "{}" }, END, "{}", true },
		{ { OWNER_POD_DELETE, .body = "{}" }, "DELETE " POD, "{}", true },
		{ { OWNER_POD_DELETE, .body = "{}" }, "DELETE " POD, other, false },
		{ { OWNER_POD_START, .body = "{}" }, "PATCH " POD, "{}", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture f;

		unit_row_number(i);
		begin(&f);
		add(&f, &cases[i].w);
		fake_transport_answer(f.net, expect_call(&f, cases[i].line), 409, cases[i].body);
		later(&f);
		if (cases[i].again) {
			(void)expect_call(&f, cases[i].line);
		}
		fake_transport_expect_none(f.net);
		end(&f);
	}
}

static void count_line(struct str line, void *ctx)
{
	int *lines = ctx;

	(void)line;
	*lines += 1;
}

/* It is sent again with backoff, and logged once for each reason. */
static void a_refusal_is_logged_once(void **state)
{
	static const char *const why[] = { "{\"message\":\"no right\"}",
					   "{\"message\":\"no room\"}" };
	const struct owner_write w = { OWNER_JOB_START, .body = "{}" };
	struct fixture f;
	int64_t wait = 0;
	int lines = 0;

	(void)state;
	begin(&f);
	f.target.recorder = NULL;
	log_set_sink(count_line, &lines);
	add(&f, &w);
	for (int i = 0; i < 40; i++) {
		int64_t now = clock_mono(&f.clock.base);

		fake_transport_answer(f.net, expect_call(&f, "PATCH " JOB), 403, why[i / 20]);
		wait = pool_wake_at(f.pool) - now;
		assert_int_equal(lines, i / 20 + 1);
		fake_transport_advance(f.net, wait);
	}
	log_set_sink(NULL, NULL);
	assert_in_range(wait, 45 * CLOCK_NS_PER_S, 75 * CLOCK_NS_PER_S);
	end(&f);
}

/* The Workload has no owner, or none that events are about. */
static void events_about_the_workload_itself(void **state)
{
	const struct owner_write w = { OWNER_DELETE,       .workload = "w",
				       .body = "{}",       .about = { NULL, "w-1" },
				       .event = "Deleted", .message = "m" };
	static const struct {
		int status;
		const char *reason;
	} cases[] = { { 200, "\"Deleted\"" }, { 403, "\"WorkloadWriteRefused\"" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture f;
		struct str event;
		uint64_t id;

		unit_row_number(i);
		begin(&f);
		pool_add(f.pool, STR_LIT("k"), owner_request_new("ns", &w));
		fake_transport_answer(f.net, expect_call(&f, "DELETE " WORKLOADS "/w"),
				      cases[i].status, "{}");
		id = expect_call(&f, EVENT);
		event = fake_transport_body(f.net, id);
		assert_non_null(strstr(event.p, cases[i].reason));
		assert_non_null(strstr(event.p, "\"kind\":\"Workload\""));
		assert_non_null(strstr(event.p, "\"name\":\"w\""));
		assert_non_null(strstr(event.p, "\"uid\":\"w-1\""));
		fake_transport_answer(f.net, id, 201, "{}");
		end(&f);
	}
}

/* A write that waits for its retry is not needed any more. */
static void a_write_that_is_withdrawn(void **state)
{
	const struct owner_write w = { OWNER_POD_START, .pods = true, .body = "{}" };
	const struct owner_write none = { OWNER_NOTE, .pods = true };
	struct fixture f;

	(void)state;
	begin(&f);
	add(&f, &w);
	fake_transport_answer(f.net, expect_call(&f, "PATCH " POD), 503, "{}");
	add(&f, &none);
	later(&f);
	fake_transport_expect_none(f.net);
	assert_int_equal(pool_waiting(f.pool), 0);
	end(&f);
}

static void nothing_is_sent_while_writing_is_not_allowed(void **state)
{
	const struct owner_write w = { OWNER_JOB_START, .body = "{}" };
	struct fixture f;

	(void)state;
	begin(&f);
	f.refuse = true;
	add(&f, &w);
	step(&f);
	fake_transport_expect_none(f.net);
	f.refuse = false;
	later(&f);
	(void)fake_transport_expect(f.net, "PATCH " JOB);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_each_kind_goes),
		cmocka_unit_test(the_template_comes_from_the_job),
		cmocka_unit_test(the_template_is_given_with_the_plan),
		cmocka_unit_test(the_specs_come_from_the_pods),
		cmocka_unit_test(a_pod_that_is_another_one_or_has_no_spec),
		cmocka_unit_test(a_job_that_is_another_one),
		cmocka_unit_test(answers_and_their_outcomes),
		cmocka_unit_test(a_conflict_without_a_version_is_sent_again),
		cmocka_unit_test(a_refusal_is_logged_once),
		cmocka_unit_test(events_about_the_workload_itself),
		cmocka_unit_test(a_write_that_is_withdrawn),
		cmocka_unit_test(nothing_is_sent_while_writing_is_not_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
