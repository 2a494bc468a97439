/* Which fields of a Job may change, and when. */
#include "lib/unit.h"

#include "base/attrs.h"
#include "unit/apiserver/apiserver_fixture.h"

#define JOBS "/apis/batch/v1/namespaces/default/jobs"

static void jobs(void **state)
{
	static const struct {
		const char *spec, *status, *patch; /* of the Job, merge patch */
		int code;
	} cases[] = {
		{ "", "{}", "{\"spec\":{\"parallelism\":5}}", 200 },
		{ "", "{}", "{\"spec\":{\"completions\":5}}", 422 },
		{ "completionMode: Indexed, ", "{}",
		  "{\"spec\":{\"completions\":5,\"parallelism\":5}}", 200 },
		{ "completionMode: Indexed, ", "{}", "{\"spec\":{\"completions\":5}}", 422 },
		/* Where its pods go, as long as it does not run. */
		{ "suspend: true, ", "{}",
		  "{\"spec\":{\"suspend\":false,\"template\":{\"metadata\":{\"labels\":{\"a\":"
		  "\"b\"}"
		  "},\"spec\":{\"nodeSelector\":{\"a\":\"b\"}}}}}",
		  200 },
		{ "suspend: true, ", "{}",
		  "{\"spec\":{\"template\":{\"spec\":{\"hostNetwork\":true}}}}", 422 },
		{ "suspend: true, ", "{\"startTime\":\"2026-01-01T00:00:00Z\"}",
		  "{\"spec\":{\"template\":{\"spec\":{\"nodeSelector\":{\"a\":\"b\"}}}}}", 422 },
		{ "suspend: true, ", "{\"active\":1}",
		  "{\"spec\":{\"template\":{\"spec\":{\"nodeSelector\":{\"a\":\"b\"}}}}}", 422 },
		{ "suspend: true, ",
		  "{\"startTime\":\"2026-01-01T00:00:00Z\",\"conditions\":[{\"type\":\"Suspended\","
		  "\"status\":\"True\"}]}",
		  "{\"spec\":{\"template\":{\"spec\":{\"nodeSelector\":{\"a\":\"b\"}}}}}", 200 },
		{ "", "{}", "{\"spec\":{\"template\":{\"spec\":{\"nodeSelector\":{\"a\":\"b\"}}}}}",
		  422 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
		struct apiserver_fixture f;

		unit_row(cases[i].spec);
		apiserver_fixture_start(&f, NULL, NULL);
		strbuf_printf(&b,
			      "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {%s"
			      "parallelism: 3, completions: 3, template: {spec: {restartPolicy: "
			      "Never, containers: [{name: c, image: i}]}}}}",
			      cases[i].spec);
		assert_int_equal(
			apiserver_fixture_do(&f, HTTP_POST, JOBS, APISERVER_FIXTURE_YAML, b.p),
			201);
		strbuf_reset(&b);
		strbuf_printf(&b, "{\"status\":%s}", cases[i].status);
		assert_int_equal(apiserver_fixture_do(&f, HTTP_PATCH, JOBS "/j/status",
						      APISERVER_FIXTURE_MERGE, b.p),
				 200);
		assert_int_equal(apiserver_fixture_do(&f, HTTP_PATCH, JOBS "/j",
						      APISERVER_FIXTURE_MERGE, cases[i].patch),
				 cases[i].code);
		apiserver_fixture_stop(&f);
	}
}

static void when_a_running_job_started_is_not_forgotten(void **state)
{
	struct apiserver_fixture f;

	(void)state;
	apiserver_fixture_start(&f, NULL, NULL);
	assert_int_equal(
		apiserver_fixture_do(&f, HTTP_POST, JOBS, APISERVER_FIXTURE_YAML,
				     "{apiVersion: batch/v1, kind: Job, metadata: {name: j},"
				     " spec: {template: {spec: {restartPolicy: Never,"
				     " containers: [{name: c, image: i}]}}}}"),
		201);
	assert_int_equal(
		apiserver_fixture_do(&f, HTTP_PATCH, JOBS "/j/status", APISERVER_FIXTURE_MERGE,
				     "{\"status\":{\"startTime\":\"2026-01-01T00:00:00Z\"}}"),
		200);
	assert_int_equal(apiserver_fixture_do(&f, HTTP_PATCH, JOBS "/j/status",
					      APISERVER_FIXTURE_MERGE,
					      "{\"status\":{\"startTime\":null}}"),
			 422);
	assert_int_equal(apiserver_fixture_do(&f, HTTP_PATCH, JOBS "/j", APISERVER_FIXTURE_MERGE,
					      "{\"spec\":{\"suspend\":true}}"),
			 200);
	assert_int_equal(apiserver_fixture_do(&f, HTTP_PATCH, JOBS "/j/status",
					      APISERVER_FIXTURE_MERGE,
					      "{\"status\":{\"startTime\":null}}"),
			 200);
	apiserver_fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs),
		cmocka_unit_test(when_a_running_job_started_is_not_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
