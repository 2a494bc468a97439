#include "scheduler/workloads/conf/kueue_conf_times.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"

#define S INT64_C(1000000000)

static int read_text(const char *text, struct quota_times *ret, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	assert_int_equal(yaml_parse(str_of(text), &d, NULL), 0);
	return kueue_conf_times_read(d, ret, err);
}

static void without_a_file_kueue_defaults_hold(void **state)
{
	struct quota_times t;

	(void)state;
	assert_int_equal(kueue_conf_times_read(NULL, &t, NULL), 0);
	assert_true(t.wait_pods_ready);
	assert_int_equal(t.ready_ns, 1800 * S);
	assert_int_equal(t.recovery_ns, 1800 * S);
	assert_int_equal(t.backoff_base_ns, 60 * S);
	assert_int_equal(t.backoff_max_ns, 3600 * S);
	assert_int_equal(t.backoff_limit, -1);
	assert_int_equal(t.keep_finished_ns, -1);
	assert_int_equal(t.keep_deactivated_ns, -1);
	assert_false(t.explicit_status);
}

static void everything_can_be_set(void **state)
{
	struct quota_times t;

	(void)state;
	assert_int_equal(read_text("waitForPodsReady: {timeout: 5m, recoveryTimeout: 3m,\n"
				   "  requeuingStrategy: {backoffBaseSeconds: 10,\n"
				   "    backoffMaxSeconds: 20, backoffLimitCount: 0}}\n"
				   "objectRetentionPolicies: {workloads: {afterFinished: 0s,\n"
				   "  afterDeactivatedByKueue: 1h}}\n"
				   "featureGates: {DisableWaitForPodsReady: true,\n"
				   "  UnadmittedWorkloadsExplicitStatus: true}\n",
				   &t, NULL),
			 0);
	assert_false(t.wait_pods_ready);
	assert_int_equal(t.ready_ns, 300 * S);
	assert_int_equal(t.recovery_ns, 180 * S);
	assert_int_equal(t.backoff_base_ns, 10 * S);
	assert_int_equal(t.backoff_max_ns, 20 * S);
	assert_int_equal(t.backoff_limit, 0);
	assert_int_equal(t.keep_finished_ns, 0);
	assert_int_equal(t.keep_deactivated_ns, 3600 * S);
	assert_true(t.explicit_status);
}

static void errors_name_the_field(void **state)
{
	static const struct {
		const char *text, *field;
	} cases[] = {
		{ "waitForPodsReady: {timeout: soon}", "waitForPodsReady.timeout" },
		{ "waitForPodsReady: {recoveryTimeout: 3}", "waitForPodsReady.recoveryTimeout" },
		{ "waitForPodsReady: {requeuingStrategy: {backoffLimitCount: -1}}",
		  "waitForPodsReady.requeuingStrategy.backoffLimitCount" },
		{ "waitForPodsReady: {requeuingStrategy: {backoffBaseSeconds: 1.5}}",
		  "waitForPodsReady.requeuingStrategy.backoffBaseSeconds" },
		{ "waitForPodsReady: {requeuingStrategy: {backoffMaxSeconds: 4294967296}}",
		  "waitForPodsReady.requeuingStrategy.backoffMaxSeconds" },
		{ "objectRetentionPolicies: {workloads: {afterFinished: x}}",
		  "objectRetentionPolicies.workloads.afterFinished" },
		{ "objectRetentionPolicies: {workloads: {afterDeactivatedByKueue: 5}}",
		  "objectRetentionPolicies.workloads.afterDeactivatedByKueue" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;
		struct quota_times t = { .ready_ns = 7 };

		assert_int_equal(read_text(cases[i].text, &t, &err), -ERR_INVALID);
		assert_true(str_has_prefix(str_of(err.text), cases[i].field));
		assert_int_equal(t.ready_ns, 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_file_kueue_defaults_hold),
		cmocka_unit_test(everything_can_be_set),
		cmocka_unit_test(errors_name_the_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
