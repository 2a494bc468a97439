#include "certs/pair.h"

#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "certs/ca.h"
#include "certs/x509.h"
#include "process/file.h"

static struct pair one, two;

static int make(void **state)
{
	struct ca_options opt = { .now_ns = INT64_C(1780000000) * CLOCK_NS_PER_S };

	(void)state;
	pair_init(&one);
	pair_init(&two);
	return ca_create(&opt, &one, NULL) < 0 || ca_create(&opt, &two, NULL) < 0;
}

static int drop(void **state)
{
	(void)state;
	pair_finish(&one);
	pair_finish(&two);
	return 0;
}

static void test_check(void **state)
{
	static const char encrypted[] = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
					"MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAg=\n"
					"-----END ENCRYPTED PRIVATE KEY-----\n";
	struct str cert = strbuf_str(&one.cert), key = strbuf_str(&one.key);
	const struct {
		struct str cert, key;
		const char *text; /* NULL: fine */
	} rows[] = {
		{ cert, key, NULL },
		{ cert, strbuf_str(&two.key),
		  "the private key does not belong to the certificate" },
		{ STR_LIT(""), key, "certificate: " },
		{ STR_LIT("text"), key, "certificate: " },
		{ key, key, "certificate: " },
		{ { cert.p, cert.len / 2 }, key, "certificate: " },
		{ cert, STR_LIT(""), "private key: " },
		{ cert, cert, "private key: " },
		{ cert, { key.p, key.len / 2 }, "private key: " },
		{ cert, STR_LIT(encrypted), "private key: " },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		int r = pair_check(rows[i].cert, rows[i].key, &err);

		unit_row(rows[i].text);
		assert_int_equal(r, rows[i].text != NULL ? -ERR_INVALID : 0);
		assert_true(
			str_has_prefix(str_of(err.text), rows[i].text != NULL ? rows[i].text : ""));
	}
}

static void test_size_limit(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf big = STRBUF_INIT;
	int64_t from, to;

	(void)state;
	strbuf_add_str(&big, strbuf_str(&one.cert));
	while (big.len < PAIR_MAX_BYTES) {
		strbuf_add_ch(&big, '\n');
	}
	assert_int_equal(pair_validity(strbuf_str(&big), &from, &to, NULL), 0);
	strbuf_add_ch(&big, '\n');
	assert_int_equal(pair_validity(strbuf_str(&big), &from, &to, NULL), -ERR_INVALID);
}

static void test_read(void **state)
{
	CLEANUP(pair_finish) struct pair p = PAIR_INIT;
	char dir[] = "/tmp/headgate-pair-XXXXXX";
	struct err err = ERR_INIT;
	char cert[64], key[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(cert, sizeof(cert), "%s/tls.crt", dir);
	snprintf(key, sizeof(key), "%s/tls.key", dir);
	assert_int_equal(file_write_atomic(cert, strbuf_str(&one.cert), 0644, NULL), 0);
	assert_true(pair_read(cert, key, &p, &err) < 0);
	assert_non_null(strstr(err.text, key));
	pair_finish(&p);
	assert_int_equal(file_write_atomic(key, strbuf_str(&one.key), 0600, NULL), 0);
	assert_int_equal(pair_read(cert, key, &p, NULL), 0);
	assert_int_equal(pair_check(strbuf_str(&p.cert), strbuf_str(&p.key), NULL), 0);
	unlink(cert);
	unlink(key);
	rmdir(dir);
}

/* The date that RFC 5280 gives to a certificate without end lies beyond what nanoseconds count. */
static void test_no_expiration(void **state)
{
	ASN1_TIME *t = ASN1_TIME_new();

	(void)state;
	assert_int_equal(ASN1_TIME_set_string_X509(t, "99991231235959Z"), 1);
	assert_true(x509_time(t) == INT64_MAX);
	ASN1_TIME_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_expiration),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_size_limit),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
