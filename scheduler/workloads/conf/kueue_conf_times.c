#include "scheduler/workloads/conf/kueue_conf_times.h"

#include "base/clock.h"
#include "base/err.h"
#include "enc/json/jdoc.h"

#define STRATEGY "waitForPodsReady.requeuingStrategy"

static int read_duration(const struct jdoc *d, const char *path, int64_t *ret, struct err *err)
{
	const struct jdoc *at = jdoc_path(d, path);

	if (jdoc_kind(at) == JDOC_NULL) {
		return 0;
	}
	if (clock_parse_duration(str_of(jdoc_str_or(at, "?")), ret) < 0) {
		return err_set(err, ERR_INVALID, "%s: not a duration like 5m", path);
	}
	return 0;
}

/* A number that is not negative; absent: *ret stays. */
static int read_count(const struct jdoc *d, const char *path, int32_t *ret, struct err *err)
{
	const struct jdoc *at = jdoc_path(d, path);
	int64_t n = jdoc_int(at, -1);

	if (jdoc_kind(at) == JDOC_NULL) {
		return 0;
	}
	if (n < 0 || n > INT32_MAX) {
		return err_set(err, ERR_INVALID, "%s: must be a whole number, not negative", path);
	}
	*ret = (int32_t)n;
	return 0;
}

int kueue_conf_times_read(const struct jdoc *d, struct quota_times *ret, struct err *err)
{
	const struct jdoc *gates = jdoc_get(d, "featureGates");
	struct quota_times t = {
		.wait_pods_ready = !jdoc_bool(jdoc_get(gates, "DisableWaitForPodsReady"), false),
		.ready_ns = 1800 * CLOCK_NS_PER_S,
		.recovery_ns = -1,
		.backoff_limit = -1,
		.keep_finished_ns = -1,
		.keep_deactivated_ns = -1,
		.explicit_status =
			jdoc_bool(jdoc_get(gates, "UnadmittedWorkloadsExplicitStatus"), false),
	};
	int32_t base = 60, max = 3600;
	int r = read_duration(d, "waitForPodsReady.timeout", &t.ready_ns, err);

	if (r == 0) {
		r = read_duration(d, "waitForPodsReady.recoveryTimeout", &t.recovery_ns, err);
	}
	if (r == 0) {
		r = read_duration(d, "objectRetentionPolicies.workloads.afterFinished",
				  &t.keep_finished_ns, err);
	}
	if (r == 0) {
		r = read_duration(d, "objectRetentionPolicies.workloads.afterDeactivatedByKueue",
				  &t.keep_deactivated_ns, err);
	}
	if (r == 0) {
		r = read_count(d, STRATEGY ".backoffBaseSeconds", &base, err);
	}
	if (r == 0) {
		r = read_count(d, STRATEGY ".backoffMaxSeconds", &max, err);
	}
	if (r == 0) {
		r = read_count(d, STRATEGY ".backoffLimitCount", &t.backoff_limit, err);
	}
	if (r < 0) {
		return r;
	}
	t.recovery_ns = t.recovery_ns < 0 ? t.ready_ns : t.recovery_ns;
	t.backoff_base_ns = base * CLOCK_NS_PER_S;
	t.backoff_max_ns = max * CLOCK_NS_PER_S;
	*ret = t;
	return 0;
}
