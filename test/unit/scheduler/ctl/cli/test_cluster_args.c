#include "scheduler/ctl/cli/cluster_args.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "scheduler/ctl/cli/verb.h"
#include "unit/scheduler/ctl/live_fixture.h"

#define QUEUE(name, ns)                                                                            \
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: " name            \
	", namespace: " ns "}, spec: {clusterQueue: cq}}\n---\n"

/* As kubectl: --namespace, else that of the context, else default. */
static void test_namespace(void **state UNUSED)
{
	static const struct {
		const char *line;
		bool alpha, beta; /* in default, in ns */
	} rows[] = {
		{ "list lq", true, false },
		{ "list lq --context=x", true, false },
		{ "list lq --context=in-ns", false, true },
		{ "list lq -n ns", false, true },
		{ "list lq --context=in-ns --namespace=default", true, false },
		{ "list lq --context=in-ns -A", true, true },
		{ "list lq -A", true, true },
	};
	struct live_fixture f;

	live_fixture_start(&f);
	live_fixture_load(&f, QUEUE("alpha", "default") QUEUE("beta", "ns"));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].line);
		assert_int_equal(live_fixture_run(&f, rows[i].line), VERB_OK);
		assert_int_equal(strstr(f.out.p, "alpha ") != NULL, rows[i].alpha);
		assert_int_equal(strstr(f.out.p, "beta ") != NULL, rows[i].beta);
	}
	live_fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_namespace),
	};

	return cmocka_run_group_tests_name("ctl/cluster_args", tests, NULL, NULL);
}
