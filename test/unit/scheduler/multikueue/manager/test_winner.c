/* The recorded cluster, in the words of manager_fixture.h. Of each hole the comment says how Kueue
 * behaves, then how this manager does. */
#include "scheduler/multikueue/manager/winner.h"

#include "lib/unit.h"

#include <stdio.h>

#include "base/attrs.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/multikueue/manager/manager_fixture.h"

/* The grace is that of the connection. Kueue once took the age of the check, and evicted Workloads
 * that had run for long at the first break of a watch. */
static void grace_is_per_connection(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "just lost, running for years",
		  "quota ready cluster=w1",
		  { "lost=0" },
		  "at +300" },
		{ "the clock was set back", "quota ready cluster=w1", { "lost=-5000" }, "at +300" },
		{ "the last second", "quota ready cluster=w1", { "lost=299" }, "at +1" },
		{ "over",
		  "quota ready cluster=w1",
		  { "lost=300" },
		  "SetCheck Retry 'Admitting remote lost, Previously: \"Ready\"' (Warning)" },
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
	/* The manager before has reported the loss, or a later one than its own end. */
	manager_fixture_make(&f, "quota ready cluster=w1", (const char *[]){ "never=100", NULL });
	manager_fixture_expect(&f, "at +200");
	f.clusters[0].lost_at = f.view.now + 1000;
	manager_fixture_expect(&f, "at +240");
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

/* With a Job there, its reconciler decides the priority of the replica. */
static void priorities(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "before the Job is there",
		  "quota ready cluster=w1 priority=5 done",
		  { "admitted" },
		  "UpdateReplica w1" },
		{ "the value of the class is another one there",
		  "quota ready cluster=w1 priority=5 class=high label=high",
		  { "admitted priority=7 class=high joblabel=high" },
		  "" },
		{ "another class",
		  "quota ready cluster=w1 class=high label=high",
		  { "admitted class=low joblabel=low" },
		  "UpdateJob w1" },
		{ "no class any more",
		  "quota ready cluster=w1",
		  { "admitted class=low joblabel=low" },
		  "UpdateJob w1" },
		{ "a class for the first time",
		  "quota ready cluster=w1 class=high label=high",
		  { "admitted job" },
		  "UpdateJob w1" },
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

/* The core resumes a Job that it has just admitted, by a patch of the version that it has seen: a
 * status written at that moment would make the API server refuse one of the two. */
static void a_job_about_to_be_resumed_is_left_alone(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "it runs there",
		  "quota ready=1 cluster=w1 suspended",
		  { "admitted job jobactive=3" },
		  "at +2" },
		{ "the worker has said that it is suspended there",
		  "quota ready=1 cluster=w1 suspended",
		  { "admitted job jobsuspended jobactive=3" },
		  "at +2" },
		{ "the core has not resumed it",
		  "quota ready=3 cluster=w1 suspended",
		  { "admitted job jobactive=3" },
		  "SyncJob w1" },
		{ "the clock was set back",
		  "quota ready=-5000 cluster=w1 suspended",
		  { "admitted job jobactive=3" },
		  "at +3" },
		{ "the core has resumed it",
		  "quota ready=1 cluster=w1",
		  { "admitted job jobactive=3" },
		  "SyncJob w1" },
		{ "the core waits until none of it is active",
		  "quota ready=1 cluster=w1 suspended active=3",
		  { "admitted job jobsuspended" },
		  "SyncJob w1" },
		{ "it has ended there",
		  "quota ready=1 cluster=w1 suspended",
		  { "admitted job jobdone" },
		  "SyncJob w1" },
		{ "it is evicted here",
		  "quota ready=1 cluster=w1 evicted suspended",
		  { "admitted deactivated job jobactive=3" },
		  "SyncJob w1" },
	};

	(void)state;
	manager_fixture_run(rows, ARRAY_LEN(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grace_is_per_connection),
		cmocka_unit_test(hole_5_18_the_recorded_cluster_wins),
		cmocka_unit_test(hole_5_19_one_cluster_runs_it),
		cmocka_unit_test(hole_5_20_the_grace_ends_after_a_restart),
		cmocka_unit_test(hole_5_23_evictions_by_workers_are_paused),
		cmocka_unit_test(hole_5_31_a_job_that_ended_is_not_run_again),
		cmocka_unit_test(priorities),
		cmocka_unit_test(statuses_of_jobs),
		cmocka_unit_test(a_job_about_to_be_resumed_is_left_alone),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
