#include "scheduler/ctl/ctl.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "enc/json/jdoc.h"
#include "scheduler/ctl/cli/verb.h"
#include "unit/scheduler/ctl/live_fixture.h"

#define ADMISSION "apiVersion: admissionregistration.k8s.io/v1, "
#define OURS "app.kubernetes.io/part-of: headgate"
#define REGISTRATION(kind, name, labels)                                                           \
	"{" ADMISSION "kind: " kind ", metadata: {name: " name ", labels: {" labels "}}}\n---\n"
#define POD(name, gates)                                                                           \
	"{apiVersion: v1, kind: Pod, metadata: {name: " name                                       \
	", namespace: ns}, spec: {schedulingGates: [" gates                                        \
	"], containers: [{name: c, image: i}]}}\n---\n"
#define OUR_GATE "{name: scheduling.volcano.sh/queue-allocation-gate}"

static const char objects[] =
	REGISTRATION("MutatingWebhookConfiguration", "m", OURS ", app.kubernetes.io/instance: one")
		REGISTRATION("ValidatingWebhookConfiguration", "v",
			     OURS) REGISTRATION("ValidatingWebhookConfiguration", "other", "a: b")
			POD("ours", OUR_GATE) POD("both", "{name: example.com/a}, " OUR_GATE)
				POD("theirs", "{name: example.com/a}") POD("free", "");

static struct live_fixture f;

static int begin(void **state UNUSED)
{
	live_fixture_start(&f);
	live_fixture_load(&f, objects);
	return 0;
}

static int end(void **state UNUSED)
{
	live_fixture_stop(&f);
	return 0;
}

static void expect(const char *line, int code, const char *out)
{
	unit_row(line);
	assert_int_equal(live_fixture_run(&f, line), code);
	assert_string_equal(f.out.p, out);
}

static bool is_registered(const char *plural, const char *name)
{
	CLEANUP(jdoc_destroyp)
	struct jdoc *d = live_fixture_get(&f, "admissionregistration.k8s.io", plural, NULL, name);

	return d != NULL;
}

static size_t gates_of(const char *name)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = live_fixture_get(&f, "", "pods", "ns", name);

	assert_non_null(d);
	return jdoc_count(jdoc_path(d, "spec.schedulingGates"));
}

static void expect_untouched(void)
{
	assert_true(is_registered("mutatingwebhookconfigurations", "m"));
	assert_true(is_registered("validatingwebhookconfigurations", "v"));
	assert_int_equal(gates_of("ours"), 1);
	assert_int_equal(gates_of("both"), 2);
}

static void without_yes_nothing_changes(void **state UNUSED)
{
	expect("drain", VERB_OK,
	       "would delete webhook registration m\n"
	       "would delete webhook registration v\n"
	       "would remove the gate from 2 pods\n"
	       "nothing was changed; run it with --yes to make the changes\n");
	expect("drain --instance=one", VERB_OK,
	       "would delete webhook registration m\n"
	       "would remove the gate from 2 pods\n"
	       "nothing was changed; run it with --yes to make the changes\n");
	expect_untouched();
	assert_int_equal(live_fixture_run(&f, "drain --yes --server=ftp://x"), VERB_FAILED);
	expect_untouched();
}

static void what_is_ours_is_removed(void **state UNUSED)
{
	expect("drain --yes", VERB_OK,
	       "deleting webhook registration m\n"
	       "deleting webhook registration v\n"
	       "removed the gate from 2 pods\n");
	assert_false(is_registered("mutatingwebhookconfigurations", "m"));
	assert_false(is_registered("validatingwebhookconfigurations", "v"));
	assert_true(is_registered("validatingwebhookconfigurations", "other"));
	assert_int_equal(gates_of("ours"), 0);
	assert_int_equal(gates_of("both"), 1);
	assert_int_equal(gates_of("theirs"), 1);
	expect("drain --yes", VERB_OK, "removed the gate from 0 pods\n");
}

/* One of many fails: the others are done, and the exit code says that something is left. */
static void each_failure_is_counted_and_the_rest_is_done(void **state UNUSED)
{
	static const struct {
		const char *fault, *says;
		bool m, v; /* remain */
		size_t ours, both;
		int code;
	} rows[] = {
		{ "[{fault: status, code: 500, method: DELETE, path: '.*/m'}]",
		  "(registrations left: 1, pods still with a gate: 0); first failure: webhook "
		  "registration m: ",
		  true, false, 0, 1, VERB_FAILED },
		{ "[{fault: status, code: 500, method: DELETE, count: 0}]",
		  "(registrations left: 2, pods still with a gate: 0); first failure: webhook "
		  "registration m: ",
		  true, true, 0, 1, VERB_FAILED },
		{ "[{fault: status, code: 404, method: DELETE, path: '.*/m'}]",
		  "removed the gate from 2 pods\n", true, false, 0, 1, VERB_OK },
		{ "[{fault: status, code: 500, method: PATCH, path: '.*/ours'}]",
		  "(registrations left: 0, pods still with a gate: 1); first failure: pod ns/ours "
		  "still has its gate: ",
		  false, false, 1, 1, VERB_FAILED },
		{ "[{fault: status, code: 500, method: PATCH, path: '.*/ours'}]",
		  "removed the gate from 1 pods\n", false, false, 1, 1, VERB_FAILED },
		{ "[{fault: status, code: 404, method: PATCH, path: '.*/ours'}]",
		  "removed the gate from 2 pods\n", false, false, 1, 1, VERB_OK },
		{ "[{fault: status, code: 403, method: GET, path: '.*/mutating'}]",
		  "(registrations left: 0, pods still with a gate: 0); first failure: ", true,
		  false, 0, 1, VERB_FAILED },
		{ "[{fault: status, code: 403, method: GET, path: /api/v1/pods}]",
		  "removed the gate from 0 pods\n", false, false, 1, 2, VERB_FAILED },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].fault);
		live_fixture_load(&f, objects);
		live_fixture_fault(&f, rows[i].fault);
		assert_int_equal(live_fixture_run(&f, "drain --yes --request-timeout=2s"),
				 rows[i].code);
		live_fixture_fault(&f, "[]");
		if (strstr(f.out.p, rows[i].says) == NULL) {
			fail_msg("no \"%s\" in: %s", rows[i].says, f.out.p);
		}
		assert_int_equal(is_registered("mutatingwebhookconfigurations", "m"), rows[i].m);
		assert_int_equal(is_registered("validatingwebhookconfigurations", "v"), rows[i].v);
		assert_int_equal(gates_of("ours"), rows[i].ours);
		assert_int_equal(gates_of("both"), rows[i].both);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_yes_nothing_changes),
		TEST(what_is_ours_is_removed),
		TEST(each_failure_is_counted_and_the_rest_is_done),
	};

	return cmocka_run_group_tests_name("ctl/drain", tests, NULL, NULL);
}
