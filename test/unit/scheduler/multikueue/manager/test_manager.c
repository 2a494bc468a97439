/* The steps of the manager, in words (manager_fixture.h). Kueue's cases and the holes have files of
 * their own. */
#include "scheduler/multikueue/manager/manager.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/multikueue/manager/manager_fixture.h"

static void at_rest_there_is_nothing_to_do(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "waiting for quota", "pending", { "", "" }, "" },
		{ "waiting for workers",
		  "quota pending nominated=w1,w2",
		  { "replica", "gated" },
		  "" },
		{ "running",
		  "quota ready cluster=w1 active=1",
		  { "admitted job jobactive=1", "" },
		  "" },
		{ "running, the local Job is not resumed yet",
		  "quota ready cluster=w1 suspended",
		  { "admitted job jobsuspended", "" },
		  "" },
		{ "stopping there",
		  "quota pending evicted active=1 suspended",
		  { "admitted deactivated job jobactive=1 jobsuspended" },
		  "" },
		{ "stopping there, deactivated",
		  "quota pending evicted active=1 suspended",
		  { "admitted inactive job jobactive=1 jobsuspended" },
		  "" },
		{ "about to be evicted", "quota retry", { "replica", "" }, "" },
		{ "rejected", "quota rejected", { "replica", "" }, "" },
		{ "finished", "finished", { "", "" }, "" },
		{ "deactivated", "quota ready cluster=w1 inactive", { "admitted job" }, "" },
		{ "the Job is not read yet", "quota pending nojob", { "", "" }, "" },
		{ "the Workload of an earlier Job of the name",
		  "quota pending otherjob",
		  { "", "" },
		  "" },
	};

	(void)state;
	manager_fixture_run(rows, ARRAY_LEN(rows));
}

static void statuses_of_jobs(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "it runs",
		  "quota ready cluster=w1",
		  { "admitted job jobactive=3" },
		  "SyncJob w1" },
		{ "the local Job is not resumed: only the condition",
		  "quota ready cluster=w1 suspended",
		  { "admitted job jobactive=3" },
		  "SyncJob w1" },
		{ "it stops",
		  "quota ready cluster=w1 suspended active=3",
		  { "admitted job jobsuspended" },
		  "SyncJob w1" },
		{ "its deletion is under way",
		  "quota ready cluster=w1",
		  { "admitted jobdeleting jobactive=3" },
		  "SyncJob w1" },
	};

	(void)state;
	manager_fixture_run(rows, ARRAY_LEN(rows));
}

static void evictions_here(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "before a winner: nothing has to stop",
		  "quota pending evicted suspended",
		  { "gated", "admitted", "" },
		  "DeleteReplica w1; DeleteReplica w2" },
		{ "the Job without a replica is deleted",
		  "quota pending evicted active=1 suspended",
		  { "job jobactive=1", "" },
		  "DeleteReplica w1" },
		{ "it ended in the same moment",
		  "quota pending evicted active=1 suspended",
		  { "admitted finished=Succeeded job jobdone" },
		  "SyncJob w1" },
		{ "and the end is copied",
		  "quota pending evicted suspended done",
		  { "admitted finished=Succeeded job jobdone" },
		  "Finish w1 Succeeded 'm'" },
		{ "two Jobs: the first stops, the other is deleted",
		  "quota pending evicted active=1 suspended",
		  { "admitted job jobactive=1", "admitted job" },
		  "DeleteReplica w2; EvictReplica w1; SyncJob w1" },
		{ "two Jobs: the recorded one stops",
		  "quota ready cluster=w2 evicted active=1 suspended",
		  { "admitted job", "admitted job jobactive=1" },
		  "DeleteReplica w1; EvictReplica w2; SyncJob w2" },
		{ "evicted there as well, requeued and admitted again",
		  "quota pending evicted suspended",
		  { "admitted job jobsuspended" },
		  "EvictReplica w1" },
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
		{ "another class, while it runs",
		  "quota ready cluster=w1 class=high",
		  { "admitted job class=low" },
		  "UpdateReplica w1" },
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

static void deletions_go_on(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "a replica that holds our finalizer",
		  "pending",
		  { "replica deleting finalizer" },
		  "DeleteReplica w1" },
		{ "one that another finalizer holds", "pending", { "replica deleting" }, "" },
		{ "the winner is being deleted there",
		  "quota ready cluster=w1",
		  { "admitted deleting finalizer job" },
		  "DeleteReplica w1; SetCheck Retry 'Admitting remote no longer exists, "
		  "Previously: "
		  "\"Ready\"' (Warning)" },
		{ "the Job of a winner without a replica",
		  "quota ready cluster=w1",
		  { "job jobactive=1" },
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

/* A MultiKueueConfig that was deleted by mistake does not evict everything. */
static void without_the_config_nothing_changes(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "waiting", "quota pending nominated=w1", { "replica unconfigured" }, "" },
		{ "running", "quota ready cluster=w1", { "admitted job unconfigured" }, "" },
		{ "evicted here",
		  "quota pending evicted active=1 suspended",
		  { "admitted job jobactive=1 jobsuspended unconfigured" },
		  "EvictReplica w1" },
		{ "without quota", "pending", { "replica unconfigured" }, "DeleteReplica w1" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct manager_fixture f;

		unit_row(rows[i].name);
		manager_fixture_make(&f, rows[i].local, rows[i].clusters);
		f.view.has_config = false;
		manager_fixture_expect(&f, rows[i].want);
	}
}

static void checks(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "another check comes first", "quota pending other=Pending", { "", "" }, "" },
		{ "all others are ready",
		  "quota pending other=Ready",
		  { "", "" },
		  "Nominate w1 w2" },
		{ "retry is not made ready", "quota retry nominated=w1", { "admitted" }, "" },
		{ "a winner without a ready check",
		  "quota pending cluster=w1",
		  { "admitted job" },
		  "SetCluster w1 (Normal)" },
		{ "a ready check without the cluster",
		  "quota ready nominated=w1",
		  { "admitted" },
		  "SetCluster w1" },
		{ "the owner does not control",
		  "quota pending owner=secondary:Job",
		  { "" },
		  "Nominate w1" },
		{ "an owner of another kind of its group",
		  "quota pending owner=CronJob",
		  { "" },
		  "SetCheck Rejected 'No multikueue adapter found for owner kind \"batch/v1, "
		  "Kind=CronJob\", Previously: \"Pending\"'" },
		{ "the topology is assigned later",
		  "quota ready cluster=w1 delayed",
		  { "admitted topology job" },
		  "SetCluster w1 main" },
		{ "the topology is not assigned yet",
		  "quota ready cluster=w1 delayed",
		  { "admitted job" },
		  "" },
		{ "the topology is assigned with the admission",
		  "quota pending nominated=w1 delayed",
		  { "admitted topology" },
		  "SetCluster w1 main (Normal)" },
	};

	(void)state;
	manager_fixture_run(rows, ARRAY_LEN(rows));
}

static void defaults(void **state)
{
	struct manager_options opt;

	(void)state;
	manager_defaults(&opt);
	assert_true(opt.worker_lost_ns == INT64_C(900) * 1000000000);
	assert_int_equal(opt.dispatcher, MANAGER_ALL_AT_ONCE);
	assert_int_equal(opt.step_size, 3);
	assert_true(opt.round_ns == INT64_C(300) * 1000000000);
	assert_false(opt.gated);
	assert_true(opt.bounce_ns == INT64_C(10) * 1000000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_rest_there_is_nothing_to_do),
		cmocka_unit_test(statuses_of_jobs),
		cmocka_unit_test(evictions_here),
		cmocka_unit_test(replicas_follow_the_local_spec),
		cmocka_unit_test(deletions_go_on),
		cmocka_unit_test(configurations_change),
		cmocka_unit_test(without_the_config_nothing_changes),
		cmocka_unit_test(checks),
		cmocka_unit_test(defaults),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
