/* The writes to the status of the local Workload. */
#include "scheduler/multikueue/manager/local_body.h"

#include "lib/unit.h"

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "scheduler/multikueue/manager/manager.h"
#include "unit/scheduler/multikueue/manager/body_fixture.h"

#define NOW (INT64_C(1800000000) * CLOCK_NS_PER_S)
#define META "'metadata':{'name':'w','namespace':'ns','uid':'u','resourceVersion':'7'"
#define OF(status) "{" META ",'labels':{'a':'b'}},'spec':{'x':1},'status':{" status "}}"
#define WANT(status)                                                                               \
	"{'apiVersion':'kueue.x-k8s.io/v1beta2','kind':'Workload'," META "},'status':{" status "}" \
	"}"
#define CHECK(state, more)                                                                         \
	"'admissionChecks':[{'name':'other','state':'Ready','later':1},{'name':'mk','state':"      \
	"'" state "'" more "}]"

static void expect(const char *local_text, const struct manager_action *a, const char *cluster,
		   const char *want)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *local = body_fixture(local_text);

	local_body_admission(&(struct local_body){ local, "mk", cluster, NOW }, a, &body);
	body_fixture_expect(&body, want);
}

#define KEPT                                                                                       \
	"'admission':{'clusterQueue':'q','podSetAssignments':[{'name':'main','later':1}]},"        \
	"'requeueState':{'count':1},'resourceRequests':[{'name':'main'}],"                         \
	"'accumulatedPastExecutionTimeSeconds':4,'schedulingStats':{'evictions':[]},"              \
	"'unhealthyNodes':[{'name':'n'}],'preemptionGates':[{'name':'g','position':'Open'}]"
#define CONDITIONS                                                                                 \
	"{'type':'QuotaReserved','later':1},{'type':'BlockedOnPreemptionGates'},"                  \
	"{'type':'PreemptionBlocked'},{'type':'QuotaReservationBlocked'},{'type':'Evicted'},"      \
	"{'type':'Admitted'},{'type':'Preempted'},{'type':'Requeued'},"                            \
	"{'type':'DeactivationTarget'},{'type':'Finished'},{'type':'PodsReady'}"

/* An apply that left one of these out would remove it. Members of others are not taken over. */
static void all_that_the_core_keeps_is_there(void **state)
{
	static const char *const names[] = { "w1", "w2" };
	const struct manager_action a = { .act = MANAGER_NOMINATE, .names = { names, 2 } };

	(void)state;
	expect(OF(KEPT ",'reclaimablePods':[{'name':'main','count':1}],'preemptionCost':'3',"
		       "'conditions':[" CONDITIONS ",{'type':'WaitingForReplacementPods'},"
		       "{'type':'other.io/Condition'}]," CHECK("Pending", "")),
	       &a, NULL,
	       WANT(KEPT ",'conditions':[" CONDITIONS
			 "]," CHECK("Pending", "") ",'nominatedClusterNames':['w1','w2']"));
}

static void nominations(void **state)
{
	static const char *const names[] = { "w3" };
	static const struct {
		const char *name, *local;
		size_t n;
		const char *want;
	} rows[] = {
		{ "the first", "", 1, "'nominatedClusterNames':['w3']" },
		{ "in place of others", "'nominatedClusterNames':['w1']", 1,
		  "'nominatedClusterNames':['w3']" },
		{ "none", "'nominatedClusterNames':['w1']", 0, "'nominatedClusterNames':[]" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf local = STRBUF_INIT;
		CLEANUP(strbuf_finish) struct strbuf want = STRBUF_INIT;
		const struct manager_action a = { .act = MANAGER_NOMINATE,
						  .names = { names, rows[i].n } };

		unit_row(rows[i].name);
		strbuf_printf(&local, "{" META "},'status':{%s}}", rows[i].local);
		strbuf_printf(&want,
			      "{'apiVersion':'kueue.x-k8s.io/v1beta2','kind':'Workload'," META
			      "},'status':{%s}}",
			      rows[i].want);
		expect(local.p, &a, NULL, want.p);
	}
}

/* The list of nominations is emptied, not left out: an external dispatcher may own it, and the API
 * server refuses a clusterName beside it. */
static void winners(void **state)
{
	static const char *const names[] = { "b", "gone" };
	const struct manager_action a = { .act = MANAGER_SET_CLUSTER,
					  .message = "m",
					  .names = { names, 2 } };

	(void)state;
	expect(OF("'nominatedClusterNames':['w1','w2'],'admission':{'podSetAssignments':["
		  "{'name':'a','delayedTopologyRequest':'Pending'},"
		  "{'name':'b','delayedTopologyRequest':'Pending'}]}," CHECK("Pending", "")),
	       &a, "w2",
	       WANT("'clusterName':'w2','nominatedClusterNames':[],"
		    "'admission':{'podSetAssignments':["
		    "{'name':'a','delayedTopologyRequest':'Pending'},"
		    "{'name':'b','delayedTopologyRequest':'Ready'}]}," CHECK(
			    "Ready",
			    ",'message':'m','lastTransitionTime':'2027-01-15T08:00:00Z'")));
}

static void check_states(void **state)
{
	static const struct {
		const char *name, *before, *state;
		int32_t requeue_after;
		const char *after;
	} rows[] = {
		{ "to another state", "'state':'Ready','lastTransitionTime':'t','retryCount':2",
		  "Retry", 0,
		  "'state':'Retry','message':'m','lastTransitionTime':'2027-01-15T08:00:00Z',"
		  "'retryCount':2" },
		{ "the message alone", "'state':'Ready','message':'x','lastTransitionTime':'t'",
		  "Ready", 0, "'state':'Ready','message':'m','lastTransitionTime':'t'" },
		{ "with a pause",
		  "'state':'Ready','requeueAfterSeconds':5,'podSetUpdates':[{'name':'main'}]",
		  "Retry", 40,
		  "'state':'Retry','message':'m','lastTransitionTime':'2027-01-15T08:00:00Z',"
		  "'requeueAfterSeconds':40" },
		{ "without one", "'state':'Ready','requeueAfterSeconds':5", "Retry", 0,
		  "'state':'Retry','message':'m','lastTransitionTime':'2027-01-15T08:00:00Z'" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf local = STRBUF_INIT;
		CLEANUP(strbuf_finish) struct strbuf want = STRBUF_INIT;
		const struct manager_action a = { .act = MANAGER_SET_CHECK,
						  .state = rows[i].state,
						  .message = "m",
						  .requeue_after = rows[i].requeue_after };

		unit_row(rows[i].name);
		strbuf_printf(&local,
			      "{" META "},'status':{'clusterName':'w1',"
			      "'nominatedClusterNames':['w2'],'admissionChecks':[{'name':'mk',%s},"
			      "{'name':'other','state':'Ready'}]}}",
			      rows[i].before);
		strbuf_printf(&want,
			      "{'apiVersion':'kueue.x-k8s.io/v1beta2','kind':'Workload'," META
			      "},'status':{'clusterName':'w1','nominatedClusterNames':['w2'],"
			      "'admissionChecks':[{'name':'mk',%s},{'name':'other',"
			      "'state':'Ready'}]}}",
			      rows[i].after);
		expect(local.p, &a, NULL, want.p);
	}
}

/* Only the core adds entries, for the checks of its queues. */
static void a_check_that_is_not_there(void **state)
{
	const struct manager_action a = { .act = MANAGER_SET_CHECK,
					  .state = KUEUE_CHECK_RETRY,
					  .message = "m" };

	(void)state;
	expect(OF("'admissionChecks':[{'name':'other','state':'Ready'}]"), &a, NULL,
	       WANT("'admissionChecks':[{'name':'other','state':'Ready'}]"));
}

/* The condition alone, so that nothing else changes its owner; texts of a worker as a condition
 * takes them. */
static void finishes(void **state)
{
	static const struct {
		const char *name, *reason, *message, *want_reason, *want_message;
	} rows[] = {
		{ "as the worker says", "Succeeded", "Job finished", "Succeeded", "Job finished" },
		{ "without texts", NULL, NULL, "Unknown", "" },
		{ "a reason that is none", "no reason!", "m", "Unknown", "m" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		CLEANUP(strbuf_finish) struct strbuf want = STRBUF_INIT;
		CLEANUP(jdoc_destroyp)
		struct jdoc *local = body_fixture(OF(KEPT ",'conditions':[" CONDITIONS "]"));
		const struct manager_action a = { .act = MANAGER_FINISH,
						  .reason = rows[i].reason,
						  .message = rows[i].message };

		unit_row(rows[i].name);
		local_body_finished(&(struct local_body){ local, "mk", NULL, NOW }, &a, &body);
		strbuf_printf(&want,
			      "{'apiVersion':'kueue.x-k8s.io/v1beta2','kind':'Workload'," META
			      "},'status':{'conditions':[{'type':'Finished','status':'True',"
			      "'reason':'%s','message':'%s',"
			      "'lastTransitionTime':'2027-01-15T08:00:00Z'}]}}",
			      rows[i].want_reason, rows[i].want_message);
		body_fixture_expect(&body, want.p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_the_core_keeps_is_there),
		cmocka_unit_test(nominations),
		cmocka_unit_test(winners),
		cmocka_unit_test(check_states),
		cmocka_unit_test(a_check_that_is_not_there),
		cmocka_unit_test(finishes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
