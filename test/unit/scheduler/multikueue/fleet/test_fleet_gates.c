/* Gates of replicas over embedded API servers, where nothing orchestrates. Those that the
 * orchestrator opens and closes are in test_fleet.c. */
#include "scheduler/multikueue/fleet/fleet_gates.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/multikueue/fleet_jobs.h"
#include "lib/multikueue/fleet_setup.h"
#include "lib/multikueue/fleet_split.h"
#include "lib/multikueue/fleet_world.h"

#define S CLOCK_NS_PER_S
#define MINUTE (60 * S)
#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"

static void add_gate(struct fleet_world *w, int server, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, WORKLOADS "/%s", name);
	assert_int_equal(fleet_world_patch(w, server, path.p,
					   "{\"spec\":{\"preemptionGates\":[{\"name\":"
					   "\"kueue.x-k8s.io/multikueue\"}]}}"),
			 200);
}

/* The feature gate is switched off: replicas that have a gate would never preempt (Kueue's manager
 * leaves them so). Gates of objects that are not this manager's stay as they are. */
static void test_gates_are_opened_for_good(void **state UNUSED)
{
	struct manager_options mo;
	struct fleet_world *w;

	manager_defaults(&mo);
	mo.gated = true;
	w = fleet_world_managed(3, &mo);
	fleet_jobs_submit(w, "a");
	fleet_world_run(w, S);
	for (unsigned i = 0; i < 3; i++) {
		fleet_world_report(w, i, "a", FLEET_WORLD_GATED);
	}
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	fleet_world_kill(w, true);
	assert_int_equal(fleet_world_patch(w, 2, WORKLOADS "/a",
					   "{\"metadata\":{\"annotations\":{"
					   "\"headgate.io/multikueue-manager\":\"other\"}}}"),
			 200);
	mo.gated = false;
	fleet_world_manage(w, &mo, MINUTE);
	fleet_world_refuse(w, 1, true);
	fleet_world_start(w);
	fleet_world_run(w, 2 * S);
	assert_true(fleet_world_is_open(w, 0, "a"));
	assert_false(fleet_world_is_open(w, 1, "a"));
	fleet_world_refuse(w, 1, false);
	fleet_world_run(w, MINUTE);
	assert_true(fleet_world_is_open(w, 1, "a"));
	assert_false(fleet_world_is_open(w, 2, "a"));

	/* The webhook of a worker goes on adding gates. */
	fleet_jobs_submit(w, "b");
	fleet_world_run(w, S);
	assert_false(fleet_world_is_open(w, 0, "b"));
	add_gate(w, 0, "b");
	fleet_world_run(w, S);
	assert_true(fleet_world_is_open(w, 0, "b"));
	/* So does an eviction there, which closes them. */
	fleet_world_report(w, 0, "b", FLEET_WORLD_EVICTED);
	fleet_world_run(w, S);
	assert_true(fleet_world_is_open(w, 0, "b"));
	fleet_world_destroy(w);
}

static void hole_5_28_gates_of_all_variants_are_opened(void **state UNUSED)
{
	struct manager_options mo;
	struct fleet_world *w;

	manager_defaults(&mo);
	w = fleet_world_managed(1, &mo);
	fleet_jobs_submit(w, "a");
	fleet_world_run(w, S);
	fleet_split_label(w, 0, "a");
	fleet_split_add(w, 0, "a", "x");
	fleet_split_add(w, 0, "a", "y");
	fleet_world_report(w, 0, "a-x", FLEET_WORLD_GATED);
	fleet_world_report(w, 0, "a-y", FLEET_WORLD_GATED);
	fleet_world_run(w, 2 * S);
	assert_true(fleet_world_is_open(w, 0, "a-x") && fleet_world_is_open(w, 0, "a-y"));
	fleet_world_destroy(w);
}

/* An entry may have members of a later version of KEP-8303, or of a fork. */
static void test_members_that_are_not_known(void **state UNUSED)
{
	struct manager_options mo;
	struct fleet_world *w;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	const struct jdoc *entry;

	manager_defaults(&mo);
	w = fleet_world_managed(1, &mo);
	fleet_setup_gate_entry(
		w, 0,
		"{\"position\":{\"type\":\"string\"},\"lastTransitionTime\":{\"type\":"
		"\"string\"},\"openedFor\":{\"type\":\"string\"}}");
	fleet_world_kill(w, true);
	fleet_world_start(w);
	fleet_jobs_submit(w, "a");
	fleet_world_run(w, 2 * S);
	assert_int_equal(fleet_world_patch(w, 0, WORKLOADS "/a/status",
					   "{\"status\":{\"preemptionGates\":[{\"name\":"
					   "\"kueue.x-k8s.io/multikueue\",\"position\":\"Closed\","
					   "\"lastTransitionTime\":\"2027-01-15T08:00:00Z\","
					   "\"openedFor\":\"team\"}]}}"),
			 200);
	add_gate(w, 0, "a");
	fleet_world_run(w, S);
	d = fleet_world_get(w, 0, WORKLOADS "/a");
	entry = jdoc_at(jdoc_path(d, "status.preemptionGates"), 0);
	assert_true(jdoc_is_str(jdoc_get(entry, "position"), "Open"));
	assert_true(jdoc_is_str(jdoc_get(entry, "openedFor"), "team"));
	fleet_world_destroy(w);
}

/* One that is admitted does not preempt any more, and nothing is written to it. */
static void test_of_an_admitted_replica(void **state UNUSED)
{
	struct manager_options mo;
	struct fleet_world *w;

	manager_defaults(&mo);
	w = fleet_world_managed(1, &mo);
	fleet_jobs_submit(w, "a");
	fleet_world_run(w, S);
	fleet_world_report(w, 0, "a", FLEET_WORLD_ADMITTED);
	add_gate(w, 0, "a");
	fleet_world_run(w, MINUTE);
	assert_int_equal(fleet_jobs_winner(w, "a"), 0);
	assert_false(fleet_world_is_open(w, 0, "a"));
	fleet_world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gates_are_opened_for_good),
		cmocka_unit_test(hole_5_28_gates_of_all_variants_are_opened),
		cmocka_unit_test(test_members_that_are_not_known),
		cmocka_unit_test(test_of_an_admitted_replica),
	};

	return cmocka_run_group_tests_name("fleet/gates", tests, NULL, NULL);
}
