/* Texts of other clusters in conditions. */
#include "scheduler/multikueue/manager/condition_text.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"

static void reasons(void **state)
{
	static const struct {
		const char *name, *reason, *want;
	} rows[] = {
		{ "one word", "Succeeded", "Succeeded" },
		{ "all that is allowed", "a9_,:Z_", "a9_,:Z_" },
		{ "one letter", "A", "A" },
		{ "none", NULL, "Unknown" },
		{ "empty", "", "Unknown" },
		{ "begins with a digit", "9a", "Unknown" },
		{ "begins with an underscore", "_a", "Unknown" },
		{ "ends with a colon", "a:", "Unknown" },
		{ "ends with a comma", "a,", "Unknown" },
		{ "has a blank", "a b", "Unknown" },
		{ "has a letter of another script", "a\xc3\xa4", "Unknown" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
		assert_string_equal(condition_text_reason(rows[i].reason), rows[i].want);
	}
}

static void long_reasons(void **state)
{
	char reason[CONDITION_TEXT_MAX_REASON + 2];

	(void)state;
	memset(reason, 'a', sizeof(reason));
	reason[CONDITION_TEXT_MAX_REASON] = '\0';
	assert_string_equal(condition_text_reason(reason), reason);
	reason[CONDITION_TEXT_MAX_REASON] = 'a';
	reason[CONDITION_TEXT_MAX_REASON + 1] = '\0';
	assert_string_equal(condition_text_reason(reason), CONDITION_TEXT_NO_REASON);
}

static void messages(void **state)
{
	static char text[CONDITION_TEXT_MAX_MESSAGE + 8];
	static const struct {
		const char *name, *end; /* behind so many letters */
		size_t letters, want;
	} rows[] = {
		{ "empty", "", 0, 0 },
		{ "short", "", 5, 5 },
		{ "the longest", "", CONDITION_TEXT_MAX_MESSAGE, CONDITION_TEXT_MAX_MESSAGE },
		{ "longer", "ab", CONDITION_TEXT_MAX_MESSAGE, CONDITION_TEXT_MAX_MESSAGE },
		{ "a character at the border", "\xe2\x82\xac", CONDITION_TEXT_MAX_MESSAGE - 1,
		  CONDITION_TEXT_MAX_MESSAGE - 1 },
		{ "one that ends there", "\xe2\x82\xac", CONDITION_TEXT_MAX_MESSAGE - 3,
		  CONDITION_TEXT_MAX_MESSAGE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

		unit_row(rows[i].name);
		memset(text, 'a', rows[i].letters);
		memcpy(text + rows[i].letters, rows[i].end, strlen(rows[i].end) + 1);
		condition_text_message(text, &out);
		assert_int_equal(out.len, rows[i].want);
		assert_memory_equal(out.p, text, out.len);
	}
}

static void no_message(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	condition_text_message(NULL, &out);
	assert_string_equal(out.p, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons),
		cmocka_unit_test(long_reasons),
		cmocka_unit_test(messages),
		cmocka_unit_test(no_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
