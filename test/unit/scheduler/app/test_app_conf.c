#include "scheduler/app/app_conf.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "lib/unit.h"
#include "process/file.h"
#include "process/log.h"
#include "scheduler/app/options.h"
#include "scheduler/multikueue/fleet/fleet.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/workloads/conf/kueue_conf.h"

static void write_file(char *path, size_t size, const char *text)
{
	snprintf(path, size, "/tmp/headgate-conf-%d", (int)getpid());
	assert_int_equal(file_write_atomic(path, str_of(text), 0600, NULL), 0);
}

static void flags_decide_for_the_core(void **state)
{
	struct sched_options o = { .daemon.gates.queue_admission = true,
				   .gate_sticky = false,
				   .reservation_timeout = 7,
				   .on_reservation_timeout = 1,
				   .default_queue = "main" };
	struct sched_conf *conf = NULL;

	(void)state;
	assert_int_equal(app_conf_load(&o, &conf, NULL), 0);
	assert_true(conf->gates_admission);
	assert_false(conf->gate_sticky);
	assert_int_equal(conf->reservation_timeout_ns, 7);
	assert_true(conf->overdue_deletes);
	assert_string_equal(conf->default_queue, "main");
	assert_true(conf->nplugins > 0);
	conf_destroy(conf);
}

static void add_log(struct str line, void *ctx)
{
	strbuf_add(ctx, line.p, line.len);
}

static void a_configuration_without_limits_is_warned_about(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf log = STRBUF_INIT;
	struct sched_options o = { .default_queue = "main" };
	struct sched_conf *conf = NULL;
	char path[64];

	(void)state;
	log_set_sink(add_log, &log);
	assert_int_equal(app_conf_load(&o, &conf, NULL), 0);
	conf_destroy(conf);
	assert_int_equal(log.len, 0);
	write_file(path, sizeof(path), "actions: allocate\ntiers: []\n");
	o.scheduler_conf = path;
	assert_int_equal(app_conf_load(&o, &conf, NULL), 0);
	conf_destroy(conf);
	log_set_sink(NULL, NULL);
	assert_int_equal(unlink(path), 0);
	assert_true(str_has_prefix(strbuf_str(&log), "W"));
	assert_non_null(strstr(log.p, path));
	assert_non_null(strstr(log.p, ":2: tiers: without capacity or proportion "));
}

static void configuration_of_the_workload_engine(void **state)
{
	struct kueue_conf *conf = NULL;
	struct err err = ERR_INIT;
	char path[64];

	(void)state;
	assert_int_equal(app_conf_quota("", &conf, NULL), 0);
	assert_false(conf->options.fair_sharing);
	kueue_conf_destroyp(&conf);
	write_file(path, sizeof(path),
		   "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
		   "fairSharing: {preemptionStrategies: [LessThanInitialShare]}\n");
	assert_int_equal(app_conf_quota(path, &conf, NULL), 0);
	assert_true(conf->options.fair_sharing);
	kueue_conf_destroyp(&conf);
	write_file(path, sizeof(path), "fairSharing: {strategies: []}\n");
	assert_int_equal(app_conf_quota(path, &conf, &err), -ERR_INVALID);
	assert_true(str_has_prefix(str_of(err.text), path));
	assert_true(str_has_suffix(str_of(err.text), ": fairSharing.strategies: unknown field"));
	write_file(path, sizeof(path), "a: [\n");
	assert_true(app_conf_quota(path, &conf, &err) < 0);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(unlink(path), 0);
	assert_true(app_conf_quota(path, &conf, &err) < 0);
}

static void configuration_of_the_fleet(void **state)
{
	static const struct {
		const char *text;
		bool manages, orchestrates, gated, pods;
		enum manager_dispatcher dispatcher;
		int64_t lost, gc;
	} rows[] = {
		{ "{}", false, true, false, false, MANAGER_ALL_AT_ONCE, 900, 60 },
		{ "{}", true, false, false, false, MANAGER_ALL_AT_ONCE, 900, 60 },
		{ "featureGates: {MultiKueueOrchestratedPreemption: true}\n"
		  "multiKueue: {gcInterval: 0s, workerLostTimeout: 10s, dispatcherName: "
		  "kueue.x-k8s.io/multikueue-dispatcher-incremental}\n",
		  true, true, true, false, MANAGER_INCREMENTAL, 10, 0 },
		{ "multiKueue: {dispatcherName: "
		  "kueue.x-k8s.io/multikueue-dispatcher-all-at-once}\n",
		  true, false, false, false, MANAGER_ALL_AT_ONCE, 900, 60 },
		{ "integrations: {frameworks: [batch/job, pod]}\n", true, false, false, true,
		  MANAGER_ALL_AT_ONCE, 900, 60 },
		{ "integrations: {frameworks: [batch/job, pod]}\n", false, true, false, false,
		  MANAGER_ALL_AT_ONCE, 900, 60 },
		{ "multiKueue: {dispatcherName: example.com/mine}\n", true, false, false, false,
		  MANAGER_EXTERNAL, 900, 60 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(kueue_conf_destroyp) struct kueue_conf *conf = NULL;
		struct fleet_options fo = { .manages = rows[i].manages };
		char path[64];

		unit_row_number(i);
		write_file(path, sizeof(path), rows[i].text);
		assert_int_equal(app_conf_quota(path, &conf, NULL), 0);
		assert_int_equal(unlink(path), 0);
		app_conf_fleet(conf, &fo);
		assert_string_equal(fo.origin, "multikueue");
		assert_true(fo.orchestrates == rows[i].orchestrates);
		assert_true(fo.manager.gated == rows[i].gated);
		assert_true(fo.carries_pods == rows[i].pods);
		assert_int_equal(fo.manager.dispatcher, rows[i].dispatcher);
		assert_int_equal(fo.manager.worker_lost_ns, rows[i].lost * CLOCK_NS_PER_S);
		assert_int_equal(fo.manager.step_size, 3);
		assert_int_equal(fo.gc_ns, rows[i].gc * CLOCK_NS_PER_S);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_decide_for_the_core),
		cmocka_unit_test(a_configuration_without_limits_is_warned_about),
		cmocka_unit_test(configuration_of_the_workload_engine),
		cmocka_unit_test(configuration_of_the_fleet),
	};

	return cmocka_run_group_tests_name("app/app_conf", tests, NULL, NULL);
}
