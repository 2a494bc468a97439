package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/autoscaler"
	"headgate/e2e/cluster"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// 30 pods, quota for 10 of them, nodes for 4, each node holds one.
const (
	truthPods  = 30
	truthQuota = 10
	truthNodes = 4
)

var truthInstance = autoscaler.Instance{MilliCPU: 1000, MemoryMiB: 1024, Pods: 110}

// truth is one run of scenario 2.
type truth struct {
	s     *suite.S
	begin time.Time
	names []string
	done  map[string]bool
}

func startTruth(t *testing.T, kind string, options ...suite.PodOption) *truth {
	return startTruthWith(t, suite.Options{}, kind, options...)
}

func startTruthWith(t *testing.T, o suite.Options, kind string, options ...suite.PodOption) *truth {
	s := suite.StartOwn(t, o)
	r := &truth{s: s, done: map[string]bool{}}
	s.Nodes(truthNodes, "1", "1Gi")
	q := s.Queue("batch", fmt.Sprint(truthQuota), "")
	s.Autoscaler(kind, truthInstance)
	r.begin = time.Now()
	for i := range truthPods {
		name := fmt.Sprintf("work-%02d", i)
		r.names = append(r.names, name)
		s.Pod(name, append([]suite.PodOption{suite.Queue(q), suite.Request("1", "512Mi")}, options...)...)
	}
	return r
}

func (r *truth) count(f func(oracle.PodState) bool) int {
	n := 0
	for _, name := range r.s.Oracle.Names(r.s.Namespace, f) {
		if strings.HasPrefix(name, "work-") {
			n++
		}
	}
	return n
}

func running(p oracle.PodState) bool { return p.Phase == corev1.PodRunning }

func (r *truth) nodes() (now, peak int) { return nodeCounts(r.s) }

// nodeCounts are the nodes that there are, and the most that there have been.
func nodeCounts(s *suite.S) (now, peak int) {
	for _, n := range s.Oracle.Nodes() {
		now, peak = n.Nodes, max(peak, n.Nodes)
	}
	return now, peak
}

// waitFull waits until the quota is used up by running pods.
func (r *truth) waitFull() {
	r.s.Helper()
	r.waitRunning(truthQuota)
}

// waitRunning waits until so many pods run.
func (r *truth) waitRunning(want int) {
	r.s.Helper()
	r.s.Eventually(fmt.Sprintf("%d pods run", want), func() error {
		if n := r.count(running); n != want {
			now, _ := r.nodes()
			return fmt.Errorf("%d run on %d nodes", n, now)
		}
		return nil
	})
}

// finishNext waits for the next pod that runs, and lets it succeed a few seconds later.
func (r *truth) finishNext() {
	r.s.Helper()
	patch := []byte(`{"metadata":{"annotations":{"` + cluster.CompleteAfter + `":"5s"}}}`)
	r.s.Eventually("the next pod runs", func() error {
		for _, name := range r.s.Oracle.Names(r.s.Namespace, running) {
			if r.done[name] {
				continue
			}
			_, err := r.s.Cluster.Client.CoreV1().Pods(r.s.Namespace).Patch(r.s.Ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
			r.done[name] = err == nil
			return err
		}
		return fmt.Errorf("%d of %d ran", len(r.done), len(r.names))
	})
}

// finish lets each pod succeed, until all have.
func (r *truth) finish() {
	r.s.Helper()
	for range r.names {
		r.finishNext()
	}
	r.s.WaitSucceeded(r.names...)
}

// sample is the run at one second.
type sample struct{ nodes, running int }

func (r *truth) samples() []sample {
	var list []sample
	for t, end := r.begin, false; !end; t = t.Add(time.Second) {
		end = t.After(time.Now())
		nodes, running := r.s.Oracle.At(t, r.s.Namespace)
		list = append(list, sample{nodes, running})
	}
	return list
}

// Autoscaler truth: nodes are bought for pods with reserved quota, and for nothing else.
func TestScenario2AutoscalerTruth(t *testing.T) {
	for _, kind := range suite.Autoscalers() {
		var gated, ungated []sample

		t.Run(kind+"OptedIn", func(t *testing.T) {
			r := startTruth(t, kind, suite.Opted)
			r.waitFull()
			r.s.SchedulerSawAll()
			r.s.WaitPublished()
			r.s.Must(r.s.Oracle.Verify(r.s.Ctx)) // nodes come to it by another watch than pods
			if n := r.count(func(p oracle.PodState) bool { return p.Gated }); n != truthPods-truthQuota {
				t.Errorf("%d pods are gated, want %d", n, truthPods-truthQuota)
			}
			if now, _ := r.nodes(); now != truthQuota {
				t.Errorf("%d nodes when quota was used up, want %d", now, truthQuota)
			}
			r.finish()
			r.s.Must(r.s.Oracle.Verify(r.s.Ctx))
			if _, peak := r.nodes(); peak != truthQuota {
				t.Errorf("%d nodes at most, want %d: %d that were there and %d bought", peak, truthQuota,
					truthNodes, truthQuota-truthNodes)
			}
			gated = r.samples()
		})
		t.Run(kind+"NotOptedIn", func(t *testing.T) {
			r := startTruth(t, kind)
			r.waitFull()
			r.s.Eventually("nodes are bought for pods that have no quota", func() error {
				if now, _ := r.nodes(); now < truthPods {
					return fmt.Errorf("%d nodes", now)
				}
				return nil
			})
			r.finish()
			ungated = r.samples()
			if len(gated) > 0 {
				r.s.Write("nodes-over-time-"+kind+".md", truthTable(kind, gated, ungated))
			}
		})
	}
}

// truthTable is in Markdown; a line for every few seconds, and the last one.
func truthTable(kind string, gated, ungated []sample) string {
	var b strings.Builder

	fmt.Fprintf(&b, "%d pods of 1 CPU in a queue of %d CPU, %d nodes of 1 CPU at first; %s buys more.\n\n",
		truthPods, truthQuota, truthNodes, kind)
	b.WriteString("| seconds | nodes, opted in | pods that run | nodes, not opted in | pods that run |\n")
	b.WriteString("|--:|--:|--:|--:|--:|\n")
	length := max(len(gated), len(ungated))
	step := (length + 11) / 12
	for i := 0; i < length+step-1; i += step {
		one, two := at(gated, i), at(ungated, i)
		fmt.Fprintf(&b, "| %d | %d | %d | %d | %d |\n", min(i, length-1), one.nodes, one.running, two.nodes, two.running)
	}
	var peakGated, peakUngated int
	for _, s := range gated {
		peakGated = max(peakGated, s.nodes)
	}
	for _, s := range ungated {
		peakUngated = max(peakUngated, s.nodes)
	}
	fmt.Fprintf(&b, "\nBought: %d and %d.\n", peakGated-truthNodes, peakUngated-truthNodes)
	return b.String()
}

func at(list []sample, i int) sample {
	return list[min(i, len(list)-1)]
}
