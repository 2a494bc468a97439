package scenarios

import (
	"fmt"
	"testing"

	"headgate/e2e/suite"
)

// From no node at all: a gang of 8, each member as large as a node. The autoscaler sees it when all
// members have quota and no gate any more, and none before; they are bound when there is a node for
// every one of them, and none before. Another gang that the quota does not hold stays out of sight.
func TestScenario3GangFromZero(t *testing.T) {
	const size = 8

	for _, kind := range suite.Autoscalers() {
		t.Run(kind, func(t *testing.T) {
			s := suite.StartOwn(t, suite.Options{})
			q := s.Queue("gangs", fmt.Sprint(size+1), "")
			s.Autoscaler(kind, truthInstance)
			gang := func(name string) (members []string) {
				s.PodGroup(name, q, size, nil)
				for i := range size {
					member := fmt.Sprintf("%s-%d", name, i)
					members = append(members, member)
					s.Pod(member, suite.Opted, suite.Group(name), suite.Request("1", "512Mi"))
				}
				return members
			}
			first := gang("first")
			s.WaitUngated(first...)
			second := gang("second")
			s.WaitRunning(first...)
			s.SchedulerSawAll()
			s.WaitGated(second...)

			for _, a := range first {
				for _, b := range first {
					s.Before("all members lose their gate before one is published", s.Ungated(a), s.Published(b))
					s.Before("all members are published before one is bound", s.Published(a), s.Bound(b))
				}
			}
			s.Must(s.Oracle.Verify(s.Ctx)) // nodes come to it by another watch than pods
			nodes := s.Oracle.Nodes()
			for _, n := range nodes {
				if n.Nodes >= size {
					break
				}
				for _, member := range first {
					if s.Bound(member).RV() < n.RV {
						t.Errorf("%s was bound when there were %d nodes", member, n.Nodes)
					}
				}
			}
			if last := nodes[len(nodes)-1].Nodes; last != size {
				t.Errorf("%d nodes for a gang of %d", last, size)
			}

			for _, member := range first {
				s.DeletePod(member)
			}
			s.WaitRunning(second...)
			// Quota holds one pod more than a gang: the last pod of the first one does not hold up the second.
			for _, member := range second {
				for _, other := range first[:size-1] {
					s.Before("one gang after the other", s.Gone(other), s.Ungated(member))
				}
			}
		})
	}
}
