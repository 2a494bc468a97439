#include "scheduler/ctl/ctl.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "scheduler/ctl/cli/verb.h"
#include "unit/scheduler/ctl/live_fixture.h"

#define LABEL "kueue.x-k8s.io/queue-name: q"
#define CONTAINERS "restartPolicy: Never, containers: [{name: c, image: i}]"
#define CONTROLLER(version, kind)                                                                  \
	"{apiVersion: " version ", kind: " kind ", name: o, uid: u, controller: true}"
/* In namespace ns; meta: more of its metadata. */
#define POD(name, labels, meta, more)                                                              \
	"{apiVersion: v1, kind: Pod, metadata: {name: " name ", namespace: ns, labels: {" labels   \
	"}" meta "}, spec: {" CONTAINERS "}" more "}\n---\n"
#define JOB(name, meta, suspend, more)                                                             \
	"{apiVersion: batch/v1, kind: Job, metadata: {name: " name                                 \
	", namespace: ns, uid: uid-" name ", labels: {" LABEL "}" meta                             \
	"}, spec: {suspend: " suspend ", template: {spec: {" CONTAINERS "}}}" more "}\n---\n"
#define DEPLOYMENT(name, ns, labels, pod_labels)                                                   \
	"{apiVersion: apps/v1, kind: Deployment, metadata: {name: " name ", namespace: " ns        \
	", labels: {" labels "}}, spec: {replicas: 0, selector: {matchLabels: {a: b}}, template: " \
	"{metadata: {labels: {a: b" pod_labels "}}, spec: {containers: [{name: c, image: i}]}}}}"  \
	"\n---\n"
#define CONDITION(type, value) ", status: {conditions: [{type: " type ", status: '" value "'}]}"
#define OWNERS(owner) ", ownerReferences: [" owner "]"

static struct live_fixture f;

static int begin(void **state UNUSED)
{
	live_fixture_start(&f);
	return 0;
}

static int end(void **state UNUSED)
{
	live_fixture_stop(&f);
	return 0;
}

static void expect(const char *line, int code, const char *out)
{
	int got = live_fixture_run(&f, line);

	unit_row(line);
	assert_string_equal(f.out.p, out);
	assert_int_equal(got, code);
}

#define QUEUED(kind, name)                                                                         \
	kind " " name ": has the label kueue.x-k8s.io/queue-name but does not wait for quota\n"
#define RUNS(name)                                                                                 \
	"Job.batch " name ": has the label kueue.x-k8s.io/queue-name but runs without a "          \
	"Workload\n"

static void load(const char *const *objects)
{
	for (; *objects != NULL; objects++) {
		live_fixture_load(&f, *objects);
	}
}

/* A Workload with this Job as its second owner. */
static void add_workload_of(const char *job)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = live_fixture_get(&f, "batch", "jobs", "ns", job);
	CLEANUP(xmalloc_freep) char *yaml = NULL;

	assert_non_null(d);
	yaml = xmalloc_printf(
		"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w, "
		"namespace: ns, ownerReferences: [{apiVersion: v1, kind: Pod, name: o, uid: o}, "
		"{apiVersion: batch/v1, kind: Job, name: %s, uid: %s}]}, spec: {queueName: q, "
		"podSets: [{name: main, count: 1, template: {spec: {" CONTAINERS "}}}]}}",
		job, jdoc_path_str(d, "metadata.uid"));
	live_fixture_load(&f, yaml);
}

/* Each object that is not reported differs in one thing from one that is. */
static void each_kind_of_object_is_reported_or_not(void **state UNUSED)
{
	static const char *const quiet[] = {
		DEPLOYMENT("no-label", "ns", "a: b", ""),
		DEPLOYMENT("pods-queue", "ns", LABEL, ", " LABEL),
		POD("no-label", "a: b", "", ""),
		POD("managed", LABEL ", kueue.x-k8s.io/managed: 'true'", "", ""),
		POD("succeeded", LABEL, "", ", status: {phase: Succeeded}"),
		POD("failed", LABEL, "", ", status: {phase: Failed}"),
		POD("of-a-job", LABEL, OWNERS(CONTROLLER("batch/v1", "Job")), ""),
		JOB("suspended", "", "true", ""),
		JOB("complete", "", "false", CONDITION("Complete", "True")),
		JOB("failed", "", "false", CONDITION("Failed", "True")),
		JOB("going", ", finalizers: [example.com/a]", "false", ""),
		JOB("of-a-job", OWNERS(CONTROLLER("batch/v1", "Job")), "false", ""),
		JOB("of-a-pod", OWNERS(CONTROLLER("v1", "Pod")), "false", ""),
		JOB("has-workload", "", "false", ""),
		NULL,
	};
	static const char *const loud[] = {
		DEPLOYMENT("labelled", "ns", LABEL, ""),
		POD("plain", LABEL, "", ""),
		POD("managed-false", LABEL ", kueue.x-k8s.io/managed: 'false'", "", ""),
		POD("running", LABEL, "", ", status: {phase: Running}"),
		POD("of-a-foo", LABEL, OWNERS(CONTROLLER("batch/v1", "Foo")), ""),
		POD("of-another-job", LABEL, OWNERS(CONTROLLER("other/v1", "Job")), ""),
		JOB("incomplete", "", "false", CONDITION("Complete", "False")),
		JOB("of-a-foo", OWNERS(CONTROLLER("v1", "Foo")), "false", ""),
		JOB("runs", "", "false", ""),
		NULL,
	};

	expect("doctor", VERB_OK, "no problems found\n");
	load(quiet);
	add_workload_of("has-workload");
	live_fixture_delete(&f, "/apis/batch/v1/namespaces/ns/jobs/going");
	expect("doctor", VERB_OK, "no problems found\n");
	load(loud);
	expect("doctor", VERB_FAILED,
	       QUEUED("Deployment.apps", "ns/labelled") QUEUED("Pod", "ns/managed-false")
		       QUEUED("Pod", "ns/of-a-foo") QUEUED("Pod", "ns/of-another-job")
			       QUEUED("Pod", "ns/plain") QUEUED("Pod", "ns/running")
				       RUNS("ns/incomplete") RUNS("ns/of-a-foo") RUNS("ns/runs"));
}

static void external_frameworks_are_skipped(void **state UNUSED)
{
	static const char *const objects[] = {
		DEPLOYMENT("d", "ns", LABEL, ""),
		POD("of-foo", LABEL, OWNERS(CONTROLLER("example.com/v1", "Foo")), ""),
		POD("of-bar", LABEL, OWNERS(CONTROLLER("example.com/v1", "Bar")), ""),
		POD("of-other-foo", LABEL, OWNERS(CONTROLLER("other.com/v1", "Foo")), ""),
		POD("of-core-foo", LABEL, OWNERS(CONTROLLER("v1", "Foo")), ""),
		JOB("of-foo", OWNERS(CONTROLLER("example.com/v1", "Foo")), "false", ""),
		JOB("of-bar", OWNERS(CONTROLLER("example.com/v1", "Bar")), "false", ""),
		NULL,
	};

	folder_write(
		&f.folder, "conf",
		"integrations: {externalFrameworks: [Foo.v1.example.com, Deployment.v1.apps]}\n");
	load(objects);
	expect("doctor --config=@conf", VERB_FAILED,
	       QUEUED("Pod", "ns/of-bar") QUEUED("Pod", "ns/of-core-foo")
		       QUEUED("Pod", "ns/of-other-foo") RUNS("ns/of-bar"));
	assert_int_equal(live_fixture_run(&f, "doctor --config=@missing"), VERB_FAILED);
	assert_non_null(strstr(f.out.p, "missing"));
}

static const char *const one_of_each[] = {
	DEPLOYMENT("d", "ns", LABEL, ""),
	POD("p", LABEL, "", ""),
	JOB("j", "", "false", ""),
	NULL,
};

static void a_namespace_limits_every_check(void **state UNUSED)
{
	load(one_of_each);
	live_fixture_load(&f, DEPLOYMENT("d", "default", LABEL, ""));
	expect("doctor -n ns", VERB_FAILED,
	       QUEUED("Deployment.apps", "ns/d") QUEUED("Pod", "ns/p") RUNS("ns/j"));
	expect("doctor -n default", VERB_FAILED, QUEUED("Deployment.apps", "default/d"));
	expect("doctor -n empty", VERB_OK, "no problems found\n");
}

#define FAULT(code, path) "[{fault: status, code: " code ", path: '" path "'}]"

/* A check that fails is reported, the others are done, and the exit code is not that of success. A
 * kind that the server does not serve is no failure. */
static void a_check_that_fails_does_not_end_the_others(void **state UNUSED)
{
	static const struct {
		const char *fault, *failed;
		bool deployment, pod, job; /* reported */
	} rows[] = {
		{ FAULT("403", "/apis/apps$"), "headgatectl: Deployment.apps: ", false, true,
		  true },
		{ FAULT("403", "/apis/apps/v1$"), "headgatectl: Deployment.apps: ", false, true,
		  true },
		{ FAULT("403", "/apis/apps/v1/deployments"),
		  "headgatectl: Deployment.apps: ", false, true, true },
		{ FAULT("404", "/apis/apps$"), NULL, false, true, true },
		{ FAULT("404", "/apis/apps/v1$"), NULL, false, true, true },
		{ FAULT("403", "/api/v1/pods"), "headgatectl: Pod: ", true, false, true },
		{ FAULT("403", "/apis/batch/v1/jobs"), "headgatectl: Job.batch: ", true, true,
		  false },
		{ FAULT("403", ".*/workloads"), "headgatectl: Job.batch: ", true, true, false },
		{ FAULT("404", ".*/workloads"), NULL, true, true, true },
	};

	load(one_of_each);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].fault);
		live_fixture_fault(&f, rows[i].fault);
		assert_int_equal(live_fixture_run(&f, "doctor"), VERB_FAILED);
		assert_int_equal(strstr(f.out.p, "Deployment.apps ns/d: ") != NULL,
				 rows[i].deployment);
		assert_int_equal(strstr(f.out.p, "Pod ns/p: ") != NULL, rows[i].pod);
		assert_int_equal(strstr(f.out.p, "Job.batch ns/j: ") != NULL, rows[i].job);
		assert_int_equal(strstr(f.out.p, "headgatectl: ") != NULL, rows[i].failed != NULL);
		assert_true(rows[i].failed == NULL || strstr(f.out.p, rows[i].failed) != NULL);
	}
}

/* Nothing is found, but not everything was looked at. */
static void a_failure_alone_is_no_success(void **state UNUSED)
{
	live_fixture_fault(&f, "[{fault: status, code: 403, path: /api/v1/pods}]");
	assert_int_equal(live_fixture_run(&f, "doctor"), VERB_FAILED);
	assert_null(strstr(f.out.p, "no problems found"));
	assert_int_equal(live_fixture_run(&f, "doctor --server=ftp://x"), VERB_FAILED);
	assert_int_equal(live_fixture_run(&f, "doctor extra"), VERB_USAGE);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_kind_of_object_is_reported_or_not),
		TEST(external_frameworks_are_skipped),
		TEST(a_namespace_limits_every_check),
		TEST(a_check_that_fails_does_not_end_the_others),
		TEST(a_failure_alone_is_no_success),
	};

	return cmocka_run_group_tests_name("ctl/doctor", tests, NULL, NULL);
}
