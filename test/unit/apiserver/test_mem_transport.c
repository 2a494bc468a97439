/* Calls and watches step by step in virtual time. */
#include "lib/unit.h"

#include <stdio.h>

#include "apiserver/apiserver.h"
#include "apiserver/mem_transport.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "kube/reflector/reflector.h"

struct fixture {
	struct clock_fake clock;
	struct apiserver *server;
	struct mem_transport *m;
	struct strbuf data;
	int done, status, error, timers;
};

static void on_done(void *ctx, const struct http_result *r)
{
	struct fixture *f = ctx;

	f->done++;
	f->status = r->status;
	f->error = r->error;
}

static void on_data(void *ctx, struct str bytes)
{
	struct fixture *f = ctx;

	strbuf_add_str(&f->data, bytes);
}

static void on_timer(void *ctx)
{
	struct fixture *f = ctx;

	f->timers++;
}

static int setup(void **state)
{
	static struct fixture f;
	struct apiserver_options opt = { .seed = 1 };

	f = (struct fixture){ .data = STRBUF_INIT };
	clock_fake_init(&f.clock, INT64_C(1767225600) * CLOCK_NS_PER_S);
	opt.now = f.clock.wall_ns;
	f.server = apiserver_create(&opt);
	f.m = mem_transport_create(f.server, &f.clock);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->m != NULL) {
		transport_destroy(mem_transport_base(f->m));
	}
	apiserver_destroy(f->server);
	strbuf_finish(&f->data);
	return 0;
}

static uint64_t submit(struct fixture *f, enum http_method method, const char *url,
		       const char *body)
{
	const struct http_call call = {
		.method = method,
		.url = url,
		.content_type = body == NULL ? NULL : "application/json",
		.body = str_of(body),
		.timeout_ns = 5 * CLOCK_NS_PER_S,
		.on_done = on_done,
		.ctx = f,
	};

	return transport_submit(mem_transport_base(f->m), &call);
}

static uint64_t watch(struct fixture *f)
{
	const struct http_call call = {
		.method = HTTP_GET,
		.url = "/api/v1/configmaps?watch=1&timeoutSeconds=50",
		.silence_ns = 100 * CLOCK_NS_PER_S,
		.on_data = on_data,
		.on_done = on_done,
		.ctx = f,
	};

	return transport_submit(mem_transport_base(f->m), &call);
}

static const char maps[] = "/api/v1/namespaces/default/configmaps";

static bool exists(struct fixture *f, const char *name)
{
	return apiserver_peek(f->server, "", "configmaps", "default", name).p != NULL;
}

static void test_each_hop_is_a_step(void **state)
{
	struct fixture *f = *state;

	submit(f, HTTP_POST, maps, "{\"metadata\":{\"name\":\"a\"}}");
	assert_int_equal(mem_transport_ready(f->m), 1);
	assert_int_equal(mem_transport_peek(f->m, 0)->kind, MEM_STEP_REQUEST);
	assert_false(exists(f, "a"));
	mem_transport_step(f->m, 0);
	assert_true(exists(f, "a"));
	assert_int_equal(f->done, 0);
	assert_int_equal(mem_transport_ready(f->m), 1);
	assert_int_equal(mem_transport_peek(f->m, 0)->kind, MEM_STEP_RESPONSE);
	mem_transport_step(f->m, 0);
	assert_int_equal(f->done, 1);
	assert_int_equal(f->status, 201);
	assert_int_equal(mem_transport_ready(f->m), 0);
	assert_int_equal(mem_transport_in_flight(f->m), 0);
}

static void test_losses(void **state)
{
	struct fixture *f = *state;

	submit(f, HTTP_POST, maps, "{\"metadata\":{\"name\":\"a\"}}");
	mem_transport_ready(f->m);
	mem_transport_lose(f->m, 0);
	assert_int_equal(f->error, ERR_IO);
	assert_false(exists(f, "a"));
	submit(f, HTTP_POST, maps, "{\"metadata\":{\"name\":\"a\"}}");
	mem_transport_ready(f->m);
	mem_transport_step(f->m, 0);
	mem_transport_ready(f->m);
	mem_transport_lose(f->m, 0);
	assert_int_equal(f->done, 2);
	assert_int_equal(f->error, ERR_IO);
	assert_true(exists(f, "a"));
}

static void test_deadline(void **state)
{
	struct fixture *f = *state;

	submit(f, HTTP_POST, maps, "{\"metadata\":{\"name\":\"a\"}}");
	assert_int_equal(mem_transport_wake_at(f->m), 5 * CLOCK_NS_PER_S);
	clock_fake_advance(&f->clock, 5 * CLOCK_NS_PER_S);
	assert_int_equal(mem_transport_ready(f->m), 1);
	assert_int_equal(mem_transport_peek(f->m, 0)->kind, MEM_STEP_TIMEOUT);
	mem_transport_step(f->m, 0);
	assert_int_equal(f->error, ERR_TIMEOUT);
	assert_false(exists(f, "a"));
}

static void test_watch(void **state)
{
	struct fixture *f = *state;
	size_t once;

	watch(f);
	assert_int_equal(mem_transport_run(f->m, 10), 1);
	submit(f, HTTP_POST, maps, "{\"metadata\":{\"name\":\"a\"}}");
	mem_transport_ready(f->m);
	mem_transport_step(f->m, 0);
	assert_int_equal(mem_transport_ready(f->m), 2);
	assert_int_equal(mem_transport_peek(f->m, 0)->kind, MEM_STEP_FRAME);
	mem_transport_repeat(f->m, 0);
	once = f->data.len;
	assert_int_not_equal(once, 0);
	mem_transport_ready(f->m);
	mem_transport_step(f->m, 0);
	assert_int_equal(f->data.len, 2 * once);
	assert_int_equal(mem_transport_run(f->m, 10), 1);
	assert_int_equal(f->done, 1);
	clock_fake_advance(&f->clock, 50 * CLOCK_NS_PER_S);
	assert_int_equal(mem_transport_run(f->m, 10), 1);
	assert_int_equal(f->done, 2);
	assert_int_equal(f->status, 200);
}

static void test_cancel_and_timer(void **state)
{
	struct fixture *f = *state;
	uint64_t id = submit(f, HTTP_GET, maps, NULL);

	transport_cancel(mem_transport_base(f->m), id);
	assert_int_equal(mem_transport_run(f->m, 10), 1);
	assert_int_equal(f->error, ERR_CANCELLED);
	transport_call(mem_transport_base(f->m), 7, on_timer, f);
	assert_int_equal(mem_transport_ready(f->m), 0);
	assert_int_equal(mem_transport_wake_at(f->m), 7);
	clock_fake_advance(&f->clock, 7);
	assert_int_equal(mem_transport_run(f->m, 10), 1);
	assert_int_equal(f->timers, 1);
}

static void test_crash(void **state)
{
	struct fixture *f = *state;

	submit(f, HTTP_POST, maps, "{\"metadata\":{\"name\":\"a\"}}");
	watch(f);
	mem_transport_crash(f->m, false);
	assert_int_equal(mem_transport_in_flight(f->m), 0);
	assert_false(exists(f, "a"));
	submit(f, HTTP_POST, maps, "{\"metadata\":{\"name\":\"a\"}}");
	watch(f);
	mem_transport_crash(f->m, true);
	assert_true(exists(f, "a"));
	transport_call(mem_transport_base(f->m), 7, on_timer, f);
	mem_transport_crash(f->m, true);
	clock_fake_advance(&f->clock, 7);
	assert_int_equal(mem_transport_ready(f->m), 0);
	assert_int_equal(f->done, 0);
	assert_int_equal(f->timers, 0);
	/* They are freed at the end. */
	transport_destroy(mem_transport_base(f->m));
	f->m = NULL;
	assert_int_equal(f->done, 4);
	assert_int_equal(f->timers, 1);
}

struct seen {
	unsigned upserts, deletes, synced, relisted;
};

static void on_event(void *ctx, const struct reflector_event *e)
{
	struct seen *s = ctx;

	s->upserts += e->kind == REFLECTOR_UPSERT;
	s->deletes += e->kind == REFLECTOR_DELETE;
	s->synced += e->kind == REFLECTOR_SYNCED;
	s->relisted += e->kind == REFLECTOR_RELISTED;
}

static void make_map(struct fixture *f, unsigned i)
{
	char body[80];

	snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"m%04u\"}}", i);
	submit(f, HTTP_POST, maps, body);
	mem_transport_run(f->m, 1000);
}

/* The real client: pages, watch, and a relist after the history was forgotten. */
static void test_reflector(void **state)
{
	struct fixture *f = *state;
	struct seen seen = { 0 };
	const struct reflector_options opt = {
		.path = "/api/v1/configmaps",
		.transport = mem_transport_base(f->m),
		.clock = &f->clock.base,
		.on_event = on_event,
		.ctx = &seen,
		.page_size = 7,
		.watch_timeout_s = 60,
		.seed = 1,
	};
	struct reflector *r;

	for (unsigned i = 0; i < 30; i++) {
		make_map(f, i);
	}
	r = reflector_create(&opt);
	reflector_start(r);
	mem_transport_run(f->m, 1000);
	assert_int_equal(seen.upserts, 30);
	assert_int_equal(seen.synced, 1);
	make_map(f, 30);
	submit(f, HTTP_DELETE, "/api/v1/namespaces/default/configmaps/m0003", NULL);
	mem_transport_run(f->m, 1000);
	assert_int_equal(seen.upserts, 31);
	assert_int_equal(seen.deletes, 1);
	assert_int_equal(apiserver_set_faults(
				 f->server, STR_LIT("- {fault: watch-gone, method: WATCH}"), NULL),
			 0);
	for (int i = 0; i < 100 && seen.relisted == 0; i++) {
		clock_fake_advance(&f->clock, 10 * CLOCK_NS_PER_S);
		make_map(f, 31 + (unsigned)i);
	}
	assert_int_equal(seen.relisted, 1);
	reflector_destroy(r);
}

static void test_destroy_reports_cancellation(void **state)
{
	struct fixture *f = *state;

	submit(f, HTTP_GET, maps, NULL);
	transport_destroy(mem_transport_base(f->m));
	f->m = NULL;
	assert_int_equal(f->done, 1);
	assert_int_equal(f->error, ERR_CANCELLED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_each_hop_is_a_step),
		T(test_losses),
		T(test_deadline),
		T(test_watch),
		T(test_crash),
		T(test_cancel_and_timer),
		T(test_destroy_reports_cancellation),
		T(test_reflector),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
