/* The tables of pods of ours are tested with the verb, test_ctl_explain.c. */
#include "scheduler/ctl/explain/pod_explain_text.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "lib/unit.h"
#include "scheduler/ctl/explain/pod_explain.h"
#include "scheduler/pods/ledger/ledger.h"

static char *print(void (*fn)(const struct pod_explanation *x, FILE *to),
		   const struct pod_explanation *x)
{
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	assert_non_null(to);
	fn(x, to);
	assert_int_equal(fclose(to), 0);
	return text;
}

static void test_a_pod_of_another_scheduler(void **state)
{
	const struct pod_explanation x = { .namespace_ = "ns",
					   .name = "p",
					   .scheduler = "other",
					   .reason = "R",
					   .verdict = "v",
					   .gate = "g" };
	char *text = print(pod_explain_text_print, &x);

	(void)state;
	assert_string_equal(text, "Pod:       ns/p\n"
				  "Verdict:   v\n"
				  "Reason:    R\n"
				  "Gate:      g\n"
				  "Scheduler: other\n");
	free(text);
	text = print(pod_explain_text_print_json, &x);
	assert_non_null(strstr(text, "\"schedulerName\":\"other\""));
	assert_non_null(strstr(text, "\"charge\":null"));
	assert_non_null(strstr(text, "\"reason\":\"R\""));
	free(text);
}

/* Each queue with each resource, the first and the last among them. */
static void test_lines(void **state)
{
	struct pod_explain_line lines[] = {
		{ "root", "cpu", RES_CPU, RES_UNLIMITED, 1000, 500, 2000, false },
		{ "root", "memory", RES_MEMORY, 1024, 0, 0, 1, false },
		{ "q", "cpu", RES_CPU, 3000, 1000, 500, 2000, true },
	};
	struct task task = { .charge = CHARGE_NONE };
	struct pod_explanation x = {
		.namespace_ = "ns", .name = "p", .task = &task, .verdict = "v", .gate = "g"
	};
	char *text;

	(void)state;
	x.lines.v = lines;
	x.lines.n = ARRAY_LEN(lines);
	text = print(pod_explain_text_print, &x);
	assert_non_null(strstr(text, "\nroot    cpu        "));
	assert_non_null(strstr(text, "\nroot    memory     "));
	assert_non_null(strstr(text, "\nq       cpu        "));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_a_pod_of_another_scheduler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
