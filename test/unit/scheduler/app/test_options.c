#include "scheduler/app/options.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "lib/unit.h"

static int parse(const char *const *args, struct sched_options *o, struct err *err)
{
	char *argv[32] = { xmalloc_dup("headgate-scheduler") };
	int argc = 1, r;

	for (; args != NULL && *args != NULL; args++) {
		argv[argc++] = xmalloc_dup(*args);
	}
	r = options_parse(argc, argv, o, err);
	for (int i = 0; i < argc; i++) {
		free(argv[i]);
	}
	return r;
}

static void test_defaults_are_volcanos(void **state)
{
	struct sched_options o;

	(void)state;
	assert_int_equal(parse(NULL, &o, NULL), 0);
	assert_string_equal(o.scheduler_names[0], "volcano");
	assert_null(o.scheduler_names[1]);
	assert_string_equal(o.default_queue, "default");
	assert_int_equal(o.schedule_period, CLOCK_NS_PER_S);
	assert_true(o.kube_api_qps == 2000);
	assert_int_equal(o.kube_api_burst, 2000);
	assert_int_equal(o.gate_workers, 5);
	assert_int_equal(o.reservation_timeout, 1800 * CLOCK_NS_PER_S);
	assert_int_equal(o.lease_duration, 15 * CLOCK_NS_PER_S);
	assert_true(o.leader_elect && o.gates_admission && o.gate_sticky && o.controller_podgroup &&
		    o.controller_queue);
	assert_false(o.controller_workload);
	options_finish(&o);
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
	assert_int_equal(o.scheduler_name_count, 2);
	assert_string_equal(o.scheduler_names[1], "b");
	assert_false(o.leader_elect);
	assert_int_equal(o.verbosity, 4);
	assert_true(o.kube_api_qps == 0);
	assert_true(o.controller_podgroup && o.controller_workload && o.controller_cost);
	assert_false(o.controller_queue);
	assert_false(o.gates_admission || o.gate_sticky);
	assert_int_equal(o.reservation_timeout, 5400 * CLOCK_NS_PER_S);
	assert_int_equal(o.ignored_count, 2);
	options_finish(&o);
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
		{ "--logging-format=xml", "--logging-format" },
		{ "--leader-elect-retry-period=20s", "retry period" },
		{ "--leader-elect-renew-deadline=14500ms", "1 s or more below" },
		{ "--scheduler-name=", "--scheduler-name" },
		{ "--nonsense", "flag" },
		{ "stray", "stray" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *const args[] = { rows[i].arg, NULL };
		struct sched_options o;
		struct err err = ERR_INIT;

		assert_int_equal(parse(args, &o, &err), -ERR_INVALID);
		assert_non_null(strstr(err.text, rows[i].says));
	}
}

static void test_too_many_names(void **state)
{
	const char *args[OPTIONS_MAX_NAMES + 2];
	struct sched_options o;

	(void)state;
	for (size_t i = 0; i <= OPTIONS_MAX_NAMES; i++) {
		args[i] = "--scheduler-name=x";
	}
	args[OPTIONS_MAX_NAMES + 1] = NULL;
	assert_int_equal(parse(args, &o, NULL), -ERR_INVALID);
	args[OPTIONS_MAX_NAMES] = NULL;
	assert_int_equal(parse(args, &o, NULL), 0);
	options_finish(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_are_volcanos),
		cmocka_unit_test(test_spellings_of_go_programs),
		cmocka_unit_test(test_mistakes_are_named),
		cmocka_unit_test(test_too_many_names),
	};

	return cmocka_run_group_tests_name("app/options", tests, NULL, NULL);
}
