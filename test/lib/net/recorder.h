/* test/lib/net/recorder.h: a server on a free port that gives each connection the same answer and
 * keeps what it was sent; with TLS, client certificates, or as a SOCKS5 proxy that is the server as
 * well. Aborts the test program when something cannot be set up. Owner: the test's thread. */
#ifndef TEST_LIB_NET_RECORDER_H
#define TEST_LIB_NET_RECORDER_H

#include <pthread.h>
#include <stdbool.h>

#include "base/strbuf.h"
#include "certs/pair.h"

#define RECORDER_EMPTY_LIST                                                                        \
	"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"               \
	"Content-Length: 26\r\n\r\n{\"metadata\":{},\"items\":[]}"
#define RECORDER_NO_TUNNEL                                                                         \
	"HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

struct recorder_options {
	bool socks5;                  /* "SOCKS5 host:port" stands in front of what it is sent */
	const struct pair *cert;      /* TLS with this certificate; NULL: none */
	const struct pair *client_ca; /* with TLS: a client needs a certificate of this authority,
					 and "CLIENT name" stands in front; NULL: it needs none */
};

struct recorder {
	int fd, port;
	bool socks5;
	void *tls; /* SSL_CTX, or NULL */
	pthread_t thread;
	pthread_mutex_t lock;
	struct strbuf seen;
	const char *answer; /* may be replaced between two calls */
};

/* opt NULL: plain HTTP. */
void recorder_start(struct recorder *rec, const char *answer, const struct recorder_options *opt);
void recorder_stop(struct recorder *rec);
/* Fails the test unless what it was sent has the text, or has not. */
void recorder_expect(struct recorder *rec, const char *text, bool wanted);
void recorder_forget(struct recorder *rec);
/* A new authority, and a certificate of it for a client of this name. The caller finishes both. */
void recorder_make_client(const char *name, struct pair *ret_ca, struct pair *ret_client);

#endif
