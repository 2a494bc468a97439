#include "collections/strmap.h"

#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"

static int freed;

static void on_free(void *value)
{
	freed++;
	free(value);
}

static bool join(struct str key, void *value, void *ctx)
{
	(void)value;
	strbuf_add_str(ctx, key);
	return true;
}

static bool stop_at_b(struct str key, void *value, void *ctx)
{
	(*(int *)ctx)++;
	(void)value;
	return !str_eq_c(key, "b");
}

static void test_get_set(void **state)
{
	CLEANUP(strmap_destroyp) struct strmap *m = strmap_create(NULL);
	char key[] = "queue";
	int a, b;

	(void)state;
	assert_null(strmap_get(m, STR_LIT("queue")));
	strmap_set(m, str_of(key), &a);
	key[0] = 'Q'; /* the key was copied */
	assert_ptr_equal(strmap_get(m, STR_LIT("queue")), &a);
	assert_null(strmap_get(m, STR_LIT("queu")));
	assert_null(strmap_get(m, STR_LIT("queues")));
	strmap_set(m, STR_LIT("queue"), &b);
	assert_ptr_equal(strmap_get(m, STR_LIT("queue")), &b);
	assert_int_equal(strmap_count(m), 1);
	strmap_set(m, STR_LIT("null"), NULL);
	assert_true(strmap_has(m, STR_LIT("null")));
	assert_false(strmap_has(m, STR_LIT("other")));
	assert_string_equal(strmap_key(m, STR_LIT("null")), "null");
	assert_null(strmap_key(m, STR_LIT("other")));
}

static void test_odd_keys(void **state)
{
	CLEANUP(strmap_destroyp) struct strmap *m = strmap_create(NULL);
	int a, b;

	(void)state;
	strmap_set(m, STR_LIT(""), &a);
	assert_ptr_equal(strmap_get(m, (struct str){ NULL, 0 }), &a);
	strmap_set(m, STR_LIT("a\0b"), &b);
	assert_ptr_equal(strmap_get(m, STR_LIT("a\0b")), &b);
	assert_null(strmap_get(m, STR_LIT("a")));
	assert_ptr_equal(strmap_take(m, (struct str){ NULL, 0 }), &a);
	assert_int_equal(strmap_count(m), 1);
}

static void test_insertion_order(void **state)
{
	CLEANUP(strmap_destroyp) struct strmap *m = strmap_create(NULL);
	CLEANUP(strbuf_finish) struct strbuf keys = STRBUF_INIT;
	int seen = 0;

	(void)state;
	strmap_set(m, STR_LIT("c"), NULL);
	strmap_set(m, STR_LIT("a"), NULL);
	strmap_set(m, STR_LIT("b"), NULL);
	strmap_set(m, STR_LIT("d"), NULL);
	strmap_set(m, STR_LIT("a"), NULL); /* keeps its place */
	strmap_each(m, join, &keys);
	assert_string_equal(keys.p, "cabd");
	strmap_remove(m, STR_LIT("a"));
	strmap_set(m, STR_LIT("a"), NULL);
	strbuf_reset(&keys);
	strmap_each(m, join, &keys);
	assert_string_equal(keys.p, "cbda");
	strmap_each(m, stop_at_b, &seen);
	assert_int_equal(seen, 2);
}

static void test_destructor(void **state)
{
	struct strmap *m = strmap_create(on_free);
	void *kept;

	(void)state;
	freed = 0;
	strmap_set(m, STR_LIT("a"), xmalloc(1));
	strmap_set(m, STR_LIT("b"), xmalloc(1));
	strmap_set(m, STR_LIT("c"), xmalloc(1));
	strmap_set(m, STR_LIT("a"), xmalloc(1));
	assert_int_equal(freed, 1);
	strmap_set(m, STR_LIT("a"), strmap_get(m, STR_LIT("a")));
	assert_int_equal(freed, 1);
	assert_true(strmap_remove(m, STR_LIT("b")));
	assert_false(strmap_remove(m, STR_LIT("b")));
	assert_int_equal(freed, 2);
	kept = strmap_take(m, STR_LIT("c"));
	assert_non_null(kept);
	assert_null(strmap_take(m, STR_LIT("c")));
	assert_int_equal(freed, 2);
	free(kept);
	strmap_clear(m);
	assert_int_equal(freed, 3);
	assert_int_equal(strmap_count(m), 0);
	strmap_set(m, STR_LIT("z"), xmalloc(1));
	strmap_destroy(m);
	assert_int_equal(freed, 4);
	strmap_destroy(NULL);
}

static void test_many(void **state)
{
	CLEANUP(strmap_destroyp) struct strmap *m = strmap_create(NULL);
	static char values[20000];
	char key[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		snprintf(key, sizeof(key), "ns/pod-%zu", i);
		strmap_set(m, str_of(key), &values[i]);
	}
	assert_int_equal(strmap_count(m), ARRAY_LEN(values));
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		unit_row_number(i);
		snprintf(key, sizeof(key), "ns/pod-%zu", i);
		assert_ptr_equal(strmap_get(m, str_of(key)), &values[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_get_set),
		cmocka_unit_test(test_odd_keys),
		cmocka_unit_test(test_insertion_order),
		cmocka_unit_test(test_destructor),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests_name("strmap", tests, NULL, NULL);
}
