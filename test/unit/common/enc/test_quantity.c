#include "enc/quantity.h"

#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/err.h"

static const struct {
	const char *text, *canonical;
	int64_t value, milli, value_floor, milli_floor;
} forms[] = {
	{ "0", "0", 0, 0, 0, 0 },
	{ "-0", "0", 0, 0, 0, 0 },
	{ "1", "1", 1, 1000, 1, 1000 },
	{ "+1", "1", 1, 1000, 1, 1000 },
	{ "0001", "1", 1, 1000, 1, 1000 },
	{ "100m", "100m", 1, 100, 0, 100 },
	{ "-100m", "-100m", -1, -100, -1, -100 },
	{ "1500m", "1500m", 2, 1500, 1, 1500 },
	{ "2000m", "2", 2, 2000, 2, 2000 },
	{ "0.5", "500m", 1, 500, 0, 500 },
	{ ".5", "500m", 1, 500, 0, 500 },
	{ "5.", "5", 5, 5000, 5, 5000 },
	{ "1u", "1u", 1, 1, 0, 0 },
	{ "1n", "1n", 1, 1, 0, 0 },
	{ "0.1n", "1n", 1, 1, 0, 0 },
	{ "1.0000000001", "1000000001n", 2, 1001, 1, 1000 },
	{ "1k", "1k", 1000, 1000000, 1000, 1000000 },
	{ "1000", "1k", 1000, 1000000, 1000, 1000000 },
	{ "1024", "1024", 1024, 1024000, 1024, 1024000 },
	{ "1Ki", "1Ki", 1024, 1024000, 1024, 1024000 },
	{ "1024Ki", "1Mi", 1048576, 1048576000, 1048576, 1048576000 },
	{ "1.5Gi", "1536Mi", 1610612736, 1610612736000, 1610612736, 1610612736000 },
	{ "0.5Ki", "512", 512, 512000, 512, 512000 },
	{ "0.0001Ki", "102400u", 1, 103, 0, 102 },
	{ "1.0001Ki", "1024102400u", 1025, 1024103, 1024, 1024102 },
	{ "-1Gi", "-1Gi", -1073741824, -1073741824000, -1073741824, -1073741824000 },
	{ "1e3", "1e3", 1000, 1000000, 1000, 1000000 },
	{ "1E3", "1e3", 1000, 1000000, 1000, 1000000 },
	{ "1e+3", "1e3", 1000, 1000000, 1000, 1000000 },
	{ "12e-1", "1200e-3", 2, 1200, 1, 1200 },
	{ "1e-30", "1e-9", 1, 1, 0, 0 },
	{ "0e9999999999", "0", 0, 0, 0, 0 },
	{ "1E", "1E", 1000000000000000000, INT64_MAX, 1000000000000000000, INT64_MAX },
	{ "10E", "9223372036854775807", INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX },
	{ "8Ei", "9223372036854775807", INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX },
	{ "7Ei", "7Ei", INT64_C(8070450532247928832), INT64_MAX, INT64_C(8070450532247928832),
	  INT64_MAX },
	{ "9223372036854775807", "9223372036854775807", INT64_MAX, INT64_MAX, INT64_MAX,
	  INT64_MAX },
	{ "-9223372036854775809", "-9223372036854775807", -INT64_MAX, INT64_MIN, -INT64_MAX,
	  INT64_MIN },
	{ "1e40", "9223372036854775807", INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX },
	{ "99999999999999999999999999999999999999999n", "9223372036854775807", INT64_MAX, INT64_MAX,
	  INT64_MAX, INT64_MAX },
	{ "100000000000000000000000000n", "100P", INT64_C(100000000000000000), INT64_MAX,
	  INT64_C(100000000000000000), INT64_MAX },
};

static void test_parse_and_format(void **state)
{
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		char out[QUANTITY_TEXT_MAX];
		struct quantity q;

		if (quantity_parse(str_of(forms[i].text), &q, NULL) != 0) {
			fail_msg("%s refused", forms[i].text);
		}
		quantity_format(q, out);
		assert_string_equal(out, forms[i].canonical);
		assert_true(quantity_value(q) == forms[i].value);
		assert_true(quantity_milli(q) == forms[i].milli);
		assert_true(quantity_value_floor(q) == forms[i].value_floor);
		assert_true(quantity_milli_floor(q) == forms[i].milli_floor);
	}
}

/* The format of zero is that in which it is written: a sum with it has that format. */
static void test_zero_keeps_its_format(void **state)
{
	static const struct {
		const char *text;
		enum quantity_format format;
	} rows[] = {
		{ "0", QUANTITY_DECIMAL_SI },
		{ "0Ki", QUANTITY_BINARY_SI },
		{ "0.0001Ki", QUANTITY_DECIMAL_SI },
	};
	struct quantity q;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].text);
		assert_int_equal(quantity_parse(str_of(rows[i].text), &q, NULL), 0);
		assert_int_equal(q.format, rows[i].format);
	}
}

static void test_refused(void **state)
{
	static const char *const rows[] = { "",     "1x",  "x",    "m",     ".",    "-",
					    "+",    "1 ",  " 1",   "1K",    "1ki",  "1Kib",
					    "1e",   "1e+", "1e1m", "1.1.1", "1,0",  "--1",
					    "0x10", "1mm", "1Eii", "1i",    "1e1.5" };
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		struct quantity q = { 77, QUANTITY_BINARY_SI };
		char want[64];

		unit_row(rows[i]);
		assert_int_equal(quantity_parse(str_of(rows[i]), &q, &err), -ERR_INVALID);
		snprintf(want, sizeof(want), "invalid quantity \"%s\"", rows[i]);
		assert_string_equal(err.text, want);
		assert_true(q.nano == 77);
	}
}

static void test_length_limit(void **state)
{
	char text[QUANTITY_TEXT_MAX + 1];
	struct quantity q;
	(void)state;

	memset(text, '0', sizeof(text));
	assert_int_equal(quantity_parse((struct str){ text, QUANTITY_TEXT_MAX - 1 }, &q, NULL), 0);
	assert_int_equal(quantity_parse((struct str){ text, QUANTITY_TEXT_MAX }, &q, NULL),
			 -ERR_INVALID);
	/* The longest fraction rounds up and cannot overflow. */
	memset(text, '9', sizeof(text));
	text[0] = '.';
	memcpy(text + 61, "Ei", 2);
	assert_int_equal(quantity_parse((struct str){ text, 63 }, &q, NULL), 0);
	assert_true(quantity_value(q) == INT64_C(1152921504606846976));
}

static struct quantity q_of(const char *text)
{
	struct quantity q = { 0, QUANTITY_DECIMAL_SI };

	assert_int_equal(quantity_parse(str_of(text), &q, NULL), 0);
	return q;
}

static void test_arithmetic(void **state)
{
	char out[QUANTITY_TEXT_MAX];
	(void)state;

	quantity_format(quantity_add(q_of("1Gi"), q_of("512Mi")), out);
	assert_string_equal(out, "1536Mi");
	quantity_format(quantity_add(q_of("9E"), q_of("9E")), out);
	assert_string_equal(out, "9223372036854775807");
	assert_true(quantity_cmp(q_of("1"), q_of("1000m")) == 0);
	assert_true(quantity_cmp(q_of("1Ki"), q_of("1k")) > 0);
	assert_true(quantity_cmp(q_of("-1"), q_of("0")) < 0);
	assert_true(quantity_is_zero(q_of("0Gi")));
	quantity_format(quantity_of(2048, QUANTITY_BINARY_SI), out);
	assert_string_equal(out, "2Ki");
	quantity_format(quantity_of(INT64_MIN, QUANTITY_DECIMAL_SI), out);
	assert_string_equal(out, "-9223372036854775807");
	quantity_format(quantity_of_milli(1500), out);
	assert_string_equal(out, "1500m");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_and_format),
		cmocka_unit_test(test_zero_keeps_its_format),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_length_limit),
		cmocka_unit_test(test_arithmetic),
	};

	return cmocka_run_group_tests_name("quantity", tests, NULL, NULL);
}
