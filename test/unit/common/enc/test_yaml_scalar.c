#include "enc/yaml_scalar.h"

#include "lib/unit.h"

#include "base/strbuf.h"
#include "enc/json/jdoc.h"

static void test_resolve(void **state)
{
	static const char *const rows[][2] = {
		{ "", "null" },
		{ "~", "null" },
		{ "NULL", "null" },
		{ "nULL", "\"nULL\"" },
		{ "TRUE", "true" },
		{ "False", "false" },
		{ "yes", "\"yes\"" },
		{ "0", "0" },
		{ "-0", "0" },
		{ "+12", "12" },
		{ "-12", "-12" },
		{ "007", "7" },
		{ "0755", "493" },
		{ "0o755", "493" },
		{ "0xff", "255" },
		{ "-0x10", "-16" },
		{ "089", "89" },
		{ "1.5", "1.5" },
		{ ".5", "0.5" },
		{ "5.", "5" },
		{ "1e3", "1000" },
		{ "1E-2", "0.01" },
		{ "1e", "\"1e\"" },
		{ ".", "\".\"" },
		{ "-", "\"-\"" },
		{ "1_000", "\"1_000\"" },
		{ "0x", "\"0x\"" },
		{ "0b11", "\"0b11\"" },
		{ "12:30", "\"12:30\"" },
		{ "1Gi", "\"1Gi\"" },
		{ "123456789012345678901234567890", "1.2345678901234568e+29" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct jdoc *d CLEANUP(jdoc_destroyp) = yaml_scalar_resolve(str_of(rows[i][0]));
		struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;

		jdoc_format(d, &out);
		if (strcmp(out.p, rows[i][1]) != 0) {
			fail_msg("%s: got %s, want %s", rows[i][0], out.p, rows[i][1]);
		}
	}
}

static void test_not_in_json(void **state)
{
	static const char *const rows[] = { ".inf", "-.Inf", "+.INF", ".NaN", "1e999" };
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row_number(i);
		assert_null(yaml_scalar_resolve(str_of(rows[i])));
	}
}

static void test_quotes(void **state)
{
	static const char *const quoted[] = { "",
					      "null",
					      "true",
					      "Yes",
					      "on",
					      "n",
					      "12",
					      "-1.5",
					      "0644",
					      "0x1F",
					      "1e3",
					      "1_000",
					      "0b101",
					      "<<",
					      "=",
					      ".inf",
					      "2026-01-02",
					      "12:30:45",
					      "2026-01-02T03:04:05Z" };
	static const char *const plain[] = { "a",       "1Gi",     "100m",  "10.0.0.1", "v1",
					     "nothing", "2026-ab", "1-2-3", "a:b",      "trues" };
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(quoted); i++) {
		if (!yaml_scalar_needs_quotes(str_of(quoted[i]))) {
			fail_msg("%s must be quoted", quoted[i]);
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
		if (yaml_scalar_needs_quotes(str_of(plain[i]))) {
			fail_msg("%s needs no quotes", plain[i]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_not_in_json),
		cmocka_unit_test(test_quotes),
	};

	return cmocka_run_group_tests_name("yaml_scalar", tests, NULL, NULL);
}
