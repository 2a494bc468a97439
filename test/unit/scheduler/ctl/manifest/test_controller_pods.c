/* `headgatectl simulate` with Jobs, Deployments, ReplicaSets and StatefulSets: pods of theirs that
 * the gate holds are made before the first cycle. Each row is a file, a part of what is printed,
 * and the exit code. */
#include "lib/unit.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "process/file.h"
#include "scheduler/ctl/cli/verb.h"
#include "unit/scheduler/ctl/capture.h"

#define GATE "scheduling.volcano.sh/queue-allocation-gate"
#define QUEUE "scheduling.volcano.sh/queue-name"
#define QUEUES                                                                                     \
	"apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q}\n"            \
	"spec: {weight: 1, capability: {cpu: 2}}\n---\n"
#define NAMESPACE(labels)                                                                          \
	"apiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {" labels                 \
	"}, annotations: {" QUEUE ": q}}\n---\n"
#define OPTED_IN QUEUES NAMESPACE(GATE ": \"true\"")
#define POD_SPEC "{containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]"
#define APPS(kind, spec, meta, more)                                                               \
	"apiVersion: apps/v1\nkind: " kind "\nmetadata: {name: web, namespace: team}\n"            \
	"spec: {" spec ", selector: {matchLabels: {app: web}}, template: {metadata: "              \
	"{labels: {app: web}" meta "}, spec: " POD_SPEC more "}}}\n---\n"
#define QUEUED                                                                                     \
	"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: team}\n"          \
	"spec: {selector: {}, template: {metadata: {labels: {kueue.x-k8s.io/queue-name: lq}}, "    \
	"spec: " POD_SPEC "}}}\n"
#define RUNS                                                                                       \
	"apiVersion: v1\nkind: Pod\nmetadata: {name: web-0, namespace: team, uid: u}\n"            \
	"spec: {nodeName: n, containers: [{name: c, image: i}]}\nstatus: {phase: Running}\n"
#define JOB(labels, spec)                                                                          \
	"apiVersion: batch/v1\nkind: Job\nmetadata: {name: web, namespace: team" labels            \
	"}\nspec: {" spec ", template: {spec: " POD_SPEC ", restartPolicy: Never}}}\n---\n"

static char folder[] = "/tmp/test_controller_pods_XXXXXX";
static char *config;

struct row {
	const char *name, *manifests;
	int code;
	const char *printed; /* a part of it */
	const char *absent;  /* NULL, or what must not be printed */
	bool pods_queue;     /* Kueue's integration of pods is on */
};

static const struct row rows[] = {
	{ .name = "a Deployment of a namespace that opts in: as many as there is quota for",
	  .manifests = OPTED_IN APPS("Deployment", "replicas: 3", "", ""),
	  .printed = "team/web-1    q       ungated   has quota",
	  .absent = "plays no part" },
	{ .name = "the rest waits",
	  .manifests = OPTED_IN APPS("Deployment", "replicas: 3", "", ""),
	  .printed = "team/web-2    q       gated     queue q has not enough quota left" },
	{ .name = "one replica is the default",
	  .manifests = OPTED_IN APPS("ReplicaSet", "minReadySeconds: 1", "", ""),
	  .printed = "Ungate     team/web-0",
	  .absent = "web-1" },
	{ .name = "none",
	  .manifests = OPTED_IN APPS("ReplicaSet", "replicas: 0", "", ""),
	  .printed = "Nothing waits" },
	{ .name = "a template that opts in",
	  .manifests = QUEUES NAMESPACE("")
		  APPS("Deployment", "replicas: 1",
		       ", annotations: {" GATE ": \"true\", " QUEUE ": q}", ""),
	  .printed = "Ungate     team/web-0" },
	{ .name = "a template that queues by Kueue's label",
	  .manifests = QUEUES NAMESPACE("") QUEUED,
	  .printed = "team/pod-web-0",
	  .pods_queue = true },
	{ .name = "where pods do not queue it does not",
	  .manifests = QUEUES NAMESPACE("") QUEUED,
	  .printed = "Deployment (apps): 1 object of this kind plays no part",
	  .absent = "web-0" },
	{ .name = "a template for Headgate's own scheduler",
	  .manifests = QUEUES NAMESPACE("")
		  APPS("Deployment", "replicas: 1", "", ", schedulerName: volcano"),
	  .printed = "team/web-0",
	  .absent = "plays no part" },
	{ .name = "others play no part, whatever is wrong with them",
	  .manifests = QUEUES NAMESPACE("") APPS("Deployment", "replcas: 3", "", ""),
	  .printed = "Deployment (apps): 1 object of this kind plays no part",
	  .absent = "web-0" },
	{ .name = "a field that is misspelt",
	  .manifests = OPTED_IN APPS("Deployment", "replcas: 3", "", ""),
	  .code = VERB_USAGE,
	  .printed = "f: document 3: Deployment team/web: unknown field \"spec.replcas\" (did you "
		     "mean replicas?)" },
	{ .name = "a field of the template that is misspelt",
	  .manifests = OPTED_IN APPS("StatefulSet", "replicas: 3", "", ", nodeSelecter: {}"),
	  .code = VERB_USAGE,
	  .printed = "StatefulSet team/web: unknown field \"spec.template.spec.nodeSelecter\"" },
	{ .name = "replicas below zero",
	  .manifests = OPTED_IN APPS("ReplicaSet", "replicas: -1", "", ""),
	  .code = VERB_USAGE,
	  .printed = "ReplicaSet team/web: spec.replicas: " },
	{ .name = "another version",
	  .manifests = OPTED_IN "apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: web, "
				"namespace: team}\n",
	  .code = VERB_USAGE,
	  .printed = "Deployment team/web: apiVersion: unknown version; there is apps/v1" },
	{ .name = "a selector that selects other pods",
	  .manifests = OPTED_IN
	  "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: team}\n"
	  "spec: {selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: "
	  "web}}, spec: " POD_SPEC "}}}\n",
	  .code = VERB_USAGE,
	  .printed = "`selector` does not match template `labels`" },
	{ .name = "an amount below zero",
	  .manifests = OPTED_IN
	  "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: team}\n"
	  "spec: {selector: {}, template: {spec: {containers: [{name: c, image: i, resources: "
	  "{requests: {cpu: -1}}}]}}}\n",
	  .code = VERB_USAGE,
	  .printed = "spec.template.spec.containers[0].resources.requests[cpu]: Invalid value" },
	{ .name = "more pods than are simulated",
	  .manifests = OPTED_IN APPS("Deployment", "replicas: 10001", "", ""),
	  .code = VERB_USAGE,
	  .printed = "Deployment team/web: 10001 pods: more than 10000 of one object are not "
		     "simulated" },
	{ .name = "volumes that are made for each pod",
	  .manifests = OPTED_IN APPS("StatefulSet", "volumeClaimTemplates: [{metadata: {name: v}}]",
				     "", ""),
	  .printed = "StatefulSet team/web: spec.volumeClaimTemplates: its pods are simulated "
		     "without these volumes" },
	{ .name = "one that has been in a cluster has its pods there",
	  .manifests = OPTED_IN "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, "
				"namespace: team, uid: u}\nspec: {replicas: 1}\n",
	  .printed = "plays no part",
	  .absent = "web-0" },
	{ .name = "a pod that is there already stays as it is",
	  .manifests = OPTED_IN APPS("Deployment", "replicas: 2", "", "") RUNS,
	  .printed = "Ungate     team/web-1",
	  .absent = "web-0 " },
	{ .name = "a Job: as many as run beside each other",
	  .manifests = OPTED_IN JOB("", "parallelism: 3, completions: 5"),
	  .printed = "team/web-2    q       gated",
	  .absent = "NOT SCHEDULED HERE" },
	{ .name = "or are to be completed",
	  .manifests = OPTED_IN JOB("", "parallelism: 3, completions: 1"),
	  .printed = "Ungate     team/web-0",
	  .absent = "web-1" },
	{ .name = "a Job that says neither has one pod",
	  .manifests = OPTED_IN JOB("", "backoffLimit: 1"),
	  .printed = "Ungate     team/web-0",
	  .absent = "web-1" },
	{ .name = "a Job without completions: as many as run beside each other",
	  .manifests = OPTED_IN JOB("", "parallelism: 2, completions: null"),
	  .printed = "Ungate     team/web-1",
	  .absent = "web-2" },
	{ .name = "a Job that is suspended has none",
	  .manifests = OPTED_IN JOB("", "parallelism: 3, suspend: true"),
	  .printed = "it has no label kueue.x-k8s.io/queue-name: it does not queue",
	  .absent = "web-0" },
	{ .name = "nor has one that queues",
	  .manifests = OPTED_IN JOB(", labels: {kueue.x-k8s.io/queue-name: lq}", "parallelism: 3"),
	  .printed = "web",
	  .absent = "web-0 " },
	{ .name = "a Job elsewhere plays no part",
	  .manifests = QUEUES NAMESPACE("") JOB("", "parallelism: 3"),
	  .printed = "it has no label",
	  .absent = "web-0" },
};

static void test_pods_are_made(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf printed = STRBUF_INIT;
		CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/f", folder);
		CLEANUP(xmalloc_freep)
		char *line = rows[i].pods_queue
				     ? xmalloc_printf("simulate --config %s %s", config, path)
				     : xmalloc_printf("simulate %s", path);
		const char *text;
		int code;

		assert_int_equal(file_write_atomic(path, str_of(rows[i].manifests), 0600, NULL), 0);
		code = capture_ctl(line, &printed);
		text = printed.len > 0 ? printed.p : "";
		unlink(path);
		if (code != rows[i].code || strstr(text, rows[i].printed) == NULL ||
		    (rows[i].absent != NULL && strstr(text, rows[i].absent) != NULL)) {
			fail_msg("%s: code %d:\n%s", rows[i].name, code, text);
		}
	}
}

static int make_folder(void **state UNUSED)
{
	if (mkdtemp(folder) == NULL) {
		return -1;
	}
	config = xmalloc_printf("%s/config", folder);
	return file_write_atomic(config,
				 STR_LIT("apiVersion: config.kueue.x-k8s.io/v1beta2\n"
					 "kind: Configuration\n"
					 "integrations: {frameworks: [batch/job, pod]}\n"),
				 0600, NULL);
}

static int remove_folder(void **state UNUSED)
{
	unlink(config);
	free(config);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pods_are_made),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
