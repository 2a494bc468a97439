/* headgate-webhook as a server: TLS, limits, bad input, certificates swapped under load, draining.
 */
#include "lib/unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "lib/net/https_fixture.h"
#include "lib/wait.h"
#include "play/probe.h"
#include "play/registration.h"
#include "play/scene.h"
#include "process/file.h"

#define ANSWER_MS 300000 /* more than anything takes on a busy machine */
#define HELLOS 5
#define WAIT_NS (300 * CLOCK_NS_PER_S)
#define MANY 40

static struct scene scene;
static struct http_loop *loop;
static int slow_fd = -1;

/* A TLS record with a ClientHello of the given version, that offers ECDHE and RSA suites, P-256 and
 * the usual signatures. */
static size_t client_hello(uint8_t minor, uint8_t *out)
{
	static const uint8_t tail[] = {
		0,    0x08,                                     /* suites, bytes */
		0xc0, 0x2b, 0xc0, 0x09, 0xc0, 0x13, 0x00, 0x2f, /* GCM, CBC */
		1,    0,                                        /* no compression */
		0,    28,                                       /* extensions, bytes */
		0,    10,   0,    4,    0,    2,    0,    23,   /* groups: secp256r1 */
		0,    11,   0,    2,    1,    0,                /* points: uncompressed */
		0,    13,   0,    10,   0,    8,                /* signatures */
		4,    3,    4,    1,    2,    3,    2,    1,
	};
	const size_t body = 2 + 32 + 1 + sizeof(tail);
	const uint8_t head[] = {
		22, 3, 1, 0, (uint8_t)(body + 4), 1, 0, 0, (uint8_t)body, 3, minor
	};

	memcpy(out, head, sizeof(head));
	memset(out + sizeof(head), 0x5a, 32);
	out[sizeof(head) + 32] = 0;
	memcpy(out + sizeof(head) + 33, tail, sizeof(tail));
	return sizeof(head) + 33 + sizeof(tail);
}

/* A second signal ends it, so that no test waits that long. */
static const char *webhook_args[] = { "--shutdown-delay-duration=200s", NULL };

static int begin(void **state UNUSED)
{
	const struct scene_options opt = { .stack.webhook_args = webhook_args };
	CLEANUP(xmalloc_freep) char *ca = NULL;
	struct http_loop_tls tls = { 0 };
	const struct http_loop_options lo = { .user_agent = "test",
					      .tls = &tls,
					      .connect_ns = ANSWER_MS * CLOCK_NS_PER_MS };
	uint8_t hello[200];

	scene_start(&scene, &opt);
	ca = xmalloc_printf("%s/ca.crt", stack_dir(scene.stack));
	tls.ca_file = ca;
	assert_int_equal(http_loop_start(&lo, &loop, NULL), 0);
	/* Sends half a request now; the last test checks how it ended. */
	slow_fd = probe_connect(stack_webhook_port(scene.stack));
	assert_true(slow_fd >= 0 && probe_send(slow_fd, hello, client_hello(3, hello) / 2));
	return 0;
}

static int end(void **state UNUSED)
{
	close(slow_fd);
	http_loop_destroy(loop);
	scene_stop(&scene);
	return 0;
}

static int after_each(void **state UNUSED)
{
	scene_clear(&scene);
	return 0;
}

static void submit(struct https_call *c, const char *path, struct http_call call)
{
	char url[200];

	snprintf(url, sizeof(url), "https://127.0.0.1:%u%s", stack_webhook_port(scene.stack), path);
	https_fixture_submit_on(loop, c, url, call);
}

/* POSTs a body and returns the status; the answer lands in out (may be NULL). */
static int post(const char *path, const char *type, struct str body, struct strbuf *out)
{
	struct https_call c;
	int status;

	submit(&c, path,
	       (struct http_call){ .method = HTTP_POST, .content_type = type, .body = body });
	https_fixture_wait(&c);
	status = c.status;
	if (out != NULL) {
		strbuf_add_str(out, strbuf_str(&c.body));
		strbuf_add_c(out, "");
	}
	https_fixture_finish(&c);
	return status;
}

/* The type of the record that answers a ClientHello: 22 a handshake, 21 an alert, 0 the end. */
static unsigned answer_to_hello(uint8_t minor)
{
	uint8_t hello[200], answer[8] = { 0 };
	int fd = probe_connect(stack_webhook_port(scene.stack));

	assert_true(fd >= 0);
	assert_true(probe_send(fd, hello, client_hello(minor, hello)));
	assert_int_not_equal(probe_receive(fd, answer, sizeof(answer), ANSWER_MS), -1);
	close(fd);
	return answer[0];
}

static void test_tls_1_2_at_least(void **state UNUSED)
{
	unsigned tries = 0, answer;

	/* A webhook that was not scheduled for ten seconds treats us as a slow sender. */
	do {
		answer = answer_to_hello(3);
	} while (answer == 0 && ++tries < HELLOS);
	assert_int_equal(answer, 22);
	assert_int_not_equal(answer_to_hello(2), 22); /* TLS 1.1 */
	assert_int_not_equal(answer_to_hello(1), 22); /* TLS 1.0 */
}

static void test_bad_requests_are_refused_precisely(void **state UNUSED)
{
	static const struct {
		const char *path, *type, *body;
		int status;
	} rows[] = {
		{ "/pods/mutate", "text/plain", "{}", 415 },
		{ "/pods/mutate", "application/yaml", "kind: AdmissionReview", 415 },
		{ "/pods/mutate", "application/json", "", 400 },
		{ "/pods/mutate", "application/json", "{\"kind\":", 400 },
		{ "/pods/mutate", "application/json", "[]", 400 },
		{ "/pods/mutate", "application/json", "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}",
		  400 },
		{ "/queues/validate", "application/json", "nonsense", 400 },
		{ "/nothing", "application/json", "{}", 404 },
		{ "/", "application/json", "{}", 404 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

		assert_int_equal(post(rows[i].path, rows[i].type, str_of(rows[i].body), &text),
				 rows[i].status);
		assert_true(text.len > 0);
	}
}

static void test_absurd_nesting_is_refused(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	strbuf_add_c(&body, "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\","
			    "\"request\":{\"uid\":\"1\",\"object\":");
	for (unsigned i = 0; i < 100000; i++) {
		strbuf_add_ch(&body, '[');
	}
	assert_int_equal(post("/pods/mutate", "application/json", strbuf_str(&body), &text), 400);
	/* It still answers. */
	assert_int_equal(scene_http(&scene, STACK_WEBHOOK, "/readyz", NULL), 200);
}

static void test_large_body_is_refused(void **state UNUSED)
{
	const size_t size = (size_t)9 << 20;
	CLEANUP(xmalloc_freep) char *body = xmalloc_zero(1, size);

	memset(body, ' ', size);
	assert_int_equal(post("/pods/mutate", "application/json", (struct str){ body, size }, NULL),
			 413);
	assert_int_equal(scene_http(&scene, STACK_WEBHOOK, "/readyz", NULL), 200);
}

static const char review_pod[] =
	"{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{\"uid\":"
	"\"u-1\",\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"},\"resource\":{"
	"\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},\"namespace\":\"default\","
	"\"operation\":\"CREATE\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":"
	"{\"name\":\"p\",\"annotations\":{\"scheduling.volcano.sh/queue-allocation-gate\":\"true\","
	"\"scheduling.volcano.sh/"
	"queue-name\":\"nowhere\"}},\"spec\":{\"schedulerName\":\"volcano\","
	"\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}";

static void test_unknown_queue_warns(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	assert_int_equal(post("/pods/mutate", "application/json", str_of(review_pod), &text), 200);
	assert_non_null(strstr(text.p, "\"uid\":\"u-1\""));
	assert_non_null(strstr(text.p, "\"allowed\":true"));
	assert_non_null(strstr(text.p, "\"patchType\":\"JSONPatch\""));
	assert_non_null(strstr(text.p, "\"warnings\":["));
	assert_non_null(strstr(text.p, "nowhere"));
}

/* Creates pods, one after the other, until stop is set. */
struct load {
	atomic_bool stop;
	atomic_uint created;
	char failure[ERR_TEXT_MAX];
};

/* A call that failed because the webhook was too slow, not because of its certificate. */
static bool is_late(const struct err *err)
{
	return strstr(err->text, "failed calling webhook") != NULL &&
	       strstr(err->text, "no answer in time") != NULL;
}

static void *create_pods(void *arg)
{
	struct load *l = arg;

	while (!atomic_load(&l->stop) && l->failure[0] == '\0') {
		char name[32];
		const struct scene_pod p = { .name = name, .queue = "swap", .cpu = "1" };
		struct err err = ERR_INIT;

		snprintf(name, sizeof(name), "load-%u", atomic_load(&l->created));
		if (scene_try_pod(&scene, &p, &err) < 0) {
			if (is_late(&err)) {
				continue;
			}
			snprintf(l->failure, sizeof(l->failure), "%s", err.text);
		}
		atomic_fetch_add(&l->created, 1);
	}
	return NULL;
}

static bool has_created(void *ctx, const struct mirror *m UNUSED)
{
	struct load *const *l = ctx;

	return atomic_load(&(*l)->created) % 5 == 4 || (*l)->failure[0] != '\0';
}

static bool has_come(void *ctx, const struct mirror *m)
{
	return mirror_get(m, MIRROR_PODS, ctx) != NULL;
}

static void test_certificates_swap_under_load(void **state UNUSED)
{
	static struct load l; /* outlives a failure, after which the thread still runs */
	struct load *pl = &l;
	struct scene *s = &scene;
	pthread_t thread;
	char line[100];

	scene_add_queue(s, "swap", NULL, "1", NULL);
	assert_int_equal(pthread_create(&thread, NULL, create_pods, &l), 0);
	for (unsigned i = 1; i <= 4; i++) {
		scene_wait_for(s, "more pods", has_created, &pl);
		assert_int_equal(registration_make_certificates(stack_dir(s->stack), NULL), 0);
		snprintf(line, sizeof(line), "headgate_webhook_certificate_reloads_total %u", i);
		scene_wait_metric(s, STACK_WEBHOOK, line);
	}
	scene_wait_for(s, "more pods", has_created, &pl);
	atomic_store(&l.stop, true);
	pthread_join(thread, NULL);
	assert_string_equal(l.failure, "");
	assert_true(atomic_load(&l.created) > 4);
	/* Our watch may lag behind: the last pod comes after the first. */
	snprintf(line, sizeof(line), "default/load-%u", atomic_load(&l.created) - 1);
	scene_wait_for(s, "the last pod is there", has_come, line);
	assert_true(scene_saw(s, "load-0", SCENE_GATED));
}

static void test_half_written_pair_is_refused(void **state UNUSED)
{
	struct scene *s = &scene;
	const struct scene_pod p = { .name = "still", .queue = "half", .cpu = "1" };
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("%s/tls.key", stack_dir(s->stack));
	double reloads =
		       scene_metric(s, STACK_WEBHOOK, "headgate_webhook_certificate_reloads_total"),
	       errors = scene_metric(s, STACK_WEBHOOK,
				     "headgate_webhook_certificate_reload_errors_total");
	char line[100];

	scene_add_queue(s, "half", NULL, "1", NULL);
	assert_int_equal(
		file_write_atomic(key, STR_LIT("-----BEGIN PRIVATE KEY-----\n"), 0600, NULL), 0);
	/* A swap before may still be counted as half-written: any rise will do. */
	scene_wait_metric_above(s, STACK_WEBHOOK,
				"headgate_webhook_certificate_reload_errors_total", errors);
	scene_add_pod(s, &p);
	scene_wait(s, "still", SCENE_RUNNING);
	assert_true(scene_metric(s, STACK_WEBHOOK, "headgate_webhook_certificate_reloads_total") ==
		    reloads);
	assert_int_equal(registration_make_certificates(stack_dir(s->stack), NULL), 0);
	snprintf(line, sizeof(line), "headgate_webhook_certificate_reloads_total %g", reloads + 1);
	scene_wait_metric(s, STACK_WEBHOOK, line);
}

/* Requests that arrive while it is not ready any more are answered, and it exits with 0. */
static void test_sigterm_drains(void **state UNUSED)
{
	static struct https_call calls[MANY];
	const struct http_call review = { .method = HTTP_POST,
					  .content_type = "application/json",
					  .body = { review_pod, sizeof(review_pod) - 1 } };
	struct err err = ERR_INIT;
	int64_t deadline;

	for (size_t i = 0; i < MANY; i++) {
		submit(&calls[i], "/pods/mutate", review);
	}
	https_fixture_wait(&calls[0]);
	assert_true(stack_signal(scene.stack, STACK_WEBHOOK, SIGTERM));
	deadline = wait_deadline(WAIT_NS);
	while (scene_http(&scene, STACK_WEBHOOK, "/readyz", NULL) == 200) {
		assert_true(wait_until(deadline));
	}
	for (size_t i = 0; i < MANY; i++) {
		https_fixture_wait(&calls[i]);
		assert_int_equal(calls[i].status, 200);
		https_fixture_finish(&calls[i]);
	}
	assert_true(stack_is_running(scene.stack, STACK_WEBHOOK));
	assert_int_equal(stack_stop_program(scene.stack, STACK_WEBHOOK, SIGTERM), 0);
	webhook_args[0] = "--shutdown-delay-duration=0s";
	assert_int_equal(stack_start_program(scene.stack, STACK_WEBHOOK, &err), 0);
}

static void test_slow_sender_is_cut(void **state UNUSED)
{
	uint8_t byte;
	ssize_t n = probe_receive(slow_fd, &byte, 1, ANSWER_MS);

	assert_int_not_equal(n, -1); /* an alert or the end, not silence */
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tls_1_2_at_least),
		cmocka_unit_test(test_bad_requests_are_refused_precisely),
		cmocka_unit_test(test_absurd_nesting_is_refused),
		cmocka_unit_test(test_large_body_is_refused),
		cmocka_unit_test(test_unknown_queue_warns),
		cmocka_unit_test_teardown(test_certificates_swap_under_load, after_each),
		cmocka_unit_test_teardown(test_half_written_pair_is_refused, after_each),
		cmocka_unit_test(test_slow_sender_is_cut),
		cmocka_unit_test(test_sigterm_drains),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests(tests, begin, end);
}
