package suite

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"headgate/e2e/oracle"
)

// waitExactly waits until the pods of the namespace for which f holds are these, as the oracle sees
// them. Those of SchedulerSawAll do not count.
func (s *S) waitExactly(what string, f func(oracle.PodState) bool, names []string) {
	s.Helper()
	want := slices.Sorted(slices.Values(names))
	s.Eventually(fmt.Sprintf("%s: %v", what, want), func() error {
		found := slices.DeleteFunc(s.Oracle.Names(s.Namespace, f), func(name string) bool {
			return strings.HasPrefix(name, canary)
		})
		if !slices.Equal(found, want) {
			return fmt.Errorf("now %v", found)
		}
		return nil
	})
}

// WaitPublished waits until exactly these pods are published.
func (s *S) WaitPublished(names ...string) {
	s.Helper()
	s.waitExactly("published", func(p oracle.PodState) bool { return p.Published }, names)
}

// WaitGated waits until exactly these pods have a gate of ours.
func (s *S) WaitGated(names ...string) {
	s.Helper()
	s.waitExactly("gated", func(p oracle.PodState) bool { return p.Gated }, names)
}

// WaitAllRunning waits until exactly these pods run.
func (s *S) WaitAllRunning(names ...string) {
	s.Helper()
	s.waitExactly("running", func(p oracle.PodState) bool { return p.Phase == corev1.PodRunning }, names)
}

// waitEach waits until f holds for each of these pods.
func (s *S) waitEach(what string, f func(oracle.PodState) bool, names []string) {
	s.Helper()
	s.Eventually(fmt.Sprintf("%s: %v", what, names), func() error {
		found := s.Oracle.Names(s.Namespace, f)
		for _, name := range names {
			if !slices.Contains(found, name) {
				return fmt.Errorf("%s not", name)
			}
		}
		return nil
	})
}

// WaitRunning waits until these pods run, whatever others do.
func (s *S) WaitRunning(names ...string) {
	s.Helper()
	s.waitEach("running", func(p oracle.PodState) bool { return p.Phase == corev1.PodRunning }, names)
}

// WaitSucceeded waits until these pods are done.
func (s *S) WaitSucceeded(names ...string) {
	s.Helper()
	s.waitEach("succeeded", func(p oracle.PodState) bool { return p.Phase == corev1.PodSucceeded }, names)
}

// WaitUngated waits until these pods have no gate of ours.
func (s *S) WaitUngated(names ...string) {
	s.Helper()
	s.waitEach("ungated", func(p oracle.PodState) bool { return !p.Gated }, names)
}

// WaitGone waits until these pods are not there any more.
func (s *S) WaitGone(names ...string) {
	s.Helper()
	s.Eventually(fmt.Sprintf("gone: %v", names), func() error {
		for _, name := range s.Oracle.Names(s.Namespace, func(oracle.PodState) bool { return true }) {
			if slices.Contains(names, name) {
				return fmt.Errorf("%s is there", name)
			}
		}
		return nil
	})
}

const canary = "e2e-canary-"

// SchedulerSawAll returns when the scheduler has seen all pods that were created so far and has run
// a cycle with them: it creates one more that waits for nothing, and waits until its gate is off. No
// autoscaler buys a node for it.
func (s *S) SchedulerSawAll() {
	s.Helper()
	s.canaries++
	name := fmt.Sprintf("%s%d", canary, s.canaries)
	s.Pod(name, Opted, Select("e2e.headgate.io/canary", "none"))
	s.WaitUngated(name)
	s.DeletePod(name)
}

// schedulerSawNode returns when a pod that fits nowhere else was bound to the node.
func (s *S) schedulerSawNode(node string, options ...PodOption) {
	s.Helper()
	s.canaries++
	name := fmt.Sprintf("%s%d", canary, s.canaries)
	s.Pod(name, append(options, Select(corev1.LabelHostname, node))...)
	s.waitEach("bound", func(p oracle.PodState) bool { return p.Node == node }, []string{name})
	s.DeletePod(name)
}

// Moment is when something happened to a pod, by resourceVersion.
type Moment struct {
	what string
	rv   int64
}

// first finds the first state of a pod for which f holds; it has to have happened.
func (s *S) first(name, what string, f func(oracle.PodState) bool) Moment {
	s.Helper()
	state, there := s.Oracle.First(s.Namespace+"/"+name, f)
	if !there {
		s.Fatalf("%s was never %s: %+v", name, what, s.Oracle.Timeline(s.Namespace+"/"+name))
	}
	return Moment{what: name + " " + what, rv: state.RV}
}

// Ungated is the moment in which the pod was first seen without a gate of ours.
func (s *S) Ungated(name string) Moment {
	s.Helper()
	return s.first(name, "ungated", func(p oracle.PodState) bool { return !p.Gated })
}

// Published is the moment in which the pod was first published.
func (s *S) Published(name string) Moment {
	s.Helper()
	return s.first(name, "published", func(p oracle.PodState) bool { return p.Published })
}

// Bound is the moment in which the pod got its node.
func (s *S) Bound(name string) Moment {
	s.Helper()
	return s.first(name, "bound", func(p oracle.PodState) bool { return p.Node != "" })
}

// Gone is the moment in which the pod's object was removed.
func (s *S) Gone(name string) Moment {
	s.Helper()
	return s.first(name, "gone", func(p oracle.PodState) bool { return p.Deleted })
}

// Succeeded is the moment in which the pod was done.
func (s *S) Succeeded(name string) Moment {
	s.Helper()
	return s.first(name, "succeeded", func(p oracle.PodState) bool { return p.Phase == corev1.PodSucceeded })
}

// RV is the resourceVersion of the moment.
func (m Moment) RV() int64 { return m.rv }

// Before fails the test unless a came before b.
func (s *S) Before(why string, a, b Moment) {
	s.Helper()
	if a.rv >= b.rv {
		s.Errorf("%s: %s (resourceVersion %d) before %s (%d)", why, b.what, b.rv, a.what, a.rv)
	}
}
