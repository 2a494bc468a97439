package scenarios

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/headgate"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// The capability of a queue is lowered while the autoscaler buys nodes for pods that have lost their gate: no node is
// ready yet. The excess is withdrawn, and only as many pods run on the new nodes as the queue has room for from then on.
// The others have their turn on the same nodes, and none is bought beyond what the former capability was worth.
func TestScenario2LoweredWhileNodesAreBought(t *testing.T) {
	const before, after, pods = 6, 2, 8

	for _, kind := range suite.Autoscalers() {
		t.Run(kind, func(t *testing.T) {
			s := suite.StartOwn(t, suite.Options{})
			r := &truth{s: s, done: map[string]bool{}}
			q := s.Queue("batch", fmt.Sprint(before), "")
			s.Autoscaler(kind, truthInstance)
			s.Cluster.Kwok.Kill() // nodes are there, and do not become ready
			for i := range pods {
				name := fmt.Sprintf("work-%02d", i)
				r.names = append(r.names, name)
				s.Pod(name, suite.Opted, suite.Queue(q), suite.Request("1", "512Mi"))
			}
			s.Eventually("the autoscaler buys", func() error {
				published := r.count(func(p oracle.PodState) bool { return p.Published })
				if now, _ := r.nodes(); now == 0 || published != before {
					return fmt.Errorf("%d nodes, %d pods are published", now, published)
				}
				return nil
			})
			_, err := s.Cluster.Dynamic.Resource(headgate.Queues).Patch(s.Ctx, q, types.MergePatchType,
				fmt.Appendf(nil, `{"spec":{"capability":{"cpu":"%d"}}}`, after), metav1.PatchOptions{})
			s.Must(err)
			s.Eventually("the excess is withdrawn", func() error {
				if n := r.count(func(p oracle.PodState) bool { return p.Published }); n != after {
					return fmt.Errorf("%d pods are published", n)
				}
				return nil
			})
			lowered := time.Now()
			s.Must(s.Cluster.Kwok.Start())
			r.waitRunning(after)
			s.SchedulerSawAll()
			s.WaitPublished()
			r.finish()
			s.Must(s.Oracle.Verify(s.Ctx))
			for at := lowered; at.Before(time.Now()); at = at.Add(time.Second) {
				if _, running := s.Oracle.At(at, s.Namespace); running > after {
					t.Errorf("%d pods ran at once, want %d at most", running, after)
				}
			}
			if _, peak := r.nodes(); peak > before {
				t.Errorf("%d nodes at most, want %d", peak, before)
			}
		})
	}
}
