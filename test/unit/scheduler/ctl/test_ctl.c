#include "scheduler/ctl/ctl.h"

#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "lib/flags_check.h"
#include "scheduler/ctl/cli/verb.h"
#include "unit/scheduler/ctl/capture.h"

/* Runs headgatectl with words separated by blanks and its output thrown away. */
static int run(const char *line)
{
	char *text = xmalloc_dup(line);
	struct str rest = str_of(text);
	char *argv[16] = { 0 };
	char *copies[16] = { 0 };
	int argc = 0, code;

	while (rest.p != NULL && argc < 15) {
		struct str word = str_next(&rest, ' ');

		copies[argc] = xmalloc_dup_n(word.p, word.len);
		argv[argc] = copies[argc];
		argc++;
	}
	code = ctl_run(argc, argv);
	for (int i = 0; i < argc; i++) {
		free(copies[i]);
	}
	free(text);
	return code;
}

static void test_exit_codes(void **state)
{
	static const struct {
		const char *line;
		int code;
	} rows[] = {
		{ "headgatectl", VERB_USAGE },
		{ "headgatectl nope", VERB_USAGE },
		{ "headgatectl --help", VERB_OK },
		{ "headgatectl help", VERB_OK },
		{ "headgatectl version", VERB_OK },
		{ "headgatectl --version", VERB_OK },
		{ "headgatectl version -o json", VERB_OK },
		{ "headgatectl version -o yaml", VERB_USAGE },
		{ "headgatectl version --nope", VERB_USAGE },
		{ "headgatectl version more", VERB_USAGE },
		{ "headgatectl version --help", VERB_OK },
		{ "headgatectl version -h", VERB_OK },
		{ "headgatectl completion", VERB_USAGE },
		{ "headgatectl completion csh", VERB_USAGE },
		{ "headgatectl completion bash zsh", VERB_USAGE },
		{ "headgatectl certs", VERB_USAGE },
		{ "headgatectl certs --dns a --days 0", VERB_USAGE },
		{ "headgatectl certs --dns a --days 36501", VERB_USAGE },
		{ "headgatectl certs --dns a --out /proc/no/such", VERB_FAILED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].line);
		assert_int_equal(run(rows[i].line), rows[i].code);
	}
}

static void test_find(void **state)
{
	(void)state;
	assert_string_equal(ctl_find_verb("certs")->name, "certs");
	assert_string_equal(ctl_find_verb("version")->name, "version");
	assert_null(ctl_find_verb("cert"));
	assert_null(ctl_find_verb(""));
}

/* bsearch finds them, and their flags are in order. */
static void test_verbs_are_sorted_and_sound(void **state)
{
	const struct verb *verb, *before = NULL;

	(void)state;
	for (size_t i = 0; (verb = ctl_verb_at(i)) != NULL; i++) {
		char program[64];

		assert_true(before == NULL || strcmp(before->name, verb->name) < 0);
		assert_ptr_equal(ctl_find_verb(verb->name), verb);
		snprintf(program, sizeof(program), "headgatectl %s", verb->name);
		assert_string_equal(verb->flags.program, program);
		assert_non_null(verb->run);
		flags_check(&verb->flags);
		before = verb;
	}
}

/* Standard error says how it is used; standard output stays empty. */
static void test_wrong_usage(void **state)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{ "completion", "expected: completion bash|zsh|fish" },
		{ "completion tcsh", "expected: completion bash|zsh|fish" },
		{ "close", "expected: close queue NAME" },
		{ "open queue", "expected: open queue NAME" },
		{ "open pod x", "expected: open queue NAME" },
		{ "pending-workloads cq", "expected: pending-workloads [cq NAME]" },
		{ "pending-workloads wl a",
		  "pending-workloads accepts clusterqueues, localqueues, not wl" },
		{ "stop", "stop accepts clusterqueues, localqueues, workloads" },
		{ "stop cq", "expected: stop clusterqueue NAME" },
		{ "stop cohort a",
		  "stop accepts clusterqueues, localqueues, workloads, not cohort" },
		{ "resume lq", "expected: resume localqueue NAME" },
		{ "stop cq ns/a", "ns/a: a clusterqueue has no namespace" },
		{ "explain", "expected: explain pod NAMESPACE/NAME [--dump FILE], or explain "
			     "workload|job NAMESPACE/NAME [-f FILE]" },
		{ "explain pod", "expected: explain pod NAMESPACE/NAME [--dump FILE], or explain "
				 "workload|job NAMESPACE/NAME [-f FILE]" },
		{ "explain cq a", "expected: explain pod NAMESPACE/NAME [--dump FILE], or explain "
				  "workload|job NAMESPACE/NAME [-f FILE]" },
		{ "explain pod a -f x.yaml",
		  "explain pod reads a cluster, or a dump (--dump), and no manifests (-f): "
		  "`headgatectl simulate FILE` says why their pods wait" },
		{ "list", "list accepts clusterqueues, localqueues, workloads, resourceflavors, "
			  "cohorts, pods" },
		{ "list nope", "list accepts clusterqueues, localqueues, workloads, "
			       "resourceflavors, cohorts, pods, not nope" },
		{ "list cq a", "unexpected argument \"a\"" },
		{ "list pods", "list pods requires --for TYPE/NAME" },
		{ "drain x", "unexpected argument \"x\"" },
		{ "queues x", "unexpected argument \"x\"" },
		{ "doctor x", "unexpected argument \"x\"" },
		{ "certs", "certs: give at least one --dns or --ip" },
		{ "certs x", "unexpected argument \"x\"" },
		{ "simulate", "simulate requires a FILE" },
		{ "version x", "unexpected argument \"x\"" },
		{ "list wl --status=nope", "--status: \"nope\" is unknown; known values: pending, "
					   "quotareserved, admitted, finished, all" },
		{ "explain pod ns/p --output=x",
		  "--output: \"x\" is unknown; known values: table, json" },
	};
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xmalloc_freep)
		char *want = xmalloc_printf("headgatectl: %s\n", rows[i].says);

		unit_row(rows[i].line);
		assert_int_equal(capture_ctl(rows[i].line, &out), VERB_USAGE);
		assert_string_equal(out.p, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_codes),
		cmocka_unit_test(test_wrong_usage),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_verbs_are_sorted_and_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
