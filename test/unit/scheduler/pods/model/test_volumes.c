#include "scheduler/pods/model/volumes.h"

#include "base/attrs.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"

static struct cluster *c;

static int setup(void **state)
{
	(void)state;
	c = cluster_create();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_null(cluster_verify(c));
	cluster_destroy(c);
	return 0;
}

static void test_node_affinity(void **state)
{
	struct node *n = cluster_fixture_node(c, "n", 1000);
	const char *values[] = { cluster_fixture_name(c, "a") };
	struct match_expr e = { .key = cluster_fixture_name(c, "zone"),
				.values = values,
				.nvalues = 1 };
	struct match_term t = { &e, 1, 0 };
	struct volume v = { .restricted = true };

	(void)state;
	assert_false(volumes_fits_node(&v, n));
	v.exists = true;
	assert_false(volumes_fits_node(&v, n));
	v.restricted = false;
	assert_true(volumes_fits_node(&v, n));
	v = (struct volume){ .exists = true, .restricted = true, .affinity = &t, .naffinity = 1 };
	assert_false(volumes_fits_node(&v, n));
	cluster_fixture_label(c, n, "zone", "a");
	assert_true(volumes_fits_node(&v, n));
}

#define ZONE "topology.kubernetes.io/zone"
#define BETA_ZONE "failure-domain.beta.kubernetes.io/zone"

/* key=value of a volume against key=value of a node. */
static void test_zones(void **state)
{
	static const struct {
		const char *key, *node_key, *node_value;
		bool fits;
	} rows[] = {
		{ ZONE, "other", "a", true },
		{ ZONE, ZONE, "a", true },
		{ ZONE, ZONE, "c", false },
		{ BETA_ZONE, ZONE, "b", true },
		{ BETA_ZONE, BETA_ZONE, "b", true },
		{ BETA_ZONE, ZONE, "c", false },
		{ ZONE, BETA_ZONE, "a", false },
		{ ZONE, "topology.kubernetes.io/region", "a", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct node *n = cluster_fixture_node(c, "n", 1000);
		const char *values[] = { cluster_fixture_name(c, "a"),
					 cluster_fixture_name(c, "b") };
		struct match_expr e = { .key = cluster_fixture_name(c, rows[i].key),
					.values = values,
					.nvalues = 2 };
		struct match_term t = { &e, 1, 0 };
		struct volume v = { .exists = true, .zones = &t, .nzones = 1 };

		unit_row_number(i);
		vec_clear(&n->labels);
		cluster_fixture_label(c, n, rows[i].node_key, rows[i].node_value);
		assert_int_equal(volumes_fits_zone(&v, n), rows[i].fits);
		v.nzones = 0;
		assert_true(volumes_fits_zone(&v, n));
	}
}

static struct claim *set(const char *key, const char *volume, const char *klass)
{
	const struct volumes_claim_spec spec = { .key = str_of(key),
						 .volume = str_of(volume),
						 .klass = str_of(klass) };

	(void)volumes_set_claim(c, &spec);
	return volumes_find_claim(c, str_of(key));
}

static void test_names_without_objects_come_and_go(void **state)
{
	struct claim *a = set("ns/a", "v", "k"), *b = set("ns/b", "v", NULL);

	(void)state;
	assert_string_equal(volumes_claim_name(a), "a");
	assert_ptr_equal(a->volume, b->volume);
	assert_int_equal(a->volume->claims.n, 2);
	assert_false(volumes_remove_volume(c, STR_LIT("v")));
	assert_false(volumes_remove_class(c, STR_LIT("k")));
	volumes_set_volume(c, &(struct volumes_volume_spec){ .name = STR_LIT("v") });
	volumes_set_class(c, &(struct volumes_class_spec){ .name = STR_LIT("k"), .waits = true });
	assert_true(a->volume->exists && a->klass->exists && a->klass->waits);
	assert_true(volumes_remove_volume(c, STR_LIT("v")));
	assert_true(volumes_remove_class(c, STR_LIT("k")));
	assert_false(a->volume->exists || a->klass->exists || a->klass->waits);
	(void)set("ns/a", NULL, "other");
	assert_null(a->volume);
	assert_int_equal(b->volume->claims.n, 1);
	assert_true(volumes_remove_claim(c, STR_LIT("ns/a")));
	assert_true(volumes_remove_claim(c, STR_LIT("ns/b")));
	assert_false(volumes_remove_claim(c, STR_LIT("ns/b")));
	/* Nothing names them any more. */
	assert_false(volumes_remove_volume(c, STR_LIT("v")));
	assert_int_equal(slots_count(&c->claims), 0);
}

static void test_a_claim_of_a_pod_outlives_its_object(void **state)
{
	struct task *t = cluster_fixture_task(c, "t", NULL, 100);
	struct pod_claim of = { .name = cluster_fixture_name(c, "a") };
	struct pod_class k = { .claims = &of,
			       .nclaims = 1,
			       .claims_in = cluster_fixture_name(c, "ns") };
	struct claim *a;

	(void)state;
	cluster_task_set_class(c, t, cluster_class_intern(c, &k));
	a = volumes_find_claim(c, STR_LIT("ns/a"));
	assert_ptr_equal(c->claims.v[t->klass->claims[0].id], a);
	assert_false(a->exists);
	assert_int_equal(a->users.n, 1);
	assert_int_equal(a->users.v[0], t->id);
	assert_ptr_equal(set("ns/a", NULL, NULL), a);
	assert_true(volumes_remove_claim(c, STR_LIT("ns/a")));
	assert_ptr_equal(volumes_find_claim(c, STR_LIT("ns/a")), a);
	cluster_task_remove(c, t);
	assert_null(volumes_find_claim(c, STR_LIT("ns/a")));
}

static void test_the_same_limits_change_nothing(void **state)
{
	struct volume_limit l = { cluster_fixture_name(c, "d"), 3 };
	uint64_t gen;

	(void)state;
	(void)cluster_fixture_node(c, "n", 1000);
	volumes_set_limits(c, STR_LIT("n"), &l, 1);
	gen = c->nodes_gen;
	volumes_set_limits(c, STR_LIT("n"), &l, 1);
	assert_int_equal(c->nodes_gen, gen);
	l.count = 4;
	volumes_set_limits(c, STR_LIT("n"), &l, 1);
	assert_int_not_equal(c->nodes_gen, gen);
	volumes_set_limits(c, STR_LIT("n"), NULL, 0);
	volumes_set_limits(c, STR_LIT("unknown"), NULL, 0);
	assert_null(cluster_node_find(c, STR_LIT("unknown")));
}

/* The write of the claimRef fails, or the claim goes before it ends: another claim can have it. */
static void test_a_volume_that_comes_free_wakes_others(void **state)
{
	struct podgroup *g = cluster_fixture_podgroup(c, "g", NULL, 2);
	struct task *t = cluster_fixture_task(c, "t", g, 100);
	struct task *mate = cluster_fixture_task(c, "mate", g, 100);
	struct pod_claim of = { .name = cluster_fixture_name(c, "b") };
	struct pod_class k = { .claims = &of,
			       .nclaims = 1,
			       .claims_in = cluster_fixture_name(c, "ns") };
	struct volume *v;

	(void)state;
	cluster_task_set_class(c, t, cluster_class_intern(c, &k));
	(void)set("ns/b", NULL, "k");
	volumes_set_volume(c, &(struct volumes_volume_spec){ .name = STR_LIT("v"),
							     .klass = STR_LIT("k"),
							     .available = true });
	v = volumes_find_volume(c, STR_LIT("v"));
	volumes_take(set("ns/a", NULL, "k"), v);
	cluster_task_set_retry(c, t, MODEL_TIME_NEVER);
	cluster_task_set_retry(c, mate, MODEL_TIME_NEVER);
	volumes_claimed(c, v, false, 0);
	assert_int_equal(t->retry_at, MODEL_TIME_NONE);
	/* The gang starts whole or not at all. */
	assert_int_equal(mate->retry_at, MODEL_TIME_NONE);
	volumes_take(set("ns/a", NULL, "k"), v);
	cluster_task_set_retry(c, t, MODEL_TIME_NEVER);
	assert_true(volumes_remove_claim(c, STR_LIT("ns/a")));
	assert_null(v->taker);
	/* It is being written. */
	assert_int_equal(t->retry_at, MODEL_TIME_NEVER);
	volumes_claimed(c, v, false, 0);
	assert_int_equal(t->retry_at, MODEL_TIME_NONE);
	cluster_task_set_retry(c, t, MODEL_TIME_NEVER);
	volumes_take(set("ns/a", NULL, "k"), v);
	volumes_claimed(c, v, true, 5);
	assert_int_equal(t->retry_at, MODEL_TIME_NEVER);
	assert_true(volumes_remove_claim(c, STR_LIT("ns/a")));
	assert_int_equal(t->retry_at, MODEL_TIME_NONE);
	assert_true(volumes_remove_claim(c, STR_LIT("ns/b")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_node_affinity, setup, teardown),
		cmocka_unit_test_setup_teardown(test_zones, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_without_objects_come_and_go, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_claim_of_a_pod_outlives_its_object, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_volume_that_comes_free_wakes_others, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_same_limits_change_nothing, setup,
						teardown),
	};

	return cmocka_run_group_tests_name("model/volumes", tests, NULL, NULL);
}
