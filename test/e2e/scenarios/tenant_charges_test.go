package scenarios

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"headgate/e2e/headgate"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

func resize(s *suite.S, pods typedcorev1.PodInterface, name, cpu string, dryRun ...string) error {
	body := fmt.Sprintf(`{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":%q}}}]}}`, cpu)
	_, err := pods.Patch(s.Ctx, name, types.StrategicMergePatchType, []byte(body),
		metav1.PatchOptions{DryRun: dryRun}, "resize")
	return err
}

// kubeletGrants makes the status say that the pod has what it asks for: kwok writes no resources there, and without them
// the API server takes no resize.
func kubeletGrants(s *suite.S, name string) {
	s.Helper()
	s.Eventually("the status of "+name+" shows its resources", func() error {
		p := s.GetPod(name)
		if len(p.Status.ContainerStatuses) == 0 {
			return fmt.Errorf("no container has a status")
		}
		for i := range p.Status.ContainerStatuses {
			c := &p.Status.ContainerStatuses[i]
			c.Resources = p.Spec.Containers[i].Resources.DeepCopy()
			c.AllocatedResources = c.Resources.Requests
		}
		_, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).UpdateStatus(s.Ctx, p, metav1.UpdateOptions{})
		return err
	})
}

// waitAllocated waits for the queue's status, which the webhook judges resizes by.
func waitAllocated(s *suite.S, queue, cpu string) {
	s.Helper()
	s.Eventually("status.allocated of "+queue+" is "+cpu+" CPU", func() error {
		q, err := s.Cluster.Dynamic.Resource(headgate.Queues).Get(s.Ctx, queue, metav1.GetOptions{})
		if err != nil {
			return err
		}
		got, _, err := unstructured.NestedString(q.Object, "status", "allocated", "cpu")
		if err == nil && got != cpu {
			err = fmt.Errorf("it is %q", got)
		}
		return err
	})
}

// A tenant that may resize pods makes a small one run and grow: as far as its queue has room, no further.
func TestTenantResizes(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "9", "16Gi")
	q := s.Queue("team", "2", "8Gi")
	pods := s.Tenant("eve", "resize").CoreV1().Pods(s.Namespace)
	create := func(name, cpu string) {
		spec := s.Spec(name, suite.Opted, suite.Queue(q), suite.Request(cpu, "1Gi"))
		_, err := pods.Create(s.Ctx, spec, metav1.CreateOptions{})
		s.Must(err)
	}

	create("small", "10m")
	s.WaitRunning("small")
	kubeletGrants(s, "small")
	// The webhook hears of the status by a watch of its own, so nothing is changed while it may not know yet.
	refused := func(cpu, why string) {
		s.Eventually("a resize to "+cpu+" is refused", func() error {
			err := resize(s, pods, "small", cpu, metav1.DryRunAll)
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), why) {
				return fmt.Errorf("got: %v", err)
			}
			return nil
		})
	}
	refused("7", fmt.Sprintf("queue %q has a capability of 2", q))
	create("other", "1")
	s.WaitRunning("other")
	waitAllocated(s, q, "1010m")
	// Quota that another tenant's pod has, and waits for a node with, is not there to grow into.
	s.Pod("victim", suite.Opted, suite.Queue(q), suite.Request("500m", "1Gi"), suite.Select("no", "such-node"))
	s.WaitPublished("victim")
	refused("600m", "its pods use 1510m")
	s.SchedulerSawAll()
	s.WaitPublished("victim")
	s.DeletePod("victim")
	refused("1500m", "its pods use 1010m")
	s.Must(resize(s, pods, "small", "1"))
	kubeletGrants(s, "small")
	waitAllocated(s, q, "2")
	create("waits", "10m")
	s.SchedulerSawAll()
	s.WaitGated("waits")
	s.Must(resize(s, pods, "small", "500m"))
	kubeletGrants(s, "small")
	s.WaitRunning("waits")
}

// A tenant that may edit PodGroups moves one with a pod that runs to another tenant's queue. Its charge stays where it was
// granted, and a queue that does not exist is refused.
func TestTenantMovesPodGroups(t *testing.T) {
	s := suite.StartOwn(t, suite.Options{})
	s.Nodes(1, "9", "16Gi")
	a, b := s.Queue("a", "1", "8Gi"), s.Queue("b", "1", "8Gi")
	s.Pod("victim", suite.Opted, suite.Queue(b), suite.Request("1", "1Gi"), suite.Select("no", "such-node"))
	s.WaitPublished("victim")
	eve := s.GroupTenant("eve")
	s.PodGroup("group", a, 1, nil)
	for _, name := range []string{"runs", "waits"} {
		_, err := eve.CoreV1().Pods(s.Namespace).Create(s.Ctx, s.Spec(name, suite.Opted, suite.Group("group"),
			suite.Request("1", "1Gi")), metav1.CreateOptions{})
		s.Must(err)
		if name == "runs" {
			s.WaitRunning(name)
		}
	}
	move := func(queue string) error {
		path := "/apis/" + headgate.PodGroups.GroupVersion().String() + "/namespaces/" + s.Namespace + "/podgroups/group"
		return eve.CoreV1().RESTClient().Patch(types.MergePatchType).AbsPath(path).
			Body([]byte(fmt.Sprintf(`{"spec":{"queue":%q}}`, queue))).Do(s.Ctx).Error()
	}
	if err := move(s.Namespace + "-none"); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("to a queue that does not exist: %v", err)
	}
	s.Must(move(b))
	waitEvent(s, "runs", "QuotaMoveRefused")
	for range 2 {
		s.SchedulerSawAll()
		s.WaitGated("waits")
		s.WaitPublished("victim")
		wants(s, "headgatectl explain pod", []string{"it is charged to queue " + a + ", and not to queue " + b},
			func() (string, error) { return s.Headgate.Ctl(s.Ctx, "explain", "pod", s.Namespace+"/runs") })
		restartSchedulers(s)
	}
	// What was a's is a's: nothing of it was given out while the PodGroup named b.
	s.Pod("honest", suite.Opted, suite.Queue(a), suite.Request("1", "1Gi"))
	s.SchedulerSawAll()
	s.WaitGated("waits", "honest")
	s.DeletePod("runs")
	s.WaitRunning("honest")
	s.WaitGated("waits")
}

// A tenant that may only edit pods moves a pod that runs to a group of another tenant's queue. Its charge stays, the
// other queue's pod keeps its quota, and the first queue gives nothing out twice; a restart does not change that, and
// the mark that a restart goes by cannot be forged.
func TestTenantMovesCharges(t *testing.T) {
	s := suite.StartOwn(t, suite.Options{})
	s.Nodes(1, "9", "16Gi")
	a, b := s.Queue("a", "1", "8Gi"), s.Queue("b", "1", "8Gi")
	s.Pod("victim", suite.Opted, suite.Queue(b), suite.Request("1", "1Gi"), suite.Select("no", "such-node"))
	s.WaitPublished("victim")
	pods := s.Tenant("eve").CoreV1().Pods(s.Namespace)
	create := func(name, queue, cpu string, options ...suite.PodOption) error {
		options = append([]suite.PodOption{suite.Opted, suite.Queue(queue), suite.Request(cpu, "1Gi")}, options...)
		_, err := pods.Create(s.Ctx, s.Spec(name, options...), metav1.CreateOptions{})
		return err
	}
	annotate := func(name, key, value string) error {
		patch := []byte(fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, key, value))
		_, err := pods.Patch(s.Ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	}
	s.Must(create("runs", a, "1"))
	s.WaitRunning("runs")
	s.Must(create("waits", a, "1"))
	s.PodGroup("group", b, 1, nil)
	s.Must(create("dummy", b, "1m", suite.Group("group")))
	s.Must(annotate("runs", oracle.GroupKey, `"group"`))
	waitEvent(s, "runs", "QuotaMoveRefused")

	for _, forged := range []struct{ key, value string }{
		{"headgate.io/reserved", strconv.Quote(b)}, {"headgate.io/reserved", "null"}, {"headgate.io/bound-by", `"eve"`},
	} {
		err := annotate("runs", forged.key, forged.value)
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "for Headgate's scheduler to write") {
			t.Errorf("%s %s: %v", forged.key, forged.value, err)
		}
	}
	err := create("placed", b, "1", suite.Annotation("headgate.io/reserved", b),
		func(p *corev1.Pod) { p.Spec.NodeName = s.NodeName(0) })
	if !apierrors.IsForbidden(err) {
		t.Errorf("a pod with a node and a mark: %v", err)
	}

	for range 2 {
		s.SchedulerSawAll()
		s.WaitGated("waits", "dummy")
		s.WaitPublished("victim")
		wants(s, "headgatectl explain pod", []string{"it is charged to queue " + a + ", and not to queue " + b},
			func() (string, error) { return s.Headgate.Ctl(s.Ctx, "explain", "pod", s.Namespace+"/runs") })
		restartSchedulers(s)
	}
}
