/* The cases of Kueue's own unit tests of its workload reconciler, in the words of
 * manager_fixture.h. */
#include "scheduler/multikueue/manager/manager.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/multikueue/manager/manager_fixture.h"

/* Kueue's TestWlReconcile. Where its end is reached by two steps here, since nominations and the
 * winner are recorded first, there is a row for each. Kueue's retry after an error is the next call
 * here, after the object that the write failed on was read again. */
static const struct manager_fixture_row kueue_rows[] = {
	{ "deleted Workload without the check", "gone", { "" }, "" },
	/* Kueue leaves it to its garbage collector, minutes later. */
	{ "deleted, rejected, with a replica",
	  "rejected deleting",
	  { "replica" },
	  "DeleteReplica w1" },
	{ "deleted: replica and Job go", "gone", { "admitted job" }, "DeleteReplica w1" },
	{ "deleted: a cluster that is away is not written to",
	  "gone",
	  { "admitted job", "lost=10 replica" },
	  "DeleteReplica w1" },
	{ "deleted, nothing is left", "gone", { "", "" }, "" },
	{ "without the check it is not MultiKueue's", "quota", { "" }, "" },
	{ "no owner",
	  "pending owner=none",
	  { NULL },
	  "SetCheck Rejected 'No multikueue adapter found, Previously: \"Pending\"'" },
	{ "an owner of another kind",
	  "pending owner=Pod",
	  { NULL },
	  "SetCheck Rejected 'No multikueue adapter found for owner kind \"/v1, Kind=Pod\", "
	  "Previously: \"Pending\"'" },
	{ "a Job that the local controller runs",
	  "pending unmanaged",
	  { "" },
	  "SetCheck Rejected 'The owner is not managed by Kueue: Expecting spec.managedBy to be "
	  "\"kueue.x-k8s.io/multikueue\" not \"\", Previously: \"Pending\"'" },
	/* Kueue reads in each pass, and gives it up when a read fails. Here such a cluster is one
	 * that is away. */
	{ "a worker cannot be read", "quota pending", { "", "lost=0" }, "Nominate w1" },
	/* Kueue asks again after workerLostTimeout; here the connection calls. */
	{ "no quota, a cluster is away", "pending", { "", "lost=0" }, "" },
	{ "no quota, a cluster with a replica is away", "pending", { "", "lost=0 replica" }, "" },
	{ "no quota, and it is back", "pending", { "", "replica" }, "DeleteReplica w2" },
	{ "no quota", "pending", { "replica" }, "DeleteReplica w1" },
	{ "quota: nominated first", "quota pending", { "", "" }, "Nominate w1 w2" },
	{ "quota: then created",
	  "quota pending nominated=w1,w2",
	  { "", "" },
	  "CreateReplica w1; CreateReplica w2" },
	{ "one was created, the other failed",
	  "quota pending nominated=w1,w2",
	  { "replica", "" },
	  "CreateReplica w2" },
	{ "quota on a worker does not win: admission does",
	  "quota pending nominated=w1,w2",
	  { "reserved", "replica" },
	  "" },
	{ "admitted: recorded, the others go",
	  "quota pending nominated=w1,w2",
	  { "replica", "admitted" },
	  "SetCluster w2 (Normal); DeleteReplica w1" },
	{ "recorded: the Job is created",
	  "quota ready cluster=w2 suspended",
	  { "", "admitted" },
	  "CreateJob w2" },
	/* Kueue repeats the event of the admission. */
	{ "another one is out of sync",
	  "quota ready cluster=w1",
	  { "admitted job", "replica podset=other" },
	  "DeleteReplica w2" },
	{ "the winner is away, another one is out of sync",
	  "quota ready cluster=w1",
	  { "lost=0 admitted job", "replica podset=other" },
	  "DeleteReplica w2; at +300" },
	{ "evicted here: the worker is asked to stop",
	  "quota ready cluster=w1 evicted active=1 suspended",
	  { "admitted job jobactive=1" },
	  "EvictReplica w1; SyncJob w1" },
	{ "evicted here: the worker has stopped, and the status follows",
	  "quota ready cluster=w1 evicted active=1 suspended",
	  { "reserved evicted job jobsuspended" },
	  "SyncJob w1" },
	{ "evicted there",
	  "quota ready cluster=w1",
	  { "evicted job jobsuspended" },
	  "SetCheck Retry 'Workload evicted on worker cluster: \"w1\", resetting for re-admission. "
	  "Previously: \"Ready\"' (Normal)" },
	{ "out of sync with its Job",
	  "quota ready cluster=w1 active=1",
	  { "admitted finished=OutOfSync job" },
	  "SetCheck Retry 'Remote workload on worker cluster \"w1\" is out of sync with its user "
	  "job, resetting for re-dispatch, Previously: \"Ready\"' (Warning)" },
	{ "out of sync, and said so",
	  "quota retry cluster=w1",
	  { "admitted finished=OutOfSync job" },
	  "" },
	{ "finished, with the Job of another",
	  "quota ready",
	  { "admitted finished=ByTest jobtaken" },
	  "SetCheck Ready 'The Job on worker cluster \"w1\" is not of this manager: its status "
	  "cannot be copied'" },
	{ "finished: the status is copied",
	  "quota ready",
	  { "admitted finished=ByTest job jobdone" },
	  "SyncJob w1" },
	/* Kueue's manager finishes the Workload, and Kueue's core does so by the Job as well. */
	{ "finished: then the core finishes the local one",
	  "quota ready done",
	  { "admitted finished=ByTest job jobdone" },
	  "" },
	{ "finished here",
	  "quota ready cluster=w1 finished",
	  { "admitted job" },
	  "DeleteReplica w1" },
	{ "lost for a while", "quota ready cluster=w1", { "lost=150 admitted" }, "at +150" },
	{ "lost for too long",
	  "quota ready cluster=w1",
	  { "lost=450" },
	  "SetCheck Retry 'Admitting remote lost, Previously: \"Ready\"' (Warning)" },
	{ "reachable, and gone",
	  "quota ready cluster=w1",
	  { "" },
	  "SetCheck Retry 'Admitting remote no longer exists, Previously: \"Ready\"' (Warning)" },
	{ "ready without a cluster",
	  "quota ready",
	  { "" },
	  "SetCheck Retry 'Admission check is Ready but no admitting cluster is recorded; this is "
	  "unexpected, please report it, Previously: \"Ready\"' (Warning)" },
	{ "back again, after the quota was released",
	  "pending evicted",
	  { "admitted job" },
	  "DeleteReplica w1" },
	{ "an elastic slice that was replaced",
	  "elastic quota ready cluster=w1 finished=WorkloadSliceReplaced",
	  { "reserved job" },
	  "" },
	{ "an elastic slice without quota",
	  "elastic ready cluster=w1",
	  { "reserved job" },
	  "DeleteReplica w1" },
	{ "an elastic slice that replaces another one",
	  "elastic replaces ready cluster=w1",
	  { "reserved job" },
	  "" },
	{ "an elastic slice that is out of sync",
	  "elastic quota ready cluster=w1",
	  { "reserved job podset=other" },
	  "DeleteReplica w1; SetCheck Retry 'Admitting remote no longer exists, Previously: "
	  "\"Ready\"' (Warning)" },
	/* TestNominateAndSynchronizeWorkers_MoreCases */
	{ "nominated in another order",
	  "quota pending nominated=w2,w1",
	  { "replica", "replica" },
	  "" },
};

static void as_kueue(void **state)
{
	(void)state;
	manager_fixture_run(kueue_rows, ARRAY_LEN(kueue_rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_kueue),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
