/* Its arguments; what it does to a cluster is in test/integration/test_ctl_quota.c. */
#include "scheduler/ctl/list/stop_resume.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "lib/folder.h"
#include "scheduler/ctl/cli/verb.h"
#include "scheduler/ctl/ctl.h"

static void test_exit_codes(void **state)
{
	static const struct {
		const char *line;
		int code;
	} rows[] = {
		{ "stop", VERB_USAGE },
		{ "stop --help", VERB_OK },
		{ "stop clusterqueue", VERB_USAGE },
		{ "stop clusterqueue a b", VERB_USAGE },
		{ "stop clusterqueue ns/a", VERB_USAGE },
		{ "stop cohort a", VERB_USAGE },
		{ "stop wl ns/a --keep-already-running", VERB_USAGE },
		{ "stop cq a --dry-run=maybe", VERB_USAGE },
		{ "resume cq a --keep-already-running", VERB_USAGE },
		{ "resume", VERB_USAGE },
		{ "resume --help", VERB_OK },
		{ "stop cq a --kubeconfig=@missing", VERB_FAILED },
		{ "resume lq ns/a --kubeconfig=@missing", VERB_FAILED },
	};
	struct folder folder;

	(void)state;
	folder_make(&folder);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, out = STRBUF_INIT;

		unit_row(rows[i].line);
		strbuf_printf(&line, "headgatectl %s", rows[i].line);
		assert_int_equal(folder_run(&folder, ctl_run, line.p, &out), rows[i].code);
	}
	folder_remove(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
