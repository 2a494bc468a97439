#include "enc/decode_priv.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "enc/field.h"
#include "enc/json/reader.h"

static void test_raw(void **state)
{
	static const char text[] = " {\"a\": [1, \"\\u0000\"]} ";
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct str raw = { NULL, 0 };
	struct reader r;
	struct decoder d = { .r = &r, .arena = arena };
	(void)state;

	for (int slice = 0; slice < 2; slice++) {
		reader_of_text(&r, str_of(text), arena);
		assert_int_equal(decode_raw(&d, slice == 1, &raw), 0);
		assert_true(str_eq_c(raw, "{\"a\": [1, \"\\u0000\"]}"));
		assert_int_equal(raw.p == text + 1, slice);
		assert_int_equal(reader_finish(&r, NULL), 0);
	}
	reader_of_text(&r, STR_LIT("{\"a\":}"), arena);
	assert_int_equal(decode_raw(&d, true, &raw), -ERR_INVALID);
}

static void test_raw_list(void **state)
{
	static const struct {
		const char *text;
		int r;
		size_t n;
	} rows[] = {
		{ "[]", 0, 0 },
		{ "[1, [2,3], {\"a\":[4]}]", 0, 3 },
		{ "{}", -ERR_INVALID, 0 },
		{ "[1,", -ERR_INVALID, 0 },
	};
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct field_raw_list list = { { NULL, 0 }, 0 };
		struct err err = ERR_INIT;
		struct reader r;
		struct decoder d = { .r = &r, .arena = arena, .err = &err };

		unit_row(rows[i].text);
		reader_of_text(&r, str_of(rows[i].text), arena);
		assert_int_equal(decode_raw_list(&d, &list), rows[i].r);
		assert_int_equal(list.n, rows[i].n);
		assert_true(rows[i].r < 0 || str_eq_c(list.json, rows[i].text));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_raw_list),
	};

	return cmocka_run_group_tests_name("decode_raw", tests, NULL, NULL);
}
