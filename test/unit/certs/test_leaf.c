#include "certs/leaf.h"

#include "lib/unit.h"

#include <stdio.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "certs/ca.h"

#define NOW (INT64_C(1780000000) * CLOCK_NS_PER_S)
#define DAY (86400 * CLOCK_NS_PER_S)

static struct pair ca;

static int make_ca(void **state)
{
	struct ca_options opt = { .now_ns = NOW, .days = 1000 };

	(void)state;
	pair_init(&ca);
	return ca_create(&opt, &ca, NULL);
}

static int drop_ca(void **state)
{
	(void)state;
	pair_finish(&ca);
	return 0;
}

static void test_names_and_validity(void **state)
{
	static const char *const dns[] = { "svc.ns.svc", "*.example.com" };
	static const char *const ip[] = { "10.0.0.1", "fd00::1" };
	static const struct {
		const char *name;
		int r;
	} rows[] = {
		{ "svc.ns.svc", 0 },
		{ "a.example.com", 0 },
		{ "10.0.0.1", 0 },
		{ "fd00::1", 0 },
		{ "other", -ERR_NOT_FOUND },
		{ "10.0.0.2", -ERR_NOT_FOUND },
		{ "example.com", -ERR_NOT_FOUND },
	};
	struct leaf_options opt = { .ca = &ca,
				    .dns = dns,
				    .dns_count = 2,
				    .ip = ip,
				    .ip_count = 2,
				    .now_ns = NOW,
				    .days = 30 };
	CLEANUP(pair_finish) struct pair p = PAIR_INIT;
	int64_t from, to;

	(void)state;
	assert_int_equal(leaf_create(&opt, &p, NULL), 0);
	assert_false(pair_is_ca(strbuf_str(&p.cert)));
	assert_true(pair_is_ca(strbuf_str(&ca.cert)));
	assert_false(pair_is_ca(STR_LIT("text")));
	assert_int_equal(pair_check(strbuf_str(&p.cert), strbuf_str(&p.key), NULL), 0);
	assert_int_equal(pair_is_signed_by(strbuf_str(&p.cert), strbuf_str(&ca.cert), NULL), 0);
	assert_int_equal(pair_validity(strbuf_str(&p.cert), &from, &to, NULL), 0);
	assert_true(from < NOW && from >= NOW - DAY);
	assert_true(to == NOW + 30 * DAY);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row_number(i);
		assert_int_equal(pair_covers(strbuf_str(&p.cert), rows[i].name, NULL), rows[i].r);
	}
}

static void test_never_outlives_its_authority(void **state)
{
	static const char *const dns[] = { "a" };
	struct leaf_options opt = {
		.ca = &ca, .dns = dns, .dns_count = 1, .now_ns = NOW, .days = 36500
	};
	CLEANUP(pair_finish) struct pair p = PAIR_INIT;
	int64_t from, to;

	(void)state;
	assert_int_equal(leaf_create(&opt, &p, NULL), 0);
	assert_int_equal(pair_validity(strbuf_str(&p.cert), &from, &to, NULL), 0);
	assert_true(to == NOW + 1000 * DAY);
}

static void test_refuses(void **state)
{
	static char long_label[80], long_name[300];
	const char *const bad_dns[] = { "",     "a b", "a,DNS:evil", "-a",     "a-",
					"a..b", ".a",  "a.",         "*",      "a.*",
					"*a.b", "ü",   long_label,   long_name };
	const char *const bad_ip[] = { "", "1.2.3", "1.2.3.4.5", "::g", "1.2.3.256" };
	struct leaf_options opt = { .ca = &ca, .now_ns = NOW };
	CLEANUP(pair_finish) struct pair p = PAIR_INIT;
	struct err err = ERR_INIT;

	(void)state;
	memset(long_label, 'a', 64);
	for (size_t i = 0; i < sizeof(long_name) - 1; i++) {
		long_name[i] = i % 10 == 9 ? '.' : 'a';
	}
	assert_int_equal(leaf_create(&opt, &p, &err), -ERR_INVALID); /* no name at all */
	for (size_t i = 0; i < ARRAY_LEN(bad_dns); i++) {
		unit_row(bad_dns[i]);
		opt.dns = &bad_dns[i];
		opt.dns_count = 1;
		assert_int_equal(leaf_create(&opt, &p, &err), -ERR_INVALID);
	}
	assert_non_null(strstr(err.text, "invalid DNS name"));
	opt.dns_count = 0;
	for (size_t i = 0; i < ARRAY_LEN(bad_ip); i++) {
		unit_row(bad_ip[i]);
		opt.ip = &bad_ip[i];
		opt.ip_count = 1;
		assert_int_equal(leaf_create(&opt, &p, &err), -ERR_INVALID);
	}
	assert_string_equal(err.text, "invalid IP address \"1.2.3.256\"");
	assert_int_equal(p.cert.len, 0);
}

static void test_limits(void **state)
{
	const char *names[LEAF_MAX_NAMES + 1];
	struct leaf_options opt = { .ca = &ca, .dns = names, .now_ns = NOW };
	CLEANUP(pair_finish) struct pair p = PAIR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		names[i] = "a";
	}
	opt.dns_count = LEAF_MAX_NAMES + 1;
	assert_int_equal(leaf_create(&opt, &p, NULL), -ERR_INVALID);
	opt.dns_count = LEAF_MAX_NAMES;
	opt.days = 36501;
	assert_int_equal(leaf_create(&opt, &p, NULL), -ERR_INVALID);
	opt.days = 36500;
	assert_int_equal(leaf_create(&opt, &p, NULL), 0);
}

static void test_broken_authority(void **state)
{
	static const char *const dns[] = { "a" };
	CLEANUP(pair_finish) struct pair none = PAIR_INIT;
	CLEANUP(pair_finish) struct pair p = PAIR_INIT;
	struct leaf_options opt = { .ca = &none, .dns = dns, .dns_count = 1, .now_ns = NOW };
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(leaf_create(&opt, &p, &err), -ERR_INVALID);
	assert_true(str_has_prefix(str_of(err.text), "certificate authority: certificate: "));
}

static void test_client_needs_no_name(void **state)
{
	struct leaf_options opt = { .ca = &ca,
				    .common_name = "admin",
				    .client = true,
				    .organization = "system:masters",
				    .now_ns = NOW };
	CLEANUP(pair_finish) struct pair p = PAIR_INIT;

	(void)state;
	assert_int_equal(leaf_create(&opt, &p, NULL), 0);
	assert_int_equal(pair_covers(strbuf_str(&p.cert), "admin", NULL), -ERR_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_validity),
		cmocka_unit_test(test_never_outlives_its_authority),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_broken_authority),
		cmocka_unit_test(test_client_needs_no_name),
	};

	return cmocka_run_group_tests(tests, make_ca, drop_ca);
}
