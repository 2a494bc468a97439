/* The client loop over HTTP/2: nghttpx in front of our server, which speaks HTTP/1.1 only. Skipped
 * where nghttpx is not installed. */
#include "lib/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "lib/net/https_fixture.h"
#include "play/proc.h"
#include "process/file.h"

#define NGHTTPX "/usr/sbin/nghttpx"
#define STEP_MS 20
#define STOP_MS 300000

struct site {
	struct https_fixture f;
	struct proc proxy;
	struct http_stream stream;
	char dir[64];
};

static bool say_nothing(void *ctx, struct strbuf *out)
{
	(void)ctx;
	(void)out;
	return true;
}

static void handle(void *ctx, const struct http_request *req, struct arena *arena,
		   struct http_response *ret)
{
	struct site *s = ctx;

	(void)arena;
	ret->status = 200;
	if (str_eq_c(req->path, "/watch")) {
		ret->body = STR_LIT("first\n");
		ret->stream = &s->stream;
		return;
	}
	ret->body = req->body;
}

static void start_proxy(struct site *s)
{
	uint16_t port = proc_free_port();
	char front[64], back[64], key[80], cert[80], log[80];
	const char *argv[] = { NGHTTPX,
			       front,
			       back,
			       "--conf=/dev/null",
			       "--workers=1",
			       "--backend-read-timeout=1h",
			       "--backend-write-timeout=1h",
			       "--backend-keep-alive-timeout=1h",
			       "--backend-connect-timeout=1h",
			       "--frontend-write-timeout=1h",
			       "--frontend-http2-read-timeout=1h",
			       "--frontend-http2-settings-timeout=1h",
			       key,
			       cert,
			       NULL };

	snprintf(front, sizeof(front), "--frontend=127.0.0.1,%u", port);
	snprintf(back, sizeof(back), "--backend=127.0.0.1,%u", http_server_port(s->f.server));
	snprintf(key, sizeof(key), "%s/tls.key", s->dir);
	snprintf(cert, sizeof(cert), "%s/tls.crt", s->dir);
	snprintf(log, sizeof(log), "%s/log", s->dir);
	assert_int_equal(file_write_atomic(key, strbuf_str(&s->f.leaf.key), 0600, NULL), 0);
	assert_int_equal(file_write_atomic(cert, strbuf_str(&s->f.leaf.cert), 0600, NULL), 0);
	assert_int_equal(proc_start(&s->proxy, argv, log, NULL), 0);
	while (!proc_wait_port(port, STEP_MS)) {
		assert_true(proc_is_running(&s->proxy));
	}
	snprintf(s->f.base, sizeof(s->f.base), "https://localhost:%u", port);
}

static void site_open(struct site *s)
{
	*s = (struct site){ .dir = "/tmp/headgate-http2-XXXXXX" };
	s->stream = (struct http_stream){ .next = say_nothing };
	assert_non_null(mkdtemp(s->dir));
	https_fixture_start(&s->f, (struct http_server_options){ .handler = handle, .ctx = s },
			    true);
	start_proxy(s);
}

static void site_close(struct site *s)
{
	static const char *const names[] = { "tls.key", "tls.crt", "log" };
	char path[128];

	proc_stop(&s->proxy, SIGKILL, STOP_MS);
	https_fixture_stop(&s->f);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", s->dir, names[i]);
		unlink(path);
	}
	rmdir(s->dir);
}

static const struct http_call post = { .method = HTTP_POST,
				       .content_type = "application/json",
				       .body = { "{}", 2 } };
static const struct http_call watch = { .timeout_ns = -1 };

static void test_calls_beside_streams(void **state)
{
	enum { STREAMS = 20, CALLS = 200 };
	static struct https_call streams[STREAMS], calls[CALLS];
	struct site s;

	(void)state;
	if (access(NGHTTPX, X_OK) != 0) {
		skip();
	}
	site_open(&s);
	for (size_t i = 0; i < STREAMS; i++) {
		https_fixture_submit(&s.f, &streams[i], "/watch", watch);
	}
	for (size_t i = 0; i < CALLS; i++) {
		https_fixture_submit(&s.f, &calls[i], "/", post);
	}
	for (size_t i = 0; i < CALLS; i++) {
		https_fixture_wait(&calls[i]);
		assert_int_equal(calls[i].error, 0);
		assert_int_equal(calls[i].status, 200);
		assert_string_equal(calls[i].body.p, "{}");
		https_fixture_finish(&calls[i]);
	}
	for (size_t i = 0; i < STREAMS; i++) {
		https_fixture_wait_bytes(&streams[i], 6);
		http_loop_cancel(s.f.loop, streams[i].id);
		https_fixture_wait(&streams[i]);
		assert_int_equal(streams[i].error, ERR_CANCELLED);
		assert_string_equal(streams[i].body.p, "first\n");
		https_fixture_finish(&streams[i]);
	}
	site_close(&s);
}

/* A peer that is connected but does not answer any more: only the silence shows it. */
static void test_frozen_peer(void **state)
{
	struct http_call call = watch;
	struct https_call a, b, c;
	struct site s;

	(void)state;
	if (access(NGHTTPX, X_OK) != 0) {
		skip();
	}
	site_open(&s);
	for (call.silence_ns = 500 * CLOCK_NS_PER_MS;; call.silence_ns *= 2) {
		/* shares the connection, has no limit */
		https_fixture_submit(&s.f, &a, "/watch", watch);
		https_fixture_wait_bytes(&a, 6);
		https_fixture_submit(&s.f, &b, "/watch", call);
		https_fixture_wait_bytes(&b, 6);
		if (b.body.len >= 6) {
			break;
		}
		/* The time was too short for the first bytes: once more with a longer one. */
		http_loop_cancel(s.f.loop, a.id);
		https_fixture_finish(&a);
		https_fixture_finish(&b);
	}
	assert_int_equal(kill(s.proxy.pid, SIGSTOP), 0);
	https_fixture_wait(&b);
	assert_int_equal(b.error, ERR_TIMEOUT);
	https_fixture_wait(&a); /* cut with the connection instead of waiting for ever */
	assert_int_equal(a.error, ERR_IO);
	assert_int_equal(kill(s.proxy.pid, SIGCONT), 0);
	https_fixture_submit(&s.f, &c, "/", post);
	https_fixture_wait(&c);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.status, 200);
	https_fixture_finish(&a);
	https_fixture_finish(&b);
	https_fixture_finish(&c);
	site_close(&s);
}

static void test_killed_peer(void **state)
{
	struct https_call stream, call;
	struct site s;

	(void)state;
	if (access(NGHTTPX, X_OK) != 0) {
		skip();
	}
	site_open(&s);
	https_fixture_submit(&s.f, &stream, "/watch", watch);
	https_fixture_wait_bytes(&stream, 6);
	proc_stop(&s.proxy, SIGKILL, STOP_MS);
	https_fixture_wait(&stream);
	assert_int_equal(stream.error, ERR_IO);
	assert_int_equal(stream.status, 0);
	https_fixture_submit(&s.f, &call, "/", post);
	https_fixture_wait(&call);
	assert_int_equal(call.error, ERR_UNAVAILABLE);
	assert_false(call.sent);
	https_fixture_finish(&stream);
	https_fixture_finish(&call);
	site_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_beside_streams),
		cmocka_unit_test(test_frozen_peer),
		cmocka_unit_test(test_killed_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
