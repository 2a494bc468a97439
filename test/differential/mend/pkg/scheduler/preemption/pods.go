//go:build differential

package preemption

import (
	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/kueue/pkg/mend"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
)

// withPods adds the pods of the preemptor to what it needs, where its ClusterQueue has quota for
// pods: Kueue's assignment counts them, its search for victims does not.
func withPods(needs resources.FlavorResourceQuantities, a *flavorassigner.Assignment) resources.FlavorResourceQuantities {
	if !mend.On.Pods {
		return needs
	}
	for i := range a.PodSets {
		p := &a.PodSets[i]
		if f := p.Flavors[corev1.ResourcePods]; f != nil {
			fr := resources.FlavorResource{Flavor: f.Name, Resource: corev1.ResourcePods}
			needs[fr] = needs[fr].AddInt64(int64(p.Count))
		}
	}
	return needs
}
