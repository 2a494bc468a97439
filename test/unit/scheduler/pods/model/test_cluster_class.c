#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"

static void test_equal_classes_are_one(void **state)
{
	struct cluster *c = cluster_create();
	const struct pod_class *a = cluster_fixture_class(c, 100);
	const struct pod_class *b = cluster_fixture_class(c, 100);
	const struct pod_class *other = cluster_fixture_class(c, 200);

	(void)state;
	assert_ptr_equal(a, b);
	assert_int_equal(a->refs, 2);
	assert_ptr_not_equal(a, other);
	assert_ptr_equal(cluster_class_ref(c, other), other);
	assert_int_equal(other->refs, 2);
	cluster_destroy(c);
}

static void test_ids_are_dense_and_reused(void **state)
{
	struct cluster *c = cluster_create();
	const struct pod_class *a = cluster_fixture_class(c, 100);
	const struct pod_class *b = cluster_fixture_class(c, 200);
	uint32_t id = a->id;

	(void)state;
	assert_ptr_equal(c->class_by_id.v[b->id], b);
	cluster_class_unref(c, a);
	cluster_class_unref(c, NULL);
	assert_null(c->class_by_id.v[id]);
	assert_int_equal(cluster_fixture_class(c, 300)->id, id);
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_classes_are_one),
		cmocka_unit_test(test_ids_are_dense_and_reused),
	};

	return cmocka_run_group_tests_name("pods/model/cluster_class", tests, NULL, NULL);
}
