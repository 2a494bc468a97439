/* The order of the steps, in the words of manager_fixture.h: each part of the manager has a file of
 * its own, and so have Kueue's cases. */
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
		{ "no owner, with quota",
		  "quota pending owner=none",
		  { "" },
		  "SetCheck Rejected 'No multikueue adapter found, Previously: \"Pending\"'" },
		{ "an owner of another kind, with quota",
		  "quota pending owner=Pod",
		  { "" },
		  "SetCheck Rejected 'No multikueue adapter found for owner kind \"/v1, "
		  "Kind=Pod\", "
		  "Previously: \"Pending\"'" },
		{ "a Job that the local controller runs, with quota",
		  "quota pending unmanaged",
		  { "" },
		  "SetCheck Rejected 'The owner is not managed by Kueue: Expecting spec.managedBy "
		  "to "
		  "be \"kueue.x-k8s.io/multikueue\" not \"\", Previously: \"Pending\"'" },
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
		cmocka_unit_test(without_the_config_nothing_changes),
		cmocka_unit_test(checks),
		cmocka_unit_test(defaults),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
