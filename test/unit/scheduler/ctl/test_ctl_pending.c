#include "scheduler/ctl/ctl.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "lib/folder.h"
#include "lib/workloads/workload_sim_fixture.h"
#include "scheduler/ctl/cli/verb.h"
#include "unit/scheduler/ctl/capture.h"

#define API QUOTA_SIM_API

static struct folder folder;

static const char world[] = QUOTA_SIM_CLUSTER
	"{" API "kind: LocalQueue, metadata: {name: two, namespace: team}, spec: {clusterQueue: "
	"cq}}\n---\n"
	"{" API "kind: LocalQueue, metadata: {name: lost, namespace: team}, spec: {clusterQueue: "
	"nope}}\n---\n"
	"{" API "kind: ClusterQueue, metadata: {name: empty}}\n---\n"
	"{" API "kind: Workload, metadata: {name: z, namespace: team, creationTimestamp: "
	"\"2026-01-15T09:00:00Z\", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, "
	"uid: u}]}, spec: {queueName: two, priority: 5, podSets: []}}\n---\n" QUOTA_SIM_WORKLOAD(
		"a", "1", "7", "") QUOTA_SIM_WORKLOAD("b", "1", "1", "")
		QUOTA_SIM_WORKLOAD("runs", "3", "9", QUOTA_SIM_HOLDS("3"));

static int begin(void **state)
{
	(void)state;
	folder_make(&folder);
	folder_write(&folder, "world.yaml", world);
	return 0;
}

static int end(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

#define HEAD "CLUSTERQUEUE   POSITION   WORKLOAD   PRIORITY   LOCALQUEUE   POSITION IN LOCALQUEUE\n"

static void test_tables(void **state)
{
	static const struct {
		const char *line, *out;
	} rows[] = {
		{ "", HEAD "cq             1          team/a     7          lq           1\n"
			   "cq             2          team/z     5          two          1\n"
			   "cq             3          team/b     1          lq           2\n" },
		{ "localqueue team/lq",
		  HEAD "cq             1          team/a     7          lq           1\n"
		       "cq             3          team/b     1          lq           2\n" },
		{ "lq two -n team",
		  HEAD "cq             2          team/z     5          two          1\n" },
		{ "clusterqueue cq --offset=1 --limit=1",
		  HEAD "cq             2          team/z     5          two          1\n" },
		{ "lq team/lq --offset=1",
		  HEAD "cq             3          team/b     1          lq           2\n" },
		{ "cq empty", "" },
		{ "cq cq --limit=0", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, out = STRBUF_INIT;

		unit_row(rows[i].line);
		strbuf_printf(&line, "headgatectl pending-workloads --as-is -f @world.yaml%s%s",
			      rows[i].line[0] == '\0' ? "" : " ", rows[i].line);
		assert_int_equal(folder_run(&folder, ctl_run, line.p, &out), VERB_OK);
		assert_string_equal(out.p == NULL ? "" : out.p, rows[i].out);
	}
}

static void expect_json(const char *words, const char *json)
{
	CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, out = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *got = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *wanted = NULL;

	strbuf_printf(&line, "headgatectl pending-workloads -o json --as-is -f @world.yaml%s",
		      words);
	assert_int_equal(folder_run(&folder, ctl_run, line.p, &out), VERB_OK);
	assert_int_equal(jdoc_parse(strbuf_str(&out), &got, NULL), 0);
	assert_int_equal(jdoc_parse(str_of(json), &wanted, NULL), 0);
	if (!jdoc_equal(got, wanted)) {
		fail_msg("%s", out.p);
	}
}

/* As the visibility API gives it: positions from 0. */
#define SUMMARY                                                                                    \
	"{\"apiVersion\": \"visibility.kueue.x-k8s.io/v1beta2\", \"kind\": "                       \
	"\"PendingWorkloadsSummary\", \"metadata\": "
#define Z                                                                                          \
	"{\"metadata\": {\"name\": \"z\", \"namespace\": \"team\", \"creationTimestamp\": "        \
	"\"2026-01-15T09:00:00Z\", \"ownerReferences\": [{\"apiVersion\": \"batch/v1\", "          \
	"\"kind\": "                                                                               \
	"\"Job\", \"name\": \"j\", \"uid\": \"u\"}]}, \"priority\": 5, \"localQueueName\": "       \
	"\"two\", \"positionInClusterQueue\": 1, \"positionInLocalQueue\": 0}"

static void test_summaries(void **state)
{
	(void)state;
	expect_json(" localqueue team/two",
		    SUMMARY "{\"name\": \"two\", \"namespace\": \"team\"}, \"items\": [" Z "]}");
	expect_json(" clusterqueue cq --offset=1 --limit=1",
		    SUMMARY "{\"name\": \"cq\"}, \"items\": [" Z "]}");
	expect_json(" --offset=1 --limit=1",
		    "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [" SUMMARY
		    "{\"name\": \"cq\"}, \"items\": [" Z "]}, " SUMMARY
		    "{\"name\": \"empty\"}, \"items\": []}]}");
}

static void test_exit_codes(void **state)
{
	static const struct {
		const char *line;
		int code;
	} rows[] = {
		{ "cq nope", VERB_FAILED },      { "lq team/nope", VERB_FAILED },
		{ "lq team/lost", VERB_FAILED }, { "cq", VERB_USAGE },
		{ "wl team/a", VERB_USAGE },     { "cq cq cq", VERB_USAGE },
		{ "--limit=100000", VERB_OK },   { "--limit=100001", VERB_USAGE },
		{ "--offset=-1", VERB_USAGE },   { "--help", VERB_OK },
		{ "-f @missing", VERB_FAILED },
	};

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, out = STRBUF_INIT;
		int code = rows[i / 2].code;

		unit_row(rows[i / 2].line);
		strbuf_printf(&line, "headgatectl pending-workloads --as-is -f @world.yaml %s%s",
			      rows[i / 2].line, i % 2 == 0 ? "" : " -o json");
		assert_int_equal(folder_run(&folder, ctl_run, line.p, &out), code);
		if (code != VERB_OK) {
			assert_int_equal(out.len, 0); /* nothing that looks like an answer */
		}
	}
}

static void test_queues_that_are_missing(void **state)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{ "cq nope", "ClusterQueue nope not found" },
		{ "lq team/nope", "LocalQueue team/nope not found" },
		{ "lq team/lost",
		  "LocalQueue team/lost: spec.clusterQueue: there is no ClusterQueue nope" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xmalloc_freep)
		char *line = xmalloc_printf("pending-workloads --as-is -f %s/world.yaml %s",
					    folder.path, rows[i].line);
		CLEANUP(xmalloc_freep)
		char *want = xmalloc_printf("headgatectl: %s\n", rows[i].says);
		CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

		unit_row(rows[i].line);
		assert_int_equal(capture_ctl(line, &out), VERB_FAILED);
		assert_string_equal(out.p, want);
	}
}

/* Kueue's visibility API has no place for those in no queue, and does not say that a queue stands
 * still; here they are named with the reason. */
static const char stopped[] = QUOTA_SIM_CLUSTER
	"{" API "kind: LocalQueue, metadata: {name: held, namespace: team}, spec: {clusterQueue: "
	"cq, stopPolicy: Hold}}\n---\n"
	"{" API "kind: ClusterQueue, metadata: {name: off}, spec: {stopPolicy: HoldAndDrain, "
	"namespaceSelector: {}}}\n---\n"
	"{" API "kind: LocalQueue, metadata: {name: off, namespace: team}, spec: {clusterQueue: "
	"off}}\n---\n"
	"{" API "kind: Workload, metadata: {name: h, namespace: team}, spec: {queueName: held, "
	"podSets: []}}\n---\n"
	"{" API "kind: Workload, metadata: {name: o, namespace: team}, spec: {queueName: off, "
	"podSets: []}}\n---\n"
	"{" API "kind: Workload, metadata: {name: l, namespace: team}, spec: {queueName: nope, "
	"podSets: []}}\n---\n" QUOTA_SIM_WORKLOAD("a", "1", "7", "");

#define QUEUED_A "cq             1          team/a     7          lq           1\n"
#define QUEUED_O "off            1          team/o     0          off          1\n"
#define WHY_H "team/h      held         Suspended       LocalQueue team/held is stopped\n"
#define WHY_O                                                                                      \
	"team/o      off          Stopped         ClusterQueue off: spec.stopPolicy: it is "       \
	"stopped\n"
#define WHY_L                                                                                      \
	"team/l      nope         Misconfigured   spec.queueName: LocalQueue team/nope does "      \
	"not exist\n"

static void test_queues_that_are_stopped(void **state)
{
	static const struct {
		const char *line, *out;
	} rows[] = {
		{ "", HEAD QUEUED_A QUEUED_O
		  "\nNOT TRIED   LOCALQUEUE   REASON          MESSAGE\n" WHY_O WHY_H WHY_L },
		{ "localqueue team/lq", HEAD QUEUED_A },
		{ "localqueue team/held",
		  "NOT TRIED   LOCALQUEUE   REASON      MESSAGE\n"
		  "team/h      held         Suspended   LocalQueue team/held is stopped\n" },
		{ "clusterqueue cq", HEAD QUEUED_A
		  "\nNOT TRIED   LOCALQUEUE   REASON      MESSAGE\n"
		  "team/h      held         Suspended   LocalQueue team/held is stopped\n" },
		{ "clusterqueue off",
		  HEAD QUEUED_O "\nNOT TRIED   LOCALQUEUE   REASON    MESSAGE\n"
				"team/o      off          Stopped   ClusterQueue off: "
				"spec.stopPolicy: it is stopped\n" },
	};

	(void)state;
	folder_write(&folder, "stopped.yaml", stopped);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, out = STRBUF_INIT;

		unit_row(rows[i].line);
		strbuf_printf(&line, "headgatectl pending-workloads --as-is -f @stopped.yaml%s%s",
			      rows[i].line[0] == '\0' ? "" : " ", rows[i].line);
		assert_int_equal(folder_run(&folder, ctl_run, line.p, &out), VERB_OK);
		assert_string_equal(out.p, rows[i].out);
	}
}

/* The summary is that of Kueue's API; the others are said beside it. */
static void test_a_summary_says_what_it_leaves_out(void **state)
{
	CLEANUP(xmalloc_freep)
	char *line = xmalloc_printf("pending-workloads -o json --as-is -f %s/stopped.yaml lq "
				    "team/held",
				    folder.path);
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(capture_ctl(line, &out), VERB_OK);
	assert_non_null(strstr(out.p, "\"items\":[]"));
	assert_non_null(strstr(out.p, "headgatectl: warning: team/h is in no queue: LocalQueue "
				      "team/held is stopped\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_summaries),
		cmocka_unit_test(test_exit_codes),
		cmocka_unit_test(test_queues_that_are_missing),
		cmocka_unit_test(test_queues_that_are_stopped),
		cmocka_unit_test(test_a_summary_says_what_it_leaves_out),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
