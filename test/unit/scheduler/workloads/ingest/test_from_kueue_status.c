#include "scheduler/workloads/ingest/from_kueue.h"

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "lib/unit.h"
#include "lib/workload_cache_fixture.h"
#include "scheduler/workloads/model/quota_store.h"

static const char full[] =
	"\"conditions\":[{\"type\":\"Evicted\",\"status\":\"True\",\"reason\":\"AdmissionCheck\","
	"\"message\":\"e\",\"lastTransitionTime\":\"2023-01-02T00:00:00Z\","
	"\"observedGeneration\":4},{\"type\":\"Foreign\",\"status\":\"Unknown\"}],"
	"\"admission\":{\"clusterQueue\":\"team\",\"podSetAssignments\":[{\"name\":\"main\","
	"\"flavors\":{\"memory\":\"default\",\"cpu\":\"default\"},\"resourceUsage\":{"
	"\"memory\":\"1Gi\",\"cpu\":\"1500m\"},\"count\":3}]},"
	"\"requeueState\":{\"count\":2,\"requeueAt\":\"2023-01-03T00:00:00Z\"},"
	"\"admissionChecks\":[{\"name\":\"c\",\"state\":\"Retry\",\"message\":\"x\","
	"\"lastTransitionTime\":\"2023-01-02T00:00:00Z\",\"retryCount\":3,"
	"\"requeueAfterSeconds\":7,\"podSetUpdates\":[{\"name\":\"main\"}]}],"
	"\"resourceRequests\":[{\"name\":\"main\",\"resources\":{\"cpu\":\"2\"}}],"
	"\"accumulatedPastExecutionTimeSeconds\":11,"
	"\"schedulingStats\":{\"evictions\":[{\"reason\":\"Preempted\",\"underlyingCause\":\"\","
	"\"count\":5}]},"
	"\"preemptionGates\":[{\"name\":\"g\",\"position\":\"Open\",\"lastTransitionTime\":"
	"\"2023-01-02T00:00:00Z\"}]";

static const struct workload_status *read(struct workload_cache_fixture *f, const char *status)
{
	workload_cache_fixture_init(f);
	workload_cache_fixture_world(f);
	workload_cache_fixture_workload(f, "one", 0, "2", status);
	return workload_cache_status(f->cache, workload_cache_fixture_get(f, "one"));
}

static void everything_of_this_manager_is_kept(void **state)
{
	struct workload_cache_fixture f;
	const struct workload_status *status = read(&f, full);
	const struct workload_status_podset *p;

	(void)state;
	assert_int_equal(status->conditions.n, 2);
	assert_string_equal(status->conditions.v[0].reason, "AdmissionCheck");
	assert_int_equal(status->conditions.v[0].generation, 4);
	assert_true(status->has_admission);
	assert_string_equal(status->queue, "team");
	p = &status->podsets.v[0];
	assert_int_equal(p->count, 3);
	assert_int_equal(p->n, 2);
	/* By id of the resource, however the object orders them. */
	assert_true(p->v[0].resource < p->v[1].resource);
	for (size_t i = 0; i < p->n; i++) {
		const char *name =
			quota_resource_name(workload_cache_model(f.cache), p->v[i].resource);

		assert_string_equal(p->v[i].flavor, "default");
		assert_int_equal(p->v[i].amount, str_streq(name, "cpu") ? 1500 : 1 << 30);
	}
	assert_int_equal(status->requests.v[0].v[0].amount, 2000);
	assert_true(status->has_requeue_count && status->requeue_count == 2);
	assert_true(status->has_requeue_at &&
		    status->requeue_at == INT64_C(1672704000) * 1000000000);
	assert_true(status->has_past_seconds && status->past_seconds == 11);
	assert_int_equal(status->checks.v[0].state, QUOTA_CHECK_RETRY);
	assert_int_equal(status->checks.v[0].retries, 3);
	assert_true(status->checks.v[0].has_updates);
	assert_int_equal(status->checks.v[0].requeue_after, 7);
	assert_int_equal(status->evictions.v[0].count, 5);
	assert_true(status->gates.v[0].open);
	workload_cache_fixture_finish(&f);
}

static void absence_is_kept(void **state)
{
	struct workload_cache_fixture f;
	const struct workload_status *status = read(&f, "");

	(void)state;
	assert_int_equal(
		status->conditions.n + status->checks.n + status->gates.n + status->evictions.n, 0);
	assert_int_equal(status->podsets.n + status->requests.n, 0);
	assert_false(status->has_admission || status->has_requeue_count || status->has_requeue_at ||
		     status->has_past_seconds);
	assert_null(status->queue);
	workload_cache_fixture_finish(&f);
}

static void states_of_checks_and_gates_have_their_names(void **state)
{
	static const struct {
		const char *text;
		enum quota_check_state state;
	} checks[] = {
		{ "Pending", QUOTA_CHECK_PENDING },   { "Ready", QUOTA_CHECK_READY },
		{ "Retry", QUOTA_CHECK_RETRY },       { "Rejected", QUOTA_CHECK_REJECTED },
		{ "Something", QUOTA_CHECK_PENDING },
	};
	static const struct {
		const char *text;
		bool open;
	} gates[] = {
		{ "", false },
		{ ",\"position\":\"Open\"", true },
		{ ",\"position\":\"Closed\"", false },
		{ ",\"state\":\"Open\"", true },
		{ ",\"position\":\"Closed\",\"state\":\"Open\"", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
		CLEANUP(xmalloc_freep)
		char *text = xmalloc_printf(
			"\"admissionChecks\":[{\"name\":\"c\",\"state\":\"%s\"}]", checks[i].text);
		struct workload_cache_fixture f;

		assert_int_equal(read(&f, text)->checks.v[0].state, checks[i].state);
		workload_cache_fixture_finish(&f);
	}
	for (size_t i = 0; i < ARRAY_LEN(gates); i++) {
		CLEANUP(xmalloc_freep)
		char *text =
			xmalloc_printf("\"preemptionGates\":[{\"name\":\"g\"%s}]", gates[i].text);
		struct workload_cache_fixture f;

		assert_int_equal(read(&f, text)->gates.v[0].open, gates[i].open);
		workload_cache_fixture_finish(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_of_this_manager_is_kept),
		cmocka_unit_test(absence_is_kept),
		cmocka_unit_test(states_of_checks_and_gates_have_their_names),
	};

	return cmocka_run_group_tests_name("workloads/ingest/from_kueue_status", tests, NULL, NULL);
}
