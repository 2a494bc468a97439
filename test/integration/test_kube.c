/* The Kubernetes client against the embedded API server over real sockets and TLS. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/lease.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "kube/rest.h"
#include "lib/wait.h"
#include "play/kube_mirror.h"

#define MS CLOCK_NS_PER_MS
#define S CLOCK_NS_PER_S
#define CALL_NS (300 * S) /* never reached by a test: threads may be delayed on a busy machine */
#define MAPS "/api/v1/namespaces/default/configmaps"

static void put_many(struct kube_fixture *f, int n, int value)
{
	for (int i = 0; i < n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "m%d", i);
		kube_fixture_put(f, name, value);
	}
}

static void run_list_and_watch(bool http2)
{
	struct reflector_stats stats;
	struct kube_fixture f;
	struct kube_mirror m;

	kube_fixture_start(&f, "secret", http2);
	put_many(&f, 1200, 1);
	kube_mirror_start(&m, &f);
	kube_mirror_wait(&m);
	put_many(&f, 300, 2);
	kube_fixture_delete(&f, "m7");
	kube_fixture_put(&f, "new", 1);
	kube_mirror_wait(&m);
	/* One; where others keep the machine busy, a call may time out and is made again. */
	stats = reflector_stats(m.reflector);
	assert_in_range(stats.lists, 1, 1 + stats.errors);
	assert_int_equal(m.synced, 1);
	assert_int_equal(m.relisted, 0);
	kube_mirror_stop(&m);
	if (http2) {
		assert_true(kube_fixture_was_http2(&f));
	}
	kube_fixture_stop(&f);
}

/* More than one page may hold, although it is far fewer than 500 objects: large objects of one
 * user do not keep others from listing. */
static void test_objects_too_large_for_a_page(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct kube_fixture f;
	struct kube_mirror m;
	size_t name_at;
	(void)state;

	kube_fixture_start(&f, "secret", false);
	strbuf_add_c(&body, "{\"metadata\":{\"name\":\"");
	name_at = body.len;
	strbuf_add_c(&body, "l00\"},\"data\":{\"n\":\"");
	for (size_t i = 0; i < 1000000; i++) {
		strbuf_add_ch(&body, 'x');
	}
	strbuf_add_c(&body, "\"}}");
	for (unsigned i = 0; i < 40; i++) {
		body.p[name_at + 1] = (char)('0' + i / 10);
		body.p[name_at + 2] = (char)('0' + i % 10);
		assert_int_equal(rest_call(f.transport, HTTP_POST, MAPS, "application/json",
					   strbuf_str(&body), CALL_NS, NULL, NULL),
				 0);
	}
	put_many(&f, 20, 1);
	kube_mirror_start(&m, &f);
	kube_mirror_wait(&m);
	assert_int_equal(m.synced, 1);
	assert_int_equal(m.upserts, 60);
	kube_mirror_stop(&m);
	kube_fixture_stop(&f);
}

static void test_list_and_watch(void **state)
{
	(void)state;
	run_list_and_watch(false);
}

static void test_list_and_watch_by_http2(void **state)
{
	(void)state;
	if (!kube_fixture_has_proxy()) {
		skip();
	}
	run_list_and_watch(true);
}

static void test_clean_ends_resume_at_once(void **state)
{
	struct reflector_stats stats;
	struct kube_fixture f;
	struct kube_mirror m;
	uint64_t ends;
	(void)state;

	kube_fixture_start(&f, NULL, false);
	kube_fixture_faults(&f, "- {fault: watch-close, frame: 2, count: 20}\n");
	kube_mirror_start(&m, &f);
	kube_mirror_wait(&m);
	put_many(&f, 60, 1);
	kube_mirror_wait(&m);
	ends = kube_fixture_struck(&f, "watch-close");
	stats = reflector_stats(m.reflector);
	assert_true(ends > 10);
	/* Each error is a backoff: an end is none. A call or two may fail on a busy machine. */
	assert_true(stats.errors < ends / 4);
	assert_in_range(stats.lists, 1, 1 + stats.errors);
	kube_mirror_stop(&m);
	kube_fixture_stop(&f);
}

static void test_gone_leads_to_a_new_list(void **state)
{
	struct kube_fixture f;
	struct kube_mirror m;
	(void)state;

	kube_fixture_start(&f, NULL, false);
	put_many(&f, 20, 1);
	kube_fixture_faults(&f, "- {fault: watch-gone, frame: 3, count: 1}\n");
	kube_mirror_start(&m, &f);
	kube_mirror_wait(&m);
	put_many(&f, 10, 2);
	kube_fixture_delete(&f, "m3");
	kube_fixture_delete(&f, "m4");
	kube_mirror_wait(&m);
	assert_true(reflector_stats(m.reflector).relists_gone >= 1);
	assert_true(reflector_stats(m.reflector).lists >= 2);
	kube_mirror_stop(&m);
	kube_fixture_stop(&f);
}

static void test_every_watch_fault_converges(void **state)
{
	static const struct {
		const char *script, *kind;
	} rows[] = {
		{ "- {fault: watch-truncate, frame: 2, count: 2}\n", "watch-truncate" },
		{ "- {fault: watch-duplicate, frame: 2, count: 0}\n", "watch-duplicate" },
		{ "- {fault: watch-late, delayMs: 50, count: 0}\n", "watch-late" },
		{ "- {fault: status, code: 500, method: WATCH, count: 1}\n", "status" },
		{ "- {fault: status, code: 410, method: WATCH, count: 1}\n", "status" },
		{ "- {fault: status, code: 429, retryAfter: 1, method: GET, count: 1}\n",
		  "status" },
		{ "- {fault: watch-close, frame: 3, count: 1}\n"
		  "- {fault: compact, method: WATCH, count: 1}\n",
		  "compact" },
		{ "- {fault: drop-before, method: GET, count: 1}\n", "drop-before" },
		{ "- {fault: drop-before, method: WATCH, count: 1}\n", "drop-before" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct kube_fixture f;
		struct kube_mirror m;

		kube_fixture_start(&f, NULL, false);
		put_many(&f, 10, 1);
		kube_fixture_faults(&f, rows[i].script);
		kube_mirror_start(&m, &f);
		kube_mirror_wait(&m);
		put_many(&f, 10, 2);
		kube_fixture_delete(&f, "m3");
		kube_mirror_wait(&m);
		assert_true(kube_fixture_struck(&f, rows[i].kind) > 0);
		kube_mirror_stop(&m);
		kube_fixture_stop(&f);
	}
}

static void test_rest(void **state)
{
	static const char map[] = "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"v\"}}";
	struct kube_fixture f;
	struct err err = ERR_INIT;
	struct jdoc *doc = NULL;
	(void)state;

	kube_fixture_start(&f, "secret", false);
	assert_int_equal(rest_call(f.transport, HTTP_POST, MAPS, "application/json", str_of(map),
				   CALL_NS, NULL, &err),
			 0);
	assert_int_equal(rest_call(f.transport, HTTP_POST, MAPS, "application/json", str_of(map),
				   CALL_NS, NULL, &err),
			 -ERR_CONFLICT);
	assert_string_equal(err.text, "configmaps \"a\" already exists");
	assert_int_equal(rest_call(f.transport, HTTP_GET, MAPS "/a", NULL, (struct str){ NULL, 0 },
				   CALL_NS, &doc, &err),
			 0);
	assert_string_equal(jdoc_path_str(doc, "data.k"), "v");
	jdoc_destroy(doc);
	assert_int_equal(rest_call(f.transport, HTTP_GET, MAPS "/b", NULL, (struct str){ NULL, 0 },
				   CALL_NS, &doc, &err),
			 -ERR_NOT_FOUND);
	kube_fixture_stop(&f);
}

static int get_maps(struct transport *t)
{
	return rest_call(t, HTTP_GET, MAPS, NULL, (struct str){ NULL, 0 }, CALL_NS, NULL, NULL);
}

static void test_credentials(void **state)
{
	CLEANUP(xmalloc_freep) char *path = NULL;
	struct kube_fixture f;
	struct transport *t = NULL;
	struct kubeconfig changed;
	struct err err = ERR_INIT;
	(void)state;

	kube_fixture_start(&f, "secret", false);
	assert_int_equal(get_maps(f.transport), 0);
	changed = *f.config;
	changed.token = xmalloc_dup("wrong");
	t = kube_fixture_transport(&changed);
	assert_int_equal(get_maps(t), -ERR_FORBIDDEN);
	transport_destroy(t);
	/* a token file wins over the token */
	path = kube_fixture_write(&f, "token", "secret\n");
	changed.token_file = path;
	t = kube_fixture_transport(&changed);
	assert_int_equal(get_maps(t), 0);
	transport_destroy(t);
	free(kube_fixture_write(&f, "token", "\n"));
	assert_int_equal(transport_http_create(&changed, "test", &t, &err), -ERR_INVALID);
	free(changed.token);
	/* no request is sent to a server with a certificate of another CA */
	changed = *f.config;
	changed.tls = (struct http_loop_tls){ .ca_file = "/dev/null" };
	t = kube_fixture_transport(&changed);
	assert_int_equal(get_maps(t), -ERR_UNAVAILABLE);
	transport_destroy(t);
	kube_fixture_stop(&f);
}

/* ---- leases ---- */

#define LONG_NS (300 * S) /* no test waits for it */
#define SHORT_NS (4 * S)  /* the test waits for it; requests have half of it */

struct candidate {
	struct lease *lease;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool held, released; /* guarded by lock */
};

static void on_change(void *ctx, bool held)
{
	struct candidate *c = ctx;

	pthread_mutex_lock(&c->lock);
	c->held = held;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

static void on_released(void *ctx)
{
	struct candidate *c = ctx;

	pthread_mutex_lock(&c->lock);
	c->released = true;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

/* renew: how long the lease may stay without a renewal. */
static void run_for(struct candidate *c, struct kube_fixture *f, const char *identity,
		    int64_t renew)
{
	const struct lease_options opt = { .namespace_ = "default",
					   .name = "main",
					   .identity = identity,
					   .duration_ns = renew * 2,
					   .renew_deadline_ns = renew,
					   .retry_ns = 100 * MS,
					   .request_deadline_ns = renew,
					   .transport = f->transport,
					   .clock = clock_real(),
					   .on_change = on_change,
					   .ctx = c,
					   .seed = 1 };

	*c = (struct candidate){ .lock = PTHREAD_MUTEX_INITIALIZER,
				 .changed = PTHREAD_COND_INITIALIZER };
	c->lease = lease_create(&opt);
	lease_start(c->lease);
}

static void wait_flag(struct candidate *c, const bool *flag, bool value)
{
	pthread_mutex_lock(&c->lock);
	while (*flag != value) {
		kube_fixture_cond_wait(&c->changed, &c->lock);
	}
	pthread_mutex_unlock(&c->lock);
}

static void test_lease_is_handed_over(void **state)
{
	struct kube_fixture f;
	struct candidate a, b;
	(void)state;

	kube_fixture_start(&f, NULL, false);
	run_for(&a, &f, "a", LONG_NS);
	wait_flag(&a, &a.held, true);
	assert_true(lease_may_send(a.lease));
	run_for(&b, &f, "b", LONG_NS);
	lease_release(a.lease, on_released, &a);
	wait_flag(&a, &a.released, true);
	wait_flag(&b, &b.held, true);
	assert_false(lease_may_send(a.lease) || lease_is_held(a.lease));
	/* It was released: no wait. */
	assert_true(lease_may_send(b.lease));
	transport_destroy(f.transport);
	f.transport = NULL;
	lease_destroy(a.lease);
	lease_destroy(b.lease);
	kube_fixture_stop(&f);
}

static void test_lease_is_lost_and_regained(void **state)
{
	struct kube_fixture f;
	struct candidate a;
	int64_t until;
	(void)state;

	kube_fixture_start(&f, NULL, false);
	run_for(&a, &f, "a", SHORT_NS);
	wait_flag(&a, &a.held, true);
	kube_fixture_faults(&f,
			    "- {fault: status, code: 500, path: /apis/coordination, count: 0}\n");
	wait_flag(&a, &a.held, false);
	/* It may have been lost before that, and the answer to a renewal may still come. */
	until = wait_deadline(CALL_NS);
	while (lease_may_send(a.lease) && wait_until(until)) {
	}
	assert_false(lease_may_send(a.lease));
	kube_fixture_faults(&f, "[]\n");
	wait_flag(&a, &a.held, true);
	transport_destroy(f.transport);
	f.transport = NULL;
	lease_destroy(a.lease);
	kube_fixture_stop(&f);
}

/* ---- the pool ---- */

struct work {
	char name[16];
};

struct pool_test {
	struct kube_fixture f;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned done, failed; /* guarded by lock */
};

static bool start_patch(void *ctx, void *item, unsigned sends, struct http_call *call,
			struct strbuf *scratch)
{
	(void)ctx;
	(void)sends;
	strbuf_printf(scratch, MAPS "/%s", ((struct work *)item)->name);
	call->method = HTTP_PATCH;
	call->url = scratch->p;
	call->content_type = "application/merge-patch+json";
	call->body = STR_LIT("{\"data\":{\"patched\":\"yes\"}}");
	return true;
}

static enum pool_verdict finish_patch(void *ctx, void *item, const struct http_result *result)
{
	struct pool_test *t = ctx;
	int r = rest_result(result, NULL);

	(void)item;
	pthread_mutex_lock(&t->lock);
	t->done += r == 0 ? 1 : 0;
	t->failed += r < 0 ? 1 : 0;
	pthread_cond_signal(&t->changed);
	pthread_mutex_unlock(&t->lock);
	return r == 0 ? POOL_DONE : POOL_RETRY;
}

static void count_patched(void *ctx, struct str text)
{
	*(unsigned *)ctx += memmem(text.p, text.len, "patched", 7) != NULL ? 1 : 0;
}

static void run_pool(bool http2, const char *faults)
{
	static const struct pool_ops ops = { start_patch, finish_patch, free };
	struct pool_test t = { .lock = PTHREAD_MUTEX_INITIALIZER,
			       .changed = PTHREAD_COND_INITIALIZER };
	struct pool_options opt = { .name = "patch",
				    .ops = &ops,
				    .ctx = &t,
				    .clock = clock_real(),
				    .workers = 5,
				    .slots = 8,
				    .timeout_ns = CALL_NS,
				    .backoff_min_ns = 5 * MS,
				    .backoff_max_ns = 100 * MS,
				    .seed = 1 };
	unsigned patched = 0;
	struct pool *p;

	kube_fixture_start(&t.f, NULL, http2);
	put_many(&t.f, 300, 1);
	kube_fixture_faults(&t.f, faults);
	opt.transport = t.f.transport;
	p = pool_create(&opt);
	for (int i = 0; i < 300; i++) {
		struct work *w = xmalloc_zero(1, sizeof(*w));

		snprintf(w->name, sizeof(w->name), "m%d", i);
		pool_add(p, str_of(w->name), w);
	}
	pthread_mutex_lock(&t.lock);
	while (t.done < 300) {
		kube_fixture_cond_wait(&t.changed, &t.lock);
	}
	pthread_mutex_unlock(&t.lock);
	pool_destroy(p);
	apiserver_each(front_lock(t.f.front, NULL), "", "configmaps", count_patched, &patched);
	front_unlock(t.f.front);
	assert_int_equal(patched, 300);
	/* A proxy may end a stream by itself; then the stream must be opened again. */
	if (faults[0] == '-') {
		assert_true(t.failed > 0);
	} else if (!http2) {
		assert_int_equal(t.failed, 0);
	}
	if (http2) {
		transport_destroy(t.f.transport);
		t.f.transport = NULL;
		assert_true(kube_fixture_was_http2(&t.f));
	}
	kube_fixture_stop(&t.f);
}

static void test_pool(void **state)
{
	(void)state;
	run_pool(false, "[]\n");
}

static void test_pool_under_faults(void **state)
{
	(void)state;
	run_pool(false, "- {fault: status, code: 500, method: PATCH, every: 7, count: 0}\n"
			"- {fault: drop-after, method: PATCH, every: 11, count: 0}\n"
			"- {fault: status, code: 429, retryAfter: 1, method: PATCH, from: 50, "
			"count: 1}\n");
}

static void test_pool_by_http2(void **state)
{
	(void)state;
	if (!kube_fixture_has_proxy()) {
		skip();
	}
	run_pool(true, "[]\n");
}

static void note_event(void *ctx, struct str text)
{
	*(unsigned *)ctx += memmem(text.p, text.len, "\"reason\":\"Tested\"", 17) != NULL ? 1 : 0;
}

static void test_recorder(void **state)
{
	const struct recorder_object about = { .api_version = "v1",
					       .kind = "ConfigMap",
					       .namespace_ = "default",
					       .name = "a",
					       .uid = "u" };
	struct pool_options opt = { .clock = clock_real(), .workers = 1, .seed = 1 };
	struct kube_fixture f;
	struct recorder *r;
	unsigned n = 0;
	(void)state;

	kube_fixture_start(&f, NULL, false);
	opt.transport = f.transport;
	r = recorder_create(&opt, "test", "host");
	recorder_event(r, &about, true, "Tested", "it is");
	recorder_event(r, &about, true, "Tested", "it is");
	/* Stopping waits for items in flight and drops waiting ones, so wait until it is in flight.
	 */
	while (pool_waiting(recorder_pool(r)) > 0) {
		sched_yield();
	}
	pool_stop(recorder_pool(r), CALL_NS);
	assert_int_equal(recorder_dropped(r), 0);
	recorder_destroy(r);
	apiserver_each(front_lock(f.front, NULL), "", "events", note_event, &n);
	front_unlock(f.front);
	assert_int_equal(n, 1);
	kube_fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list_and_watch),
		cmocka_unit_test(test_objects_too_large_for_a_page),
		cmocka_unit_test(test_list_and_watch_by_http2),
		cmocka_unit_test(test_clean_ends_resume_at_once),
		cmocka_unit_test(test_gone_leads_to_a_new_list),
		cmocka_unit_test(test_every_watch_fault_converges),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_credentials),
		cmocka_unit_test(test_lease_is_handed_over),
		cmocka_unit_test(test_lease_is_lost_and_regained),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_pool_under_faults),
		cmocka_unit_test(test_pool_by_http2),
		cmocka_unit_test(test_recorder),
	};

	return cmocka_run_group_tests_name("kube", tests, NULL, NULL);
}
