package main

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"headgate/differential/lib"
)

// makeCheckResults lets the controllers of admission checks answer between cycles, with what the
// Workload controller makes of it: no controller runs here.
func (g *generator) makeCheckResults() {
	for _, w := range g.c.workloads {
		name, ok := g.checked[g.c.queueOf(w)]
		if !ok || !g.Chance(0.6) || g.c.isDeleted(w) || g.isUpdated(w) || w.Spec.Active != nil || w.Status.AdmissionChecks == nil {
			continue
		}
		held := w.Status.Admission != nil
		after := g.afterSome()
		w = w.DeepCopy()
		w.Status = kueue.WorkloadStatus{}
		state := lib.Pick(g.Random, kueue.CheckStateReady, kueue.CheckStateRetry, kueue.CheckStateRetry, kueue.CheckStateRejected)
		switch {
		case !held:
			state = lib.Pick(g.Random, kueue.CheckStateReady, kueue.CheckStatePending, state)
		case state == kueue.CheckStateReady && !g.c.stops: // else it may have been preempted before
			g.condition(w, kueue.WorkloadAdmitted, "Admitted", g.c.timeAfter(after))
		case state == kueue.CheckStateReady:
		case state == kueue.CheckStateRetry:
			g.makeRetry(w, name, after)
			continue
		default:
			inactive := false
			w.Generation++
			w.Spec.Active = &inactive
			g.condition(w, kueue.WorkloadEvicted, kueue.WorkloadDeactivated, g.c.timeAfter(after))
		}
		g.addCheckState(w, name, state, after)
		g.c.updates = append(g.c.updates, update{after, w})
	}
}

// timeAfter is the time when things happen after that cycle.
func (c *cluster) timeAfter(cycle int) metav1.Time {
	return metav1.NewTime(now.Add(time.Duration(cycle-1) * c.advance))
}

func (g *generator) isUpdated(w *kueue.Workload) bool {
	return slices.ContainsFunc(g.c.updates, func(u update) bool {
		o, ok := u.object.(*kueue.Workload)
		return ok && o.Namespace == w.Namespace && o.Name == w.Name
	})
}

func (g *generator) addCheckState(w *kueue.Workload, name string, state kueue.CheckState, after int) {
	w.Status.AdmissionChecks = []kueue.AdmissionCheckState{{Name: kueue.AdmissionCheckReference(name), State: state,
		LastTransitionTime: g.c.timeAfter(after), Message: "m"}}
}

// makeRetry: the check asks to try again, at once or later. The Workload is evicted, its checks begin
// anew, and when it has stopped and the time has come, it waits again.
func (g *generator) makeRetry(w *kueue.Workload, name string, after int) {
	at := g.c.timeAfter(after)
	delay := lib.Pick(g.Random, 0, 0, 30*time.Second, 90*time.Second)
	again := w.DeepCopy()
	g.condition(w, kueue.WorkloadEvicted, kueue.WorkloadEvictedByAdmissionCheck, at)
	g.addCheckState(w, name, kueue.CheckStatePending, after)
	if delay > 0 {
		until := metav1.NewTime(at.Add(delay))
		w.Status.RequeueState = &kueue.RequeueState{RequeueAt: &until}
	}
	g.c.updates = append(g.c.updates, update{after, w})
	for later := after + 1; later < g.c.cycles && g.c.stops; later++ {
		due := g.c.timeAfter(later)
		if due.Sub(at.Time) >= delay && g.Chance(0.7) {
			g.condition(again, kueue.WorkloadRequeued, kueue.WorkloadBackoffFinished, due)
			again.Status.RequeueState = &kueue.RequeueState{}
			g.c.updates = append(g.c.updates, update{later, again})
			return
		}
	}
}
