#include "scheduler/app/options.h"

#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "lib/flags_check.h"
#include "lib/unit.h"

/* Texts of *o are borrowed from args. */
static int parse(const char *const *args, struct sched_options *o, struct err *err)
{
	const char *argv[32] = { "headgate-scheduler" };
	int argc = 1;

	for (; args != NULL && *args != NULL; args++) {
		argv[argc++] = *args;
	}
	return options_parse(argc, (char **)(uintptr_t)argv, o, err);
}

static void test_defaults_are_volcanos(void **state)
{
	struct sched_options o;

	(void)state;
	assert_int_equal(parse(NULL, &o, NULL), 0);
	assert_string_equal(o.daemon.scheduler_names.v[0], "volcano");
	assert_null(o.daemon.scheduler_names.v[1]);
	assert_string_equal(o.default_queue, "default");
	assert_int_equal(o.schedule_period, CLOCK_NS_PER_S);
	assert_true(o.kube_api_qps == 2000);
	assert_int_equal(o.kube_api_burst, 2000);
	assert_int_equal(o.gate_workers, 5);
	assert_int_equal(o.reservation_timeout, 1800 * CLOCK_NS_PER_S);
	assert_int_equal(o.on_reservation_timeout, 0);
	assert_int_equal(o.lease_duration, 15 * CLOCK_NS_PER_S);
	assert_true(o.leader_elect && o.gate_sticky && o.daemon.gates.queue_admission);
	assert_int_equal(o.controllers, OPTIONS_PODGROUP | OPTIONS_QUEUE);
	assert_int_equal(o.daemon.log_format, LOG_TEXT);
	assert_null(o.scheduler_conf);
}

static void test_spellings_of_go_programs(void **state)
{
	static const char *const args[] = { "--scheduler-name=a",
					    "--scheduler-name",
					    "b",
					    "--leader-elect=false",
					    "--gate-sticky=false",
					    "-v=4",
					    "--kube-api-qps=0",
					    "--controllers=*,workload,preemption-cost,-queue",
					    "--feature-gates=SchedulingGatesQueueAdmission=false",
					    "--reservation-timeout=1h30m",
					    "--plugins-dir=/x",
					    "--csi-storage=false",
					    NULL };
	struct sched_options o;

	(void)state;
	assert_int_equal(parse(args, &o, NULL), 0);
	assert_int_equal(o.daemon.scheduler_names.n, 2);
	assert_string_equal(o.daemon.scheduler_names.v[1], "b");
	assert_false(o.leader_elect);
	assert_int_equal(o.daemon.verbosity, 4);
	assert_true(o.kube_api_qps == 0);
	assert_int_equal(o.controllers, OPTIONS_PODGROUP | OPTIONS_WORKLOAD | OPTIONS_COST);
	assert_false(o.daemon.gates.queue_admission || o.gate_sticky);
	assert_int_equal(o.reservation_timeout, 5400 * CLOCK_NS_PER_S);
	assert_int_equal(o.daemon.parsed.ignored.n, 2);
}

static void test_mistakes_are_named(void **state)
{
	static const struct {
		const char *arg, *says;
	} rows[] = {
		{ "--schedule-period=1y", "--schedule-period" },
		{ "--kube-api-burst=-1", "--kube-api-burst" },
		{ "--gate-removal-worker-num=0", "--gate-removal-worker-num" },
		{ "--leader-elect=maybe", "--leader-elect" },
		{ "--feature-gates=Nope=true", "Nope" },
		{ "--feature-gates=SchedulingGatesQueueAdmission", "--feature-gates" },
		{ "--controllers=job", "job" },
		{ "--controllers=*,preemption-cost", "preemption-cost needs workload" },
		{ "--controllers=multikueue,workload", "multikueue runs alone" },
		{ "--controllers=orchestrator,multikueue", "multikueue runs alone" },
		{ "--controllers=*,orchestrator", "orchestrator runs alone" },
		{ "--logging-format=xml", "--logging-format" },
		{ "--scheduler-sharding-mode=hard", "--scheduler-sharding-mode" },
		{ "--node-selector=a:b", "--node-selector" },
		{ "--leader-elect-retry-period=20s", "retry period" },
		{ "--leader-elect-renew-deadline=14001ms", "1 s or more below" },
		{ "--scheduler-name=", "--scheduler-name" },
		{ "--on-reservation-timeout=evict", "--on-reservation-timeout" },
		{ "--nonsense", "flag" },
		{ "stray", "stray" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *const args[] = { rows[i].arg, NULL };
		struct sched_options o;
		struct err err = ERR_INIT;

		unit_row(rows[i].arg);
		assert_int_equal(parse(args, &o, &err), -ERR_INVALID);
		assert_non_null(strstr(err.text, rows[i].says));
	}
}

/* docs/install.md: "its last request ends within 5 s or with the lease, whichever is shorter". */
static void test_requests_end_before_the_lease(void **state)
{
	static const struct {
		const char *args[4];
		int64_t seconds;
	} rows[] = {
		{ { NULL }, 5 },
		{ { "--leader-elect-renew-deadline=11s" }, 4 },
		{ { "--leader-elect-renew-deadline=14s" }, 1 },
		{ { "--leader-elect-lease-duration=60s" }, 5 },
		{ { "--leader-elect-renew-deadline=14s", "--leader-elect=false" }, 5 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct sched_options o;

		unit_row_number(i);
		assert_int_equal(parse(rows[i].args, &o, NULL), 0);
		assert_int_equal(options_request_timeout(&o), rows[i].seconds * CLOCK_NS_PER_S);
	}
}

/* Flags that a Deployment of Volcano's scheduler carries. */
static void test_flags_of_volcano_are_accepted(void **state)
{
	static const char *const args[] = {
		"--logtostderr",
		"--log_dir=/var/log",
		"--enable-pprof=t",
		"--percentage-nodes-to-find=50",
		"--scheduler-sharding-mode=none",
		"--feature-gates=PodDisruptionBudgetsSupport=true,AllBeta=f",
		"--logtostderr=1",
		NULL
	};
	struct sched_options o;

	(void)state;
	assert_int_equal(parse(args, &o, NULL), 0);
	assert_int_equal(o.daemon.parsed.ignored.n, 5);
	assert_string_equal(o.daemon.parsed.ignored.v[1], "log-dir");
	assert_int_equal(o.daemon.gates.ignored.n, 2);
	assert_true(o.daemon.gates.queue_admission);
}

static void test_version_and_help(void **state)
{
	static const char *const words[] = { "--version", "--help", "-h" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const char *const args[] = { words[i], NULL };
		struct sched_options o;

		unit_row(words[i]);
		assert_int_equal(parse(args, &o, NULL), 1);
	}
}

static void test_the_table_is_sound(void **state)
{
	(void)state;
	flags_check(options_flags());
}

static void test_too_many_names(void **state)
{
	const char *args[DAEMON_FLAGS_MAX_NAMES + 2];
	struct sched_options o;

	(void)state;
	for (size_t i = 0; i <= DAEMON_FLAGS_MAX_NAMES; i++) {
		args[i] = "--scheduler-name=x";
	}
	args[DAEMON_FLAGS_MAX_NAMES + 1] = NULL;
	assert_int_equal(parse(args, &o, NULL), -ERR_INVALID);
	args[DAEMON_FLAGS_MAX_NAMES] = NULL;
	assert_int_equal(parse(args, &o, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_are_volcanos),
		cmocka_unit_test(test_spellings_of_go_programs),
		cmocka_unit_test(test_mistakes_are_named),
		cmocka_unit_test(test_requests_end_before_the_lease),
		cmocka_unit_test(test_flags_of_volcano_are_accepted),
		cmocka_unit_test(test_version_and_help),
		cmocka_unit_test(test_the_table_is_sound),
		cmocka_unit_test(test_too_many_names),
	};

	return cmocka_run_group_tests_name("app/options", tests, NULL, NULL);
}
