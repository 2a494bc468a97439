#include "scheduler/workloads/preempt/victim.h"

#include "lib/unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "lib/quota/quota_world.h"

static const char *const names[] = { "InClusterQueue", "InCohortReclamation", "InCohortFairSharing",
				     "InCohortReclaimWhileBorrowing" };

static void test_names_of_reasons(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		unit_row_number((size_t)i);
		assert_string_equal(victim_reason_name((enum victim_reason)i), names[i]);
	}
}

static const char world[] = "cohort root\n"
			    "cohort team parent=root\n"
			    "queue a cohort=team\n"
			    "queue b cohort=root\n"
			    "quota a default cpu nominal=4\n"
			    "quota b default cpu nominal=4\n"
			    "workload ns/v queue=b cpu=3 holds=default\n"
			    "workload ns/p queue=a cpu=3 uid=1234\n";

static void has(const char *text, const char *part)
{
	if (strstr(text, part) == NULL) {
		fail_msg("\"%s\" is not in \"%s\"", part, text);
	}
}

static void test_message(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(quota_world_finish) struct quota_world w;
	struct workload *p;
	struct victim v;
	const char *before = "";

	(void)state;
	quota_world_init(&w, world);
	p = quota_world_workload(&w, "p");
	v.workload = quota_world_workload(&w, "v")->id;
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		const char *m;

		unit_row_number((size_t)i);
		v.reason = (enum victim_reason)i;
		m = victim_message(w.f, p, quota_world_id(&w, "a"), &v, arena);
		has(m, "UID: 1234, JobUID: UNKNOWN");
		has(m, "preemptor path: /root/team/a");
		has(m, "preemptee path: /root/b");
		assert_string_not_equal(m, before); /* a phrase for each reason */
		before = m;
	}
}

static void test_message_names_the_job(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(quota_world_finish) struct quota_world w;
	struct workload *p;
	struct victim v = { .reason = VICTIM_IN_CLUSTER_QUEUE };

	(void)state;
	quota_world_init(&w, world);
	p = quota_world_workload(&w, "p");
	v.workload = quota_world_workload(&w, "v")->id;
	p->object.job_uid = "77";
	has(victim_message(w.f, p, quota_world_id(&w, "a"), &v, arena), "UID: 1234, JobUID: 77)");
	p->object.job_uid = "";
	p->object.uid = NULL;
	has(victim_message(w.f, p, quota_world_id(&w, "a"), &v, arena), "UID: , JobUID: UNKNOWN)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_of_reasons),
		cmocka_unit_test(test_message),
		cmocka_unit_test(test_message_names_the_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
