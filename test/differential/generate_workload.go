package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/constants"

	"headgate/differential/lib"
)

// makeWorkload makes one that waits.
func (g *generator) makeWorkload(name string) *kueue.Workload {
	l := lib.Pick(g.Random, g.c.locals...)
	w := &kueue.Workload{}
	w.TypeMeta, w.ObjectMeta = object("Workload", l.Namespace, name)
	w.CreationTimestamp = g.ago(g.Between(1, 200))
	w.Spec.QueueName = kueue.LocalQueueName(l.Name)
	priority := int32(g.IntN(g.priorities))
	if name[0] == 'p' && (g.contested || g.Chance(0.4)) {
		priority++ // than most of those that hold quota
	}
	w.Spec.Priority = &priority
	w.Spec.PriorityClassRef = kueue.NewWorkloadPriorityClassRef("class") // else Kueue wakes nothing when it changes
	if g.Chance(0.1) {
		w.Annotations = map[string]string{constants.PriorityBoostAnnotationKey: lib.Pick(g.Random, "-2", "-1", "1", "2")}
	}
	minimum := g.Chance(0.4)
	for i := range lib.Pick(g.Random, 1, 1, 1, 1, 2, 2, 3) {
		p := g.makePodSet(i)
		if minimum && p.Count > 1 {
			low := int32(g.Between(1, int(p.Count)-1))
			p.MinCount = &low
			minimum = false
		}
		w.Spec.PodSets = append(w.Spec.PodSets, p)
	}
	return w
}

func (g *generator) makePodSet(i int) kueue.PodSet {
	p := kueue.PodSet{Name: kueue.PodSetReference(fmt.Sprintf("s%d", i)), Count: int32(lib.Pick(g.Random, 1, 1, 2, 2, 3, 4, 6))}
	requests := corev1.ResourceList{}
	for _, group := range g.groups {
		for _, r := range group.resources {
			if r == corev1.ResourcePods || (r != corev1.ResourceCPU && g.Chance(0.3)) {
				continue
			}
			requests[r] = g.quantity(r, lib.Pick(g.Random, 0, 1, 1, 1, 1, 2, 2, 3, 4))
		}
	}
	if g.Chance(0.1) {
		requests[corev1.ResourceCPU] = resource.MustParse(lib.Pick(g.Random, "500m", "1500m", "250m"))
	}
	spec := &p.Template.Spec
	spec.RestartPolicy = corev1.RestartPolicyNever
	spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: requests}}}
	flavor := lib.Pick(g.Random, g.c.flavors...).Name
	if g.Chance(0.12) {
		spec.NodeSelector = map[string]string{"type": flavor}
	}
	if g.Chance(0.06) {
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: "type", Operator: lib.Pick(g.Random, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{flavor},
				}}}},
			},
		}}
	}
	if g.Chance(0.5) {
		spec.Tolerations = []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpExists}}
	}
	return p
}

// A room is one flavor and resource of a root tree, or of a ClusterQueue alone.
type room struct {
	root, flavor string
	resource     corev1.ResourceName
}

func (g *generator) root(q *kueue.ClusterQueue) string {
	name := string(q.Spec.CohortName)
	if name == "" {
		return "queue " + q.Name
	}
	for g.tree[name] != "" {
		name = g.tree[name]
	}
	return name
}

func addQuotas(rooms map[room]int64, root string, groups []kueue.ResourceGroup) {
	for _, rg := range groups {
		for _, f := range rg.Flavors {
			for _, r := range f.Resources {
				rooms[room{root, string(f.Name), r.Name}] += r.NominalQuota.MilliValue()
			}
		}
	}
}

func (g *generator) rooms() map[room]int64 {
	out := map[room]int64{}
	for _, q := range g.c.queues {
		addQuotas(out, g.root(q), q.Spec.ResourceGroups)
	}
	for _, co := range g.c.cohorts {
		root := co.Name
		for g.tree[root] != "" {
			root = g.tree[root]
		}
		addQuotas(out, root, co.Spec.ResourceGroups)
	}
	return out
}

// makeHolders admits Workloads until the trees are about full, with quota of any queue. Sometimes
// quota was lowered since.
func (g *generator) makeHolders() {
	rooms := g.rooms()
	slack := lib.Pick(g.Random, 0.6, 0.9, 1, 1, 1, 1, 1.2)
	if g.contested {
		slack = 1
	}
	for r, n := range rooms {
		rooms[r] = int64(float64(n) * slack)
	}
	tries := g.Between(0, 60)
	if g.contested {
		tries = 60
	}
	for i := range tries {
		w := g.makeWorkload(fmt.Sprintf("h%d", i))
		if g.admit(w, rooms) {
			g.c.workloads = append(g.c.workloads, w)
		}
	}
}

// admit gives w flavors that have room, or says that there is none.
func (g *generator) admit(w *kueue.Workload, rooms map[room]int64) bool {
	q := g.c.queueOf(w)
	taken := map[room]int64{}
	admission := &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(q.Name)}
	for i := range w.Spec.PodSets {
		a, ok := g.assign(&w.Spec.PodSets[i], q, taken)
		if !ok {
			return false
		}
		admission.PodSetAssignments = append(admission.PodSetAssignments, a)
	}
	for r, n := range taken {
		if n > rooms[r] {
			return false
		}
	}
	for r, n := range taken {
		rooms[r] -= n
	}
	w.Status.Admission = admission
	reserved := g.ago(g.Between(1, 100))
	g.condition(w, kueue.WorkloadQuotaReserved, "QuotaReserved", reserved)
	g.condition(w, kueue.WorkloadAdmitted, "Admitted", reserved)
	if g.Chance(0.05) {
		g.condition(w, kueue.WorkloadEvicted, kueue.WorkloadEvictedByPreemption, g.ago(0))
		g.condition(w, kueue.WorkloadPreempted, kueue.InClusterQueueReason, g.ago(0))
	}
	if g.Chance(0.05) && w.Spec.PodSets[0].Count > 1 {
		w.Status.ReclaimablePods = []kueue.ReclaimablePod{{Name: w.Spec.PodSets[0].Name, Count: 1}}
	}
	return true
}

func (g *generator) condition(w *kueue.Workload, of, reason string, at metav1.Time) {
	w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{
		Type: of, Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: at, ObservedGeneration: 1,
	})
}

func (g *generator) assign(p *kueue.PodSet, q *kueue.ClusterQueue, taken map[room]int64) (kueue.PodSetAssignment, bool) {
	count := p.Count
	if p.MinCount != nil && g.Chance(0.5) {
		count = *p.MinCount
	}
	a := kueue.PodSetAssignment{
		Name: p.Name, Count: &count,
		Flavors:       map[corev1.ResourceName]kueue.ResourceFlavorReference{},
		ResourceUsage: corev1.ResourceList{},
	}
	requests := p.Template.Spec.Containers[0].Resources.Requests.DeepCopy()
	covered := map[corev1.ResourceName]kueue.ResourceFlavorReference{}
	for _, rg := range q.Spec.ResourceGroups {
		flavor := rg.Flavors[g.IntN(len(rg.Flavors))].Name
		for _, r := range rg.CoveredResources {
			covered[r] = flavor
		}
	}
	if _, ok := covered[corev1.ResourcePods]; ok {
		requests[corev1.ResourcePods] = resource.MustParse("1")
	}
	for r, each := range requests {
		flavor, ok := covered[r]
		if !ok {
			return a, false
		}
		total := resource.NewMilliQuantity(each.MilliValue()*int64(count), each.Format)
		a.Flavors[r], a.ResourceUsage[r] = flavor, *total
		taken[room{g.root(q), string(flavor), r}] += total.MilliValue()
	}
	return a, true
}
