#include "scheduler/ctl/ctl.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/folder.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/workloads/workload_sim_fixture.h"
#include "process/file.h"
#include "scheduler/ctl/cli/verb.h"
#include "scheduler/pods/dump/dump.h"
#include "scheduler/pods/ledger/ledger.h"
#include "unit/scheduler/ctl/capture.h"

static char path[64];

/* A queue of 2 CPU: one pod runs with 1 CPU, a gang of three pods of 500m waits, one pod is
 * published. A queue of 1 CPU is charged for a pod of 3 CPU that belongs to the first one now. */
static int make_dump(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct cluster *c = cluster_create();
	struct queue *q;
	struct node *n;
	struct podgroup *gang;
	struct task *t;

	(void)state;
	cluster_fixture_queue(c, "root", NULL, -1);
	q = cluster_fixture_queue(c, "team-a", "root", 2000);
	n = cluster_fixture_node(c, "node-1", 1000);
	t = cluster_fixture_task(c, "runs", cluster_fixture_podgroup(c, "one", "team-a", 1), 1000);
	ledger_charge(c, t, q, CHARGE_PATCHING);
	ledger_advance(c, t, CHARGE_UNGATED);
	ledger_advance(c, t, CHARGE_ASSUMED);
	ledger_advance(c, t, CHARGE_BOUND);
	cluster_task_set_status(c, t, TASK_RUNNING, n);
	gang = cluster_fixture_podgroup(c, "gang", "team-a", 3);
	for (unsigned i = 0; i < 3; i++) {
		char name[16];

		snprintf(name, sizeof(name), "g-%u", i);
		t = cluster_fixture_task(c, name, gang, 500);
		t->flags |= TASK_OPTED_IN | TASK_OUR_GATE;
	}
	t = cluster_fixture_task(c, "seen", cluster_fixture_podgroup(c, "two", "team-a", 1), 100);
	t->flags |= TASK_OPTED_IN | TASK_RESERVED_MARK;
	t->cond = POD_COND_UNSCHEDULABLE;
	ledger_charge(c, t, q, CHARGE_PATCHING);
	ledger_advance(c, t, CHARGE_UNGATED);
	ledger_advance(c, t, CHARGE_PUBLISHED);
	(void)cluster_fixture_task(c, "lone",
				   cluster_podgroup_get(c, STR_LIT("ns"), STR_LIT("absent")), 100);
	q = cluster_fixture_queue(c, "small", "root", 1000);
	t = cluster_fixture_task(c, "moved", cluster_fixture_podgroup(c, "three", "team-a", 1),
				 3000);
	ledger_charge(c, t, q, CHARGE_BOUND);
	cluster_task_set_status(c, t, TASK_RUNNING, n);
	q = cluster_fixture_queue(c, "theirs", "root", 1000);
	gang = cluster_fixture_podgroup(c, "four", "theirs", 1);
	gang->barred_by = q->id;
	t = cluster_fixture_task(c, "barred", gang, 100);
	t->flags |= TASK_OPTED_IN | TASK_OUR_GATE;
	gang = cluster_fixture_podgroup(c, "five", "small", 1);
	gang->unsupported = PODGROUP_SUB_GROUPS;
	t = cluster_fixture_task(c, "sub", gang, 100);
	t->flags |= TASK_OPTED_IN | TASK_OUR_GATE;
	dump_format(c, &text);
	snprintf(path, sizeof(path), "/tmp/headgate-dump-%d.json", (int)getpid());
	assert_int_equal(file_write_atomic(path, strbuf_str(&text), 0600, NULL), 0);
	cluster_destroy(c);
	return 0;
}

static int remove_dump(void **state)
{
	(void)state;
	return unlink(path);
}

static int ask(const char *fmt, struct strbuf *out)
{
	char line[200];

	snprintf(line, sizeof(line), "headgatectl %s --dump=%s", fmt, path);
	strbuf_reset(out);
	return capture_run(ctl_run, line, out);
}

static void test_a_gang_waits_for_all_it_lacks(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(ask("explain pod ns/g-0", &out), VERB_OK);
	assert_non_null(strstr(out.p, "queue team-a has 900m cpu left, 1500m needed by its gang"));
	assert_non_null(strstr(out.p, "Reason:    WaitingForQuota\n"));
	assert_non_null(strstr(out.p, "Gate:      gated by Headgate\n"));
	assert_non_null(strstr(out.p, "Gang:      0 of 3 members have quota"));
	assert_non_null(strstr(out.p, "<- short"));
	assert_non_null(strstr(out.p, "0/1 nodes are available"));
}

static void test_a_published_pod_has_quota(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	const struct jdoc *line;

	(void)state;
	assert_int_equal(ask("explain pod seen -n ns -o json", &out), VERB_OK);
	assert_int_equal(jdoc_parse(strbuf_str(&out), &d, NULL), 0);
	assert_string_equal(jdoc_path_str(d, "verdict"),
			    "has quota and waits for a node; autoscalers see it");
	assert_string_equal(jdoc_path_str(d, "reason"), "Published");
	assert_string_equal(jdoc_path_str(d, "gateReason"), "Removed");
	assert_string_equal(jdoc_path_str(d, "queue"), "team-a");
	line = jdoc_at(jdoc_get(d, "quota"), 0);
	assert_string_equal(jdoc_path_str(line, "resource"), "cpu");
	assert_string_equal(jdoc_path_str(line, "limit"), "2");
	assert_string_equal(jdoc_path_str(line, "allocated"), "1");
	assert_string_equal(jdoc_path_str(line, "reserved"),
			    "0"); /* its own charge does not stand in its way */
	assert_false(jdoc_bool(jdoc_get(line, "short"), true));
}

static void test_a_running_pod_does_not_wait(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(ask("explain pod ns/runs", &out), VERB_OK);
	assert_non_null(strstr(out.p, "does not wait: it has a node"));
	assert_null(strstr(out.p, "NEEDS"));
}

static void test_a_charge_elsewhere_and_beyond_a_limit_is_said(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(ask("explain pod ns/moved", &out), VERB_OK);
	assert_non_null(strstr(out.p, "it is charged to queue small, and not to queue team-a"));
	assert_non_null(strstr(out.p, "queue small has more cpu charged than its limit"));
	assert_non_null(strstr(out.p, "Reason:    QueueOverLimit\n"));
	assert_non_null(strstr(out.p, "Queue:     team-a\n"));
	assert_non_null(strstr(out.p, "Charged:   small\n"));
}

static void test_a_queue_of_others_is_said(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(ask("explain pod ns/barred", &out), VERB_OK);
	assert_non_null(strstr(out.p, "namespace ns may not use queue theirs"));
	assert_non_null(strstr(out.p, "Reason:    NamespaceNotSelected\n"));
}

static void test_a_podgroup_with_an_unsupported_field_is_said(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(ask("explain pod ns/sub", &out), VERB_OK);
	assert_non_null(strstr(out.p, "Verdict:   spec.subGroupPolicy of the PodGroup is not"));
}

static void test_a_podgroup_that_does_not_exist_is_said(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(ask("explain pod ns/lone", &out), VERB_OK);
	assert_non_null(strstr(out.p, "waits for its PodGroup, which does not exist"));
	assert_non_null(strstr(out.p, "Reason:    PodGroupNotFound\n"));
	assert_non_null(strstr(out.p, "absent"));
}

static void test_codes_for_scripts(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(ask("explain pod ns/lne", &out), VERB_FAILED);
	assert_int_equal(ask("explain queue team-a", &out), VERB_USAGE);
	assert_int_equal(ask("explain pod", &out), VERB_USAGE);
	assert_int_equal(
		capture_run(ctl_run, "headgatectl explain pod a/b --dump=/nonexistent", &out),
		VERB_FAILED);
}

static void test_workloads_of_manifests(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	struct folder folder;

	(void)state;
	folder_make(&folder);
	folder_write(&folder, "w.yaml",
		     QUOTA_SIM_CLUSTER QUOTA_SIM_WORKLOAD(
			     "w", "5", "0", "") "{" QUOTA_SIM_API
						"kind: Workload, metadata: {name: job-j, "
						"namespace: team, ownerReferences: "
						"[{apiVersion: batch/v1, kind: Job, name: j, "
						"uid: u}]}, "
						"spec: {queueName: lq, podSets: [{name: main, "
						"count: 1, template: {spec: {containers: "
						"[]}}}]}}\n");
	assert_int_equal(
		folder_run(&folder, ctl_run, "headgatectl explain job team/j -f @w.yaml", &out),
		VERB_OK);
	assert_non_null(strstr(out.p, "Workload:     team/job-j\n"));
	assert_int_equal(
		folder_run(&folder, ctl_run, "headgatectl explain job other/j -f @w.yaml", &out),
		VERB_FAILED);
	assert_int_equal(folder_run(&folder, ctl_run,
				    "headgatectl explain cow.farm team/j -f @w.yaml", &out),
			 VERB_FAILED);
	assert_int_equal(
		folder_run(&folder, ctl_run, "headgatectl explain cow team/j -f @w.yaml", &out),
		VERB_USAGE);
	assert_int_equal(
		folder_run(&folder, ctl_run, "headgatectl explain cq team/j -f @w.yaml", &out),
		VERB_USAGE);
	assert_int_equal(folder_run(&folder, ctl_run,
				    "headgatectl explain workload team/w -f @w.yaml", &out),
			 VERB_OK);
	assert_non_null(strstr(out.p, "Reason:       ExceedsMaxQuota\n"));
	assert_int_equal(
		folder_run(&folder, ctl_run, "headgatectl explain wl w -n team -o json -f @", &out),
		VERB_OK);
	assert_int_equal(jdoc_parse(strbuf_str(&out), &d, NULL), 0);
	assert_string_equal(jdoc_path_str(d, "reason"), "ExceedsMaxQuota");
	assert_int_equal(folder_run(&folder, ctl_run,
				    "headgatectl explain workload team/x -f @w.yaml", &out),
			 VERB_FAILED);
	assert_int_equal(
		folder_run(&folder, ctl_run, "headgatectl explain workload -f @w.yaml", &out),
		VERB_USAGE);
	assert_int_equal(
		folder_run(&folder, ctl_run, "headgatectl explain pod team/w -f @w.yaml", &out),
		VERB_USAGE);
	assert_int_equal(folder_run(&folder, ctl_run,
				    "headgatectl explain workload team/w --dump @w.yaml", &out),
			 VERB_USAGE);
	folder_remove(&folder);
}

static void test_queues_shows_the_tree(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	const struct jdoc *q;

	(void)state;
	assert_int_equal(ask("queues", &out), VERB_OK);
	assert_non_null(strstr(out.p, "QUEUE"));
	assert_non_null(strstr(out.p, "\nroot "));
	assert_non_null(strstr(out.p, "\n  team-a "));
	assert_int_equal(ask("queues -o json", &out), VERB_OK);
	assert_int_equal(jdoc_parse(strbuf_str(&out), &d, NULL), 0);
	q = jdoc_at(jdoc_get(d, "queues"), 1);
	assert_string_equal(jdoc_path_str(q, "name"), "small");
	assert_string_equal(jdoc_path_str(q, "allocated.cpu"), "3");
	q = jdoc_at(jdoc_get(d, "queues"), 2);
	assert_string_equal(jdoc_path_str(q, "name"), "team-a");
	assert_string_equal(jdoc_path_str(q, "limit.cpu"), "2");
	assert_string_equal(jdoc_path_str(q, "allocated.cpu"), "1");
	assert_string_equal(jdoc_path_str(q, "reserved.cpu"), "100m");
	assert_int_equal(jdoc_int(jdoc_get(q, "gatedPods"), -1), 3);
	assert_int_equal(jdoc_int(jdoc_get(q, "publishedPods"), -1), 1);
	assert_int_equal(ask("queues stray", &out), VERB_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_gang_waits_for_all_it_lacks),
		cmocka_unit_test(test_a_published_pod_has_quota),
		cmocka_unit_test(test_a_running_pod_does_not_wait),
		cmocka_unit_test(test_a_charge_elsewhere_and_beyond_a_limit_is_said),
		cmocka_unit_test(test_a_queue_of_others_is_said),
		cmocka_unit_test(test_a_podgroup_with_an_unsupported_field_is_said),
		cmocka_unit_test(test_a_podgroup_that_does_not_exist_is_said),
		cmocka_unit_test(test_codes_for_scripts),
		cmocka_unit_test(test_workloads_of_manifests),
		cmocka_unit_test(test_queues_shows_the_tree),
	};

	return cmocka_run_group_tests_name("ctl/explain", tests, make_dump, remove_dump);
}
