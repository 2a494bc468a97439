/* Evictions on the manager, in the words of manager_fixture.h. */
#include "scheduler/multikueue/manager/wind_down.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/multikueue/manager/manager_fixture.h"

/* In Kueue the copied number of active pods stays as it was when the cluster was lost, and the
 * quota is held until it comes back. */
static void hole_5_21_an_eviction_ends_without_the_cluster(void **state)
{
	static const struct manager_fixture_row rows[] = {
		{ "lost, within the grace",
		  "quota pending evicted active=2 suspended",
		  { "lost=100 admitted job", "" },
		  "at +200" },
		{ "only the replica was seen there",
		  "quota pending evicted active=2 suspended",
		  { "lost=100 replica", "" },
		  "at +200" },
		{ "only the Job was seen there",
		  "quota pending evicted active=2 suspended",
		  { "lost=100 job", "" },
		  "at +200" },
		{ "the Job may have been created there",
		  "quota pending evicted active=2 suspended",
		  { "lost=100 jobsent", "" },
		  "at +200" },
		{ "nothing was seen there",
		  "quota pending evicted active=2 suspended",
		  { "lost=100", "" },
		  "ResetJob" },
		{ "two may run it: the one that was lost last counts",
		  "quota pending evicted active=2 suspended",
		  { "lost=100 job", "lost=200 job" },
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
		{ "and the core finishes it",
		  "quota pending evicted suspended done",
		  { "admitted finished=Succeeded job jobdone" },
		  "" },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hole_5_21_an_eviction_ends_without_the_cluster),
		cmocka_unit_test(evictions_here),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
