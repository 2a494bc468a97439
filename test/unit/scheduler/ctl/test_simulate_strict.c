/* Manifests without --as-is, for `headgatectl simulate` and the other verbs that read them: odd
 * input is refused or reported, never passed over. Each row is a file, what is printed, and the
 * exit code. */
#include "scheduler/ctl/ctl.h"

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

#define KUEUE "apiVersion: kueue.x-k8s.io/v1beta2\n"
#define VOLCANO "apiVersion: scheduling.volcano.sh/v1beta1\n"
#define QUEUES QUEUES_OF("BestEffortFIFO")
#define QUEUES_OF(strategy)                                                                        \
	KUEUE "kind: ResourceFlavor\nmetadata: {name: f}\n---\n" KUEUE                             \
	      "kind: ClusterQueue\nmetadata: {name: cq}\nspec:\n  namespaceSelector: {}\n"         \
	      "  queueingStrategy: " strategy "\n"                                                 \
	      "  preemption: {withinClusterQueue: LowerPriority}\n  resourceGroups:\n"             \
	      "  - {coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, "         \
	      "nominalQuota: 2}]}]}\n---\n" KUEUE                                                  \
	      "kind: LocalQueue\nmetadata: {name: lq, namespace: team}\nspec: {clusterQueue: "     \
	      "cq}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n---\n"
/* A Workload in a namespace that is not in the manifests. */
#define ELSEWHERE(selector)                                                                        \
	KUEUE "kind: ResourceFlavor\nmetadata: {name: f}\n---\n" KUEUE                             \
	      "kind: ClusterQueue\nmetadata: {name: cq}\nspec:\n  namespaceSelector: {" selector   \
	      "}\n  resourceGroups:\n  - {coveredResources: [cpu], flavors: [{name: f, "           \
	      "resources: [{name: cpu, nominalQuota: 2}]}]}\n---\n" LOCAL("lq", "else") KUEUE      \
		"kind: Workload\nmetadata: {name: w, namespace: else}\nspec: {queueName: lq, "     \
		"podSets: [{name: main, count: 1, template: {spec: {restartPolicy: "               \
		"Never, " CONTAINERS("1") "}}}]}\n"
#define BOUNDED(name, request, limit)                                                              \
	"[{name: " name ", image: i, resources: {requests: {cpu: " request                         \
	"}, limits: {cpu: " limit "}}}]"
#define BOUNDED_POD(request, limit)                                                                \
	"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: " BOUNDED(             \
		"c", request, limit) ", initContainers: " BOUNDED("i", request, limit) "}\n"
#define QUEUED "labels: {kueue.x-k8s.io/queue-name: lq}"
#define CONTAINERS(cpu) "containers: [{name: c, image: i, resources: {requests: {cpu: " cpu "}}}]"
#define WORKLOAD(name, cpu)                                                                        \
	KUEUE "kind: Workload\nmetadata: {name: " name                                             \
	      ", namespace: team}\nspec: {queueName: lq, "                                         \
	      "podSets: [{name: main, count: 1, template: {spec: {restartPolicy: "                 \
	      "Never, " CONTAINERS(cpu) "}}}]}\n---\n"
#define WORKLOAD_PRIO(name, priority, cpu)                                                         \
	KUEUE "kind: Workload\nmetadata: {name: " name                                             \
	      ", namespace: team}\nspec: {queueName: lq, priority: " priority                      \
	      ", podSets: [{name: main, count: 1, template: {spec: {restartPolicy: "               \
	      "Never, " CONTAINERS(cpu) "}}}]}\n---\n"
#define WORKLOAD_HOLDS(name)                                                                       \
	KUEUE "kind: Workload\nmetadata: {name: " name                                             \
	      ", namespace: team}\nspec: {queueName: lq, priority: 1, podSets: [{name: main, "     \
	      "count: 1, template: {spec: {restartPolicy: Never, " CONTAINERS(                     \
		      "2") "}}}]}\nstatus: {admission: {clusterQueue: cq, podSetAssignments: [{"   \
			   "name: main, count: 1, flavors: {cpu: f}, resourceUsage: {cpu: 2}}]}, " \
			   "conditions: [{type: QuotaReserved, status: \"True\", reason: "         \
			   "QuotaReserved, message: m, lastTransitionTime: "                       \
			   "\"2026-01-15T09:02:00Z\"}, {type: Admitted, status: \"True\", "        \
			   "reason: "                                                              \
			   "Admitted, message: m, lastTransitionTime: "                            \
			   "\"2026-01-15T09:02:00Z\"}]}\n---\n"
#define LOCAL(name, ns)                                                                            \
	KUEUE "kind: LocalQueue\nmetadata: {name: " name ", namespace: " ns                        \
	      "}\nspec: {clusterQueue: cq}\n---\n"
#define JOB(name, more, cpu)                                                                       \
	"apiVersion: batch/v1\nkind: Job\nmetadata: {name: " name ", namespace: team" more         \
	"}\nspec: {template: {spec: {restartPolicy: Never, " CONTAINERS(cpu) "}}}\n---\n"
#define GENERATED_JOB                                                                              \
	"apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: train-, namespace: "            \
	"team, " QUEUED                                                                            \
	"}\nspec: {template: {spec: {restartPolicy: Never, " CONTAINERS("1") "}}}\n---\n"
#define NODE                                                                                       \
	"apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {allocatable: {cpu: 4, pods: "   \
	"9}}\n---\n"
#define OPT_IN "annotations: {scheduling.volcano.sh/queue-allocation-gate: \"true\"}"
#define PRIORITY_CLASS(name, value)                                                                \
	"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: " name            \
	"}\nvalue: " value "\n---\n"
#define SPACE(name, meta)                                                                          \
	"apiVersion: v1\nkind: Namespace\nmetadata: {name: " name ", " meta "}\n---\n"
#define POD(meta, spec)                                                                            \
	"apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: team" meta "}\nspec: {" spec    \
	", " CONTAINERS("1") "}\n---\n"

#define KUBE_GROUP(min)                                                                            \
	"apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: g, namespace: "   \
	"team}\nspec: {schedulingPolicy: {gang: {minCount: " min "}}}\n---\n"

static char folder[] = "/tmp/test_simulate_strict_XXXXXX";

/* In the folder; the caller frees the path. */
static char *write_file(const char *name, const char *text)
{
	char *path = xmalloc_printf("%s/%s", folder, name);

	assert_int_equal(file_write_atomic(path, str_of(text), 0600, NULL), 0);
	return path;
}

/* The caller frees it. */
static char *put_folder(const char *words)
{
	const char *at = strchr(words, '@');

	return at == NULL ? xmalloc_dup(words)
			  : xmalloc_printf("%.*s%s/%s", (int)(at - words), words, folder, at + 1);
}

/* Runs with words separated by blanks, in which @ is the folder, then the file; appends what is
 * printed. */
static int run(const char *words, const char *manifests, struct strbuf *printed)
{
	CLEANUP(xmalloc_freep) char *path = write_file("f", manifests);
	CLEANUP(xmalloc_freep) char *own = put_folder(words);
	CLEANUP(xmalloc_freep) char *line = xmalloc_printf("%s %s", own, path);
	int code = capture_ctl(line, printed);

	unlink(path);
	return code;
}

struct row {
	const char *name, *words, *manifests;
	int code;
	const char *printed; /* a part of it */
	const char *later;   /* NULL, or the file "later" */
	const char *absent;  /* NULL, or what must not be printed */
};

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		CLEANUP(strbuf_finish) struct strbuf printed = STRBUF_INIT;
		const char *words = rows[i].words == NULL ? "simulate" : rows[i].words;
		int code = run(words, rows[i].manifests, &printed);
		const char *text = printed.len > 0 ? printed.p : "";

		if (code != rows[i].code || strstr(text, rows[i].printed) == NULL ||
		    (rows[i].absent != NULL && strstr(text, rows[i].absent) != NULL)) {
			fail_msg("%s: code %d:\n%s", rows[i].name, code, text);
		}
	}
}

static const struct row form_rows[] = {
	{ .name = "no apiVersion",
	  .manifests = QUEUES "kind: Workload\nmetadata: {name: w}\n",
	  .code = VERB_USAGE,
	  .printed = "f: document 5: Workload w: apiVersion: missing; it is "
		     "kueue.x-k8s.io/v1beta2" },
	{ .name = "an apiVersion that is a number",
	  .manifests = "apiVersion: 1\nkind: Pod\nmetadata: {name: p}\n",
	  .code = VERB_USAGE,
	  .printed = "Pod p: apiVersion: not a string" },
	{ .name = "a kind that is a number",
	  .manifests = "apiVersion: v1\nkind: 1\nmetadata: {name: p}\n",
	  .code = VERB_USAGE,
	  .printed = "document 1: kind: not a string" },
	{ .name = "an unknown version",
	  .manifests = "apiVersion: kueue.x-k8s.io/v1beta3\nkind: Cohort\nmetadata: {name: "
		       "c}\n",
	  .code = VERB_USAGE,
	  .printed = "unknown version kueue.x-k8s.io/v1beta3; there is v1beta2, v1beta1" },
	{ .name = "an unknown version of a core kind",
	  .manifests = "apiVersion: v2\nkind: Pod\nmetadata: {name: c}\n",
	  .code = VERB_USAGE,
	  .printed = "apiVersion: unknown version v2; there is v1" },
	{ .name = "a kind of this name in another group",
	  .manifests = "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: "
		       "q}\n",
	  .code = VERB_USAGE,
	  .printed = "Queue q: apiVersion: group \"scheduling.run.ai\" is another API" },
	{ .name = "a kind that is misspelt",
	  .manifests = KUEUE "kind: Localqueue\nmetadata: {name: q}\n",
	  .code = VERB_USAGE,
	  .printed = "Localqueue q: kind: not known; did you mean LocalQueue? (--ignore "
		     "Localqueue leaves this one out)" },
	{ .name = "another kind of the group of one that is simulated",
	  .manifests = KUEUE "kind: MultiKueueConfig\nmetadata: {name: q}\n",
	  .code = VERB_OK,
	  .printed = "1 object of this kind plays no part in scheduling" },
	{ .name = "which --ignore leaves out",
	  .words = "simulate --ignore Queue.scheduling.run.ai",
	  .manifests = "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: "
		       "q}\n",
	  .printed = "Read: no object",
	  .absent = "another API" },
	{ .name = "an --ignore of an unknown kind",
	  .words = "simulate --ignore Deploymnt",
	  .manifests = KUEUE "kind: ResourceFlavor\nmetadata: {name: f}\n",
	  .code = VERB_USAGE,
	  .printed = "--ignore Deploymnt: unknown kind, and no object of it was read; did you "
		     "mean Deployment?" },
	{ .name = "an unknown field",
	  .manifests = KUEUE "kind: ClusterQueue\nmetadata: {name: q}\nspec: {preemtion: "
			     "{}}\n",
	  .code = VERB_USAGE,
	  .printed = "f: document 1: ClusterQueue q: unknown field \"spec.preemtion\" (did "
		     "you mean preemption?)" },
	{ .name = "an unknown field in a list",
	  .manifests = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: "
		       "[{name: c}, {name: d, resources: {request: {cpu: 1}}}]}\n",
	  .code = VERB_USAGE,
	  .printed = "unknown field \"spec.containers[1].resources.request\" (did you mean "
		     "requests?)" },
	{ .name = "an unknown field of a Job's pods",
	  .manifests = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: "
		       "{template: {spec: {tolerations: [{tolerationSecond: 1}]}}}\n",
	  .code = VERB_USAGE,
	  .printed = "\"spec.template.spec.tolerations[0].tolerationSecond\" (did you mean "
		     "tolerationSeconds?)" },
	{ .name = "fields that are not near any",
	  .manifests = "apiVersion: v1\nkind: Node\nmetadata: {name: p}\nspec: {zzz: 1}\n",
	  .code = VERB_USAGE,
	  .printed = "unknown field \"spec.zzz\"\n" },
	{ .name = "unknown fields of an object from a newer cluster are reported",
	  .manifests = "apiVersion: v1\nkind: Node\nmetadata: {name: p, uid: u}\nspec: "
		       "{zzz: 1}\n",
	  .printed = "warning: " },
	{ .name = "an order of a Queue that has no effect",
	  .manifests = VOLCANO "kind: Queue\nmetadata: {name: q}\nspec: {dequeueStrategy: fifo}\n",
	  .printed = "Queue q: spec.dequeueStrategy: fifo has no effect" },
	{ .name = "fields of Kubernetes 1.37",
	  .manifests = "apiVersion: v1\nkind: Node\nmetadata: {name: n}\nspec: "
		       "{podPreemptionPolicy: {}}\n---\napiVersion: v1\nkind: Pod\nmetadata: "
		       "{name: p}\nspec: {evictionResponders: [], " CONTAINERS(
			       "1") "}\n"
				    "status: {volumeHealth: [], "
				    "nodeAllocatableResourceClaimStatuses: []}\n",
	  .printed = "1 Node",
	  .absent = "unknown" },
	{ .name = "fields that are not looked into",
	  .manifests = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: n, "
		       "volumes: [{name: v, new: {}}], containers: [{name: c, livenessProbe: "
		       "{new: 1}}]}\n",
	  .printed = "1 Pod",
	  .absent = "unknown" },
	{ .name = "a duplicate key",
	  .manifests = "kind: Pod\nkind: Pod\n",
	  .code = VERB_USAGE,
	  .printed = "f: " },
	{ .name = "a duplicate key in JSON",
	  .manifests = "{\"kind\": \"Pod\",\n\"kind\": \"Pod\"}\n",
	  .code = VERB_USAGE,
	  .printed = "f: invalid YAML at line 2 column 1: duplicate key" },
	{ .name = "documents are counted as they stand, empty ones too",
	  .manifests = "# a comment\n---\n# another one\n---\n---\nkind: Pod\n",
	  .code = VERB_USAGE,
	  .printed = "f: document 3: Pod: apiVersion: missing" },
	{ .name = "all problems are reported",
	  .manifests = "kind: Pod\n---\nkind: Node\n",
	  .code = VERB_USAGE,
	  .printed = "document 2: Node" },
	{ .name = "also several without a name",
	  .manifests = "apiVersion: v1\nkind: Pod\n---\n" KUEUE "kind: Cohort\nmetadata: {}\n",
	  .code = VERB_USAGE,
	  .printed = "document 2: Cohort: metadata.name: Required value: name or generateName" },
	{ .name = "given twice",
	  .manifests = NODE NODE,
	  .printed = "warning: ",
	  .absent = "2 Node" },
};

static void test_refused_by_form(void **state)
{
	(void)state;
	check_rows(form_rows, ARRAY_LEN(form_rows));
}

static const struct row api_rows[] = {
	{ .name = "the cohort of v1beta1",
	  .manifests = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: "
		       "{name: q}\nspec: {cohort: c}\n",
	  .code = VERB_USAGE,
	  .printed = "spec.cohort: Invalid value: \"c\": it is spec.cohortName in "
		     "kueue.x-k8s.io/v1beta2, use that" },
	{ .name = "the cohort of v1beta1 in v1beta2",
	  .manifests = KUEUE "kind: ClusterQueue\nmetadata: {name: q}\nspec: {cohort: c}\n",
	  .code = VERB_USAGE,
	  .printed = "unknown field \"spec.cohort\" (did you mean cohortName?)" },
	{ .name = "a label map of a Queue that is misspelt",
	  .manifests = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: "
		       "{name: q, label: {a: b}}\n",
	  .code = VERB_USAGE,
	  .printed = "unknown field \"metadata.label\" (did you mean labels?)" },
	{ .name = "a policy of v1beta1",
	  .manifests = KUEUE "kind: ClusterQueue\nmetadata: {name: q}\nspec: "
			     "{flavorFungibility: {whenCanBorrow: Borrow}}\n",
	  .code = VERB_USAGE,
	  .printed = "spec.flavorFungibility.whenCanBorrow: Unsupported value: \"Borrow\"" },
	{ .name = "covered resources without quota",
	  .manifests = KUEUE "kind: ClusterQueue\nmetadata: {name: q}\nspec: "
			     "{resourceGroups: [{coveredResources: [cpu, memory], flavors: "
			     "[{name: f, resources: [{name: cpu, nominalQuota: 1}]}]}]}\n",
	  .code = VERB_USAGE,
	  .printed = "flavors must have the same number of resources as the "
		     "coveredResources" },
	{ .name = "a lending limit without a cohort",
	  .manifests = KUEUE "kind: ClusterQueue\nmetadata: {name: q}\nspec: "
			     "{resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, "
			     "resources: [{name: cpu, nominalQuota: 1, lendingLimit: "
			     "1}]}]}]}\n",
	  .code = VERB_USAGE,
	  .printed = "lendingLimit must be absent without cohortName" },
	{ .name = "a negative request of a Workload",
	  .manifests = QUEUES WORKLOAD("w", "-1"),
	  .code = VERB_USAGE,
	  .printed = "spec.podSets[0].template.spec.containers[0].resources.requests[cpu]: "
		     "Invalid value: \"-1\": must be greater than or equal to 0" },
	{ .name = "of a pod",
	  .manifests = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: "
		       "{" CONTAINERS("-100m") "}\n",
	  .code = VERB_USAGE,
	  .printed = "must be greater than or equal to 0" },
	{ .name = "of a Job",
	  .manifests = QUEUES JOB("j", ", " QUEUED, "-1"),
	  .code = VERB_USAGE,
	  .printed = "spec.template.spec.containers[0].resources.requests[cpu]: Invalid" },
	{ .name = "a request above its limit, as numbers",
	  .manifests = BOUNDED_POD("2", "1"),
	  .code = VERB_USAGE,
	  .printed = "spec.containers[0].resources.requests: Invalid value: \"2\": must be less "
		     "than or equal to cpu limit of 1" },
	{ .name = "of an init container",
	  .manifests = BOUNDED_POD("2", "1"),
	  .code = VERB_USAGE,
	  .printed = "spec.initContainers[0].resources.requests: Invalid value: \"2\"" },
	{ .name = "a negative limit, as a number",
	  .manifests = BOUNDED_POD("1", "-1"),
	  .code = VERB_USAGE,
	  .printed = "spec.containers[0].resources.limits[cpu]: Invalid value: \"-1\"" },
	{ .name = "a request up to its limit, as numbers",
	  .manifests = BOUNDED_POD("1", "1"),
	  .printed = "Read: 1 Pod" },
	{ .name = "an amount that is none",
	  .manifests = QUEUES WORKLOAD("w", "1K"),
	  .code = VERB_USAGE,
	  .printed = "Invalid value: \"1K\"" },
	{ .name = "a name that no object can have, with control characters",
	  .manifests = "apiVersion: v1\nkind: Node\nmetadata: {name: \"n\\e[31m\\nx\"}\n",
	  .code = VERB_USAGE,
	  .printed = "Node n\\u001b[31m\\nx: metadata.name: Invalid value",
	  .absent = "\033" },
	{ .name = "a namespace that can have no such name",
	  .manifests = "apiVersion: v1\nkind: Namespace\nmetadata: {name: ok}\n---\n" KUEUE
		       "kind: LocalQueue\nmetadata: {name: q, namespace: Team_A}\n"
		       "spec: {clusterQueue: q}\n",
	  .code = VERB_USAGE,
	  .printed = "document 2: LocalQueue Team_A/q: metadata.namespace: Invalid value: "
		     "\"Team_A\": a lowercase RFC 1123 label" },
	{ .name = "a namespace with a dot",
	  .manifests = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: a.b}\n"
		       "spec: {containers: [{name: c, image: i}]}\n",
	  .code = VERB_USAGE,
	  .printed = "document 1: Pod a.b/p: metadata.namespace: Invalid value: \"a.b\"" },
	{ .name = "a namespace of 64 letters",
	  .manifests = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: "
		       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}\n"
		       "spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, "
		       "image: i}]}}}\n",
	  .code = VERB_USAGE,
	  .printed = "must be no more than 63 bytes" },
	{ .name = "a namespace of a kind that has none, which the API server drops",
	  .manifests = "apiVersion: v1\nkind: Node\nmetadata: {name: n, namespace: Team_A}\n",
	  .printed = "Read: 1 Node" },
	{ .name = "a gang below zero",
	  .manifests = VOLCANO "kind: PodGroup\nmetadata: {name: g}\nspec: {minMember: "
			       "-1}\n",
	  .code = VERB_USAGE,
	  .printed = "minMember" },
	{ .name = "a denial is reported once, though several handlers would deny",
	  .manifests = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, " QUEUED
		       "}\nspec: {parallelism: \"2\", template: {spec: {restartPolicy: "
		       "Never, " CONTAINERS("1") "}}}\n",
	  .code = VERB_USAGE,
	  .printed = "Job default/j: the admission webhook denies it: spec.parallelism: expected "
		     "integer, got string\n",
	  .absent = "string\nheadgatectl" },
	{ .name = "what only the webhook refuses",
	  .manifests = VOLCANO "kind: PodGroup\nmetadata: {name: g}\nspec: {minMember: 1, "
			       "queue: nowhere}\n",
	  .code = VERB_USAGE,
	  .printed = "PodGroup default/g: the admission webhook denies it: " },
};

static const struct row core_rows[] = {
	{ .name = "a pod without containers",
	  .manifests = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: []}\n",
	  .code = VERB_USAGE,
	  .printed = "Pod p: spec.containers: Required value" },
	{ .name = "a PriorityClass that is not there",
	  .manifests = NODE POD("", "schedulerName: volcano, priorityClassName: high"),
	  .code = VERB_USAGE,
	  .printed = "Pod team/p: is forbidden: no PriorityClass with name high was found" },
	{ .name = "of a PodGroup it is not the API server that asks for it",
	  .manifests = NODE VOLCANO "kind: PodGroup\nmetadata: {name: g}\nspec: {minMember: 1, "
				    "priorityClassName: gone}\n",
	  .printed = "default/g",
	  .absent = "forbidden" },
	{ .name = "one that every cluster has",
	  .manifests = NODE POD("", "schedulerName: volcano, priorityClassName: "
				    "system-node-critical"),
	  .printed = "Bind" },
	{ .name = "a priority that is not that of its class",
	  .manifests = PRIORITY_CLASS("high", "5") POD("", "priorityClassName: high, priority: 6"),
	  .code = VERB_USAGE,
	  .printed = "the integer value of priority (6) must not be provided in pod spec; priority "
		     "admission controller computed 5" },
	{ .name = "two PriorityClasses that are the default",
	  .manifests = PRIORITY_CLASS("a", "5\nglobalDefault: true")
		  PRIORITY_CLASS("b", "6\nglobalDefault: true"),
	  .code = VERB_USAGE,
	  .printed = "PriorityClass b: is forbidden: PriorityClass a is already marked" },
	{ .name = "a part of a device",
	  .manifests = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: "
		       "c, image: i, resources: {requests: {example.com/gpu: 1500m}, limits: "
		       "{example.com/gpu: 1500m}}}]}\n",
	  .code = VERB_USAGE,
	  .printed = "[example.com/gpu]: Invalid value: \"1500m\": must be an integer" },
	{ .name = "queues in any order",
	  .manifests = NODE VOLCANO
	  "kind: Queue\nmetadata: {name: z}\nspec: {parent: b}\n---\n" VOLCANO
	  "kind: Queue\nmetadata: {name: b}\n---\n" VOLCANO
	  "kind: Queue\nmetadata: {name: m}\n---\n" VOLCANO
	  "kind: Queue\nmetadata: {name: a}\n---\n" VOLCANO
	  "kind: PodGroup\nmetadata: {name: g}\nspec: {minMember: 1, queue: z}\n---\n" VOLCANO
	  "kind: PodGroup\nmetadata: {name: h}\nspec: {minMember: 1, queue: a}\n---\n" VOLCANO
	  "kind: PodGroup\nmetadata: {name: i}\nspec: {minMember: 1, queue: m}\n",
	  .printed = "default/g",
	  .absent = "denies" },
	{ .name = "namespaces in any order",
	  .manifests = NODE SPACE("team",
				  "labels: {scheduling.volcano.sh/queue-allocation-gate: \"true\"}")
		  SPACE("z", "") SPACE("b", "") SPACE("m", "") SPACE("a", "")
			  POD("", "schedulerName: volcano"),
	  .printed = "Ungate     team/p   scheduling.volcano.sh/queue-allocation-gate" },
	{ .name = "a RuntimeClass that is not there",
	  .manifests = NODE POD("", "schedulerName: volcano, runtimeClassName: gone"),
	  .code = VERB_USAGE,
	  .printed = "pod rejected: RuntimeClass \"gone\" not found" },
	{ .name = "a running pod keeps its class",
	  .manifests = NODE "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {schedulerName: "
			    "volcano, priorityClassName: gone, nodeName: n, " CONTAINERS(
				    "1") "}\nstatus: {phase: Running}\n",
	  .printed = "1 Running" },
	{ .name = "a choice that an object from a newer cluster has",
	  .manifests = "apiVersion: v1\nkind: Namespace\nmetadata: {name: n, uid: u}\nstatus: "
		       "{phase: New}\n",
	  .printed = "Namespace n: status.phase: Unsupported value" },
	{ .name = "a Job with a PriorityClass that is not there",
	  .manifests = QUEUES "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: "
			      "team, " QUEUED
			      "}\nspec: {template: {spec: {priorityClassName: gone, restartPolicy: "
			      "Never, " CONTAINERS("1") "}}}\n",
	  .printed = "Job team/j: PriorityClass \"gone\" not found" },
};

static void test_values_of_core_kinds(void **state)
{
	(void)state;
	check_rows(core_rows, ARRAY_LEN(core_rows));
}

static void test_refused_by_the_api(void **state)
{
	(void)state;
	check_rows(api_rows, ARRAY_LEN(api_rows));
}

#define AFTER "simulate --apply-after 1:@later"

static const struct row later_rows[] = {
	{ .name = "an unknown field of an object that comes later",
	  .later = KUEUE "kind: Cohort\nmetadata: {name: c}\nspec: {parent: p}\n",
	  .code = VERB_USAGE,
	  .printed = "later: document 1: Cohort c: unknown field \"spec.parent\" (did you mean "
		     "parentName?)" },
	{ .name = "a group of pods that is not complete",
	  .words = "simulate --fail-on pending --config @later",
	  .manifests = QUEUES POD(", labels: {kueue.x-k8s.io/queue-name: lq, "
				  "kueue.x-k8s.io/pod-group-name: g}, annotations: "
				  "{kueue.x-k8s.io/pod-group-total-count: \"2\"}",
				  "restartPolicy: Never"),
	  .later = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
		   "integrations: {frameworks: [pod]}\n",
	  .code = VERB_ANSWER,
	  .printed = "Pod team/p           its group has 1 of 2 pods: it gets a Workload when all "
		     "are there" },
	{ .name = "a value of the configuration that cannot be read",
	  .words = "simulate --config @later",
	  .later = "waitForPodsReady: {timeout: 5}\n",
	  .code = VERB_USAGE,
	  .printed = "/later: waitForPodsReady.timeout: not a duration like 5m" },
	{ .name = "what the webhook refuses of a change",
	  .later = QUEUES WORKLOAD("w", "-1"),
	  .code = VERB_USAGE,
	  .printed = "must be greater than or equal to 0" },
	{ .name = "a Workload that comes later is admitted",
	  .later = WORKLOAD("w", "1"),
	  .printed = "team/w" },
	{ .name = "so is a Job in a queue that was there before",
	  .later = JOB("train", ", " QUEUED, "1"),
	  .printed = "job-train" },
	{ .name = "a Job that does not queue",
	  .later = JOB("train", "", "1"),
	  .printed = "later: document 1: Job team/train: it has no label "
		     "kueue.x-k8s.io/queue-name: it does not queue" },
	{ .name = "a Job that changes",
	  .manifests = QUEUES JOB("train", ", " QUEUED, "1"),
	  .later = JOB("train", ", " QUEUED, "2"),
	  .code = VERB_USAGE,
	  .printed = "later: document 1: Job team/train: changes of a Job are not simulated" },
	{ .name = "a PodGroup",
	  .later = VOLCANO "kind: PodGroup\nmetadata: {name: g}\nspec: {minMember: 1}\n",
	  .code = VERB_USAGE,
	  .printed = "later: document 1: updates of a PodGroup are not simulated" },
	{ .name = "what the schema refuses of a change",
	  .manifests = QUEUES WORKLOAD("w", "1"),
	  .later = KUEUE "kind: LocalQueue\nmetadata: {name: lq, namespace: team}\nspec: "
			 "{clusterQueue: CQ}\n",
	  .code = VERB_USAGE,
	  .printed = "LocalQueue team/lq" },
	{ .name = "a run that ends before",
	  .words = "simulate --cycles 1 --apply-after 3:@later",
	  .later = WORKLOAD("w", "1"),
	  .printed = "not applied, the run ended after cycle 1" },
};

static void test_objects_that_come_later(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(later_rows); i++) {
		CLEANUP(xmalloc_freep) char *path = write_file("later", later_rows[i].later);
		struct row row = later_rows[i];

		unit_row_number(i);
		row.words = row.words == NULL ? AFTER : row.words;
		row.manifests = row.manifests == NULL ? QUEUES : row.manifests;
		check_rows(&row, 1);
		unlink(path);
	}
}

static const struct row other_verb_rows[] = {
	{ .name = "explain: an unknown field",
	  .words = "explain workload team/w -f",
	  .manifests = KUEUE "kind: ClusterQueue\nmetadata: {name: q}\nspec: {preemtion: {}}\n",
	  .code = VERB_USAGE,
	  .printed = "f: document 1: ClusterQueue q: unknown field \"spec.preemtion\" (did you "
		     "mean preemption?)\nheadgatectl: a cluster would refuse these manifests" },
	{ .name = "explain: an unknown version",
	  .words = "explain job team/train -f",
	  .manifests = "apiVersion: kueue.x-k8s.io/v1beta3\nkind: Cohort\nmetadata: {name: c}\n",
	  .code = VERB_USAGE,
	  .printed = "unknown version kueue.x-k8s.io/v1beta3" },
	{ .name = "list: the cohort of v1beta1",
	  .words = "list cq -f",
	  .manifests = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: "
		       "q}\nspec: {cohort: c}\n",
	  .code = VERB_USAGE,
	  .printed = "spec.cohort: Invalid value" },
	{ .name = "pending-workloads: a negative request",
	  .words = "pending-workloads -f",
	  .manifests = QUEUES WORKLOAD("w", "-1"),
	  .code = VERB_USAGE,
	  .printed = "must be greater than or equal to 0" },
	{ .name = "taken as it is",
	  .words = "list cq --as-is -f",
	  .manifests = KUEUE "kind: ClusterQueue\nmetadata: {name: q}\nspec: {preemtion: {}}\n",
	  .printed = "q      <none>" },
	{ .name = "and still read",
	  .words = "list cq --as-is -f",
	  .manifests = "a: [\n",
	  .code = VERB_FAILED,
	  .printed = "f: invalid YAML" },
	{ .name = "a Job has the Workload that the cluster would make",
	  .words = "explain job team/train -f",
	  .manifests = QUEUES JOB("train", ", " QUEUED, "3"),
	  .printed = "cpu in flavor f: 3 requested, the most it can have is 2" },
	{ .name = "a Job that does not queue",
	  .words = "explain job team/train -f",
	  .manifests = QUEUES JOB("train", "", "1"),
	  .code = VERB_FAILED,
	  .printed = "job team/train has no Workload: it does not queue, because it has no label "
		     "kueue.x-k8s.io/queue-name with the name of a LocalQueue of namespace team "
		     "(the LocalQueues there: lq)" },
	{ .name = "a Job that is not there",
	  .words = "explain job team/tran -f",
	  .manifests = QUEUES JOB("train", "", "1"),
	  .code = VERB_FAILED,
	  .printed = "job team/tran not found in the manifests; did you mean train?" },
	{ .name = "Jobs are listed as Workloads",
	  .words = "list workloads -A -f",
	  .manifests = QUEUES JOB("train", ", " QUEUED, "1"),
	  .printed = "job.batch   train" },
	{ .name = "kinds without a part are named",
	  .words = "list workloads -A -f",
	  .manifests = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n",
	  .printed = "1 object of this kind plays no part in scheduling" },
	{ .name = "unless they are ignored",
	  .words = "list workloads -A --ignore Deployment -f",
	  .manifests = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n",
	  .printed = "No resources found",
	  .absent = "Deployment" },
	{ .name = "an --ignore of a kind that is simulated",
	  .words = "list workloads -A --ignore Job -f",
	  .manifests = QUEUES JOB("train", ", " QUEUED, "1"),
	  .code = VERB_USAGE,
	  .printed = "--ignore Job: objects of this kind have a part in scheduling" },
	{ .name = "flags about manifests without manifests",
	  .words = "list workloads --as-is --selector",
	  .manifests = "",
	  .code = VERB_USAGE,
	  .printed = "--as-is has no effect without --filename" },
	{ .name = "flags that contradict each other",
	  .words = "list workloads --as-is --ignore Deployment -f",
	  .manifests = "",
	  .code = VERB_USAGE,
	  .printed = "--ignore has no effect with --as-is" },
};

static void test_other_verbs_read_as_simulate_does(void **state)
{
	(void)state;
	check_rows(other_verb_rows, ARRAY_LEN(other_verb_rows));
}

static const struct row cluster_rows[] = {
	{ .name = "a Job queues as a Workload",
	  .manifests = QUEUES JOB("train", ", " QUEUED, "1"),
	  .printed = "main x1: cpu 1 of f" },
	{ .name = "generateName makes a name, another one for each object",
	  .manifests = QUEUES GENERATED_JOB GENERATED_JOB,
	  .printed = "job-train-00002",
	  .absent = "given again" },
	{ .name = "in the namespace of a LocalQueue default, without the label",
	  .manifests = QUEUES LOCAL("default", "team") LOCAL("default", "other")
		  LOCAL("another", "team") JOB("train", "", "1"),
	  .printed = "team/job-train-5494f   cq             main x1: cpu 1 of f" },
	{ .name = "a LocalQueue default of another namespace does not count",
	  .manifests = QUEUES LOCAL("default", "other") JOB("train", "", "1"),
	  .printed = "Job team/train       it has no label kueue.x-k8s.io/queue-name" },
	{ .name = "one without the label does not",
	  .manifests = QUEUES JOB("train", "", "1"),
	  .printed = "Job team/train       it has no label kueue.x-k8s.io/queue-name" },
	{ .name = "the label of a pod that is scheduled here without a Workload",
	  .manifests = NODE QUEUES POD(", " QUEUED, "schedulerName: volcano"),
	  .printed = "Pod team/p: its label kueue.x-k8s.io/queue-name has no effect: the "
		     "configuration does not integrate pods" },
	{ .name = "a Job of which the class is missing",
	  .words = "simulate --fail-on pending",
	  .manifests = QUEUES JOB("train",
				  ", labels: {kueue.x-k8s.io/queue-name: lq, "
				  "kueue.x-k8s.io/priority-class: none}",
				  "1"),
	  .code = VERB_ANSWER,
	  .printed = "Job team/train       " },
	{ .name = "a pod that opts in is gated and ungated",
	  .manifests = NODE POD(", " OPT_IN, "schedulerName: volcano"),
	  .printed = "Ungate     team/p   scheduling.volcano.sh/queue-allocation-gate" },
	{ .name = "so does one that names no scheduler, which is Kubernetes' own",
	  .manifests = POD(", " OPT_IN, "schedulingGroup: {podGroupName: g}") KUBE_GROUP("1"),
	  .printed = "team/p        default   ungated   has quota: its own scheduler",
	  .absent = "NOT SCHEDULED HERE" },
	{ .name = "in a PodGroup of Kubernetes together with the others of it",
	  .manifests = POD(", " OPT_IN, "schedulingGroup: {podGroupName: g}") KUBE_GROUP("2"),
	  .printed = "Not enough valid tasks for gang-scheduling, valid: 1, min: 2",
	  .absent = "Ungate" },
	{ .name = "not with this flag",
	  .words = "simulate --gate-schedulers=",
	  .manifests = POD(", " OPT_IN, "schedulerName: default-scheduler"),
	  .printed = "Pod team/p           its schedulerName is not volcano: Kubernetes' own",
	  .absent = "Ungate" },
	{ .name = "one that runs is not gated",
	  .manifests = NODE "apiVersion: v1\nkind: Pod\nmetadata: {name: p, " OPT_IN
			    "}\nspec: {schedulerName: volcano, nodeName: n, " CONTAINERS(
				    "1") "}\nstatus: {phase: Running}\n",
	  .printed = "1 Running",
	  .absent = "Ungate" },
	{ .name = "a pod that can never have quota",
	  .manifests = NODE VOLCANO
	  "kind: Queue\nmetadata: {name: q}\nspec: {capability: {cpu: 500m}}\n---\n" POD(
		  ", annotations: {scheduling.volcano.sh/queue-allocation-gate: \"true\", "
		  "scheduling.volcano.sh/queue-name: q}",
		  "schedulerName: volcano"),
	  .printed = "insufficient cpu (1 cpu requested, 500m of 500m left in queue q): it can "
		     "never fit" },
	{ .name = "a pod of a PodGroup that does not exist",
	  .manifests = NODE POD(", annotations: {scheduling.k8s.io/group-name: gone}",
				"schedulerName: volcano"),
	  .printed = "its PodGroup team/gone does not exist" },
	{ .name = "an annotation that does not opt in",
	  .manifests = NODE POD(", annotations: {scheduling.volcano.sh/queue-allocation-gate: "
				"\"yes\"}",
				"schedulerName: volcano"),
	  .printed = "Pod team/p: annotation scheduling.volcano.sh/queue-allocation-gate: \"yes\" "
		     "does not opt in, only \"true\" does" },
	{ .name = "a Job that gets no Workload waits",
	  .words = "simulate --fail-on pending",
	  .manifests = QUEUES JOB("j",
				  ", labels: {kueue.x-k8s.io/queue-name: lq, "
				  "kueue.x-k8s.io/priority-class: gone}",
				  "1"),
	  .code = VERB_ANSWER,
	  .printed = "WorkloadPriorityClass \"gone\" not found" },
	{ .name = "a pod of another scheduler",
	  .manifests = NODE POD("", "schedulerName: other"),
	  .printed = "Pod team/p           its schedulerName is not volcano" },
	{ .name = "a plain pod with the label",
	  .manifests = QUEUES POD(", " QUEUED, "restartPolicy: Never"),
	  .printed = "its label kueue.x-k8s.io/queue-name has no effect" },
	{ .name = "a namespace that is not there is added",
	  .manifests = ELSEWHERE(""),
	  .printed = "else/w     cq             main x1: cpu 1 of f",
	  .absent = "warning" },
	{ .name = "without labels, where these are asked for",
	  .manifests = ELSEWHERE("matchLabels: {a: b}"),
	  .printed = "warning: Namespace else is not in the manifests: it counts as one without "
		     "labels\n" },
	{ .name = "and then it is not selected",
	  .manifests = ELSEWHERE("matchLabels: {a: b}"),
	  .printed = "the namespaceSelector of the ClusterQueue does not match its namespace" },
	{ .name = "but for the one that the API server sets",
	  .manifests = ELSEWHERE("matchLabels: {kubernetes.io/metadata.name: else}"),
	  .printed = "else/w     cq             main x1: cpu 1 of f" },
	{ .name = "kinds without a part are named once, with a count",
	  .manifests = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n---\n"
		       "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: b, " QUEUED "}\n",
	  .printed = "f: document 1: Deployment (apps): 2 objects of this kind play no part "
		     "in scheduling; 1 with the label kueue.x-k8s.io/queue-name" },
	{ .name = "with the option that silences it",
	  .manifests = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n",
	  .printed = "no part in scheduling (--ignore Deployment omits this warning)" },
	{ .name = "Volcano's Job is one of them",
	  .manifests = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: a}\n",
	  .printed = "Job (batch.volcano.sh): 1 object of this kind plays no part in scheduling",
	  .absent = "another API" },
	{ .name = "and Kubernetes' own Workload",
	  .manifests = "apiVersion: scheduling.k8s.io/v1alpha1\nkind: Workload\nmetadata: {name: "
		       "a}\n",
	  .printed = "Workload (scheduling.k8s.io): 1 object of this kind plays no part",
	  .absent = "another API" },
	{ .name = "unless they are to be ignored",
	  .words = "simulate --ignore Deployment",
	  .manifests = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n",
	  .printed = "Read: no object",
	  .absent = "Deployment" },
	{ .name = "lists that are null are empty",
	  .manifests = "apiVersion: v1\nkind: List\nitems: null\n---\napiVersion: v1\nkind: "
		       "PodList\nitems:\n",
	  .printed = "Read: no object",
	  .absent = "warning" },
	{ .name = "objects of JSON in a row",
	  .manifests = "{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": "
		       "\"a\"}}\n{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": "
		       "{\"name\": \"b\"}}\n",
	  .printed = "Read: 2 Node" },
	{ .name = "nothing at all", .manifests = "", .printed = "Read: no object" },
	{ .name = "only queues",
	  .manifests = QUEUES,
	  .printed = "Nothing waits, and nothing was decided. Read: 1 Namespace, 1 "
		     "ResourceFlavor, 1 ClusterQueue, 1 LocalQueue" },
	{ .name = "a circle of Cohorts that no queue uses",
	  .manifests = KUEUE "kind: Cohort\nmetadata: {name: a}\nspec: {parentName: b}\n---\n" KUEUE
			     "kind: Cohort\nmetadata: {name: b}\nspec: {parentName: a}\n",
	  .printed = "document 2: Cohort b: spec.parentName: the parents form a circle" },
	{ .name = "cycles run until each Workload had its turn",
	  .manifests = QUEUES WORKLOAD("a", "2") WORKLOAD("b", "1") WORKLOAD("c", "9"),
	  .printed = "inadmissible   ExceedsMaxQuota",
	  .absent = "not tried yet" },
	{ .name = "also where the first one is tried in each cycle",
	  .manifests = QUEUES_OF("StrictFIFO") WORKLOAD("a", "9") WORKLOAD("b", "1"),
	  .printed = "ExceedsMaxQuota",
	  .absent = "not stable" },
	{ .name = "and on, when victims stop",
	  .words = "simulate --victims-stop",
	  .manifests = QUEUES WORKLOAD_HOLDS("low") WORKLOAD_PRIO("high", "9", "2"),
	  .printed = "team/high   cq" },
	{ .name = "--cycles limits them",
	  .words = "simulate --cycles 1",
	  .manifests = QUEUES WORKLOAD("a", "2") WORKLOAD("b", "1") WORKLOAD("c", "9"),
	  .printed = "not tried yet" },
	{ .name = "JSON has the rows of the table",
	  .words = "simulate -o json",
	  .manifests = WORKLOAD("w", "1") NODE POD("", "schedulerName: other"),
	  .printed = "\"waiting\":[{\"workload\":\"team/w\",\"reason\":\"Misconfigured\"" },
	{ .name = "and objects of others",
	  .words = "simulate -o json",
	  .manifests = NODE POD("", "schedulerName: other"),
	  .printed = "\"others\":[{\"kind\":\"Pod\",\"name\":\"team/p\",\"reason\":\"its "
		     "schedulerName is not volcano" },
	{ .name = "and of pods",
	  .words = "simulate -o json",
	  .manifests = POD(", " OPT_IN, "schedulerName: volcano"),
	  .printed = "\"waitingPods\":[{\"pod\":\"team/p\",\"queue\":\"default\"" },
	{ .name = "and warnings",
	  .words = "simulate -o json",
	  .manifests = NODE NODE,
	  .printed = "\"warnings\":[\"" },
	{ .name = "--fail-on pending",
	  .words = "simulate --fail-on pending",
	  .manifests = QUEUES WORKLOAD("w", "3"),
	  .code = VERB_ANSWER,
	  .printed = "ExceedsMaxQuota" },
	{ .name = "--fail-on pending, and nothing waits",
	  .words = "simulate --fail-on pending,preempt",
	  .manifests = QUEUES WORKLOAD("w", "2"),
	  .printed = "ADMITTED" },
	{ .name = "--as-is looks at nothing of all this",
	  .words = "simulate --as-is",
	  .manifests = "kind: Pod\nmetadata: {name: \"p\\e\", label: {}}\nspec: "
		       "{schedulerName: volcano, " CONTAINERS("1") "}\n",
	  .printed = "default/p\\u001b" },
};

static void test_as_a_cluster_would(void **state)
{
	(void)state;
	check_rows(cluster_rows, ARRAY_LEN(cluster_rows));
}

static int make_folder(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused_by_form),
		cmocka_unit_test(test_refused_by_the_api),
		cmocka_unit_test(test_values_of_core_kinds),
		cmocka_unit_test(test_objects_that_come_later),
		cmocka_unit_test(test_other_verbs_read_as_simulate_does),
		cmocka_unit_test(test_as_a_cluster_would),
	};

	return cmocka_run_group_tests_name("ctl/simulate_strict", tests, make_folder,
					   remove_folder);
}
