#include "webhook/certs/cert_names.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "lib/unit.h"

static void test_names(void **state)
{
	static const struct {
		const char *service, *url, *dns, *ip; /* joined by blanks */
	} rows[] = {
		{ "s", NULL, "s.n.svc s.n.svc.cluster.local s.n ", "" },
		{ NULL, "https://10.0.0.1:8443", "", "10.0.0.1 " },
		{ NULL, "https://[fd00::1]:8443/x", "", "fd00::1 " },
		{ NULL, "https://hook.example.com/x:1", "hook.example.com ", "" },
		{ "s", "https://127.0.0.1", "s.n.svc s.n.svc.cluster.local s.n ", "127.0.0.1 " },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char dns[256] = "", ip[256] = "";
		struct cert_names n;

		unit_row(rows[i].service);
		assert_int_equal(cert_names_of(&n, "n", rows[i].service, rows[i].url, NULL), 0);
		for (size_t k = 0; k < n.dns_count; k++) {
			snprintf(dns + strlen(dns), sizeof(dns) - strlen(dns), "%s ", n.dns[k]);
		}
		for (size_t k = 0; k < n.ip_count; k++) {
			snprintf(ip + strlen(ip), sizeof(ip) - strlen(ip), "%s ", n.ip[k]);
		}
		assert_string_equal(dns, rows[i].dns);
		assert_string_equal(ip, rows[i].ip);
		assert_int_equal(n.count, n.dns_count + n.ip_count);
		cert_names_finish(&n);
		assert_int_equal(n.count, 0);
	}
}

static void test_refused(void **state)
{
	static const char *const urls[] = { NULL,         "http://a",   "https://",
					    "https:///x", "https://:1", "https://[]:1" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
		struct err err = ERR_INIT;
		struct cert_names n;

		unit_row(urls[i]);
		assert_int_equal(cert_names_of(&n, "n", NULL, urls[i], &err), -ERR_INVALID);
		assert_true(err.text[0] != '\0');
		cert_names_finish(&n);
	}
}

static void test_length_of_a_host(void **state)
{
	char url[16 + CERT_NAMES_MAX_BYTES];
	struct cert_names n;

	(void)state;
	snprintf(url, sizeof(url), "https://");
	memset(url + 8, 'a', CERT_NAMES_MAX_BYTES + 1);
	url[8 + CERT_NAMES_MAX_BYTES] = '\0';
	assert_int_equal(cert_names_of(&n, "n", NULL, url, NULL), 0);
	cert_names_finish(&n);
	url[8 + CERT_NAMES_MAX_BYTES] = 'a';
	url[9 + CERT_NAMES_MAX_BYTES] = '\0';
	assert_int_equal(cert_names_of(&n, "n", NULL, url, NULL), -ERR_INVALID);
	cert_names_finish(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_length_of_a_host),
	};

	return cmocka_run_group_tests_name("webhook/certs/cert_names", tests, NULL, NULL);
}
