package main

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"headgate/differential/lib"
)

type shrinker struct{ lib.Shrinker[*cluster] }

// How often Kueue is asked about a smaller cluster: a tie that its maps decide must not pass for a
// difference. What comes of it is compared once more, with all tries.
const shrinkTries = 15

func dropped[T any](list []T, i int) []T { return slices.Delete(slices.Clone(list), i, i+1) }

func (s *shrinker) objects() bool {
	any := lib.DropEach(&s.Shrinker, func(c *cluster) *[]*kueue.Workload { return &c.workloads })
	any = lib.DropEach(&s.Shrinker, func(c *cluster) *[]*kueue.ClusterQueue { return &c.queues }) || any
	any = lib.DropEach(&s.Shrinker, func(c *cluster) *[]*kueue.LocalQueue { return &c.locals }) || any
	any = lib.DropEach(&s.Shrinker, func(c *cluster) *[]*kueue.Cohort { return &c.cohorts }) || any
	any = lib.DropEach(&s.Shrinker, func(c *cluster) *[]*kueue.ResourceFlavor { return &c.flavors }) || any
	any = lib.DropEach(&s.Shrinker, func(c *cluster) *[]*corev1.Namespace { return &c.namespaces }) || any
	any = lib.DropEach(&s.Shrinker, func(c *cluster) *[]*kueue.AdmissionCheck { return &c.checks }) || any
	any = lib.DropEach(&s.Shrinker, func(c *cluster) *[]update { return &c.updates }) || any
	return lib.DropEach(&s.Shrinker, func(c *cluster) *[]deletion { return &c.deletions }) || any
}

func (s *shrinker) settings() bool {
	any := s.Try(func(c *cluster) bool { c.stopAfter(c.cycles - 1); return c.cycles > 0 })
	any = s.Try(func(c *cluster) bool { was := len(c.costs); c.costs = nil; return was > 0 }) || any
	any = s.Try(func(c *cluster) bool { was := c.usage; c.usage = nil; return was != nil }) || any
	any = s.Try(func(c *cluster) bool { was := c.stops; c.stops = false; return was }) || any
	any = s.Try(func(c *cluster) bool { was := c.advance; c.advance = 0; return was > 0 }) || any
	any = s.Try(func(c *cluster) bool { was := c.fair; c.fair, c.strategies = false, nil; return was }) || any
	any = s.Try(func(c *cluster) bool {
		was := c.mends.NominalQuotaFirst
		c.mends.NominalQuotaFirst = false
		return was
	}) || any
	for _, name := range lib.SortedKeys(gates) {
		any = s.Try(func(c *cluster) bool {
			was := c.gates[name]
			c.gates[name] = gates[name]
			return was != gates[name]
		}) || any
	}
	return any
}

func (s *shrinker) queueFields() bool {
	any := false
	for i := range s.Best.queues {
		for _, change := range []func(spec *kueue.ClusterQueueSpec) bool{
			func(q *kueue.ClusterQueueSpec) bool {
				was := q.CohortName != ""
				q.CohortName = ""
				withoutLimits(q.ResourceGroups)
				return was
			},
			func(q *kueue.ClusterQueueSpec) bool {
				was := q.QueueingStrategy != kueue.BestEffortFIFO
				q.QueueingStrategy = kueue.BestEffortFIFO
				return was
			},
			func(q *kueue.ClusterQueueSpec) bool {
				was := q.Preemption.WithinClusterQueue != kueue.PreemptionPolicyNever
				q.Preemption.WithinClusterQueue = kueue.PreemptionPolicyNever
				return was
			},
			func(q *kueue.ClusterQueueSpec) bool {
				was := q.Preemption.BorrowWithinCohort.Policy != kueue.BorrowWithinCohortPolicyNever
				q.Preemption.BorrowWithinCohort = &kueue.BorrowWithinCohort{Policy: kueue.BorrowWithinCohortPolicyNever}
				return was
			},
			func(q *kueue.ClusterQueueSpec) bool {
				was := q.Preemption.ReclaimWithinCohort != kueue.PreemptionPolicyNever
				q.Preemption.ReclaimWithinCohort = kueue.PreemptionPolicyNever
				return was && q.Preemption.BorrowWithinCohort.Policy == kueue.BorrowWithinCohortPolicyNever
			},
			func(q *kueue.ClusterQueueSpec) bool {
				was := q.FlavorFungibility.Preference != nil
				q.FlavorFungibility.Preference = nil
				return was
			},
			func(q *kueue.ClusterQueueSpec) bool {
				was := q.FairSharing != nil
				q.FairSharing = nil
				return was
			},
		} {
			any = s.Try(func(c *cluster) bool { return change(&c.queues[i].Spec) }) || any
		}
		any = s.quotaFields(func(c *cluster) *[]kueue.ResourceGroup { return &c.queues[i].Spec.ResourceGroups }) || any
	}
	return any
}

func (s *shrinker) quotaFields(of func(c *cluster) *[]kueue.ResourceGroup) bool {
	any := lib.DropEach(&s.Shrinker, of)
	for g := range *of(s.Best) {
		any = lib.DropEach(&s.Shrinker, func(c *cluster) *[]kueue.FlavorQuotas { return &(*of(c))[g].Flavors }) || any
		for f := range (*of(s.Best))[g].Flavors {
			for r := range (*of(s.Best))[g].Flavors[f].Resources {
				at := func(c *cluster) *kueue.ResourceQuota { return &(*of(c))[g].Flavors[f].Resources[r] }
				any = s.Try(func(c *cluster) bool { was := at(c).BorrowingLimit; at(c).BorrowingLimit = nil; return was != nil }) || any
				any = s.Try(func(c *cluster) bool { was := at(c).LendingLimit; at(c).LendingLimit = nil; return was != nil }) || any
			}
		}
		for r := len((*of(s.Best))[g].CoveredResources) - 1; r >= 0; r-- {
			any = s.Try(func(c *cluster) bool { return dropResource(&(*of(c))[g], r) }) || any
		}
	}
	return any
}

func withoutLimits(groups []kueue.ResourceGroup) {
	for _, g := range groups {
		for _, f := range g.Flavors {
			for r := range f.Resources {
				f.Resources[r].BorrowingLimit, f.Resources[r].LendingLimit = nil, nil
			}
		}
	}
}

func dropResource(g *kueue.ResourceGroup, i int) bool {
	if len(g.CoveredResources) < 2 {
		return false
	}
	g.CoveredResources = dropped(g.CoveredResources, i)
	for f := range g.Flavors {
		g.Flavors[f].Resources = dropped(g.Flavors[f].Resources, i)
	}
	return true
}

func (s *shrinker) cohortFields() bool {
	any := false
	for i := range s.Best.cohorts {
		any = s.Try(func(c *cluster) bool {
			was := c.cohorts[i].Spec.FairSharing
			c.cohorts[i].Spec.FairSharing = nil
			return was != nil
		}) || any
		any = s.Try(func(c *cluster) bool {
			was := c.cohorts[i].Spec.ParentName
			c.cohorts[i].Spec.ParentName = ""
			return was != ""
		}) || any
		any = s.quotaFields(func(c *cluster) *[]kueue.ResourceGroup { return &c.cohorts[i].Spec.ResourceGroups }) || any
	}
	for i := range s.Best.flavors {
		any = s.Try(func(c *cluster) bool {
			spec := &c.flavors[i].Spec
			was := len(spec.NodeTaints)+len(spec.NodeLabels)+len(spec.Tolerations) > 0
			*spec = kueue.ResourceFlavorSpec{}
			return was
		}) || any
	}
	return any
}

func dropRequest(w *kueue.Workload, podSet int, r corev1.ResourceName) bool {
	requests := w.Spec.PodSets[podSet].Template.Spec.Containers[0].Resources.Requests
	if _, ok := requests[r]; !ok || len(requests) < 2 {
		return false
	}
	delete(requests, r)
	if a := w.Status.Admission; a != nil {
		delete(a.PodSetAssignments[podSet].Flavors, r)
		delete(a.PodSetAssignments[podSet].ResourceUsage, r)
	}
	return true
}

func (s *shrinker) workloadFields() bool {
	any := false
	for i := range s.Best.workloads {
		any = s.Try(func(c *cluster) bool {
			w := c.workloads[i]
			was := *w.Spec.Priority != 0
			*w.Spec.Priority = 0
			return was
		}) || any
		any = s.Try(func(c *cluster) bool {
			w := c.workloads[i]
			was := w.Status.ReclaimablePods
			w.Status.ReclaimablePods = nil
			return was != nil
		}) || any
		for p := len(s.Best.workloads[i].Spec.PodSets) - 1; p >= 0; p-- {
			any = s.podSetFields(i, p) || any
		}
	}
	return any
}

func (s *shrinker) podSetFields(i, p int) bool {
	if s.Try(func(c *cluster) bool {
		w := c.workloads[i]
		if len(w.Spec.PodSets) < 2 || w.Status.ReclaimablePods != nil {
			return false
		}
		w.Spec.PodSets = dropped(w.Spec.PodSets, p)
		if a := w.Status.Admission; a != nil {
			a.PodSetAssignments = dropped(a.PodSetAssignments, p)
		}
		return true
	}) {
		return true
	}
	any := s.Try(func(c *cluster) bool {
		set := &c.workloads[i].Spec.PodSets[p]
		was := set.MinCount
		set.MinCount = nil
		return was != nil
	})
	any = s.Try(func(c *cluster) bool {
		spec := &c.workloads[i].Spec.PodSets[p].Template.Spec
		was := spec.NodeSelector != nil || spec.Affinity != nil || spec.Tolerations != nil
		spec.NodeSelector, spec.Affinity, spec.Tolerations = nil, nil, nil
		return was
	}) || any
	for _, r := range []corev1.ResourceName{"memory", "example.com/gpu", "cpu"} {
		any = s.Try(func(c *cluster) bool { return dropRequest(c.workloads[i], p, r) }) || any
	}
	return any
}

// shrink ends when no single change is possible any more.
func shrink(c *cluster, h *headgate, v verdict) *cluster {
	signature := v.signature()
	s := &shrinker{lib.Shrinker[*cluster]{Best: c, Clone: (*cluster).clone, Differs: func(c *cluster) bool {
		if !valid(c) {
			return false
		}
		w := compare(c, h, shrinkTries)
		return w.Kind == v.Kind && lib.Subset(w.signature(), signature) && explain(c, h, w, shrinkTries) == ""
	}}}
	for s.settings() || s.objects() || s.queueFields() || s.cohortFields() || s.workloadFields() {
	}
	return s.Best
}
