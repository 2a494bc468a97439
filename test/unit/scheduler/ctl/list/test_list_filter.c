#include "scheduler/ctl/list/list_filter.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "enc/json/jdoc.h"

static void selectors_match(void **state)
{
	static const struct {
		const char *labels, *fields;
		bool matches;
	} rows[] = {
		{ NULL, NULL, true },
		{ "", "", true },
		{ "a=1", NULL, true },
		{ "a=2", NULL, false },
		{ "a in (1,2),b", NULL, true },
		{ "!a", NULL, false },
		{ "c!=3", NULL, true },
		{ NULL, "metadata.name=w", true },
		{ NULL, "metadata.name==w,metadata.namespace!=other", true },
		{ NULL, "metadata.namespace=other", false },
		{ "a=1", "metadata.name=v", false },
	};
	CLEANUP(jdoc_destroyp) struct jdoc *with = NULL;

	(void)state;
	assert_int_equal(jdoc_parse(STR_LIT("{\"metadata\":{\"name\":\"w\",\"namespace\":\"ns\","
					    "\"labels\":{\"a\":\"1\",\"b\":\"\"}}}"),
				    &with, NULL),
			 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(list_filter_finish) struct list_filter f = { 0 };

		unit_row(rows[i].labels);
		assert_int_equal(list_filter_parse(rows[i].labels, rows[i].fields, true, &f, NULL),
				 0);
		assert_int_equal(list_filter_matches(&f, with), rows[i].matches);
	}
}

static void an_object_without_labels(void **state)
{
	CLEANUP(list_filter_finish) struct list_filter f = { 0 };
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	(void)state;
	assert_int_equal(jdoc_parse(STR_LIT("{\"metadata\":{\"name\":\"q\"}}"), &d, NULL), 0);
	assert_int_equal(list_filter_parse("!a", NULL, false, &f, NULL), 0);
	assert_true(list_filter_matches(&f, d));
}

static void errors_name_the_selector(void **state)
{
	static const struct {
		const char *labels, *fields;
		bool namespaced;
		const char *names[2];
	} rows[] = {
		{ "=x", NULL, true, { "--selector =x", "" } },
		{ "a in (", NULL, true, { "--selector a in (", "" } },
		{ NULL, "metadata.name", true, { "--field-selector metadata.name", "" } },
		{ NULL,
		  "spec.queueName=lq",
		  true,
		  { "\"spec.queueName\" is not supported",
		    "metadata.name and metadata.namespace" } },
		{ NULL,
		  "metadata.namespace=x",
		  false,
		  { "\"metadata.namespace\" is not supported", "only metadata.name" } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct list_filter f;
		struct err err = ERR_INIT;

		unit_row(rows[i].labels);
		assert_int_equal(list_filter_parse(rows[i].labels, rows[i].fields,
						   rows[i].namespaced, &f, &err),
				 -ERR_INVALID);
		assert_non_null(strstr(err.text, rows[i].names[0]));
		assert_non_null(strstr(err.text, rows[i].names[1]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(selectors_match),
		cmocka_unit_test(an_object_without_labels),
		cmocka_unit_test(errors_name_the_selector),
	};

	return cmocka_run_group_tests_name("ctl/list/list_filter", tests, NULL, NULL);
}
