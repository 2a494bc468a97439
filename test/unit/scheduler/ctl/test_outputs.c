/* The whole output of headgatectl: each file of outputs/ has commands, as "$ headgatectl ...", each
 * with its output (standard error first) and an exit code that is not 0 (lib/recorded.h). */
#include "lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "lib/recorded.h"
#include "process/file.h"
#include "unit/scheduler/ctl/capture.h"
#include "unit/scheduler/ctl/live_fixture.h"

#define FOLDER "test/unit/scheduler/ctl/outputs/"
#define PROMPT "$ headgatectl "
#define MAX_BYTES (1u << 20)

static struct live_fixture f;

static void read_file(const char *name, struct strbuf *out)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf(FOLDER "%s", name);

	assert_int_equal(file_read_all(path, MAX_BYTES, out, NULL), 0);
}

static void load(const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT;

	read_file(name, &yaml);
	live_fixture_load(&f, yaml.p);
}

static void run(const char *line, bool live, struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf says = STRBUF_INIT;
	int code = live ? live_fixture_run(&f, line) : capture_ctl(line, &says);
	const struct strbuf *text = live ? &f.out : &says;

	strbuf_printf(out, PROMPT "%s\n%s", line, text->len == 0 ? "" : text->p);
	if (code != 0) {
		strbuf_printf(out, "exit code %d\n", code);
	}
}

static void check_file(const char *name, bool live)
{
	CLEANUP(strbuf_finish) struct strbuf recorded = STRBUF_INIT, got = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf(FOLDER "%s", name);
	struct str rest;

	read_file(name, &recorded);
	rest = strbuf_str(&recorded);
	while (rest.p != NULL) {
		struct str line = str_next(&rest, '\n');

		if (str_has_prefix(line, PROMPT)) {
			CLEANUP(xmalloc_freep)
			char *words =
				xmalloc_dup_n(line.p + strlen(PROMPT), line.len - strlen(PROMPT));

			unit_row(words);
			run(words, live, &got);
		}
	}
	recorded_check(path, &got);
}

static void test_manifests(void **state)
{
	(void)state;
	unsetenv("COLUMNS");
	check_file("simulate.txt", false);
	check_file("explain.txt", false);
	check_file("list.txt", false);
	check_file("owners.txt", false);
	check_file("help.txt", false);
}

static void test_a_cluster(void **state)
{
	(void)state;
	unsetenv("COLUMNS");
	live_fixture_start(&f);
	load("pods.yaml");
	load("quota.yaml");
	check_file("live.txt", true);
	live_fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manifests),
		cmocka_unit_test(test_a_cluster),
	};

	return cmocka_run_group_tests_name("ctl/outputs", tests, NULL, NULL);
}
