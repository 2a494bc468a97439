/* headgate-webhook as a process: options, health, rotation of certificates and SIGTERM under load,
 * and pods created through the API server. */
#include "lib/unit.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "enc/jdoc.h"
#include "lib/https_fixture.h"
#include "lib/proc.h"
#include "lib/stack.h"

#define START_MS 20000
#define REVIEW_PATH "/pods/mutate"
#define REVIEW                                                                                     \
	"{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{"       \
	"\"uid\":\"u\",\"operation\":\"CREATE\",\"namespace\":\"ns\",\"object\":{\"metadata\":"    \
	"{\"annotations\":{\"scheduling.volcano.sh/queue-allocation-gate\":\"true\"}},\"spec\":"   \
	"{\"schedulerName\":\"volcano\"}}}}"

struct site {
	struct https_fixture f; /* its CA and client; its own server is not used */
	char dir[64];
	char program[512];
	uint16_t port, health_port;
	struct proc proc;
};

static void unused_handler(void *ctx, const struct http_request *req, struct arena *arena,
			   struct http_response *ret)
{
	(void)ctx;
	(void)req;
	(void)arena;
	ret->status = 404;
}

static const char *at(const struct site *s, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	return path;
}

static void write_file(const struct site *s, const char *name, struct str text)
{
	assert_int_equal(file_write_atomic(at(s, name), text, 0600, NULL), 0);
}

/* The program beside this one: BUILD/test/integration/test_webhook -> BUILD/bin. */
static void find_program(struct site *s)
{
	const char *bin = getenv("HEADGATE_BIN");
	ssize_t n;

	if (bin != NULL) {
		snprintf(s->program, sizeof(s->program), "%s/headgate-webhook", bin);
		return;
	}
	n = readlink("/proc/self/exe", s->program, sizeof(s->program) - 64);
	assert_true(n > 0);
	s->program[n] = '\0';
	for (int i = 0; i < 3; i++) {
		*strrchr(s->program, '/') = '\0';
	}
	memcpy(s->program + strlen(s->program), "/bin/headgate-webhook",
	       sizeof("/bin/headgate-webhook"));
}

static void site_open(struct site *s)
{
	*s = (struct site){ .dir = "/tmp/headgate-webhook-XXXXXX" };
	assert_non_null(mkdtemp(s->dir));
	find_program(s);
	https_fixture_start(&s->f, (struct http_server_options){ .handler = unused_handler },
			    false);
	write_file(s, "tls.crt", strbuf_str(&s->f.leaf.cert));
	write_file(s, "tls.key", strbuf_str(&s->f.leaf.key));
	s->port = proc_free_port();
	s->health_port = proc_free_port();
	snprintf(s->f.base, sizeof(s->f.base), "https://localhost:%u", s->port);
}

static void site_close(struct site *s)
{
	static const char *const names[] = { "tls.crt", "tls.key", "log" };

	proc_stop(&s->proc, SIGKILL, 1000);
	https_fixture_stop(&s->f);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		unlink(at(s, names[i]));
	}
	rmdir(s->dir);
}

/* more: one more argument or NULL. */
static void start(struct site *s, const char *more)
{
	char cert[128], key[128], port[32], health[64], log[128];
	const char *argv[] = { s->program,  cert, key, port, health, "--listen-address=127.0.0.1",
			       "--offline", more, NULL };

	snprintf(cert, sizeof(cert), "--tls-cert-file=%s/tls.crt", s->dir);
	snprintf(key, sizeof(key), "--tls-private-key-file=%s/tls.key", s->dir);
	snprintf(port, sizeof(port), "--port=%u", s->port);
	snprintf(health, sizeof(health), "--healthz-address=127.0.0.1:%u", s->health_port);
	snprintf(log, sizeof(log), "%s/log", s->dir);
	assert_int_equal(proc_start(&s->proc, argv, log, NULL), 0);
}

static void start_and_wait(struct site *s)
{
	start(s, NULL);
	assert_true(proc_wait_port(s->port, START_MS));
	assert_true(proc_wait_port(s->health_port, START_MS));
}

static int wait_exit(struct site *s)
{
	for (int i = 0; i < START_MS / 10 && proc_is_running(&s->proc); i++) {
		(void)poll(NULL, 0, 10);
	}
	assert_false(proc_is_running(&s->proc));
	return s->proc.code;
}

static bool log_has(struct site *s, const char *text)
{
	CLEANUP(strbuf_finish) struct strbuf log = STRBUF_INIT;

	assert_int_equal(file_read_all(at(s, "log"), 1 << 20, &log, NULL), 0);
	return strstr(log.p, text) != NULL;
}

static void test_bad_options(void **state)
{
	static const struct {
		const char *arg, *text;
	} rows[] = {
		{ "--no-such-flag", "unrecognized option" },
		{ "--port=70000", "--port: \"70000\" is not a number up to 65535" },
		{ "--enabled-admission=/nope", "no such admission path: \\\"/nope\\\"" },
		{ "--feature-gates=Nope=true", "no such feature gate: \"Nope\"" },
		{ "--graceful-shutdown-time=soon", "\"soon\" is not a duration" },
		{ "--tls-cert-file=/no/such/file", "/no/such/file" },
		{ "surplus", "unexpected argument" },
	};
	struct site s;

	(void)state;
	site_open(&s);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start(&s, rows[i].arg);
		assert_int_equal(wait_exit(&s), 2);
		if (!log_has(&s, rows[i].text)) {
			fail_msg("the log does not have: %s", rows[i].text);
		}
	}
	write_file(&s, "tls.key", strbuf_str(&s.f.ca.key));
	start(&s, NULL);
	assert_int_equal(wait_exit(&s), 2);
	assert_true(log_has(&s, "the private key does not belong to the certificate"));
	site_close(&s);
}

/* Value of a metric without labels; -1: not there. */
static double metric(struct site *s, const char *name)
{
	struct http_call call = { .method = HTTP_GET };
	struct https_call c;
	char url[64], key[128];
	const char *found;
	double value = -1;

	snprintf(url, sizeof(url), "http://127.0.0.1:%u/metrics", s->health_port);
	https_fixture_submit_on(s->f.loop, &c, url, call);
	https_fixture_wait(&c);
	assert_int_equal(c.status, 200);
	snprintf(key, sizeof(key), "\n%s ", name);
	found = strstr(c.body.p, key);
	if (found != NULL) {
		value = strtod(found + strlen(key), NULL);
	}
	https_fixture_finish(&c);
	return value;
}

static void test_serves(void **state)
{
	struct http_call call = { .method = HTTP_GET };
	struct https_call c;
	struct site s;
	char url[64];

	(void)state;
	site_open(&s);
	start_and_wait(&s);
	https_fixture_do(&s.f, &c, REVIEW_PATH, STR_LIT(REVIEW));
	assert_int_equal(c.status, 200);
	assert_non_null(strstr(c.body.p, "\"patchType\":\"JSONPatch\""));
	https_fixture_finish(&c);
	assert_true(metric(&s, "headgate_webhook_gated_pods_total") == 1);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/readyz", s.health_port);
	https_fixture_submit_on(s.f.loop, &c, url, call);
	https_fixture_wait(&c);
	assert_string_equal(c.body.p, "ok");
	https_fixture_finish(&c);
	assert_int_equal(proc_stop(&s.proc, SIGTERM, START_MS), 0);
	site_close(&s);
}

struct load {
	struct site *s;
	pthread_t thread;
	atomic_bool stop;
	int done, failed, unknown;
};

static void *load_main(void *arg)
{
	struct load *l = arg;
	struct https_call c;

	while (!atomic_load(&l->stop)) {
		https_fixture_do(&l->s->f, &c, REVIEW_PATH, STR_LIT(REVIEW));
		l->done += c.status == 200;
		l->failed += c.status != 200;
		l->unknown += c.error != 0 && c.sent;
		if (c.error != 0) {
			(void)poll(NULL, 0, 1); /* nobody listens any more */
		}
		https_fixture_finish(&c);
	}
	return NULL;
}

static void load_start(struct load *l, size_t n, struct site *s)
{
	for (size_t i = 0; i < n; i++) {
		l[i] = (struct load){ .s = s };
		assert_int_equal(pthread_create(&l[i].thread, NULL, load_main, &l[i]), 0);
	}
}

static void load_join(struct load *l, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		atomic_store(&l[i].stop, true);
		pthread_join(l[i].thread, NULL);
		assert_true(l[i].done > 0);
	}
}

static void wait_metric(struct site *s, const char *name, double least)
{
	for (int i = 0; metric(s, name) < least; i++) {
		assert_true(i < START_MS / 10);
		(void)poll(NULL, 0, 10);
	}
}

static void test_rotation_under_load(void **state)
{
	struct load loads[3];
	struct site s;

	(void)state;
	site_open(&s);
	start_and_wait(&s);
	load_start(loads, 3, &s);
	for (int i = 1; i <= 5; i++) {
		struct pair p;

		https_fixture_new_leaf(&s.f, &p);
		/* In between the two files do not belong together. */
		write_file(&s, "tls.crt", strbuf_str(&p.cert));
		if (i == 1) {
			wait_metric(&s, "headgate_webhook_certificate_reload_errors_total", 1);
		}
		write_file(&s, "tls.key", strbuf_str(&p.key));
		pair_finish(&p);
		wait_metric(&s, "headgate_webhook_certificate_reloads_total", i);
	}
	load_join(loads, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(loads[i].failed, 0);
	}
	assert_int_equal(proc_stop(&s.proc, SIGTERM, START_MS), 0);
	site_close(&s);
}

static void test_sigterm_under_load(void **state)
{
	struct load loads[3];
	struct site s;

	(void)state;
	site_open(&s);
	start_and_wait(&s);
	load_start(loads, 3, &s);
	wait_metric(&s, "headgate_webhook_gated_pods_total", 100);
	assert_int_equal(proc_stop(&s.proc, SIGTERM, START_MS), 0);
	load_join(loads, 3);
	for (size_t i = 0; i < 3; i++) {
		/* Refused is fine, the API server asks another replica; cut in the middle is not.
		 */
		assert_int_equal(loads[i].unknown, 0);
	}
	site_close(&s);
}

static void must(int r, const struct err *err)
{
	if (r < 0) {
		fail_msg("%s", err->text);
	}
}

static size_t gates_of(struct stack *st, const char *body)
{
	CLEANUP(jdoc_destroyp) struct jdoc *pod = NULL;
	struct err err = ERR_INIT;

	must(stack_call(st, "POST", "/api/v1/namespaces/labelled/pods", str_of(body), &pod, &err),
	     &err);
	return jdoc_count(jdoc_path(pod, "spec.schedulingGates"));
}

static void test_through_the_api_server(void **state)
{
	static const char pod[] = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{"
				  "\"generateName\":\"p-\"},\"spec\":{\"schedulerName\":\"%s\","
				  "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}";
	struct stack_options opt = { .no_scheduler = true };
	struct err err = ERR_INIT;
	struct stack *st = NULL;
	char body[512];

	(void)state;
	must(stack_start(&opt, &st, &err), &err);
	must(stack_apply(
		     st,
		     STR_LIT("{apiVersion: v1, kind: Namespace, metadata: {name: labelled, "
			     "labels: {scheduling.volcano.sh/queue-allocation-gate: \"true\"}}}"),
		     &err),
	     &err);
	/* at once: the webhook may not have seen the namespace yet */
	snprintf(body, sizeof(body), pod, "volcano");
	assert_int_equal(gates_of(st, body), 1);
	snprintf(body, sizeof(body), pod, "default-scheduler");
	assert_int_equal(gates_of(st, body), 0);
	/* validation with the queues that the webhook follows */
	assert_true(stack_apply(st,
				STR_LIT("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, "
					"metadata: {name: q}, spec: {parent: nope}}"),
				&err) < 0);
	assert_non_null(strstr(err.text, "queue \"nope\" does not exist"));
	must(stack_apply(st,
			 STR_LIT("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, "
				 "metadata: {name: q}, spec: {capability: {cpu: \"1\"}}}"),
			 &err),
	     &err);
	assert_int_equal(stack_stop_program(st, STACK_WEBHOOK, SIGTERM), 0);
	stack_stop(st, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_options),
		cmocka_unit_test(test_serves),
		cmocka_unit_test(test_rotation_under_load),
		cmocka_unit_test(test_sigterm_under_load),
		cmocka_unit_test(test_through_the_api_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
