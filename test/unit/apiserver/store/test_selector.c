/* Selectors against one object. */
#include "lib/unit.h"

#include <stdlib.h>

#include "apiserver/store/object.h"
#include "apiserver/store/resource.h"
#include "apiserver/store/selector.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"

static void test_rows(void **state)
{
	static const char *const fields[] = { "spec.nodeName", "spec.on", NULL };
	static const struct {
		const char *labels, *fields;
		int want; /* -1: refused */
	} rows[] = {
		{ "", "", 1 },
		{ "a=b", "", 1 },
		{ "a==b,c=d", "", 1 },
		{ "a!=b", "", 0 },
		{ "x!=b", "", 1 },
		{ "a", "", 1 },
		{ "!a", "", 0 },
		{ "!x", "", 1 },
		{ "a in (x, b)", "", 1 },
		{ "a notin (x,b)", "", 0 },
		{ "x notin (y)", "", 1 },
		{ "x in (y)", "", 0 },
		{ "example.com/k=v", "", 1 },
		{ "a=", "", 0 },
		{ "e=", "", 1 },
		{ "in=x", "", 0 },
		{ "a in b", "", -1 },
		{ "a in (b", "", -1 },
		{ "=b", "", -1 },
		{ "a=b c", "", -1 },
		{ "", "spec.nodeName=n1", 1 },
		{ "", "spec.nodeName!=n1", 0 },
		{ "", "spec.nodeName=", 0 },
		{ "", "metadata.name=p,metadata.namespace=ns", 1 },
		{ "", "spec.on=true", 1 },
		{ "", "spec.other=1", -1 },
		{ "", "spec.nodeName", -1 },
	};
	const struct resource res = { .fields = fields };
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	CLEANUP(object_unrefp) struct object *o = NULL;

	(void)state;
	assert_int_equal(
		jdoc_parse(STR_LIT("{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\","
				   "\"resourceVersion\":\"1\",\"labels\":{\"a\":\"b\",\"c\":\"d\","
				   "\"e\":\"\",\"example.com/k\":\"v\"}},"
				   "\"spec\":{\"nodeName\":\"n1\",\"on\":true}}"),
			   &doc, NULL),
		0);
	o = object_create(doc, 1, fields);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct selector *s = NULL;
		int got = selector_parse(str_of(rows[i].labels), str_of(rows[i].fields), &res, &s,
					 NULL);

		got = got < 0 ? -1 : selector_matches(s, o);
		selector_destroy(s);
		if (got != rows[i].want) {
			fail_msg("%s %s: %d", rows[i].labels, rows[i].fields, got);
		}
	}
}

static void test_limit(void **state)
{
	static const char *const fields[] = { NULL };
	const struct resource res = { .fields = fields };
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct selector *s = NULL;

	(void)state;
	for (int i = 0; i < SELECTOR_MAX; i++) {
		strbuf_add_c(&text, i == 0 ? "a" : ",a");
	}
	assert_int_equal(selector_parse(strbuf_str(&text), STR_LIT(""), &res, &s, NULL), 0);
	selector_destroy(s);
	strbuf_add_c(&text, ",a");
	assert_int_equal(selector_parse(strbuf_str(&text), STR_LIT(""), &res, &s, NULL),
			 -ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows),
					    cmocka_unit_test(test_limit) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
