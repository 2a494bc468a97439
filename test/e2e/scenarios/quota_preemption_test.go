package scenarios

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// workloadName of a Job.
func workloadName(s *suite.S, job string) string {
	s.Helper()
	w, err := s.WorkloadOf(job)
	s.Must(err)
	return w.GetName()
}

// evictions of the Job's Workload, as its status counts them: "Preempted 1".
func evictions(s *suite.S, job string) []string {
	s.Helper()
	w, err := s.WorkloadOf(job)
	s.Must(err)
	var found []string
	list, _, _ := unstructured.NestedSlice(w.Object, "status", "schedulingStats", "evictions")
	for _, e := range list {
		m, _ := e.(map[string]any)
		found = append(found, fmt.Sprintf("%v %v", m["reason"], m["count"]))
	}
	return found
}

// A Job of higher priority takes the place of a lower one of its ClusterQueue: that one is suspended
// as its user wrote it, keeps its quota until its pods are gone, and comes back.
func TestQuotaPreemptionWithinClusterQueue(t *testing.T) {
	s := startTenants(t)
	s.Job("low", "green", 4)
	s.WaitJobRuns("low")
	// As large as all: what pods of others leave while these end one by one is too little for it.
	s.Job("idle", "green", 4, suite.Class(s.Namespace+"-idle"))
	s.WaitWorkload("idle", "QuotaReserved", "False/WaitingForQuota")
	s.Job("high", "green", 3, suite.Class(s.Namespace+"-high"))
	s.WaitJobRuns("high")
	s.WaitJobStopped("low")
	s.WaitWorkload("low", "Preempted", "True/InClusterQueue")
	s.WaitWorkload("low", "Evicted", "True/Preempted")
	s.Eventually("the preempted Job is as it was", func() error {
		j := s.GetJob("low")
		if nodes := j.Spec.Template.Spec.NodeSelector; len(nodes) > 0 || j.Status.StartTime != nil {
			return fmt.Errorf("nodes %v, started %v", nodes, j.Status.StartTime)
		}
		return nil
	})
	refused, err := s.Cluster.Client.CoreV1().Events(s.Namespace).List(s.Ctx,
		metav1.ListOptions{FieldSelector: "reason=WorkloadWriteRefused"})
	s.Must(err)
	for _, e := range refused.Items {
		t.Errorf("a write was refused: %s: %s", e.InvolvedObject.Name, e.Message)
	}
	waitEvent(s, workloadName(s, "low"), "EvictedDueToPreempted")
	waitEvent(s, workloadName(s, "low"), "Preempted")
	s.Before("the victim keeps its quota until it has stopped", s.Happened("low", oracle.Released, 1),
		s.Happened("high", oracle.Reserved, 1))
	s.FinishJob("high")
	s.WaitJobRuns("low")
	s.WaitWorkload("low", "Evicted", "False/QuotaReserved")
	s.Eventually("the victim was evicted once", func() error {
		if counts := evictions(s, "low"); !slices.Equal(counts, []string{"Preempted 1"}) {
			return fmt.Errorf("%v", counts)
		}
		return nil
	})
	s.FinishJob("low")
	s.WaitJobRuns("idle")
	if n := s.Times("idle", oracle.Evicted); n > 0 {
		t.Errorf("one that waited was evicted %d times", n)
	}
}

// A tenant reclaims quota that it has lent, from borrowers and no more than it needs; Workloads outside
// of the cohort are not affected.
func TestQuotaReclaimWithinCohort(t *testing.T) {
	s := startTenants(t)
	s.Job("alone", "green", 4)
	// Of more priority: of several that were given quota in the same second any may be the youngest.
	s.Job("own", "blue", 4, suite.Class(s.Namespace+"-high"))
	s.WaitJobRuns("own")
	s.Job("borrows", "blue", 2)
	s.WaitJobRuns("borrows")
	s.Job("borrows-more", "blue", 1)
	s.WaitJobRuns("borrows-more")
	// One cpu is idle: two of its own are missing, the newer borrower alone is too small.
	s.Job("owner", "red", 3)
	s.WaitJobRuns("owner")
	s.WaitJobStopped("borrows")
	s.WaitWorkload("borrows", "Preempted", "True/InCohortReclamation")
	s.Before("what is lent comes back first", s.Happened("borrows", oracle.Released, 1),
		s.Happened("owner", oracle.Reserved, 1))
	s.FinishJob("owner")
	s.WaitJobRuns("borrows")
	for _, job := range []string{"alone", "own", "borrows-more", "owner"} {
		if n := s.Times(job, oracle.Evicted); n > 0 {
			t.Errorf("%s was evicted %d times", job, n)
		}
	}
}
