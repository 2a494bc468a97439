package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/headgate"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// overdue are the pods of a queue that hold quota for too long, or beyond a limit, by the leader's word.
func overdue(s *suite.S, queue string) (float64, error) {
	leader := s.Headgate.Leader()
	if leader == nil {
		return 0, fmt.Errorf("none leads")
	}
	return leader.Metric(s.Ctx, "headgate_queue_overdue_pods", `queue_name="`+queue+`"`)
}

func waitOverdue(s *suite.S, queue string, want float64) {
	s.Helper()
	s.Eventually(fmt.Sprintf("%v overdue pods", want), func() error {
		n, err := overdue(s, queue)
		if err == nil && n != want {
			err = fmt.Errorf("%v", n)
		}
		return err
	})
}

// restartScheduler ends the scheduler and starts it with another value of a flag.
func restartScheduler(s *suite.S, old, now string) {
	s.Helper()
	d := s.Headgate.Schedulers[0]
	s.Must(d.Terminate(headgate.ReadyTimeout))
	i := slices.Index(d.Args, old)
	if i < 0 {
		s.Fatalf("%s is not among %v", old, d.Args)
	}
	d.Args[i] = now
	s.Must(d.Start(s.Ctx))
	s.Must(s.Headgate.WaitReady(s.Ctx))
}

// A pod with quota that kube-scheduler does not place in time. With --on-reservation-timeout=delete it is deleted if a
// controller creates it anew: another pod gets the quota, and the new one waits at the gate. A pod without a controller is
// reported and keeps its quota; by default each of them does.
func TestScenario9ReservationTimesOut(t *testing.T) {
	s := suite.StartOwn(t, suite.Options{Values: []string{"scheduler.replicas=1", "scheduler.reservationTimeout=2s",
		"scheduler.onReservationTimeout=delete"}})
	s.Nodes(1, "8", "16Gi")
	q := s.Queue("q", "1", "8Gi")
	label(s)
	nowhere := suite.Select("e2e.headgate.io/late", s.Namespace)
	replicaSet(s, "late", 1, suite.Queue(q), suite.Request("1", "1Gi"), nowhere)
	var first string
	s.Eventually("the first pod", func() error {
		all := s.Oracle.Names(s.Namespace, func(oracle.PodState) bool { return true })
		i := slices.IndexFunc(all, func(name string) bool { return strings.HasPrefix(name, "late-") })
		if i < 0 {
			return fmt.Errorf("not yet")
		}
		first = all[i]
		return nil
	})
	s.Pod("next", elsewhere, suite.Queue(q), suite.Request("1", "1Gi"))
	s.WaitRunning("next")
	s.Before("its quota is free when it is gone", s.Gone(first), s.Ungated("next"))
	waitEvent(s, first, "ReservationTimedOut")
	waitEvent(s, first, "Evict")
	var fresh string
	s.Eventually("the pod comes back", func() error {
		w := waiting(s)
		if len(w) != 1 || !strings.HasPrefix(w[0], "late-") {
			return fmt.Errorf("%v wait", w)
		}
		fresh = w[0]
		return nil
	})
	beganGated(s, first, fresh)
	explains(s, fresh, "waits for quota")
	sets := s.Cluster.Client.AppsV1().ReplicaSets(s.Namespace)
	s.Must(sets.Delete(s.Ctx, "late", metav1.DeleteOptions{}))
	s.WaitGone(fresh)
	s.DeletePod("next")

	s.Pod("alone", elsewhere, suite.Queue(q), suite.Request("1", "1Gi"), nowhere)
	reported(s, q, "alone")
	s.DeletePod("alone")
	restartScheduler(s, "--on-reservation-timeout=delete", "--on-reservation-timeout=keep")
	replicaSet(s, "kept", 1, suite.Queue(q), suite.Request("1", "1Gi"), nowhere)
	waitCounts(s, 1, 0)
	reported(s, q, holding(s, "kept-")[0])
}

// reported waits until the pod is reported as one that holds quota for too long, and sees to it that it keeps it.
func reported(s *suite.S, queue, name string) {
	s.Helper()
	if e := waitEvent(s, name, "ReservationTimedOut"); e.Type != "Warning" {
		s.Errorf("a %s event: %s", e.Type, e.Message)
	}
	waitOverdue(s, queue, 1)
	wants(s, "headgatectl queues", []string{name}, func() (string, error) { return s.Headgate.Ctl(s.Ctx, "queues") })
	behind := "behind-" + name
	s.Pod(behind, elsewhere, suite.Queue(queue), suite.Request("1", "1Gi"))
	s.SchedulerSawAll()
	s.WaitGated(behind)
	if !slices.Contains(holding(s, ""), name) {
		s.Errorf("%s has lost its quota", name)
	}
	s.DeletePod(behind)
}

// A lowered limit, by default: the youngest pods that have lost their gate and have no node are reported, keep their
// quota, and nothing else of the queue gets any before the rest is within the limit.
func TestScenario9LoweredLimit(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "8", "16Gi")
	q := s.Queue("q", "3", "8Gi")
	label(s)
	replicaSet(s, "late", 3, suite.Queue(q), suite.Request("1", "1Gi"), suite.Select("e2e.headgate.io/late", s.Namespace))
	waitCounts(s, 3, 0)
	late := holding(s, "late-")
	_, err := s.Cluster.Dynamic.Resource(headgate.Queues).Patch(s.Ctx, q, types.MergePatchType,
		[]byte(`{"spec":{"capability":{"cpu":"2"}}}`), metav1.PatchOptions{})
	s.Must(err)
	waitOverdue(s, q, 1)
	var youngest string
	s.Eventually("one pod is reported", func() error {
		list, err := s.Cluster.Client.CoreV1().Events(s.Namespace).List(s.Ctx, metav1.ListOptions{FieldSelector: "reason=BeyondQuota"})
		if err == nil && len(list.Items) != 1 {
			err = fmt.Errorf("%d events", len(list.Items))
		}
		if err == nil {
			youngest = list.Items[0].InvolvedObject.Name
		}
		return err
	})
	s.Pod("next", elsewhere, suite.Queue(q), suite.Request("1", "1Gi"))
	s.SchedulerSawAll()
	s.WaitGated("next")
	if h := holding(s, "late-"); !slices.Equal(h, late) {
		t.Errorf("%v have quota, not %v", h, late)
	}
	// The oracle counts published pods against the limit; these are what cannot be taken back.
	s.Must(s.Cluster.Client.AppsV1().ReplicaSets(s.Namespace).Delete(s.Ctx, "late", metav1.DeleteOptions{}))
	s.WaitRunning("next")
	waitOverdue(s, q, 0)
	gone := 0
	for _, name := range late {
		if first, there := s.Oracle.First(s.Namespace+"/"+name, func(p oracle.PodState) bool { return p.Deleted }); there &&
			first.RV < s.Ungated("next").RV() {
			gone++
		}
	}
	if gone < 2 {
		t.Errorf("quota was given when %d of %v were gone; reported was %s", gone, late, youngest)
	}
}
