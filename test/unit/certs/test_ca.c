#include "certs/ca.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"

#define NOW (INT64_C(1780000000) * CLOCK_NS_PER_S)
#define DAY (86400 * CLOCK_NS_PER_S)

static void test_create(void **state)
{
	struct ca_options opt = { .now_ns = NOW };
	CLEANUP(pair_finish) struct pair a = PAIR_INIT;
	CLEANUP(pair_finish) struct pair b = PAIR_INIT;
	int64_t from, to;

	(void)state;
	assert_int_equal(ca_create(&opt, &a, NULL), 0);
	assert_int_equal(ca_create(&opt, &b, NULL), 0);
	assert_int_equal(pair_check(strbuf_str(&a.cert), strbuf_str(&a.key), NULL), 0);
	assert_int_equal(pair_is_signed_by(strbuf_str(&a.cert), strbuf_str(&a.cert), NULL), 0);
	assert_int_equal(pair_is_signed_by(strbuf_str(&a.cert), strbuf_str(&b.cert), NULL),
			 -ERR_INVALID);
	assert_int_equal(pair_validity(strbuf_str(&a.cert), &from, &to, NULL), 0);
	assert_true(from < NOW);
	assert_true(to == NOW + 3650 * DAY);
}

static void test_days(void **state)
{
	struct ca_options opt = { .now_ns = NOW, .days = 36501 };
	CLEANUP(pair_finish) struct pair p = PAIR_INIT;
	int64_t from, to;

	(void)state;
	assert_int_equal(ca_create(&opt, &p, NULL), -ERR_INVALID);
	assert_int_equal(p.cert.len, 0);
	opt.days = 36500; /* past 2049: another time format inside the certificate */
	assert_int_equal(ca_create(&opt, &p, NULL), 0);
	assert_int_equal(pair_validity(strbuf_str(&p.cert), &from, &to, NULL), 0);
	assert_true(to == NOW + 36500 * DAY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create),
		cmocka_unit_test(test_days),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
