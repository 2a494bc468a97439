#include "scheduler/ctl/manifest/ignored_kinds.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"

static void add_line(void *ctx, const char *text)
{
	strbuf_printf(ctx, "%s\n", text);
}

/* Objects of kinds that are not simulated are read; what is said of each name then. */
static void test_names_of_no_use_are_reported(void **state)
{
	static const struct {
		const char *name, *says;
	} rows[] = {
		{ "Gadget", NULL },
		{ "Gadget.example.com", NULL },
		{ "Queue", NULL }, /* of another group, and read */
		{ "Deployment", NULL },
		{ "Deployment.apps", NULL },
		{ "Secret", NULL },
		{ "MultiKueueConfig", NULL },
		{ "Job.batch.volcano.sh", NULL },
		{ "Gadgte", "unknown kind, and no object of it was read; did you mean Gadget?" },
		{ "gadget", "unknown kind, and no object of it was read; did you mean Gadget?" },
		{ "deployment",
		  "unknown kind, and no object of it was read; did you mean Deployment?" },
		{ "Deployment.app", "unknown kind, and no object of it was read; did you mean "
				    "Deployment.apps?" },
		{ "Nonsense", "unknown kind, and no object of it was read" },
		{ "", "unknown kind, and no object of it was read" },
		{ "Pod", "objects of this kind have a part in scheduling: only those of another "
			 "API group can be left out" },
		{ "Job", "objects of this kind have a part in scheduling: only those of another "
			 "API group can be left out" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(ignored_kinds_destroyp)
		struct ignored_kinds *k = ignored_kinds_create(&rows[i].name, 1);
		CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT, want = STRBUF_INIT;

		unit_row(rows[i].name);
		for (int twice = 0; twice < 2; twice++) {
			(void)ignored_kinds_has(k, "Gadget", "example.com");
			(void)ignored_kinds_has(k, "Queue", "scheduling.run.ai");
		}
		assert_int_equal(ignored_kinds_report(k, add_line, &out), rows[i].says != NULL);
		if (rows[i].says != NULL) {
			strbuf_printf(&want, "--ignore %s: %s\n", rows[i].name, rows[i].says);
			assert_string_equal(out.p, want.p);
		}
	}
}

static void test_kinds_are_left_out_by_name(void **state)
{
	static const char *const names[] = { "Gadget", "Queue.scheduling.run.ai" };
	CLEANUP(ignored_kinds_destroyp)
	struct ignored_kinds *k = ignored_kinds_create(names, ARRAY_LEN(names));

	(void)state;
	assert_true(ignored_kinds_has(k, "Gadget", "a"));
	assert_true(ignored_kinds_has(k, "Gadget", ""));
	assert_true(ignored_kinds_has(k, "Queue", "scheduling.run.ai"));
	assert_false(ignored_kinds_has(k, "Queue", "b"));
	assert_false(ignored_kinds_has(k, "Gadgets", "a"));
	assert_false(ignored_kinds_has(NULL, "Gadget", "a"));
	assert_int_equal(ignored_kinds_report(k, add_line, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_of_no_use_are_reported),
		cmocka_unit_test(test_kinds_are_left_out_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
