/* Deletions, which every part of the manager shares, in the words of manager_fixture.h. */
#include "scheduler/multikueue/manager/pass.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/multikueue/manager/manager_fixture.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deletions_go_on),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
