package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// holding are the pods with that prefix that hold quota: their gate is off and they are not gone.
func holding(s *suite.S, prefix string) []string {
	names := s.Oracle.Names(s.Namespace, func(p oracle.PodState) bool {
		return !p.Gated && !p.Deleted && p.Phase != corev1.PodSucceeded
	})
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) })
}

// waiting are the pods that have no quota.
func waiting(s *suite.S) []string {
	return s.Oracle.Names(s.Namespace, func(p oracle.PodState) bool { return p.Gated && !p.Deleted })
}

// waitHolding waits until so many pods of the left and of the right queue run, and no others have quota.
func waitHolding(s *suite.S, left, right int) {
	s.Helper()
	s.Eventually(fmt.Sprintf("%d of the left and %d of the right have quota", left, right), func() error {
		if l, r := holding(s, "left-"), holding(s, "right-"); len(l) != left || len(r) != right {
			return fmt.Errorf("now %v and %v", l, r)
		}
		return nil
	})
	s.WaitRunning(append(holding(s, "left-"), holding(s, "right-")...)...)
}

// Two children of 3 under a parent of 4: a child's own limit binds first, then the parent's; what
// one gives back goes to the other. There is room for all of them on the nodes, and the oracle sums
// up both levels at every moment.
func TestScenario4ParentLimitOverTwoChildren(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(2, "8", "16Gi")
	parent := s.Queue("parent", "4", "8Gi")
	queues := map[string]string{
		"left":  s.Queue("left", "3", "8Gi", suite.Parent(parent)),
		"right": s.Queue("right", "3", "8Gi", suite.Parent(parent)),
	}
	five := func(side string) {
		for n := range 5 {
			s.Pod(fmt.Sprintf("%s-%d", side, n), suite.Opted, suite.Queue(queues[side]), suite.Request("1", "1Gi"))
		}
		s.SchedulerSawAll()
	}

	five("left")
	waitHolding(s, 3, 0)
	five("right")
	waitHolding(s, 3, 1)
	for _, name := range holding(s, "left-") {
		s.DeletePod(name)
	}
	s.SchedulerSawAll()
	s.Eventually("the right one has its own limit, the left one what is left of the parent's", func() error {
		l, r := len(holding(s, "left-")), len(holding(s, "right-"))
		if l+r != 4 || r > 3 || r < 1 {
			return fmt.Errorf("now %d and %d", l, r)
		}
		return nil
	})
	// Each of them has its turn: none is deleted before it runs.
	for l, r := 2, 5; l+r > 0; {
		s.Eventually(fmt.Sprintf("of %d and %d as many as may have quota", l, r), func() error {
			now := len(holding(s, "left-")) + len(holding(s, "right-"))
			if want := min(4, l+min(3, r)); now != want {
				return fmt.Errorf("%d, not %d", now, want)
			}
			return nil
		})
		left := holding(s, "left-")
		now := append(left, holding(s, "right-")...)
		s.WaitRunning(now...)
		s.DeletePod(now[0])
		s.SchedulerSawAll()
		if len(left) > 0 {
			l--
		} else {
			r--
		}
	}
	for side := range queues {
		for n := range 5 {
			s.Bound(fmt.Sprintf("%s-%d", side, n))
		}
	}
}

// What is guaranteed to a sibling stays free for it, also while it has no pods.
func TestScenario4GuaranteeOfASibling(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(2, "8", "16Gi")
	parent := s.Queue("parent", "4", "8Gi")
	left := s.Queue("left", "", "", suite.Parent(parent))
	right := s.Queue("right", "", "", suite.Parent(parent), suite.Guarantee("1", "1Gi"))
	four := func(side, queue string) {
		for n := range 4 {
			s.Pod(fmt.Sprintf("%s-%d", side, n), suite.Opted, suite.Queue(queue), suite.Request("1", "1Gi"))
		}
		s.SchedulerSawAll()
	}

	four("left", left)
	waitHolding(s, 3, 0)
	four("right", right)
	waitHolding(s, 3, 1)
	s.WaitPublished()
}
