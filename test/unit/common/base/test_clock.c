#include "base/clock.h"

#include "lib/unit.h"

#include <time.h>

#include "base/attrs.h"
#include "base/err.h"

#define S CLOCK_NS_PER_S

static void test_format(void **state)
{
	static const struct {
		int64_t ns;
		const char *time, *micro;
	} cases[] = {
		{ 0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z" },
		{ -1, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999999Z" },
		{ 951782400 * S + 1999, "2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000001Z" },
		{ 1709164799 * S, "2024-02-28T23:59:59Z", "2024-02-28T23:59:59.000000Z" },
		{ 1709251200 * S, "2024-03-01T00:00:00Z", "2024-03-01T00:00:00.000000Z" },
		{ 4102444800 * S, "2100-01-01T00:00:00Z", "2100-01-01T00:00:00.000000Z" },
		{ INT64_MAX, "2262-04-11T23:47:16Z", "2262-04-11T23:47:16.854775Z" },
		{ INT64_MIN, "1677-09-21T00:12:43Z", "1677-09-21T00:12:43.145224Z" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char out[CLOCK_RFC3339_MAX];

		unit_row(cases[i].time);
		clock_format_time(cases[i].ns, out);
		assert_string_equal(out, cases[i].time);
		clock_format_micro(cases[i].ns, out);
		assert_string_equal(out, cases[i].micro);
	}
}

static void test_parse_time(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "2026-01-02T15:04:05Z", 1767366245 * S },
		{ "2026-01-02T15:04:05.5Z", 1767366245 * S + S / 2 },
		{ "2026-01-02T15:04:05.000001Z", 1767366245 * S + 1000 },
		{ "2026-01-02T15:04:05.1234567899Z", 1767366245 * S + 123456789 },
		{ "2026-01-02T16:04:05+01:00", 1767366245 * S },
		{ "2026-01-02T09:34:05-05:30", 1767366245 * S },
		{ "2024-02-29T00:00:00Z", 1709164800 * S },
		{ "2000-02-29T00:00:00Z", 951782400 * S },
		{ "1969-12-31T23:59:59.5Z", -S / 2 },
		{ "2262-04-11T23:47:16.854775807Z", INT64_MAX },
		{ "1677-09-21T00:12:43.145224192Z", INT64_MIN },
		{ "2262-04-11T23:47:16.854775808Z", INT64_MAX },
		{ "1677-09-21T00:12:43.145224191Z", INT64_MIN },
		{ "9999-12-31T23:59:59Z", INT64_MAX },
		{ "0000-01-01T00:00:00Z", INT64_MIN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t ns = 77;

		unit_row(cases[i].text);
		assert_int_equal(clock_parse_time(str_of(cases[i].text), &ns), 0);
		assert_true(ns == cases[i].ns);
	}
}

static void test_parse_time_refuses(void **state)
{
	static const char *const cases[] = {
		"",
		"2026",
		"2026-01-02",
		"2026-01-02T15:04:05",
		"2026-01-02 15:04:05Z",
		"2026-01-02t15:04:05z",
		"2026-1-02T15:04:05Z",
		"2026-00-02T15:04:05Z",
		"2026-13-02T15:04:05Z",
		"2026-01-00T15:04:05Z",
		"2026-01-32T15:04:05Z",
		"2026-02-29T15:04:05Z",
		"2100-02-29T15:04:05Z",
		"2026-04-31T15:04:05Z",
		"2026-01-02T24:00:00Z",
		"2026-01-02T15:60:05Z",
		"2026-01-02T15:04:60Z",
		"2026-01-02T15:04:05.Z",
		"2026-01-02T15:04:05+24:00",
		"2026-01-02T15:04:05+01:60",
		"2026-01-02T15:04:05+0100",
		"2026-01-02T15:04:05ZZ",
		"+026-01-02T15:04:05Z",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t ns = 77;

		unit_row(cases[i]);
		assert_int_equal(clock_parse_time(str_of(cases[i]), &ns), -ERR_INVALID);
		assert_int_equal(ns, 77);
	}
}

/* Every day for 400 years: formatting and parsing agree and days follow each other. */
static void test_round_trip(void **state)
{
	const int64_t day = 86400 * S;

	(void)state;
	for (int64_t d = -100000; d < 106000; d += 1) {
		char out[CLOCK_RFC3339_MAX];
		int64_t back = 0;

		clock_format_time(d * day + 12 * 3600 * S, out);
		assert_int_equal(clock_parse_time(str_of(out), &back), 0);
		assert_true(back == d * day + 12 * 3600 * S);
	}
}

static void test_parse_duration(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = {
		{ "0", 0 },
		{ "+0", 0 },
		{ "0s", 0 },
		{ "1ns", 1 },
		{ "1us", 1000 },
		{ "1\xc2\xb5s", 1000 },
		{ "1\xce\xbcs", 1000 },
		{ "500ms", 500 * CLOCK_NS_PER_MS },
		{ "1.5s", 3 * S / 2 },
		{ "+5s", 5 * S },
		{ ".5s", S / 2 },
		{ "1.s", S },
		{ "1h30m", 5400 * S },
		{ "1m1s1ms", 61 * S + CLOCK_NS_PER_MS },
		{ "0.000000000001h", 3 },
		{ "0.3333333333333333333h", INT64_C(1199999999999) },
		{ "9223372036854775807ns", INT64_MAX },
		{ "2562047h47m16.854775807s", INT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t ns = 77;

		unit_row(cases[i].text);
		assert_int_equal(clock_parse_duration(str_of(cases[i].text), &ns), 0);
		assert_true(ns == cases[i].ns);
	}
}

static void test_parse_duration_refuses(void **state)
{
	static const char *const cases[] = {
		"",
		"+",
		"-",
		"1",
		"-1s",
		"-0",
		"s",
		".s",
		"1.5",
		"1x",
		"1s ",
		" 1s",
		"1 s",
		"1S",
		"1d",
		"1h-1m",
		"++1s",
		"1e3s",
		"00",
		"1.1.1s",
		"9223372036854775808ns",
		"2562047h47m16.854775808s",
		"99999999999999999999s",
		"10000000h",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t ns = 77;

		unit_row(cases[i]);
		assert_int_equal(clock_parse_duration(str_of(cases[i]), &ns), -ERR_INVALID);
		assert_int_equal(ns, 77);
	}
}

static void test_fake(void **state)
{
	struct clock_fake c;

	(void)state;
	clock_fake_init(&c, 1000);
	assert_int_equal(clock_mono(&c.base), 0);
	assert_int_equal(clock_wall(&c.base), 1000);
	clock_fake_advance(&c, 5);
	assert_int_equal(clock_mono(&c.base), 5);
	assert_int_equal(clock_wall(&c.base), 1005);
}

static void test_real(void **state)
{
	const struct clock *c = clock_real();
	int64_t last = clock_mono(c);

	(void)state;
	for (int i = 0; i < 100; i++) {
		int64_t now = clock_mono(c);

		assert_true(now >= last);
		last = now;
	}
	assert_true(clock_wall(c) > 1600000000 * S); /* the unit is nanoseconds since 1970 */
}

static void test_earlier_later(void **state)
{
	(void)state;
	assert_int_equal(clock_earlier(-1, CLOCK_NEVER), -1);
	assert_int_equal(clock_earlier(CLOCK_NEVER, -1), -1);
	assert_int_equal(clock_later(-1, CLOCK_NEVER), CLOCK_NEVER);
	assert_int_equal(clock_later(CLOCK_NEVER, -1), CLOCK_NEVER);
}

static void test_of_utc(void **state)
{
	const struct tm day = { .tm_year = 100, .tm_mon = 1, .tm_mday = 29, .tm_sec = 1 };
	const struct tm late = { .tm_year = 9999 - 1900, .tm_mon = 11, .tm_mday = 31 };
	const struct tm early = { .tm_year = 1 - 1900, .tm_mday = 1 };
	(void)state;

	assert_true(clock_of_utc(&day) == 951782401 * CLOCK_NS_PER_S);
	assert_true(clock_of_utc(&late) == INT64_MAX);
	assert_true(clock_of_utc(&early) == INT64_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_utc),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_parse_time),
		cmocka_unit_test(test_parse_time_refuses),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_parse_duration),
		cmocka_unit_test(test_parse_duration_refuses),
		cmocka_unit_test(test_fake),
		cmocka_unit_test(test_real),
		cmocka_unit_test(test_earlier_later),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
