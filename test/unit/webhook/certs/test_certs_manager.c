/* Managers against the embedded API server in virtual time, step by step. */
#include "webhook/certs/certs_manager.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/apiserver.h"
#include "apiserver/mem_transport.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "certs/pair.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "lib/unit.h"
#include "obs/metric.h"
#include "process/log.h"
#include "unit/apiserver/apiserver_fixture.h"

#define MINUTE (60 * CLOCK_NS_PER_S)
#define SPREAD (60 * CLOCK_NS_PER_S)
#define HOOKS "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
#define SECRET "/api/v1/namespaces/default/secrets/tls"
#define HOOK_NAME "volcano-admission-service-pods-mutate"
#define MAX_STEPS 100000
#define REPLICAS 2

struct replica {
	struct mem_transport *mem;
	struct certs_manager *m;
};

struct fixture {
	struct apiserver_fixture api;
	struct clock_fake clock;
	struct metric_registry *registry;
	struct replica r[REPLICAS];
};

static void drop_line(struct str line, void *ctx)
{
	(void)line;
	(void)ctx;
}

static void start_replica(struct fixture *f, size_t i)
{
	char identity[16];
	struct certs_manager_options opt = { .namespace_ = "default",
					     .secret = "tls",
					     .lease = "webhook",
					     .service = "hook",
					     .selector = "app.kubernetes.io/part-of=headgate",
					     .identity = identity,
					     .ca_ns = 30 * MINUTE,
					     .leaf_ns = 15 * MINUTE,
					     .spread_ns = SPREAD,
					     .registry = f->registry,
					     .seed = i + 1 };

	snprintf(identity, sizeof(identity), "replica-%zu", i);
	f->r[i].mem = mem_transport_create(f->api.server, &f->clock);
	assert_int_equal(certs_manager_create(&opt, &f->r[i].m, NULL), 0);
	certs_manager_connect(f->r[i].m, mem_transport_base(f->r[i].mem), &f->clock.base);
}

static void stop_replica(struct fixture *f, size_t i)
{
	if (f->r[i].m != NULL) {
		transport_destroy(mem_transport_base(f->r[i].mem));
		certs_manager_destroy(f->r[i].m);
		f->r[i].m = NULL;
	}
}

/* Lets everything happen that is due, for ns of virtual time. */
static void run(struct fixture *f, int64_t ns)
{
	int64_t end = f->clock.mono_ns + ns;

	for (;;) {
		int64_t at = end;

		for (size_t i = 0; i < REPLICAS; i++) {
			if (f->r[i].m != NULL) {
				assert_true(mem_transport_run(f->r[i].mem, MAX_STEPS) < MAX_STEPS);
			}
		}
		for (size_t i = 0; i < REPLICAS; i++) {
			if (f->r[i].m != NULL && mem_transport_wake_at(f->r[i].mem) < at) {
				at = mem_transport_wake_at(f->r[i].mem);
			}
		}
		if (f->clock.mono_ns >= end) {
			return;
		}
		clock_fake_advance(&f->clock, at > f->clock.mono_ns ? at - f->clock.mono_ns : 1);
		f->api.now = f->clock.wall_ns;
	}
}

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){ .registry = metric_registry_create() };
	apiserver_fixture_start(&f.api, NULL, NULL);
	clock_fake_init(&f.clock, APISERVER_FIXTURE_NOW);
	f.api.now = f.clock.wall_ns;
	apiserver_fixture_load(&f.api, "charts/headgate/files/webhooks.yaml");
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < REPLICAS; i++) {
		stop_replica(f, i);
	}
	apiserver_fixture_stop(&f->api);
	metric_registry_destroy(f->registry);
	return 0;
}

static void get(struct fixture *f, const char *url)
{
	assert_int_equal(apiserver_fixture_do(&f->api, HTTP_GET, url, NULL, NULL), 200);
}

/* A member of the Secret; false: absent. Appends. */
static bool member(struct fixture *f, const char *key, struct strbuf *out)
{
	const char *text;

	get(f, SECRET);
	text = jdoc_str(jdoc_get(jdoc_get(f->api.doc, "data"), key));
	return text != NULL && base64_decode(str_of(text), out, NULL) == 0;
}

static bool has_member(struct fixture *f, const char *key)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	return member(f, key, &text);
}

/* Every webhook of the registration trusts the CA of the certificate that the replica serves. */
static void assert_trusted(struct fixture *f, size_t i)
{
	CLEANUP(pair_finish) struct pair p = PAIR_INIT;
	size_t webhooks = 0;

	assert_true(certs_manager_pair(f->r[i].m, &p));
	get(f, HOOKS "/" HOOK_NAME);
	for (const struct jdoc *w = jdoc_first(jdoc_get(f->api.doc, "webhooks")); w != NULL;
	     w = jdoc_next(w)) {
		CLEANUP(strbuf_finish) struct strbuf pem = STRBUF_INIT;
		const char *bundle = jdoc_path_str(w, "clientConfig.caBundle");
		const char *next;
		bool trusted = false;

		assert_non_null(bundle);
		assert_int_equal(base64_decode(str_of(bundle), &pem, NULL), 0);
		for (const char *ca = pem.p; ca != NULL; ca = next) {
			next = strstr(ca + 1, "-----BEGIN");
			trusted |= pair_is_signed_by(strbuf_str(&p.cert), str_of(ca), NULL) == 0;
		}
		assert_true(trusted);
		webhooks++;
	}
	assert_int_equal(webhooks, 3);
}

static void test_first_start(void **state)
{
	struct fixture *f = *state;
	CLEANUP(pair_finish) struct pair none = PAIR_INIT;
	struct pollfd fd;

	start_replica(f, 0);
	assert_false(certs_manager_pair(f->r[0].m, &none));
	run(f, CLOCK_NS_PER_S);
	assert_trusted(f, 0);
	assert_false(has_member(f, "next-ca.crt"));
	get(f, "/apis/coordination.k8s.io/v1/namespaces/default/leases/webhook");
	assert_string_equal(apiserver_fixture_text(&f->api, "spec.holderIdentity"), "replica-0");

	start_replica(f, 1);
	run(f, CLOCK_NS_PER_S);
	fd = (struct pollfd){ .fd = certs_manager_fd(f->r[1].m), .events = POLLIN };
	assert_int_equal(poll(&fd, 1, 0), 1);
	assert_trusted(f, 1);
	assert_int_equal(poll(&fd, 1, 0), 0);
}

static void test_certificate_is_renewed_by_the_same_authority(void **state)
{
	struct fixture *f = *state;
	CLEANUP(strbuf_finish) struct strbuf ca = STRBUF_INIT, leaf = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf ca2 = STRBUF_INIT, leaf2 = STRBUF_INIT;

	start_replica(f, 0);
	run(f, CLOCK_NS_PER_S);
	assert_true(member(f, "ca.crt", &ca) && member(f, "tls.crt", &leaf));
	run(f, 11 * MINUTE);
	assert_true(member(f, "ca.crt", &ca2) && member(f, "tls.crt", &leaf2));
	assert_true(str_eq(strbuf_str(&ca), strbuf_str(&ca2)));
	assert_false(str_eq(strbuf_str(&leaf), strbuf_str(&leaf2)));
	assert_trusted(f, 0);
}

/* At any time each registration trusts the certificates of all replicas. */
static void test_authority_is_rotated(void **state)
{
	struct fixture *f = *state;
	bool had_next = false, had_old = false;

	start_replica(f, 0);
	start_replica(f, 1);
	run(f, 19 * MINUTE);
	assert_false(has_member(f, "next-ca.crt") || has_member(f, "old-ca.crt"));
	for (int i = 0; i < 60; i++) {
		run(f, 10 * CLOCK_NS_PER_S);
		assert_trusted(f, 0);
		assert_trusted(f, 1);
		had_next |= has_member(f, "next-ca.crt");
		had_old |= has_member(f, "old-ca.crt");
	}
	assert_true(had_next && had_old);
	assert_false(has_member(f, "next-ca.crt") || has_member(f, "old-ca.crt"));
}

static void make_untouched_registration(struct fixture *f)
{
	assert_int_equal(
		apiserver_fixture_do(
			&f->api, HTTP_POST, HOOKS, APISERVER_FIXTURE_JSON,
			"{\"metadata\":{\"name\":\"other\"},\"webhooks\":[{\"name\":\"a.b.c\","
			"\"sideEffects\":\"None\",\"admissionReviewVersions\":[\"v1\"],"
			"\"clientConfig\":{\"url\":\"https://127.0.0.1:1/\"}}]}"),
		201);
}

static void remove_bundle(struct fixture *f)
{
	assert_int_equal(apiserver_fixture_do(&f->api, HTTP_PATCH, HOOKS "/" HOOK_NAME,
					      "application/json-patch+json",
					      "[{\"op\":\"remove\",\"path\":\"/webhooks/1/"
					      "clientConfig/caBundle\"}]"),
			 200);
}

static void test_registrations_come_and_change(void **state)
{
	struct fixture *f = *state;

	make_untouched_registration(f);
	start_replica(f, 0);
	run(f, CLOCK_NS_PER_S);
	get(f, HOOKS "/other");
	assert_string_equal(jdoc_str_or(jdoc_path(jdoc_at(jdoc_get(f->api.doc, "webhooks"), 0),
						  "clientConfig.caBundle"),
					"none"),
			    "none");
	/* An administrator removes the bundle, or creates the registration again. */
	remove_bundle(f);
	run(f, CLOCK_NS_PER_S);
	assert_trusted(f, 0);
	assert_int_equal(
		apiserver_fixture_do(&f->api, HTTP_DELETE, HOOKS "/" HOOK_NAME, NULL, NULL), 200);
	run(f, CLOCK_NS_PER_S);
	assert_int_equal(apiserver_fixture_do(&f->api, HTTP_GET, HOOKS "/" HOOK_NAME, NULL, NULL),
			 404);
}

/* The watch delivers the second edit before the write that followed the first one is answered. */
static void test_an_answer_does_not_hide_a_later_edit(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;

	start_replica(f, 0);
	run(f, CLOCK_NS_PER_S);
	remove_bundle(f);
	assert_int_equal(apiserver_set_faults(f->api.server,
					      STR_LIT("- fault: delay\n  delayMs: 2000\n"
						      "  method: PATCH\n  count: 1\n"),
					      &err),
			 0);
	run(f, CLOCK_NS_PER_S);
	assert_trusted(f, 0);
	remove_bundle(f);
	run(f, 5 * CLOCK_NS_PER_S);
	assert_trusted(f, 0);
}

/* When the Secret is deleted, new certificates are made. */
static void test_secret_is_deleted(void **state)
{
	struct fixture *f = *state;
	CLEANUP(strbuf_finish) struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;

	start_replica(f, 0);
	run(f, CLOCK_NS_PER_S);
	assert_true(member(f, "ca.crt", &before));
	assert_int_equal(apiserver_fixture_do(&f->api, HTTP_DELETE, SECRET, NULL, NULL), 200);
	run(f, CLOCK_NS_PER_S);
	assert_true(member(f, "ca.crt", &after));
	assert_false(str_eq(strbuf_str(&before), strbuf_str(&after)));
	assert_trusted(f, 0);
}

/* A pair in the Secret that does not match is not served, and is replaced. */
static void test_secret_is_broken(void **state)
{
	struct fixture *f = *state;

	start_replica(f, 0);
	run(f, CLOCK_NS_PER_S);
	assert_int_equal(apiserver_fixture_do(&f->api, HTTP_PATCH, SECRET, APISERVER_FIXTURE_MERGE,
					      "{\"data\":{\"tls.key\":\"YQ==\"}}"),
			 200);
	run(f, CLOCK_NS_PER_S);
	assert_trusted(f, 0);
}

/* Another replica continues the rotation of a dead one, once that one's Lease has expired. */
static void test_leader_dies(void **state)
{
	struct fixture *f = *state;

	start_replica(f, 0);
	start_replica(f, 1);
	run(f, CLOCK_NS_PER_S);
	stop_replica(f, 0);
	assert_int_equal(apiserver_fixture_do(&f->api, HTTP_DELETE, SECRET, NULL, NULL), 200);
	run(f, 5 * CLOCK_NS_PER_S);
	assert_int_equal(apiserver_fixture_do(&f->api, HTTP_GET, SECRET, NULL, NULL), 404);
	run(f, 60 * CLOCK_NS_PER_S);
	assert_trusted(f, 1);
}

static void test_failures_are_tried_again(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;
	const struct metric_cell *failures = metric_cell(
		metric_register(f->registry, "headgate_webhook_certificate_write_errors_total",
				"Writes of the certificates' Secret and of registrations that "
				"failed.",
				METRIC_COUNTER, NULL),
		NULL);

	assert_int_equal(
		apiserver_set_faults(f->api.server,
				     STR_LIT("- fault: status\n  code: 500\n  method: POST\n"
					     "  path: /api/v1/namespaces/default/secrets\n"
					     "  count: 2\n"),
				     &err),
		0);
	start_replica(f, 0);
	run(f, 120 * CLOCK_NS_PER_S);
	assert_true(metric_cell_get(failures) >= 1);
	assert_trusted(f, 0);
}

/* A write is for the Secret that was read: what another writer has done since is not lost. */
static void test_a_write_does_not_undo_another_one(void **state)
{
	static const char edit[] = "{\"data\":{\"ca.crt\":\"eA==\",\"tls.crt\":\"eA==\"}}";
	struct fixture *f = *state;
	const struct metric_cell *failures = metric_cell(
		metric_register(f->registry, "headgate_webhook_certificate_write_errors_total", "",
				METRIC_COUNTER, NULL),
		NULL);

	assert_int_equal(apiserver_set_faults(f->api.server,
					      STR_LIT("- fault: watch-late\n  method: WATCH\n"
						      "  path: /api/v1/namespaces/default/secrets\n"
						      "  delayMs: 1800000\n  count: 0\n"),
					      NULL),
			 0);
	start_replica(f, 0);
	run(f, CLOCK_NS_PER_S);
	assert_true(metric_cell_get(failures) == 0);
	assert_int_equal(
		apiserver_fixture_do(&f->api, HTTP_PATCH, SECRET, APISERVER_FIXTURE_MERGE, edit),
		200);
	run(f, 11 * MINUTE);
	assert_true(metric_cell_get(failures) >= 1);
}

static void test_options(void **state)
{
	struct fixture *f = *state;
	struct certs_manager_options opt = { .namespace_ = "n",
					     .secret = "s",
					     .lease = "l",
					     .selector = "",
					     .identity = "i",
					     .registry = f->registry };
	struct certs_manager *m;

	assert_int_equal(certs_manager_create(&opt, &m, NULL), -ERR_INVALID);
	opt.url = "https://127.0.0.1:1";
	assert_int_equal(certs_manager_create(&opt, &m, NULL), 0);
	certs_manager_leave(m); /* never connected: returns at once */
	certs_manager_destroy(m);
	certs_manager_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_first_start, setup, teardown),
		cmocka_unit_test_setup_teardown(test_certificate_is_renewed_by_the_same_authority,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_authority_is_rotated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_registrations_come_and_change, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_an_answer_does_not_hide_a_later_edit, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_secret_is_deleted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_secret_is_broken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_leader_dies, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failures_are_tried_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_write_does_not_undo_another_one, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_options, setup, teardown),
	};

	log_set_sink(drop_line, NULL);
	return cmocka_run_group_tests_name("webhook/certs/certs_manager", tests, NULL, NULL);
}
