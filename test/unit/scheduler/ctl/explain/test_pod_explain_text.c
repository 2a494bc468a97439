/* The tables of pods of ours are tested with the verb, test_ctl_explain.c. */
#include "scheduler/ctl/explain/pod_explain_text.h"

#include <stdlib.h>

#include "lib/unit.h"
#include "scheduler/ctl/explain/pod_explain.h"

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
	const struct pod_explanation x = {
		.namespace_ = "ns", .name = "p", .scheduler = "other", .reason = "R",
		.verdict = "v", .gate = "g"
	};
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_pod_of_another_scheduler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
