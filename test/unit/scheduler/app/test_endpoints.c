#include "scheduler/app/endpoints.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "kube/rest.h"
#include "lib/unit.h"
#include "net/http_loop.h"
#include "obs/metric.h"
#include "play/proc.h"
#include "scheduler/app/engine.h"

#define CALL_NS (300 * CLOCK_NS_PER_S) /* no test is about it */

struct got {
	int status;
	char body[2000];
	_Atomic bool done;
};

static void on_done(void *ctx, const struct http_result *r)
{
	struct got *g = ctx;

	g->status = r->status;
	snprintf(g->body, sizeof(g->body), STR_FMT, STR_ARG(r->body));
	atomic_store(&g->done, true);
}

struct fixture {
	struct clock_fake clock;
	struct engine_state state;
	struct metric_registry *counters;
	struct endpoints *endpoints;
	struct http_loop *loop;
	uint16_t port;
	const char *_Atomic stale; /* NULL: none; read by the server's thread */
	_Atomic int64_t stale_since;
};

static const char *find_stale(void *ctx, int64_t now, int64_t *ret_since)
{
	const struct fixture *f = ctx;

	(void)now;
	*ret_since = f->stale_since;
	return f->stale;
}

static void begin(struct fixture *f)
{
	struct http_loop_options lo = { .user_agent = "test", .connect_ns = CALL_NS };
	char address[40];
	struct endpoints_options eo = { .listen_address = address,
					.healthz_address = address,
					.state = &f->state,
					.stale = find_stale,
					.ctx = f,
					.clock = &f->clock.base };

	memset(f, 0, sizeof(*f));
	clock_fake_init(&f->clock, 0);
	clock_fake_advance(&f->clock, CLOCK_NS_PER_S);
	f->counters = metric_registry_create();
	eo.counters = f->counters;
	f->port = proc_free_port();
	snprintf(address, sizeof(address), "127.0.0.1:%u", f->port);
	assert_int_equal(endpoints_start(&eo, &f->endpoints, NULL), 0);
	assert_int_equal(http_loop_start(&lo, &f->loop, NULL), 0);
}

static void end(struct fixture *f)
{
	http_loop_destroy(f->loop);
	endpoints_stop(f->endpoints);
	metric_registry_destroy(f->counters);
}

static int get(struct fixture *f, const char *path, const char *says)
{
	char url[100];
	struct got g = { 0 };
	struct http_call call = {
		.method = HTTP_GET, .url = url, .timeout_ns = CALL_NS, .on_done = on_done, .ctx = &g
	};

	snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", f->port, path);
	http_loop_submit(f->loop, &call);
	while (!atomic_load(&g.done)) {
		proc_wait_file("/nonexistent", 1);
	}
	if (says != NULL) {
		assert_non_null(strstr(g.body, says));
	}
	return g.status;
}

static void test_livez_turns_red_when_the_cycle_is_stuck(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	atomic_store(&f.state.heartbeat, clock_mono(&f.clock.base));
	assert_int_equal(get(&f, "/livez", NULL), 200);
	atomic_store(&f.state.cycle_since, clock_mono(&f.clock.base));
	clock_fake_advance(&f.clock, ENDPOINTS_STUCK_NS + 1);
	assert_int_equal(get(&f, "/livez", "cycle"), 503);
	atomic_store(&f.state.cycle_since, 0);
	assert_int_equal(get(&f, "/livez", "silent"), 503);
	atomic_store(&f.state.heartbeat, clock_mono(&f.clock.base));
	assert_int_equal(get(&f, "/livez", NULL), 200);
	end(&f);
}

static void test_readyz_differs_between_standby_and_leader(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(get(&f, "/readyz", NULL), 200); /* standby */
	atomic_store(&f.state.leading, true);
	assert_int_equal(get(&f, "/readyz", "lists"), 503);
	atomic_store(&f.state.synced, true);
	assert_int_equal(get(&f, "/readyz", "quota plugin"), 503);
	atomic_store(&f.state.has_quota_plugin, true);
	assert_int_equal(get(&f, "/readyz", NULL), 200);
	end(&f);
}

static void test_readyz_names_what_is_stale(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	f.stale_since = clock_mono(&f.clock.base);
	f.stale = "pods";
	clock_fake_advance(&f.clock, 123 * CLOCK_NS_PER_S);
	assert_int_equal(
		get(&f, "/readyz", "watch failed: pods: no contact with the API server for 123 s"),
		503);
	assert_int_equal(get(&f, "/livez", NULL), 200);
	f.stale = NULL;
	assert_int_equal(get(&f, "/readyz", NULL), 200);
	end(&f);
}

static void test_metrics_and_unknown_paths(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	metric_cell_add(metric_cell(metric_register(f.counters, "headgate_test_total", "h",
						    METRIC_COUNTER, NULL),
				    NULL),
			3);
	assert_int_equal(get(&f, "/metrics", "headgate_test_total 3"), 200);
	assert_int_equal(get(&f, "/", NULL), 404);
	end(&f);
}

static void test_two_addresses_are_served_and_closed(void **state)
{
	struct engine_state s = { 0 };
	char addresses[2][40];
	struct endpoints_options eo = { .listen_address = addresses[0],
					.healthz_address = addresses[1],
					.counters = metric_registry_create(),
					.state = &s,
					.clock = clock_real() };
	struct endpoints *e = NULL;
	uint16_t ports[2];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		ports[i] = proc_free_port();
		snprintf(addresses[i], sizeof(addresses[i]), "127.0.0.1:%u", ports[i]);
	}
	assert_int_equal(endpoints_start(&eo, &e, NULL), 0);
	assert_true(proc_wait_port(ports[0], 1000) && proc_wait_port(ports[1], 1000));
	endpoints_stop(e);
	assert_false(proc_wait_port(ports[0], 0) || proc_wait_port(ports[1], 0));
	metric_registry_destroy(eo.counters);
}

static void test_a_bad_address_is_named(void **state)
{
	struct engine_state s = { 0 };
	struct endpoints_options eo = { .listen_address = "nonsense",
					.state = &s,
					.clock = clock_real() };
	struct endpoints *e = NULL;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(endpoints_start(&eo, &e, &err), -ERR_INVALID);
	assert_non_null(strstr(err.text, "nonsense"));
	assert_null(e);
}

static void test_an_address_in_use_is_named(void **state)
{
	struct fixture f;
	struct endpoints_options eo = { .state = &f.state, .clock = &f.clock.base };
	struct endpoints *e = NULL;
	struct err err = ERR_INIT;
	char address[40];

	(void)state;
	begin(&f);
	snprintf(address, sizeof(address), "127.0.0.1:%u", f.port);
	eo.listen_address = eo.healthz_address = address;
	eo.counters = f.counters;
	assert_true(endpoints_start(&eo, &e, &err) < 0);
	assert_non_null(strstr(err.text, address));
	assert_null(e);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_livez_turns_red_when_the_cycle_is_stuck),
		cmocka_unit_test(test_readyz_differs_between_standby_and_leader),
		cmocka_unit_test(test_readyz_names_what_is_stale),
		cmocka_unit_test(test_metrics_and_unknown_paths),
		cmocka_unit_test(test_two_addresses_are_served_and_closed),
		cmocka_unit_test(test_a_bad_address_is_named),
		cmocka_unit_test(test_an_address_in_use_is_named),
	};

	return cmocka_run_group_tests_name("app/endpoints", tests, NULL, NULL);
}
