#include "webhook/main/webhook_options.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"

static void test_defaults(void **state)
{
	const char *words[] = { "x", "--tls-cert-file=c", "--tls-private-key-file", "k", NULL };
	struct webhook_options o;

	(void)state;
	webhook_options_parse(4, (char **)(uintptr_t)words, &o);
	assert_int_equal(o.port, 8443);
	assert_string_equal(o.tls_cert_file, "c");
	assert_string_equal(o.tls_key_file, "k");
	assert_int_equal(o.scheduler_count, 1);
	assert_string_equal(o.scheduler_names[0], "volcano");
	assert_true(o.gate_feature && o.gate_sticky && o.root_queue_protection && o.enable_healthz);
	assert_false(o.queue_allocated_pods_check || o.offline);
	assert_int_equal(o.max_queue_depth, 5);
	assert_int_equal(o.healthz_port, 11251);
	assert_true(o.grace_ns == 30 * CLOCK_NS_PER_S && o.delay_ns == 0);
	assert_null(o.enabled_admission);
	assert_null(o.integrations);
	assert_null(o.integration_users);
}

static void test_flags_of_volcano(void **state)
{
	const char *words[] = { "x",
				"--tls-cert-file=c",
				"--tls-private-key-file=k",
				"--enabled-admission=/pods/mutate",
				"--scheduler-name=a",
				"--scheduler-name=b",
				"--enable-healthz=false",
				"--healthz-address=[::1]:9",
				"--graceful-shutdown-time=1m",
				"--max-queue-depth=7",
				"--gate-sticky=false",
				"--enable-root-queue-protection=false",
				"--enable-queue-allocated-pods-check",
				"--manage-jobs-without-queue-name",
				"--integrations=Foo.v1.x.org",
				"--integration-users=system:serviceaccount:foo:manager",
				"--feature-gates=SchedulingGatesQueueAdmission=false",
				"--kube-api-qps=50",
				"--webhook-namespace",
				"volcano-system",
				"--ca-cert-file",
				"ca",
				"--logtostderr",
				"-v=3",
				NULL };
	struct webhook_options o;

	(void)state;
	webhook_options_parse((int)ARRAY_LEN(words) - 1, (char **)(uintptr_t)words, &o);
	assert_int_equal(o.scheduler_count, 2);
	assert_string_equal(o.scheduler_names[1], "b");
	assert_false(o.enable_healthz || o.root_queue_protection || o.gate_feature ||
		     o.gate_sticky);
	assert_true(o.queue_allocated_pods_check && o.manage_jobs_without_queue);
	assert_string_equal(o.healthz_host, "::1");
	assert_int_equal(o.healthz_port, 9);
	assert_true(o.grace_ns == 60 * CLOCK_NS_PER_S);
	assert_int_equal(o.max_queue_depth, 7);
	assert_string_equal(o.webhook_namespace, "volcano-system");
	assert_string_equal(o.integrations, "Foo.v1.x.org");
	assert_string_equal(o.integration_users, "system:serviceaccount:foo:manager");
	assert_int_equal(o.ignored_count, 3);
	assert_string_equal(o.ignored[0], "--kube-api-qps=50");
	assert_string_equal(o.ignored[1], "--ca-cert-file");
	assert_string_equal(o.ignored[2], "--logtostderr");
}

static void test_managed_certificates(void **state)
{
	const char *few[] = { "x", "--cert-mode=secret", "--webhook-service-name=s", NULL };
	const char *all[] = { "x",
			      "--cert-mode=secret",
			      "--webhook-url=https://a:1",
			      "--webhook-namespace=n",
			      "--cert-secret=s",
			      "--cert-lease=l",
			      "--cert-registrations=a=b",
			      "--cert-ca-duration=2h",
			      "--cert-leaf-duration=1m",
			      "--cert-rotation-delay=5s",
			      NULL };
	struct webhook_options o;

	(void)state;
	webhook_options_parse(3, (char **)(uintptr_t)few, &o);
	assert_true(o.cert_managed);
	assert_null(o.webhook_namespace);
	assert_string_equal(o.cert_secret, "headgate-webhook-tls");
	assert_string_equal(o.cert_lease, "headgate-webhook");
	assert_string_equal(o.cert_selector, "app.kubernetes.io/part-of=headgate");
	assert_true(o.cert_ca_ns == 43800 * 3600 * CLOCK_NS_PER_S);
	assert_true(o.cert_leaf_ns == 2160 * 3600 * CLOCK_NS_PER_S);
	assert_true(o.cert_spread_ns == 60 * CLOCK_NS_PER_S);
	webhook_options_parse((int)ARRAY_LEN(all) - 1, (char **)(uintptr_t)all, &o);
	assert_string_equal(o.webhook_url, "https://a:1");
	assert_string_equal(o.webhook_namespace, "n");
	assert_string_equal(o.cert_secret, "s");
	assert_string_equal(o.cert_lease, "l");
	assert_string_equal(o.cert_selector, "a=b");
	assert_true(o.cert_ca_ns == 7200 * CLOCK_NS_PER_S);
	assert_true(o.cert_leaf_ns == 60 * CLOCK_NS_PER_S);
	assert_true(o.cert_spread_ns == 5 * CLOCK_NS_PER_S);
}

static void test_feature_gates(void **state)
{
	static const struct {
		const char *text, *error; /* error NULL: fine */
		bool gate;
	} rows[] = {
		{ "", NULL, true },
		{ "SchedulingGatesQueueAdmission=false", NULL, false },
		{ "SchedulingGatesQueueAdmission=true", NULL, true },
		{ "CSIStorage=true, SchedulingGatesQueueAdmission=false", NULL, false },
		{ "WorkLoadSupport=false,CronVolcanoJobSupport=true,ResourceTopology=true", NULL,
		  true },
		{ "Nope=true", "no such feature gate: \"Nope\"", true },
		{ "SchedulingGatesQueueAdmission",
		  "feature gate SchedulingGatesQueueAdmission: neither true nor false", true },
		{ "SchedulingGatesQueueAdmission=maybe",
		  "feature gate SchedulingGatesQueueAdmission: neither true nor false", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct webhook_options o = { .gate_feature = true };
		struct err err = ERR_INIT;

		assert_int_equal(webhook_options_feature_gates(&o, rows[i].text, &err),
				 rows[i].error != NULL ? -ERR_INVALID : 0);
		assert_string_equal(err.text, rows[i].error != NULL ? rows[i].error : "");
		assert_int_equal(o.gate_feature, rows[i].gate);
	}
}

static void test_address(void **state)
{
	static const struct {
		const char *text, *host; /* host NULL: refused */
		int port;
	} rows[] = {
		{ ":11251", "", 11251 },
		{ "127.0.0.1:1", "127.0.0.1", 1 },
		{ "[::]:65535", "::", 65535 },
		{ "localhost", NULL, 0 },
		{ "a:", NULL, 0 },
		{ "a:65536", NULL, 0 },
		{ "", NULL, 0 },
		{ "a:x", NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct webhook_options o = { 0 };
		int r = webhook_options_address(&o, rows[i].text, NULL);

		assert_int_equal(r, rows[i].host != NULL ? 0 : -ERR_INVALID);
		if (r == 0) {
			assert_string_equal(o.healthz_host, rows[i].host);
			assert_int_equal(o.healthz_port, rows[i].port);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_flags_of_volcano),
		cmocka_unit_test(test_managed_certificates),
		cmocka_unit_test(test_feature_gates),
		cmocka_unit_test(test_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
