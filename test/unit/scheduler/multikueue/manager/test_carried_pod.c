/* Pods: how the status of the local one follows that of the remote one, and the bodies. */
#include "scheduler/multikueue/manager/carried_pod.h"

#include "lib/unit.h"

#include <string.h>

#include "api/core/pod.h"
#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/decode_fixture.h"
#include "scheduler/multikueue/manager/replica_body.h"
#include "unit/scheduler/multikueue/manager/body_fixture.h"

#define KIND carried_pod_kind
#define GATES "'schedulingGates':[{'name':'kueue.x-k8s.io/admission'}]"
#define GATED                                                                                      \
	"{'type':'PodScheduled','status':'False','reason':'SchedulingGated','message':"            \
	"'Scheduling is blocked due to non-empty scheduling gates'}"
#define TO_STOP "'conditions':[{'type':'TerminationTarget','status':'True'}]"
#define DELETED "'deletionTimestamp':'2026-01-01T00:00:00Z'"

static void refusals(void **state UNUSED)
{
	static const struct {
		const char *name, *pod;
		bool refused;
	} rows[] = {
		{ "gated", "{'metadata':{'name':'p'},'spec':{" GATES "}}", false },
		{ "let go", "{'metadata':{'name':'p'}}", true },
		{ "another gate", "{'spec':{'schedulingGates':[{'name':'x'}]}}", true },
		{ "let go, and has ended", "{'status':{'phase':'Succeeded'}}", false },
		{ "let go, and is deleted", "{'metadata':{" DELETED "}}", false },
	};
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct api_pod pod;
		const char *why;

		unit_row(rows[i].name);
		decode_fixture(&pod_fields, rows[i].pod, &pod);
		pod.meta.name = "p";
		why = KIND.refusal(&pod, arena);
		assert_int_equal(why != NULL, rows[i].refused);
		assert_true(why == NULL ||
			    strcmp(why, "Pod \"p\" has no scheduling gate "
					"\"kueue.x-k8s.io/admission\": it may run on this "
					"cluster") == 0);
	}
}

/* The pod, and its digest. */
static struct carried_object object_of(const char *text, struct api_pod *pod)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = body_fixture(text);

	decode_fixture(&pod_fields, text, pod);
	return (struct carried_object){ .object = pod,
					.meta = &pod->meta,
					.digest = KIND.digest(d) };
}

static void what_is_due(void **state UNUSED)
{
	static const struct {
		const char *name, *local, *remote;
		enum carried_due want;
	} rows[] = {
		{ "it runs", "{'status':{'phase':'Pending'}}", "{'status':{'phase':'Running'}}",
		  CARRIED_DUE_STATUS },
		{ "it runs, and says so", "{'status':{'phase':'Running'}}",
		  "{'status':{'phase':'Running'}}", CARRIED_DUE_NOTHING },
		{ "members that no table knows",
		  "{'status':{'containerStatuses':[{'name':'c','restartCount':0}]}}",
		  "{'status':{'containerStatuses':[{'name':'c','restartCount':1}]}}",
		  CARRIED_DUE_STATUS },
		{ "what is of each cluster alone", "{'status':{'qosClass':'Burstable'}}",
		  "{'status':{'nominatedNodeName':'n','resourceClaimStatuses':[{}],'qosClass':"
		  "'BestEffort','observedGeneration':4,'extendedResourceClaimStatus':{}}}",
		  CARRIED_DUE_NOTHING },
		{ "it waits for a node there", "{'status':{'conditions':[" GATED "]}}",
		  "{'status':{'conditions':[{'type':'PodScheduled','status':'False','reason':"
		  "'Unschedulable'}]}}",
		  CARRIED_DUE_NOTHING },
		{ "it has a node there", "{'status':{'conditions':[" GATED "]}}",
		  "{'status':{'conditions':[{'type':'PodScheduled','status':'True'}]}}",
		  CARRIED_DUE_STATUS },
		{ "it had a node on another worker",
		  "{'status':{'conditions':[{'type':'PodScheduled','status':'True'}]}}",
		  "{'status':{'conditions':[" GATED "]}}", CARRIED_DUE_STATUS },
		{ "it failed", "{'status':{'phase':'Running'}}", "{'status':{'phase':'Failed'}}",
		  CARRIED_DUE_STATUS },
		{ "its worker has stopped it", "{'status':{'phase':'Running'}}",
		  "{'status':{'phase':'Failed'," TO_STOP "}}", CARRIED_DUE_NOTHING },
		{ "it was deleted there", "{'status':{'phase':'Running'}}",
		  "{'metadata':{" DELETED "},'status':{'phase':'Failed'}}", CARRIED_DUE_NOTHING },
		{ "it succeeded before that", "{'status':{'phase':'Running'}}",
		  "{'metadata':{" DELETED "},'status':{'phase':'Succeeded'," TO_STOP "}}",
		  CARRIED_DUE_STATUS },
		{ "the local one is deleted", "{'metadata':{" DELETED "}}",
		  "{'status':{'phase':'Running'}}", CARRIED_DUE_NOTHING },
		{ "the local one has ended", "{'status':{'phase':'Failed'}}",
		  "{'status':{'phase':'Running'}}", CARRIED_DUE_NOTHING },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct api_pod here, there;
		struct carried_object local = object_of(rows[i].local, &here);
		struct carried_object remote = object_of(rows[i].remote, &there);

		unit_row(rows[i].name);
		assert_int_equal(KIND.due(&local, &remote), rows[i].want);
	}
}

static void states(void **state UNUSED)
{
	static const struct {
		const char *phase;
		bool active, ended;
	} rows[] = { { "Pending", false, false },
		     { "Running", true, false },
		     { "Succeeded", false, true },
		     { "Failed", false, true } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct api_pod pod = { .status.phase = rows[i].phase };

		unit_row(rows[i].phase);
		assert_int_equal(KIND.is_active(&pod), rows[i].active);
		assert_int_equal(KIND.has_ended(&pod), rows[i].ended);
		assert_int_equal(KIND.is_ending(&pod), rows[i].ended);
	}
}

#define META "{'metadata':{'uid':'u','resourceVersion':'7'}"
#define OF_SPEC(spec, status)                                                                      \
	"{'metadata':{'name':'p','uid':'u','resourceVersion':'7'},'spec':{" spec                   \
	"},'status':{" status "}}"
#define OF(status) OF_SPEC("'restartPolicy':'Never'", status)
#define ENDED(code)                                                                                \
	"'containerStatuses':[{'name':'c','state':{'terminated':{'exitCode':" code "}}}]"
#define RUNS "'containerStatuses':[{'name':'c','state':{'running':{}}}]"

static void copies(void **state UNUSED)
{
	static const struct {
		const char *name, *local, *remote, *want;
	} rows[] = {
		{ "it runs",
		  OF("'phase':'Pending','qosClass':'Burstable','conditions':[" GATED "]"),
		  OF("'phase':'Running','qosClass':'BestEffort','podIP':'10.0.0.1','conditions':[{"
		     "'type':'PodScheduled','status':'True'}]"),
		  META ",'status':{'phase':'Running','podIP':'10.0.0.1','conditions':[{"
		       "'type':'PodScheduled','status':'True'}]}}" },
		{ "it waits for a node there", OF("'conditions':[" GATED "]"),
		  OF("'phase':'Pending','nominatedNodeName':'n','conditions':[{'type':'a'},{"
		     "'type':'PodScheduled','status':'False','reason':'Unschedulable'}]"),
		  META ",'status':{'phase':'Pending','conditions':[{'type':'a'}," GATED "]}}" },
		{ "the same, after it had one on another worker",
		  OF("'conditions':[{'type':'PodScheduled','status':'True'}]"),
		  OF("'phase':'Pending'"),
		  META ",'status':{'phase':'Pending','conditions':[" GATED "]}}" },
		{ "a container runs again, which the API server refuses",
		  OF("'phase':'Running','podIP':'10.0.0.1'," ENDED("0")),
		  OF("'phase':'Running'," RUNS),
		  META ",'status':{'phase':'Pending','podIP':null,'containerStatuses':null,"
		       "'conditions':[" GATED "]}}" },
		{ "it may after a failure",
		  OF_SPEC("'restartPolicy':'OnFailure'", "'conditions':[" GATED "]," ENDED("1")),
		  OF(RUNS), META ",'status':{" RUNS "}}" },
		{ "but not after success",
		  OF_SPEC("'restartPolicy':'OnFailure'", "'conditions':[" GATED "]," ENDED("0")),
		  OF(RUNS), META ",'status':{'phase':'Pending','containerStatuses':null}}" },
		{ "it always may",
		  OF_SPEC("'restartPolicy':'Always'", "'conditions':[" GATED "]," ENDED("0")),
		  OF(RUNS), META ",'status':{" RUNS "}}" },
		{ "a status that is none", OF("'conditions':[" GATED "]"), "{'status':[1]}",
		  META ",'status':{}}" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		CLEANUP(jdoc_destroyp) struct jdoc *local = body_fixture(rows[i].local);
		CLEANUP(jdoc_destroyp) struct jdoc *remote = body_fixture(rows[i].remote);

		unit_row(rows[i].name);
		KIND.sync(local, remote, CARRIED_DUE_STATUS, 0, &body);
		body_fixture_expect(&body, rows[i].want);
	}
}

static void resets(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp)
	struct jdoc *local =
		body_fixture(OF("'phase':'Running','qosClass':'Burstable','startTime':'t',"
				"'conditions':[{'type':'Ready','status':'True'}]," RUNS));

	KIND.reset(local, &body);
	body_fixture_expect(&body, META ",'status':{'phase':'Pending','startTime':null,"
					"'containerStatuses':null,'conditions':[" GATED "]}}");
}

static void remote_pods(void **state UNUSED)
{
	static const struct replica_body_manager by = { "m", "c1" };
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *workload = body_fixture("{'metadata':{'name':'g'}}");
	CLEANUP(jdoc_destroyp)
	struct jdoc *local = body_fixture(
		"{'metadata':{'name':'p','namespace':'ns','uid':'u','resourceVersion':'7',"
		"'finalizers':['kueue.x-k8s.io/managed'],'ownerReferences':[{}],'labels':{"
		"'kueue.x-k8s.io/pod-group-name':'g'},'annotations':{"
		"'kueue.x-k8s.io/pod-group-total-count':'2'}},'spec':{" GATES
		",'priority':5,'preemptionPolicy':'Never','priorityClassName':'high',"
		"'containers':[{'name':'c','later':1}]},'status':{'phase':'Pending'}}");

	KIND.create(local, workload, &by, &body);
	body_fixture_expect(
		&body, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'ns',"
		       "'labels':{'kueue.x-k8s.io/pod-group-name':'g',"
		       "'kueue.x-k8s.io/multikueue-origin':'m',"
		       "'kueue.x-k8s.io/prebuilt-workload-name':'g'},"
		       "'annotations':{'kueue.x-k8s.io/pod-group-total-count':'2',"
		       "'headgate.io/multikueue-uid':'u','headgate.io/multikueue-manager':'c1',"
		       "'kueue.x-k8s.io/prebuilt-workload-name':'g'}},'spec':{" GATES
		       ",'priorityClassName':'high','containers':[{'name':'c','later':1}]}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals), cmocka_unit_test(what_is_due),
		cmocka_unit_test(states),   cmocka_unit_test(copies),
		cmocka_unit_test(resets),   cmocka_unit_test(remote_pods),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
