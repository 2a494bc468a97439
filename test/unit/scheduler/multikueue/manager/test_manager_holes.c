/* Where this manager does better than Kueue, by the number of the hole: each comment says how Kueue
 * behaves, then how this manager does. In words (manager_fixture.h). */
#include "scheduler/multikueue/manager/manager.h"

#include "lib/unit.h"

#include <stdio.h>

#include "base/attrs.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/multikueue/manager/manager_fixture.h"

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

/* In Kueue the replica that was admitted first wins: when a lost winner is back, the one that runs
 * instead is deleted, and then every write of the other name is refused. */
static void hole_5_18_the_recorded_cluster_wins(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "the lost one is back",
		  "quota ready cluster=w2",
		  { "admitted job jobactive=1", "admitted job" },
		  "DeleteReplica w1" },
		{ "and says that it has finished",
		  "quota ready cluster=w2",
		  { "admitted finished=Succeeded job jobdone", "admitted job" },
		  "DeleteReplica w1" },
		{ "and was evicted",
		  "quota ready cluster=w2",
		  { "evicted job", "admitted job" },
		  "DeleteReplica w1" },
		{ "the winner is lost now, within the grace",
		  "quota ready cluster=w2",
		  { "admitted job", "lost=1 admitted job" },
		  "DeleteReplica w1; at +299" },
		{ "before a winner is recorded it goes on there",
		  "quota pending nominated=w1,w2",
		  { "admitted job", "replica" },
		  "SetCluster w1 (Normal); DeleteReplica w2" },
	};

	(void)state;
	manager_fixture_run(rows, ARRAY_LEN(rows));
}

/* Kueue accepts that a Job runs twice once a cluster was lost for workerLostTimeout; but it also
 * does when the lost cluster had not reported an active pod before an eviction, or does not delete
 * the Job. Here only the timeout lets another cluster begin. */
static void hole_5_19_one_cluster_runs_it(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "it may run on a cluster that is away",
		  "quota ready cluster=w2",
		  { "lost=100 admitted job", "admitted" },
		  "at +200" },
		{ "it may have been created on a cluster that is away",
		  "quota ready cluster=w2",
		  { "lost=100 admitted jobsent", "admitted" },
		  "at +200" },
		{ "that is lost for good",
		  "quota ready cluster=w2",
		  { "lost=300 admitted job", "admitted" },
		  "CreateJob w2" },
		{ "it has ended there",
		  "quota ready cluster=w2",
		  { "lost=100 admitted jobdone", "admitted" },
		  "CreateJob w2" },
		{ "only a replica is there",
		  "quota ready cluster=w2",
		  { "lost=100 admitted", "admitted" },
		  "CreateJob w2" },
		{ "it is being deleted there",
		  "quota=100 ready cluster=w2",
		  { "jobdeleting", "admitted" },
		  "at +200" },
		{ "it is to be deleted there",
		  "quota=100 ready cluster=w2",
		  { "job", "admitted" },
		  "DeleteReplica w1; at +200" },
		{ "its cluster does not delete it",
		  "quota=300 ready cluster=w2",
		  { "jobdeleting", "admitted" },
		  "CreateJob w2" },
		{ "the time of the reservation is not known",
		  "quota=none ready cluster=w2",
		  { "jobdeleting", "admitted" },
		  "at +240" },
	};

	(void)state;
	manager_fixture_run(rows, ARRAY_LEN(rows));
}

/* In Kueue a cluster without a connection since the restart has no time of its loss, and the grace
 * never ends. Here it counts from the beginning of this manager. */
static void hole_5_20_the_grace_ends_after_a_restart(void **state)
{
	struct manager_fixture f;

	(void)state;
	manager_fixture_make(&f, "quota ready cluster=w1", (const char *[]){ "never", NULL });
	manager_fixture_expect(&f, "at +240");
	f.view.began = f.view.now - f.opt.worker_lost_ns;
	manager_fixture_expect(
		&f, "SetCheck Retry 'Admitting remote lost, Previously: \"Ready\"' (Warning)");
}

/* In Kueue the copied number of active pods stays as it was when the cluster was lost, and the
 * quota is held until it comes back. */
static void hole_5_21_an_eviction_ends_without_the_cluster(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "lost, within the grace",
		  "quota pending evicted active=2 suspended",
		  { "lost=100 admitted job", "" },
		  "at +200" },
		{ "lost for good",
		  "quota pending evicted active=2 suspended",
		  { "lost=300 admitted job", "" },
		  "ResetJob" },
		{ "it is not known where it ran: one that was not connected yet",
		  "quota pending evicted active=2 suspended",
		  { "never", "lost=290" },
		  "at +240" },
		{ "the core keeps the name of the cluster",
		  "quota ready cluster=w2 evicted active=2 suspended",
		  { "never", "lost=290" },
		  "at +10" },
		{ "the Job is gone, and nothing is away",
		  "quota pending evicted active=2 suspended",
		  { "replica", "" },
		  "DeleteReplica w1; ResetJob" },
		{ "no pod was active", "quota pending evicted suspended", { "never" }, "" },
		{ "it is back",
		  "quota pending evicted active=2 suspended",
		  { "admitted job jobactive=2" },
		  "EvictReplica w1; SyncJob w1" },
	};

	(void)state;
	manager_fixture_run(rows, ARRAY_LEN(rows));
}

/* In Kueue a Workload that workers evict again and again is offered again at once each time. */
static void hole_5_23_evictions_by_workers_are_paused(void **state)
{
	static const struct {
		const char *name, *local, *after;
	} rows[] = {
		{ "first", "quota ready cluster=w1", "" },
		{ "second", "quota ready cluster=w1 retries=1", " after 10" },
		{ "third", "quota ready cluster=w1 retries=2", " after 20" },
		{ "eighth", "quota ready cluster=w1 retries=7", " after 640" },
		{ "ninth", "quota ready cluster=w1 retries=8", " after 1280" },
		{ "the longest", "quota ready cluster=w1 retries=9", " after 1800" },
		{ "it has lost count", "quota ready cluster=w1 retries=2147483647", " after 1800" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct manager_fixture f;
		char want[256];

		unit_row(rows[i].name);
		manager_fixture_make(&f, rows[i].local, (const char *[]){ "evicted", NULL });
		snprintf(
			want, sizeof(want),
			"SetCheck Retry 'Workload evicted on worker cluster: \"w1\", resetting for "
			"re-admission. Previously: \"Ready\"'%s (Normal)",
			rows[i].after);
		manager_fixture_expect(&f, want);
		f.opt.bounce_ns = 0;
		snprintf(
			want, sizeof(want),
			"SetCheck Retry 'Workload evicted on worker cluster: \"w1\", resetting for "
			"re-admission. Previously: \"Ready\"' (Normal)");
		manager_fixture_expect(&f, want);
	}
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

/* Kueue runs a Job again of which the remote one was deleted, by its TTL for instance, before its
 * end was copied. Here a Job that has ended, or is sure to, is not run again. */
static void hole_5_31_a_job_that_ended_is_not_run_again(void **state)
{
#define ENDED                                                                                      \
	"By its last status the Job has ended or was about to, and its cluster or its remote Job " \
	"is gone; it is not run again"
	static const struct manager_fixture_row rows[] = {
		{ "the remote Job is gone, its end is copied",
		  "quota ready cluster=w1 done",
		  { "admitted" },
		  "" },
		{ "the remote Job is gone, its end was sure",
		  "quota ready cluster=w1 sure",
		  { "admitted" },
		  "SetCheck Ready '" ENDED "'" },
		{ "the replica is gone, the end was sure",
		  "quota ready cluster=w1 sure",
		  { "" },
		  "SetCheck Ready '" ENDED "'" },
		{ "the cluster is lost, the end was sure",
		  "quota ready cluster=w1 sure",
		  { "lost=300 admitted job" },
		  "SetCheck Ready '" ENDED "'" },
		{ "the cluster is lost, the end is copied",
		  "quota ready cluster=w1 done",
		  { "lost=300 admitted job" },
		  "" },
		{ "it is offered again, the end was sure",
		  "quota pending sure",
		  { "" },
		  "SetCheck Pending '" ENDED "'" },
		{ "the replica says how it ended",
		  "quota ready cluster=w1",
		  { "admitted finished=Failed" },
		  "Finish w1 Failed 'm' (Warning)" },
		{ "the replica was finished because its Job was deleted",
		  "quota ready cluster=w1",
		  { "admitted finished=OwnerNotFound" },
		  "SetCheck Retry 'Admitting remote no longer exists, Previously: \"Ready\"' "
		  "(Warning)" },
		{ "the Job has not been seen to end yet",
		  "quota ready cluster=w1",
		  { "admitted finished=Succeeded job" },
		  "" },
		{ "a Job that was deleted while it ran is created again",
		  "quota ready cluster=w1 active=1",
		  { "admitted" },
		  "CreateJob w1" },
	};

	(void)state;
	manager_fixture_run(rows, ARRAY_LEN(rows));
#undef ENDED
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hole_5_1_and_2_the_choice_is_the_same_each_time),
		cmocka_unit_test(hole_5_6_a_cluster_that_connects_late),
		cmocka_unit_test(hole_5_18_the_recorded_cluster_wins),
		cmocka_unit_test(hole_5_19_one_cluster_runs_it),
		cmocka_unit_test(hole_5_20_the_grace_ends_after_a_restart),
		cmocka_unit_test(hole_5_21_an_eviction_ends_without_the_cluster),
		cmocka_unit_test(hole_5_23_evictions_by_workers_are_paused),
		cmocka_unit_test(hole_5_29_a_namesake_is_not_touched),
		cmocka_unit_test(hole_5_30_one_bad_cluster_blocks_nothing),
		cmocka_unit_test(hole_5_31_a_job_that_ended_is_not_run_again),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
