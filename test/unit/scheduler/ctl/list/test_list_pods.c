#include "scheduler/ctl/list/list_pods.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/folder.h"
#include "scheduler/ctl/cli/verb.h"
#include "scheduler/ctl/ctl.h"

#define POD(name, space, labels, status)                                                           \
	"{apiVersion: v1, kind: Pod, metadata: {name: " name ", namespace: " space                 \
	", creationTimestamp: \"2026-01-15T09:00:00Z\", labels: {" labels                          \
	"}}, spec: {containers: [{name: a, image: i}, {name: b, image: i}]}, status: {" status     \
	"}}\n---\n"
#define OF_JOB(name) "batch.kubernetes.io/job-name: " name
#define OF_GROUP(name) "kueue.x-k8s.io/pod-group-name: " name

static struct folder folder;

/* Objects of another kind with the names of pods are not meant. */
#define NOT_A_POD(name)                                                                            \
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: " name              \
	", namespace: team, labels: {" OF_JOB("j") "}}, spec: {queueName: q}}\n---\n"

static const char world[] = NOT_A_POD("j-8") NOT_A_POD("g-2") POD(
	"j-1", "team", OF_JOB("j") ", app: web",
	"phase: Running, containerStatuses: [{ready: true, restartCount: 2, state: {running: {}}},"
	" {ready: false, restartCount: 1, state: {waiting: {reason: CrashLoopBackOff}}}]")
	POD("j-2", "team", OF_JOB("j"),
	    "phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: "
	    "SchedulingGated}]") POD("j-3", "other", OF_JOB("j"), "phase: Running")
		POD("k-1", "team", OF_JOB("k"), "phase: Failed, reason: Evicted")
			POD("g-1", "team", OF_GROUP("g"), "phase: Succeeded")
				POD("g-2", "team", OF_GROUP("g"), "") POD("solo", "team", "", "")
					NOT_A_POD("j-9") NOT_A_POD("g-1");

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

static void expect(const char *args, const char *want)
{
	CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, out = STRBUF_INIT;

	strbuf_printf(&line,
		      "headgatectl list pods --as-is -f @world.yaml "
		      "--now=2026-01-15T09:01:00Z %s",
		      args);
	assert_int_equal(folder_run(&folder, ctl_run, line.p, &out), VERB_OK);
	assert_string_equal(out.p == NULL ? "" : out.p, want);
}

static void which_pods(void **state)
{
	static const struct {
		const char *args, *names;
	} rows[] = {
		{ "-n team --for job/j", "pod/j-1\npod/j-2\n" },
		{ "-A --for jobs.batch/j", "pod/j-3\npod/j-1\npod/j-2\n" },
		{ "-n team --for job/none", "" },
		{ "-n team --for pod/g-2", "pod/g-1\npod/g-2\n" },
		{ "-n team --for pods/solo", "pod/solo\n" },
		{ "-n team --for pod/j-1", "pod/j-1\n" },
		{ "-n team --for pod/none", "" },
		{ "--for pod/solo", "" }, /* in namespace default */
		{ "-n team --for job/j -l app=web", "pod/j-1\n" },
		{ "-n team --for job/j --field-selector metadata.name!=j-1", "pod/j-2\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf args = STRBUF_INIT;

		unit_row(rows[i].args);
		strbuf_printf(&args, "-o name %s", rows[i].args);
		expect(args.p, rows[i].names);
	}
}

/* A status as an API server writes it, of a pod with two containers, and its row. */
static void each_status(void **state)
{
	static const struct {
		const char *status, *row;
	} rows[] = {
		{ "", "0/2     Unknown   0" },
		{ "phase: Running", "0/2     Running   0" },
		{ "phase: Running, containerStatuses: [{name: a, ready: true}]",
		  "1/2     Running   0" },
		{ "phase: Running, containerStatuses: [{ready: true, restartCount: 1}, {ready: "
		  "true}]",
		  "2/2     Running   1" },
		{ "phase: Failed, containerStatuses: [{state: {terminated: {reason: OOMKilled}}}]",
		  "0/2     OOMKilled   0" },
		{ "phase: Failed, reason: Evicted, conditions: [{type: PodScheduled, reason: "
		  "SchedulingGated}]",
		  "0/2     Evicted   0" },
		{ "phase: Pending, conditions: [{type: Ready, reason: SchedulingGated}]",
		  "0/2     Pending   0" },
		{ "phase: Pending, conditions: [{type: Ready}, {type: PodScheduled, reason: "
		  "SchedulingGated}]",
		  "0/2     SchedulingGated   0" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT, out = STRBUF_INIT;
		char line[] = "headgatectl list pods -f @one.yaml --for pod/p -n team";

		unit_row(rows[i].status);
		strbuf_printf(&text, POD("p", "team", "", "%s"), rows[i].status);
		folder_write(&folder, "one.yaml", text.p);
		assert_int_equal(folder_run(&folder, ctl_run, line, &out), VERB_OK);
		assert_non_null(strstr(out.p, rows[i].row));
	}
}

static void how_they_are_shown(void **state)
{
	(void)state;
	expect("-n team --for job/j",
	       "NAMESPACE   NAME   READY   STATUS             RESTARTS   AGE\n"
	       "team        j-1    1/2     CrashLoopBackOff   3          60s\n"
	       "team        j-2    0/2     SchedulingGated    0          60s\n");
	expect("-n team --for job/k", "NAMESPACE   NAME   READY   STATUS    RESTARTS   AGE\n"
				      "team        k-1    0/2     Evicted   0          60s\n");
	expect("-n team --for pod/g-1", "NAMESPACE   NAME   READY   STATUS      RESTARTS   AGE\n"
					"team        g-1    0/2     Succeeded   0          60s\n"
					"team        g-2    0/2     Unknown     0          60s\n");
}

static void what_cannot_be_read(void **state)
{
	static const char *const kinds[] = { "pod/solo", "job/j" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, out = STRBUF_INIT;

		unit_row_number(i);
		strbuf_printf(&line, "headgatectl list pods -f @missing --for %s", kinds[i]);
		assert_int_equal(folder_run(&folder, ctl_run, line.p, &out), VERB_USAGE);
		assert_int_equal(out.len, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_pods),
		cmocka_unit_test(each_status),
		cmocka_unit_test(what_cannot_be_read),
		cmocka_unit_test(how_they_are_shown),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
