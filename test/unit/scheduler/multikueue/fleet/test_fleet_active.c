/* The conditions Active over embedded API servers in virtual time. */
#include "scheduler/multikueue/fleet/fleet_active.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "enc/json/jdoc.h"
#include "lib/multikueue/fleet_setup.h"
#include "lib/multikueue/fleet_world.h"
#include "scheduler/orchestrate/orchestrate.h"

#define S CLOCK_NS_PER_S
#define MINUTE (60 * S)
#define KUEUE "/apis/kueue.x-k8s.io/v1beta2/"

/* Status, reason and the beginning of the message of the condition. */
static void assert_active(struct fleet_world *w, const char *path, const char *status,
			  const char *reason, const char *message)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = fleet_world_get(w, FLEET_WORLD_MANAGER, path);
	const struct jdoc *c = jdoc_at(jdoc_path(d, "status.conditions"), 0);

	if (!jdoc_is_str(jdoc_get(c, "status"), status) ||
	    !jdoc_is_str(jdoc_get(c, "reason"), reason) ||
	    strstr(jdoc_str_or(jdoc_get(c, "message"), ""), message) == NULL) {
		fail_msg("%s: %s, %s, %s", path, jdoc_str_or(jdoc_get(c, "status"), ""),
			 jdoc_str_or(jdoc_get(c, "reason"), ""),
			 jdoc_str_or(jdoc_get(c, "message"), ""));
	}
}

/* The time of the condition, and the version of the object. */
static void read_times(struct fleet_world *w, const char *path, char out[64], char version[32])
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = fleet_world_get(w, FLEET_WORLD_MANAGER, path);
	const struct jdoc *c = jdoc_at(jdoc_path(d, "status.conditions"), 0);

	snprintf(out, 64, "%s", jdoc_str_or(jdoc_get(c, "lastTransitionTime"), ""));
	snprintf(version, 32, "%s", jdoc_path_str(d, "metadata.resourceVersion"));
}

/* It has not started. */
static struct fleet_world *create(unsigned workers, bool gated)
{
	struct orchestrate_options o;
	struct manager_options mo;
	struct fleet_world *w;

	orchestrate_defaults(&o);
	manager_defaults(&mo);
	mo.gated = gated;
	w = fleet_world_create(workers, &o, 1, 1);
	fleet_world_manage(w, &mo, 0);
	return w;
}

static struct fleet_world *begin(unsigned workers)
{
	struct fleet_world *w = create(workers, false);

	fleet_world_start(w);
	fleet_world_run(w, 3 * S);
	return w;
}

static void test_all_are_active(void **state UNUSED)
{
	struct fleet_world *w = begin(2);
	char at[64], version[32], later[64], later_version[32];

	assert_active(w, KUEUE "multikueueclusters/w0", "True", "Active", "Connected");
	assert_active(w, KUEUE "multikueueclusters/w1", "True", "Active", "Connected");
	assert_active(w, KUEUE "admissionchecks/mk", "True", "Active", "is active");
	read_times(w, KUEUE "admissionchecks/mk", at, version);
	fleet_world_run(w, 10 * MINUTE);
	read_times(w, KUEUE "admissionchecks/mk", later, later_version);
	assert_string_equal(version, later_version); /* nothing is written again */
	fleet_world_destroy(w);
}

/* The condition says since when, a restart of the manager does not move it, and the other cluster
 * keeps the check active. */
static void test_loss(void **state UNUSED)
{
	struct fleet_world *w = begin(2);
	char at[64], version[32], later[64];

	fleet_world_cut(w, 0, true);
	fleet_world_run(w, 2 * MINUTE);
	assert_active(w, KUEUE "multikueueclusters/w0", "False", "ClientConnectionFailed",
		      "connection attempts: ");
	assert_active(w, KUEUE "admissionchecks/mk", "True", "SomeActiveClusters",
		      "Inactive clusters: [w0]");
	read_times(w, KUEUE "multikueueclusters/w0", at, version);
	fleet_world_kill(w, false);
	fleet_world_start(w);
	fleet_world_run(w, 5 * MINUTE);
	read_times(w, KUEUE "multikueueclusters/w0", later, version);
	assert_string_equal(at, later);
	fleet_world_cut(w, 1, true);
	fleet_world_run(w, 2 * MINUTE);
	assert_active(w, KUEUE "admissionchecks/mk", "False", "NoUsableClusters",
		      "Inactive clusters: [w0 w1]");
	fleet_world_cut(w, 0, false);
	fleet_world_cut(w, 1, false);
	fleet_world_run(w, 6 * MINUTE);
	assert_active(w, KUEUE "multikueueclusters/w0", "True", "Active", "Connected");
	assert_active(w, KUEUE "admissionchecks/mk", "True", "Active", "");
	fleet_world_destroy(w);
}

/* A restart of the manager makes no queue inactive while it connects. */
static void test_restart_is_no_loss(void **state UNUSED)
{
	struct fleet_world *w = begin(1);
	char at[64], later[64], version[32];

	read_times(w, KUEUE "multikueueclusters/w0", at, version);
	fleet_world_kill(w, false);
	fleet_world_hang(w, 0, true);
	fleet_world_start(w);
	fleet_world_run(w, 4 * S);
	assert_active(w, KUEUE "multikueueclusters/w0", "True", "Active", "Connected");
	assert_active(w, KUEUE "admissionchecks/mk", "True", "Active", "");
	fleet_world_hang(w, 0, false);
	fleet_world_run(w, MINUTE);
	read_times(w, KUEUE "multikueueclusters/w0", later, version);
	assert_string_equal(at, later);
	fleet_world_destroy(w);
}

static void test_bad_configuration(void **state UNUSED)
{
	struct fleet_world *w = begin(1);

	assert_int_equal(fleet_world_delete(w, FLEET_WORLD_MANAGER,
					    "/api/v1/namespaces/kueue-system/secrets/w0"),
			 200);
	fleet_world_run(w, 10 * S);
	assert_active(w, KUEUE "multikueueclusters/w0", "False", "BadKubeConfig",
		      "load client config failed: ");
	assert_active(w, KUEUE "admissionchecks/mk", "False", "NoUsableClusters", "");
	assert_int_equal(fleet_world_delete(w, FLEET_WORLD_MANAGER, KUEUE "multikueueclusters/w0"),
			 200);
	fleet_world_run(w, 10 * S);
	assert_active(w, KUEUE "admissionchecks/mk", "False", "NoUsableClusters",
		      "Missing clusters: [w0]");
	assert_int_equal(fleet_world_delete(w, FLEET_WORLD_MANAGER, KUEUE "multikueueconfigs/all"),
			 200);
	fleet_world_run(w, 10 * S);
	assert_active(w, KUEUE "admissionchecks/mk", "False", "BadConfig", "does not exist");
	fleet_world_destroy(w);
}

static void test_worker_without_gates(void **state UNUSED)
{
	for (unsigned gated = 0; gated < 2; gated++) {
		struct fleet_world *w = create(2, gated == 1);

		fleet_setup_gate_entry(w, 1, "{}");
		fleet_world_start(w);
		fleet_world_run(w, MINUTE);
		assert_active(w, KUEUE "multikueueclusters/w0", "True", "Active", "Connected");
		assert_active(w, KUEUE "multikueueclusters/w1", "True", "Active",
			      gated == 0 ? "Connected"
					 : "Connected, but its Workloads have no preemption gates");
		assert_active(w, KUEUE "admissionchecks/mk", "True", "Active", "is active");
		assert_int_equal(fleet_world_events(w, "PreemptionGatesNotServed", "w1", NULL),
				 gated);
		assert_int_equal(fleet_world_events(w, "PreemptionGatesNotServed", "w0", NULL), 0);
		fleet_world_destroy(w);
	}
}

/* Another manager with the same origin has a Workload on this worker. */
static void test_shared_origin(void **state UNUSED)
{
	struct fleet_world *w = begin(2);
	static const char workload[] =
		"{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\",\"metadata\":{"
		"\"name\":\"a\",\"namespace\":\"default\",\"labels\":{"
		"\"kueue.x-k8s.io/multikueue-origin\":\"multikueue\"},\"annotations\":{"
		"\"headgate.io/multikueue-manager\":\"other\"}},\"spec\":{\"queueName\":\"mine\","
		"\"podSets\":[{\"name\":\"main\",\"count\":1,\"template\":{\"spec\":{"
		"\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}]}}";

	assert_int_equal(
		fleet_world_create_object(w, 1, KUEUE "namespaces/default/workloads", workload),
		201);
	fleet_world_run(w, MINUTE);
	assert_int_equal(fleet_world_events(w, "OriginShared", "w1", NULL), 1);
	assert_int_equal(fleet_world_events(w, "OriginShared", "w0", NULL), 0);
	fleet_world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_are_active),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_restart_is_no_loss),
		cmocka_unit_test(test_bad_configuration),
		cmocka_unit_test(test_worker_without_gates),
		cmocka_unit_test(test_shared_origin),
	};

	return cmocka_run_group_tests_name("fleet/active", tests, NULL, NULL);
}
