package scenarios

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/cluster"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

func gatesOf(p *corev1.Pod) []string {
	names := []string{}
	for _, g := range p.Spec.SchedulingGates {
		names = append(names, g.Name)
	}
	return names
}

// An ungated pod that no node fits keeps its quota and holds up the next one. As Volcano's suite
// "schedulinggates" has it, and with what that one does not look at: pod-3 stays gated as long as
// pod-2 is there.
func TestScenario1UngatedKeepsQuota(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(2, "2", "2Gi")
	q := s.Queue("capacity", "500m", "512Mi")
	pod := func(name string, more ...suite.PodOption) *corev1.Pod {
		s.PodGroup("pg-"+name, q, 1, cluster.Resources("500m", "512Mi"))
		return s.Pod(name, append([]suite.PodOption{suite.Opted, suite.Queue(q), suite.Group("pg-" + name),
			suite.Request("500m", "512Mi")}, more...)...)
	}

	if gates := gatesOf(pod("pod-1")); !slices.Equal(gates, []string{oracle.GateKey}) {
		t.Fatalf("gates of pod-1 as it was created: %v", gates)
	}
	s.WaitRunning("pod-1")
	if gates := gatesOf(s.GetPod("pod-1")); len(gates) > 0 {
		t.Fatalf("gates of pod-1 as it runs: %v", gates)
	}
	s.DeletePod("pod-1")

	pod("pod-2", suite.Select("kubernetes.io/fake-node", "fake"))
	s.WaitUngated("pod-2")
	s.WaitPublished("pod-2")
	pod("pod-3")
	s.SchedulerSawAll()
	s.WaitGated("pod-3")
	s.WaitPublished("pod-2")
	s.DeletePod("pod-2")
	s.WaitRunning("pod-3")
	s.Before("pod-2 holds the quota", s.Gone("pod-2"), s.Ungated("pod-3"))
	if ever := s.Oracle.EverPublished(s.Namespace); slices.Contains(ever, "pod-1") {
		t.Errorf("pod-1 was published although a node was free: %v", ever)
	}
}

// Somebody else's gate goes first: ours stays as long as it is there.
func TestScenario1SeveralGates(t *testing.T) {
	const foreign = "example.com/other-gate"

	s := suite.Start(t)
	s.Nodes(1, "2", "2Gi")
	q := s.Queue("gates", "500m", "512Mi")
	p := s.Pod("pod", suite.Opted, suite.Queue(q), suite.Request("500m", "512Mi"), suite.Gate(foreign))
	if gates := gatesOf(p); len(gates) != 2 || !slices.Contains(gates, foreign) || !slices.Contains(gates, oracle.GateKey) {
		t.Fatalf("gates as it was created: %v", gates)
	}
	s.SchedulerSawAll()
	s.SchedulerSawAll()
	patch := []byte(`{"spec":{"schedulingGates":[{"$patch":"delete","name":"` + foreign + `"}]}}`)
	patched, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).Patch(s.Ctx, "pod",
		types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	s.Must(err)
	if gates := gatesOf(patched); !slices.Equal(gates, []string{oracle.GateKey}) {
		t.Errorf("gates after the other one was taken off: %v", gates)
	}
	s.WaitRunning("pod")
	for _, state := range s.Oracle.Timeline(s.Namespace + "/pod") {
		if slices.Contains(state.Gates, foreign) && !state.Gated {
			t.Errorf("ours was off before the other one: %+v", state)
		}
		if state.Published {
			t.Errorf("published although a node was free: %+v", state)
		}
	}
}
