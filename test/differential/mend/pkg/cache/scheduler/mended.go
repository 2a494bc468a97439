//go:build differential

package scheduler

import "sigs.k8s.io/kueue/pkg/mend"

// QueuesChanged lets the scans over flavors of all trees begin anew after an edit of a ClusterQueue or
// Cohort; Kueue those of its tree.
func (c *Cache) QueuesChanged() {
	c.Lock()
	defer c.Unlock()
	for _, cq := range c.hm.ClusterQueues() {
		if mend.On.EditsWakeAll {
			cq.AllocatableResourceGeneration++
		}
	}
}
