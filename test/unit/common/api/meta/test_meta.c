#include "api/meta/meta.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/clock.h"
#include "enc/decode.h"

static void test_decode(void **state)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	const char *text =
		"{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"42\","
		"\"generation\":3,\"creationTimestamp\":\"1970-01-01T00:00:02Z\","
		"\"deletionTimestamp\":null,\"labels\":{\"b\":\"2\",\"a\":\"1\"},"
		"\"annotations\":{\"kubectl.kubernetes.io/last-applied-configuration\":\"{}\"},"
		"\"managedFields\":[{\"fieldsV1\":{\"f:a\":{}}}],"
		"\"ownerReferences\":[{\"kind\":\"A\",\"controller\":false},{\"kind\":\"B\","
		"\"uid\":"
		"\"x\",\"controller\":true}],\"finalizers\":[\"f\"]}";
	struct api_meta m;
	(void)state;

	assert_int_equal(decode_text(&meta_fields, str_of(text), &m, arena, NULL), 0);
	assert_string_equal(m.name, "p");
	assert_string_equal(m.namespace_, "ns");
	assert_null(m.generate_name);
	assert_int_equal(m.generation, 3);
	assert_true(m.created == 2 * CLOCK_NS_PER_S);
	assert_true(m.deleted == FIELD_NO_TIME);
	assert_string_equal(field_map_get(&m.labels, "a"), "1");
	assert_int_equal(m.annotations.n, 0);
	/* There was a map, even if nothing of it is kept: patches must know. */
	assert_non_null(m.annotations.v);
	assert_string_equal(meta_controller(&m)->kind, "B");
	assert_int_equal(meta_version(&m), 42);
	assert_string_equal(m.finalizers.v[0], "f");
}

static void test_version(void **state)
{
	static const struct {
		const char *text;
		int64_t n;
	} rows[] = { { NULL, 0 },
		     { "0", 0 },
		     { "17", 17 },
		     { "-1", 0 },
		     { "abc", 0 },
		     { "9223372036854775807", INT64_MAX },
		     { "9223372036854775808", 0 } };
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct api_meta m = { .resource_version = rows[i].text };

		unit_row(rows[i].text);
		assert_true(meta_version(&m) == rows[i].n);
	}
}

static void test_lookups(void **state)
{
	struct api_condition c[] = { { .type = "Ready", .status = "True" },
				     { .type = "PodScheduled", .status = "False" } };
	struct api_conditions list = { c, 2 };
	struct api_meta m = { 0 };
	(void)state;

	assert_ptr_equal(meta_condition(&list, "PodScheduled"), &c[1]);
	assert_null(meta_condition(&list, "Other"));
	assert_true(meta_condition_is_true(&list, "Ready"));
	assert_false(meta_condition_is_true(&list, "PodScheduled"));
	assert_false(meta_condition_is_true(&list, "Other"));
	assert_null(meta_controller(&m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_lookups),
	};

	return cmocka_run_group_tests_name("meta", tests, NULL, NULL);
}
