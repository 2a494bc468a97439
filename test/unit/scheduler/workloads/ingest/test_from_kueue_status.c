#include "scheduler/workloads/ingest/from_kueue_priv.h"

#include <stdio.h>

#include "api/kueue_workload.h"
#include "base/attrs.h"
#include "lib/decode_fixture.h"
#include "lib/unit.h"

#define AT(second) "2026-01-15T10:00:" second "Z"
#define TEN INT64_C(1768471200000000000)

static struct workload read(const char *status)
{
	struct api_workload aw;
	struct workload w = { .reserved_at = MODEL_TIME_NONE };
	char text[600];

	(void)snprintf(text, sizeof(text), "{'status':{%s}}", status);
	decode_fixture(&kueue_workload_fields, text, &aw);
	from_kueue_status(&aw.status, &w);
	return w;
}

#define CONDITION(type, status, reason)                                                            \
	"'conditions':[{'type':'" type "','status':'" status "','reason':'" reason                 \
	"','lastTransitionTime':'" AT("05") "'}]"

static void test_conditions(void **state)
{
	struct workload w;

	(void)state;
	w = read(CONDITION("Evicted", "True", "PodsReadyTimeout"));
	assert_true(w.evicted && w.evicted_by_timeout && !w.evicted_by_check);
	assert_int_equal(w.evicted_at, TEN + INT64_C(5000000000));
	w = read(CONDITION("Evicted", "True", "AdmissionCheck"));
	assert_true(w.evicted && w.evicted_by_check && !w.evicted_by_timeout);
	w = read(CONDITION("Evicted", "False", "AdmissionCheck"));
	assert_false(w.evicted || w.evicted_by_check);
	w = read(CONDITION("Preempted", "True", "InCohortReclaimWhileBorrowing"));
	assert_true(w.reclaimed_while_borrowing);
	assert_int_equal(w.preempted_at, TEN + INT64_C(5000000000));
	w = read(CONDITION("Preempted", "True", "InCohortReclamation"));
	assert_false(w.reclaimed_while_borrowing);
	w = read(CONDITION("QuotaReserved", "True", "OnHold"));
	assert_int_equal(w.reserved_at, TEN + INT64_C(5000000000));
	assert_false(w.on_hold);
	w = read(CONDITION("QuotaReserved", "False", "OnHold"));
	assert_true(w.on_hold);
	assert_int_equal(w.reserved_at, MODEL_TIME_NONE);
	assert_true(read(CONDITION("Finished", "True", "Succeeded")).finished);
	assert_true(read(CONDITION("Admitted", "True", "Admitted")).admitted);
	assert_true(read(CONDITION("Requeued", "False", "Preempted")).requeued_false);
	assert_false(read(CONDITION("Requeued", "True", "Preempted")).requeued_false);
	assert_true(read(CONDITION("WaitingForReplacementPods", "True", "x")).waits_replacement);
}

static void test_the_rest(void **state)
{
	struct workload w;

	(void)state;
	w = read("");
	assert_false(w.check_blocks || w.has_cost || w.finished || w.evicted);
	assert_true(
		read("'admissionChecks':[{'name':'a','state':'Ready'},{'name':'b','state':'Retry'}"
		     "]")
			.check_blocks);
	assert_true(read("'admissionChecks':[{'name':'b','state':'Rejected'}]").check_blocks);
	assert_false(read("'admissionChecks':[{'name':'b','state':'Pending'}]").check_blocks);
	assert_int_equal(read("'requeueState':{'count':1,'requeueAt':'" AT("00") "'}").requeue_at,
			 TEN);
	w = read("'preemptionCost':'1500m'");
	assert_true(w.has_cost && w.cost == INT64_C(1500000000));
	assert_int_equal(w.preemptions, 0);
	w = read("'schedulingStats':{'evictions':[{'reason':'Preempted','underlyingCause':'',"
		 "'count':2},{'reason':'PodsReadyTimeout','underlyingCause':'','count':7}]}");
	assert_int_equal(w.preemptions, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_the_rest),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
