/* The texts of whole explanations are recorded by test_offer_lookup. */
#include "scheduler/ctl/explain/offer_text.h"

#include "lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"
#include "scheduler/ctl/explain/offer_explain.h"
#include "scheduler/orchestrate/orchestrate.h"

static char *print(const struct offer *o)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	offer_text_print(o, to);
	fclose(to);
	return text;
}

static void write_json(const struct offer *o, struct strbuf *out)
{
	struct json_out json;

	json_out_init(&json, out);
	json_out_object(&json);
	offer_text_write_json(o, &json);
	json_out_object_end(&json);
	json_out_end(&json);
}

static void nothing_without_an_offer(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
	struct offer o = { .arena = NULL };
	char *text = print(&o);

	assert_string_equal(text, "");
	free(text);
	write_json(&o, &json);
	assert_string_equal(json.p, "{}");
}

/* The annotation is written by whatever may write the Workload. */
static void names_of_the_token_are_no_commands_for_terminals(void **state UNUSED)
{
	static const char token[] =
		"{\"epoch\":1,\"phase\":\"Granted\",\"holder\":\"\\u001b[31m\",\"uid\":\"u\","
		"\"grantedAt\":\"2026-01-15T08:59:00.000000Z\",\"attempts\":[{\"cluster\":"
		"\"\\u001b[32m\",\"began\":\"2026-01-15T08:50:00.000000Z\",\"ended\":"
		"\"2026-01-15T08:55:00.000000Z\",\"outcome\":\"Gone\"}]}";
	struct offer o = { .arena = arena_create(0), .check = "mk" };
	struct orchestrate_options opt;
	char *text;

	orchestrate_defaults(&opt);
	offer_explain(&o, str_of(token), &opt, 0);
	assert_null(o.token_error);
	text = print(&o);
	assert_null(strchr(text, '\x1b'));
	assert_non_null(strstr(text, "Token:        \\u001b[31m since"));
	free(text);
	offer_explain_finish(&o);
}

static void a_token_that_cannot_be_read(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
	struct offer o = { .arena = arena_create(0), .check = "mk", .config = "all" };
	struct orchestrate_options opt;
	char *text;

	orchestrate_defaults(&opt);
	offer_explain(&o, STR_LIT("{}"), &opt, 0);
	text = print(&o);
	assert_string_equal(text, "\nOffered to:   the workers of MultiKueueConfig all "
				  "(AdmissionCheck mk)\nToken:        its annotation cannot be "
				  "read: phase: missing\n");
	free(text);
	write_json(&o, &json);
	assert_non_null(
		strstr(json.p, "\"token\":{\"error\":\"phase: missing\",\"phase\":\"Free\""));
	offer_explain_finish(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_without_an_offer),
		cmocka_unit_test(names_of_the_token_are_no_commands_for_terminals),
		cmocka_unit_test(a_token_that_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
