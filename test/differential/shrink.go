package main

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// A shrinker makes a cluster on which the two differ smaller, as long as they still do.
type shrinker struct {
	h         *headgate
	best      *cluster
	kind      int
	signature map[string]bool
}

// How often Kueue is asked about a smaller cluster: a tie that its maps decide must not pass for a
// difference. What comes of it is compared once more, with all tries.
const shrinkTries = 15

// try keeps what change makes of a copy when the difference is still there.
func (s *shrinker) try(change func(c *cluster) bool) bool {
	c := s.best.clone()
	if !change(c) || !valid(c) {
		return false
	}
	v := compare(c, s.h, shrinkTries)
	if v.kind != s.kind || !subset(v.signature(), s.signature) || explain(c, s.h, v, shrinkTries) != "" {
		return false
	}
	s.best = c
	return true
}

func dropped[T any](list []T, i int) []T { return slices.Delete(slices.Clone(list), i, i+1) }

// dropEach tries to leave out the elements of a list of the cluster, last ones first: many at once,
// then fewer.
func dropEach[T any](s *shrinker, list func(c *cluster) *[]T) bool {
	any := false
	for n := max(len(*list(s.best))/2, 1); n > 0; n /= 2 {
		for end := len(*list(s.best)); end > 0; end -= n {
			any = s.try(func(c *cluster) bool {
				l := list(c)
				*l = slices.Delete(slices.Clone(*l), max(end-n, 0), end)
				return true
			}) || any
		}
	}
	return any
}

func (s *shrinker) objects() bool {
	any := dropEach(s, func(c *cluster) *[]*kueue.Workload { return &c.workloads })
	any = dropEach(s, func(c *cluster) *[]*kueue.ClusterQueue { return &c.queues }) || any
	any = dropEach(s, func(c *cluster) *[]*kueue.LocalQueue { return &c.locals }) || any
	any = dropEach(s, func(c *cluster) *[]*kueue.Cohort { return &c.cohorts }) || any
	any = dropEach(s, func(c *cluster) *[]*kueue.ResourceFlavor { return &c.flavors }) || any
	any = dropEach(s, func(c *cluster) *[]*corev1.Namespace { return &c.namespaces }) || any
	any = dropEach(s, func(c *cluster) *[]*kueue.AdmissionCheck { return &c.checks }) || any
	any = dropEach(s, func(c *cluster) *[]update { return &c.updates }) || any
	return dropEach(s, func(c *cluster) *[]deletion { return &c.deletions }) || any
}

func (s *shrinker) settings() bool {
	any := s.try(func(c *cluster) bool { c.stopAfter(c.cycles - 1); return c.cycles > 0 })
	any = s.try(func(c *cluster) bool { was := len(c.costs); c.costs = nil; return was > 0 }) || any
	any = s.try(func(c *cluster) bool { was := c.usage; c.usage = nil; return was != nil }) || any
	any = s.try(func(c *cluster) bool { was := c.stops; c.stops = false; return was }) || any
	any = s.try(func(c *cluster) bool { was := c.advance; c.advance = 0; return was > 0 }) || any
	any = s.try(func(c *cluster) bool { was := c.fair; c.fair, c.strategies = false, nil; return was }) || any
	any = s.try(func(c *cluster) bool {
		was := c.mends.NominalQuotaFirst
		c.mends.NominalQuotaFirst = false
		return was
	}) || any
	for _, name := range sortedKeys(gates) {
		any = s.try(func(c *cluster) bool {
			was := c.gates[name]
			c.gates[name] = gates[name]
			return was != gates[name]
		}) || any
	}
	return any
}

func (s *shrinker) queueFields() bool {
	any := false
	for i := range s.best.queues {
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
			any = s.try(func(c *cluster) bool { return change(&c.queues[i].Spec) }) || any
		}
		any = s.quotaFields(func(c *cluster) *[]kueue.ResourceGroup { return &c.queues[i].Spec.ResourceGroups }) || any
	}
	return any
}

func (s *shrinker) quotaFields(of func(c *cluster) *[]kueue.ResourceGroup) bool {
	any := dropEach(s, of)
	for g := range *of(s.best) {
		any = dropEach(s, func(c *cluster) *[]kueue.FlavorQuotas { return &(*of(c))[g].Flavors }) || any
		for f := range (*of(s.best))[g].Flavors {
			for r := range (*of(s.best))[g].Flavors[f].Resources {
				at := func(c *cluster) *kueue.ResourceQuota { return &(*of(c))[g].Flavors[f].Resources[r] }
				any = s.try(func(c *cluster) bool { was := at(c).BorrowingLimit; at(c).BorrowingLimit = nil; return was != nil }) || any
				any = s.try(func(c *cluster) bool { was := at(c).LendingLimit; at(c).LendingLimit = nil; return was != nil }) || any
			}
		}
		for r := len((*of(s.best))[g].CoveredResources) - 1; r >= 0; r-- {
			any = s.try(func(c *cluster) bool { return dropResource(&(*of(c))[g], r) }) || any
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
	for i := range s.best.cohorts {
		any = s.try(func(c *cluster) bool {
			was := c.cohorts[i].Spec.FairSharing
			c.cohorts[i].Spec.FairSharing = nil
			return was != nil
		}) || any
		any = s.try(func(c *cluster) bool {
			was := c.cohorts[i].Spec.ParentName
			c.cohorts[i].Spec.ParentName = ""
			return was != ""
		}) || any
		any = s.quotaFields(func(c *cluster) *[]kueue.ResourceGroup { return &c.cohorts[i].Spec.ResourceGroups }) || any
	}
	for i := range s.best.flavors {
		any = s.try(func(c *cluster) bool {
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
	for i := range s.best.workloads {
		any = s.try(func(c *cluster) bool {
			w := c.workloads[i]
			was := *w.Spec.Priority != 0
			*w.Spec.Priority = 0
			return was
		}) || any
		any = s.try(func(c *cluster) bool {
			w := c.workloads[i]
			was := w.Status.ReclaimablePods
			w.Status.ReclaimablePods = nil
			return was != nil
		}) || any
		for p := len(s.best.workloads[i].Spec.PodSets) - 1; p >= 0; p-- {
			any = s.podSetFields(i, p) || any
		}
	}
	return any
}

func (s *shrinker) podSetFields(i, p int) bool {
	if s.try(func(c *cluster) bool {
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
	any := s.try(func(c *cluster) bool {
		set := &c.workloads[i].Spec.PodSets[p]
		was := set.MinCount
		set.MinCount = nil
		return was != nil
	})
	any = s.try(func(c *cluster) bool {
		spec := &c.workloads[i].Spec.PodSets[p].Template.Spec
		was := spec.NodeSelector != nil || spec.Affinity != nil || spec.Tolerations != nil
		spec.NodeSelector, spec.Affinity, spec.Tolerations = nil, nil, nil
		return was
	}) || any
	for _, r := range []corev1.ResourceName{"memory", "example.com/gpu", "cpu"} {
		any = s.try(func(c *cluster) bool { return dropRequest(c.workloads[i], p, r) }) || any
	}
	return any
}

// shrink ends when no single change is possible any more.
func shrink(c *cluster, h *headgate, v verdict) *cluster {
	s := &shrinker{h: h, best: c, kind: v.kind, signature: v.signature()}
	for s.settings() || s.objects() || s.queueFields() || s.cohortFields() || s.workloadFields() {
	}
	return s.best
}
