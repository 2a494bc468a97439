/* x-kubernetes-validations: documents in, causes out. */
#include "schema/rules.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"

static struct jdoc *parse(const char *text)
{
	struct jdoc *d = NULL;
	int r = yaml_parse(str_of(text), &d, NULL);

	assert_int_equal(r, 0);
	return d;
}

#define RULE(rule) "{x-kubernetes-validations: [{rule: \"" rule "\", message: m}]}"

static const struct {
	const char *schema, *doc, *causes; /* "field: message; " */
} rows[] = {
	{ RULE("self.a == 1"), "{a: 1}", "" },
	{ RULE("self.a == 1"), "{a: 2}", ": Invalid value: \"object\": m; " },
	{ RULE("self == oldSelf"), "{a: 2}", "" },
	{ RULE("self.map(x, size(x)).sum() <= 2"), "[[1], [2]]", "" },
	{ RULE("self.map(x, size(x)).sum() <= 2"), "[[1], [2, 3]]",
	  ": Invalid value: \"array\": m; " },
	{ RULE("self.filter(x, x > 1).size() <= 1"), "[1, 2]", "" },
	{ RULE("self.filter(x, x > 1).size() <= 1"), "[2, 2]", ": Invalid value: \"array\": m; " },
	{ RULE("self.all(x, self.exists_one(y, x == y))"), "[1, 2]", "" },
	{ RULE("self.all(x, self.exists_one(y, x == y))"), "[1, 1]",
	  ": Invalid value: \"array\": m; " },
	{ RULE("size(self.a) * size(self.b) <= 4"), "{a: [1, 2], b: [1, 2]}", "" },
	{ RULE("size(self.a) * size(self.b) <= 4"), "{a: [1, 2], b: [1, 2, 3]}",
	  ": Invalid value: \"object\": m; " },
	{ "{properties: {a: {items: " RULE("self > 0") "}}}", "{a: [1, 0]}",
	  "a[1]: Invalid value: 0: m; " },
	{ "{x-kubernetes-validations: [{rule: 'false', fieldPath: .b.c, message: m}]}", "{}",
	  "b.c: Invalid value: \"object\": m; " },
	{ "{x-kubernetes-validations: [{rule: 'false'}]}", "{}",
	  ": Invalid value: \"object\": failed rule: false; " },
	{ "{x-kubernetes-validations: [{rule: 'self.a > 1', message: m}]}", "{}",
	  ": Invalid value: \"object\": failed rule: self.a > 1: no such key: a; " },
	{ "{x-kubernetes-validations: [{rule: 'object.a', message: m}]}", "{}",
	  ": Invalid value: \"object\": failed rule: object.a: offset 6: undeclared reference; " },
};

static void test_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *schema = parse(rows[i].schema);
		CLEANUP(jdoc_destroyp) struct jdoc *doc = parse(rows[i].doc);
		CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();
		CLEANUP(strbuf_finish) struct strbuf found = STRBUF_INIT;

		rules_check(schema, doc, causes);
		for (const struct jdoc *c = jdoc_first(causes); c != NULL; c = jdoc_next(c)) {
			strbuf_printf(&found, "%s: %s; ", jdoc_str_or(jdoc_get(c, "field"), ""),
				      jdoc_str_or(jdoc_get(c, "message"), ""));
		}
		if (!str_streq(rows[i].causes, found.len > 0 ? found.p : "")) {
			fail_msg("%s of %s: %s", rows[i].schema, rows[i].doc, found.p);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests_name("schema/rules", tests, NULL, NULL);
}
