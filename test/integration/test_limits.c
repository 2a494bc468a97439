/* Limits of the ports of both daemons as the programs set them: what a pod that can reach a port
 * may do there. How the server keeps each limit is tested in test_http. */
#include "lib/unit.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "lib/net/https_fixture.h"
#include "lib/wait.h"
#include "obs/health.h"
#include "play/probe.h"
#include "play/scene.h"
#include "process/file.h"

#define ANSWER_MS 300000 /* more than anything takes on a busy machine */
#define WAIT_NS (300 * CLOCK_NS_PER_S)
#define TRIES 20
#define SILENT 200
#define GET_LIVEZ "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
#define TOKEN "kept-by-prometheus"

static const enum stack_program daemons[] = { STACK_SCHEDULER, STACK_WEBHOOK };
static struct scene scene;
static char token_dir[] = "/tmp/headgate-limits-XXXXXX";
static char *token_path;

static int begin(void **state UNUSED)
{
	CLEANUP(xmalloc_freep) char *flag = NULL;
	const char *scheduler_args[] = { NULL, "--leader-elect=false", NULL };
	const char *webhook_args[] = { NULL, NULL };
	const struct scene_options opt = { .stack.scheduler_args = scheduler_args,
					   .stack.webhook_args = webhook_args };

	assert_non_null(mkdtemp(token_dir));
	token_path = xmalloc_printf("%s/token", token_dir);
	assert_int_equal(file_write_atomic(token_path, STR_LIT(TOKEN "\n"), 0600, NULL), 0);
	flag = xmalloc_printf("--metrics-token-file=%s", token_path);
	scheduler_args[0] = webhook_args[0] = flag;
	scene_start(&scene, &opt);
	return 0;
}

static int end(void **state UNUSED)
{
	scene_stop(&scene);
	unlink(token_path);
	rmdir(token_dir);
	free(token_path);
	return 0;
}

/* A connection to the daemon's health port from 127.0.0.HOST. */
static int connect_from(enum stack_program p, unsigned host)
{
	const struct sockaddr_in from = { .sin_family = AF_INET,
					  .sin_addr.s_addr = htonl(0x7f000000U + host) };
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = htons(stack_metrics_port(scene.stack, p)),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

/* Whether a request on this connection is answered; false: it was closed without an answer. */
static bool is_answered(int fd)
{
	char answer[4096];
	ssize_t n;

	if (!probe_send(fd, GET_LIVEZ, strlen(GET_LIVEZ))) {
		return false;
	}
	n = probe_receive(fd, answer, sizeof(answer), ANSWER_MS);
	assert_int_not_equal(n, -1);
	return n > 0;
}

/* Whether one more connection from an address with many silent ones is refused. */
static bool is_refused_after_many(enum stack_program p)
{
	int silent[SILENT], fd;
	bool refused;

	for (unsigned i = 0; i < SILENT; i++) {
		silent[i] = connect_from(p, 2);
	}
	fd = connect_from(p, 2);
	refused = !is_answered(fd);
	close(fd);
	/* A probe comes from another address. */
	assert_int_equal(scene_http(&scene, p, "/livez", NULL), 200);
	for (unsigned i = 0; i < SILENT; i++) {
		close(silent[i]);
	}
	return refused;
}

static void test_silent_connections_of_one_address(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(daemons); i++) {
		unsigned tries = 0;

		/* On a machine that stood still, the silent ones may have been closed before the
		 * last one came. Without the limit it is never refused. */
		while (!is_refused_after_many(daemons[i])) {
			assert_true(++tries < TRIES);
		}
	}
}

/* No request to these ports needs a body: the first byte too many is refused. */
static void test_bodies_of_probes_are_small(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(daemons); i++) {
		static const char body[HEALTH_MAX_BODY + 1] = { 0 };
		CLEANUP(strbuf_finish) struct strbuf request = STRBUF_INIT;
		char answer[4096] = "";
		int fd = connect_from(daemons[i], 3);

		strbuf_printf(&request,
			      "POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n",
			      sizeof(body));
		strbuf_add_str(&request, (struct str){ body, sizeof(body) });
		assert_true(probe_send(fd, request.p, request.len));
		assert_true(probe_receive(fd, answer, sizeof(answer) - 1, ANSWER_MS) > 0);
		assert_ptr_equal(strstr(answer, "HTTP/1.1 413 "), answer);
		close(fd);
	}
}

/* Lets all open connections make a request each, so that none is idle, and closes those that the
 * server has closed (-1). Returns how many these were. */
static unsigned keep_busy(int *fds, size_t n)
{
	unsigned closed = 0;

	for (size_t i = 0; i < n; i++) {
		if (fds[i] >= 0 && !is_answered(fds[i])) {
			close(fds[i]);
			fds[i] = -1;
			closed++;
		}
	}
	return closed;
}

/* Every place is taken by connections from many addresses that are not idle: without the rule that
 * the longest idle is closed, one more would wait for as long as they go on. */
static void one_more_has_a_place(enum stack_program p)
{
	int fds[HEALTH_CONNECTIONS], fd;
	unsigned closed = 0, rounds = 0;
	bool answered = false;
	char answer[4096];

	for (unsigned i = 0; i < HEALTH_CONNECTIONS; i++) {
		fds[i] = connect_from(p, 10 + i / HEALTH_CONNECTIONS_OF_ONE);
	}
	(void)keep_busy(fds, HEALTH_CONNECTIONS);
	fd = connect_from(p, 3);
	assert_true(probe_send(fd, GET_LIVEZ, strlen(GET_LIVEZ)));
	while (!answered || closed == 0) {
		assert_true(++rounds < TRIES);
		closed += keep_busy(fds, HEALTH_CONNECTIONS);
		answered = answered || probe_receive(fd, answer, sizeof(answer), 0) > 0;
	}
	close(fd);
	for (unsigned i = 0; i < HEALTH_CONNECTIONS; i++) {
		if (fds[i] >= 0) {
			close(fds[i]);
		}
	}
}

static void test_the_longest_idle_makes_room(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(daemons); i++) {
		one_more_has_a_place(daemons[i]);
	}
}

/* A connection that is of no use to its client, and how long it stays open. */
struct useless {
	enum stack_program program;
	bool trickles; /* sends a request byte by byte; false: idle after one that was answered */
	int fd;
	unsigned late; /* times that it was closed late */
	int64_t opened, open_for;
};

static void open_useless(struct useless *u)
{
	static const char half[] = "GET /livez HTTP/1.1\r\nX-Slow: ";

	u->fd = connect_from(u->program, 4);
	u->opened = clock_mono(clock_real());
	u->open_for = -1;
	assert_true(u->trickles ? probe_send(u->fd, half, strlen(half)) : is_answered(u->fd));
}

/* Four times what the daemons set is less than what the server has by itself (30 and 120 s). */
#define EARLY_NS (4 * HEALTH_IDLE_S * CLOCK_NS_PER_S)

/* True: it is open. One that was closed late gets another try, once: the machine may have stood
 * still. */
static bool stays_open(struct useless *u)
{
	char byte;
	ssize_t n;

	if (u->open_for >= 0) {
		return false;
	}
	n = u->trickles && !probe_send(u->fd, "x", 1) ? 0 : probe_receive(u->fd, &byte, 1, 0);
	if (n != 0) {
		return true;
	}
	close(u->fd);
	u->open_for = clock_mono(clock_real()) - u->opened;
	if (u->open_for <= EARLY_NS) {
		return false;
	}
	assert_true(++u->late < 2);
	open_useless(u);
	return true;
}

static void test_useless_connections_are_closed_early(void **state UNUSED)
{
	const int64_t deadline = wait_deadline(WAIT_NS);
	struct useless all[] = { { STACK_SCHEDULER, .trickles = true },
				 { STACK_SCHEDULER, .trickles = false },
				 { STACK_WEBHOOK, .trickles = true },
				 { STACK_WEBHOOK, .trickles = false } };
	size_t open;

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		open_useless(&all[i]);
	}
	do {
		open = 0;
		for (size_t i = 0; i < ARRAY_LEN(all); i++) {
			open += stays_open(&all[i]);
		}
	} while (open > 0 && wait_until(deadline));
	assert_int_equal(open, 0);
}

/* The status of /metrics for a request with these headers. */
static int scrape(enum stack_program p, const char *headers)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	char answer[16] = "";
	uint64_t status;
	int fd = connect_from(p, 5);

	strbuf_printf(&text, "GET /metrics HTTP/1.1\r\nHost: a\r\n%s\r\n", headers);
	assert_true(probe_send(fd, text.p, text.len));
	assert_int_not_equal(probe_receive(fd, answer, sizeof(answer) - 1, ANSWER_MS), -1);
	close(fd);
	assert_memory_equal(answer, "HTTP/1.1 ", 9);
	assert_true(str_to_u64((struct str){ answer + 9, 3 }, &status));
	return (int)status;
}

static void test_metrics_are_for_those_with_the_token(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(daemons); i++) {
		assert_int_equal(scrape(daemons[i], ""), 401);
		assert_int_equal(scrape(daemons[i], "Authorization: Bearer x\r\n"), 401);
		assert_int_equal(scrape(daemons[i], "Authorization: Bearer " TOKEN "\r\n"), 200);
		assert_int_equal(scene_http(&scene, daemons[i], "/readyz", NULL), 200);
	}
}

#define LARGE ((size_t)8 << 20)
#define AT_ONCE 12 /* four times what has room */

/* Sends large bodies at once; how many of them were refused for want of room. */
static unsigned send_large_bodies(struct http_loop *loop, struct str body)
{
	struct https_call calls[AT_ONCE];
	unsigned refused = 0;
	char url[100];

	snprintf(url, sizeof(url), "https://127.0.0.1:%u/pods/mutate",
		 stack_webhook_port(scene.stack));
	for (size_t i = 0; i < AT_ONCE; i++) {
		https_fixture_submit_on(loop, &calls[i], url,
					(struct http_call){ .method = HTTP_POST,
							    .content_type = "application/json",
							    .body = body });
	}
	for (size_t i = 0; i < AT_ONCE; i++) {
		https_fixture_wait(&calls[i]);
		if (calls[i].status == 503) {
			assert_true(calls[i].retry_after_s > 0);
			refused++;
		}
		https_fixture_finish(&calls[i]);
	}
	return refused;
}

/* Without a total, none is refused, however often they come. */
static void test_bodies_have_a_total(void **state UNUSED)
{
	CLEANUP(xmalloc_freep) char *body = xmalloc_zero(1, LARGE);
	CLEANUP(xmalloc_freep) char *ca = xmalloc_printf("%s/ca.crt", stack_dir(scene.stack));
	const struct http_loop_tls tls = { .ca_file = ca };
	const struct http_loop_options lo = { .user_agent = "test",
					      .tls = &tls,
					      .connect_ns = ANSWER_MS * CLOCK_NS_PER_MS };
	struct http_loop *loop;
	unsigned tries = 0;

	memset(body, ' ', LARGE);
	assert_int_equal(http_loop_start(&lo, &loop, NULL), 0);
	while (send_large_bodies(loop, (struct str){ body, LARGE }) == 0) {
		assert_true(++tries < TRIES);
	}
	http_loop_destroy(loop);
}

static const char no_contact[] = ": no contact with the API server for ";

static void wait_stale(enum stack_program p, int status)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const int64_t deadline = wait_deadline(WAIT_NS);

	while (scene_http(&scene, p, "/readyz?verbose", &text) != status ||
	       strstr(text.p, no_contact) == NULL) {
		assert_true(wait_until(deadline));
	}
}

/* All connections stay open, and nothing comes over them: a proxy may do that. It takes the 90 s in
 * which a bookmark is due. */
static void test_a_silent_api_server_is_noticed(void **state UNUSED)
{
	if (stack_is_external()) {
		skip();
	}
	assert_true(stack_signal(scene.stack, STACK_APISERVER, SIGSTOP));
	wait_stale(STACK_SCHEDULER, 503);
	assert_int_equal(scene_http(&scene, STACK_SCHEDULER, "/livez", NULL), 200);
	/* A webhook that is behind still answers, which is better than no answer. */
	wait_stale(STACK_WEBHOOK, 200);
	assert_true(stack_signal(scene.stack, STACK_APISERVER, SIGCONT));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_silent_connections_of_one_address),
		cmocka_unit_test(test_the_longest_idle_makes_room),
		cmocka_unit_test(test_bodies_of_probes_are_small),
		cmocka_unit_test(test_useless_connections_are_closed_early),
		cmocka_unit_test(test_metrics_are_for_those_with_the_token),
		cmocka_unit_test(test_bodies_have_a_total),
		cmocka_unit_test(test_a_silent_api_server_is_noticed),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests(tests, begin, end);
}
