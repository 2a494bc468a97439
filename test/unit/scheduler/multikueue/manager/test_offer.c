/* Workloads that run nowhere yet, in the words of manager_fixture.h. Of each hole the comment says
 * how Kueue behaves, then how this manager does. */
#include "scheduler/multikueue/manager/offer.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/multikueue/manager/manager_fixture.h"

static void external_dispatcher(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "names none", "quota pending", { "", "" }, "" },
		{ "names one", "quota pending nominated=w2", { "", "" }, "CreateReplica w2" },
		{ "names all",
		  "quota pending nominated=w1,w2",
		  { "", "" },
		  "CreateReplica w1; CreateReplica w2" },
		{ "names one that is away",
		  "quota pending nominated=w1,w2",
		  { "", "lost=10" },
		  "CreateReplica w1" },
		{ "names one that the configuration does not have",
		  "quota pending nominated=w1",
		  { "unconfigured", "" },
		  "" },
		{ "takes one back",
		  "quota pending nominated=w2",
		  { "replica", "replica" },
		  "DeleteReplica w1" },
		{ "an admitted one that it does not name",
		  "quota pending nominated=w2",
		  { "admitted", "replica" },
		  "DeleteReplica w1" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct manager_fixture f;

		unit_row(rows[i].name);
		manager_fixture_make(&f, rows[i].local, rows[i].clusters);
		f.opt.dispatcher = MANAGER_EXTERNAL;
		manager_fixture_expect(&f, rows[i].want);
	}
}

/* Kueue compares times that workers have written, at one second, and falls back to the random order
 * of a map. Here the configured order decides; a Job that runs already decides before it. */
static void hole_5_1_and_2_the_choice_is_the_same_each_time(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "two are admitted",
		  "quota pending nominated=w1,w2,w3",
		  { "replica", "admitted", "admitted" },
		  "SetCluster w2 (Normal); DeleteReplica w1; DeleteReplica w3" },
		{ "one of them has the Job",
		  "quota pending nominated=w1,w2,w3",
		  { "admitted", "admitted", "admitted job" },
		  "SetCluster w3 (Normal); DeleteReplica w1; DeleteReplica w2" },
	};

	(void)state;
	manager_fixture_run(rows, ARRAY_LEN(rows));
}

/* Kueue wakes only Workloads that have a replica on a worker that connects, and its nomination
 * shrinks to the clusters that were connected. Here the same call offers it to the new one, and one
 * that was lost stays nominated. */
static void hole_5_6_a_cluster_that_connects_late(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "not connected yet", "quota pending nominated=w1", { "replica", "never" }, "" },
		{ "it connects",
		  "quota pending nominated=w1",
		  { "replica", "" },
		  "Nominate w1 w2" },
		{ "and gets a replica",
		  "quota pending nominated=w1,w2",
		  { "replica", "" },
		  "CreateReplica w2" },
		{ "it is lost",
		  "quota pending nominated=w1,w2",
		  { "replica", "lost=9 replica" },
		  "" },
	};

	(void)state;
	manager_fixture_run(rows, ARRAY_LEN(rows));
}

/* Kueue takes a Workload of the same name for its replica: it finds it out of sync and deletes it.
 * Here such a cluster is passed over, and the others go on. */
static void hole_5_29_a_namesake_is_not_touched(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "a Workload on one of two", "quota pending", { "taken", "" }, "Nominate w2" },
		{ "a Job on one of two", "quota pending", { "", "jobtaken" }, "Nominate w1" },
		{ "on a nominated one",
		  "quota pending nominated=w1,w2",
		  { "taken", "replica" },
		  "Nominate w2" },
		{ "beside our replica",
		  "quota pending nominated=w1,w2",
		  { "admitted jobtaken", "replica" },
		  "Nominate w2; DeleteReplica w1" },
		{ "on all",
		  "quota pending",
		  { "taken", "jobtaken" },
		  "SetCheck Pending 'Worker cluster \"w1\" has a Workload of this name that is not "
		  "of "
		  "this manager'" },
		{ "on all, and said so",
		  "quota pending "
		  "message=Worker_cluster_\\\"w1\\\"_has_a_Job_of_this_name_that_is_not_of_this_"
		  "manager",
		  { "jobtaken", "taken" },
		  "" },
		{ "in place of the Job of the winner",
		  "quota ready cluster=w1",
		  { "admitted jobtaken" },
		  "SetCheck Retry 'The Job of this name on worker cluster \"w1\" is not of this "
		  "manager, Previously: \"Ready\"' (Warning)" },
		{ "without quota", "pending", { "taken jobtaken" }, "" },
		{ "deleted", "gone", { "taken jobtaken" }, "" },
		{ "in place of the replica of the winner",
		  "quota ready cluster=w1",
		  { "taken" },
		  "SetCheck Retry 'Admitting remote no longer exists, Previously: \"Ready\"' "
		  "(Warning)" },
	};

	(void)state;
	manager_fixture_run(rows, ARRAY_LEN(rows));
}

/* In Kueue an error on one worker ends the pass for all: nominations, replicas, statuses. Here the
 * step has what the others need whatever is wrong with one. */
static void hole_5_30_one_bad_cluster_blocks_nothing(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "a replica that does not go away",
		  "quota pending nominated=w1,w2,w3",
		  { "replica deleting", "", "replica podset=other" },
		  "CreateReplica w2; DeleteReplica w3" },
		{ "a Job that does not go away",
		  "pending",
		  { "jobdeleting", "replica", "admitted job" },
		  "DeleteReplica w2; DeleteReplica w3" },
		{ "one that is away",
		  "quota pending nominated=w1,w2,w3",
		  { "lost=100000", "", "" },
		  "CreateReplica w2; CreateReplica w3" },
		{ "one that claims to have finished, without ever having had the Job",
		  "quota pending nominated=w1,w2,w3",
		  { "finished=Succeeded", "admitted", "" },
		  "SetCluster w2 (Normal); DeleteReplica w1" },
	};

	(void)state;
	manager_fixture_run(rows, ARRAY_LEN(rows));
}

static void replicas_follow_the_local_spec(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "another priority, while it waits",
		  "quota pending nominated=w1,w2 priority=5",
		  { "replica priority=5", "replica" },
		  "UpdateReplica w2" },
		{ "another class, while it waits with a Job of an earlier offer",
		  "quota pending nominated=w1 class=high",
		  { "replica job class=low" },
		  "" },
		{ "gates are those of each cluster",
		  "quota pending nominated=w1 gate",
		  { "replica" },
		  "" },
		{ "another pod set",
		  "quota pending nominated=w1 podset=other",
		  { "replica" },
		  "DeleteReplica w1" },
		{ "deactivated there, and not evicted yet",
		  "quota pending nominated=w1",
		  { "replica inactive" },
		  "DeleteReplica w1" },
		{ "finished there before it was admitted",
		  "quota pending nominated=w1",
		  { "finished=OutOfSync" },
		  "DeleteReplica w1" },
		{ "one that is out of sync does not win",
		  "quota pending nominated=w1",
		  { "admitted podset=other" },
		  "DeleteReplica w1" },
		{ "one that was evicted does not win",
		  "quota pending nominated=w1",
		  { "admitted evicted" },
		  "" },
		{ "a Job of an earlier offer goes first",
		  "quota pending nominated=w1",
		  { "job" },
		  "DeleteReplica w1" },
		{ "the running one is out of sync",
		  "quota ready cluster=w1",
		  { "admitted job podset=other" },
		  "DeleteReplica w1; SetCheck Retry 'Admitting remote no longer exists, "
		  "Previously: "
		  "\"Ready\"' (Warning)" },
	};

	(void)state;
	manager_fixture_run(rows, ARRAY_LEN(rows));
}

static void configurations_change(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "a cluster is added",
		  "quota pending nominated=w1",
		  { "replica", "" },
		  "Nominate w1 w2" },
		{ "a cluster is removed",
		  "quota pending nominated=w1,w2",
		  { "replica", "replica unconfigured" },
		  "Nominate w1; DeleteReplica w2" },
		{ "that of the winner is removed",
		  "quota ready cluster=w1",
		  { "admitted job unconfigured" },
		  "SetCheck Retry 'Admitting remote no longer exists, Previously: \"Ready\"' "
		  "(Warning)" },
		{ "that of the winner is removed while it is away",
		  "quota ready cluster=w1",
		  { "lost=100 unconfigured" },
		  "at +200" },
		{ "nothing is known of that of the winner",
		  "quota ready cluster=w9",
		  { "" },
		  "SetCheck Retry 'Admitting remote no longer exists, Previously: \"Ready\"' "
		  "(Warning)" },
		{ "the last one is removed",
		  "quota pending nominated=w1",
		  { "replica unconfigured" },
		  "Nominate; DeleteReplica w1" },
	};

	(void)state;
	manager_fixture_run(rows, ARRAY_LEN(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(external_dispatcher),
		cmocka_unit_test(hole_5_1_and_2_the_choice_is_the_same_each_time),
		cmocka_unit_test(hole_5_6_a_cluster_that_connects_late),
		cmocka_unit_test(hole_5_29_a_namesake_is_not_touched),
		cmocka_unit_test(hole_5_30_one_bad_cluster_blocks_nothing),
		cmocka_unit_test(replicas_follow_the_local_spec),
		cmocka_unit_test(configurations_change),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
