/* HTTP server and client loop over real sockets and TLS. */
#include "lib/unit.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "lib/net/https_fixture.h"
#include "lib/wait.h"
#include "process/file.h"

#define WAIT_NS (300 * CLOCK_NS_PER_S)
#define MAX_BODY 10000

/* Shared by the handler and the tests. */
struct site {
	pthread_mutex_t lock;
	struct http_server *server;
	struct strbuf pending; /* bytes that the stream has not sent yet */
	bool end;              /* of the stream */
	atomic_int streams_opened, streams_closed;
	atomic_int requests, meeting;
	struct http_stream stream;
};

static bool stream_next(void *ctx, struct strbuf *out)
{
	struct site *s = ctx;
	bool more;

	pthread_mutex_lock(&s->lock);
	strbuf_add_str(out, strbuf_str(&s->pending));
	strbuf_reset(&s->pending);
	more = !s->end;
	pthread_mutex_unlock(&s->lock);
	return more;
}

static void stream_close(void *ctx)
{
	struct site *s = ctx;

	atomic_fetch_add(&s->streams_closed, 1);
}

static void handle(void *ctx, const struct http_request *req, struct arena *arena,
		   struct http_response *ret)
{
	struct site *s = ctx;

	atomic_fetch_add(&s->requests, 1);
	ret->status = 200;
	if (str_eq_c(req->path, "/busy")) {
		ret->status = 429;
		ret->retry_after_s = 7;
		return;
	}
	if (str_eq_c(req->path, "/warn")) {
		ret->warning = "say \"so\" \\ or\nnot";
		return;
	}
	if (str_eq_c(req->path, "/drop")) {
		ret->status = 0;
		return;
	}
	if (str_eq_c(req->path, "/meet")) {
		const int64_t deadline = wait_deadline(WAIT_NS);

		atomic_fetch_add(&s->meeting, 1);
		while (atomic_load(&s->meeting) < 2 && wait_until(deadline)) {
		}
		return;
	}
	if (str_eq_c(req->path, "/watch")) {
		atomic_fetch_add(&s->streams_opened, 1);
		ret->body = STR_LIT("first\n");
		ret->stream = &s->stream;
		return;
	}
	if (str_eq_c(req->path, "/show")) {
		ret->content_type = "text/plain";
		ret->body = str_of(arena_printf(
			arena, "%s|" STR_FMT "|" STR_FMT "|" STR_FMT "|" STR_FMT "|" STR_FMT,
			http_method_name(req->method), STR_ARG(req->path), STR_ARG(req->query),
			STR_ARG(req->content_type), STR_ARG(req->authorization),
			STR_ARG(req->body)));
		return;
	}
	ret->body = req->body;
}

static void site_start(struct https_fixture *f, struct site *s, struct http_server_options opt,
		       bool plain)
{
	*s = (struct site){ .pending = STRBUF_INIT };
	s->stream = (struct http_stream){ .next = stream_next, .close = stream_close, .ctx = s };
	pthread_mutex_init(&s->lock, NULL);
	opt.handler = handle;
	opt.ctx = s;
	if (opt.max_body == 0) {
		opt.max_body = MAX_BODY;
	}
	https_fixture_start(f, opt, plain);
	s->server = f->server;
}

static void site_stop(struct https_fixture *f, struct site *s)
{
	https_fixture_stop(f);
	strbuf_finish(&s->pending);
	pthread_mutex_destroy(&s->lock);
}

static void say(struct site *s, const char *text, bool end)
{
	pthread_mutex_lock(&s->lock);
	strbuf_add_c(&s->pending, text);
	s->end = end;
	pthread_mutex_unlock(&s->lock);
	http_server_wake(s->server);
}

/* One after the other, so that nothing of a call is seen in the next. */
static void test_request_as_sent(void **state)
{
	static const struct {
		struct http_call call;
		const char *seen;
	} rows[] = {
		{ { .method = HTTP_PATCH,
		    .content_type = "application/merge-patch+json",
		    .bearer = "tok",
		    .body = { "{}", 2 } },
		  "PATCH|/show|a=%20b&c|application/merge-patch+json|Bearer tok|{}" },
		{ { .method = HTTP_DELETE }, "DELETE|/show|a=%20b&c|||" },
		{ { .method = HTTP_HEAD }, NULL },
		{ { .method = HTTP_GET }, "GET|/show|a=%20b&c|||" },
		{ { .method = HTTP_DELETE,
		    .content_type = "application/json",
		    .body = { "[]", 2 } },
		  "DELETE|/show|a=%20b&c|application/json||[]" },
		{ { .method = HTTP_HEAD, .bearer = "tok" }, NULL },
		{ { .method = HTTP_POST, .content_type = "text/plain", .body = { "p", 1 } },
		  "POST|/show|a=%20b&c|text/plain||p" },
		{ { .method = HTTP_GET }, "GET|/show|a=%20b&c|||" },
	};
	struct https_fixture f;
	struct https_call c;
	struct site s;

	(void)state;
	site_start(&f, &s, (struct http_server_options){ 0 }, false);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		https_fixture_submit(&f, &c, "/show?a=%20b&c", rows[i].call);
		https_fixture_wait(&c);
		assert_int_equal(c.error, 0);
		assert_int_equal(c.status, 200);
		if (rows[i].seen != NULL) {
			assert_string_equal(c.body.p, rows[i].seen);
		} else {
			assert_int_equal(c.body.len, 0);
		}
		https_fixture_finish(&c);
	}
	site_stop(&f, &s);
}

static void test_many_at_once(void **state)
{
	enum { N = 300 };
	static struct https_call calls[N];
	struct https_fixture f;
	struct site s;
	char body[MAX_BODY];

	(void)state;
	memset(body, 'x', sizeof(body));
	site_start(&f, &s, (struct http_server_options){ 0 }, false);
	for (size_t i = 0; i < N; i++) {
		https_fixture_submit(&f, &calls[i], "/",
				     (struct http_call){ .method = HTTP_POST,
							 .content_type = "application/json",
							 .body = { body, 1 + i * 33 } });
	}
	for (size_t i = 0; i < N; i++) {
		https_fixture_wait(&calls[i]);
		assert_int_equal(calls[i].error, 0);
		assert_int_equal(calls[i].body.len, 1 + i * 33);
		https_fixture_finish(&calls[i]);
	}
	assert_int_equal(atomic_load(&s.requests), N);
	site_stop(&f, &s);
}

static void test_body_limit(void **state)
{
	static const struct {
		size_t len;
		int status;
	} rows[] = { { MAX_BODY, 200 }, { MAX_BODY + 1, 413 }, { MAX_BODY * 3, 413 }, { 10, 200 } };
	static char body[MAX_BODY * 3];
	struct https_fixture f;
	struct https_call c;
	struct site s;

	(void)state;
	memset(body, 'x', sizeof(body));
	site_start(&f, &s, (struct http_server_options){ 0 }, false);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		https_fixture_do(&f, &c, "/", (struct str){ body, rows[i].len });
		assert_int_equal(c.error, 0);
		assert_int_equal(c.status, rows[i].status);
		https_fixture_finish(&c);
	}
	assert_int_equal(atomic_load(&s.requests), 2);
	site_stop(&f, &s);
}

static void test_retry_after_and_drop(void **state)
{
	int64_t before = clock_wall(clock_real());
	struct https_fixture f;
	struct https_call c;
	struct site s;

	(void)state;
	site_start(&f, &s, (struct http_server_options){ 0 }, false);
	https_fixture_do(&f, &c, "/busy", STR_LIT("x"));
	assert_int_equal(c.status, 429);
	assert_int_equal(c.retry_after_s, 7);
	/* Client and server have one clock, and the answer has whole seconds of it. */
	assert_in_range(c.date, before - CLOCK_NS_PER_S, clock_wall(clock_real()));
	https_fixture_finish(&c);
	https_fixture_do(&f, &c, "/", STR_LIT("x"));
	assert_int_equal(c.retry_after_s, -1);
	https_fixture_finish(&c);
	/* Dropped after it was read: not repeated by the library, and the outcome is unknown. */
	https_fixture_do(&f, &c, "/drop", STR_LIT("x"));
	assert_int_equal(c.status, 0);
	assert_int_equal(c.date, 0);
	assert_int_equal(c.error, ERR_IO);
	assert_true(c.sent);
	https_fixture_finish(&c);
	assert_int_equal(atomic_load(&s.requests), 3);
	site_stop(&f, &s);
}

static void test_stream(void **state)
{
	struct https_fixture f;
	struct https_call c;
	struct site s;

	site_start(&f, &s, *(const struct http_server_options *)*state, false);
	https_fixture_submit(&f, &c, "/watch", (struct http_call){ .timeout_ns = -1 });
	https_fixture_wait_bytes(&c, 6);
	say(&s, "second\n", false);
	https_fixture_wait_bytes(&c, 13);
	say(&s, "third\n", true);
	https_fixture_wait(&c);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.status, 200);
	assert_string_equal(c.body.p, "first\nsecond\nthird\n");
	https_fixture_finish(&c);
	site_stop(&f, &s);
	assert_int_equal(atomic_load(&s.streams_closed), 1);
}

/* The server notices by itself that a client has gone: nothing wakes it. */
static void wait_closed(struct site *s)
{
	const int64_t deadline = wait_deadline(WAIT_NS);

	while (atomic_load(&s->streams_closed) < atomic_load(&s->streams_opened)) {
		assert_true(wait_until(deadline));
	}
	assert_true(atomic_load(&s->streams_closed) > 0);
}

static void test_stream_client_goes_away(void **state)
{
	struct https_fixture f;
	struct https_call c;
	struct site s;

	site_start(&f, &s, *(const struct http_server_options *)*state, false);
	https_fixture_submit(&f, &c, "/watch", (struct http_call){ .timeout_ns = -1 });
	https_fixture_wait_bytes(&c, 6);
	http_loop_cancel(f.loop, c.id);
	https_fixture_wait(&c);
	assert_int_equal(c.error, ERR_CANCELLED);
	https_fixture_finish(&c);
	wait_closed(&s);
	site_stop(&f, &s);
}

static void test_silent_stream_is_cut(void **state)
{
	struct https_fixture f;
	struct https_call c;
	struct site s;
	bool heard = false;

	site_start(&f, &s, *(const struct http_server_options *)*state, false);
	/* The time until the first bytes is a silence, too: long enough where that takes long. */
	for (int64_t ns = 200 * CLOCK_NS_PER_MS; !heard; ns *= 2) {
		https_fixture_submit(&f, &c, "/watch",
				     (struct http_call){ .timeout_ns = -1, .silence_ns = ns });
		https_fixture_wait(&c);
		assert_int_equal(c.error, ERR_TIMEOUT);
		heard = c.body.len > 0;
		assert_true(!heard || str_eq_c(strbuf_str(&c.body), "first\n"));
		https_fixture_finish(&c);
	}
	wait_closed(&s);
	https_fixture_do(&f, &c, "/", STR_LIT("again"));
	assert_int_equal(c.status, 200);
	https_fixture_finish(&c);
	site_stop(&f, &s);
}

static void test_stop_ends_streams_and_answers_close(void **state)
{
	struct https_fixture f;
	struct https_call c;
	struct site s;

	site_start(&f, &s, *(const struct http_server_options *)*state, false);
	https_fixture_submit(&f, &c, "/watch", (struct http_call){ .timeout_ns = -1 });
	https_fixture_wait_bytes(&c, 6);
	http_server_stop(f.server, 300000);
	https_fixture_wait(&c);
	assert_int_equal(c.error, 0);
	https_fixture_finish(&c);
	assert_int_equal(http_server_in_flight(f.server), 0);
	http_loop_destroy(f.loop); /* its idle connection may not know yet */
	f.loop = https_fixture_new_loop(&f, true);
	https_fixture_do(&f, &c, "/", STR_LIT("x"));
	assert_int_equal(c.error, ERR_UNAVAILABLE);
	assert_false(c.sent);
	https_fixture_finish(&c);
	site_stop(&f, &s);
}

/* Two requests that wait for each other. */
static void test_handlers_wait_for_other_connections(void **state)
{
	struct https_fixture f;
	struct https_call a, b;
	struct site s;

	(void)state;
	site_start(&f, &s, (struct http_server_options){ .thread_per_connection = true }, false);
	https_fixture_submit(&f, &a, "/meet", (struct http_call){ .method = HTTP_GET });
	https_fixture_submit(&f, &b, "/meet", (struct http_call){ .method = HTTP_GET });
	https_fixture_wait(&a);
	https_fixture_wait(&b);
	assert_int_equal(a.status, 200);
	assert_int_equal(b.status, 200);
	https_fixture_finish(&a);
	https_fixture_finish(&b);
	site_stop(&f, &s);
}

/* A socket connected to the fixture's (plain) server. */
static int raw_connect(struct https_fixture *f)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons(http_server_port(f->server)),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

/* Any number of silent connections from one address does not keep others out. */
static void test_idle_connections_of_one_address(void **state)
{
	enum { IDLE = 200 };
	const struct sockaddr_in from = { .sin_family = AF_INET,
					  .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1) };
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	static const char get[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
	struct https_fixture f;
	struct pollfd answer = { .events = POLLIN };
	struct site s;
	int idle[IDLE];

	(void)state;
	site_start(&f, &s,
		   (struct http_server_options){
			   .threads = 1, .max_connections = 40, .max_per_address = 16 },
		   true);
	to.sin_port = htons(http_server_port(f.server));
	for (int i = 0; i < IDLE; i++) {
		idle[i] = raw_connect(&f);
	}
	answer.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(answer.fd, (const struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(answer.fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(send(answer.fd, get, strlen(get), MSG_NOSIGNAL), strlen(get));
	assert_int_equal(poll(&answer, 1, 60000), 1);
	assert_int_equal(atomic_load(&s.requests), 1);
	close(answer.fd);
	for (int i = 0; i < IDLE; i++) {
		close(idle[i]);
	}
	site_stop(&f, &s);
}

/* RFC 9111: a code, an agent and a quoted text. */
static void test_a_warning_is_a_quoted_string(void **state)
{
	static const char get[] = "GET /warn HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
	struct https_fixture f;
	char answer[1000] = "";
	size_t n = 0;
	ssize_t more;
	struct site s;
	int fd;

	(void)state;
	site_start(&f, &s, (struct http_server_options){ 0 }, true);
	fd = raw_connect(&f);
	assert_int_equal(send(fd, get, strlen(get), MSG_NOSIGNAL), strlen(get));
	while (n < sizeof(answer) - 1 &&
	       (more = recv(fd, answer + n, sizeof(answer) - 1 - n, 0)) > 0) {
		n += (size_t)more;
	}
	answer[n] = '\0';
	assert_non_null(strstr(answer, "\r\nWarning: 299 - \"say \\\"so\\\" \\\\ or not\"\r\n"));
	close(fd);
	site_stop(&f, &s);
}

static void test_slow_sender_is_cut(void **state)
{
	static const char *const starts[] = {
		"GE",
		"POST / HTTP/1.1\r\nHost: a\r\nX-Slow: ",
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n",
	};
	struct https_fixture f;
	struct site s;

	(void)state;
	site_start(&f, &s, (struct http_server_options){ .request_timeout_s = 1 }, true);
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		int fd = raw_connect(&f);
		struct pollfd pfd = { .fd = fd, .events = POLLIN };
		int beats = 0;

		assert_true(send(fd, starts[i], strlen(starts[i]), MSG_NOSIGNAL) > 0);
		/* One byte after the other keeps any silence time-out from running out. */
		while (poll(&pfd, 1, 100) == 0) {
			assert_true(++beats < 600);
			(void)send(fd, "x", 1, MSG_NOSIGNAL);
		}
		close(fd);
	}
	assert_int_equal(atomic_load(&s.requests), 0);
	site_stop(&f, &s);
}

static void read_until(int fd, struct strbuf *in, const char *what, int times)
{
	char buf[4096];

	for (;;) {
		const char *p = in->p;
		int found = 0;
		ssize_t n;

		while ((p = strstr(p, what)) != NULL) {
			found++;
			p += strlen(what);
		}
		if (found >= times) {
			return;
		}
		n = recv(fd, buf, sizeof(buf), 0);
		if (n <= 0) {
			fail_msg("connection ended after: %s", in->p);
		}
		strbuf_add(in, buf, (size_t)n);
	}
}

/* Silent connections from any number of addresses: the oldest ones are closed. */
static void test_the_longest_idle_makes_room(void **state)
{
	enum { PLACES = 4, IDLE = 3 * PLACES };
	CLEANUP(strbuf_finish) struct strbuf in = STRBUF_INIT;
	static const char get[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
	struct https_fixture f;
	struct pollfd end = { .events = POLLIN };
	struct site s;
	int idle[IDLE], fd;
	char byte;

	(void)state;
	site_start(&f, &s,
		   (struct http_server_options){ .threads = 1,
						 .max_connections = PLACES,
						 .idle_timeout_s = 3600,
						 .request_timeout_s = 3600,
						 .cuts_longest_idle = true },
		   true);
	for (int i = 0; i < IDLE; i++) {
		idle[i] = raw_connect(&f);
	}
	fd = raw_connect(&f);
	assert_int_equal(send(fd, get, strlen(get), MSG_NOSIGNAL), strlen(get));
	read_until(fd, &in, "HTTP/1.1 200 ", 1);
	for (int i = 0; i <= IDLE - PLACES; i++) {
		end.fd = idle[i];
		assert_int_equal(poll(&end, 1, 60000), 1);
		assert_int_equal(recv(idle[i], &byte, 1, 0), 0);
	}
	/* Not more of them than need be. */
	end.fd = idle[IDLE - 1];
	assert_int_equal(poll(&end, 1, 0), 0);
	close(fd);
	for (int i = 0; i < IDLE; i++) {
		close(idle[i]);
	}
	site_stop(&f, &s);
}

static void test_keep_alive_pipelined_and_malformed(void **state)
{
	static const char two[] =
		"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\none"
		"POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
		"2\r\ntw\r\n1\r\no\r\n0\r\n\r\n";
	static const char bad[] = "POST / HTTP/1.1\r\nContent-Length: many\r\nHost: a\r\n\r\n";
	CLEANUP(strbuf_finish) struct strbuf in = STRBUF_INIT;
	struct https_fixture f;
	struct site s;
	int fd;

	(void)state;
	site_start(&f, &s, (struct http_server_options){ 0 }, true);
	fd = raw_connect(&f);
	assert_true(send(fd, two, sizeof(two) - 1, MSG_NOSIGNAL) > 0);
	read_until(fd, &in, "HTTP/1.1 200 OK\r\n", 2);
	read_until(fd, &in, "two", 1);
	assert_non_null(strstr(in.p, "one"));
	assert_true(send(fd, bad, sizeof(bad) - 1, MSG_NOSIGNAL) > 0);
	read_until(fd, &in, "HTTP/1.1 400 ", 1);
	close(fd);
	assert_int_equal(atomic_load(&s.requests), 2);
	site_stop(&f, &s);
}

/* Until the server closes. */
static void read_all(int fd, struct strbuf *in)
{
	char buf[4096];
	ssize_t n;

	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0) {
		strbuf_add(in, buf, (size_t)n);
	}
	strbuf_add_c(in, "");
}

static void test_ambiguous_length_is_refused(void **state)
{
	static const char *const heads[] = {
		"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
		"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
		"Content-Length: 3\r\nContent-Length: 4\r\n",
		"Content-Length: 4\r\ncontent-length: 3\r\n",
		"Content-Length: 3\r\nContent-Length: 03\r\n",
		"Content-Length: 3, 3\r\n",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
		"Transfer-Encoding: gzip, chunked\r\n",
		"Transfer-Encoding: identity\r\nContent-Length: 3\r\n",
	};
	struct https_fixture f;
	struct site s;

	(void)state;
	site_start(&f, &s, (struct http_server_options){ 0 }, true);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		CLEANUP(strbuf_finish) struct strbuf in = STRBUF_INIT;
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		int fd = raw_connect(&f);

		/* Where a reader of the other length sees a second request. */
		strbuf_printf(&text,
			      "POST /a HTTP/1.1\r\nHost: a\r\n%s\r\n0\r\n\r\n"
			      "GET /b HTTP/1.1\r\nHost: a\r\n\r\n",
			      heads[i]);
		assert_true(send(fd, text.p, text.len, MSG_NOSIGNAL) > 0);
		read_all(fd, &in);
		assert_int_equal(strncmp(in.p, "HTTP/1.1 400 ", 13), 0);
		assert_null(strstr(in.p, "HTTP/1.1 200"));
		close(fd);
	}
	assert_int_equal(atomic_load(&s.requests), 0);
	site_stop(&f, &s);
}

#define BUDGET 400000
#define BUDGET_LARGE (BUDGET / 4 * 3) /* of it, for large bodies */
#define SMALL 65536                   /* the largest body that may use all of it */

/* Announces a body and waits until the server wants it, or refuses it. */
static int announce(struct https_fixture *f, size_t len, struct strbuf *in, const char *answer)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	int fd = raw_connect(f);

	strbuf_printf(&text,
		      "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
		      "Content-Length: %zu\r\n\r\n",
		      len);
	assert_true(send(fd, text.p, text.len, MSG_NOSIGNAL) > 0);
	read_until(fd, in, answer, 1);
	return fd;
}

/* Sends the body, as a client that does not ask first, until the server answers with `status`
 * instead of `before`. Returns its Retry-After. */
static int post_until(struct https_fixture *f, struct str body, int before, int status)
{
	const int64_t deadline = wait_deadline(WAIT_NS);
	struct https_call c;

	for (;;) {
		https_fixture_do(f, &c, "/a", body);
		https_fixture_finish(&c);
		assert_int_equal(c.error, 0);
		if (c.status == status) {
			return c.retry_after_s;
		}
		assert_int_equal(c.status, before);
		if (!wait_until(deadline)) {
			fail_msg("still answered with %d, not %d", before, status);
		}
	}
}

static void test_bodies_have_a_total(void **state)
{
	static char body[BUDGET_LARGE];
	const struct str large = { body, sizeof(body) };
	CLEANUP(strbuf_finish) struct strbuf in = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf refused = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf late_in = STRBUF_INIT;
	struct https_fixture f;
	struct https_call c;
	struct site s;
	int held, late, fd;

	(void)state;
	memset(body, 'x', sizeof(body));
	site_start(&f, &s, (struct http_server_options){ .max_body = BUDGET, .max_bodies = BUDGET },
		   true);
	held = announce(&f, SMALL, &in, "100 Continue");
	late = announce(&f, sizeof(body), &late_in, "100 Continue");
	/* Small, so that it has room even if the server reads a large body first. If it were
	 * refused, it would not be kept, and every large body would have room. */
	assert_int_equal(send(held, body, SMALL - 1, MSG_NOSIGNAL), SMALL - 1);
	assert_int_equal(post_until(&f, large, 200, 503), 1);
	fd = announce(&f, sizeof(body), &refused, "HTTP/1.1 503 ");
	read_all(fd, &refused);
	assert_non_null(strstr(refused.p, "Retry-After: 1\r\n"));
	close(fd);
	/* There was room when it was announced, and none when it came. */
	assert_int_equal(send(late, body, sizeof(body), MSG_NOSIGNAL), sizeof(body));
	read_until(late, &late_in, "HTTP/1.1 503 ", 1);
	close(late);
	/* Small ones have room. */
	https_fixture_do(&f, &c, "/a", (struct str){ body, SMALL });
	assert_int_equal(c.status, 200);
	https_fixture_finish(&c);
	/* The end of the connection gives its part back. */
	close(held);
	(void)post_until(&f, large, 503, 200);
	site_stop(&f, &s);
}

/* Clients that announce much and send one byte, or none, do not keep others from being answered. */
static void test_an_announced_body_takes_no_room(void **state)
{
	static char body[BUDGET / 2];
	struct strbuf in[20];
	struct https_fixture f;
	struct https_call c;
	struct site s;
	int fds[20];

	(void)state;
	memset(body, 'x', sizeof(body));
	site_start(&f, &s, (struct http_server_options){ .max_body = BUDGET, .max_bodies = BUDGET },
		   true);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		strbuf_init(&in[i]);
		fds[i] = announce(&f, i % 2 == 0 ? BUDGET / 2 : SMALL, &in[i], "100 Continue");
		if (i % 3 == 0) {
			assert_int_equal(send(fds[i], body, 1, MSG_NOSIGNAL), 1);
		}
	}
	https_fixture_do(&f, &c, "/a", (struct str){ body, sizeof(body) });
	assert_int_equal(c.status, 200);
	https_fixture_finish(&c);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		close(fds[i]);
		strbuf_finish(&in[i]);
	}
	site_stop(&f, &s);
}

#define LARGE ((size_t)8 << 20)
#define MANY_LARGE 24

static size_t resident(void)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct err err = ERR_INIT;
	struct str rest;
	uint64_t pages;

	/* "SIZE RESIDENT ...", in pages. */
	assert_int_equal(file_read_all("/proc/self/statm", 65536, &text, &err), 0);
	rest = strbuf_str(&text);
	(void)str_next(&rest, ' ');
	assert_true(str_to_u64(str_next(&rest, ' '), &pages));
	return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void test_memory_of_large_bodies_goes_back(void **state)
{
	static char body[LARGE];
	struct https_call calls[MANY_LARGE];
	struct https_fixture f;
	int64_t deadline;
	size_t before;
	struct site s;

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip(); /* allocators of sanitizers keep freed memory */
#endif
	memset(body, 'x', sizeof(body));
	site_start(&f, &s, (struct http_server_options){ .max_body = LARGE }, true);
	before = resident();
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < MANY_LARGE; i++) {
			https_fixture_submit(&f, &calls[i], "/busy",
					     (struct http_call){ .method = HTTP_POST,
								 .content_type = "text/plain",
								 .body = { body, LARGE } });
		}
		for (size_t i = 0; i < MANY_LARGE; i++) {
			https_fixture_finish(&calls[i]);
		}
	}
	deadline = wait_deadline(WAIT_NS);
	while (resident() > before + 2 * LARGE) {
		assert_true(wait_until(deadline));
	}
	site_stop(&f, &s);
}

struct load {
	struct https_fixture *f;
	atomic_bool stop;
	int done, failed;
};

static void *load_main(void *arg)
{
	struct load *l = arg;
	struct https_call c;

	while (!atomic_load(&l->stop)) {
		https_fixture_do(l->f, &c, "/", STR_LIT("{}"));
		l->done++;
		l->failed += c.status != 200;
		https_fixture_finish(&c);
	}
	return NULL;
}

static void test_certificate_swap_under_load(void **state)
{
	enum { THREADS = 4, SWAPS = 30 };
	struct load loads[THREADS];
	pthread_t threads[THREADS];
	struct https_fixture f;
	struct https_call c;
	int64_t deadline;
	struct site s;

	(void)state;
	site_start(&f, &s, (struct http_server_options){ 0 }, false);
	deadline = wait_deadline(WAIT_NS);
	for (size_t i = 0; i < THREADS; i++) {
		loads[i] = (struct load){ .f = &f };
		assert_int_equal(pthread_create(&threads[i], NULL, load_main, &loads[i]), 0);
	}
	for (int i = 0; i < SWAPS; i++) {
		struct pair p;
		int before = atomic_load(&s.requests);

		https_fixture_new_leaf(&f, &p);
		assert_int_equal(http_server_set_certificate(f.server, strbuf_str(&p.cert),
							     strbuf_str(&p.key), NULL),
				 0);
		pair_finish(&p);
		while (atomic_load(&s.requests) < before + 20) {
			assert_true(wait_until(deadline));
		}
	}
	for (size_t i = 0; i < THREADS; i++) {
		atomic_store(&loads[i].stop, true);
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_true(loads[i].done > 0);
		assert_int_equal(loads[i].failed, 0);
	}
	https_fixture_do(&f, &c, "/", STR_LIT("x"));
	assert_int_equal(c.status, 200);
	https_fixture_finish(&c);
	site_stop(&f, &s);
}

static void test_bad_pair_keeps_the_old(void **state)
{
	struct err err = ERR_INIT;
	struct https_fixture f;
	struct https_call c;
	struct site s;
	struct pair other;

	(void)state;
	site_start(&f, &s, (struct http_server_options){ 0 }, false);
	https_fixture_new_leaf(&f, &other);
	assert_int_equal(http_server_set_certificate(f.server, strbuf_str(&other.cert),
						     strbuf_str(&f.leaf.key), &err),
			 -ERR_INVALID);
	assert_string_equal(err.text, "the private key does not belong to the certificate");
	assert_int_equal(http_server_set_certificate(f.server, STR_LIT("x"), STR_LIT("y"), &err),
			 -ERR_INVALID);
	assert_int_equal(http_server_set_certificate(f.server, (struct str){ other.cert.p, 300 },
						     strbuf_str(&other.key), &err),
			 -ERR_INVALID);
	pair_finish(&other);
	https_fixture_do(&f, &c, "/", STR_LIT("x"));
	assert_int_equal(c.status, 200);
	https_fixture_finish(&c);
	site_stop(&f, &s);
}

int main(void)
{
	static struct http_server_options pool = { 0 }, own = { .thread_per_connection = true };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_as_sent),
		cmocka_unit_test(test_many_at_once),
		cmocka_unit_test(test_body_limit),
		cmocka_unit_test(test_retry_after_and_drop),
		cmocka_unit_test_prestate(test_stream, &pool),
		cmocka_unit_test_prestate(test_stream, &own),
		cmocka_unit_test_prestate(test_stream_client_goes_away, &pool),
		cmocka_unit_test_prestate(test_stream_client_goes_away, &own),
		cmocka_unit_test_prestate(test_silent_stream_is_cut, &pool),
		cmocka_unit_test_prestate(test_silent_stream_is_cut, &own),
		cmocka_unit_test_prestate(test_stop_ends_streams_and_answers_close, &pool),
		cmocka_unit_test_prestate(test_stop_ends_streams_and_answers_close, &own),
		cmocka_unit_test(test_handlers_wait_for_other_connections),
		cmocka_unit_test(test_idle_connections_of_one_address),
		cmocka_unit_test(test_the_longest_idle_makes_room),
		cmocka_unit_test(test_a_warning_is_a_quoted_string),
		cmocka_unit_test(test_slow_sender_is_cut),
		cmocka_unit_test(test_keep_alive_pipelined_and_malformed),
		cmocka_unit_test(test_ambiguous_length_is_refused),
		cmocka_unit_test(test_bodies_have_a_total),
		cmocka_unit_test(test_an_announced_body_takes_no_room),
		cmocka_unit_test(test_memory_of_large_bodies_goes_back),
		cmocka_unit_test(test_certificate_swap_under_load),
		cmocka_unit_test(test_bad_pair_keeps_the_old),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
