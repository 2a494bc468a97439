/* The subset of CEL: what it computes, and what it refuses. */
#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "schema/cel.h"
#include "schema/cel_eval.h"

static const char object[] =
	"{\"metadata\":{\"name\":\"p\",\"annotations\":{\"x/y\":\"true\"}},"
	"\"spec\":{\"n\":3,\"list\":[1,\"two\"],\"empty\":\"\",\"nothing\":null,\"d\":2.5,"
	"\"e\":3.5}}";

enum outcome { NO, YES, FAILS, REFUSED };

static enum outcome run(struct str text)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	struct cel_vars vars = { 0 };
	struct cel *cel = NULL;
	bool truth = false;
	int r = jdoc_parse(STR_LIT(object), &doc, NULL);

	assert_int_equal(r, 0);
	vars.object = doc;
	if (cel_compile(text, &cel, NULL) < 0) {
		return REFUSED;
	}
	r = cel_eval_bool(cel, &vars, &truth, NULL);
	cel_destroy(cel);
	return r < 0 ? FAILS : truth ? YES : NO;
}

static const struct {
	const char *text;
	enum outcome want;
} rows[] = {
	{ "true", YES },
	{ "!true", NO },
	{ "!!true", YES },
	{ "object.metadata.name == 'p'", YES },
	{ "object.metadata.name != \"p\"", NO },
	{ "has(object.metadata.labels)", NO },
	{ "has(object.metadata.annotations)", YES },
	{ "object.metadata.labels == 1", FAILS },
	{ "object.metadata.labels == 1 || true", YES },
	{ "false && object.metadata.labels == 1", NO },
	{ "object.metadata.labels == 1 && false", NO },
	{ "object.metadata.labels == 1 && true", FAILS },
	{ "'x/y' in object.metadata.annotations", YES },
	{ "object.metadata.annotations['x/y'] == 'true'", YES },
	{ "object.metadata.annotations['z'] == 'true'", FAILS },
	{ "object.spec.n in [1, 2, 3]", YES },
	{ "object.spec.n in [1, 2]", NO },
	{ "object.spec.n >= 3 && object.spec.n < 4", YES },
	{ "object.spec.n < 'a'", FAILS },
	{ "object.spec.n == -3", NO },
	{ "object.spec.list[0] == 1 && object.spec.list[1] == 'two'", YES },
	{ "object.spec.n < object.spec.e && object.spec.e > object.spec.n", YES },
	{ "object.spec.n > object.spec.d && object.spec.d < object.spec.n", YES },
	{ "object.spec.d > object.spec.n || object.spec.n < object.spec.d", NO },
	{ "object.spec.d < object.spec.e && !(object.spec.e < object.spec.d)", YES },
	{ "'a' < 'ab' && 'ab' < 'b' && !('b' < 'ab')", YES },
	{ "object.spec.list[2] == 1", FAILS },
	{ "object.spec.list == [1, 'two']", YES },
	{ "size(object.spec.list) == 2 && object.metadata.name.size() == 1", YES },
	{ "object.spec.list.exists(x, x == 'two')", YES },
	{ "object.spec.list.all(x, x == 'two')", NO },
	{ "object.metadata.annotations.exists(k, k.startsWith('x/'))", YES },
	{ "'abc'.startsWith('ab') && 'abc'.endsWith('bc') && 'abc'.contains('b')", YES },
	{ "object.spec.nothing == null", YES },
	{ "oldObject == null", YES },
	{ "{'a': 1}['a'] == 1", YES },
	{ "object.spec.n == 3 ? object.spec.empty == '' : false", YES },
	{ "object.spec.n", FAILS },
	{ "object.spec.n && true", FAILS },
	{ "'\\'' == \"'\"", YES },
	{ "'\\r\\n\\t' == '\r\n\t'", YES },
	{ "", REFUSED },
	{ "1 + 1 == 2", REFUSED },
	{ "object.metadata.name.matches('p')", REFUSED },
	{ "authorizer.path('/x').check('get').allowed()", REFUSED },
	{ "object.?metadata", REFUSED },
	{ "unknown == 1", REFUSED },
	{ "has(object)", REFUSED },
	{ "object.", REFUSED },
	{ "'open", REFUSED },
	{ "(true", REFUSED },
	{ "true true", REFUSED },
	{ "1.5 == 1.5", REFUSED },
	{ "object.spec.list.exists(x, y == 1)", REFUSED },
	{ "99999999999999999999 == 1", REFUSED },
};

static void test_expressions(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (run(str_of(rows[i].text)) != rows[i].want) {
			fail_msg("%s: %d", rows[i].text, run(str_of(rows[i].text)));
		}
	}
}

static void test_limits(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf deep = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf longest = STRBUF_INIT;

	(void)state;
	for (int extra = 0; extra <= 1; extra++) {
		strbuf_reset(&deep);
		for (int i = 1; i < CEL_MAX_DEPTH + extra; i++) {
			strbuf_add_ch(&deep, '(');
		}
		strbuf_add_c(&deep, "true");
		for (int i = 1; i < CEL_MAX_DEPTH + extra; i++) {
			strbuf_add_ch(&deep, ')');
		}
		assert_int_equal(run(strbuf_str(&deep)), extra == 0 ? YES : REFUSED);
	}
	strbuf_add_c(&longest, "true");
	while (longest.len < CEL_MAX_BYTES) {
		strbuf_add_ch(&longest, ' ');
	}
	assert_int_equal(run(strbuf_str(&longest)), YES);
	strbuf_add_ch(&longest, ' ');
	assert_int_equal(run(strbuf_str(&longest)), REFUSED);
}

/* More links of any kind of chain than CEL_MAX_DEPTH. */
static void test_long_chains(void **state)
{
	static const struct {
		const char *first, *link;
	} chains[] = {
		{ "true", " && true" }, { "true", " || true" }, { "1", " == 1" },
		{ "1", " * 1" },        { "object", ".a" },     { "(", "(" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(chains); i++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		struct cel *cel = NULL;
		struct err err = ERR_INIT;

		unit_row(chains[i].link);
		strbuf_add_c(&text, chains[i].first);
		for (unsigned n = 0; n <= CEL_MAX_DEPTH; n++) {
			strbuf_add_c(&text, chains[i].link);
		}
		assert_true(cel_compile(strbuf_str(&text), &cel, &err) < 0);
		assert_non_null(strstr(err.text, "too deep"));
	}
}

/* The place is that of the first thing that cannot be read. */
static void test_refusals_name_the_place(void **state)
{
	static const struct {
		const char *text, *error;
	} refused[] = {
		{ "", "offset 0: unexpected end" },
		{ "(", "offset 1: unexpected end" },
		{ "(1 == 1", "offset 7: expected )" },
		{ "(1 ==", "offset 5: unexpected end" },
		{ "[1, ", "offset 4: unexpected end" },
		{ "1 ==", "offset 4: unexpected end" },
		{ "!", "offset 1: unexpected end" },
		{ "(?", "offset 1: unexpected character" },
		{ "size(?", "offset 5: unexpected character" },
		{ "'a'.startsWith(?", "offset 15: unexpected character" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		struct cel *cel = NULL;
		struct err err = ERR_INIT;

		unit_row(refused[i].text);
		assert_true(cel_compile(str_of(refused[i].text), &cel, &err) < 0);
		assert_string_equal(err.text, refused[i].error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_chains),
		cmocka_unit_test(test_refusals_name_the_place),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
