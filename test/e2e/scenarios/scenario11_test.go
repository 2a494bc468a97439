package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/cluster"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// asked is what the scheduler asks the API server for from a moment on.
type asked struct {
	s    *suite.S
	from int64
}

func askedFromNow(s *suite.S) *asked {
	s.Helper()
	_, from, err := s.Cluster.Requests(0)
	s.Must(err)
	return &asked{s, from}
}

// about are the requests that write one of these pods; what "": whatever of it.
func (a *asked) about(what string, pods ...string) []cluster.Request {
	a.s.Helper()
	all, _, err := a.s.Cluster.Requests(a.from)
	a.s.Must(err)
	return slices.DeleteFunc(all, func(r cluster.Request) bool {
		return r.User != account("scheduler") || !slices.Contains(pods, r.Name) || !strings.HasPrefix(r.What, "pods") ||
			(what != "" && r.What != what)
	})
}

// evictions of these pods that were granted, and that were refused.
func (a *asked) evictions(pods ...string) (granted, refused []cluster.Request) {
	a.s.Helper()
	for _, r := range a.about("pods/eviction", pods...) {
		if r.Code < 300 {
			granted = append(granted, r)
		} else {
			refused = append(refused, r)
		}
	}
	return granted, refused
}

// wantEvictions fails unless so many evictions of these pods were granted and none was refused, and none was deleted.
func (a *asked) wantEvictions(n int, pods ...string) {
	a.s.Helper()
	granted, refused := a.evictions(pods...)
	if len(granted) != n || len(refused) > 0 {
		a.s.Errorf("evictions: want %d and no refusal, granted %v, refused %v", n, granted, refused)
	}
	for _, r := range a.about("pods", pods...) {
		if r.Verb == "delete" {
			a.s.Errorf("deleted past the Eviction API: %v", r)
		}
	}
}

const heldFinalizer = "e2e.headgate.io/held"

// held keeps a pod that is evicted from going until it is released.
func held(p *corev1.Pod) { p.Finalizers = append(p.Finalizers, heldFinalizer) }

// release lets pods go that are held.
func release(s *suite.S, names ...string) {
	for _, name := range names {
		_, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).Patch(s.Ctx, name, types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err != nil && !strings.Contains(err.Error(), "not found") {
			s.Error(err)
		}
	}
}

// terminating are the pods of these that were deleted and are still there.
func terminating(s *suite.S, names ...string) []string {
	s.Helper()
	var found []string
	for _, name := range names {
		p, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).Get(s.Ctx, name, metav1.GetOptions{})
		if err == nil && p.DeletionTimestamp != nil {
			found = append(found, name)
		}
	}
	return found
}

// waitTerminating waits until so many pods of these are deleted and still there, and returns them.
func waitTerminating(s *suite.S, n int, names ...string) []string {
	s.Helper()
	var found []string
	s.Eventually(fmt.Sprintf("%d of %v terminate", n, names), func() error {
		if found = terminating(s, names...); len(found) != n {
			return fmt.Errorf("%v", found)
		}
		return nil
	})
	return found
}

// cpu is the only request of the pod.
func cpu(amount string) suite.PodOption {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(amount)}
	}
}

func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", prefix, i)
	}
	return names
}

// makePods makes the pods and returns their names.
func makePods(s *suite.S, prefix string, n int, options ...suite.PodOption) []string {
	s.Helper()
	names := numbered(prefix, n)
	for _, name := range names {
		s.Pod(name, options...)
	}
	return names
}

// without are the names that are not among the others.
func without(names []string, others ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(others, n) })
}

// A gang behind the gate in a full queue: as many pods are evicted as it lacks, and no more; its gates come off, all at
// once, when the last victim is gone. A gang that would not have enough of all victims together has none evicted.
func TestScenario11GatedGangPreempts(t *testing.T) {
	s := suite.StartEvicting(t)
	a := askedFromNow(s)
	s.Nodes(4, "2", "4Gi")
	q := s.Queue("q", "8", "16Gi")
	high := highClass(s)
	low := makePods(s, "low", 4, suite.Opted, suite.Queue(q), cpu("2"), held)
	s.Cleanup(func() { release(s, low...) })
	s.WaitRunning(low...)

	s.PodGroupOf("large", q, high, 5, nil)
	large := makePods(s, "large", 5, suite.Opted, suite.Group("large"), suite.Priority(high), cpu("2"))
	s.SchedulerSawAll()
	s.WaitGated(large...)
	a.wantEvictions(0, low...)

	s.PodGroupOf("gang", q, high, 3, nil)
	gang := makePods(s, "gang", 3, suite.Opted, suite.Group("gang"), suite.Priority(high), cpu("2"))
	victims := waitTerminating(s, 3, low...)
	waitEvent(s, "gang", "AwaitingVictims")
	// Quota that is free already is for the gang alone, and too little for it.
	s.Pod("late", suite.Opted, suite.Queue(q), cpu("2"))
	for _, v := range victims[:2] {
		release(s, v)
		s.WaitGone(v)
		s.SchedulerSawAll()
		s.WaitGated(slices.Concat(large, gang, []string{"late"})...)
	}
	release(s, victims[2])
	s.WaitRunning(gang...)
	for _, name := range gang {
		for _, v := range victims {
			s.Before("the gang waits for the quota of its victims", s.Gone(v), s.Ungated(name))
		}
	}
	neverPublished(s, gang...)
	s.SchedulerSawAll()
	s.WaitAllRunning(append(without(low, victims...), gang...)...)
	s.WaitGated(append(large, "late")...)
	a.wantEvictions(3, low...)
	none(s, "EvictedInVain")
}

// A gang without gates gets the nodes of pods of a lower priority, if they are enough for all of it: pods that say that
// they are not to be preempted are not counted.
func TestScenario11GangPreempts(t *testing.T) {
	s := suite.StartEvicting(t)
	a := askedFromNow(s)
	s.Nodes(4, "2", "4Gi")
	q := s.Queue("q", "", "")
	high := highClass(s)
	low := makePods(s, "low", 2, suite.Queue(q), cpu("2"))
	kept := makePods(s, "kept", 2, suite.Queue(q), cpu("2"), suite.Annotation("volcano.sh/preemptable", "false"))
	s.WaitRunning(append(low, kept...)...)

	s.PodGroupOf("gang", q, high, 3, nil)
	gang := makePods(s, "gang", 3, suite.Group("gang"), suite.Priority(high), cpu("2"))
	waitEvent(s, gang[2], "FailedScheduling")
	s.SchedulerSawAll()
	s.WaitAllRunning(append(low, kept...)...)
	a.wantEvictions(0, append(low, kept...)...)

	// Now there are enough: one node is free, and two are to be had.
	s.DeletePod(kept[1])
	s.WaitRunning(gang...)
	s.SchedulerSawAll()
	s.WaitAllRunning(append(gang, kept[0])...)
	a.wantEvictions(2, append(low, kept...)...)
	for _, v := range low {
		waitEvent(s, v, "Preempted")
		for _, name := range gang {
			s.Before("the gang is bound together", s.Gone(v), s.Bound(name))
		}
	}
	none(s, "EvictedInVain")
}

// neverPublished fails if an autoscaler could have bought a node for one of these pods.
func neverPublished(s *suite.S, names ...string) {
	s.Helper()
	for _, name := range s.Oracle.EverPublished(s.Namespace) {
		if slices.Contains(names, name) {
			s.Errorf("%s was published, although it waited for its victims or for quota", name)
		}
	}
}

// none fails if there is such an event in the namespace.
func none(s *suite.S, reason string) {
	s.Helper()
	list, err := s.Cluster.Client.CoreV1().Events(s.Namespace).List(s.Ctx,
		metav1.ListOptions{FieldSelector: "reason=" + reason})
	s.Must(err)
	for _, e := range list.Items {
		s.Errorf("event %s on %s: %s", reason, e.InvolvedObject.Name, e.Message)
	}
}

// Across queues: a gang gets what its queue deserves and has not, as a whole or not at all, from queues that have more
// than they deserve, and none falls below its guarantee.
func TestScenario11GatedGangReclaims(t *testing.T) {
	s := suite.StartEvicting(t)
	a := askedFromNow(s)
	s.Nodes(5, "2", "4Gi")
	parent := s.Queue("parent", "10", "20Gi")
	mine := s.Queue("mine", "", "", suite.Parent(parent), suite.Deserved("6", "6Gi"))
	much := s.Queue("much", "", "", suite.Parent(parent), suite.Deserved("2", "2Gi"))
	// It has more than it deserves, and less than it is guaranteed with one pod less.
	safe := s.Queue("safe", "", "", suite.Parent(parent), suite.Guarantee("3", "1Gi"))
	safes := makePods(s, "safe", 2, suite.Opted, suite.Queue(safe), cpu("2"), held)
	muches := makePods(s, "much", 3, suite.Opted, suite.Queue(much), cpu("2"), held)
	victims := append(safes, muches...)
	s.Cleanup(func() { release(s, victims...) })
	s.WaitRunning(victims...)

	// Three pods are within what the queue deserves; two is all that others have beyond theirs.
	s.PodGroup("three", mine, 3, nil)
	three := makePods(s, "three", 3, suite.Opted, suite.Group("three"), cpu("2"))
	s.SchedulerSawAll()
	s.WaitGated(three...)
	a.wantEvictions(0, victims...)

	s.PodGroup("two", mine, 2, nil)
	two := makePods(s, "two", 2, suite.Opted, suite.Group("two"), cpu("2"))
	gone := waitTerminating(s, 2, victims...)
	release(s, gone[0])
	s.WaitGone(gone[0])
	s.SchedulerSawAll()
	s.WaitGated(append(three, two...)...)
	release(s, gone[1])
	s.WaitRunning(two...)
	for _, name := range gone {
		waitEvent(s, name, "Reclaimed")
		if !strings.HasPrefix(name, "much-") {
			t.Errorf("%s was evicted, of a queue that had nothing to spare", name)
		}
		for _, w := range two {
			s.Before("the gang waits for the quota of its victims", s.Gone(name), s.Ungated(w))
		}
	}
	// The queue deserves one more; there is none left to take it from.
	s.Pod("one", suite.Opted, suite.Queue(mine), cpu("2"))
	s.SchedulerSawAll()
	s.WaitGated(append(three, "one")...)
	s.WaitAllRunning(append(without(victims, gone...), two...)...)
	a.wantEvictions(2, victims...)
	none(s, "EvictedInVain")
	neverPublished(s, append(three, append(two, "one")...)...)
}

// A queue takes no more than it deserves, however much others have beyond theirs.
func TestScenario11ReclaimsWhatItDeserves(t *testing.T) {
	s := suite.StartEvicting(t)
	a := askedFromNow(s)
	s.Nodes(4, "2", "4Gi")
	parent := s.Queue("parent", "8", "20Gi")
	mine := s.Queue("mine", "", "", suite.Parent(parent), suite.Deserved("4", "4Gi"))
	much := s.Queue("much", "", "", suite.Parent(parent), suite.Deserved("2", "2Gi"))
	victims := makePods(s, "much", 4, suite.Opted, suite.Queue(much), cpu("2"))
	s.WaitRunning(victims...)
	s.PodGroup("three", mine, 3, nil)
	three := makePods(s, "three", 3, suite.Opted, suite.Group("three"), cpu("2"))
	s.SchedulerSawAll()
	s.WaitGated(three...)
	a.wantEvictions(0, victims...)
	// Of three pods on their own two are within it.
	makePods(s, "single", 3, suite.Opted, suite.Queue(mine), cpu("2"))
	s.Eventually("two pods have their quota", func() error {
		if have := holding(s, "single-"); len(have) != 2 {
			return fmt.Errorf("%v", have)
		}
		return nil
	})
	s.WaitRunning(holding(s, "single-")...)
	s.SchedulerSawAll()
	running := s.Oracle.Names(s.Namespace, func(p oracle.PodState) bool { return p.Phase == corev1.PodRunning })
	if left := holding(s, "much-"); len(left) != 2 || len(running) != 4 {
		t.Errorf("%v are left, %v run", left, running)
	}
	a.wantEvictions(2, victims...)
	none(s, "EvictedInVain")
}
