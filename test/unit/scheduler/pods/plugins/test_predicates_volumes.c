#include "scheduler/pods/plugins/predicates_volumes.h"

#include "collections/intern.h"
#include "lib/pods/hooks_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/pod_class.h"
#include "scheduler/pods/model/volumes.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/session/hooks.h"

static struct hooks_fixture f;
static struct node *node;
static struct task *task;
static struct reason why;

static const char *in(const char *text)
{
	return intern_name(f.cluster->names, intern_id(f.cluster->names, str_of(text)));
}

static int setup(void **state)
{
	(void)state;
	hooks_fixture_init(&f, "- plugins:\n  - name: predicates\n", plugin_registry,
			   plugin_registry_count);
	node = cluster_fixture_node(f.cluster, "n", 1000);
	task = cluster_fixture_task(f.cluster, "t", NULL, 100);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	hooks_fixture_finish(&f);
	return 0;
}

/* The task names ns/data; owner NULL: not as an ephemeral volume. */
static void use(const char *owner)
{
	struct pod_claim of = { .name = in("data"), .owner = owner == NULL ? NULL : in(owner) };
	struct pod_class k = { .claims = &of, .nclaims = 1, .claims_in = in("ns") };

	pod_class_normalise(&k);
	cluster_task_set_class(f.cluster, task, cluster_class_intern(f.cluster, &k));
}

static void set(struct volumes_claim_spec spec)
{
	spec.key = STR_LIT("ns/data");
	(void)volumes_set_claim(f.cluster, &spec);
}

static const char *refused(void)
{
	bool fits;

	hooks_fixture_open(&f);
	why = (struct reason){ .code = NULL };
	fits = hooks_class_predicate(f.s, task->klass, node, NULL);
	assert_int_equal(hooks_class_predicate(f.s, task->klass, node, &why), fits);
	assert_true(fits || why.unresolvable);
	return fits ? NULL : why.code;
}

static void test_claims_that_no_pod_can_use(void **state)
{
	(void)state;
	use(NULL);
	assert_string_equal(refused(), "persistentvolumeclaim \"data\" not found");
	assert_true(why.everywhere);
	set((struct volumes_claim_spec){ .lost = true, .volume = STR_LIT("v") });
	assert_string_equal(refused(), "persistentvolumeclaim \"data\" bound to non-existent "
				       "persistentvolume \"v\"");
	set((struct volumes_claim_spec){ .deleting = true, .bound = true, .volume = STR_LIT("v") });
	assert_string_equal(refused(), "persistentvolumeclaim \"data\" is being deleted");
	set((struct volumes_claim_spec){ .uid = "u" });
	assert_string_equal(refused(), "pod has unbound immediate PersistentVolumeClaims");
	/* One that names its volume waits for the controller, whatever its class. */
	volumes_set_class(f.cluster,
			  &(struct volumes_class_spec){ .name = STR_LIT("k"), .waits = true });
	set((struct volumes_claim_spec){ .volume = STR_LIT("v"), .klass = STR_LIT("k") });
	assert_string_equal(refused(), "pod has unbound immediate PersistentVolumeClaims");
}

static void test_ephemeral_volumes_need_their_own_claim(void **state)
{
	(void)state;
	use("uid-t");
	assert_string_equal(refused(), "waiting for ephemeral volume controller to create the "
				       "persistentvolumeclaim \"data\"");
	set((struct volumes_claim_spec){ .bound = true, .volume = STR_LIT("v") });
	assert_string_equal(refused(),
			    "PVC ns/data was not created for this pod (pod is not owner)");
	set((struct volumes_claim_spec){ .bound = true, .volume = STR_LIT("v"), .owner = "x" });
	assert_string_equal(refused(),
			    "PVC ns/data was not created for this pod (pod is not owner)");
	set((struct volumes_claim_spec){ .bound = true, .volume = STR_LIT("v"), .owner = "uid-t" });
	volumes_set_volume(f.cluster, &(struct volumes_volume_spec){ .name = STR_LIT("v") });
	assert_null(refused());
}

static void test_bound_claims_and_their_volumes(void **state)
{
	const char *values[] = { in("a") };
	struct match_expr e = { .key = in("topology.kubernetes.io/zone"),
				.values = values,
				.nvalues = 1 };
	struct match_term t = { &e, 1, 0 };
	struct volumes_volume_spec v = { .name = STR_LIT("v") };
	struct label other = { e.key, in("b") };

	(void)state;
	use(NULL);
	set((struct volumes_claim_spec){ .bound = true, .volume = STR_LIT("v") });
	assert_string_equal(refused(), "node(s) unavailable due to one or more pvc(s) bound to "
				       "non-existent pv(s)");
	assert_false(why.everywhere);
	volumes_set_volume(f.cluster, &v);
	assert_null(refused());
	v.restricted = true;
	v.affinity = &t;
	v.naffinity = 1;
	volumes_set_volume(f.cluster, &v);
	assert_string_equal(refused(), "node(s) didn't match PersistentVolume's node affinity");
	v = (struct volumes_volume_spec){ .name = STR_LIT("v"), .zones = &t, .nzones = 1 };
	volumes_set_volume(f.cluster, &v);
	assert_null(refused());
	vec_push(&node->labels, other);
	assert_string_equal(refused(), "node(s) had no available volume zone");
	node->labels.v[0].value = values[0];
	assert_null(refused());
}

static void test_without_the_plugin_claims_are_refused(void **state)
{
	(void)state;
	hooks_fixture_finish(&f);
	hooks_fixture_init(&f, "- plugins:\n  - name: gang\n", plugin_registry,
			   plugin_registry_count);
	node = cluster_fixture_node(f.cluster, "n", 1000);
	task = cluster_fixture_task(f.cluster, "t", NULL, 100);
	assert_null(refused());
	use(NULL);
	assert_string_equal(refused(), "PersistentVolumeClaims need the plugin predicates");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_claims_that_no_pod_can_use, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ephemeral_volumes_need_their_own_claim, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_bound_claims_and_their_volumes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_without_the_plugin_claims_are_refused, setup,
						teardown),
	};

	return cmocka_run_group_tests_name("plugins/predicates_volumes", tests, NULL, NULL);
}
