#include "scheduler/pods/model/images.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/rng.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"

static void set(struct cluster *c, const char *node, const char *name, int64_t bytes)
{
	struct images_entry e = { name, bytes };

	images_set_node(c, cluster_node_find(c, str_of(node)), &e, name != NULL);
	assert_null(cluster_verify(c));
}

static const struct image *find(const struct cluster *c, const char *name)
{
	return images_find(c, str_of(name));
}

static void test_nodes_are_counted(void **state)
{
	struct cluster *c = cluster_create();

	(void)state;
	(void)cluster_fixture_node(c, "a", 1);
	(void)cluster_fixture_node(c, "b", 1);
	set(c, "a", "x:1", 100);
	set(c, "b", "x:1", 90);
	assert_int_equal(find(c, "x:1")->nodes, 2);
	assert_int_equal(find(c, "x:1")->bytes, 100);
	assert_true(images_is_on(cluster_node_find(c, STR_LIT("b")), find(c, "x:1")->id));
	set(c, "b", "x:2", 7);
	assert_int_equal(find(c, "x:1")->nodes, 1);
	assert_false(images_is_on(cluster_node_find(c, STR_LIT("b")), find(c, "x:1")->id));
	set(c, "a", NULL, 0);
	assert_null(find(c, "x:1"));
	set(c, "b", NULL, 0);
	assert_int_equal(slots_count(&c->images), 0);
	cluster_destroy(c);
}

static void test_the_size_is_forgotten_with_the_last_node(void **state)
{
	struct cluster *c = cluster_create();
	struct pod_image of[] = { { .name = "x:1", .times = 1 } };
	struct pod_class k = { .images = of, .nimages = 1, .image_sources = 1 };
	struct task *t = cluster_fixture_task(c, "t", NULL, 1);

	(void)state;
	(void)cluster_fixture_node(c, "a", 1);
	pod_class_normalise(&k);
	cluster_task_set_class(c, t, cluster_class_intern(c, &k));
	assert_ptr_equal(t->klass->images[0].name, find(c, "x:1")->name);
	set(c, "a", "x:1", 100);
	set(c, "a", NULL, 0);
	assert_int_equal(find(c, "x:1")->bytes, 0);
	set(c, "a", "x:1", 60);
	assert_int_equal(find(c, "x:1")->bytes, 60);
	set(c, "a", NULL, 0);
	cluster_task_remove(c, t);
	assert_null(find(c, "x:1"));
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_sizes_have_limits(void **state)
{
	static const struct {
		int64_t bytes, want;
	} rows[] = {
		{ 0, 0 },
		{ -1, 0 },
		{ INT64_MIN, 0 },
		{ IMAGES_BYTES_MAX, IMAGES_BYTES_MAX },
		{ IMAGES_BYTES_MAX + 1, IMAGES_BYTES_MAX },
		{ INT64_MAX, IMAGES_BYTES_MAX },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cluster *c = cluster_create();

		unit_row_number(i);
		(void)cluster_fixture_node(c, "a", 1);
		set(c, "a", "x:1", rows[i].bytes);
		assert_int_equal(find(c, "x:1")->bytes, rows[i].want);
		cluster_destroy(c);
	}
}

static void test_names_have_limits(void **state)
{
	struct cluster *c = cluster_create();
	char name[IMAGES_NAME_MAX + 2];

	(void)state;
	(void)cluster_fixture_node(c, "a", 1);
	memset(name, 'x', sizeof(name));
	name[IMAGES_NAME_MAX] = '\0';
	set(c, "a", name, 1);
	assert_non_null(find(c, name));
	name[IMAGES_NAME_MAX] = 'x';
	name[IMAGES_NAME_MAX + 1] = '\0';
	set(c, "a", name, 1);
	assert_int_equal(slots_count(&c->images), 0);
	set(c, "a", "", 1);
	assert_int_equal(slots_count(&c->images), 0);
	cluster_destroy(c);
}

static void test_the_first_names_of_a_node_count(void **state)
{
	static char names[IMAGES_NODE_MAX + 1][8];
	static struct images_entry v[IMAGES_NODE_MAX + 1];

	(void)state;
	for (size_t n = IMAGES_NODE_MAX; n <= IMAGES_NODE_MAX + 1; n++) {
		struct cluster *c = cluster_create();
		struct node *a = cluster_fixture_node(c, "a", 1);

		for (size_t i = 0; i < n; i++) {
			(void)snprintf(names[i], sizeof(names[i]), "i%zu", i);
			v[i] = (struct images_entry){ names[i], 1 };
		}
		images_set_node(c, a, v, n);
		assert_int_equal(a->images.n, IMAGES_NODE_MAX);
		assert_non_null(find(c, names[IMAGES_NODE_MAX - 1]));
		assert_null(find(c, "i1000"));
		assert_null(cluster_verify(c));
		cluster_destroy(c);
	}
}

static void test_repeated_names_count_once(void **state)
{
	struct cluster *c = cluster_create();
	struct node *a = cluster_fixture_node(c, "a", 1);
	struct images_entry v[] = { { "y", 1 }, { "x", 2 }, { "y", 5 } };

	(void)state;
	images_set_node(c, a, v, ARRAY_LEN(v));
	assert_int_equal(a->images.n, 2);
	assert_int_equal(find(c, "y")->nodes, 1);
	assert_int_equal(find(c, "y")->bytes, 5);
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

/* An image that the node has already is left as it is. */
static void test_the_same_images_change_nothing(void **state)
{
	struct cluster *c = cluster_create();
	struct node *a = cluster_fixture_node(c, "a", 1);
	struct images_entry v[] = { { "x", 1 }, { "y", 2 } }, turned[] = { v[1], v[0] };
	const uint32_t *was;

	(void)state;
	images_set_node(c, a, v, 2);
	was = a->images.v;
	images_set_node(c, a, turned, 2);
	assert_ptr_equal(a->images.v, was);
	assert_int_equal(find(c, "x")->nodes, 1);
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void set_any(struct cluster *c, struct rng *rng, const char *const *names, size_t nnames)
{
	struct images_entry v[8];
	size_t n = rng_below(rng, ARRAY_LEN(v) + 1);

	for (size_t i = 0; i < n; i++) {
		v[i] = (struct images_entry){ names[rng_below(rng, nnames)],
					      (int64_t)rng_below(rng, 100) };
	}
	images_set_node(c, c->nodes.v[rng_below(rng, c->nodes.n)], v, n);
}

/* Images of nodes change, pods come and go; the counts are right after each step. */
static void test_random_steps(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	struct cluster *c = cluster_create();
	struct task *tasks[4] = { NULL };
	struct rng rng;

	(void)state;
	rng_init(&rng, 7);
	(void)cluster_fixture_node(c, "n0", 1);
	(void)cluster_fixture_node(c, "n1", 1);
	for (int step = 0; step < 500; step++) {
		struct pod_image of = { .name = names[rng_below(&rng, ARRAY_LEN(names))],
					.times = 1 };
		struct pod_class k = { .images = &of, .nimages = 1, .image_sources = 1 };
		struct task **t = &tasks[rng_below(&rng, ARRAY_LEN(tasks))];
		char name[2] = { (char)('p' + (t - tasks)), '\0' };

		set_any(c, &rng, names, ARRAY_LEN(names));
		if (*t != NULL) {
			cluster_task_remove(c, *t);
			*t = NULL;
		} else {
			*t = cluster_fixture_task(c, name, NULL, 1);
			pod_class_normalise(&k);
			cluster_task_set_class(c, *t, cluster_class_intern(c, &k));
		}
		assert_null(cluster_verify(c));
	}
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes_are_counted),
		cmocka_unit_test(test_the_size_is_forgotten_with_the_last_node),
		cmocka_unit_test(test_sizes_have_limits),
		cmocka_unit_test(test_names_have_limits),
		cmocka_unit_test(test_the_first_names_of_a_node_count),
		cmocka_unit_test(test_repeated_names_count_once),
		cmocka_unit_test(test_the_same_images_change_nothing),
		cmocka_unit_test(test_random_steps),
	};

	return cmocka_run_group_tests_name("model/images", tests, NULL, NULL);
}
