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
	"k8s.io/apimachinery/pkg/types"

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

// ofOurScheduler: its pods are bound by us.
func ofOurScheduler(j *batchv1.Job) { j.Spec.Template.Spec.SchedulerName = "volcano" }

// boundByUs checks where we have bound a pod.
func boundByUs(s *suite.S, p *corev1.Pod, node string) {
	s.Helper()
	if p.Spec.NodeName != node || p.Annotations["headgate.io/bound-by"] == "" {
		s.Errorf("%s is on %s, not %s, annotations %v", p.Name, p.Spec.NodeName, node, p.Annotations)
	}
}

// limitDefault of the cluster's Queue "default" to so many cpus; "null": none.
func limitDefault(s *suite.S, cpu string) {
	s.Helper()
	_, err := s.Cluster.Dynamic.Resource(headgate.Queues).Patch(s.Ctx, "default", types.MergePatchType,
		[]byte(`{"spec":{"capability":{"cpu":`+cpu+`}}}`), metav1.PatchOptions{})
	s.Must(err)
}

// waitCharged waits until so many thousandths of a cpu are charged to the Queue "default".
func waitCharged(s *suite.S, want float64) {
	s.Helper()
	s.Eventually(fmt.Sprintf("Queue default is charged %v", want), func() error {
		now, err := leader(s).Metric(s.Ctx, "volcano_queue_allocated_milli_cpu", `queue_name="default"`)
		if err == nil && now != want {
			err = fmt.Errorf("it is charged %v", now)
		}
		return err
	})
}

// Pods of Jobs and of groups may name our scheduler: it binds them when they have their quota, which
// is counted once, by the ClusterQueue. The Queue that they are in has room for one pod, of others.
func TestQuotaPodsOfOurScheduler(t *testing.T) {
	s := startTenants(t)
	limitDefault(s, `"1"`)
	t.Cleanup(func() { limitDefault(s, "null") })
	s.Job("first", "green", 4, ofOurScheduler)
	s.WaitJobRuns("first")
	for _, p := range s.JobPods("first") {
		boundByUs(s, &p, s.NodeName(1))
	}
	members := []string{"member-1", "member-2"}
	for _, name := range members {
		s.Pod(name, queued("red", "2"), suite.Scheduler("volcano"), inGroup("both", len(members)))
	}
	s.WaitRunning(members...)
	for _, name := range members {
		boundByUs(s, s.GetPod(name), s.NodeName(0))
	}
	waitCharged(s, 0)
	s.Pod("other", suite.Opted, suite.Request("1", "1Gi"))
	s.WaitRunning("other")
	waitCharged(s, 1000)
	s.Pod("one-too-many", suite.Opted, suite.Request("1", "1Gi"))
	s.SchedulerSawAll()
	s.WaitGated("one-too-many")
	s.DeletePod("one-too-many")
	s.Job("second", "green", 1, ofOurScheduler)
	s.WaitWorkload("second", "QuotaReserved", "False/WaitingForQuota")
	if pods := s.JobPods("second"); len(pods) > 0 {
		t.Errorf("a Job that waits has %d pods", len(pods))
	}
	s.FinishJob("first")
	s.WaitJobRuns("second")
	waitCharged(s, 1000)
}
