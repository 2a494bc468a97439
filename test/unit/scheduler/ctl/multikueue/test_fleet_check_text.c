#include "scheduler/ctl/multikueue/fleet_check_text.h"

#include "lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"

static char *print(const struct worker_check *checks, size_t n)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	fleet_check_text_print(checks, n, to);
	fclose(to);
	return text;
}

static void texts_are_wrapped_at_blanks(void **state UNUSED)
{
	struct worker_check c = { .cluster = "w", .arena = arena_create(0) };
	char *text;

	worker_check_add(&c, WORKER_FINDING_OK, "clock",
			 "one two three four five six seven eight nine ten eleven twelve");
	worker_check_add(
		&c, WORKER_FINDING_UNKNOWN, "connection",
		"https://a-name-that-is-longer-than-a-line-can-be.example.com:6443/x \x1b[31m");
	text = print(&c, 1);
	assert_string_equal(
		text,
		"CLUSTER   CHECK        STATE     DETAILS\n"
		"w         clock        ok        one two three four five six seven eight nine\n"
		"                                 ten eleven twelve\n"
		"w         connection   unknown   https://a-name-that-is-longer-than-a-line-can-\n"
		"                                 be.example.com:6443/x \\u001b[31m\n");
	free(text);
	worker_check_finish(&c);
}

/* A long name of a cluster leaves room for a text. */
static void the_last_column_has_a_least_width(void **state UNUSED)
{
	struct worker_check c = {
		.cluster =
			"a-cluster-with-a-name-that-is-quite-long-and-goes-on-and-on.example.com",
		.arena = arena_create(0)
	};
	char *text;

	worker_check_add(&c, WORKER_FINDING_OK, "clock", "not further than a line of thirty-two");
	text = print(&c, 1);
	assert_non_null(strstr(text, "   not further than a line of\n"));
	free(text);
	worker_check_finish(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_wrapped_at_blanks),
		cmocka_unit_test(the_last_column_has_a_least_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
