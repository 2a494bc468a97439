#include "webhook/certs/cert_secret.h"

#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "enc/json/jdoc.h"
#include "lib/unit.h"
#include "webhook/certs/cert_names.h"

#define NOW (INT64_C(1780000000) * CLOCK_NS_PER_S)
#define HOUR (3600 * CLOCK_NS_PER_S)

static const char ed25519_cert[] =
	"-----BEGIN CERTIFICATE-----\n"
	"MIIBQjCB9aADAgECAhQgVT59aURUN2N74DlEgzLQX03P6jAFBgMrZXAwHjEcMBoG\n"
	"A1UEAwwTaGVhZGdhdGUtd2ViaG9vay1jYTAeFw0yNjA1MjgyMDIxNDBaFw0yNjA2\n"
	"MTAwODI2NDBaMB4xHDAaBgNVBAMME2hlYWRnYXRlLXdlYmhvb2stY2EwKjAFBgMr\n"
	"ZXADIQAHCizUj+oK5AHGKVMZ1Cqq7hEOQYsyki7RwwH75JPMtaNFMEMwEgYDVR0T\n"
	"AQH/BAgwBgEB/wIBADAOBgNVHQ8BAf8EBAMCAYYwHQYDVR0OBBYEFMt1sNN/oRrf\n"
	"rGFlMviDQTrxGK/zMAUGAytlcANBAO/V6yZrV/s3NwRdbiTRHhYniq+fI8qwVmQU\n"
	"voM86YqKBU5u1mrjGpda7CzZD0UNPlqDJIcjSBohfzg7Sq1RZwc=\n"
	"-----END CERTIFICATE-----\n";
static const char ed25519_key[] =
	"-----BEGIN PRIVATE KEY-----\n"
	"MC4CAQAwBQYDK2VwBCIEIG5R0BWP7qtHtKoO61Eti8TveSB+TiLKVeGSiPMrCPdE\n"
	"-----END PRIVATE KEY-----\n";

static struct cert_names names;
static struct cert_secret_options opt = {
	.names = &names, .ca_ns = 300 * HOUR, .leaf_ns = 30 * HOUR, .keep_old_ns = HOUR
};

static int setup(void **state)
{
	static struct cert_secret s;

	cert_secret_init(&s);
	*state = &s;
	if (cert_names_of(&names, "ns", "svc", NULL, NULL) < 0) {
		return -1;
	}
	return cert_secret_apply(&s, CERT_MAKE_ALL, &opt, NOW, NULL);
}

static int teardown(void **state)
{
	cert_secret_finish(*state);
	cert_names_finish(&names);
	return 0;
}

static unsigned facts_at(const struct cert_secret *s, int64_t now)
{
	int64_t until;

	return cert_secret_facts(s, &opt, now, &until);
}

#define GOOD (CERT_CA_GOOD | CERT_LEAF_GOOD)

static void test_ages(void **state)
{
	static const struct {
		const char *name;
		int64_t at_h;
		unsigned facts;
		int64_t until_h;
	} rows[] = {
		{ "new", 0, GOOD, 20 },
		{ "before the leaf is due", 19, GOOD, 20 },
		{ "the leaf is due", 20, GOOD | CERT_LEAF_DUE, 30 },
		{ "the leaf has expired", 30, CERT_CA_GOOD, 200 },
		{ "the CA is due", 200, CERT_CA_GOOD | CERT_CA_DUE, 300 },
		{ "the CA has expired", 300, 0, 0 },
	};
	const struct cert_secret *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t until = 0, now = NOW + rows[i].at_h * HOUR;

		unit_row(rows[i].name);
		assert_int_equal(cert_secret_facts(s, &opt, now, &until), rows[i].facts);
		assert_true(until ==
			    (rows[i].until_h == 0 ? CLOCK_NEVER : NOW + rows[i].until_h * HOUR));
	}
	assert_int_equal(facts_at(s, NOW - HOUR), 0);
}

static void test_other_names_need_another_certificate(void **state)
{
	struct cert_secret *s = *state;

	cert_names_finish(&names);
	assert_int_equal(cert_names_of(&names, "ns", "other", NULL, NULL), 0);
	assert_int_equal(facts_at(s, NOW), CERT_CA_GOOD);
	assert_int_equal(cert_secret_apply(s, CERT_MAKE_LEAF, &opt, NOW, NULL), 0);
	assert_int_equal(facts_at(s, NOW), GOOD);
}

static void set_pair(struct pair *to, const struct pair *from)
{
	pair_finish(to);
	strbuf_add_str(&to->cert, strbuf_str(&from->cert));
	strbuf_add_str(&to->key, strbuf_str(&from->key));
}

/* A serving certificate with its key in place of a CA: API servers do not trust it. */
static void test_a_certificate_that_may_not_sign_is_no_authority(void **state)
{
	struct cert_secret *s = *state;

	set_pair(&s->next, &s->leaf);
	assert_int_equal(facts_at(s, NOW), GOOD);
	set_pair(&s->ca, &s->leaf);
	assert_int_equal(facts_at(s, NOW), 0);
}

/* OpenSSL cannot sign by SHA-256 with this kind of key. */
static void test_an_authority_that_cannot_sign_is_replaced(void **state)
{
	struct cert_secret *s = *state;

	pair_finish(&s->ca);
	strbuf_add_c(&s->ca.cert, ed25519_cert);
	strbuf_add_c(&s->ca.key, ed25519_key);
	assert_int_equal(facts_at(s, NOW), CERT_CA_GOOD);
	assert_int_equal(cert_secret_apply(s, CERT_MAKE_LEAF, &opt, NOW, NULL), 0);
	assert_int_equal(facts_at(s, NOW), GOOD);
}

static void test_nothing_and_nonsense(void **state)
{
	static const char *const texts[] = {
		"{}",
		"{\"data\":null}",
		"null",
		"{\"data\":{\"ca.crt\":\"%%%\",\"ca.key\":1,\"tls.crt\":\"YQ==\"}}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CLEANUP(cert_secret_finish) struct cert_secret s;

		unit_row(texts[i]);
		cert_secret_init(&s);
		assert_int_equal(cert_secret_parse(str_of(texts[i]), &s, NULL), 0);
		assert_int_equal(facts_at(&s, NOW), 0);
	}
}

static void test_broken_json(void **state)
{
	static const char *const texts[] = {
		"",
		"{",
		"{\"data\":{\"ca.crt\":\"YQ==\"",
		"{\"data\":{}} x",
		"{\"data\":{\"a\":tru}}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CLEANUP(cert_secret_finish) struct cert_secret s;

		unit_row(texts[i]);
		cert_secret_init(&s);
		assert_int_equal(cert_secret_parse(str_of(texts[i]), &s, NULL), -ERR_INVALID);
	}
}

static void test_copy(void **state)
{
	const struct cert_secret *s = *state;
	CLEANUP(cert_secret_finish) struct cert_secret copy;

	cert_secret_init(&copy);
	cert_secret_copy(s, &copy);
	assert_int_equal(facts_at(&copy, NOW), GOOD);
	assert_true(str_eq(strbuf_str(&copy.leaf.key), strbuf_str(&s->leaf.key)));
	assert_ptr_not_equal(copy.leaf.key.p, s->leaf.key.p);
	assert_int_equal(copy.next.cert.len, 0);
}

static void test_rotation_of_the_authority(void **state)
{
	struct cert_secret *s = *state;
	CLEANUP(strbuf_finish) struct strbuf first = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf bundle = STRBUF_INIT;
	int64_t now = NOW + 200 * HOUR;

	strbuf_add_str(&first, strbuf_str(&s->ca.cert));
	assert_int_equal(cert_secret_apply(s, CERT_MAKE_LEAF, &opt, now, NULL), 0);
	assert_int_equal(cert_secret_apply(s, CERT_MAKE_NEXT, &opt, now, NULL), 0);
	assert_int_equal(facts_at(s, now), GOOD | CERT_CA_DUE | CERT_HAS_NEXT);
	cert_secret_bundle(s, &bundle);
	assert_int_equal(bundle.len, s->ca.cert.len + s->next.cert.len);

	assert_int_equal(cert_secret_apply(s, CERT_PROMOTE, &opt, now, NULL), 0);
	assert_int_equal(facts_at(s, now), GOOD | CERT_HAS_OLD);
	assert_true(str_eq(strbuf_str(&s->old), strbuf_str(&first)));
	assert_int_equal(
		pair_is_signed_by(strbuf_str(&s->leaf.cert), strbuf_str(&s->ca.cert), NULL), 0);
	assert_int_equal(facts_at(s, now + HOUR - 1), GOOD | CERT_HAS_OLD);
	assert_int_equal(facts_at(s, now + HOUR), GOOD | CERT_HAS_OLD | CERT_OLD_DONE);

	assert_int_equal(cert_secret_apply(s, CERT_DROP_OLD, &opt, now, NULL), 0);
	assert_int_equal(facts_at(s, now), GOOD);
	strbuf_reset(&bundle);
	cert_secret_bundle(s, &bundle);
	assert_true(str_eq(strbuf_str(&bundle), strbuf_str(&s->ca.cert)));
}

static void test_there_and_back(void **state)
{
	struct cert_secret *s = *state;
	CLEANUP(cert_secret_finish) struct cert_secret back;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct jdoc *doc;

	cert_secret_init(&back);
	cert_secret_format(s, "ns", "x", NULL, &text);
	assert_true(str_has_prefix(
		strbuf_str(&text),
		"{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"type\":\"kubernetes.io/tls\","
		"\"metadata\":{\"namespace\":\"ns\",\"name\":\"x\",\"labels\":{"
		"\"app.kubernetes.io/part-of\":\"headgate\"}},\"data\":{"));
	assert_int_equal(jdoc_parse(strbuf_str(&text), &doc, NULL), 0);
	assert_string_equal(jdoc_path_str(doc, "metadata.name"), "x");
	assert_string_equal(jdoc_path_str(doc, "type"), "kubernetes.io/tls");
	assert_null(jdoc_get(jdoc_get(doc, "data"), "next-ca.crt"));
	jdoc_destroy(doc);
	assert_int_equal(cert_secret_parse(strbuf_str(&text), &back, NULL), 0);
	assert_true(str_eq(strbuf_str(&back.ca.key), strbuf_str(&s->ca.key)));
	assert_int_equal(facts_at(&back, NOW), GOOD);

	strbuf_reset(&text);
	cert_secret_format(s, "ns", "x", "7", &text);
	assert_non_null(strstr(text.p, "{\"metadata\":{\"resourceVersion\":\"7\"},\"data\":{"));
	assert_non_null(strstr(text.p, "\"next-ca.key\":null"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ages, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_names_need_another_certificate, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_a_certificate_that_may_not_sign_is_no_authority, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_authority_that_cannot_sign_is_replaced,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_and_nonsense, setup, teardown),
		cmocka_unit_test_setup_teardown(test_broken_json, setup, teardown),
		cmocka_unit_test_setup_teardown(test_copy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rotation_of_the_authority, setup, teardown),
		cmocka_unit_test_setup_teardown(test_there_and_back, setup, teardown),
	};

	return cmocka_run_group_tests_name("webhook/certs/cert_secret", tests, NULL, NULL);
}
