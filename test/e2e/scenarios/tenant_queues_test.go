package scenarios

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/headgate"
	"headgate/e2e/suite"
)

// A queue is closed to the namespace of a tenant that may edit pods alone. A pod that names it is refused; one in a
// PodGroup of before waits until the namespace may use the queue.
func TestTenantForeignQueue(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "4", "8Gi")
	q := s.Queue("theirs", "1", "8Gi")
	s.PodGroup("before", q, 1, nil)
	pods := s.Tenant("eve").CoreV1().Pods(s.Namespace)
	create := func(name string, how metav1.CreateOptions, options ...suite.PodOption) error {
		options = append([]suite.PodOption{suite.Opted, suite.Request("1", "1Gi")}, options...)
		_, err := pods.Create(s.Ctx, s.Spec(name, options...), how)
		return err
	}

	patch := []byte(`{"metadata":{"annotations":{"headgate.io/namespace-selector":"team=theirs"}}}`)
	_, err := s.Cluster.Dynamic.Resource(headgate.Queues).Patch(s.Ctx, q, types.MergePatchType, patch, metav1.PatchOptions{})
	s.Must(err)
	refusal := fmt.Sprintf("namespace %q may not use queue %q", s.Namespace, q)
	s.Eventually("a pod that names the queue is refused", func() error {
		err := create("named", metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}, suite.Queue(q))
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), refusal) {
			return fmt.Errorf("got: %v", err)
		}
		return nil
	})
	s.Eventually("the scheduler knows it, too", func() error {
		text, err := s.Headgate.Kubectl(s.Ctx, "", "get", "podgroup", "before", "-n", s.Namespace, "-o", "jsonpath={.status.conditions}")
		if err == nil && !strings.Contains(text, "may not use queue "+q) {
			err = errors.New(text)
		}
		return err
	})
	s.Must(create("waits", metav1.CreateOptions{}, suite.Group("before")))
	s.SchedulerSawAll()
	s.WaitGated("waits")
	wants(s, "headgatectl explain pod", []string{"may not use queue " + q},
		func() (string, error) { return s.Headgate.Ctl(s.Ctx, "explain", "pod", s.Namespace+"/waits") })

	_, err = s.Cluster.Client.CoreV1().Namespaces().Patch(s.Ctx, s.Namespace, types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"team":"theirs"}}}`), metav1.PatchOptions{})
	s.Must(err)
	s.WaitRunning("waits")
}

// A tenant creates pods without end, each of which names another queue that does not exist. Meanwhile no pod of anybody
// else is refused; and a queue that comes later is the queue of those that named it before.
func TestTenantUnknownQueues(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "4", "8Gi")
	q := s.Queue("team", "4", "8Gi")
	pods := s.Tenant("eve").CoreV1().Pods(s.Namespace)
	lookups := func() float64 {
		sum := 0.0
		for _, d := range s.Headgate.Webhooks {
			n, err := d.Metric(s.Ctx, "headgate_webhook_queue_lookups_total")
			s.Must(err)
			sum += n
		}
		return sum
	}
	before := lookups()

	var flood sync.WaitGroup
	var created atomic.Int64
	ctx, cancel := context.WithCancel(s.Ctx)
	defer flood.Wait()
	defer cancel()
	for range 8 {
		flood.Go(func() {
			for ctx.Err() == nil {
				name := fmt.Sprintf("unknown-%d", created.Add(1))
				_, _ = pods.Create(ctx, s.Spec(name, suite.Opted, suite.Queue(name)),
					metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			}
		})
	}
	var honest []string
	for n := range 20 {
		spec := s.Spec(fmt.Sprintf("honest-%d", n), suite.Opted, suite.Queue(q), suite.Request("10m", "1Mi"))
		_, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).Create(s.Ctx, spec, metav1.CreateOptions{})
		s.Must(err)
		honest = append(honest, spec.Name)
	}
	s.Eventually("many pods have named unknown queues", func() error {
		if n := created.Load(); n < 100 {
			return fmt.Errorf("%d", n)
		}
		return nil
	})
	cancel()
	flood.Wait()
	if n := lookups() - before; n < 1 {
		t.Errorf("%v lookups of %d queues that do not exist", n, created.Load())
	}
	s.WaitRunning(honest...)

	early := s.Spec("early", suite.Opted, suite.Queue(s.Namespace+"-later"), suite.Request("10m", "1Mi"))
	_, err := pods.Create(s.Ctx, early, metav1.CreateOptions{})
	s.Must(err)
	s.SchedulerSawAll()
	s.WaitGated("early")
	s.Queue("later", "1", "1Gi")
	s.WaitRunning("early")
}

// A tenant puts pods on nodes by hand, in a queue that is full with a pod that waits for a node: on a node that does
// not exist, which counts for nothing, and on one that exists, which counts when it runs. The other pod keeps its quota,
// and the queue gives out nothing beyond its limit.
func TestTenantPlacesPods(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "9", "16Gi")
	q := s.Queue("team", "2", "8Gi")
	pods := s.Tenant("eve").CoreV1().Pods(s.Namespace)
	place := func(name, node, cpu string) {
		spec := s.Spec(name, suite.Opted, suite.Queue(q), suite.Request(cpu, "1Gi"),
			func(p *corev1.Pod) { p.Spec.NodeName = node })
		_, err := pods.Create(s.Ctx, spec, metav1.CreateOptions{})
		s.Must(err)
	}
	s.Pod("victim", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"), suite.Select("no", "such-node"))
	s.WaitPublished("victim")

	place("ghost", "no-such-node", "1T")
	s.SchedulerSawAll()
	s.WaitPublished("victim")
	s.Pod("beside", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))
	s.WaitRunning("beside")
	s.DeletePod("beside")
	// Kubernetes deletes pods of nodes that are not there.
	if err := s.TryDeletePod("ghost"); !apierrors.IsNotFound(err) {
		s.Must(err)
	}

	// kwok runs what a kubelet would refuse.
	place("runs", s.NodeName(0), "7")
	waitAllocated(s, q, "7")
	s.Pod("waits", suite.Opted, suite.Queue(q), suite.Request("10m", "1Gi"))
	s.SchedulerSawAll()
	s.WaitGated("waits")
	s.WaitPublished("victim")
	s.DeletePod("runs")
	s.WaitRunning("waits")
	s.WaitPublished("victim")
}
