/* Its arguments; what it does to a cluster is in test/integration/test_ctl.c. */
#include "scheduler/ctl/list/queue_state.h"

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
		{ "close", VERB_USAGE },
		{ "close --help", VERB_OK },
		{ "close queue", VERB_USAGE },
		{ "close queue a b", VERB_USAGE },
		{ "close queue ns/a", VERB_USAGE },
		{ "close localqueue a", VERB_USAGE },
		{ "close queue.kueue.x-k8s.io a", VERB_USAGE },
		{ "close cow a", VERB_USAGE },
		{ "close queue root", VERB_USAGE },
		{ "close queue a --dry-run=maybe", VERB_USAGE },
		{ "open", VERB_USAGE },
		{ "open --help", VERB_OK },
		{ "open queue", VERB_USAGE },
		{ "close queue a --kubeconfig=@missing", VERB_FAILED },
		{ "open queues.scheduling.volcano.sh a --kubeconfig=@missing", VERB_FAILED },
		{ "open q root --kubeconfig=@missing", VERB_FAILED },
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
