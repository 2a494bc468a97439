/* common/net/http_loop.h: HTTP client loop, one curl multi handle on one thread of its own (the
 * only user of libcurl). HTTP/2 where the server offers it, keep-alive otherwise. submit and
 * cancel: any thread. Callbacks run on the loop's thread, must not block, and are called in this
 * order: on_data zero or more times (only with on_data set, and only for 2xx), then on_done exactly
 * once. Deadlines are mandatory except for streams, for which silence is bounded. */
#ifndef COMMON_NET_HTTP_LOOP_H
#define COMMON_NET_HTTP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "net/http.h"

struct err;
struct http_loop;

struct http_loop_tls {
	const char *ca_file; /* PEM paths or blobs; NULL: system CAs */
	struct str ca_pem;
	const char *cert_file, *key_file;
	struct str cert_pem, key_pem;
	bool insecure_skip_verify;
	const char *server_name; /* verify against this name instead of the URL's host */
};

struct http_result {
	int status; /* 0: no (complete) answer, see error */
	int error;  /* ERR_TIMEOUT, ERR_CANCELLED, ERR_UNAVAILABLE (connect failed), ERR_IO (cut); 0
		     */
	bool may_have_been_sent; /* the request may have reached the server (outcome unknown) */
	bool too_large;          /* ERR_IO because the answer exceeds max_body */
	int retry_after_s;       /* -1: none */
	int64_t date;            /* wall ns of the server's clock, in whole seconds; 0: not known */
	struct str body;         /* collected body (not for streams unless status >= 300) */
	const char *error_text;  /* never NULL */
};

struct http_call {
	enum http_method method;
	const char *url;          /* whole URL */
	const char *content_type; /* NULL: no body */
	const char *accept;       /* NULL: application/json */
	const char *bearer;       /* token or NULL */
	struct str body;          /* copied by submit */
	int64_t timeout_ns;       /* for the whole call; streams: 0 */
	int64_t silence_ns;       /* streams: cut after this long without a byte; 0: never */
	size_t max_body;          /* collected bytes, 0: 64 MiB */
	void (*on_data)(void *ctx, struct str bytes); /* streaming when not NULL */
	void (*on_done)(void *ctx, const struct http_result *result);
	void *ctx;
};

struct http_loop_options {
	const char *user_agent;
	const struct http_loop_tls *tls; /* copied; NULL: defaults */
	unsigned max_connections;        /* to one host, 0: 64 (HTTP/1.1 watches need one each) */
	int64_t connect_ns;              /* longest wait for a connection with its TLS, 0: 10 s */
	const char *proxy;               /* http, https or socks5 URL of a proxy for every call,
					    copied; NULL: the proxy of the environment */
	const char *const *headers;      /* "Name: value" lines of every request, NULL-terminated,
					    copied; may be NULL */
	bool http1_only;
};

int http_loop_start(const struct http_loop_options *opt, struct http_loop **ret, struct err *err);
/* Cancels what is in flight (on_done with ERR_CANCELLED), drops timers, joins the thread, frees. */
void http_loop_destroy(struct http_loop *l);
uint64_t http_loop_submit(struct http_loop *l, const struct http_call *call); /* never 0 */
void http_loop_cancel(struct http_loop *l, uint64_t id); /* no effect when done already */
/* Runs fn on the loop's thread soon, or after delay_ns. For timers of reflectors and leases. */
void http_loop_call(struct http_loop *l, int64_t delay_ns, void (*fn)(void *ctx), void *ctx);

#endif
