#include "webhook/main/webhook_options.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "lib/flags_check.h"

#define FILES "--tls-cert-file=c", "--tls-private-key-file=k"

/* words ends with NULL. */
static int parse(const char **words, struct webhook_options *o, struct err *err)
{
	int n = 0;

	while (words[n] != NULL) {
		n++;
	}
	return webhook_options_parse(n, (char **)(uintptr_t)words, o, err);
}

static void test_defaults(void **state)
{
	const char *words[] = { "x", "--tls-cert-file=c", "--tls-private-key-file", "k", NULL };
	struct webhook_options o;

	(void)state;
	assert_int_equal(parse(words, &o, NULL), 0);
	assert_int_equal(o.port, 8443);
	assert_string_equal(o.tls_cert_file, "c");
	assert_string_equal(o.tls_key_file, "k");
	assert_int_equal(o.daemon.scheduler_names.n, 1);
	assert_string_equal(o.daemon.scheduler_names.v[0], "volcano");
	assert_true(o.daemon.gates.queue_admission && o.gate_sticky && o.root_queue_protection &&
		    o.enable_healthz);
	assert_false(o.queue_allocated_pods_check || o.offline);
	assert_int_equal(o.max_queue_depth, 5);
	assert_int_equal(o.healthz.port, 11251);
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
	assert_int_equal(parse(words, &o, NULL), 0);
	assert_int_equal(o.daemon.scheduler_names.n, 2);
	assert_string_equal(o.daemon.scheduler_names.v[1], "b");
	assert_false(o.enable_healthz || o.root_queue_protection ||
		     o.daemon.gates.queue_admission || o.gate_sticky);
	assert_true(o.queue_allocated_pods_check && o.manage_jobs_without_queue);
	assert_string_equal(o.healthz.host, "::1");
	assert_int_equal(o.healthz.port, 9);
	assert_true(o.grace_ns == 60 * CLOCK_NS_PER_S);
	assert_int_equal(o.max_queue_depth, 7);
	assert_string_equal(o.webhook_namespace, "volcano-system");
	assert_string_equal(o.integrations, "Foo.v1.x.org");
	assert_string_equal(o.integration_users, "system:serviceaccount:foo:manager");
	assert_int_equal(o.daemon.verbosity, 3);
	assert_int_equal(o.daemon.parsed.ignored.n, 3);
	assert_string_equal(o.daemon.parsed.ignored.v[0], "kube-api-qps");
	assert_string_equal(o.daemon.parsed.ignored.v[1], "ca-cert-file");
	assert_string_equal(o.daemon.parsed.ignored.v[2], "logtostderr");
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
	assert_int_equal(parse(few, &o, NULL), 0);
	assert_int_equal(o.cert_mode, WEBHOOK_OPTIONS_SECRET);
	assert_null(o.webhook_namespace);
	assert_string_equal(o.cert_secret, "headgate-webhook-tls");
	assert_string_equal(o.cert_lease, "headgate-webhook");
	assert_string_equal(o.cert_selector, "app.kubernetes.io/part-of=headgate");
	assert_true(o.cert_ca_ns == 43800 * 3600 * CLOCK_NS_PER_S);
	assert_true(o.cert_leaf_ns == 2160 * 3600 * CLOCK_NS_PER_S);
	assert_true(o.cert_spread_ns == 60 * CLOCK_NS_PER_S);
	assert_int_equal(parse(all, &o, NULL), 0);
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
		const char *flag, *error; /* error NULL: fine */
		bool gate;
		size_t ignored;
	} rows[] = {
		{ "--feature-gates=", NULL, true, 0 },
		{ "--feature-gates=SchedulingGatesQueueAdmission=false", NULL, false, 0 },
		{ "--feature-gates=SchedulingGatesQueueAdmission=t", NULL, true, 0 },
		{ "--feature-gates=CSIStorage=true, SchedulingGatesQueueAdmission=false", NULL,
		  false, 1 },
		{ "--feature-gates=AllAlpha=true,WorkLoadSupport=false", NULL, true, 2 },
		{ "--feature-gates=Nope=true",
		  "--feature-gates: \"Nope=true\": unknown feature gate \"Nope\"", true, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *words[] = { "x", FILES, rows[i].flag, NULL };
		struct webhook_options o;
		struct err err = ERR_INIT;
		int r = parse(words, &o, &err);

		unit_row(rows[i].flag);
		assert_int_equal(r, rows[i].error != NULL ? -ERR_INVALID : 0);
		assert_string_equal(err.text, rows[i].error != NULL ? rows[i].error : "");
		if (r == 0) {
			assert_int_equal(o.daemon.gates.queue_admission, rows[i].gate);
			assert_int_equal(o.daemon.gates.ignored.n, rows[i].ignored);
		}
	}
}

static void test_address(void **state)
{
	static const struct {
		const char *flag, *host; /* host NULL: refused */
		int port;
	} rows[] = {
		{ "--healthz-address=:11251", "", 11251 },
		{ "--healthz-address=127.0.0.1:1", "127.0.0.1", 1 },
		{ "--healthz-address=[::]:65535", "::", 65535 },
		{ "--healthz-address=[::1:9", "[::1", 9 }, /* brackets go only together */
		{ "--healthz-address=::1]:9", "::1]", 9 },
		{ "--healthz-address=[]:9", "", 9 },
		{ "--healthz-address=localhost", NULL, 0 },
		{ "--healthz-address=a:", NULL, 0 },
		{ "--healthz-address=a:65536", NULL, 0 },
		{ "--healthz-address=", NULL, 0 },
		{ "--healthz-address=a:x", NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *words[] = { "x", FILES, rows[i].flag, NULL };
		struct webhook_options o;
		int r = parse(words, &o, NULL);

		unit_row(rows[i].flag);
		assert_int_equal(r, rows[i].host != NULL ? 0 : -ERR_INVALID);
		if (r == 0) {
			assert_string_equal(o.healthz.host, rows[i].host);
			assert_int_equal(o.healthz.port, rows[i].port);
		}
	}
}

static void test_a_host_has_a_limit(void **state)
{
	struct webhook_options o;
	char flag[100] = "--healthz-address=";
	size_t room = sizeof(o.healthz.host) - 1, len = strlen(flag);
	const char *words[] = { "x", FILES, flag, NULL };

	(void)state;
	memset(flag + len, 'a', room);
	memcpy(flag + len + room, ":1", 3);
	assert_int_equal(parse(words, &o, NULL), 0);
	assert_int_equal(strlen(o.healthz.host), room);
	memcpy(flag + len + room, "a:1", 4);
	assert_int_equal(parse(words, &o, NULL), -ERR_INVALID);
}

static void test_mistakes_are_named(void **state)
{
	static const struct {
		const char *words[5], *says;
	} rows[] = {
		{ { "x" }, "--tls-cert-file and --tls-private-key-file are required" },
		{ { "x", "--tls-cert-file=c" }, "--tls-private-key-file are required" },
		{ { "x", "--cert-mode=magic" }, "--cert-mode: \"magic\"" },
		{ { "x", "--cert-mode=secret" }, "--webhook-service-name or --webhook-url" },
		{ { "x", "--cert-mode=secret", "--webhook-url=u", "--tls-cert-file=c" },
		  "does not allow certificate files" },
		{ { "x", "--cert-mode=secret", "--webhook-url=u", "--tls-private-key-file=k" },
		  "does not allow certificate files" },
		{ { "x", "--cert-mode=secret", "--webhook-url=u", "--offline" },
		  "needs an API server" },
		{ { "x", "--port=65536" }, "--port: \"65536\"" },
		{ { "x", "--threads=257" }, "--threads: \"257\"" },
		{ { "x", "--threads=0" }, "--threads: \"0\"" },
		{ { "x", "--max-queue-depth=101" }, "--max-queue-depth: \"101\"" },
		{ { "x", "--cert-ca-duration=9999ms" }, "(10s to 876000h)" },
		{ { "x", "--cert-leaf-duration=876001h" }, "--cert-leaf-duration: \"876001h\"" },
		{ { "x", "--enabled-admission=" }, "--enabled-admission: \"\" is empty" },
		{ { "x", "--gate-sticky=maybe" }, "--gate-sticky: \"maybe\"" },
		{ { "x", "--enable-queue-closed-before-delete-check" }, "is not supported" },
		{ { "x", "--nonsense" }, "--nonsense" },
		{ { "x", "stray" }, "stray" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *words[ARRAY_LEN(rows[i].words)];
		struct webhook_options o;
		struct err err = ERR_INIT;

		unit_row_number(i);
		memcpy(words, rows[i].words, sizeof(words));
		assert_int_equal(parse(words, &o, &err), -ERR_INVALID);
		assert_non_null(strstr(err.text, rows[i].says));
	}
}

static void test_version_and_help(void **state)
{
	const char *version[] = { "x", "--version", NULL };
	const char *help[] = { "x", "-h", NULL };
	struct webhook_options o;

	(void)state;
	assert_int_equal(parse(version, &o, NULL), 1);
	assert_int_equal(parse(help, &o, NULL), 1);
	flags_check(webhook_options_flags());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_flags_of_volcano),
		cmocka_unit_test(test_managed_certificates),
		cmocka_unit_test(test_feature_gates),
		cmocka_unit_test(test_address),
		cmocka_unit_test(test_a_host_has_a_limit),
		cmocka_unit_test(test_mistakes_are_named),
		cmocka_unit_test(test_version_and_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
