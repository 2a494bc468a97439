package scenarios

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"headgate/e2e/suite"
)

// Kinds of others that the chart can make, with the fields of theirs that it may use; strict
// validation refuses any other.
var foreignKinds = []struct{ group, version, plural, kind, spec string }{
	{"monitoring.coreos.com", "v1", "servicemonitors", "ServiceMonitor", `
selector: {type: object, properties: {matchLabels: {type: object, additionalProperties: {type: string}}}}
endpoints:
  type: array
  items: {type: object, properties: {port: {type: string}, path: {type: string},
    authorization: {type: object, properties: {credentials: {type: object, required: [key],
      properties: {name: {type: string}, key: {type: string}}}}},
    interval: {type: string, pattern: '^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$'}}}`},
	{"cert-manager.io", "v1", "issuers", "Issuer", `
selfSigned: {type: object, properties: {crlDistributionPoints: {type: array, items: {type: string}}}}`},
	{"cert-manager.io", "v1", "certificates", "Certificate", `
secretName: {type: string}
duration: {type: string}
dnsNames: {type: array, items: {type: string}}
ipAddresses: {type: array, items: {type: string}}
privateKey: {type: object, properties: {algorithm: {type: string, enum: [RSA, ECDSA, Ed25519]},
  size: {type: integer}, rotationPolicy: {type: string, enum: [Never, Always]}}}
issuerRef: {type: object, required: [name], properties: {name: {type: string}, kind: {type: string}, group: {type: string}}}`},
}

func makeForeignKinds(s *suite.S) {
	s.Helper()
	var text strings.Builder
	for _, k := range foreignKinds {
		fmt.Fprintf(&text, `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s.%s}
spec:
  group: %s
  scope: Namespaced
  names: {kind: %s, plural: %s}
  versions:
  - name: %s
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: %s
`, k.plural, k.group, k.group, k.kind, k.plural, k.version,
			strings.ReplaceAll(k.spec, "\n", "\n              "))
	}
	_, err := s.Headgate.Kubectl(s.Ctx, text.String(), "apply", "-f", "-")
	s.Must(err)
	s.Cleanup(func() {
		for _, k := range foreignKinds {
			name := k.plural + "." + k.group
			_ = s.Cluster.Dynamic.Resource(crds).Delete(s.Ctx, name, metav1.DeleteOptions{})
			waitGone(s, crds, name)
		}
	})
	for _, k := range foreignKinds {
		s.Must(s.Headgate.WaitKinds(s.Ctx, fmt.Sprintf("%s/%s %s", k.group, k.version, k.plural)))
	}
}

// What the chart renders for many values is what a real API server takes, down to the last field, and
// each case has what it is about.
func TestChartObjects(t *testing.T) {
	s := suite.Start(t)
	makeForeignKinds(s)
	// A dry run makes no account for the test's pod to be created with.
	for _, name := range []string{"chart-headgate-scheduler", "hg-scheduler"} {
		_, err := s.Headgate.Kubectl(s.Ctx, "", "create", "serviceaccount", name, "--namespace", s.Namespace)
		s.Must(err)
	}
	for _, c := range []struct {
		name   string
		values []string
		has    string // kind/name; - before it: must not be there
	}{
		{"defaults", nil, "Deployment/chart-headgate-webhook"},
		{"certManager", []string{"webhook.certificates.mode=certManager", "metrics.serviceMonitor.enabled=true",
			"metrics.serviceMonitor.labels.team=a"}, "Issuer/chart-headgate-webhook"},
		{"metrics with a token", []string{"metrics.tokenSecret=scrape", "metrics.serviceMonitor.enabled=true"},
			"ServiceMonitor/chart-headgate-scheduler"},
		{"own issuer, address", []string{"webhook.certificates.mode=certManager", "webhook.url=https://10.0.0.1:8443",
			"webhook.certificates.issuerRef.name=ours", "webhook.certificates.issuerRef.kind=ClusterIssuer"},
			"-Issuer/chart-headgate-webhook"},
		{"secret", []string{"webhook.certificates.mode=secret", "webhook.certificates.secretName=mine",
			"webhook.certificates.caBundle=" + string(s.Cluster.CA)}, "-Role/chart-headgate-webhook"},
		{"names", []string{"fullnameOverride=hg", "image.registry=registry.example.com", "image.tag=v9",
			"image.pullSecrets[0].name=pull", "serviceAccount.annotations.a=b"}, "Deployment/hg-scheduler"},
		{"few", []string{"webhook.enabled=false", "drainOnDelete=false", "crds.install=never",
			"flowControl.enabled=false", "scheduler.replicas=1"}, "-Deployment/chart-headgate-webhook"},
		{"no scheduler", []string{"scheduler.enabled=false", "webhook.replicas=3"}, "-Deployment/chart-headgate-scheduler"},
		{"Volcano's names", []string{"custom.scheduler_name=vol", "custom.enabled_admissions=/queues/validate",
			"custom.webhooks_namespace_selector_expressions[0].key=team",
			"custom.webhooks_namespace_selector_expressions[0].operator=Exists"},
			"ValidatingWebhookConfiguration/chart-headgate-queues-validate"},
		{"webhooks", []string{"schedulerNames={volcano,batch}", "webhook.failurePolicy.pods=Ignore",
			"webhook.timeoutSeconds=10", "defaultQueue=main", "webhook.namespaceSelectorExpressions[0].key=team",
			"webhook.namespaceSelectorExpressions[0].operator=Exists"},
			"MutatingWebhookConfiguration/chart-headgate-pods-mutate"},
		{"quota", []string{"quota.enabled=true",
			"quota.config=manageJobsWithoutQueueName: true\nintegrations:\n  frameworks:\n  - batch/job\n  - pod\n",
			"quota.jobNamespaceLabels.team=a", "webhook.failurePolicy.jobs=Ignore", "webhook.failurePolicy.quota=Ignore"},
			"ValidatingWebhookConfiguration/chart-headgate-quota-validate"},
		{"roles", []string{"quota.enabled=true", "userRoles.prefix=kueue"}, "ClusterRole/kueue-batch-user-role"},
		{"network policies", []string{"networkPolicy.enabled=true",
			"networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name=monitoring"}, "NetworkPolicy/chart-headgate-webhook"},
		{"OpenShift", []string{"podSecurityContext.runAsUser=null", "podSecurityContext.runAsGroup=null",
			"podSecurityContext.fsGroup=null"}, "Deployment/chart-headgate-scheduler"},
		{"quota is off", nil, "-MutatingWebhookConfiguration/chart-headgate-quota-mutate"},
		{"placement", []string{"scheduler.nodeSelector.pool=system", "webhook.tolerations[0].key=dedicated",
			"webhook.tolerations[0].operator=Exists", "scheduler.podLabels.a=b", "webhook.podAnnotations.a=b",
			"scheduler.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key=pool",
			"scheduler.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator=Exists"},
			"PodDisruptionBudget/chart-headgate-scheduler"},
	} {
		args := []string{"template", "chart", s.Headgate.Chart(), "--namespace", s.Namespace}
		for _, v := range c.values {
			args = append(args, "--set", v)
		}
		text, err := s.Headgate.Helm(s.Ctx, args...)
		s.Must(err)
		names, err := s.Headgate.Kubectl(s.Ctx, text, "apply", "--server-side", "--force-conflicts",
			"--dry-run=server", "--validate=strict", "--namespace", s.Namespace, "-o", "json", "-f", "-")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want, absent := strings.CutPrefix(c.has, "-")
		if found := lists(s, names, want); found == absent {
			t.Errorf("%s: %s is there: %v", c.name, want, found)
		}
	}
}

// lists says whether an object is in a list.
func lists(s *suite.S, text, want string) bool {
	s.Helper()
	var list unstructured.UnstructuredList
	s.Must(list.UnmarshalJSON([]byte(text)))
	for _, o := range list.Items {
		if o.GetKind()+"/"+o.GetName() == want {
			return true
		}
	}
	return false
}
