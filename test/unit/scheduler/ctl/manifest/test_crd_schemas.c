/* The definitions that are compiled in: which kinds there are, and that each rule of theirs can be
 * evaluated. */
#include "scheduler/ctl/manifest/crd_schemas.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "schema/cel.h"

static void check_rules(const struct jdoc *schema)
{
	const struct jdoc *rules = jdoc_get(schema, "x-kubernetes-validations");

	for (const struct jdoc *r = jdoc_first(rules); r != NULL; r = jdoc_next(r)) {
		const char *text = jdoc_str_or(jdoc_get(r, "rule"), "");
		struct cel *c = NULL;
		struct err err = ERR_INIT;

		if (cel_compile_rule(str_of(text), &c, &err) < 0) {
			fail_msg("%s: %s", text, err.text);
		}
		cel_destroy(c);
	}
	for (const struct jdoc *m = jdoc_first(schema); m != NULL; m = jdoc_next(m)) {
		check_rules(m);
	}
}

static void test_kinds(void **state)
{
	static const struct {
		const char *group, *kind, *versions;
	} rows[] = {
		{ "scheduling.volcano.sh", "Queue", "v1beta1" },
		{ "scheduling.volcano.sh", "PodGroup", "v1beta1" },
		{ "kueue.x-k8s.io", "ClusterQueue", "v1beta2, v1beta1" },
		{ "kueue.x-k8s.io", "Cohort", "v1beta2, v1beta1" },
		{ "kueue.x-k8s.io", "LocalQueue", "v1beta2, v1beta1" },
		{ "kueue.x-k8s.io", "ResourceFlavor", "v1beta2, v1beta1" },
		{ "kueue.x-k8s.io", "AdmissionCheck", "v1beta2, v1beta1" },
		{ "kueue.x-k8s.io", "WorkloadPriorityClass", "v1beta2, v1beta1" },
		{ "kueue.x-k8s.io", "Workload", "v1beta2" },
	};
	struct crd_schemas *s = crd_schemas_create();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf versions = STRBUF_INIT;
		const struct jdoc *crd = crd_schemas_find(s, rows[i].group, rows[i].kind);
		struct str rest = str_of(rows[i].versions);

		unit_row(rows[i].group);
		assert_non_null(crd);
		crd_schemas_versions(crd, &versions);
		assert_string_equal(versions.p, rows[i].versions);
		check_rules(crd_schemas_version(crd, str_next(&rest, ',')));
		assert_null(crd_schemas_version(crd, STR_LIT("v1")));
	}
	assert_null(crd_schemas_find(s, "kueue.x-k8s.io", "Queue"));
	crd_schemas_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests_name("ctl/manifest/crd_schemas", tests, NULL, NULL);
}
