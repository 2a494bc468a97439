#include "api/core/namespace.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "enc/decode.h"

static void test_decode(void **state)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct api_namespace n;
	(void)state;

	assert_int_equal(decode_text(&namespace_fields,
				     STR_LIT("{\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":"
					     "\"b\"}},\"status\":{\"phase\":\"Active\"}}"),
				     &n, arena, NULL),
			 0);
	assert_string_equal(n.meta.name, "n");
	assert_string_equal(field_map_get(&n.meta.labels, "a"), "b");
	assert_string_equal(n.status.phase, "Active");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
	};

	return cmocka_run_group_tests_name("namespace", tests, NULL, NULL);
}
