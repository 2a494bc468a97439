/* How the status of the local Job follows that of the remote one: Kueue's cases of SyncJob, and the
 * bodies. */
#include "scheduler/multikueue/manager/mirror.h"

#include "lib/unit.h"

#include <stdio.h>

#include "api/core/batch.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/multikueue/manager/body_fixture.h"

#define C(type, status) "{'type':'" type "','status':'" status "'}"
#define SUSPENDED ",'suspend':true"
#define RUNS "'startTime':'2026-01-01T00:00:00Z','active':2"
#define DONE "'succeeded':2,'conditions':[" C("Complete", "True") "]"
#define FAILED "'failed':1,'conditions':[" C("Failed", "True") "]"

static void make(const char *spec, const char *status, struct api_job *ret)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "{'metadata':{'name':'j'},'spec':{'parallelism':2%s},"
		 "'status':{%s}}",
		 spec, status);
	decode_fixture(&batch_job_fields, text, ret);
}

static void what_is_due(void **state)
{
	static const struct {
		const char *name, *local_spec, *local, *remote_spec, *remote;
		enum mirror want;
	} rows[] = {
		{ "it begins", "", "", "", RUNS, MIRROR_STATUS },
		{ "it runs, and says so", "", RUNS, "", RUNS, MIRROR_NOTHING },
		{ "it completes", "", RUNS, "", DONE, MIRROR_STATUS },
		{ "it fails", "", RUNS, "", FAILED, MIRROR_STATUS },
		{ "it has completed, and says so", "", DONE, "", DONE, MIRROR_NOTHING },
		{ "nothing has begun", SUSPENDED, "", SUSPENDED, "", MIRROR_NOTHING },
		/* Kueue defers, and asks again after 2 s. */
		{ "it runs before the local one is resumed", SUSPENDED, "", "", RUNS,
		  MIRROR_SUSPENDED },
		{ "the same, with the condition", SUSPENDED,
		  "'conditions':[" C("Suspended", "True") "]", "", RUNS, MIRROR_NOTHING },
		{ "the same, with the condition False", SUSPENDED,
		  "'conditions':[" C("Suspended", "False") "]", "", RUNS, MIRROR_SUSPENDED },
		{ "it stops", SUSPENDED, RUNS, SUSPENDED, "'active':1", MIRROR_STATUS },
		{ "it has stopped", SUSPENDED, "'active':1", SUSPENDED,
		  "'conditions':[" C("Suspended", "True") "]", MIRROR_STATUS },
		{ "it ended before the local one was resumed", SUSPENDED, "", "", DONE,
		  MIRROR_STATUS },
		{ "it was stopped there, and the local one is not suspended yet", "", RUNS,
		  SUSPENDED, "", MIRROR_STATUS },
		{ "the same, with no pod left", "", "'startTime':'2026-01-01T00:00:00Z'", SUSPENDED,
		  "", MIRROR_NOTHING },
		{ "failed indexes", "", "", "", "'failedIndexes':'1,3'", MIRROR_STATUS },
		{ "a time of a condition", "",
		  "'conditions':[{'type':'a','status':'True',"
		  "'lastTransitionTime':'2026-01-01T00:00:00Z'}]",
		  "",
		  "'conditions':[{'type':'a','status':'True','lastTransitionTime':"
		  "'2026-01-01T00:00:01Z'}]",
		  MIRROR_STATUS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct api_job local, remote;

		unit_row(rows[i].name);
		make(rows[i].local_spec, rows[i].local, &local);
		make(rows[i].remote_spec, rows[i].remote, &remote);
		assert_int_equal(mirror_due(&local, &remote), rows[i].want);
	}
}

static void ends(void **state)
{
	static const struct {
		const char *name, *status;
		bool want;
	} rows[] = {
		{ "runs", RUNS, false },
		{ "completed", DONE, true },
		{ "failed", FAILED, true },
		{ "is sure to complete", "'conditions':[" C("SuccessCriteriaMet", "True") "]",
		  true },
		{ "is sure to fail", "'conditions':[" C("FailureTarget", "True") "]", true },
		{ "is not", "'conditions':[" C("FailureTarget", "False") "]", false },
		{ "is suspended", "'conditions':[" C("Suspended", "True") "]", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct api_job job;

		unit_row(rows[i].name);
		make("", rows[i].status, &job);
		assert_int_equal(mirror_has_ended(&job), rows[i].want);
	}
}

#define META "{'metadata':{'uid':'u','resourceVersion':'7'}"
#define OF(status) "{'metadata':{'name':'j','uid':'u','resourceVersion':'7'},'status':{" status "}}"

static void copies(void **state)
{
	static const struct {
		const char *name, *local, *remote, *want;
	} rows[] = {
		{ "begins", OF(""), OF("'active':2,'startTime':'t'"),
		  META ",'status':{'active':2,'startTime':'t'}}" },
		{ "equal members are left out", OF("'active':2,'ready':1"),
		  OF("'active':2,'ready':2"), META ",'status':{'ready':2}}" },
		{ "members that are gone", OF("'active':2,'ready':1"), OF("'active':2"),
		  META ",'status':{'ready':null}}" },
		{ "members of members",
		  OF("'uncountedTerminatedPods':{'failed':['a'],'succeeded':['b']}"),
		  OF("'uncountedTerminatedPods':{'succeeded':['b','c']}"),
		  META ",'status':{'uncountedTerminatedPods':{'failed':null,"
		       "'succeeded':['b','c']}}}" },
		{ "lists as a whole", OF("'conditions':[{'type':'a'}]"),
		  OF("'conditions':[{'type':'a'},{'type':'b'}]"),
		  META ",'status':{'conditions':[{'type':'a'},{'type':'b'}]}}" },
		{ "members that no table knows", OF(""), OF("'later':{'a':[1]}"),
		  META ",'status':{'later':{'a':[1]}}}" },
		{ "the API server keeps the time of a Job that is not suspended",
		  OF("'active':2,'startTime':'t'"), OF(""), META ",'status':{'active':null}}" },
		{ "an object in place of a number", OF("'x':1"), OF("'x':{'a':1}"),
		  META ",'status':{'x':{'a':1}}}" },
		{ "a status that is none", OF("'active':1"), "{'status':[1,{'active':2}]}",
		  META ",'status':{}}" },
		{ "the status is gone", OF("'active':1"), "{}", META ",'status':{'active':null}}" },
		{ "no status yet", "{'metadata':{'uid':'u','resourceVersion':'7'}}",
		  OF("'active':1"), META ",'status':{'active':1}}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		CLEANUP(jdoc_destroyp) struct jdoc *local = body_fixture(rows[i].local);
		CLEANUP(jdoc_destroyp) struct jdoc *remote = body_fixture(rows[i].remote);

		unit_row(rows[i].name);
		mirror_copy(local, remote, &body);
		body_fixture_expect(&body, rows[i].want);
	}
}

static void the_condition_suspended(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp)
	struct jdoc *local = body_fixture(
		OF("'active':0,'conditions':[{'type':'a'},{'type':'Suspended','status':'False'}]"));

	(void)state;
	mirror_suspended(local, INT64_C(1800000000) * CLOCK_NS_PER_S, &body);
	body_fixture_expect(&body, META ",'status':{'conditions':[{'type':'a'},{'type':'Suspended',"
					"'status':'True','reason':'MultiKueueAdapter','message':"
					"'The Job is suspended on the manager cluster',"
					"'lastTransitionTime':'2027-01-15T08:00:00Z'}]}}");
}

static void resets(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp)
	struct jdoc *local = body_fixture(OF("'active':3,'ready':2,'failed':1,'startTime':'t'"));

	(void)state;
	mirror_reset(local, &body);
	body_fixture_expect(&body, META ",'status':{'active':0,'ready':0}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_due), cmocka_unit_test(ends),
		cmocka_unit_test(copies),      cmocka_unit_test(the_condition_suspended),
		cmocka_unit_test(resets),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
