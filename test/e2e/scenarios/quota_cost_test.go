package scenarios

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// waitCost waits until the Workload of the Job costs so much; "": nothing is set.
func waitCost(s *suite.S, job, want string) {
	s.Helper()
	s.Eventually(fmt.Sprintf("the Workload of %s costs %q", job, want), func() error {
		w, err := s.WorkloadOf(job)
		if err != nil {
			return err
		}
		cost, _, _ := unstructured.NestedString(w.Object, "status", "preemptionCost")
		if cost != want {
			return fmt.Errorf("it costs %q", cost)
		}
		return nil
	})
}

func kubectl(s *suite.S, arguments ...string) {
	s.Helper()
	_, err := s.Headgate.Kubectl(s.Ctx, "", arguments...)
	s.Must(err)
}

// A victim is spared the next time, by a cost that the scheduler writes; a cost of another manager is
// left alone.
func TestQuotaPreemptionCost(t *testing.T) {
	s := startTenants(t)
	s.Job("one", "green", 2)
	s.Job("two", "green", 2)
	s.WaitJobRuns("one")
	s.WaitJobRuns("two")
	s.Job("high", "green", 2, suite.Class(s.Namespace+"-high"))
	s.WaitJobRuns("high")
	first, second := "one", "two"
	if s.Times(first, oracle.Evicted) == 0 {
		first, second = second, first
	}
	waitCost(s, first, "1")
	waitCost(s, second, "")
	s.FinishJob("high")
	s.WaitJobRuns(first)
	s.Job("higher", "green", 2, suite.Class(s.Namespace+"-high"))
	s.WaitJobRuns("higher")
	s.WaitWorkload(second, "Evicted", "True/Preempted")
	waitCost(s, second, "1")
	waitCost(s, first, "1")
	if n := s.Times(first, oracle.Evicted); n != 1 {
		t.Errorf("%s, which was preempted before, was preempted %d times", first, n)
	}

	set := []string{"patch", "workload", "-n", s.Namespace, workloadName(s, first), "--subresource=status",
		"--type=merge", "-p"}
	kubectl(s, append(set, `{"status":{"preemptionCost":"250"}}`)...)
	kubectl(s, "annotate", "clusterqueue", s.Namespace+"-green", "headgate.io/preemption-cost-base=10")
	waitCost(s, second, "11")
	waitCost(s, first, "250")
	kubectl(s, append(set, `{"status":{"preemptionCost":null}}`)...)
	waitCost(s, first, "11")
}
