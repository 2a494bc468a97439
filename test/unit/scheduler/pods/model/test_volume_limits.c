#include "scheduler/pods/model/volume_limits.h"

#include <stdio.h>

#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/volumes.h"

static void test_limits_are_found_by_driver(void **state)
{
	struct volume_limit l[40];
	struct cluster *c = cluster_create();
	const struct node *n = cluster_fixture_node(c, "n", 1000);
	char name[8];

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "d%u", i / 2);
		l[39 - i] = (struct volume_limit){ cluster_fixture_name(c, name), i };
	}
	volumes_set_limits(c, STR_LIT("n"), l, 40);
	for (unsigned i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "d%u", i);
		/* Of two the least. */
		assert_int_equal(volume_limits_find(n, cluster_fixture_name(c, name))->count,
				 2 * i);
	}
	assert_null(volume_limits_find(n, cluster_fixture_name(c, "other")));
	assert_null(volume_limits_find(n, NULL));
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits_are_found_by_driver),
	};

	return cmocka_run_group_tests_name("model/volume_limits", tests, NULL, NULL);
}
