package scenarios

import (
	"testing"

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
