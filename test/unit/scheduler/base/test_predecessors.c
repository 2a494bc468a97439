#include "scheduler/base/predecessors.h"

#include <string.h>

#include "base/strbuf.h"
#include "lib/unit.h"

/* "ba cb": b was evicted for a, and c for b. */
static void direct(const void *ctx, uint32_t id, struct predecessors *out)
{
	for (const char *p = ctx; *p != '\0'; p += p[2] == '\0' ? 2 : 3) {
		if (p[0] == (char)('a' + id)) {
			vec_push(out, (uint32_t)(p[1] - 'a'));
		}
	}
}

static void which_go_before(void **state)
{
	static const struct {
		const char *records, *before_d;
	} rows[] = {
		{ "", "" },
		{ "ba", "" },
		{ "da", "a" },
		{ "ad", "" },
		{ "dc cb ba", "cba" },
		/* The nearest first, each once. */
		{ "da db db ac bc ce", "abce" },
		{ "da dc cb ba", "acb" },
		/* A circle that was made in another way. */
		{ "dc cb bd", "cbd" },
		{ "dd", "d" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strbuf text = STRBUF_INIT;
		struct predecessors list = VEC_INIT;

		unit_row_number(i);
		/* The list is appended to. */
		vec_push(&list, 'x' - 'a');
		predecessors_collect(direct, rows[i].records, 3, 'e' - 'a' + 1, &list);
		for (size_t k = 1; k < list.n; k++) {
			strbuf_printf(&text, "%c", (char)('a' + (int)list.v[k]));
		}
		assert_int_equal(list.v[0], 'x' - 'a');
		assert_string_equal(text.len > 0 ? text.p : "", rows[i].before_d);
		strbuf_finish(&text);
		vec_finish(&list);
	}
}

/* A long chain, and ids over several words of the set. */
static void chain(const void *ctx, uint32_t id, struct predecessors *out)
{
	const uint32_t *last = ctx;

	if (id < *last) {
		vec_push(out, id + 1);
	}
}

static void a_long_chain(void **state)
{
	struct predecessors list = VEC_INIT;
	const uint32_t last = 999;

	(void)state;
	predecessors_collect(chain, &last, 0, last + 1, &list);
	assert_int_equal(list.n, last);
	assert_int_equal(list.v[last - 1], last);
	vec_finish(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_go_before),
		cmocka_unit_test(a_long_chain),
	};

	return cmocka_run_group_tests_name("base/predecessors", tests, NULL, NULL);
}
