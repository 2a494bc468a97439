/* Errors of the client loop: with a server that misbehaves on a raw socket, or without a server. */
#include "lib/unit.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "lib/net/https_fixture.h"

static void echo(void *ctx, const struct http_request *req, struct arena *arena,
		 struct http_response *ret)
{
	(void)ctx;
	(void)arena;
	ret->status = 200;
	ret->body = req->body;
}

/* A socket on a free port that no other process gets; url gets its address. */
static int bind_raw(char *url, size_t size)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
	snprintf(url, size, "http://127.0.0.1:%u/", ntohs(sa.sin_port));
	return fd;
}

static int listen_raw(char *url, size_t size)
{
	int fd = bind_raw(url, size);

	assert_int_equal(listen(fd, 16), 0);
	return fd;
}

/* Never reached by a test, and shorter than the timeout of the fixture's calls. */
#define CONNECT_NS (120 * CLOCK_NS_PER_S)

static struct http_loop *plain_loop(void)
{
	struct http_loop_options opt = { .connect_ns = CONNECT_NS };
	struct http_loop *l = NULL;

	assert_int_equal(http_loop_start(&opt, &l, NULL), 0);
	return l;
}

static const struct http_call post_call = { .method = HTTP_POST,
					    .content_type = "application/json",
					    .body = { "{}", 2 } };

static void test_refused(void **state)
{
	struct http_loop *l = plain_loop();
	struct https_call c;
	char url[80];
	int fd = bind_raw(url, sizeof(url)); /* nothing listens */

	(void)state;
	https_fixture_submit_on(l, &c, url, post_call);
	https_fixture_wait(&c);
	assert_int_equal(c.error, ERR_UNAVAILABLE);
	assert_int_equal(c.status, 0);
	assert_false(c.sent);
	assert_true(c.error_text[0] != '\0');
	https_fixture_finish(&c);
	close(fd);
	https_fixture_submit_on(l, &c, "http://no-such-host.invalid/", post_call);
	https_fixture_wait(&c);
	assert_int_equal(c.error, ERR_UNAVAILABLE);
	assert_false(c.sent);
	https_fixture_finish(&c);
	http_loop_destroy(l);
}

static void test_wrong_authority_or_name(void **state)
{
	struct http_server_options opt = { .handler = echo };
	struct https_fixture f, other;
	struct https_call c;
	char url[80];

	(void)state;
	https_fixture_start(&f, opt, false);
	https_fixture_start(&other, opt, false);
	snprintf(url, sizeof(url), "%s/", other.base);
	https_fixture_submit_on(f.loop, &c, url, post_call);
	https_fixture_wait(&c);
	assert_int_equal(c.error, ERR_UNAVAILABLE);
	assert_false(c.sent);
	https_fixture_finish(&c);
	snprintf(url, sizeof(url), "https://127.0.0.2:%u/", http_server_port(f.server));
	https_fixture_submit_on(f.loop, &c, url, post_call);
	https_fixture_wait(&c);
	assert_int_equal(c.error, ERR_UNAVAILABLE);
	assert_false(c.sent);
	https_fixture_finish(&c);
	https_fixture_stop(&other);
	https_fixture_stop(&f);
}

static void test_other_server_name(void **state)
{
	struct http_server_options opt = { .handler = echo };
	struct http_loop_options lo = { .connect_ns = CONNECT_NS };
	struct http_loop_tls tls = { 0 };
	struct http_loop *l = NULL;
	struct https_fixture f;
	struct https_call c;
	char url[80];

	(void)state;
	https_fixture_start(&f, opt, false);
	tls.ca_pem = strbuf_str(&f.ca.cert);
	tls.server_name = "example.com"; /* the certificate does not have it */
	lo.tls = &tls;
	assert_int_equal(http_loop_start(&lo, &l, NULL), 0);
	https_fixture_submit_on(l, &c, f.base, post_call);
	https_fixture_wait(&c);
	assert_int_equal(c.error, ERR_UNAVAILABLE);
	https_fixture_finish(&c);
	http_loop_destroy(l);
	tls.server_name = "localhost"; /* it has; the URL names the address */
	assert_int_equal(http_loop_start(&lo, &l, NULL), 0);
	snprintf(url, sizeof(url), "https://127.0.0.1:%u/", http_server_port(f.server));
	https_fixture_submit_on(l, &c, url, post_call);
	https_fixture_wait(&c);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.status, 200);
	https_fixture_finish(&c);
	http_loop_destroy(l);
	https_fixture_stop(&f);
}

static void test_deadline(void **state)
{
	struct http_loop *l = plain_loop();
	struct http_call call = post_call;
	struct https_call c;
	char url[80];
	int fd = listen_raw(url, sizeof(url)); /* connects, never answers */
	bool sent = false;

	(void)state;
	/* Until the time is long enough for the request to leave. */
	for (call.timeout_ns = 50 * CLOCK_NS_PER_MS; !sent; call.timeout_ns *= 2) {
		https_fixture_submit_on(l, &c, url, call);
		https_fixture_wait(&c);
		assert_int_equal(c.error, ERR_TIMEOUT);
		sent = c.sent;
		https_fixture_finish(&c);
	}
	http_loop_destroy(l);
	close(fd);
}

static void test_cancel_and_destroy(void **state)
{
	struct http_loop *l = plain_loop();
	struct https_call a, b;
	char url[80];
	int fd = listen_raw(url, sizeof(url));

	(void)state;
	https_fixture_submit_on(l, &a, url, post_call);
	https_fixture_submit_on(l, &b, url, post_call);
	http_loop_cancel(l, a.id);
	http_loop_cancel(l, a.id + 1000); /* unknown */
	https_fixture_wait(&a);
	assert_int_equal(a.error, ERR_CANCELLED);
	assert_int_not_equal(a.id, b.id);
	http_loop_destroy(l); /* b is in flight */
	https_fixture_wait(&b);
	assert_int_equal(b.error, ERR_CANCELLED);
	https_fixture_finish(&a);
	https_fixture_finish(&b);
	close(fd);
}

struct raw_server {
	int fd;
	const char *answer; /* then the connection is closed */
	int requests;
	int rounds;
};

/* Reads a request as a whole: closing with bytes unread resets the connection. */
static bool read_request(int conn)
{
	char got[4096] = "";
	size_t n = 0;

	while (strstr(got, "\r\n\r\n{}") == NULL) {
		ssize_t r = recv(conn, got + n, sizeof(got) - 1 - n, 0);

		if (r <= 0) {
			return false;
		}
		n += (size_t)r;
		got[n] = '\0';
	}
	return true;
}

static void *raw_main(void *arg)
{
	struct raw_server *s = arg;
	char buf[16];

	for (int i = 0; i < s->rounds; i++) {
		int fd = accept(s->fd, NULL, NULL);

		if (fd < 0) {
			return NULL;
		}
		if (read_request(fd)) {
			s->requests++;
			(void)send(fd, s->answer, strlen(s->answer), MSG_NOSIGNAL);
		}
		shutdown(fd, SHUT_WR);
		(void)recv(fd, buf, sizeof(buf), 0);
		close(fd);
	}
	return NULL;
}

/* One client, of which the loop keeps the last Date: each answer has its own all the same. */
static void test_dates(void **state)
{
	static const struct {
		const char *header;
		int64_t seconds; /* 0: none */
	} rows[] = {
		{ "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n", 1700000000 },
		{ "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n", 1700000000 },
		{ "Date: Tue, 14 Nov 2023 22:13:21 GMT\r\n", 1700000001 },
		{ "", 0 },
		{ "Date: soon\r\n", 0 },
		{ "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n", 1700000000 },
		/* Longer than what is kept. */
		{ "Date: Tue, 14 Nov 2023             22:13:22           GMT\r\n", 1700000002 },
	};
	struct http_loop *l = plain_loop();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct raw_server s = { .rounds = 1 };
		struct https_call c;
		pthread_t thread;
		char url[80], answer[200];

		snprintf(answer, sizeof(answer),
			 "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n%s\r\n",
			 rows[i].header);
		s.answer = answer;
		s.fd = listen_raw(url, sizeof(url));
		assert_int_equal(pthread_create(&thread, NULL, raw_main, &s), 0);
		https_fixture_submit_on(l, &c, url, post_call);
		https_fixture_wait(&c);
		assert_int_equal(c.status, 200);
		assert_int_equal(c.date, rows[i].seconds * CLOCK_NS_PER_S);
		https_fixture_finish(&c);
		pthread_join(thread, NULL);
		close(s.fd);
	}
	http_loop_destroy(l);
}

static void test_broken_answers(void **state)
{
	static const struct {
		const char *answer;
		int error, status;
	} rows[] = {
		{ "", ERR_IO, 0 },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", ERR_IO, 0 },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nab", ERR_IO, 0 },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfull", 0, 200 },
		{ "HTTP/1.1 503 No\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n", 0, 503 },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ntoo large", ERR_IO, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct raw_server s = { .answer = rows[i].answer, .rounds = 1 };
		struct http_loop *l = plain_loop();
		struct http_call call = post_call;
		struct https_call c;
		pthread_t thread;
		char url[80];

		s.fd = listen_raw(url, sizeof(url));
		assert_int_equal(pthread_create(&thread, NULL, raw_main, &s), 0);
		call.max_body = 8;
		https_fixture_submit_on(l, &c, url, call);
		https_fixture_wait(&c);
		assert_int_equal(c.error, rows[i].error);
		assert_int_equal(c.status, rows[i].status);
		assert_int_equal(c.too_large, strstr(rows[i].answer, "too large") != NULL);
		assert_int_equal(c.retry_after_s, rows[i].status == 503 ? 3 : -1);
		assert_true(c.sent);
		https_fixture_finish(&c);
		http_loop_destroy(l);
		pthread_join(thread, NULL);
		assert_int_equal(s.requests, 1);
		close(s.fd);
	}
}

/* Answers one request on the connection, "ok". */
static void answer_one(int conn)
{
	static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

	assert_true(read_request(conn));
	assert_int_equal(send(conn, ok, sizeof(ok) - 1, MSG_NOSIGNAL), sizeof(ok) - 1);
}

static void take_ok(struct https_call *c)
{
	https_fixture_wait(c);
	assert_int_equal(c->error, 0);
	assert_int_equal(c->status, 200);
	https_fixture_finish(c);
}

/* Closes a connection and waits until the other side's kernel has noticed. */
static void close_seen(int conn)
{
	struct tcp_info info = { .tcpi_state = TCP_FIN_WAIT1 };
	socklen_t len = sizeof(info);

	assert_int_equal(shutdown(conn, SHUT_WR), 0);
	while (info.tcpi_state == TCP_FIN_WAIT1) {
		assert_int_equal(getsockopt(conn, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
	}
	close(conn);
}

/* A connection serves one call after the other; when the server closed it in between, the next call
 * gets a new one and is sent once. */
static void test_idle_connection_is_closed(void **state)
{
	struct http_loop *l = plain_loop();
	struct https_call c;
	char url[80];
	int fd = listen_raw(url, sizeof(url));

	(void)state;
	for (int round = 0; round < 3; round++) {
		int conn;

		https_fixture_submit_on(l, &c, url, post_call);
		conn = accept(fd, NULL, NULL);
		assert_true(conn >= 0);
		answer_one(conn);
		take_ok(&c);
		https_fixture_submit_on(l, &c, url, post_call);
		answer_one(conn);
		take_ok(&c);
		close_seen(conn);
	}
	http_loop_destroy(l);
	close(fd);
}

struct order {
	struct http_loop *loop;
	int64_t step_ns, posted_ns; /* posted: how long that took */
	atomic_int n;
	char seen[8];
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

static struct order_entry {
	struct order *o;
	char name;
	unsigned steps;
	bool again;
} entries[] = {
	{ .name = 'x', .steps = 100000000 }, /* never */
	{ .name = 'c', .steps = 2 },         { .name = 'b', .steps = 1 },
	{ .name = 'a', .steps = 0 },         { .name = 'd', .steps = 3, .again = true },
};

static void on_timer(void *ctx)
{
	struct order_entry *e = ctx;

	if (e->again) {
		e->again = false;
		http_loop_call(e->o->loop, 0, on_timer, e);
		return;
	}
	pthread_mutex_lock(&e->o->lock);
	e->o->seen[atomic_fetch_add(&e->o->n, 1)] = e->name;
	pthread_cond_signal(&e->o->changed);
	pthread_mutex_unlock(&e->o->lock);
}

/* On the loop's own thread: none of them runs before all are posted. */
static void post_timers(void *ctx)
{
	struct order *o = ctx;
	int64_t from = clock_mono(clock_real());

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		entries[i].o = o;
		entries[i].again = entries[i].name == 'd';
		http_loop_call(o->loop, entries[i].steps * o->step_ns, on_timer, &entries[i]);
	}
	o->posted_ns = clock_mono(clock_real()) - from;
}

/* False: posting took longer than a step, so that their order is open. */
static bool are_in_order(int64_t step_ns)
{
	struct order o = { .loop = plain_loop(), .step_ns = step_ns };

	pthread_mutex_init(&o.lock, NULL);
	pthread_cond_init(&o.changed, NULL);
	http_loop_call(o.loop, 0, post_timers, &o);
	pthread_mutex_lock(&o.lock);
	while (atomic_load(&o.n) < 4) {
		pthread_cond_wait(&o.changed, &o.lock);
	}
	pthread_mutex_unlock(&o.lock);
	http_loop_destroy(o.loop); /* the last timer is dropped */
	pthread_cond_destroy(&o.changed);
	pthread_mutex_destroy(&o.lock);
	if (o.posted_ns >= step_ns) {
		return false;
	}
	assert_string_equal(o.seen, "abcd");
	return true;
}

static void test_timers(void **state)
{
	int64_t step_ns = 30 * CLOCK_NS_PER_MS;

	(void)state;
	while (!are_in_order(step_ns)) {
		step_ns *= 2;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_wrong_authority_or_name),
		cmocka_unit_test(test_other_server_name),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_cancel_and_destroy),
		cmocka_unit_test(test_broken_answers),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_idle_connection_is_closed),
		cmocka_unit_test(test_timers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
