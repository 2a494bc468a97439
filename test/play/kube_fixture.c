#include "play/kube_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "certs/ca.h"
#include "certs/leaf.h"
#include "enc/base64.h"
#include "play/proc.h"
#include "process/file.h"

#define PROXY "/usr/sbin/nghttpx"
#define WAIT_NS (300 * CLOCK_NS_PER_S)
#define MAPS "/api/v1/namespaces/default/configmaps"

extern char **environ;

static void must(int r, const struct err *err)
{
	if (r < 0) {
		fprintf(stderr, "kube_fixture: %s\n", err->text);
		abort();
	}
}

static void make_pairs(struct kube_fixture *f)
{
	static const char *const dns[] = { "localhost" };
	static const char *const ip[] = { "127.0.0.1" };
	const struct ca_options ca = { .now_ns = clock_wall(clock_real()) };
	const struct leaf_options leaf = { .ca = &f->ca,
					   .dns = dns,
					   .dns_count = 1,
					   .ip = ip,
					   .ip_count = 1,
					   .now_ns = ca.now_ns };
	struct err err = ERR_INIT;

	pair_init(&f->ca);
	pair_init(&f->leaf);
	must(ca_create(&ca, &f->ca, &err), &err);
	must(leaf_create(&leaf, &f->leaf, &err), &err);
}

char *kube_fixture_write(struct kube_fixture *f, const char *name, const char *text)
{
	char *path = xmalloc_printf("%s/%s", f->dir, name);
	struct err err = ERR_INIT;

	must(file_write_atomic(path, str_of(text), 0600, &err), &err);
	return path;
}

bool kube_fixture_has_proxy(void)
{
	return access(PROXY, X_OK) == 0;
}

static int start_proxy(struct kube_fixture *f)
{
	CLEANUP(xmalloc_freep) char *key = kube_fixture_write(f, "key.pem", f->leaf.key.p);
	CLEANUP(xmalloc_freep) char *cert = kube_fixture_write(f, "cert.pem", f->leaf.cert.p);
	CLEANUP(xmalloc_freep) char *log = xmalloc_printf("--accesslog-file=%s/access", f->dir);
	CLEANUP(xmalloc_freep) char *errors = xmalloc_printf("--errorlog-file=%s/errors", f->dir);
	CLEANUP(xmalloc_freep) char *back = NULL, *front = NULL;
	uint16_t port = proc_free_port();

	back = xmalloc_printf("--backend=127.0.0.1,%u;;tls", front_port(f->front));
	front = xmalloc_printf("--frontend=127.0.0.1,%u", port);
	{
		char *const argv[] = { xmalloc_dup(PROXY),
				       back,
				       front,
				       log,
				       errors,
				       xmalloc_dup("--accesslog-format=$alpn"),
				       xmalloc_dup("--conf=/dev/null"),
				       xmalloc_dup("--insecure"),
				       xmalloc_dup("--no-ocsp"),
				       xmalloc_dup("--backend-read-timeout=1h"),
				       xmalloc_dup("--backend-write-timeout=1h"),
				       xmalloc_dup("--frontend-read-timeout=1h"),
				       xmalloc_dup("--frontend-http2-read-timeout=1h"),
				       xmalloc_dup("--frontend-http2-settings-timeout=1h"),
				       xmalloc_dup("--frontend-write-timeout=1h"),
				       xmalloc_dup("--backend-connect-timeout=1h"),
				       xmalloc_dup("--backend-keep-alive-timeout=1h"),
				       key,
				       cert,
				       NULL };

		if (posix_spawn(&f->proxy, PROXY, NULL, NULL, argv, environ) != 0) {
			abort();
		}
		free(argv[0]);
		for (size_t i = 5; i <= 16; i++) {
			free(argv[i]);
		}
	}
	return port;
}

static void stop_proxy(struct kube_fixture *f)
{
	if (f->proxy != 0) {
		kill(f->proxy, SIGTERM);
		waitpid(f->proxy, NULL, 0);
		f->proxy = 0;
	}
}

bool kube_fixture_was_http2(struct kube_fixture *f)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/access", f->dir);
	CLEANUP(strbuf_finish) struct strbuf log = STRBUF_INIT;
	struct str rest;
	unsigned lines = 0;

	stop_proxy(f); /* flushes the log */
	if (file_read_all(path, 16u << 20, &log, NULL) < 0) {
		return false;
	}
	rest = str_trim(strbuf_str(&log));
	while (rest.len > 0) {
		if (!str_eq_c(str_next(&rest, '\n'), "h2")) {
			return false;
		}
		lines++;
	}
	return lines > 0;
}

static void write_config(struct kube_fixture *f, int port, const char *token)
{
	strbuf_init(&f->text);
	strbuf_printf(&f->text,
		      "clusters:\n- name: c\n  cluster:\n    server: https://127.0.0.1:%d\n"
		      "    certificate-authority-data: ",
		      port);
	base64_encode(strbuf_str(&f->ca.cert), &f->text);
	strbuf_add_c(&f->text, "\ncontexts:\n- name: x\n  context: {cluster: c, user: u}\n"
			       "users:\n- name: u\n  user: {");
	if (token != NULL) {
		strbuf_printf(&f->text, "token: '%s'", token);
	}
	strbuf_add_c(&f->text, "}\ncurrent-context: x\n");
}

struct transport *kube_fixture_transport(const struct kubeconfig *config)
{
	const struct http_loop_options opt = { .user_agent = "test", .connect_ns = WAIT_NS };
	struct transport *t = NULL;
	struct err err = ERR_INIT;

	must(transport_http_open(config, &opt, &t, &err), &err);
	return t;
}

void kube_fixture_start(struct kube_fixture *f, const char *token, bool http2)
{
	const char *tokens[] = { token, NULL };
	struct front_options opt = { .core = { .seed = 1, .now = clock_wall(clock_real()) } };
	struct err err = ERR_INIT;

	*f = (struct kube_fixture){ 0 };
	snprintf(f->dir, sizeof(f->dir), "/tmp/kube_fixture.XXXXXX");
	if (mkdtemp(f->dir) == NULL) {
		abort();
	}
	make_pairs(f);
	opt.cert = strbuf_str(&f->leaf.cert);
	opt.key = strbuf_str(&f->leaf.key);
	opt.tokens = token == NULL ? NULL : tokens;
	must(front_start(&opt, &f->front, &err), &err);
	write_config(f, http2 ? start_proxy(f) : front_port(f->front), token);
	must(kubeconfig_parse(strbuf_str(&f->text), f->dir, NULL, &f->config, &err), &err);
	f->transport = kube_fixture_transport(f->config);
}

void kube_fixture_stop(struct kube_fixture *f)
{
	static const char *const names[] = { "key.pem", "cert.pem", "access",
					     "errors",  "token",    "namespace" };

	transport_destroy(f->transport);
	stop_proxy(f);
	kubeconfig_destroy(f->config);
	front_destroy(f->front, 1000);
	pair_finish(&f->ca);
	pair_finish(&f->leaf);
	strbuf_finish(&f->text);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/%s", f->dir, names[i]);
		unlink(path);
	}
	rmdir(f->dir);
}

void kube_fixture_faults(struct kube_fixture *f, const char *script)
{
	struct err err = ERR_INIT;

	must(apiserver_set_faults(front_lock(f->front, NULL), str_of(script), &err), &err);
	front_unlock(f->front);
}

uint64_t kube_fixture_struck(struct kube_fixture *f, const char *kind)
{
	uint64_t n = apiserver_fault_count(front_lock(f->front, NULL), kind);

	front_unlock(f->front);
	return n;
}

void kube_fixture_put(struct kube_fixture *f, const char *name, int value)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct err err = ERR_INIT;
	struct apiserver *s;
	int64_t now;

	strbuf_printf(&text,
		      "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"namespace\":"
		      "\"default\",\"name\":\"%s\"},\"data\":{\"n\":\"%d\"}}",
		      name, value);
	s = front_lock(f->front, &now);
	must(apiserver_load(s, strbuf_str(&text), now, &err), &err);
	front_unlock(f->front);
}

void kube_fixture_delete(struct kube_fixture *f, const char *name)
{
	struct apiserver_response resp = APISERVER_RESPONSE_INIT;
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	struct http_request req = { .method = HTTP_DELETE };
	struct apiserver *s;
	int64_t now;

	strbuf_printf(&path, MAPS "/%s", name);
	req.path = strbuf_str(&path);
	s = front_lock(f->front, &now);
	apiserver_handle(s, &req, now, &resp);
	front_unlock(f->front);
	apiserver_response_finish(&resp);
}

void kube_fixture_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += WAIT_NS / CLOCK_NS_PER_S;
	if (pthread_cond_timedwait(cond, lock, &limit) != 0) {
		fputs("kube_fixture: waited in vain\n", stderr);
		abort();
	}
}
