package scenarios

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

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
