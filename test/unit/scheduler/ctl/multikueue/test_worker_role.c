#include "scheduler/ctl/multikueue/worker_role.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"

/* All rights of the manager on a worker: one that is added here is added on purpose. */
static const char orchestrator[] = "get workloads.kueue.x-k8s.io\n"
				   "list workloads.kueue.x-k8s.io\n"
				   "watch workloads.kueue.x-k8s.io\n"
				   "get workloads.kueue.x-k8s.io/status\n"
				   "patch workloads.kueue.x-k8s.io/status\n"
				   "get localqueues.kueue.x-k8s.io\n"
				   "list localqueues.kueue.x-k8s.io\n"
				   "watch localqueues.kueue.x-k8s.io\n"
				   "get customresourcedefinitions.apiextensions.k8s.io "
				   "workloads.kueue.x-k8s.io\n"
				   "get clusterqueues.kueue.x-k8s.io\n"
				   "list clusterqueues.kueue.x-k8s.io\n"
				   "get cohorts.kueue.x-k8s.io\n"
				   "list cohorts.kueue.x-k8s.io\n"
				   "get resourceflavors.kueue.x-k8s.io\n"
				   "list resourceflavors.kueue.x-k8s.io\n"
				   "get topologies.kueue.x-k8s.io\n"
				   "list topologies.kueue.x-k8s.io\n"
				   "get workloadpriorityclasses.kueue.x-k8s.io\n"
				   "list workloadpriorityclasses.kueue.x-k8s.io\n"
				   "get admissionchecks.kueue.x-k8s.io\n"
				   "list admissionchecks.kueue.x-k8s.io\n"
				   "get namespaces\n"
				   "list namespaces\n"
				   "get limitranges\n"
				   "list limitranges\n"
				   "get runtimeclasses.node.k8s.io\n"
				   "list runtimeclasses.node.k8s.io\n";
static const char manager[] = "create workloads.kueue.x-k8s.io\n"
			      "patch workloads.kueue.x-k8s.io\n"
			      "delete workloads.kueue.x-k8s.io\n"
			      "get jobs.batch\n"
			      "list jobs.batch\n"
			      "watch jobs.batch\n"
			      "create jobs.batch\n"
			      "patch jobs.batch\n"
			      "delete jobs.batch\n"
			      "get jobs.batch/status\n";

static const char pods[] = "get pods\n"
			   "list pods\n"
			   "watch pods\n"
			   "create pods\n"
			   "patch pods\n"
			   "delete pods\n";

static void describe_role(const struct worker_role *role, struct strbuf *out)
{
	const struct worker_role_right *right;

	for (unsigned i = 0; (right = worker_role_at(role, i)) != NULL; i++) {
		worker_role_describe(right, out);
		strbuf_printf(out, "%s%s\n", right->name == NULL ? "" : " ",
			      right->name == NULL ? "" : right->name);
	}
}

static void describe_all(enum worker_role_level level, struct strbuf *out)
{
	CLEANUP(worker_role_destroyp) struct worker_role *role = worker_role_create(level);

	describe_role(role, out);
}

static void the_rights_of_each_level(void **state UNUSED)
{
	CLEANUP(strbuf_finish)
	struct strbuf low = STRBUF_INIT, high = STRBUF_INIT, all = STRBUF_INIT;

	describe_all(WORKER_ROLE_ORCHESTRATOR, &low);
	assert_string_equal(low.p, orchestrator);
	describe_all(WORKER_ROLE_MANAGER, &high);
	assert_memory_equal(high.p, orchestrator, sizeof(orchestrator) - 1);
	assert_string_equal(high.p + sizeof(orchestrator) - 1, manager);
	describe_all(WORKER_ROLE_MANAGER_PODS, &all);
	assert_memory_equal(all.p, high.p, high.len);
	assert_string_equal(all.p + high.len, pods);
}

/* Rights are read from the first group and the first name of a rule. */
static void a_rule_has_one_group_and_at_most_one_name(void **state UNUSED)
{
	CLEANUP(worker_role_destroyp)
	struct worker_role *role = worker_role_create(WORKER_ROLE_MANAGER_PODS);
	const struct jdoc *rules = worker_role_rules(role);

	assert_int_equal(jdoc_count(rules), 11);
	for (const struct jdoc *r = jdoc_first(rules); r != NULL; r = jdoc_next(r)) {
		assert_int_equal(jdoc_count(jdoc_get(r, "apiGroups")), 1);
		assert_true(jdoc_count(jdoc_get(r, "resourceNames")) <= 1);
	}
}

static void further_kinds(void **state UNUSED)
{
	static const char foos[] = "get foos.example.com\n"
				   "list foos.example.com\n"
				   "watch foos.example.com\n"
				   "create foos.example.com\n"
				   "patch foos.example.com\n"
				   "delete foos.example.com\n";
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(worker_role_destroyp)
	struct worker_role *role = worker_role_create(WORKER_ROLE_MANAGER);
	CLEANUP(worker_role_destroyp)
	struct worker_role *low = worker_role_create(WORKER_ROLE_ORCHESTRATOR);
	size_t before = jdoc_count(worker_role_rules(low));

	worker_role_add_kind(role, "example.com", "foos");
	describe_role(role, &text);
	assert_string_equal(text.p + sizeof(orchestrator) - 1 + sizeof(manager) - 1, foos);
	worker_role_add_kind(low, "example.com", "foos"); /* carries nothing */
	assert_int_equal(jdoc_count(worker_role_rules(low)), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rights_of_each_level),
		cmocka_unit_test(a_rule_has_one_group_and_at_most_one_name),
		cmocka_unit_test(further_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
