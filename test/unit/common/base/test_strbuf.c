#include "base/strbuf.h"

#include "lib/unit.h"

#include <stdlib.h>

#include "base/xmalloc.h"

static void check(const struct strbuf *b, const char *want)
{
	assert_int_equal(b->len, strlen(want));
	assert_string_equal(b->p, want);
	assert_int_equal(b->p[b->len], 0);
	assert_true(b->cap == 0 || b->cap > b->len);
}

static void test_add(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;

	(void)state;
	check(&b, "");
	strbuf_add(&b, NULL, 0);
	assert_int_equal(b.cap, 0);
	strbuf_add_c(&b, "que");
	strbuf_add_ch(&b, 'u');
	strbuf_add_str(&b, STR_LIT("e-"));
	strbuf_printf(&b, "%03d", 7);
	check(&b, "queue-007");
	strbuf_truncate(&b, 5);
	check(&b, "queue");
	strbuf_truncate(&b, 0);
	check(&b, "");
	strbuf_add_c(&b, "x");
	strbuf_reset(&b);
	check(&b, "");
	assert_true(b.cap > 0);
	assert_true(str_eq_c(strbuf_str(&b), ""));
}

static void test_growth(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		strbuf_add_ch(&b, (char)('a' + i % 26));
	}
	assert_int_equal(b.len, 100000);
	for (int i = 0; i < 100000; i++) {
		assert_int_equal(b.p[i], 'a' + i % 26);
	}
}

/* Every length around the room that printf finds in the buffer. */
static void test_printf_lengths(void **state)
{
	(void)state;
	for (int n = 0; n < 300; n++) {
		CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;

		strbuf_add_c(&b, "<");
		strbuf_printf(&b, "%*s", n, "");
		strbuf_add_c(&b, ">");
		assert_int_equal(b.len, n + 2);
		assert_int_equal(b.p[b.len - 1], '>');
		assert_int_equal(strspn(b.p + 1, " "), n);
	}
}

static void test_empty_is_shared(void **state)
{
	struct strbuf a = STRBUF_INIT;
	struct strbuf b;

	(void)state;
	strbuf_init(&b);
	assert_ptr_equal(a.p, b.p);
	strbuf_truncate(&a, 0);
	strbuf_finish(&a);
	strbuf_finish(&a);
	assert_int_equal(strbuf_empty[0], 0);
}

static void test_steal(void **state)
{
	struct strbuf b = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *empty = strbuf_steal(&b, NULL);
	CLEANUP(xmalloc_freep) char *text = NULL;
	size_t len = 0;

	(void)state;
	assert_string_equal(empty, "");
	strbuf_add(&b, "a\0b", 3);
	text = strbuf_steal(&b, &len);
	assert_int_equal(len, 3);
	assert_memory_equal(text, "a\0b", 4);
	check(&b, "");
	assert_int_equal(b.cap, 0);
}

static void test_reserve(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	const char *p;

	(void)state;
	strbuf_reserve(&b, 1000);
	check(&b, "");
	p = b.p;
	for (int i = 0; i < 1000; i++) {
		strbuf_add_ch(&b, 'x');
	}
	assert_ptr_equal(b.p, p);
}

static void test_wipe(void **state)
{
	struct strbuf b = STRBUF_INIT;

	(void)state;
	strbuf_wipe(&b);
	check(&b, "");
	strbuf_add_c(&b, "secret");
	strbuf_wipe(&b);
	check(&b, "");
	assert_int_equal(b.cap, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_printf_lengths),
		cmocka_unit_test(test_empty_is_shared),
		cmocka_unit_test(test_steal),
		cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_wipe),
	};

	return cmocka_run_group_tests_name("strbuf", tests, NULL, NULL);
}
