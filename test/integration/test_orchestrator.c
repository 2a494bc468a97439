/* The orchestrator as a process, with three worker clusters, each with a scheduler of Headgate: how
 * many Workloads are evicted for one that has to preempt. */
#include "lib/unit.h"

#include <signal.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "enc/json/jdoc.h"
#include "lib/wait.h"
#include "play/fleet_scene.h"
#include "play/stack.h"

#define WAIT_NS (120 * CLOCK_NS_PER_S)

static struct fleet_scene fleet;
static struct err err;

static void must(int r)
{
	if (r < 0) {
		fail_msg("%s", err.text);
	}
}

static int begin(void **state UNUSED)
{
	/* The Lease of a process that was killed would have to run out first. */
	static const char *const args[] = { "--leader-elect=false", NULL };
	int r = fleet_scene_start(&fleet, false, args, &err);

	if (r < 0) {
		print_message("%s\n", err.text);
	}
	return r;
}

static int end(void **state UNUSED)
{
	fleet_scene_stop(&fleet, false);
	return 0;
}

static bool is_true(int worker, const char *name, const char *type)
{
	CLEANUP(jdoc_destroyp) struct jdoc *w = NULL;

	must(fleet_scene_get(&fleet, worker, name, &w, &err));
	return fleet_scene_is_true(w, type);
}

static void wait_true(int worker, const char *name, const char *type)
{
	int64_t deadline = wait_deadline(WAIT_NS);

	do {
		if (is_true(worker, name, type)) {
			return;
		}
	} while (wait_until(deadline));
	fail_msg("w%d: %s is not %s", worker, name, type);
}

static int wait_winner(const char *name)
{
	int64_t deadline = wait_deadline(WAIT_NS);

	do {
		must(fleet_scene_manage(&fleet, &err));
		if (fleet_scene_winner(&fleet, name) >= 0) {
			return fleet_scene_winner(&fleet, name);
		}
	} while (wait_until(deadline));
	fail_msg("%s runs nowhere", name);
	return -1;
}

static size_t victims(void)
{
	size_t sum = 0, n;

	for (unsigned i = 0; i < FLEET_SCENE_WORKERS; i++) {
		must(fleet_scene_count_victims(&fleet, i, &n, &err));
		sum += n;
	}
	return sum;
}

/* All workers are full. The gates keep them from preempting, all but one. */
static void test_one_cluster_preempts(void **state UNUSED)
{
	for (unsigned i = 0; i < FLEET_SCENE_WORKERS; i++) {
		must(fleet_scene_fill(&fleet, i, "low", 4, 0, &err));
		wait_true((int)i, "low", "Admitted");
	}
	must(fleet_scene_submit(&fleet, "urgent", 10, true, &err));
	(void)wait_winner("urgent");
	assert_int_equal(victims(), 1);
}

/* The orchestrator dies while a gate is open; the next process goes on with the same cluster. */
static void test_restart(void **state UNUSED)
{
	must(fleet_scene_submit(&fleet, "again", 20, true, &err));
	assert_int_equal(stack_stop_program(fleet.manager, STACK_SCHEDULER, SIGKILL),
			 128 + SIGKILL);
	must(stack_start_program(fleet.manager, STACK_SCHEDULER, &err));
	(void)wait_winner("again");
	assert_int_equal(victims(), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_cluster_preempts),
		cmocka_unit_test(test_restart),
	};

	return stack_is_external() ? 0 : cmocka_run_group_tests(tests, begin, end);
}
