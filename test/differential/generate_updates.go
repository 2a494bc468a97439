package main

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"headgate/differential/lib"
)

// makeUpdates lets things happen between cycles: Workloads arrive, users edit queues, cohorts and
// priorities, Workloads end, pods of running ones are reclaimable, victims stop, time passes.
func (g *generator) makeUpdates() {
	if g.c.cycles == 1 {
		return
	}
	g.c.stops = g.Chance(0.4) || (len(g.c.checks) > 0 && g.Chance(0.5))
	g.c.advance = lib.Pick(g.Random, 0, 0, time.Second, time.Minute)
	if g.fading {
		g.c.advance = lib.Pick(g.Random, time.Minute, 5*time.Minute, 10*time.Minute)
	}
	if g.mutual {
		g.c.stops = true
		if g.Chance(0.7) {
			return
		}
	}
	if g.Chance(0.5) {
		g.makeArrivals()
	}
	if g.Chance(0.4) {
		g.makeQuotaEdits()
	}
	if g.Chance(0.4) {
		g.makeWorkloadEdits()
	}
	g.makeCheckResults()
	if g.Chance(0.15) || (g.fading && g.Chance(0.3)) {
		g.makeStops()
	}
	slices.SortStableFunc(g.c.updates, func(a, b update) int { return a.after - b.after })
}

func (g *generator) afterSome() int { return g.Between(1, g.c.cycles-1) }

// makeArrivals takes Workloads that wait out of the cluster; they are created later.
func (g *generator) makeArrivals() {
	g.c.workloads = slices.DeleteFunc(g.c.workloads, func(w *kueue.Workload) bool {
		if w.Status.Admission != nil || !g.Chance(0.4) || g.c.isDeleted(w) {
			return false
		}
		after := g.afterSome()
		w.CreationTimestamp = metav1.NewTime(now.Add(time.Duration(after) * g.c.advance))
		g.c.updates = append(g.c.updates, update{after, w})
		return true
	})
}

// isDeleted: the Workload is deleted after some cycle, and would be updated in vain.
func (c *cluster) isDeleted(w *kueue.Workload) bool {
	return slices.ContainsFunc(c.deletions, func(d deletion) bool { return d.workload == w.Namespace+"/"+w.Name })
}

// editQuota changes one nominal quota.
func (g *generator) editQuota(groups []kueue.ResourceGroup) {
	if len(groups) == 0 {
		return
	}
	f := lib.Pick(g.Random, lib.Pick(g.Random, groups...).Flavors...)
	r := &f.Resources[g.IntN(len(f.Resources))]
	r.NominalQuota = g.quantity(r.Name, lib.Pick(g.Random, 0, 1, 2, 4, 8, 12))
	if r.LendingLimit != nil && r.LendingLimit.Cmp(r.NominalQuota) > 0 {
		*r.LendingLimit = r.NominalQuota
	}
}

func (g *generator) makeQuotaEdits() {
	for _, q := range g.c.queues {
		if !g.Chance(0.35) {
			continue
		}
		q = q.DeepCopy()
		q.Generation++
		switch g.IntN(8) {
		case 3:
			if cohorts := lib.SortedKeys(g.tree); q.Spec.CohortName != "" {
				q.Spec.CohortName = kueue.CohortReference(lib.Pick(g.Random, cohorts...))
			}
		case 4:
			q.Spec.StopPolicy = g.otherPolicy(q.Spec.StopPolicy)
		case 0:
			q.Spec.Preemption = g.preemption()
		case 1:
			q.Spec.FlavorFungibility = g.fungibility()
		case 2:
			q.Spec.FairSharing = g.weight()
		default:
			g.editQuota(q.Spec.ResourceGroups)
		}
		g.c.updates = append(g.c.updates, update{g.afterSome(), q})
	}
	for _, co := range g.c.cohorts {
		if g.Chance(0.2) {
			co = co.DeepCopy()
			co.Generation++
			g.editQuota(co.Spec.ResourceGroups)
			g.c.updates = append(g.c.updates, update{g.afterSome(), co})
		}
	}
}

func (g *generator) makeWorkloadEdits() {
	for _, w := range g.c.workloads {
		if !g.Chance(0.25) || g.c.isDeleted(w) || w.Spec.Active != nil { // Kueue wakes others for one that is not active
			continue
		}
		held := w.Status.Admission != nil
		w = w.DeepCopy()
		w.Status = kueue.WorkloadStatus{}
		after := g.afterSome()
		switch {
		case held && g.Chance(0.4):
			at := metav1.NewTime(now.Add(time.Duration(after) * g.c.advance))
			g.condition(w, kueue.WorkloadFinished, kueue.WorkloadFinishedReasonSucceeded, at)
		case held && g.Chance(0.5) && w.Spec.PodSets[0].Count > 1:
			w.Status.ReclaimablePods = []kueue.ReclaimablePod{{Name: w.Spec.PodSets[0].Name, Count: 1}}
		default:
			w.Generation++
			priority := (*w.Spec.Priority + int32(g.Between(1, g.priorities))) % int32(g.priorities+1) // another one
			w.Spec.Priority = &priority
		}
		g.c.updates = append(g.c.updates, update{after, w})
	}
}

// otherPolicy stops what runs, and the other way round.
func (g *generator) otherPolicy(p *kueue.StopPolicy) *kueue.StopPolicy {
	other := kueue.None
	if *p == kueue.None {
		other = kueue.Hold
	}
	return &other
}

// makeStops stops LocalQueues, or lets them go on. From one that is drained its Workloads are evicted,
// and most of them wait again when it goes on, as the Workload controller does.
func (g *generator) makeStops() {
	for _, l := range g.c.locals {
		if !g.Chance(0.4) {
			continue
		}
		after, again := g.afterSome(), 0
		l = l.DeepCopy()
		l.Generation++
		l.Spec.StopPolicy = g.otherPolicy(l.Spec.StopPolicy)
		g.c.updates = append(g.c.updates, update{after, l})
		if after < g.c.cycles-1 && g.Chance(0.4) {
			again = g.Between(after+1, g.c.cycles-1)
			back := l.DeepCopy()
			back.Generation++
			back.Spec.StopPolicy = g.otherPolicy(l.Spec.StopPolicy)
			g.c.updates = append(g.c.updates, update{again, back})
		}
		if *l.Spec.StopPolicy == kueue.None || g.Chance(0.5) {
			continue
		}
		*l.Spec.StopPolicy = kueue.HoldAndDrain
		for _, w := range g.c.workloads {
			if w.Namespace != l.Namespace || string(w.Spec.QueueName) != l.Name || w.Status.Admission == nil ||
				g.c.isDeleted(w) || g.isUpdated(w) || len(w.Status.Conditions) > 2 {
				continue
			}
			w = w.DeepCopy()
			w.Status = kueue.WorkloadStatus{}
			back := w.DeepCopy()
			g.condition(w, kueue.WorkloadEvicted, kueue.WorkloadEvictedByLocalQueueStopped, g.c.timeAfter(after))
			g.c.updates = append(g.c.updates, update{after, w})
			if again > 0 && g.Chance(0.8) {
				g.condition(back, kueue.WorkloadRequeued, kueue.WorkloadLocalQueueRestarted, g.c.timeAfter(again))
				g.c.updates = append(g.c.updates, update{again, back})
			}
		}
	}
}
