#include "scheduler/pods/predicates/predicates_volumes.h"

#include "lib/pods/cluster_fixture.h"
#include "lib/pods/hooks_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/storage_capacity.h"
#include "scheduler/pods/model/volumes.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/statement.h"
#include "scheduler/pods/values/pod_class.h"

static struct hooks_fixture f;
static struct node *node;
static struct task *task;
static struct reason why;

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
	struct pod_claim of = { .name = cluster_fixture_name(f.cluster, "data"),
				.owner = owner == NULL ? NULL
						       : cluster_fixture_name(f.cluster, owner) };
	struct pod_class k = { .claims = &of,
			       .nclaims = 1,
			       .claims_in = cluster_fixture_name(f.cluster, "ns") };

	pod_class_normalise(&k);
	cluster_task_set_class(f.cluster, task, cluster_class_intern(f.cluster, &k));
}

static void set(struct volumes_claim_spec spec)
{
	spec.key = STR_LIT("ns/data");
	(void)volumes_set_claim(f.cluster, &spec);
}

static bool fits_now(struct reason *ret_why)
{
	return hooks_class_predicate(f.s, task->klass, node, ret_why) &&
	       (task->klass->nclaims == 0 || hooks_predicate(f.s, task, node, ret_why));
}

static const char *refused(void)
{
	bool fits;

	hooks_fixture_open(&f);
	why = (struct reason){ .code = NULL };
	fits = fits_now(NULL);
	assert_int_equal(fits_now(&why), fits);
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
	const char *values[] = { cluster_fixture_name(f.cluster, "a") };
	struct match_expr e = { .key = cluster_fixture_name(f.cluster,
							    "topology.kubernetes.io/zone"),
				.values = values,
				.nvalues = 1 };
	struct match_term t = { &e, 1, 0 };
	struct volumes_volume_spec v = { .name = STR_LIT("v") };
	struct label other = { e.key, cluster_fixture_name(f.cluster, "b") };

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

static void test_volumes_that_are_made_for_the_node(void **state)
{
	const char *values[] = { cluster_fixture_name(f.cluster, "a") };
	struct match_expr e = { .key = cluster_fixture_name(f.cluster, "zone"),
				.values = values,
				.nvalues = 1 };
	struct match_term t = { &e, 1, 0 };
	struct volumes_class_spec k = { .name = STR_LIT("k"), .waits = true };
	struct label zone = { e.key, cluster_fixture_name(f.cluster, "b") };

	(void)state;
	use(NULL);
	set((struct volumes_claim_spec){ .klass = STR_LIT("k") });
	volumes_set_class(f.cluster, &k);
	assert_string_equal(refused(), "node(s) didn't find available persistent volumes to bind");
	k.provisioner = cluster_fixture_name(f.cluster, "d");
	volumes_set_class(f.cluster, &k);
	assert_null(refused());
	set((struct volumes_claim_spec){ .klass = STR_LIT("k"), .selected = "other" });
	assert_string_equal(refused(), "node(s) didn't find available persistent volumes to bind");
	set((struct volumes_claim_spec){ .klass = STR_LIT("k"), .selected = "n" });
	assert_null(refused());
	k.restricted = true;
	k.topologies = &t;
	k.ntopologies = 1;
	volumes_set_class(f.cluster, &k);
	assert_string_equal(refused(), "node(s) didn't find available persistent volumes to bind");
	vec_push(&node->labels, zone);
	assert_non_null(refused());
	node->labels.v[0].value = values[0];
	assert_null(refused());
}

static void test_volumes_need_free_storage(void **state)
{
	struct volumes_class_spec k = { .name = STR_LIT("k"),
					.waits = true,
					.provisioner = cluster_fixture_name(f.cluster, "d") };
	struct match_term all = { .nexprs = 0 };
	struct storage_capacity_spec room = {
		.key = STR_LIT("ns/p"), .klass = STR_LIT("k"), .nodes = &all, .bytes = 4
	};

	(void)state;
	use(NULL);
	volumes_set_class(f.cluster, &k);
	(void)storage_capacity_set_driver(f.cluster, STR_LIT("d"), true);
	set((struct volumes_claim_spec){ .klass = STR_LIT("k"), .form.bytes = 5 });
	assert_string_equal(refused(), "node(s) did not have enough free storage");
	(void)storage_capacity_set(f.cluster, &room);
	assert_string_equal(refused(), "node(s) did not have enough free storage");
	/* Also where the claim has its node already. */
	set((struct volumes_claim_spec){ .klass = STR_LIT("k"), .form.bytes = 5, .selected = "n" });
	assert_string_equal(refused(), "node(s) did not have enough free storage");
	set((struct volumes_claim_spec){
		.klass = STR_LIT("k"), .form.bytes = 5, .selected = "other" });
	assert_string_equal(refused(), "node(s) didn't find available persistent volumes to bind");
	set((struct volumes_claim_spec){ .klass = STR_LIT("k"), .form.bytes = 5 });
	room.bytes = 5;
	(void)storage_capacity_set(f.cluster, &room);
	assert_null(refused());
}

static const char *refused_now(void)
{
	why = (struct reason){ .code = NULL };
	return hooks_predicate(f.s, task, node, &why) ? NULL : why.code;
}

/* Another pod that uses the claims of the task. */
static struct task *add_user(const char *name)
{
	struct task *t = cluster_fixture_task(
		f.cluster, name, cluster_fixture_podgroup(f.cluster, name, NULL, 1), 100);

	cluster_task_set_class(f.cluster, t, cluster_class_ref(f.cluster, task->klass));
	return t;
}

static void test_one_pod_at_a_time(void **state)
{
	struct task *other;
	struct node *far = cluster_fixture_node(f.cluster, "far", 1000);

	(void)state;
	use(NULL);
	set((struct volumes_claim_spec){
		.bound = true, .volume = STR_LIT("v"), .form.access = VOLUME_ONCE_POD });
	volumes_set_volume(f.cluster, &(struct volumes_volume_spec){ .name = STR_LIT("v") });
	other = add_user("other");
	hooks_fixture_open(&f);
	assert_null(refused_now());
	cluster_task_set_status(f.cluster, other, TASK_RUNNING, far);
	hooks_fixture_open(&f);
	assert_string_equal(refused_now(), "node has pod using PersistentVolumeClaim with the same "
					   "name and ReadWriteOncePod access mode");
	set((struct volumes_claim_spec){ .bound = true, .volume = STR_LIT("v") });
	assert_null(refused_now());
}

static void test_pods_of_one_session_share_the_node_of_a_claim(void **state)
{
	struct node *far = cluster_fixture_node(f.cluster, "far", 1000);
	struct statement st;
	struct task *other;

	(void)state;
	use(NULL);
	set((struct volumes_claim_spec){ .klass = STR_LIT("k") });
	volumes_set_class(f.cluster, &(struct volumes_class_spec){
					     .name = STR_LIT("k"),
					     .waits = true,
					     .provisioner = cluster_fixture_name(f.cluster, "d") });
	other = add_user("other");
	hooks_fixture_open(&f);
	st = statement_begin(f.s);
	statement_allocate(f.s, other, far);
	assert_int_equal(session_claim_node(f.s, f.cluster->claims.v[0]), far->id);
	assert_string_equal(refused_now(),
			    "node(s) didn't find available persistent volumes to bind");
	assert_true(hooks_predicate(f.s, task, far, NULL));
	statement_discard(f.s, st);
	assert_null(refused_now());
	assert_int_equal(session_claim_placed(f.s, f.cluster->claims.v[0]), 0);
}

static void add_volume(const char *name)
{
	volumes_set_volume(f.cluster, &(struct volumes_volume_spec){ .name = str_of(name),
								     .klass = STR_LIT("k"),
								     .available = true });
}

/* A volume that an earlier pod of the session has got is out of reach. */
static void test_a_volume_goes_to_one_claim(void **state)
{
	struct pod_claim of = { .name = cluster_fixture_name(f.cluster, "more") };
	struct pod_class k = { .claims = &of,
			       .nclaims = 1,
			       .claims_in = cluster_fixture_name(f.cluster, "ns") };
	struct task *other;
	struct statement st;

	(void)state;
	use(NULL);
	set((struct volumes_claim_spec){ .klass = STR_LIT("k") });
	(void)volumes_set_claim(f.cluster, &(struct volumes_claim_spec){ .key = STR_LIT("ns/more"),
									 .klass = STR_LIT("k") });
	volumes_set_class(f.cluster,
			  &(struct volumes_class_spec){ .name = STR_LIT("k"), .waits = true });
	add_volume("v");
	other = add_user("other");
	cluster_task_set_class(f.cluster, other, cluster_class_intern(f.cluster, &k));
	hooks_fixture_open(&f);
	assert_null(refused_now());
	st = statement_begin(f.s);
	statement_allocate(f.s, other, node);
	assert_string_equal(refused_now(),
			    "node(s) didn't find available persistent volumes to bind");
	assert_true(why.unresolvable);
	assert_false(hooks_predicate_later(f.s, task, node));
	statement_discard(f.s, st);
	assert_null(refused_now());
	st = statement_begin(f.s);
	statement_pipeline(f.s, other, node);
	assert_non_null(refused_now());
	statement_discard(f.s, st);
	add_volume("w");
	hooks_fixture_open(&f);
	st = statement_begin(f.s);
	statement_allocate(f.s, other, node);
	assert_null(refused_now());
	statement_discard(f.s, st);
}

static void test_limits_of_the_node(void **state)
{
	struct volume_limit limit = { cluster_fixture_name(f.cluster, "d"), 0 };
	struct pod_claim of = { .name = NULL };
	struct pod_class k = { .claims = &of, .nclaims = 1 };
	struct task *other;

	(void)state;
	use(NULL);
	volumes_set_volume(f.cluster, &(struct volumes_volume_spec){ .name = STR_LIT("v"),
								     .driver = limit.driver });
	set((struct volumes_claim_spec){ .bound = true, .volume = STR_LIT("v") });
	volumes_set_limits(f.cluster, STR_LIT("n"), &limit, 1);
	hooks_fixture_open(&f);
	assert_string_equal(refused_now(), "node(s) exceed max volume count");
	limit.count = 1;
	volumes_set_limits(f.cluster, STR_LIT("n"), &limit, 1);
	assert_null(refused_now());
	/* Its volume is attached already: one more pod of it needs none. */
	other = add_user("other");
	cluster_task_set_status(f.cluster, other, TASK_RUNNING, node);
	hooks_fixture_open(&f);
	assert_null(refused_now());
	of.name = cluster_fixture_name(f.cluster, "more");
	k.claims_in = cluster_fixture_name(f.cluster, "ns");
	cluster_task_set_class(f.cluster, task, cluster_class_intern(f.cluster, &k));
	(void)volumes_set_claim(f.cluster, &(struct volumes_claim_spec){ .key = STR_LIT("ns/more"),
									 .klass = STR_LIT("k") });
	volumes_set_class(f.cluster, &(struct volumes_class_spec){ .name = STR_LIT("k"),
								   .waits = true,
								   .provisioner = limit.driver });
	hooks_fixture_open(&f);
	assert_string_equal(refused_now(), "node(s) exceed max volume count");
	assert_false(why.unresolvable);
	assert_false(hooks_predicate_later(f.s, task, node));
	cluster_task_set_status(f.cluster, other, TASK_RELEASING, node);
	hooks_fixture_open(&f);
	assert_false(hooks_predicate(f.s, task, node, NULL));
	assert_true(hooks_predicate_later(f.s, task, node));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_claims_that_no_pod_can_use, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ephemeral_volumes_need_their_own_claim, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_bound_claims_and_their_volumes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_volumes_that_are_made_for_the_node, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_volumes_need_free_storage, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_pod_at_a_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pods_of_one_session_share_the_node_of_a_claim,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_volume_goes_to_one_claim, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits_of_the_node, setup, teardown),
		cmocka_unit_test_setup_teardown(test_without_the_plugin_claims_are_refused, setup,
						teardown),
	};

	return cmocka_run_group_tests_name("pods/predicates/predicates_volumes", tests, NULL, NULL);
}
