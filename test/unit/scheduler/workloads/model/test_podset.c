#include <stdio.h>

#include "base/attrs.h"
#include "lib/quota/quota_world.h"
#include "lib/unit.h"

static uint64_t shape(const char *words)
{
	struct quota_world w;
	char text[300];
	uint64_t h;

	(void)snprintf(text, sizeof(text),
		       "option heads=1\nquota q f cpu\nquota q f memory\n"
		       "workload w %s\n",
		       words);
	quota_world_init(&w, text);
	h = quota_world_workload(&w, "w")->object.podsets[0].shape;
	quota_world_finish(&w);
	return h;
}

static void test_equal_pod_sets_have_equal_shapes(void **state)
{
	(void)state;
	assert_true(shape("cpu=1 memory=2 prio=5") == shape("memory=2 cpu=1000m created=-5s"));
	assert_true(shape("selector:a=b") == shape("selector:a=b uid=x"));
}

static void test_all_that_matters_makes_a_difference(void **state)
{
	static const char *const words[] = {
		"cpu=1",
		"cpu=2",
		"memory=1",
		"cpu=1 memory=1",
		"cpu=1 pods=2",
		"cpu=1 pods=2 min=1",
		"cpu=1 selector:a=b",
		"cpu=1 selector:a=c",
		"cpu=1 affinity:a=b",
		"cpu=1 affinity:a=b,c",
		"cpu=1 affinity:a=b affinity:a=c",
		"cpu=1 toleration:a=b:NoSchedule",
		"cpu=1 toleration:a=b:NoExecute",
		"cpu=1 toleration:a=b",
		"cpu=1 toleration:a",
		"cpu=1 group=g",
		"cpu=1 topology",
		"cpu=1 invalid",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		unit_row(words[i]);
		for (size_t k = 0; k < i; k++) {
			assert_true(shape(words[i]) != shape(words[k]));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_pod_sets_have_equal_shapes),
		cmocka_unit_test(test_all_that_matters_makes_a_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
