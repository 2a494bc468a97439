#include "lib/net/recorder.h"

#include <arpa/inet.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "certs/ca.h"
#include "certs/leaf.h"
#include "lib/unit.h"

#define REQUEST_MAX 8192
#define NAME_MAX_BYTES 256

/* One connection. */
struct peer {
	int fd;
	SSL *ssl; /* NULL: plain */
};

static ssize_t get(const struct peer *p, void *bytes, size_t n)
{
	return p->ssl != NULL ? SSL_read(p->ssl, bytes, (int)n) : read(p->fd, bytes, n);
}

static bool get_all(const struct peer *p, void *bytes, size_t n)
{
	ssize_t got = 1;

	for (size_t have = 0; have < n && got > 0; have += (size_t)got) {
		got = get(p, (char *)bytes + have, n - have);
	}
	return got > 0;
}

static void put(const struct peer *p, const void *bytes, size_t n)
{
	ssize_t r = p->ssl != NULL ? SSL_write(p->ssl, bytes, (int)n) : write(p->fd, bytes, n);

	if (r < 0) {
		perror("write");
	}
}

static void keep(struct recorder *rec, const char *bytes, size_t n)
{
	pthread_mutex_lock(&rec->lock);
	strbuf_add(&rec->seen, bytes, n);
	pthread_mutex_unlock(&rec->lock);
}

/* RFC 1928, of a client that sends the name of the host and needs no authentication. */
static bool open_socks5(struct recorder *rec, const struct peer *p)
{
	static const unsigned char chosen[] = { 5, 0 };
	static const unsigned char connected[] = { 5, 0, 0, 1, 0, 0, 0, 0, 0, 0 };
	unsigned char head[2], request[5], port[2], name[NAME_MAX_BYTES];
	char line[NAME_MAX_BYTES + 32];

	if (!get_all(p, head, sizeof(head)) || head[0] != 5 || !get_all(p, name, head[1])) {
		return false;
	}
	put(p, chosen, sizeof(chosen));
	if (!get_all(p, request, sizeof(request)) || request[3] != 3 ||
	    !get_all(p, name, request[4]) || !get_all(p, port, sizeof(port))) {
		return false;
	}
	put(p, connected, sizeof(connected));
	snprintf(line, sizeof(line), "SOCKS5 %.*s:%d\r\n", request[4], (const char *)name,
		 port[0] * 256 + port[1]);
	keep(rec, line, strlen(line));
	return true;
}

static bool open_tls(struct recorder *rec, struct peer *p)
{
	char name[NAME_MAX_BYTES], line[NAME_MAX_BYTES + 32];
	X509 *cert;

	p->ssl = SSL_new(rec->tls);
	if (p->ssl == NULL || SSL_set_fd(p->ssl, p->fd) != 1 || SSL_accept(p->ssl) != 1) {
		return false;
	}
	cert = SSL_get0_peer_certificate(p->ssl);
	if (cert != NULL) {
		X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, name,
					  sizeof(name));
		snprintf(line, sizeof(line), "CLIENT %s\r\n", name);
		keep(rec, line, strlen(line));
	}
	return true;
}

static void serve_one(struct recorder *rec, struct peer *p)
{
	char bytes[REQUEST_MAX];
	size_t n = 0;
	ssize_t got = 1;

	if ((rec->tls != NULL && !open_tls(rec, p)) || (rec->socks5 && !open_socks5(rec, p))) {
		return;
	}
	while (got > 0 && n < sizeof(bytes) - 1 && memmem(bytes, n, "\r\n\r\n", 4) == NULL) {
		got = get(p, bytes + n, sizeof(bytes) - 1 - n);
		n += got > 0 ? (size_t)got : 0;
	}
	keep(rec, bytes, n);
	put(p, rec->answer, strlen(rec->answer));
	if (p->ssl != NULL) {
		SSL_shutdown(p->ssl);
	}
}

static void *serve(void *arg)
{
	struct recorder *rec = arg;
	struct peer p = { .fd = -1 };

	while ((p.fd = accept(rec->fd, NULL, NULL)) >= 0) {
		serve_one(rec, &p);
		SSL_free(p.ssl);
		p.ssl = NULL;
		close(p.fd);
	}
	return NULL;
}

static X509 *read_cert(const struct pair *pair)
{
	BIO *bio = BIO_new_mem_buf(pair->cert.p, (int)pair->cert.len);
	X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);

	BIO_free(bio);
	assert_non_null(cert);
	return cert;
}

static SSL_CTX *make_tls(const struct recorder_options *opt)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	BIO *bio = BIO_new_mem_buf(opt->cert->key.p, (int)opt->cert->key.len);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
	X509 *cert = read_cert(opt->cert);

	assert_int_equal(SSL_CTX_use_certificate(ctx, cert), 1);
	assert_int_equal(SSL_CTX_use_PrivateKey(ctx, key), 1);
	X509_free(cert);
	EVP_PKEY_free(key);
	BIO_free(bio);
	if (opt->client_ca != NULL) {
		cert = read_cert(opt->client_ca);
		assert_int_equal(X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), cert), 1);
		X509_free(cert);
		SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	}
	return ctx;
}

void recorder_start(struct recorder *rec, const char *answer, const struct recorder_options *opt)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(sa);

	*rec = (struct recorder){ .answer = answer,
				  .seen = STRBUF_INIT,
				  .socks5 = opt != NULL && opt->socks5 };
	strbuf_add_c(&rec->seen, "");
	if (opt != NULL && opt->cert != NULL) {
		rec->tls = make_tls(opt);
	}
	pthread_mutex_init(&rec->lock, NULL);
	rec->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(rec->fd >= 0);
	assert_int_equal(bind(rec->fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(getsockname(rec->fd, (struct sockaddr *)&sa, &len), 0);
	assert_int_equal(listen(rec->fd, 16), 0);
	rec->port = ntohs(sa.sin_port);
	assert_int_equal(pthread_create(&rec->thread, NULL, serve, rec), 0);
}

void recorder_stop(struct recorder *rec)
{
	shutdown(rec->fd, SHUT_RDWR);
	pthread_join(rec->thread, NULL);
	close(rec->fd);
	SSL_CTX_free(rec->tls);
	strbuf_finish(&rec->seen);
	pthread_mutex_destroy(&rec->lock);
}

void recorder_expect(struct recorder *rec, const char *text, bool wanted)
{
	pthread_mutex_lock(&rec->lock);
	if ((strstr(rec->seen.p, text) != NULL) != wanted) {
		fail_msg("%s \"%s\" in: %s", wanted ? "no" : "a", text, rec->seen.p);
	}
	pthread_mutex_unlock(&rec->lock);
}

void recorder_forget(struct recorder *rec)
{
	pthread_mutex_lock(&rec->lock);
	strbuf_reset(&rec->seen);
	strbuf_add_c(&rec->seen, "");
	pthread_mutex_unlock(&rec->lock);
}

void recorder_make_client(const char *name, struct pair *ret_ca, struct pair *ret_client)
{
	const struct ca_options ca = { .now_ns = clock_wall(clock_real()) };
	const struct leaf_options leaf = {
		.ca = ret_ca, .common_name = name, .client = true, .now_ns = ca.now_ns
	};

	pair_init(ret_ca);
	pair_init(ret_client);
	assert_int_equal(ca_create(&ca, ret_ca, NULL), 0);
	assert_int_equal(leaf_create(&leaf, ret_client, NULL), 0);
}
