package main

import (
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"headgate/differential/lib"
)

// The gate with which Kueue gives the reasons that are compared.
const reasons = "UnadmittedWorkloadsObservability"

const apiVersion = "kueue.x-k8s.io/v1beta2"

// The gates that change decisions, and how they are by default in the version that is the target.
var gates = map[string]bool{
	"PartialAdmission":                                true,
	"FlavorFungibility":                               true,
	"PrioritySortingWithinCohort":                     true,
	"FairSharingPreemptWithinNominal":                 true,
	"FairSharingPrioritizeNonBorrowing":               true,
	"SchedulingEquivalenceHashing":                    true,
	"RecomputeAssignmentUponPreemptionTargetsOverlap": true,
	"FlavorFungibilityPreserveScanProgress":           true,
	"PrioritizePreemptorWorkloads":                    false,
	"PriorityBoost":                                   false,
	reasons:                                           true,
}

// A generator makes one cluster from a seed.
type generator struct {
	lib.Random
	c          *cluster
	groups     []group
	ties       bool // creation times from few values
	contested  bool // one tree, where lower priorities hold much of the quota
	mutual     bool // contested, and workloads of several queues may preempt each other
	usage      bool // admission fair sharing
	fading     bool // usage, and time in which it fades
	priorities int
	checked    map[*kueue.ClusterQueue]string // the check that all flavors of it need
	tree       map[string]string              // parent of each cohort
}

// A group of resources as every ClusterQueue has it, or a part of it.
type group struct {
	resources []corev1.ResourceName
	flavors   []string
}

func object(kind, namespace, name string) (metav1.TypeMeta, metav1.ObjectMeta) {
	return metav1.TypeMeta{APIVersion: apiVersion, Kind: kind},
		metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name), Generation: 1}
}

func generate(seed uint64) *cluster {
	g := &generator{Random: lib.NewRandom(seed), tree: map[string]string{}}
	g.c = &cluster{gates: map[string]bool{}, cycles: lib.Pick(g.Random, 1, 1, 2, 3, 4, 7)}
	g.ties = g.Chance(0.1)
	g.priorities = lib.Pick(g.Random, 1, 2, 3, 4)
	g.contested = g.Chance(0.3)
	g.usage = g.Chance(0.25)
	switch {
	case g.Chance(0.15):
		g.beginMutual()
	case g.Chance(0.1):
		g.beginFading()
	}
	g.makeGates()
	g.makeNamespaces()
	if g.mutual {
		g.makeMutual()
	} else {
		g.makeTrees()
	}
	if !g.mutual && g.Chance(0.25) {
		g.makeChecks()
	}
	if !g.mutual && g.Chance(0.15) {
		g.makeHolds()
	}
	if g.usage {
		g.makeUsage()
	}
	if g.Chance(0.1) {
		g.makeCosts()
	}
	g.makeDeletions()
	g.makeUpdates()
	g.c.mends.NominalQuotaFirst = g.Chance(0.4)
	g.c.mends.PreemptionEnds = true
	return g.c
}

// makeTrees makes flavors, cohorts, queues and Workloads.
func (g *generator) makeTrees() {
	g.makeFlavors()
	g.makeCohorts()
	most := 6
	if g.fading {
		most = 2
	}
	for i := range g.Between(1, most) {
		g.makeQueue(fmt.Sprintf("q%d", i))
	}
	g.makeHolders()
	for i := range g.Between(1, 10) {
		g.c.workloads = append(g.c.workloads, g.makeWorkload(fmt.Sprintf("p%d", i)))
	}
}

// withDefaults takes all gates back to Headgate's defaults.
func (c *cluster) withDefaults() {
	maps.Copy(c.gates, gates)
	c.gates["PrioritizePreemptorWorkloads"] = true
	c.mends.NominalQuotaFirst = true
}

func (g *generator) makeGates() {
	flip := g.Chance(0.25)
	for _, name := range lib.SortedKeys(gates) {
		g.c.gates[name] = gates[name] != (flip && name != reasons && g.Chance(0.25))
	}
	// On by default in Headgate, off in Kueue.
	if g.Chance(0.5) {
		g.c.gates["PrioritizePreemptorWorkloads"] = true
	}
	if g.Chance(0.45) {
		g.c.fair = true
		g.c.strategies = lib.Pick(g.Random, nil, []string{"LessThanOrEqualToFinalShare"}, []string{"LessThanInitialShare"},
			[]string{"LessThanOrEqualToFinalShare", "LessThanInitialShare"})
	}
}

func (g *generator) makeNamespaces() {
	for _, name := range []string{"a", "b"} {
		g.c.namespaces = append(g.c.namespaces, &corev1.Namespace{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": name}},
		})
	}
}

func (g *generator) makeFlavors() {
	first := group{resources: []corev1.ResourceName{"cpu"}}
	if g.Chance(0.25) {
		first.resources = append(first.resources, "memory")
	}
	for i := range g.Between(1, 3) {
		first.flavors = append(first.flavors, fmt.Sprintf("f%d", i))
	}
	g.groups = append(g.groups, first)
	switch {
	case g.Chance(0.25):
		second := group{resources: []corev1.ResourceName{"example.com/gpu"}}
		for i := range g.Between(1, 2) {
			second.flavors = append(second.flavors, fmt.Sprintf("g%d", i))
		}
		g.groups = append(g.groups, second)
	case g.Chance(0.3):
		g.groups[0].resources = append(g.groups[0].resources, "example.com/gpu")
	}
	if g.Chance(0.08) {
		g.groups[0].resources = append(g.groups[0].resources, corev1.ResourcePods)
	}
	for _, group := range g.groups {
		for _, name := range group.flavors {
			g.c.flavors = append(g.c.flavors, g.makeFlavor(name))
		}
	}
}

func (g *generator) makeFlavor(name string) *kueue.ResourceFlavor {
	f := &kueue.ResourceFlavor{}
	f.TypeMeta, f.ObjectMeta = object("ResourceFlavor", "", name)
	if g.Chance(0.4) {
		f.Spec.NodeLabels = map[string]string{"type": name}
	}
	if g.Chance(0.2) {
		effect := lib.Pick(g.Random, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule)
		f.Spec.NodeTaints = []corev1.Taint{{Key: "spot", Value: "yes", Effect: effect}}
		if g.Chance(0.2) {
			f.Spec.Tolerations = []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpExists}}
		}
	}
	return f
}

func (g *generator) makeCohorts() {
	depth := map[string]int{}
	least := 0
	if g.contested {
		least = 1
	}
	for i := range g.Between(least, 4) {
		name := fmt.Sprintf("c%d", i)
		parent := ""
		if i > 0 && (g.contested || g.Chance(0.75)) {
			if p := fmt.Sprintf("c%d", g.IntN(i)); depth[p] < 2 {
				parent = p
			} else if g.contested {
				parent = "c0"
			}
		}
		g.tree[name] = parent
		depth[name] = 0
		if parent != "" {
			depth[name] = depth[parent] + 1
		}
		if parent == "" && g.Chance(0.5) {
			continue // there because it is named
		}
		co := &kueue.Cohort{}
		co.TypeMeta, co.ObjectMeta = object("Cohort", "", name)
		co.Spec.ParentName = kueue.CohortReference(parent)
		co.Spec.FairSharing = g.weight()
		if g.Chance(0.4) {
			co.Spec.ResourceGroups = g.quotas(parent != "", false)
		}
		g.c.cohorts = append(g.c.cohorts, co)
	}
}

func (g *generator) weight() *kueue.FairSharing {
	w := resource.MustParse(lib.Pick(g.Random, "1", "1", "1", "2", "500m", "0"))
	return &kueue.FairSharing{Weight: &w}
}

func (g *generator) quantity(r corev1.ResourceName, n int) resource.Quantity {
	if r == corev1.ResourceMemory {
		return resource.MustParse(fmt.Sprintf("%dGi", n))
	}
	return resource.MustParse(fmt.Sprint(n))
}

// quotas of a ClusterQueue or a Cohort, for all groups or some.
func (g *generator) quotas(limits, isQueue bool) []kueue.ResourceGroup {
	var out []kueue.ResourceGroup
	for i, in := range g.groups {
		if i > 0 && g.Chance(0.15) {
			continue
		}
		rg := kueue.ResourceGroup{CoveredResources: in.resources}
		for j, k := range g.Perm(len(in.flavors)) {
			if j > 0 && g.Chance(0.2) {
				continue
			}
			rg.Flavors = append(rg.Flavors, g.flavorQuotas(in.flavors[k], in.resources, limits, isQueue))
		}
		out = append(out, rg)
	}
	return out
}

func (g *generator) flavorQuotas(flavor string, of []corev1.ResourceName, limits, isQueue bool) kueue.FlavorQuotas {
	out := kueue.FlavorQuotas{Name: kueue.ResourceFlavorReference(flavor)}
	borrow, lend := limits && g.Chance(0.2), limits && g.Chance(0.2)
	for _, r := range of {
		nominal := lib.Pick(g.Random, 0, 2, 4, 4, 6, 8, 10)
		q := kueue.ResourceQuota{Name: r, NominalQuota: g.quantity(r, nominal)}
		if borrow {
			limit := g.quantity(r, lib.Pick(g.Random, 0, 2, 4, 6))
			q.BorrowingLimit = &limit
		}
		if lend {
			limit := g.quantity(r, g.Between(0, nominal))
			q.LendingLimit = &limit
		}
		out.Resources = append(out.Resources, q)
	}
	return out
}

func (g *generator) makeQueue(name string) {
	q := &kueue.ClusterQueue{}
	q.TypeMeta, q.ObjectMeta = object("ClusterQueue", "", name)
	if cohorts := lib.SortedKeys(g.tree); len(cohorts) > 0 && (g.contested || g.Chance(0.9)) {
		q.Spec.CohortName = kueue.CohortReference(lib.Pick(g.Random, cohorts...))
	}
	q.Spec.ResourceGroups = g.quotas(q.Spec.CohortName != "", true)
	q.Spec.QueueingStrategy = lib.Pick(g.Random, kueue.BestEffortFIFO, kueue.BestEffortFIFO, kueue.BestEffortFIFO, kueue.StrictFIFO)
	q.Spec.NamespaceSelector = &metav1.LabelSelector{}
	if g.Chance(0.06) {
		q.Spec.NamespaceSelector.MatchLabels = map[string]string{"team": "b"}
	}
	q.Spec.FlavorFungibility = g.fungibility()
	q.Spec.Preemption = g.preemption()
	q.Spec.FairSharing = g.weight()
	q.Spec.StopPolicy = g.stopPolicy()
	g.c.queues = append(g.c.queues, q)
	g.makeLocal("a", "l"+name, name)
	if g.Chance(0.3) {
		g.makeLocal("b", "l"+name, name)
	}
	if g.usage && (g.fading || g.Chance(0.7)) {
		g.makeLocal("a", "m"+name, name)
	}
}

func (g *generator) makeLocal(namespace, name, queue string) {
	l := &kueue.LocalQueue{}
	l.TypeMeta, l.ObjectMeta = object("LocalQueue", namespace, name)
	l.Spec.ClusterQueue = kueue.ClusterQueueReference(queue)
	l.Spec.StopPolicy = g.stopPolicy()
	g.c.locals = append(g.c.locals, l)
}

func (g *generator) stopPolicy() *kueue.StopPolicy {
	p := kueue.None
	if g.Chance(0.03) {
		p = kueue.Hold
	}
	return &p
}

func (g *generator) fungibility() *kueue.FlavorFungibility {
	f := &kueue.FlavorFungibility{
		WhenCanBorrow:  lib.Pick(g.Random, kueue.MayStopSearch, kueue.TryNextFlavor),
		WhenCanPreempt: lib.Pick(g.Random, kueue.MayStopSearch, kueue.TryNextFlavor),
	}
	if f.WhenCanBorrow == kueue.TryNextFlavor && f.WhenCanPreempt == kueue.TryNextFlavor && g.Chance(0.6) {
		p := lib.Pick(g.Random, kueue.BorrowingOverPreemption, kueue.PreemptionOverBorrowing)
		f.Preference = &p
	}
	return f
}

func (g *generator) preemption() *kueue.ClusterQueuePreemption {
	p := &kueue.ClusterQueuePreemption{
		ReclaimWithinCohort: lib.Pick(g.Random, kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority,
			kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyAny, kueue.PreemptionPolicyAny),
		WithinClusterQueue: lib.Pick(g.Random, kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority,
			kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyLowerOrNewerEqualPriority),
		BorrowWithinCohort: &kueue.BorrowWithinCohort{Policy: kueue.BorrowWithinCohortPolicyNever},
	}
	if g.contested && p.ReclaimWithinCohort == kueue.PreemptionPolicyNever {
		p.ReclaimWithinCohort = kueue.PreemptionPolicyAny
	}
	if p.ReclaimWithinCohort != kueue.PreemptionPolicyNever && g.Chance(0.5) {
		p.BorrowWithinCohort.Policy = kueue.BorrowWithinCohortPolicyLowerPriority
		if g.Chance(0.5) {
			threshold := int32(g.Between(-1, 3))
			p.BorrowWithinCohort.MaxPriorityThreshold = &threshold
		}
	}
	return p
}

func (g *generator) ago(minutes int) metav1.Time {
	if g.ties {
		minutes = minutes / 60 * 60
	}
	return metav1.NewTime(now.Add(-time.Duration(minutes) * time.Minute))
}

func (g *generator) makeDeletions() {
	for _, w := range g.c.workloads {
		chance := 0.05
		if w.Status.Admission != nil {
			chance = 0.25
		}
		if g.mutual {
			chance = 0.03
		}
		if g.c.cycles > 1 && g.Chance(chance) && w.Spec.Active == nil {
			g.c.deletions = append(g.c.deletions, deletion{g.Between(1, g.c.cycles-1), w.Namespace + "/" + w.Name})
		}
	}
}
