package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"headgate/e2e/headgate"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

const admissionGate = "kueue.x-k8s.io/admission"

// queued puts a pod of the default scheduler into a LocalQueue.
func queued(queue, cpu string) suite.PodOption {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
		p.Spec.SchedulerName = ""
		p.Labels = map[string]string{headgate.QueueLabel: queue}
	}
}

// inGroup of so many pods.
func inGroup(name string, size int) suite.PodOption {
	return func(p *corev1.Pod) {
		p.Labels["kueue.x-k8s.io/pod-group-name"] = name
		p.Annotations["kueue.x-k8s.io/pod-group-total-count"] = fmt.Sprint(size)
	}
}

// unseen: no autoscaler buys nodes for the pod, because it is held by the gate.
func unseen(s *suite.S, name string) {
	s.Helper()
	p := s.GetPod(name)
	if gates := gatesOf(p); !slices.Equal(gates, []string{admissionGate}) {
		s.Errorf("gates of %s, which waits: %v", name, gates)
	}
	if oracle.Unschedulable(p) {
		s.Errorf("%s waits for quota, and is Unschedulable for autoscalers", name)
	}
}

// Pods that queue by themselves are held by a gate until they are admitted, then run on the nodes of
// their flavor; a group is admitted when it is complete.
func TestQuotaPods(t *testing.T) {
	s := startTenants(t)
	s.Pod("one", queued("green", "3"))
	s.WaitRunning("one")
	if p := s.GetPod("one"); p.Spec.NodeName != s.NodeName(1) || len(gatesOf(p)) > 0 {
		t.Errorf("a pod with flavor on-demand runs on %s, with gates %v", p.Spec.NodeName, gatesOf(p))
	}
	s.Pod("member-1", queued("green", "1"), inGroup("both", 2))
	unseen(s, "member-1")
	s.Pod("alone", queued("blue", "1"))
	s.WaitRunning("alone")
	unseen(s, "member-1") // though there is room for it
	s.Pod("member-2", queued("green", "1"), inGroup("both", 2))
	s.Pod("last", queued("red", "1"))
	s.WaitRunning("last")
	unseen(s, "member-1")
	unseen(s, "member-2")
	s.DeletePod("one")
	s.WaitRunning("member-1", "member-2")
	// A group is taken away with its Workload; its pods alone would wait for others in their place.
	s.Must(s.Cluster.Dynamic.Resource(headgate.Workloads).Namespace(s.Namespace).Delete(s.Ctx, "both", metav1.DeleteOptions{}))
	s.Eventually("the group is gone", func() error {
		if left := s.Oracle.Names(s.Namespace, func(p oracle.PodState) bool { return true }); slices.Contains(left, "member-1") {
			return fmt.Errorf("pods left: %v", left)
		}
		return nil
	})
}

// Kubernetes deletes the pods of a namespace first: they do not wait for others in their place.
func TestQuotaPodsAndTheirNamespace(t *testing.T) {
	s := startTenants(t)
	members := []string{"member-1", "member-2"}
	for _, name := range members {
		s.Pod(name, queued("green", "1"), inGroup("both", len(members)))
	}
	s.WaitRunning(members...)
	s.Must(s.Cluster.Client.CoreV1().Namespaces().Delete(s.Ctx, s.Namespace, metav1.DeleteOptions{}))
	s.Eventually("the namespace is gone", func() error {
		_, err := s.Cluster.Client.CoreV1().Namespaces().Get(s.Ctx, s.Namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is there"), err)
	})
}

// Pods of a Job may name our scheduler: it binds them when the Job has its quota.
func TestQuotaJobOfOurScheduler(t *testing.T) {
	s := startTenants(t)
	ours := func(j *batchv1.Job) { j.Spec.Template.Spec.SchedulerName = "volcano" }
	s.Job("first", "green", 4, ours)
	s.WaitJobRuns("first")
	for _, p := range s.JobPods("first") {
		if p.Spec.NodeName != s.NodeName(1) || p.Annotations["headgate.io/bound-by"] == "" {
			t.Errorf("%s is on %s, annotations %v", p.Name, p.Spec.NodeName, p.Annotations)
		}
	}
	s.Job("second", "green", 1, ours)
	s.WaitWorkload("second", "QuotaReserved", "False/WaitingForQuota")
	if pods := s.JobPods("second"); len(pods) > 0 {
		t.Errorf("a Job that waits has %d pods", len(pods))
	}
	s.FinishJob("first")
	s.WaitJobRuns("second")
}
