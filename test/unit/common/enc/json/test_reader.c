#include "enc/json/reader.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"

/* Builds a tree by walking a reader: the walk must see all that is there, in order. */
static struct jdoc *rebuild(struct reader *r)
{
	struct jdoc *d = NULL;
	struct str key;

	switch (reader_kind(r)) {
	case JDOC_NULL:
		reader_skip(r);
		return jdoc_new_null();
	case JDOC_BOOL:
		return jdoc_new_bool(reader_bool(r));
	case JDOC_NUMBER:
		return jdoc_new_num(reader_num(r));
	case JDOC_STRING:
		return jdoc_new_str_n(reader_str(r));
	case JDOC_ARRAY:
		d = jdoc_new_array();
		reader_enter(r);
		while (reader_next(r, &key)) {
			assert_null(key.p);
			jdoc_append_take(d, rebuild(r));
		}
		return d;
	case JDOC_OBJECT:
		d = jdoc_new_object();
		reader_enter(r);
		while (reader_next(r, &key)) {
			struct strbuf name CLEANUP(strbuf_finish) = STRBUF_INIT;

			strbuf_add_str(&name, key);
			jdoc_set_take(d, name.p, rebuild(r));
		}
		return d;
	}
	return d;
}

static const char *const texts[] = {
	"null",
	" [ ] ",
	"{}",
	"{\"a\":{\"b\":[1,-2.5,1e3,true,false,null,\"x\"],\"c\":{}},\"d\":[[],[[]],{\"e\":{}}]}",
	"\"\\u00e9\\ud83d\\ude00\\n\"",
	"{\"\\u0041\":\"\\\"\",\"\":\"\"}",
};

static void test_text_and_tree_agree(void **state)
{
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
		struct jdoc *tree CLEANUP(jdoc_destroyp) = NULL;
		struct jdoc *a CLEANUP(jdoc_destroyp) = NULL, *b CLEANUP(jdoc_destroyp) = NULL;
		struct reader r;

		unit_row(texts[i]);
		assert_int_equal(jdoc_parse(str_of(texts[i]), &tree, NULL), 0);
		reader_of_text(&r, str_of(texts[i]), arena);
		a = rebuild(&r);
		assert_int_equal(reader_finish(&r, NULL), 0);
		reader_of_jdoc(&r, tree);
		b = rebuild(&r);
		assert_int_equal(reader_finish(&r, NULL), 0);
		assert_true(jdoc_equal(tree, a));
		assert_true(jdoc_equal(tree, b));
	}
}

static void test_skip_raw(void **state)
{
	const char *text = "{\"a\": [1, {\"x\": \"]\"}] ,\"b\":{\"y\":2},\"c\":3}";
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct jdoc *tree CLEANUP(jdoc_destroyp) = NULL;
	(void)state;

	assert_int_equal(jdoc_parse(str_of(text), &tree, NULL), 0);
	for (int as_text = 0; as_text < 2; as_text++) {
		struct reader r;
		struct str key, raw;

		if (as_text != 0) {
			reader_of_text(&r, str_of(text), arena);
		} else {
			reader_of_jdoc(&r, tree);
		}
		reader_enter(&r);
		assert_true(reader_next(&r, &key));
		raw = reader_raw(&r, arena);
		assert_true(
			str_eq_c(raw, as_text != 0 ? "[1, {\"x\": \"]\"}]" : "[1,{\"x\":\"]\"}]"));
		assert_true(reader_next(&r, &key));
		raw = reader_raw(&r, arena);
		assert_true(str_eq_c(raw, "{\"y\":2}"));
		assert_true(reader_next(&r, &key));
		assert_true(str_eq_c(key, "c"));
		reader_skip(&r);
		assert_false(reader_next(&r, &key));
		assert_int_equal(reader_finish(&r, NULL), 0);
	}
}

static void test_integers(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t n;
	} rows[] = {
		{ "0", true, 0 },
		{ "-0", true, 0 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "-9223372036854775808", true, INT64_MIN },
		{ "9007199254740993", true, INT64_C(9007199254740993) },
		{ "9223372036854775808", false, 0 },
		{ "1.0", true, 1 },
		{ "12e2", true, 1200 },
		{ "1.5", false, 0 },
		{ "1e30", false, 0 },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct reader r;
		int64_t n = 0;

		unit_row(rows[i].text);
		reader_of_text(&r, str_of(rows[i].text), NULL);
		assert_int_equal(reader_int(&r, &n), rows[i].ok);
		assert_true(n == rows[i].n);
		assert_int_equal(reader_finish(&r, NULL), 0);
	}
}

/* After an error nothing is delivered any more, whatever is called. */
static void test_errors_are_final(void **state)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct err err = ERR_INIT;
	struct reader r;
	struct str key;
	int64_t n;
	(void)state;

	reader_of_text(&r, STR_LIT("{\"a\":\n tru}"), arena);
	reader_enter(&r);
	assert_true(reader_next(&r, &key));
	assert_false(reader_bool(&r));
	assert_true(reader_has_failed(&r));
	assert_int_equal(reader_kind(&r), JDOC_NULL);
	assert_false(reader_next(&r, &key));
	assert_null(reader_str(&r).p);
	assert_null(reader_str_dup(&r, arena));
	assert_false(reader_int(&r, &n));
	assert_true(reader_num(&r) == 0);
	assert_null(reader_raw(&r, arena).p);
	reader_skip(&r);
	reader_enter(&r);
	assert_int_equal(reader_finish(&r, &err), -ERR_INVALID);
	assert_string_equal(err.text, "invalid JSON at line 2 column 2: value expected");
}

static void test_trailing_text(void **state)
{
	struct err err = ERR_INIT;
	struct reader r;
	(void)state;

	reader_of_text(&r, STR_LIT("1 \n"), NULL);
	reader_skip(&r);
	assert_int_equal(reader_finish(&r, NULL), 0);
	reader_of_text(&r, STR_LIT("1 ]"), NULL);
	reader_skip(&r);
	assert_int_equal(reader_finish(&r, &err), -ERR_INVALID);
	assert_non_null(strstr(err.text, "column 3: unexpected text"));
}

static int enter_all(struct reader *r, unsigned levels)
{
	struct str key;

	for (unsigned i = 0; i < levels; i++) {
		reader_enter(r);
		if (i + 1 < levels && !reader_next(r, &key)) {
			break;
		}
	}
	if (!reader_has_failed(r)) {
		for (unsigned i = 0; i < levels; i++) {
			assert_false(reader_next(r, &key));
		}
	}
	return reader_finish(r, NULL);
}

static void test_depth_limit(void **state)
{
	(void)state;

	for (unsigned levels = READER_MAX_DEPTH; levels <= READER_MAX_DEPTH + 1; levels++) {
		struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
		struct jdoc *tree CLEANUP(jdoc_destroyp) = jdoc_new_array();
		int want = levels > READER_MAX_DEPTH ? -ERR_INVALID : 0;
		struct jdoc *inner = tree;
		struct reader r;

		for (unsigned i = 1; i < levels; i++) {
			inner = jdoc_append_take(inner, jdoc_new_array());
		}
		jdoc_format(tree, &text);
		reader_of_text(&r, strbuf_str(&text), NULL);
		assert_int_equal(enter_all(&r, levels), want);
		/* Values that are skipped need no level. */
		reader_of_text(&r, strbuf_str(&text), NULL);
		reader_skip(&r);
		assert_int_equal(reader_finish(&r, NULL), 0);
		reader_of_jdoc(&r, tree);
		assert_int_equal(enter_all(&r, levels), want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_and_tree_agree),
		cmocka_unit_test(test_skip_raw),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_errors_are_final),
		cmocka_unit_test(test_trailing_text),
		cmocka_unit_test(test_depth_limit),
	};

	return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
