/* test/bench/pod_5k.h: a pod of about 5 kB as kube-apiserver sends it, managedFields included. */
#ifndef TEST_BENCH_POD_5K_H
#define TEST_BENCH_POD_5K_H

#include "base/strbuf.h"

static const char pod_5k_managed[] =
	"\"managedFields\":[{\"manager\":\"kube-controller-manager\",\"operation\":"
	"\"Update\",\"apiVersion\":\"v1\",\"time\":\"2026-01-02T03:04:05Z\",\"fieldsType\":"
	"\"FieldsV1\",\"fieldsV1\":{\"f:metadata\":{\"f:annotations\":{\".\":{},"
	"\"f:prometheus.io/path\":{},\"f:prometheus.io/port\":{},\"f:prometheus.io/"
	"scrape\":{}},\"f:generateName\":{},\"f:labels\":{\".\":{},\"f:app\":{},"
	"\"f:controller-uid\":{},\"f:job-name\":{}},\"f:ownerReferences\":{\".\":{},\"k:{"
	"\\\"uid\\\":\\\"0b9a4f0e-6f5e-4b0c-8a53-0a5a3e4f1d22\\\"}\":{}}},\"f:spec\":{"
	"\"f:containers\":{\"k:{\\\"name\\\":\\\"trainer\\\"}\":{\".\":{},\"f:command\":{},"
	"\"f:env\":{\".\":{},\"k:{\\\"name\\\":\\\"NCCL_DEBUG\\\"}\":{\".\":{},\"f:name\":{"
	"},\"f:value\":{}}},\"f:image\":{},\"f:imagePullPolicy\":{},\"f:name\":{},"
	"\"f:resources\":{\".\":{},\"f:limits\":{},\"f:requests\":{}}}},\"f:dnsPolicy\":{},"
	"\"f:enableServiceLinks\":{},\"f:restartPolicy\":{},\"f:schedulerName\":{},"
	"\"f:securityContext\":{}}}}]},";

static const char pod_5k_spec[] =
	"\"spec\":{\"volumes\":[{\"name\":\"data\",\"emptyDir\":{}},{\"name\":\"kube-api-"
	"access-x2x4v\",\"projected\":{\"sources\":[{\"serviceAccountToken\":{"
	"\"expirationSeconds\":3607,\"path\":\"token\"}},{\"configMap\":{\"name\":\"kube-"
	"root-ca.crt\",\"items\":[{\"key\":\"ca.crt\",\"path\":\"ca.crt\"}]}},{"
	"\"downwardAPI\":{\"items\":[{\"path\":\"namespace\",\"fieldRef\":{\"apiVersion\":"
	"\"v1\",\"fieldPath\":\"metadata.namespace\"}}]}}],\"defaultMode\":420}}],"
	"\"initContainers\":[{\"name\":\"fetch\",\"image\":\"registry.example.com/tools/"
	"fetch:v2.4.1\",\"args\":[\"--from\",\"s3://datasets/imagenet\",\"--to\",\"/data\"]"
	",\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":\"1Gi\"},\"requests\":{"
	"\"cpu\":\"500m\",\"memory\":\"512Mi\"}},\"volumeMounts\":[{\"name\":\"data\","
	"\"mountPath\":\"/data\"}],\"terminationMessagePath\":\"/dev/termination-log\","
	"\"terminationMessagePolicy\":\"File\",\"imagePullPolicy\":\"IfNotPresent\"}],"
	"\"containers\":[{\"name\":\"trainer\",\"image\":\"registry.example.com/vision/"
	"trainer:v13.2.0\",\"command\":[\"python3\",\"-m\",\"trainer.main\",\"--epochs\","
	"\"90\",\"--batch-size\",\"256\",\"--data\",\"/data\"],\"env\":[{\"name\":\"NCCL_"
	"DEBUG\",\"value\":\"INFO\"},{\"name\":\"POD_NAME\",\"valueFrom\":{\"fieldRef\":{"
	"\"apiVersion\":\"v1\",\"fieldPath\":\"metadata.name\"}}},{\"name\":\"MASTER_"
	"ADDR\",\"value\":\"trainer-0.trainer.team-vision.svc.cluster.local\"},{\"name\":"
	"\"OMP_NUM_THREADS\",\"value\":\"8\"}],\"ports\":[{\"name\":\"metrics\","
	"\"containerPort\":9090,\"protocol\":\"TCP\"}],\"resources\":{\"limits\":{\"cpu\":"
	"\"8\",\"memory\":\"64Gi\",\"nvidia.com/gpu\":\"1\"},\"requests\":{\"cpu\":\"8\","
	"\"memory\":\"64Gi\",\"nvidia.com/gpu\":\"1\"}},\"volumeMounts\":[{\"name\":"
	"\"data\",\"mountPath\":\"/data\"},{\"name\":\"kube-api-access-x2x4v\","
	"\"readOnly\":true,\"mountPath\":\"/var/run/secrets/kubernetes.io/"
	"serviceaccount\"}],\"livenessProbe\":{\"httpGet\":{\"path\":\"/healthz\",\"port\":"
	"9090,\"scheme\":\"HTTP\"},\"initialDelaySeconds\":30,\"timeoutSeconds\":1,"
	"\"periodSeconds\":10,\"successThreshold\":1,\"failureThreshold\":3},"
	"\"terminationMessagePath\":\"/dev/termination-log\",\"terminationMessagePolicy\":"
	"\"File\",\"imagePullPolicy\":\"IfNotPresent\",\"securityContext\":{"
	"\"allowPrivilegeEscalation\":false,\"capabilities\":{\"drop\":[\"ALL\"]}}}],";

static const char pod_5k_rest[] =
	"\"restartPolicy\":\"Never\",\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":"
	"\"ClusterFirst\",\"nodeSelector\":{\"node.kubernetes.io/instance-type\":\"gpu-"
	"large\"},\"serviceAccountName\":\"default\",\"serviceAccount\":\"default\","
	"\"securityContext\":{\"runAsUser\":1000,\"fsGroup\":2000},\"affinity\":{"
	"\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
	"\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"topology.kubernetes.io/"
	"zone\",\"operator\":\"In\",\"values\":[\"eu-1a\",\"eu-1b\"]}]}]}}},"
	"\"schedulerName\":\"volcano\",\"tolerations\":[{\"key\":\"nvidia.com/gpu\","
	"\"operator\":\"Exists\",\"effect\":\"NoSchedule\"},{\"key\":\"node.kubernetes.io/"
	"not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
	"\"tolerationSeconds\":300},{\"key\":\"node.kubernetes.io/unreachable\","
	"\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300}],"
	"\"priorityClassName\":\"batch-high\",\"priority\":1000,\"enableServiceLinks\":"
	"true,\"preemptionPolicy\":\"PreemptLowerPriority\",\"schedulingGates\":[{\"name\":"
	"\"scheduling.volcano.sh/queue-allocation-gate\"}]},\"status\":{\"phase\":"
	"\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","
	"\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-01-02T03:04:05Z\","
	"\"reason\":\"SchedulingGated\",\"message\":\"Scheduling is blocked due to "
	"non-empty scheduling gates\"}],\"qosClass\":\"Burstable\"}}";

/* Appends the pod; i makes names and uids differ. */
static inline void pod_5k_add(struct strbuf *out, unsigned i)
{
	strbuf_printf(
		out,
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"trainer-worker-"
		"%u\",\"generateName\":\"trainer-worker-\",\"namespace\":\"team-vision\",\"uid\":"
		"\"3f0c2a51-7a44-4d2f-9d6c-%012u\",\"resourceVersion\":\"%u\","
		"\"creationTimestamp\":\"2026-01-02T03:04:05Z\",\"labels\":{\"app\":\"trainer\","
		"\"app.kubernetes.io/component\":\"worker\",\"app.kubernetes.io/instance\":"
		"\"trainer\",\"batch.kubernetes.io/job-completion-index\":\"%u\","
		"\"controller-uid\":\"0b9a4f0e-6f5e-4b0c-8a53-0a5a3e4f1d22\",\"job-name\":"
		"\"trainer\"},\"annotations\":{\"prometheus.io/path\":\"/metrics\","
		"\"prometheus.io/port\":\"9090\",\"prometheus.io/scrape\":\"true\","
		"\"scheduling.k8s.io/group-name\":\"trainer-group\","
		"\"scheduling.volcano.sh/queue-allocation-gate\":\"true\","
		"\"volcano.sh/task-spec\":\"worker\",\"description\":\"one of the \\\"workers\\\" "
		"of the nightly training\\nrun\"},\"ownerReferences\":[{\"apiVersion\":\"batch/"
		"v1\",\"kind\":\"Job\",\"name\":\"trainer\",\"uid\":\"0b9a4f0e-6f5e-4b0c-8a53-"
		"0a5a3e4f1d22\",\"controller\":true,\"blockOwnerDeletion\":true}],",
		i, i, 100000 + i, i);
	strbuf_add_c(out, pod_5k_managed);
	strbuf_add_c(out, pod_5k_spec);
	strbuf_add_c(out, pod_5k_rest);
}

#endif
