/* bench_writes: CPU time of the client for one write with its answer and its echo on a watch, as
 * the scheduler makes them: 16 patches of pods in flight over one connection, a watch over another
 * decodes the pods that come back. The API server is a process of its own and does not count, nor
 * does nghttpx, through which it speaks HTTP/2 as kube-apiserver does; where that is not installed,
 * only HTTP/1.1 is measured, with a connection for each write in flight. Another number of writes:
 * bench_writes WRITES. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "certs/ca.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/reflector/reflector.h"
#include "kube/transport.h"
#include "lib/wait.h"
#include "play/proc.h"
#include "play/stack.h"
#include "process/file.h"
#include "scheduler/base/message.h"
#include "scheduler/base/message_decode.h"

#define IN_FLIGHT 16
#define ROUNDS 5
#define WRITES 4000
#define WAIT_NS (120 * CLOCK_NS_PER_S)
#define CONTENT_TYPE "application/merge-patch+json"
#define PROXY "/usr/sbin/nghttpx"
#define STEP_MS 20

static const char pod_yaml[] =
	"apiVersion: v1\nkind: Pod\nmetadata: {name: pod-%u, namespace: default}\n"
	"spec:\n  schedulerName: volcano\n  containers:\n"
	"  - {name: main, image: pause, resources: {requests: {cpu: 100m, memory: 128Mi}}}\n"
	"  - {name: side, image: pause, resources: {requests: {cpu: 100m, memory: 128Mi}}}\n---\n";

struct bench {
	struct transport *writes, *watches;
	unsigned long begun, count; /* transport's thread of the writes */
	_Atomic unsigned long answered, failed, echoes;
	_Atomic bool synced;
};

struct slot {
	struct bench *b;
	unsigned i;
};

static void on_event(void *ctx, const struct reflector_event *event)
{
	struct bench *b = ctx;
	struct sched_msg *m = message_decode_event(SCHED_PODS, event);

	if (event->kind == REFLECTOR_SYNCED) {
		atomic_store(&b->synced, true);
	}
	if (event->kind == REFLECTOR_UPSERT) {
		atomic_fetch_add(&b->echoes, 1);
	}
	if (m != NULL) {
		message_free(m);
	}
}

static void on_done(void *ctx, const struct http_result *result);

static void write_next(struct slot *s)
{
	char url[80], body[80];
	struct http_call call = { .method = HTTP_PATCH,
				  .url = url,
				  .content_type = CONTENT_TYPE,
				  .timeout_ns = 30 * CLOCK_NS_PER_S,
				  .on_done = on_done,
				  .ctx = s };

	if (s->b->begun == s->b->count) {
		return;
	}
	snprintf(url, sizeof(url), "/api/v1/namespaces/default/pods/pod-%u", s->i);
	snprintf(body, sizeof(body), "{\"metadata\":{\"annotations\":{\"n\":\"%lu\"}}}",
		 s->b->begun++);
	call.body = str_of(body);
	transport_submit(s->b->writes, &call);
}

static void on_done(void *ctx, const struct http_result *result)
{
	struct slot *s = ctx;

	atomic_fetch_add(&s->b->failed, result->error != 0 || result->status != 200);
	atomic_fetch_add(&s->b->answered, 1);
	write_next(s);
}

static void begin(void *ctx)
{
	write_next(ctx);
}

static double ms_of(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

/* Milliseconds of CPU for each write of one round. */
static bool play(struct bench *b, struct slot *slots, double *ret_user, double *ret_system)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	struct rusage before, after;

	b->begun = 0;
	atomic_store(&b->answered, 0);
	atomic_store(&b->echoes, 0);
	getrusage(RUSAGE_SELF, &before);
	for (unsigned i = 0; i < IN_FLIGHT; i++) {
		transport_call(b->writes, 0, begin, &slots[i]);
	}
	while ((atomic_load(&b->answered) < b->count || atomic_load(&b->echoes) < b->count) &&
	       wait_until(deadline)) {
	}
	getrusage(RUSAGE_SELF, &after);
	*ret_user = (ms_of(after.ru_utime) - ms_of(before.ru_utime)) / (double)b->count;
	*ret_system = (ms_of(after.ru_stime) - ms_of(before.ru_stime)) / (double)b->count;
	return atomic_load(&b->echoes) == b->count && atomic_load(&b->failed) == 0;
}

static int apply_pods(struct stack *s, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT;

	for (unsigned i = 0; i < IN_FLIGHT; i++) {
		strbuf_printf(&yaml, pod_yaml, i);
	}
	return stack_apply(s, strbuf_str(&yaml), err);
}

/* Files of a key and a certificate: the client does not verify it. */
static int write_pair(const char *key_path, const char *cert_path, struct err *err)
{
	const struct ca_options opt = { .now_ns = clock_wall(clock_real()) };
	struct pair pair;
	int r;

	pair_init(&pair);
	r = ca_create(&opt, &pair, err);
	if (r == 0) {
		r = file_write_atomic(key_path, strbuf_str(&pair.key), 0600, err);
	}
	if (r == 0) {
		r = file_write_atomic(cert_path, strbuf_str(&pair.cert), 0600, err);
	}
	pair_finish(&pair);
	return r;
}

/* Starts nghttpx before the server of cfg, and makes cfg name it. */
static int start_proxy(struct proc *proxy, const char *dir, struct kubeconfig *cfg, struct err *err)
{
	uint16_t port = proc_free_port();
	char front[64], back[300], key[300], cert[300], log[300];
	const char *argv[] = { PROXY,
			       front,
			       back,
			       "--conf=/dev/null",
			       "--insecure",
			       "--workers=1",
			       "--backend-read-timeout=1h",
			       "--frontend-http2-read-timeout=1h",
			       key,
			       cert,
			       NULL };
	int r;

	snprintf(front, sizeof(front), "--frontend=127.0.0.1,%u", port);
	snprintf(back, sizeof(back), "--backend=127.0.0.1,%s;;tls", strrchr(cfg->server, ':') + 1);
	snprintf(key, sizeof(key), "%s/proxy.key", dir);
	snprintf(cert, sizeof(cert), "%s/proxy.crt", dir);
	snprintf(log, sizeof(log), "%s/proxy.log", dir);
	r = write_pair(key, cert, err);
	if (r == 0) {
		r = proc_start(proxy, argv, log, err);
	}
	while (r == 0 && !proc_wait_port(port, STEP_MS)) {
		if (!proc_is_running(proxy)) {
			r = err_set(err, ERR_UNAVAILABLE, "nghttpx does not run");
		}
	}
	free(cfg->server);
	cfg->server = xmalloc_printf("https://127.0.0.1:%u", port);
	cfg->tls.insecure_skip_verify = true;
	return r;
}

static int run(const struct kubeconfig *cfg, const char *protocol, unsigned long count,
	       struct err *err)
{
	struct bench b = { .count = count };
	struct reflector_options ro = {
		.path = "/api/v1/pods", .clock = clock_real(), .on_event = on_event, .ctx = &b
	};
	struct slot slots[IN_FLIGHT];
	struct reflector *r;
	double user = 0, system = 0;

	for (unsigned i = 0; i < IN_FLIGHT; i++) {
		slots[i] = (struct slot){ &b, i };
	}
	if (transport_http_create(cfg, "bench", &b.writes, err) < 0 ||
	    transport_http_create(cfg, "bench", &b.watches, err) < 0) {
		return -1;
	}
	ro.transport = b.watches;
	r = reflector_create(&ro);
	reflector_start(r);
	while (!atomic_load(&b.synced)) {
		(void)wait_until(INT64_MAX);
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (!play(&b, slots, &user, &system)) {
			fprintf(stderr, "bench_writes: %lu writes failed, %lu echoes of %lu\n",
				atomic_load(&b.failed), atomic_load(&b.echoes), count);
		}
		printf("%lu writes over %s, %d in flight, with answer and echo: %.3f ms of CPU for "
		       "each (%.3f in the kernel)\n",
		       count, protocol, IN_FLIGHT, user + system, system);
	}
	transport_destroy(b.writes);
	transport_destroy(b.watches);
	reflector_destroy(r);
	return 0;
}

static int run_all(struct stack *s, unsigned long count, struct err *err)
{
	const struct kubeconfig_options opt = { .path = stack_kubeconfig(s) };
	struct kubeconfig *cfg = NULL;
	struct proc proxy = { .pid = 0 };
	int r = kubeconfig_load(&opt, &cfg, err);

	if (r == 0) {
		r = run(cfg, "HTTP/1.1", count, err);
	}
	if (r == 0 && access(PROXY, X_OK) == 0) {
		r = start_proxy(&proxy, stack_dir(s), cfg, err);
		if (r == 0) {
			r = run(cfg, "HTTP/2", count, err);
		}
		(void)proc_stop(&proxy, SIGTERM, STEP_MS * 100);
	}
	kubeconfig_destroy(cfg);
	return r;
}

int main(int argc, char **argv)
{
	struct stack_options so = { .no_webhook = true, .no_scheduler = true };
	struct err err = ERR_INIT;
	struct stack *s = NULL;
	uint64_t count = WRITES;
	int r;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && (!str_to_u64(str_of(argv[1]), &count) || count < IN_FLIGHT)) {
		fprintf(stderr, "usage: bench_writes [WRITES]\n");
		return 2;
	}
	r = stack_start(&so, &s, &err);
	if (r == 0) {
		r = apply_pods(s, &err);
	}
	if (r == 0) {
		r = run_all(s, count, &err);
	}
	if (r < 0) {
		fprintf(stderr, "bench_writes: %s\n", err.text);
	}
	stack_stop(s, r < 0);
	return r < 0;
}
