#include "scheduler/ctl/list/unplaced_pods.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/folder.h"
#include "lib/pods/cluster_fixture.h"
#include "scheduler/ctl/cli/verb.h"
#include "scheduler/ctl/ctl.h"
#include "scheduler/pods/dump/dump.h"
#include "scheduler/pods/ledger/ledger.h"

static struct task *add(struct cluster *c, const char *name, const char *queue, int64_t cpu)
{
	struct podgroup *g = cluster_podgroup_get_alone(c, STR_LIT("ns"), str_of(name));
	struct task *t;

	cluster_podgroup_set_queue(c, g, str_of(queue));
	t = cluster_fixture_task(c, name, g, cpu);
	t->flags |= TASK_OPTED_IN | TASK_GATE_ONLY;
	t->created = (int64_t)t->id;
	ledger_charge(c, t, queue_find(c, str_of(queue)), CHARGE_UNGATED);
	return t;
}

/* Of the queue that is over its limit the youngest pod; one for each other reason. */
static void make_dump(struct folder *folder, bool any)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct cluster *c = cluster_create();

	cluster_fixture_queue(c, "root", NULL, -1);
	cluster_fixture_queue(c, "full", "root", 1000);
	cluster_fixture_queue(c, "wide", "root", 9000);
	if (any) {
		struct task *placed;

		add(c, "old", "full", 600);
		add(c, "young", "full", 600);
		add(c, "late", "wide", 500)->flags |= TASK_OVERDUE;
		add(c, "stuck", "wide", 500)->cond = POD_COND_UNSCHEDULABLE;
		placed = add(c, "placed", "wide", 500);
		ledger_advance(c, placed, CHARGE_BOUND);
		cluster_task_set_status(c, placed, TASK_RUNNING,
					cluster_fixture_node(c, "n", 4000));
	}
	dump_format(c, &text);
	folder_write(folder, "dump", text.p);
	cluster_destroy(c);
}

static void pods_that_hold_quota_without_a_node(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	struct folder folder;
	const struct jdoc *full;

	folder_make(&folder);
	make_dump(&folder, true);
	assert_int_equal(folder_run(&folder, ctl_run, "headgatectl queues --dump=@dump", &out),
			 VERB_OK);
	assert_non_null(strstr(
		out.p,
		"\n\n"
		"POD        QUEUE   HOLDS      REASON\n"
		"ns/old     full    cpu 600m   its scheduler has not tried it yet\n"
		"ns/young   full    cpu 600m   beyond the limit of its queue, or of one above\n"
		"ns/late    wide    cpu 500m   its scheduler has not placed it in time\n"
		"ns/stuck   wide    cpu 500m   its scheduler finds no node\n"));
	assert_int_equal(
		folder_run(&folder, ctl_run, "headgatectl queues -o json --dump=@dump", &out),
		VERB_OK);
	assert_int_equal(jdoc_parse(strbuf_str(&out), &d, NULL), 0);
	full = jdoc_at(jdoc_get(d, "queues"), 1);
	assert_string_equal(jdoc_path_str(full, "name"), "full");
	assert_int_equal(jdoc_count(jdoc_get(full, "unplacedPods")), 2);
	assert_string_equal(jdoc_path_str(jdoc_at(jdoc_get(full, "unplacedPods"), 1), "name"),
			    "young");
	assert_string_equal(jdoc_path_str(jdoc_at(jdoc_get(full, "unplacedPods"), 1), "reason"),
			    "BeyondQuota");
	make_dump(&folder, false);
	assert_int_equal(folder_run(&folder, ctl_run, "headgatectl queues --dump=@dump", &out),
			 VERB_OK);
	assert_null(strstr(out.p, "REASON"));
	folder_remove(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_that_hold_quota_without_a_node),
	};

	return cmocka_run_group_tests_name("ctl/list/unplaced_pods", tests, NULL, NULL);
}
