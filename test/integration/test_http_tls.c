/* The server's TLS, seen by OpenSSL: versions, ciphers, ALPN, and which certificate. */
#include "lib/unit.h"

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/net/https_fixture.h"

struct hello {
	int max_version; /* TLS1_2_VERSION etc. */
	const char *ciphers;
	/* the result */
	bool connected;
	int version;
	char cipher[64], alpn[32];
	unsigned char serial[32];
	int serial_len;
};

static void handle(void *ctx, const struct http_request *req, struct arena *arena,
		   struct http_response *ret)
{
	(void)ctx;
	(void)req;
	(void)arena;
	ret->status = 200;
}

static int connect_to(uint16_t port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

static void look(SSL *ssl, struct hello *h)
{
	const unsigned char *alpn = NULL;
	unsigned alpn_len = 0;
	X509 *cert = SSL_get1_peer_certificate(ssl);
	const ASN1_INTEGER *serial = X509_get0_serialNumber(cert);

	h->version = SSL_version(ssl);
	snprintf(h->cipher, sizeof(h->cipher), "%s", SSL_get_cipher(ssl));
	SSL_get0_alpn_selected(ssl, &alpn, &alpn_len);
	snprintf(h->alpn, sizeof(h->alpn), "%.*s", (int)alpn_len, (const char *)alpn);
	h->serial_len = ASN1_STRING_length(serial);
	assert_true((size_t)h->serial_len <= sizeof(h->serial));
	memcpy(h->serial, ASN1_STRING_get0_data(serial), (size_t)h->serial_len);
	X509_free(cert);
}

static void greet(const struct https_fixture *f, struct hello *h)
{
	static const unsigned char protocols[] = "\x02h2\x08http/1.1";
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL *ssl;
	int fd = connect_to(http_server_port(f->server));

	assert_non_null(ctx);
	SSL_CTX_set_security_level(ctx, 0); /* else the old versions fail on our own side */
	SSL_CTX_set_max_proto_version(ctx, h->max_version);
	if (h->ciphers != NULL) {
		assert_int_equal(SSL_CTX_set_cipher_list(ctx, h->ciphers), 1);
	}
	SSL_CTX_set_alpn_protos(ctx, protocols, sizeof(protocols) - 1);
	ssl = SSL_new(ctx);
	SSL_set_fd(ssl, fd);
	h->connected = SSL_connect(ssl) == 1;
	if (h->connected) {
		look(ssl, h);
		SSL_shutdown(ssl);
	}
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	close(fd);
}

static void test_versions_and_ciphers(void **state)
{
	struct hello rows[] = {
		{ .max_version = TLS1_3_VERSION },
		{ .max_version = TLS1_2_VERSION },
		{ .max_version = TLS1_2_VERSION, .ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384" },
		{ .max_version = TLS1_2_VERSION, .ciphers = "ECDHE-ECDSA-AES128-SHA" }, /* CBC */
		{ .max_version = TLS1_1_VERSION },
		{ .max_version = TLS1_VERSION },
	};
	static const struct {
		bool connected;
		const char *cipher;
	} want[] = { { true, "TLS_AES_128_GCM_SHA256" },
		     { true, "ECDHE-ECDSA-AES128-GCM-SHA256" },
		     { true, "ECDHE-ECDSA-AES256-GCM-SHA384" },
		     { false, "" },
		     { false, "" },
		     { false, "" } };
	struct https_fixture f;

	(void)state;
	https_fixture_start(&f, (struct http_server_options){ .handler = handle }, false);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		greet(&f, &rows[i]);
		assert_int_equal(rows[i].connected, want[i].connected);
		assert_string_equal(rows[i].cipher, want[i].cipher);
		if (rows[i].connected) {
			assert_int_equal(rows[i].version, rows[i].max_version);
			assert_string_equal(rows[i].alpn, "http/1.1");
		}
	}
	https_fixture_stop(&f);
}

static void test_new_handshakes_see_the_new_pair_at_once(void **state)
{
	struct hello before = { .max_version = TLS1_3_VERSION }, after = before, kept;
	struct https_fixture f;
	struct pair p;

	(void)state;
	https_fixture_start(&f, (struct http_server_options){ .handler = handle }, false);
	greet(&f, &before);
	https_fixture_new_leaf(&f, &p);
	assert_int_equal(http_server_set_certificate(f.server, strbuf_str(&p.cert),
						     strbuf_str(&p.key), NULL),
			 0);
	greet(&f, &after);
	assert_memory_not_equal(before.serial, after.serial, 16);
	/* the key of the first with the certificate of the second */
	assert_true(http_server_set_certificate(f.server, strbuf_str(&p.cert),
						strbuf_str(&f.leaf.key), NULL) < 0);
	kept = (struct hello){ .max_version = TLS1_3_VERSION };
	greet(&f, &kept);
	assert_memory_equal(kept.serial, after.serial, 16);
	pair_finish(&p);
	https_fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions_and_ciphers),
		cmocka_unit_test(test_new_handshakes_see_the_new_pair_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
