/* The server over real sockets and TLS: requests, watches woken by writes, tokens, call-outs. */
#include "lib/unit.h"

#include <stdatomic.h>
#include <string.h>

#include "apiserver/front.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/base64.h"
#include "lib/net/https_fixture.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

struct fixture {
	struct https_fixture https; /* plays the webhook, and lends its certificates */
	struct front *front;
	_Atomic(struct front *) reviewed; /* the same, for the webhook's threads */
	_Atomic int reviews;
};

/* Reads from the API server while that waits for us: it must not hold its lock. */
static void on_review(void *ctx, const struct http_request *req, struct arena *arena,
		      struct http_response *ret)
{
	struct fixture *f = ctx;
	struct front *front = atomic_load(&f->reviewed);
	int64_t now;

	(void)req;
	(void)arena;
	assert_non_null(front_lock(front, &now));
	front_unlock(front);
	f->reviews++;
	ret->status = 503;
}

static int setup(void **state)
{
	static struct fixture f;
	static const char *const tokens[] = { "secret", NULL };
	const struct http_server_options webhook = { .handler = on_review, .ctx = &f };
	struct front_options opt = { .core = { .seed = 1 }, .tokens = tokens };
	struct err err = ERR_INIT;

	memset(&f, 0, sizeof(f));
	https_fixture_start(&f.https, webhook, false);
	opt.cert = strbuf_str(&f.https.leaf.cert);
	opt.key = strbuf_str(&f.https.leaf.key);
	assert_int_equal(front_start(&opt, &f.front, &err), 0);
	atomic_store(&f.reviewed, f.front);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	https_fixture_stop(&f->https);
	front_destroy(f->front, 100);
	return 0;
}

static void submit(struct fixture *f, struct https_call *c, const char *path, struct http_call call)
{
	CLEANUP(xmalloc_freep)
	char *url = xmalloc_printf("https://localhost:%u%s", front_port(f->front), path);

	if (call.bearer == NULL) {
		call.bearer = "secret";
	}
	https_fixture_submit_on(f->https.loop, c, url, call);
}

static int post(struct fixture *f, const char *path, const char *body)
{
	struct https_call c;
	int status;

	submit(f, &c, path,
	       (struct http_call){ .method = HTTP_POST,
				   .content_type = "application/yaml",
				   .body = str_of(body) });
	https_fixture_wait(&c);
	status = c.status;
	https_fixture_finish(&c);
	return status;
}

static void test_tokens(void **state)
{
	struct fixture *f = *state;
	struct https_call c;

	submit(f, &c, MAPS, (struct http_call){ .bearer = "wrong" });
	https_fixture_wait(&c);
	assert_int_equal(c.status, 401);
	https_fixture_finish(&c);
	submit(f, &c, "/healthz", (struct http_call){ .bearer = "wrong" });
	https_fixture_wait(&c);
	assert_int_equal(c.status, 200);
	https_fixture_finish(&c);
	assert_int_equal(post(f, MAPS, "metadata: {name: a}"), 201);
}

static void test_watch_is_woken(void **state)
{
	struct fixture *f = *state;
	struct https_call c;

	submit(f, &c, MAPS "?watch=1", (struct http_call){ .timeout_ns = -1 });
	assert_int_equal(post(f, MAPS, "metadata: {name: a}"), 201);
	https_fixture_wait_bytes(&c, 50);
	assert_non_null(strstr(c.body.p, "\"type\":\"ADDED\""));
	http_loop_cancel(f->https.loop, c.id);
	https_fixture_finish(&c);
}

static void test_call_out_without_the_lock(void **state)
{
	struct fixture *f = *state;
	struct strbuf text = STRBUF_INIT;
	struct strbuf ca = STRBUF_INIT;

	base64_encode(strbuf_str(&f->https.ca.cert), &ca);
	strbuf_printf(&text,
		      "metadata: {name: w}\nwebhooks:\n- name: a.b.c\n  sideEffects: None\n"
		      "  admissionReviewVersions: [v1]\n  failurePolicy: Fail\n"
		      "  clientConfig: {url: '%s/x', caBundle: %s}\n"
		      "  rules: [{operations: [CREATE], apiGroups: [''], apiVersions: [v1],"
		      " resources: [configmaps]}]\n",
		      f->https.base, ca.p);
	assert_int_equal(
		post(f, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
		     text.p),
		201);
	assert_int_equal(post(f, MAPS, "metadata: {name: a}"), 500);
	assert_int_equal(f->reviews, 1);
	strbuf_finish(&ca);
	strbuf_finish(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_tokens),
		T(test_watch_is_woken),
		T(test_call_out_without_the_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
