#include "scheduler/workloads/conf/kueue_conf_owners.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"

static int read_text(const char *text, struct arena *arena, struct kueue_conf_owners *ret,
		     struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	assert_int_equal(yaml_parse(str_of(text), &d, NULL), 0);
	return kueue_conf_owners_read(d, arena, ret, err);
}

static bool manages(const struct kueue_conf_owners *o, const char *name, const char *team)
{
	struct field_pair pairs[] = { { "kubernetes.io/metadata.name", name }, { "team", team } };
	struct field_map labels = { .v = pairs, .n = team == NULL ? 1 : 2 };

	return selector_match(&o->namespaces, &labels);
}

static void defaults(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct kueue_conf_owners o;

	(void)state;
	assert_int_equal(kueue_conf_owners_read(NULL, arena, &o, NULL), 0);
	assert_true(o.jobs);
	assert_false(o.pods);
	assert_false(o.without_queue_name);
	assert_int_equal(o.nothers, 0);
	assert_true(manages(&o, "team", NULL));
	assert_false(manages(&o, "kube-system", NULL));
	assert_int_equal(read_text("namespace: mine\n", arena, &o, NULL), 0);
	assert_false(manages(&o, "mine", NULL));
	assert_false(manages(&o, "kube-system", NULL));
	assert_true(manages(&o, "team", NULL));
}

static void fields_of_owners(void **state)
{
	static const char text[] = "manageJobsWithoutQueueName: true\n"
				   "managedJobsNamespaceSelector: {matchExpressions: [{key: team,"
				   " operator: In, values: [a, b]}]}\n"
				   "integrations:\n"
				   "  frameworks: [pod, kubeflow.org/mpijob]\n"
				   "  externalFrameworks: [Foo.v1.example.com]\n"
				   "  labelKeysToCopy: [team, example.com/cost]\n";
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct kueue_conf_owners o;

	(void)state;
	assert_int_equal(read_text(text, arena, &o, NULL), 0);
	assert_true(o.without_queue_name);
	assert_false(o.jobs); /* the list is the whole */
	assert_true(o.pods);
	/* No controller queues for an integration that Kueue has and Headgate has not. */
	assert_int_equal(o.nothers, 1);
	assert_string_equal(o.others[0].group, "example.com");
	assert_string_equal(o.others[0].kind, "Foo");
	assert_int_equal(o.label_keys.n, 2);
	assert_string_equal(o.label_keys.v[1], "example.com/cost");
	assert_true(manages(&o, "x", "b"));
	assert_false(manages(&o, "x", "c"));
	assert_false(manages(&o, "x", NULL));
}

static void errors_name_the_field(void **state)
{
	static const char *const rows[][2] = {
		{ "manageJobsWithoutQueueName: 'x'\n",
		  "manageJobsWithoutQueueName: must be a boolean, not a string" },
		{ "integrations: {frameworks: [batch/jobs]}\n",
		  "integrations.frameworks[0]: no such integration: \"batch/jobs\"" },
		{ "integrations: {frameworks: pod}\n",
		  "integrations.frameworks: must be a list, not a string" },
		{ "integrations: {externalFrameworks: [Foo.v1]}\n",
		  "integrations.externalFrameworks[0]: \"Foo.v1\" is not Kind.version.group" },
		{ "integrations: {labelKeysToCopy: team}\n",
		  "integrations.labelKeysToCopy: must be a list, not a string" },
		{ "integrations: {labelKeysToCopy: [a, a/b/c]}\n",
		  "integrations.labelKeysToCopy[1]: \"a/b/c\" is not the key of a label" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		struct kueue_conf_owners o = { .nothers = 7 };
		struct err err = ERR_INIT;

		unit_row(rows[i][0]);
		assert_int_equal(read_text(rows[i][0], arena, &o, &err), -ERR_INVALID);
		assert_string_equal(err.text, rows[i][1]);
		assert_int_equal(o.nothers, 7);
	}
}

static void bad_selectors(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct err err = ERR_INIT;
	struct kueue_conf_owners o;

	(void)state;
	assert_int_equal(read_text("managedJobsNamespaceSelector: {matchExpressions: [{key: a,"
				   " operator: Near}]}\n",
				   arena, &o, &err),
			 -ERR_INVALID);
	assert_true(str_has_prefix(str_of(err.text), "managedJobsNamespaceSelector: "));
}

/* At the limit and one beyond. */
static void limits(void **state)
{
	(void)state;
	for (unsigned n = CONFIG_MAX_ITEMS; n <= CONFIG_MAX_ITEMS + 1; n++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		struct kueue_conf_owners o;

		strbuf_add_c(&text, "integrations: {externalFrameworks: [");
		for (unsigned i = 0; i < n; i++) {
			strbuf_add_c(&text, i > 0 ? ",F.v1.g" : "F.v1.g");
		}
		strbuf_add_c(&text, "]}\n");
		assert_int_equal(read_text(text.p, arena, &o, NULL),
				 n > CONFIG_MAX_ITEMS ? -ERR_INVALID : 0);
	}
}

static void test_unsupported(void **state UNUSED)
{
	size_t n = 0;

	assert_string_equal(kueue_conf_owners_unsupported(0)->kind, "Deployment");
	for (; kueue_conf_owners_unsupported(n) != NULL; n++) {
		assert_string_not_equal(kueue_conf_owners_unsupported(n)->kind, "Job");
		assert_string_not_equal(kueue_conf_owners_unsupported(n)->kind, "Pod");
	}
	assert_int_equal(n, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unsupported), cmocka_unit_test(defaults),
		cmocka_unit_test(fields_of_owners), cmocka_unit_test(errors_name_the_field),
		cmocka_unit_test(bad_selectors),    cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests_name("workloads/conf/kueue_conf_owners", tests, NULL, NULL);
}
