#include "scheduler/ctl/ctl.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "scheduler/ctl/cli/verb.h"
#include "unit/scheduler/ctl/capture.h"

static void words_and_flags(void **state UNUSED)
{
	static const struct {
		const char *words;
		int code;
		const char *says;
	} rows[] = {
		{ "multikueue", VERB_USAGE, "expected: multikueue kubeconfig --name CLUSTER" },
		{ "multikueue join", VERB_USAGE, "expected: multikueue kubeconfig" },
		{ "multikueue kubeconfig w1", VERB_USAGE, "expected: multikueue kubeconfig" },
		{ "multikueue kubeconfig --for=tenant", VERB_USAGE, "--for" },
		{ "multikueue kubeconfig --name=", VERB_USAGE, "--name" },
		{ "multikueue kubeconfig --name w1 --dry-run", VERB_OK,
		  "namespace: headgate-system" },
		{ "multikueue kubeconfig --name w1 --dry-run --account-namespace other", VERB_OK,
		  "namespace: other" },
		{ "multikueue kubeconfig --name w1 --dry-run --for=manager", VERB_OK, "- jobs" },
		{ "multikueue --help", VERB_OK, "check [CLUSTER...]" },
	};
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].words);
		assert_int_equal(capture_ctl(rows[i].words, &out), rows[i].code);
		assert_non_null(strstr(out.p, rows[i].says));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_and_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
