/* The scripts are run by the shells themselves, as far as those are installed. */
#include "scheduler/ctl/cli/verb.h"
#include "scheduler/ctl/ctl.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "lib/folder.h"
#include "play/proc.h"
#include "process/file.h"

static struct folder folder;

static int begin(void **state)
{
	(void)state;
	folder_make(&folder);
	return 0;
}

static int end(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

static void write_script(const char *shell)
{
	CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, out = STRBUF_INIT;

	strbuf_printf(&line, "headgatectl completion %s", shell);
	assert_int_equal(folder_run(&folder, ctl_run, line.p, &out), VERB_OK);
	folder_write(&folder, shell, out.p);
}

/* Runs a program and appends what it prints; its exit code. */
static int run_program(const char *const *argv, struct strbuf *out)
{
	CLEANUP(xmalloc_freep) char *log = xmalloc_printf("%s/log", folder.path);
	struct proc p = { 0 };
	int status = -1;

	(void)unlink(log);
	assert_int_equal(proc_start(&p, argv, log, NULL), 0);
	assert_int_equal(waitpid(p.pid, &status, 0), p.pid);
	assert_int_equal(file_read_all(log, 1u << 16, out, NULL), 0);
	(void)unlink(log);
	return status;
}

static void test_bash_completes(void **state)
{
	static const struct {
		const char *words; /* the last one is being typed */
		const char *replies;
	} rows[] = {
		{ "headgatectl ex", "explain" },
		{ "headgatectl st", "stop" },
		{ "headgatectl explain wo", "workload" },
		{ "headgatectl explain --out", "--output" },
		{ "headgatectl explain -o ''", "table json" },
		{ "headgatectl explain --output = j", "json" },
		{ "headgatectl list --output = ''", "table json yaml name" },
		{ "headgatectl list --output =", "table json yaml name" },
		{ "headgatectl list --status q", "quotareserved" },
		{ "headgatectl list --active ''", "true false" },
		{ "headgatectl list --namespace ''", "" },
		{ "headgatectl list clust", "clusterqueues" },
		{ "headgatectl stop cq a --dry-run s", "server" },
		{ "headgatectl drain --y", "--yes" },
		{ "headgatectl version --clusterq", "" },
		{ "headgatectl completion z", "zsh" },
		{ "headgatectl list -k ba", "bash" }, /* a file of the folder */
		{ "headgatectl simulate ba", "bash" },
		{ "headgatectl simulate --cyc", "--cycles" },
		{ "headgatectl nope --x", "" },
	};

	(void)state;
	write_script("bash");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT, want = STRBUF_INIT;
		CLEANUP(xmalloc_freep)
		char *command = xmalloc_printf("cd %s && . ./bash; COMP_WORDS=(%s); "
					       "COMP_CWORD=$((${#COMP_WORDS[@]}-1)); "
					       "_headgatectl; echo \"${COMPREPLY[*]}\"",
					       folder.path, rows[i].words);
		const char *const argv[] = { "/bin/bash", "-c", command, NULL };

		unit_row(rows[i].words);
		strbuf_printf(&want, "%s\n", rows[i].replies);
		assert_int_equal(run_program(argv, &out), 0);
		assert_string_equal(out.p, want.p);
	}
}

static void check_syntax(const char *shell)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	char program[64], script[512]; /* skip() returns past any cleanup */
	const char *const argv[] = { program, "-n", script, NULL };

	snprintf(program, sizeof(program), "/usr/bin/%s", shell);
	snprintf(script, sizeof(script), "%s/%s", folder.path, shell);
	write_script(shell);
	if (access(program, X_OK) != 0) {
		skip();
	}
	assert_int_equal(run_program(argv, &out), 0);
	assert_int_equal(out.len, 0);
}

static void test_zsh_reads_its_script(void **state)
{
	(void)state;
	check_syntax("zsh");
}

static void test_fish_reads_its_script(void **state)
{
	(void)state;
	check_syntax("fish");
}

static void expect_lines(const char *shell, const char *const *lines)
{
	CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, out = STRBUF_INIT;

	strbuf_printf(&line, "headgatectl completion %s", shell);
	assert_int_equal(folder_run(&folder, ctl_run, line.p, &out), VERB_OK);
	for (; *lines != NULL; lines++) {
		if (strstr(out.p, *lines) == NULL) {
			fail_msg("%s: no %s", shell, *lines);
		}
	}
}

static void test_lines_of_zsh_and_fish(void **state)
{
	static const char *const zsh[] = {
		"#compdef headgatectl\n",
		"\t\t'close:close a Queue\\: it gives no more quota and revokes reservations'\n",
		"\t\t\t'(-k --kubeconfig)'{-k+,--kubeconfig=}'[Path of the "
		"kubeconfig file]:FILE:_files' \\\n",
		"\t\t\t'*'{-f+,--filename=}'[Read these manifests",
		"\t\t\t'(-o --output)'{-o+,--output=}'[Output format]:table|json:(table json)' "
		"\\\n",
		"\t\t\t'--until-stable[Run cycles",
		"\t\t\t'*:argument:(pod workload job)'\n",
		"\t\t\t'--config=[Kueue'\\''s configuration file",
		NULL
	};
	static const char *const fish[] = {
		"complete -c headgatectl -n __fish_use_subcommand -a drain -d 'remove Headgate",
		"complete -c headgatectl -n '__fish_seen_subcommand_from explain' -a 'pod workload "
		"job'\n",
		"from explain' -l output -s o -x -a 'table json' -d 'Output format'\n",
		"from explain' -l kubeconfig -s k -r -F -d 'Path of the kubeconfig file'\n",
		"from list' -l all-namespaces -s A -d 'List objects of all namespaces'\n",
		"from list' -l clusterqueue -s c -x -d ",
		"complete -c headgatectl -n '__fish_seen_subcommand_from simulate' -F\n",
		NULL
	};

	(void)state;
	expect_lines("zsh", zsh);
	expect_lines("fish", fish);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bash_completes),
		cmocka_unit_test(test_zsh_reads_its_script),
		cmocka_unit_test(test_fish_reads_its_script),
		cmocka_unit_test(test_lines_of_zsh_and_fish),
	};

	return cmocka_run_group_tests_name("ctl/completion", tests, begin, end);
}
