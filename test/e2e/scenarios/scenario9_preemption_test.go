package scenarios

import (
	"fmt"
	"strings"
	"testing"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"headgate/e2e/suite"
)

// highClass makes a PriorityClass that goes before pods without one, for the time of the scenario.
func highClass(s *suite.S) string {
	s.Helper()
	high := s.Namespace + "-high"
	classes := s.Cluster.Client.SchedulingV1().PriorityClasses()
	_, err := classes.Create(s.Ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: high}, Value: 1000},
		metav1.CreateOptions{})
	s.Must(err)
	s.Cleanup(func() { _ = classes.Delete(s.Ctx, high, metav1.DeleteOptions{}) })
	return high
}

// kube-scheduler preempts among the pods that have quota: the node is full, the queue is not. What replaces the victim
// waits at the gate for what the queue has left.
func TestScenario9KubeSchedulerPreempts(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "2", "8Gi")
	q := s.Queue("q", "4", "8Gi")
	label(s)
	high := highClass(s)
	replicaSet(s, "low", 1, suite.Queue(q), suite.Request("2", "1Gi"))
	waitCounts(s, 1, 0)
	victim := holding(s, "low-")[0]
	s.WaitRunning(victim)

	onNode := suite.Select("e2e.headgate.io/scenario", s.Namespace)
	first := suite.Priority(high)
	s.Pod("high", elsewhere, suite.Queue(q), suite.Request("2", "1Gi"), onNode, first)
	s.WaitRunning("high")
	waitEvent(s, victim, "Preempted")
	// Its place is taken by another pod, which the queue has room for and the node has not.
	var fresh string
	s.Eventually("the victim is replaced", func() error {
		fresh = ""
		for _, name := range append(holding(s, "low-"), waiting(s)...) {
			if strings.HasPrefix(name, "low-") && name != victim {
				fresh = name
			}
		}
		if fresh == "" {
			return fmt.Errorf("not yet")
		}
		return nil
	})
	s.WaitUngated(fresh)
	s.Before("the new pod waits for the victim's quota", s.Gone(victim), s.Ungated(fresh))
	beganGated(s, victim, fresh)

	// A pod of a high priority that has no quota preempts nothing.
	s.Pod("late", elsewhere, suite.Queue(q), suite.Request("2", "1Gi"), onNode, first)
	s.SchedulerSawAll()
	s.WaitGated("late")
	explains(s, "late", "waits for quota")
	s.DeletePod("high")
	// Quota goes to the pod that waits; kube-scheduler gives the node to it, since it has the higher priority.
	s.WaitRunning("late")
	s.Before("the pod without quota waits", s.Gone("high"), s.Ungated("late"))
}
