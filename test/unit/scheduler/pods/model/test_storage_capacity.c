#include "scheduler/pods/model/storage_capacity.h"

#include <stdio.h>

#include "base/attrs.h"
#include "base/rng.h"
#include "collections/strmap.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/volumes.h"

static struct cluster *c;
static struct node *node;
static struct claim *claim;

static void set_claim(int64_t bytes)
{
	(void)volumes_set_claim(c, &(struct volumes_claim_spec){ .key = STR_LIT("ns/data"),
								 .klass = STR_LIT("late"),
								 .form.bytes = bytes });
	claim = volumes_find_claim(c, STR_LIT("ns/data"));
}

static void set_class(const char *name, const char *provisioner)
{
	volumes_set_class(c, &(struct volumes_class_spec){
				     .name = str_of(name),
				     .waits = true,
				     .provisioner = cluster_fixture_name(c, provisioner) });
}

static int setup(void **state)
{
	(void)state;
	c = cluster_create();
	node = cluster_fixture_node(c, "n", 1000);
	cluster_fixture_label(c, node, "rack", "r");
	cluster_fixture_label(c, node, "zone", "a");
	set_class("late", "d");
	(void)storage_capacity_set_driver(c, STR_LIT("d"), true);
	set_claim(10);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_null(cluster_verify(c));
	cluster_destroy(c);
	return 0;
}

/* nodes: "key=value ..."; "": all; NULL: none. */
static bool set(const char *key, const char *klass, const char *nodes, int64_t bytes)
{
	struct match_expr exprs[4];
	const char *values[4];
	struct match_term term = { exprs, 0, 0 };
	struct str rest = str_of(nodes);

	while (rest.len > 0) {
		struct str one = str_next(&rest, ' '), name = str_next(&one, '=');
		char text[2][16];

		(void)snprintf(text[0], sizeof(text[0]), STR_FMT, STR_ARG(name));
		(void)snprintf(text[1], sizeof(text[1]), STR_FMT, STR_ARG(one));
		values[term.nexprs] = cluster_fixture_name(c, text[1]);
		exprs[term.nexprs] = (struct match_expr){ .key = cluster_fixture_name(c, text[0]),
							  .values = &values[term.nexprs],
							  .nvalues = 1 };
		term.nexprs++;
	}
	return storage_capacity_set(
		c, &(struct storage_capacity_spec){ .key = str_of(key),
						    .klass = str_of(klass),
						    .nodes = nodes == NULL ? NULL : &term,
						    .bytes = bytes });
}

static void test_which_capacities_count(void **state)
{
	static const struct {
		const char *klass, *nodes;
		int64_t bytes, asked;
		bool want;
	} rows[] = {
		{ "late", "zone=a", 10, 10, true },
		{ "late", "zone=a", 9, 10, false },
		{ "late", "zone=a", -1, 10, false },
		{ "late", "zone=b", 99, 10, false },
		{ "late", "rack=a", 99, 10, false }, /* the value of another label */
		{ "late", "zone=a rack=r", 99, 10, true },
		{ "late", "zone=a rack=s", 99, 10, false },
		{ "late", "rack=s zone=a", 99, 10, false },
		{ "late", "", 10, 10, true },
		{ "late", NULL, 99, 10, false },
		{ "other", "zone=a", 99, 10, false },
		{ "late", "zone=a", INT64_MAX, INT64_MAX, true },
		/* Nothing is asked for. */
		{ "late", "zone=b", 0, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row_number(i);
		set_claim(rows[i].asked);
		(void)set("ns/p", rows[i].klass, rows[i].nodes, rows[i].bytes);
		assert_int_equal(storage_capacity_suffices(claim, node), rows[i].want);
		assert_null(cluster_verify(c));
		assert_true(storage_capacity_remove(c, STR_LIT("ns/p")));
		assert_int_equal(storage_capacity_suffices(claim, node), rows[i].asked == 0);
	}
	assert_false(storage_capacity_remove(c, STR_LIT("ns/p")));
}

static void test_drivers(void **state)
{
	(void)state;
	assert_false(storage_capacity_suffices(claim, node));
	assert_false(storage_capacity_set_driver(c, STR_LIT("d"), true));
	assert_false(storage_capacity_set_driver(c, STR_LIT("e"), false));
	assert_true(storage_capacity_set_driver(c, STR_LIT("d"), false));
	assert_true(storage_capacity_suffices(claim, node));
	/* The class comes after its driver, and changes it. */
	assert_true(storage_capacity_set_driver(c, STR_LIT("e"), true));
	assert_true(storage_capacity_suffices(claim, node));
	set_class("late", "e");
	assert_false(storage_capacity_suffices(claim, node));
	assert_true(volumes_remove_class(c, STR_LIT("late")));
	assert_true(storage_capacity_suffices(claim, node));
}

/* Pods that wait are looked at again where more is free than before. */
static void test_more_room_is_a_change(void **state)
{
	(void)state;
	set_class("other", "d");
	assert_true(set("ns/p", "late", "zone=a", 5));
	assert_false(set("ns/p", "late", "zone=a", 5));
	assert_false(set("ns/p", "late", "zone=a", 4));
	assert_true(set("ns/p", "late", "zone=a", 5));
	assert_true(set("ns/p", "late", "zone=b", 5));
	assert_true(set("ns/p", "other", "zone=b", 5));
	assert_true(set("ns/p", "other", "", 5));
	assert_true(set("ns/p", "other", NULL, 5));
	/* No pod waits for it. */
	assert_false(set("ns/p", "untracked", "", 5));
	assert_false(set("ns/p", "untracked", "", 6));
}

static void test_records_of_classes_go_with_the_last_capacity(void **state)
{
	(void)state;
	(void)set("ns/p", "unknown", "zone=a", 5);
	assert_non_null(strmap_get(c->storage_class_by_name, STR_LIT("unknown")));
	(void)set("ns/q", "unknown", "zone=a", 5);
	(void)set("ns/p", "late", "zone=a", 5);
	assert_null(cluster_verify(c));
	assert_true(storage_capacity_remove(c, STR_LIT("ns/q")));
	assert_null(strmap_get(c->storage_class_by_name, STR_LIT("unknown")));
}

/* The same answers as a look at all of them, with names that are swept meanwhile. */
static void test_random_capacities(void **state)
{
	static const char *const nodes[] = { "zone=a", "zone=b",        "rack=r",        "rack=a",
					     "",       "zone=a rack=r", "zone=b rack=r", NULL };
	static const bool reach[] = { true, false, true, false, true, true, false, false };
	int64_t bytes[16] = { 0 };
	size_t of[16] = { 0 };
	struct rng rng;

	(void)state;
	rng_init(&rng, 3);
	for (int step = 0; step < 3000; step++) {
		size_t i = rng_below(&rng, ARRAY_LEN(bytes));
		bool any = false;
		char key[8];

		(void)snprintf(key, sizeof(key), "ns/%zu", i);
		if (rng_below(&rng, 4) == 0) {
			(void)storage_capacity_remove(c, str_of(key));
			bytes[i] = -1;
		} else {
			of[i] = rng_below(&rng, ARRAY_LEN(nodes));
			bytes[i] = (int64_t)rng_below(&rng, 12);
			(void)set(key, "late", nodes[of[i]], bytes[i]);
		}
		cluster_names_sweep(c);
		for (size_t k = 0; k < ARRAY_LEN(bytes); k++) {
			any |= bytes[k] >= 10 && reach[of[k]];
		}
		assert_int_equal(storage_capacity_suffices(claim, node), any);
		assert_null(cluster_verify(c));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_which_capacities_count, setup, teardown),
		cmocka_unit_test_setup_teardown(test_drivers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_more_room_is_a_change, setup, teardown),
		cmocka_unit_test_setup_teardown(test_records_of_classes_go_with_the_last_capacity,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_random_capacities, setup, teardown),
	};

	return cmocka_run_group_tests_name("model/storage_capacity", tests, NULL, NULL);
}
