package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"headgate/differential/lib"
)

// beginMutual: victims try again for several cycles, in which not much else happens.
func (g *generator) beginMutual() {
	g.mutual, g.contested = true, true
	g.c.cycles = g.Between(5, 10)
}

// makeMutual makes ClusterQueues of one cohort that may preempt each other's workloads: three in a ring,
// where each has quota of one resource and its workloads need that of the next one too, or two with
// quota of the same, by priority, by shares, or with fewer pods.
func (g *generator) makeMutual() {
	if g.Chance(0.5) {
		g.c.fair = true // else a workload that has to borrow takes nothing back
		g.makeRing([]corev1.ResourceName{"cpu", "example.com/gpu", "memory"})
	} else {
		g.makeRing([]corev1.ResourceName{"cpu"})
	}
}

// makeRing makes a ClusterQueue for each resource; two for a single one.
func (g *generator) makeRing(resources []corev1.ResourceName) {
	g.groups = []group{{resources: resources, flavors: []string{"f0"}}}
	g.c.flavors = append(g.c.flavors, g.makeFlavor("f0"))
	g.c.flavors[0].Spec = kueue.ResourceFlavorSpec{}
	g.tree["c0"] = ""
	n := max(len(resources), 2)
	size := lib.Pick(g.Random, 1, 2, 4)
	for i := range n {
		g.makeQueue(fmt.Sprintf("q%d", i))
		g.joinRing(g.c.queues[i], i, size)
	}
	rooms := g.rooms()
	for i := range g.Between(n, n+3) {
		held := g.makeMember(fmt.Sprintf("h%d", i), i%n, size)
		if g.Chance(0.5) && g.admit(held, rooms) {
			g.c.workloads = append(g.c.workloads, held)
		} else {
			g.c.workloads = append(g.c.workloads, g.makeMember(fmt.Sprintf("p%d", i), i%n, size))
		}
	}
}

// joinRing gives q nominal quota of its own resource and mostly none of the others.
func (g *generator) joinRing(q *kueue.ClusterQueue, at, size int) {
	q.Spec.CohortName = "c0"
	if q.Spec.Preemption.ReclaimWithinCohort != kueue.PreemptionPolicyAny && g.Chance(0.5) {
		q.Spec.Preemption.ReclaimWithinCohort = kueue.PreemptionPolicyAny
	}
	none := kueue.None
	q.Spec.StopPolicy = &none
	quotas := kueue.FlavorQuotas{Name: "f0"}
	for i, r := range g.groups[0].resources {
		nominal := lib.Pick(g.Random, 0, 0, 0, 1)
		if i == at || len(g.groups[0].resources) == 1 {
			nominal = size
		}
		quotas.Resources = append(quotas.Resources, kueue.ResourceQuota{Name: r, NominalQuota: g.quantity(r, nominal)})
	}
	q.Spec.ResourceGroups = []kueue.ResourceGroup{{CoveredResources: g.groups[0].resources, Flavors: []kueue.FlavorQuotas{quotas}}}
}

// makeMember makes a workload of the ClusterQueue at that place of the ring.
func (g *generator) makeMember(name string, at, size int) *kueue.Workload {
	w := g.makeWorkload(name)
	w.Namespace = "a"
	w.Spec.QueueName = kueue.LocalQueueName(fmt.Sprintf("lq%d", at))
	p := w.Spec.PodSets[0]
	p.MinCount = nil
	requests := corev1.ResourceList{}
	of := g.groups[0].resources
	if len(of) == 1 { // more than its nominal quota, with all pods
		p.Count = int32(lib.Pick(g.Random, 2, 3, 3))
		requests[of[0]] = g.quantity(of[0], max(size/2, 1))
		if g.Chance(0.5) {
			low := int32(1)
			p.MinCount = &low
		}
	} else {
		p.Count = 1
		requests[of[at]] = g.quantity(of[at], size)
		requests[of[(at+1)%len(of)]] = g.quantity(of[(at+1)%len(of)], lib.Pick(g.Random, size, size, 1))
	}
	p.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c",
		Resources: corev1.ResourceRequirements{Requests: requests}}}}
	w.Spec.PodSets = []kueue.PodSet{p}
	return w
}
