#include "scheduler/workloads/conf/kueue_conf_fields.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"

static void test_known_and_unknown_fields(void **state)
{
	static const struct {
		const char *text, *error; /* NULL: fine */
	} rows[] = {
		{ "", NULL },
		{ "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n", NULL },
		{ "featureGates: {Whatever: true}\nmultiKueue: {what: ever}\n", NULL },
		{ "waitForPodsReady: {requeuingStrategy: {timestamp: Creation}}\n", NULL },
		{ "resources: {transformations: [{input: a, outputs: {b: 1}}]}\n", NULL },
		{ "pprofBindAddress: :8083\nwebhook: {host: h}\n", NULL },
		{ "fairSharing: 5\n", NULL },
		{ "fairSharin: {}\n", "fairSharin: unknown field" },
		{ "fairSharing: {strategies: []}\n", "fairSharing.strategies: unknown field" },
		{ "waitForPodsReady: {requeuingStrategy: {timestmp: x}}\n",
		  "waitForPodsReady.requeuingStrategy.timestmp: unknown field" },
		{ "resources: {transformations: [{input: a}, {inputs: b}]}\n",
		  "resources.transformations[1].inputs: unknown field" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
		struct err err = ERR_INIT;

		assert_int_equal(yaml_parse(str_of(rows[i].text), &d, NULL), 0);
		if (rows[i].error == NULL) {
			assert_int_equal(kueue_conf_fields_check(d, &err), 0);
		} else {
			assert_int_equal(kueue_conf_fields_check(d, &err), -ERR_INVALID);
			assert_string_equal(err.text, rows[i].error);
		}
	}
	assert_int_equal(kueue_conf_fields_check(NULL, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_and_unknown_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
