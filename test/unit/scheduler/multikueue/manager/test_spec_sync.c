/* Whether a replica says what the local Workload says. */
#include "scheduler/multikueue/manager/spec_sync.h"

#include "lib/unit.h"

#include <stdio.h>

#include "api/kueue/kueue_workload.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/decode_fixture.h"

#define PODS                                                                                       \
	"'podSets':[{'name':'main','count':2,'template':{'spec':{'containers':[{'name':'c'}]}}}]"

static void make(const char *spec, struct api_workload *ret)
{
	char text[1024];

	snprintf(text, sizeof(text), "{'metadata':{'name':'w'},'spec':{%s}}", spec);
	decode_fixture(&kueue_workload_fields, text, ret);
}

static void comparisons(void **state)
{
	static const struct {
		const char *name, *local, *replica;
		enum spec_sync want;
	} rows[] = {
		{ "equal", PODS, PODS, SPEC_SYNC_SAME },
		{ "gates here", PODS ",'preemptionGates':[{'name':'a'}]", PODS, SPEC_SYNC_SAME },
		{ "gates there", PODS, PODS ",'preemptionGates':[{'name':'a'}]", SPEC_SYNC_SAME },
		{ "the default of active", PODS, PODS ",'active':true", SPEC_SYNC_SAME },
		{ "the default of priority", PODS, PODS ",'priority':0", SPEC_SYNC_SAME },
		{ "a member that no table knows", PODS, PODS ",'later':{'a':1}", SPEC_SYNC_SAME },
		{ "empty members", PODS,
		  "'podSets':[{'name':'main','count':2,'template':{'metadata':{},'spec':{"
		  "'containers':[{'name':'c','resources':{}}],'nodeSelector':{},"
		  "'tolerations':[]}}}]",
		  SPEC_SYNC_SAME },
		{ "a priority", PODS ",'priority':3", PODS ",'priority':4", SPEC_SYNC_PRIORITY },
		{ "a class", PODS ",'priorityClassRef':{'name':'a'}", PODS, SPEC_SYNC_PRIORITY },
		{ "another class", PODS ",'priorityClassRef':{'name':'a'}",
		  PODS ",'priorityClassRef':{'name':'b'}", SPEC_SYNC_PRIORITY },
		{ "another kind of class",
		  PODS ",'priorityClassRef':{'name':'a','kind':'PriorityClass'}",
		  PODS ",'priorityClassRef':{'name':'a','kind':'WorkloadPriorityClass'}",
		  SPEC_SYNC_PRIORITY },
		{ "another group of class", PODS ",'priorityClassRef':{'name':'a','group':'g'}",
		  PODS ",'priorityClassRef':{'name':'a','group':'h'}", SPEC_SYNC_PRIORITY },
		{ "the same class", PODS ",'priorityClassRef':{'name':'a'}",
		  PODS ",'priorityClassRef':{'name':'a'}", SPEC_SYNC_SAME },
		{ "deactivated there", PODS, PODS ",'active':false", SPEC_SYNC_OTHER },
		{ "another queue", PODS ",'queueName':'a'", PODS ",'queueName':'b'",
		  SPEC_SYNC_OTHER },
		{ "another limit", PODS ",'maximumExecutionTimeSeconds':5", PODS, SPEC_SYNC_OTHER },
		{ "another count", PODS, "'podSets':[{'name':'main','count':3}]", SPEC_SYNC_OTHER },
		{ "a priority and another count", PODS ",'priority':3",
		  "'podSets':[{'name':'main','count':3}]", SPEC_SYNC_OTHER },
		{ "other pods", PODS,
		  "'podSets':[{'name':'main','count':2,'template':{'spec':{'containers':["
		  "{'name':'c'}],'nodeSelector':{'a':'b'}}}}]",
		  SPEC_SYNC_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		struct api_workload local, replica;

		unit_row(rows[i].name);
		make(rows[i].local, &local);
		make(rows[i].replica, &replica);
		spec_sync_text(&local, &text);
		assert_int_equal(spec_sync_of(&local, &text, &replica), rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(comparisons) };

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
