#include "unit/scheduler/ctl/multikueue/managing_cluster.h"

#include "lib/unit.h"

#include "apiserver/front.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/transport.h"

#define API MANAGING_CLUSTER_API

static const char objects[] =
	"{apiVersion: v1, kind: Namespace, metadata: {name: kueue-system}}\n---\n"
	"{" API "kind: MultiKueueConfig, metadata: {name: all}, spec: {clusters: [w1, w2, w3, w4]}}"
	"\n---\n"
	"{" API "kind: AdmissionCheck, metadata: {name: mk}, spec: {controllerName: "
	"kueue.x-k8s.io/multikueue, parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, "
	"name: all}}, status: {conditions: [{type: Active, status: 'True', reason: Active, "
	"message: m, lastTransitionTime: '2026-01-15T09:00:00Z'}]}}\n---\n"
	"{" API "kind: ResourceFlavor, metadata: {name: f}}\n---\n"
	"{" API "kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}, "
	"admissionChecksStrategy: {admissionChecks: [{name: mk}]}, resourceGroups: "
	"[{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: "
	"'9'}]}]}]}}\n---\n"
	"{" API
	"kind: LocalQueue, metadata: {name: lq, namespace: ns}, spec: {clusterQueue: cq}}\n";

void managing_cluster_start(struct live_fixture *f)
{
	live_fixture_start(f);
	live_fixture_load(f, objects);
}

void managing_cluster_add_worker(struct live_fixture *f, const char *name,
				 const struct worker_fixture *worker)
{
	CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT;

	worker_fixture_manifests(worker, name, &yaml);
	live_fixture_load(f, yaml.p);
}

void managing_cluster_add_workload(struct live_fixture *f, const char *name, const char *queue,
				   const char *state, const char *token)
{
	CLEANUP(xmalloc_freep)
	char *yaml = xmalloc_printf(
		"{" API "kind: Workload, metadata: {name: %s, namespace: ns, creationTimestamp: "
		"'2026-01-15T09:01:00Z', annotations: {%s%s%s}}, spec: {queueName: %s, podSets: "
		"[{name: main, count: 1, template: {spec: {restartPolicy: Never, containers: "
		"[{name: c, image: i, resources: {requests: {cpu: '3'}}}]}}}]}, status: "
		"{admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 1, "
		"flavors: "
		"{cpu: f}, resourceUsage: {cpu: '3'}}]}, conditions: [{type: QuotaReserved, "
		"status: "
		"'True', reason: QuotaReserved, message: m, lastTransitionTime: "
		"'2026-01-15T09:02:00Z'}], admissionChecks: [{name: mk, state: %s, message: m, "
		"lastTransitionTime: '2026-01-15T09:02:00Z'}]}}",
		name, token == NULL ? "" : "headgate.io/preemption-token: '",
		token == NULL ? "" : token, token == NULL ? "" : "'", queue, state);

	live_fixture_load(f, yaml);
}

struct transport *managing_cluster_connect(struct live_fixture *f)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/kubeconfig", f->folder.path);
	const struct kubeconfig_options opt = { .path = path };
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *config = NULL;
	struct transport *t = NULL;
	struct err err = ERR_INIT;

	if (kubeconfig_load(&opt, &config, &err) < 0 ||
	    transport_http_create(config, "test", &t, &err) < 0) {
		fail_msg("%s", err.text);
	}
	return t;
}
