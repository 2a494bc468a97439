#include "scheduler/pods/dump/dump_fields.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "lib/unit.h"
#include "scheduler/pods/model/model.h"

static void test_integers_are_exact(void **state)
{
	static const int64_t numbers[] = { 0,
					   -1,
					   INT64_C(1) << 53,
					   (INT64_C(1) << 53) + 1,
					   -(INT64_C(1) << 53) - 1,
					   INT64_MAX,
					   INT64_MIN };

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
		CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
		struct json_out o;
		int64_t n = 7;

		json_out_init(&o, &b);
		dump_fields_write_int(&o, numbers[i]);
		json_out_end(&o);
		assert_int_equal(jdoc_parse(strbuf_str(&b), &d, NULL), 0);
		assert_int_equal(dump_fields_read_int(d, INT64_MIN, INT64_MAX, &n, NULL), 0);
		assert_true(n == numbers[i]);
	}
}

static void test_bad_integers(void **state)
{
	static const char *const texts[] = { "1.5",    "true", "null", "\"\"",
					     "\"1x\"", "[]",   "11",   "-1" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
		int64_t n = 7;

		assert_int_equal(jdoc_parse(str_of(texts[i]), &d, NULL), 0);
		assert_int_equal(dump_fields_read_int(d, 0, 10, &n, NULL), -ERR_INVALID);
		assert_int_equal(n, 7);
	}
	assert_int_equal(dump_fields_read_int(NULL, 0, 10, &(int64_t){ 0 }, NULL), -ERR_INVALID);
}

static void check_table(const struct dump_field *t, size_t size)
{
	static const size_t sizes[] = { [DUMP_BOOL] = 1, [DUMP_U8] = 1,  [DUMP_U32] = 4,
					[DUMP_I32] = 4,  [DUMP_I64] = 8, [DUMP_U64] = 8 };

	for (const struct dump_field *f = t; f->key != NULL; f++) {
		assert_true(f->offset + sizes[f->kind] <= size);
		assert_int_equal(f->offset % sizes[f->kind], 0);
		for (const struct dump_field *g = t; g < f; g++) {
			assert_string_not_equal(f->key, g->key);
			assert_true(f->offset != g->offset);
		}
	}
}

static void test_tables_are_sound(void **state)
{
	(void)state;
	check_table(dump_fields_cluster, sizeof(struct cluster));
	check_table(dump_fields_task, sizeof(struct task));
	check_table(dump_fields_podgroup, sizeof(struct podgroup));
	check_table(dump_fields_queue, sizeof(struct queue));
	check_table(dump_fields_node, sizeof(struct node));
}

static void test_defaults_are_left_out_and_come_back(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	struct podgroup j = { .queue_name = MODEL_NONE,
			      .part_queue = MODEL_NONE,
			      .barred_by = MODEL_NONE,
			      .priority_class = MODEL_NONE,
			      .exists = true,
			      .created = MODEL_TIME_NONE,
			      .changed = true },
			back = { .phase = PODGROUP_RUNNING };
	struct json_out o;

	(void)state;
	json_out_init(&o, &b);
	json_out_object(&o);
	dump_fields_write(dump_fields_podgroup, &j, &o);
	json_out_object_end(&o);
	assert_string_equal(b.p, "{}");
	assert_int_equal(jdoc_parse(strbuf_str(&b), &d, NULL), 0);
	assert_int_equal(dump_fields_read(dump_fields_podgroup, d, &back, NULL), 0);
	assert_int_equal(back.queue_name, MODEL_NONE);
	assert_int_equal(back.phase, PODGROUP_PENDING);
	assert_true(back.exists);
}

static void test_resources_by_name(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	struct res_names *names = res_names_create();
	struct res r, back;
	struct json_out o;

	(void)state;
	res_fill(&r, RES_UNLIMITED);
	r.v[RES_MEMORY] = 0;
	json_out_init(&o, &b);
	json_out_object(&o);
	dump_fields_write_res(&o, "limit", names, &r, RES_UNLIMITED);
	dump_fields_write_res(&o, "same", names, &r, 0);
	json_out_object_end(&o);
	assert_int_equal(jdoc_parse(strbuf_str(&b), &d, NULL), 0);
	assert_int_equal(dump_fields_read_res(d, "limit", names, RES_UNLIMITED, &back, NULL), 0);
	assert_true(res_eq(&r, &back));
	assert_int_equal(dump_fields_read_res(d, "absent", names, 5, &back, NULL), 0);
	assert_int_equal(back.v[RES_CPU], 5);
	res_names_destroy(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers_are_exact),
		cmocka_unit_test(test_bad_integers),
		cmocka_unit_test(test_tables_are_sound),
		cmocka_unit_test(test_defaults_are_left_out_and_come_back),
		cmocka_unit_test(test_resources_by_name),
	};

	return cmocka_run_group_tests_name("pods/dump/dump_fields", tests, NULL, NULL);
}
