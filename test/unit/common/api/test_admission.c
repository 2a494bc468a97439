#include "api/admission.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"

static void test_request(void **state)
{
	const char *body =
		"{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{"
		"\"uid\":\"u-1\",\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"},"
		"\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},"
		"\"namespace\":\"ns\",\"operation\":\"CREATE\",\"userInfo\":{\"username\":\"me\","
		"\"groups\":[\"g\"]},\"object\": {\"a\" : [1]} ,\"oldObject\":null,\"dryRun\":true,"
		"\"options\":{\"kind\":\"CreateOptions\"}}}";
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct api_admission_request r;
	struct err err = ERR_INIT;
	(void)state;

	if (admission_parse(str_of(body), arena, &r, &err) != 0) {
		fail_msg("%s", err.text);
	}
	assert_string_equal(r.uid, "u-1");
	assert_null(r.kind.group);
	assert_string_equal(r.kind.kind, "Pod");
	assert_string_equal(r.resource.resource, "pods");
	assert_string_equal(r.namespace_, "ns");
	assert_string_equal(r.operation, "CREATE");
	assert_string_equal(r.user.username, "me");
	assert_true(r.dry_run);
	assert_true(str_eq_c(r.object, "{\"a\" : [1]}"));
	assert_true(r.object.p > body && r.object.p < body + strlen(body));
	assert_null(r.old_object.p);
}

static void test_refused(void **state)
{
	static const char *const rows[][2] = {
		{ "", "unexpected end of text" },
		{ "[]", "expected object, got array" },
		{ "{}", "kind: not an AdmissionReview" },
		{ "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1beta1\"}",
		  "apiVersion: \"admission.k8s.io/v1beta1\" is not admission.k8s.io/v1" },
		{ "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\"}",
		  "request: required" },
		{ "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/"
		  "v1\",\"request\":{"
		  "}}",
		  "request.uid: required" },
		{ "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/"
		  "v1\",\"request\":{"
		  "\"uid\":7}}",
		  "request.uid: expected string, got number" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
		struct api_admission_request r;
		struct err err = ERR_INIT;

		assert_int_equal(admission_parse(str_of(rows[i][0]), arena, &r, &err),
				 -ERR_INVALID);
		if (strstr(err.text, rows[i][1]) == NULL) {
			fail_msg("got '%s', want '%s'", err.text, rows[i][1]);
		}
	}
}

static void test_ask_is_read_back(void **state)
{
	struct api_admission_request r = { .uid = "u",
					   .name = "n",
					   .operation = "UPDATE",
					   .kind = { NULL, "v1", "Pod" },
					   .object = STR_LIT("{\"new\":1}"),
					   .old_object = STR_LIT("{\"old\":1}") };
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct strbuf body CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct api_admission_request back;
	(void)state;

	admission_format_request(&r, &body);
	assert_int_equal(admission_parse(strbuf_str(&body), arena, &back, NULL), 0);
	assert_string_equal(back.name, "n");
	assert_true(str_eq(back.object, r.object));
	assert_true(str_eq(back.old_object, r.old_object));
	assert_false(back.dry_run);
}

static void test_allowed_with_patch(void **state)
{
	static const char *const warnings[] = { "queue \"q\" is closed" };
	struct api_admission_response r = { .uid = "u",
					    .allowed = true,
					    .patch = STR_LIT("[{\"op\":\"add\"}]"),
					    .message = "left out when allowed",
					    .warnings = { warnings, 1 } };
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct strbuf body CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct api_admission_response back;
	(void)state;

	admission_format_response(&r, &body);
	assert_string_equal(
		body.p, "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\","
			"\"response\":{\"uid\":\"u\",\"allowed\":true,\"patchType\":"
			"\"JSONPatch\",\"patch\":\"W3sib3AiOiJhZGQifV0=\",\"warnings\":[\"queue "
			"\\\"q\\\" is closed\"]}}");
	assert_int_equal(admission_parse_response(strbuf_str(&body), arena, &back, NULL), 0);
	assert_true(back.allowed);
	assert_true(str_eq(back.patch, r.patch));
	assert_string_equal(back.warnings.v[0], warnings[0]);
}

static void test_denied(void **state)
{
	struct api_admission_response r = {
		.uid = "u", .code = 403, .reason = "Forbidden", .message = "no \"way\""
	};
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct strbuf body CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct api_admission_response back;
	(void)state;

	admission_format_response(&r, &body);
	assert_int_equal(admission_parse_response(strbuf_str(&body), arena, &back, NULL), 0);
	assert_false(back.allowed);
	assert_int_equal(back.code, 403);
	assert_string_equal(back.reason, "Forbidden");
	assert_string_equal(back.message, "no \"way\"");
	assert_null(back.patch.p);
}

#define RESPONSE(members)                                                                          \
	"{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/"                         \
	"v1\",\"response\":{" members "}}"

static void test_bad_responses(void **state)
{
	static const char *const rows[][2] = {
		{ RESPONSE(""), "response.uid: required" },
		{ RESPONSE("\"uid\":\"u\",\"patch\":\"W10=\""),
		  "response.patchType: not JSONPatch" },
		{ RESPONSE("\"uid\":\"u\",\"patchType\":\"JSONPatch\",\"patch\":\"*\""),
		  "response.patch: invalid base64" },
		{ "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\"}",
		  "response.uid: required" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
		struct api_admission_response r;
		struct err err = ERR_INIT;

		assert_int_equal(admission_parse_response(str_of(rows[i][0]), arena, &r, &err),
				 -ERR_INVALID);
		if (strstr(err.text, rows[i][1]) == NULL) {
			fail_msg("got '%s', want '%s'", err.text, rows[i][1]);
		}
	}
}

static void test_warning_limit(void **state)
{
	const char *warnings[ADMISSION_MAX_WARNINGS + 1];
	struct api_admission_response r = { .uid = "u",
					    .allowed = true,
					    .warnings = { warnings, 0 } };
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(warnings); i++) {
		warnings[i] = "w";
	}
	for (size_t n = ADMISSION_MAX_WARNINGS; n <= ADMISSION_MAX_WARNINGS + 1; n++) {
		struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
		struct strbuf body CLEANUP(strbuf_finish) = STRBUF_INIT;
		struct api_admission_response back;

		r.warnings.n = n;
		admission_format_response(&r, &body);
		assert_int_equal(admission_parse_response(strbuf_str(&body), arena, &back, NULL),
				 0);
		assert_int_equal(back.warnings.n, ADMISSION_MAX_WARNINGS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request),          cmocka_unit_test(test_refused),
		cmocka_unit_test(test_ask_is_read_back), cmocka_unit_test(test_allowed_with_patch),
		cmocka_unit_test(test_denied),           cmocka_unit_test(test_bad_responses),
		cmocka_unit_test(test_warning_limit),
	};

	return cmocka_run_group_tests_name("admission", tests, NULL, NULL);
}
