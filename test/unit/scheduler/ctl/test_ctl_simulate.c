#include "scheduler/ctl/ctl.h"

#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "lib/workloads/workload_sim_fixture.h"
#include "process/file.h"
#include "scheduler/ctl/cli/verb.h"
#include "unit/scheduler/ctl/capture.h"
#include "unit/scheduler/ctl/sim_fixture.h"

static char folder[] = "/tmp/test_ctl_simulate_XXXXXX";

/* Runs with words separated by blanks; "@NAME" is that file of the folder. Output is thrown away.
 */
static int run(const char *line)
{
	CLEANUP(xmalloc_freep) char *text = xmalloc_dup(line);
	struct str rest = str_of(text);
	char *argv[16] = { 0 };
	int argc = 0, code;

	while (rest.p != NULL && argc < 15) {
		struct str word = str_next(&rest, ' ');

		struct str before = str_next(&word, '@');

		argv[argc++] = word.p == NULL
				       ? xmalloc_dup_n(before.p, before.len)
				       : xmalloc_printf(STR_FMT "%s/" STR_FMT, STR_ARG(before),
							folder, STR_ARG(word));
	}
	code = ctl_simulate_verb.run(argc, argv);
	for (int i = 0; i < argc; i++) {
		free(argv[i]);
	}
	return code;
}

/* The same; what it says on standard error. */
static void run_saying(const char *line, char *ret, size_t size)
{
	FILE *f = tmpfile();
	int saved = dup(STDERR_FILENO);
	size_t n;

	assert_non_null(f);
	assert_true(saved >= 0 && dup2(fileno(f), STDERR_FILENO) >= 0);
	assert_int_equal(run(line), VERB_OK);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	rewind(f);
	n = fread(ret, 1, size - 1, f);
	ret[n] = '\0';
	fclose(f);
}

static void write_file(const char *name, const char *text)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/%s", folder, name);

	assert_int_equal(file_write_atomic(path, str_of(text), 0600, NULL), 0);
}

static int make_files(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	write_file("good", SIM_FIXTURE_CLUSTER SIM_FIXTURE_GROUP("g", "1")
				   SIM_FIXTURE_POD("p", "g", "1", SIM_FIXTURE_GATED));
	write_file("bad", "a: [\n");
	write_file("quota", QUOTA_SIM_CLUSTER QUOTA_SIM_WORKLOAD("w", "1", "0", ""));
	write_file("kueue", "kind: Configuration\nfairSharing: {}\nfeatureGates: {Nope: true}\n");
	write_file("badkueue", "fairSharing: {preemptionStrategies: [Nope]}\n");
	write_file("conf", "actions: \"allocate\"\ntiers:\n- plugins:\n  - name: capacity\n");
	write_file("undecodable", "{" QUOTA_SIM_API "kind: ResourceFlavor, metadata: {name: x}, "
				  "spec: {nodeLabels: [a]}}\n");
	write_file("unusable", "{" QUOTA_SIM_API "kind: ClusterQueue, metadata: {name: x}, "
			       "spec: {queueingStrategy: 'No'}}\n");
	write_file("badconf", "actions: \"dance\"\n");
	return 0;
}

static int remove_files(void **state)
{
	static const char *const names[] = { "good",  "bad",      "conf",        "badconf", "quota",
					     "kueue", "badkueue", "undecodable", "unusable" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/%s", folder, names[i]);

		unlink(path);
	}
	return rmdir(folder);
}

static void test_exit_codes(void **state)
{
	static const struct {
		const char *line;
		int code;
	} rows[] = {
		{ "simulate @good", VERB_OK },
		{ "simulate -o json @good @good", VERB_OK },
		{ "simulate --output json --now 2026-01-15T10:00:00Z --cycles 2 --show all @good",
		  VERB_OK },
		{ "simulate --until-stable --delete-after 1:Pod/ns/p @good", VERB_OK },
		{ "simulate --delete-after 1:Node/n1 --delete-after 1:Queue//q @good", VERB_OK },
		{ "simulate --scheduler-conf @conf --config @conf @good", VERB_OK },
		{ "simulate --show shares,capacity,workloads,events @good", VERB_OK },
		{ "simulate --show all --config @kueue @good -f @quota", VERB_OK },
		{ "simulate -o json --show all @quota", VERB_OK },
		{ "simulate --until-stable --delete-after 1:Workload/team/w @quota", VERB_OK },
		{ "simulate --until-stable --victims-stop @quota", VERB_OK },
		{ "simulate --as-is --until-stable --advance 1m --apply-after 1:/dev/null @quota",
		  VERB_OK },
		{ "simulate --apply-after 1:/dev/null @quota", VERB_OK },
		{ "simulate --delete-after 1:Workload/w @quota", VERB_USAGE },
		{ "simulate --help", VERB_OK },
		{ "simulate --config @badkueue @quota", VERB_USAGE },
		{ "simulate @bad", VERB_USAGE },
		{ "simulate @missing", VERB_USAGE },
		{ "simulate --config @bad @good", VERB_USAGE },
		{ "simulate --scheduler-conf @badconf @good", VERB_USAGE },
		{ "simulate --as-is --config @badkueue @quota", VERB_FAILED },
		{ "simulate --as-is @bad", VERB_FAILED },
		{ "simulate --as-is @missing", VERB_FAILED },
		{ "simulate --as-is --config @bad @good", VERB_FAILED },
		{ "simulate --as-is --scheduler-conf @badconf @good", VERB_FAILED },
		{ "simulate", VERB_USAGE },
		{ "simulate --as-is --ignore Secret @good", VERB_USAGE },
		{ "simulate --fail-on nothing @good", VERB_USAGE },
		{ "simulate --nope @good", VERB_USAGE },
		{ "simulate -o yaml @good", VERB_USAGE },
		{ "simulate --cycles 0 @good", VERB_USAGE },
		{ "simulate --cycles 1000 @good", VERB_OK },
		{ "simulate --cycles 1001 @good", VERB_USAGE },
		{ "simulate --cycles 2 --until-stable @good", VERB_USAGE },
		{ "simulate --now yesterday @good", VERB_USAGE },
		{ "simulate --show nothing @good", VERB_USAGE },
		{ "simulate --delete-after Pod/ns/p @good", VERB_USAGE },
		{ "simulate --apply-after /dev/null @good", VERB_USAGE },
		{ "simulate --apply-after 0:/dev/null @good", VERB_USAGE },
		{ "simulate --apply-after 1:/nonexistent @good", VERB_USAGE },
		{ "simulate --delete-after 0:Pod/ns/p @good", VERB_USAGE },
		{ "simulate --delete-after 1:Pod/p @good", VERB_USAGE },
		{ "simulate --delete-after 1:Secret/ns/p @good", VERB_USAGE },
		{ "simulate --delete-after 1:Pod @good", VERB_USAGE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int code = run(rows[i].line);

		if (code != rows[i].code) {
			fail_msg("%s: %d", rows[i].line, code);
		}
	}
}

/* As they would be in files: nothing is reported of a run that has not had them. */
static void test_updates_that_cannot_be_used(void **state)
{
	static const char *const lines[] = {
		"simulate --as-is --apply-after 1:@bad @quota",
		"simulate --as-is --apply-after 1:@missing @quota",
		"simulate --as-is --apply-after 1:@undecodable @quota",
		"simulate --as-is --apply-after 1:@unusable @quota",
		"simulate --as-is --until-stable --apply-after 1:@unusable @quota",
		"simulate --as-is --cycles 3 --apply-after 1:@quota --apply-after 2:@unusable "
		"@quota",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		unit_row(lines[i]);
		assert_int_equal(run(lines[i]), VERB_FAILED);
	}
	assert_int_equal(run("simulate --as-is --apply-after 1:@quota @quota"), VERB_OK);
}

/* Warnings about a configuration belong to the report, unless everything is taken as it is. */
static void test_warnings_are_reported(void **state)
{
	CLEANUP(xmalloc_freep)
	char *line = xmalloc_printf("simulate -o json --config %s/kueue %s/quota", folder, folder);
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	const struct jdoc *warnings;

	(void)state;
	assert_int_equal(capture_ctl(line, &out), VERB_OK);
	assert_int_equal(jdoc_parse(str_of(strchr(out.p, '{')), &d, NULL), 0);
	warnings = jdoc_get(d, "warnings");
	assert_int_equal(jdoc_count(warnings), 1);
	assert_non_null(strstr(jdoc_str_or(jdoc_at(warnings, 0), ""), "featureGates.Nope"));
}

static void test_removals_without_effect_are_reported(void **state)
{
	static const struct {
		const char *line, *said; /* NULL: nothing */
	} rows[] = {
		{ "simulate --as-is --delete-after 1:Workload/team/w @quota", NULL },
		{ "simulate --cycles 2 --delete-after 2:Workload/team/w @quota", NULL },
		{ "simulate --until-stable --delete-after 9:Workload/team/w @quota", NULL },
		{ "simulate --as-is --delete-after 2:Workload/team/w @quota",
		  "headgatectl: warning: --delete-after 2:Workload/team/w: not deleted, the run "
		  "ended after cycle 1\n" },
		{ "simulate --cycles 3 --delete-after 4:Workload/team/w @quota",
		  "headgatectl: warning: --delete-after 4:Workload/team/w: not deleted, the run "
		  "ended after cycle 3\n" },
		{ "simulate --as-is --delete-after 1:Workload/team/x @quota",
		  "headgatectl: warning: --delete-after 1:Workload/team/x: no such object\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char said[1024];

		unit_row(rows[i].line);
		run_saying(rows[i].line, said, sizeof(said));
		assert_string_equal(said, rows[i].said == NULL ? "" : rows[i].said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_codes),
		cmocka_unit_test(test_updates_that_cannot_be_used),
		cmocka_unit_test(test_warnings_are_reported),
		cmocka_unit_test(test_removals_without_effect_are_reported),
	};

	return cmocka_run_group_tests_name("ctl/ctl_simulate", tests, make_files, remove_files);
}
