#include "base/nearest.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/unit.h"

static void test_the_nearest_name_is_kept(void **state)
{
	static const struct {
		const char *wanted;
		const char *offered[4];
		const char *hint;
	} rows[] = {
		{ "team-aa", { "team-a", "team-b", "default" }, "; did you mean team-a?" },
		{ "taem-a", { "team-b", "team-a" }, "; did you mean team-a?" },
		{ "team-c", { "team-b", "team-a" }, "; did you mean team-a?" },
		{ "team-a", { "team-a" }, "" },
		{ "reserch", { "research", "default" }, "; did you mean research?" },
		{ "x", { "lq", "default" }, "" },
		{ "q1", { "q", "default" }, "; did you mean q?" },
		{ "q", { "" }, "" },
		{ "", { "a" }, "" },
		{ "team-a", { "other", "research" }, "" },
		{ "ab", { "ba" }, "; did you mean ba?" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
		struct nearest n;

		unit_row(rows[i].wanted);
		nearest_init(&n, str_of(rows[i].wanted));
		for (size_t k = 0; k < ARRAY_LEN(rows[i].offered); k++) {
			if (rows[i].offered[k] != NULL) {
				nearest_offer(&n, str_of(rows[i].offered[k]));
			}
		}
		nearest_add_hint(&n, &out);
		assert_string_equal(strbuf_str(&out).len == 0 ? "" : out.p, rows[i].hint);
	}
}

static void test_long_names(void **state)
{
	char wanted[NEAREST_NAME_MAX + 1], other[NEAREST_NAME_MAX + 1];
	struct nearest n;

	(void)state;
	memset(wanted, 'a', sizeof(wanted));
	memset(other, 'a', sizeof(other));
	other[7] = 'b';
	nearest_init(&n, (struct str){ wanted, NEAREST_NAME_MAX - 1 });
	nearest_offer(&n, (struct str){ other, NEAREST_NAME_MAX });
	assert_string_equal(n.name, "");
	nearest_offer(&n, (struct str){ other, NEAREST_NAME_MAX - 1 });
	assert_int_equal(n.distance, 1);
	assert_int_equal(strlen(n.name), NEAREST_NAME_MAX - 1);
	nearest_init(&n, (struct str){ wanted, NEAREST_NAME_MAX });
	nearest_offer(&n, (struct str){ other, NEAREST_NAME_MAX - 1 });
	assert_string_equal(n.name, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_nearest_name_is_kept),
		cmocka_unit_test(test_long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
