/* common/net/http_server.h: HTTP/1.1 server (the only user of libmicrohttpd; its TLS is GnuTLS).
 * The handler runs on server threads (thread pool) and must not block for long, since the thread
 * has other connections, too; with thread_per_connection it may. Each request has an arena that
 * lives until the response is sent. Bodies are capped (413 beyond), each and all together, an
 * ambiguous length is refused (400), memory of large bodies goes back to the system within a
 * second; the whole request has a deadline (slow senders are cut), idle keep-alive connections are
 * closed. Certificates are PEM and can be replaced at any time from any thread: connections in
 * flight finish, new handshakes see the new pair at once. */
#ifndef COMMON_NET_HTTP_SERVER_H
#define COMMON_NET_HTTP_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "net/http.h"

struct arena;
struct err;

/* The handler fills it; text it points to must live in the arena or be static.
 * With `stream` set, body is sent first as a chunk and the response stays open:
 * stream->next is asked for more whenever http_server_wake was called, until it returns false
 * and then stream->close runs once (also when the client goes away). */
struct http_stream {
	/* Appends available bytes to out (may be none). False: end of stream. Server thread. */
	bool (*next)(void *ctx, struct strbuf *out);
	void (*close)(void *ctx);
	void *ctx;
};

struct http_response {
	int status;               /* 0 drops the connection without an answer */
	const char *content_type; /* NULL: application/json */
	struct str body;
	int retry_after_s;                /* > 0: sends Retry-After */
	const char *warning;              /* text of a Warning header (299), NULL: none */
	const char *authenticate;         /* of a WWW-Authenticate header, NULL: none */
	bool close;                       /* sends Connection: close */
	const struct http_stream *stream; /* in the arena */
	/* Not 0: there is no answer yet, and the other fields are ignored. The connection is
	 * suspended, without a thread, until http_server_wake_waiting with the same number; then
	 * the handler is called again with the same request and an empty arena, `waited` set. (It
	 * is called again without `waited` if some number was woken while the handler ran.) Only
	 * where the request has a server. A client that closes the connection meanwhile is noticed;
	 * the deadline of the request still applies. */
	uint64_t wait_for;
};

typedef void (*http_handler_fn)(void *ctx, const struct http_request *req, struct arena *arena,
				struct http_response *ret);

struct http_server_options {
	const char *address;        /* "127.0.0.1", "" or NULL: every address */
	uint16_t port;              /* 0: the kernel picks one, see http_server_port */
	unsigned threads;           /* 0: 2 */
	bool thread_per_connection; /* instead of a pool: handlers may wait for other connections */
	unsigned max_connections;   /* 0: 1000 */
	unsigned max_per_address;   /* of them from one address, further ones are closed; 0: all */
	/* At max_connections, a new connection is served and the connection that has made no
	 * progress for the longest time is closed; if unset, the new one waits. For servers with
	 * clients that repeat a request that was cut. */
	bool cuts_longest_idle;
	size_t max_body; /* bytes, 0: 3 MiB */
	/* Limit for the bytes of all bodies being read or answered, as far as they were received;
	 * 0: no limit. A request beyond it gets 503 with Retry-After and its body is not kept.
	 * Bodies of more than 64 KiB, and those of unknown length, may use three quarters of it, so
	 * that they leave room for small ones. */
	size_t max_bodies;
	unsigned request_timeout_s;   /* whole request, 0: 30 */
	unsigned idle_timeout_s;      /* 0: 120 */
	struct str tls_cert, tls_key; /* PEM; absent cert: plain HTTP */
	http_handler_fn handler;
	void *ctx;
};

int http_server_start(const struct http_server_options *opt, struct http_server **ret,
		      struct err *err);
uint16_t http_server_port(const struct http_server *s);
/* Swaps the pair after checking that it parses and that key and certificate belong together;
 * -ERR_INVALID keeps the old one. Any thread. */
int http_server_set_certificate(struct http_server *s, struct str cert, struct str key,
				struct err *err);
/* Whether a server could load the pair: 0 or -ERR_INVALID. Any thread. */
int http_server_tls_check(struct str cert, struct str key, struct err *err);
/* Calls `next` of every open stream. Any thread. */
void http_server_wake(struct http_server *s);
/* Calls the handlers that wait for this number again. O(connections). Any thread. */
void http_server_wake_waiting(struct http_server *s, uint64_t number);
/* Stops accepting, ends streams, answers requests in flight with Connection: close and waits for
 * them up to grace_ms (idle keep-alive connections get a second of it to learn of the end), then
 * closes the remaining connections, suspended ones included. */
void http_server_stop(struct http_server *s, int64_t grace_ms);
void http_server_destroy(struct http_server *s); /* NULL is fine */
unsigned http_server_in_flight(const struct http_server *s);

#endif
