package scenarios

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"headgate/e2e/cluster"
	"headgate/e2e/suite"
)

// The recorded answers that make test compares the embedded API server with are those of this one.
func TestScenarioAPIAnswers(t *testing.T) {
	b := suite.StartBare(t)
	b.Play("apiserver/conformance/replay_main", "--kubeconfig="+b.Cluster.Kubeconfig)
}

// The integration tests, on the real API server instead of the embedded one. Those that need its
// faults skip themselves.
func TestScenarioAPIIntegration(t *testing.T) {
	b := suite.StartBare(t)
	for _, name := range []string{
		"gate", "gate_switches", "webhook", "webhook_managed", "ctl", "foreign", "config", "crash",
	} {
		b.Play("integration/test_" + name)
	}
}

// The embedded API server does not evaluate the rules of CRDs; whoever writes the status of a Workload
// past the webhook still meets these.
func TestScenarioAPIRules(t *testing.T) {
	const workload = `
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w, namespace: default},
 spec: {podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, image: i}]}}}]}}
`
	b := suite.StartBare(t)
	ctx, cancel := context.WithTimeout(context.Background(), suite.Timeout)
	defer cancel()
	crd := filepath.Join(b.Chart(), "files", "crds", "quota", "workloads.yaml")
	if _, err := b.Cluster.Kubectl(ctx, "", "apply", "--server-side", "-f", crd); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Poll(ctx, "Workloads are served", func(ctx context.Context) error {
		_, err := b.Cluster.Kubectl(ctx, workload, "apply", "-f", "-")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	const excluded, fixed = "clusterName and nominatedClusterNames cannot both be set",
		"clusterName cannot be changed, only taken away"
	for _, step := range []struct{ status, refused string }{
		{`{"nominatedClusterNames": ["a", "b"]}`, ""},
		{`{"clusterName": "a"}`, excluded},
		{`{"clusterName": "a", "nominatedClusterNames": null}`, ""},
		{`{"nominatedClusterNames": ["b"]}`, excluded},
		{`{"nominatedClusterNames": []}`, ""},
		{`{"clusterName": "b"}`, fixed},
		{`{"clusterName": "a"}`, ""},
		{`{"clusterName": null}`, ""},
		{`{"clusterName": "b"}`, ""},
	} {
		_, err := b.Cluster.Kubectl(ctx, "", "patch", "workloads.kueue.x-k8s.io", "w", "--subresource=status",
			"--type=merge", "-p", `{"status": `+step.status+`}`)
		switch {
		case step.refused == "" && err != nil:
			t.Errorf("%s: %v", step.status, err)
		case step.refused != "" && (err == nil || !strings.Contains(err.Error(), step.refused)):
			t.Errorf("%s: not refused as it should be: %v", step.status, err)
		}
	}
}
