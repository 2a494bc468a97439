/* The checks of one worker that need more than test_fleet_check's clusters. */
#include "scheduler/ctl/multikueue/worker_check.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "scheduler/ctl/multikueue/worker_access.h"
#include "unit/scheduler/ctl/multikueue/worker_fixture.h"

#define CRD(version)                                                                               \
	"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "  \
	"workloads.kueue.x-k8s.io}, spec: {group: kueue.x-k8s.io, scope: Namespaced, names: "      \
	"{kind: Workload, plural: workloads, singular: workload}, versions: [{name: " version      \
	", served: true, storage: true, schema: {openAPIV3Schema: {type: object, "                 \
	"x-kubernetes-preserve-unknown-fields: true}}}]}}"

static struct worker_fixture worker;
static struct worker_check c;

static int begin(void **state UNUSED)
{
	worker_fixture_start(&worker, false);
	return 0;
}

static int end(void **state UNUSED)
{
	worker_fixture_stop(&worker);
	return 0;
}

/* queues: separated by blanks; NULL: not known. */
static void look(const struct worker_check_options *opt, const char *const *queues, size_t n)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(worker_access_finish)
	struct worker_access a = { .cluster = "w", .source = xmalloc_dup("Secret s/w") };
	struct waiting_queues_keys keys = VEC_INIT;
	struct err err = ERR_INIT;

	worker_fixture_kubeconfig(&worker, "t", &text);
	assert_int_equal(kubeconfig_parse(strbuf_str(&text), "", NULL, &a.config, &err), 0);
	for (size_t i = 0; i < n; i++) {
		vec_push(&keys, queues[i]);
	}
	worker_check_run(opt, &a, queues == NULL ? NULL : &keys, &c);
	vec_finish(&keys);
}

static void expect(const char *about, enum worker_finding_state state, const char *text)
{
	unit_row(text);
	for (size_t i = 0; i < c.findings.n; i++) {
		if (strcmp(c.findings.v[i].about, about) == 0 && c.findings.v[i].state == state &&
		    strstr(c.findings.v[i].text, text) != NULL) {
			return;
		}
	}
	fail_msg("no finding about %s that says: %s", about, text);
}

static const struct worker_check_options options = { .origin = "multikueue" };

static void definitions_that_have_no_gates(void **state UNUSED)
{
	worker_fixture_load(&worker, CRD("v1beta1"));
	look(&options, NULL, 0);
	expect("Workloads", WORKER_FINDING_FAILED, "v1beta2 is not served");
	worker_check_finish(&c);
	worker_fixture_load(&worker, CRD("v1beta2"));
	look(&options, NULL, 0);
	expect("Workloads", WORKER_FINDING_FAILED, "knows no gates");
	assert_false(worker_check_is_good(&c));
	worker_check_finish(&c);
}

static void a_token_that_is_refused(void **state UNUSED)
{
	worker_fixture_behave(&worker, (struct worker_behaviour){ .token = "another" });
	look(&options, NULL, 0);
	expect("connection", WORKER_FINDING_FAILED, worker.https.base);
	assert_int_equal(c.findings.n, 2); /* and the kubeconfig */
	worker_check_finish(&c);
}

/* The limit of all requests together ends the checks, whatever a worker does. */
static void all_requests_together_have_a_limit(void **state UNUSED)
{
	const struct worker_check_options opt = { .origin = "multikueue", .all_ns = 1 };

	look(&opt, NULL, 0);
	expect("connection", WORKER_FINDING_FAILED, worker.https.base);
	worker_check_finish(&c);
}

static void only_some_queues_are_looked_for(void **state UNUSED)
{
	const char *keys[WORKER_CHECK_MAX_QUEUES + 2];

	worker_fixture_load(&worker, CRD("v1beta2"));
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		keys[i] = "default/lq";
	}
	look(&options, keys, ARRAY_LEN(keys));
	expect("LocalQueues", WORKER_FINDING_FAILED, "missing: default/lq");
	expect("LocalQueues", WORKER_FINDING_WARNING, "2 more were not looked for");
	worker_check_finish(&c);
	look(&options, keys, 0);
	expect("LocalQueues", WORKER_FINDING_OK, "no Workload waits");
	worker_check_finish(&c);
}

static void findings_decide(void **state UNUSED)
{
	static const struct {
		enum worker_finding_state state;
		const char *name;
		bool good;
	} rows[WORKER_FINDING_COUNT_] = {
		{ WORKER_FINDING_OK, "ok", true },
		{ WORKER_FINDING_WARNING, "warn", true },
		{ WORKER_FINDING_FAILED, "fail", false },
		{ WORKER_FINDING_UNKNOWN, "unknown", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(worker_access_finish) struct worker_access a = { .cluster = "w" };

		unit_row(rows[i].name);
		assert_string_equal(worker_check_state_name(rows[i].state), rows[i].name);
		a.state = WORKER_ACCESS_BAD;
		worker_check_run(&options, &a, NULL, &c);
		assert_false(worker_check_is_good(&c));
		c.findings.n = 0;
		worker_check_add(&c, rows[i].state, "clock", "text");
		assert_int_equal(worker_check_is_good(&c), rows[i].good);
		worker_check_finish(&c);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#define FOOS                                                                                       \
	"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "  \
	"fooz.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Foo, "     \
	"plural: fooz, singular: foo}, versions: [{name: v1, served: true, storage: true, "        \
	"subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, "                    \
	"x-kubernetes-preserve-unknown-fields: true}}}]}}"

/* Kinds of the configuration: whether they are served, and the rights on them. */
static void further_kinds(void **state UNUSED)
{
	static const struct custom_kind foo = { "Foo.v1.example.com", "Foo", "v1", "example.com",
						"example.com/v1" };
	static const char *const missing[] = { "patch fooz.example.com", NULL };
	const struct worker_check_options opt = { .origin = "multikueue",
						  .level = WORKER_ROLE_MANAGER,
						  .kinds = { &foo, 1 } };

	look(&opt, NULL, 0);
	expect("kinds", WORKER_FINDING_FAILED, "Foo.v1.example.com is not served");
	worker_check_finish(&c);
	worker_fixture_load(&worker, FOOS);
	look(&opt, NULL, 0);
	expect("kinds", WORKER_FINDING_OK, "all 1 are served");
	expect("rights", WORKER_FINDING_OK, "that the manager needs");
	worker_check_finish(&c);
	worker_fixture_behave(&worker, (struct worker_behaviour){ .missing = missing });
	look(&opt, NULL, 0);
	expect("rights", WORKER_FINDING_FAILED, "missing: patch fooz.example.com");
	worker_check_finish(&c);
	worker_fixture_behave(&worker, (struct worker_behaviour){ .missing = NULL });
	worker_fixture_set_faults(&worker,
				  "[{fault: status, code: 503, path: /apis/example.com/v1, "
				  "count: 0}]");
	look(&opt, NULL, 0);
	expect("kinds", WORKER_FINDING_UNKNOWN, "Foo.v1.example.com: ");
	worker_check_finish(&c);
	worker_fixture_set_faults(&worker, "[]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(further_kinds, begin, end),
		TEST(definitions_that_have_no_gates),
		TEST(a_token_that_is_refused),
		TEST(all_requests_together_have_a_limit),
		TEST(only_some_queues_are_looked_for),
		TEST(findings_decide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
