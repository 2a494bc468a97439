//go:build differential

package scheduler

import (
	queueafs "sigs.k8s.io/kueue/pkg/cache/queue/afs"
	"sigs.k8s.io/kueue/pkg/mend"
	afs "sigs.k8s.io/kueue/pkg/util/admissionfairsharing"
	utilqueue "sigs.k8s.io/kueue/pkg/util/queue"
	"sigs.k8s.io/kueue/pkg/util/resource"
)

// chargesEntryPenalty adds the entry penalty to what the LocalQueue has consumed, at once and for
// good: that of what e was assigned. Kueue keeps the penalty of what e requests apart until e is
// admitted, and samples the usage of the LocalQueue at that moment.
func (s *Scheduler) chargesEntryPenalty(lqKey utilqueue.LocalQueueReference, e *entry) bool {
	if !mend.On.EntryPenalty {
		return false
	}
	usage := e.assignment.Usage.Quota.FlattenFlavors().ToResourceList(s.resourceFormatter)
	penalty := afs.CalculateEntryPenalty(usage, s.admissionFairSharing)
	s.queues.AfsUsageLedger.Update(lqKey, func(old queueafs.UsageLedgerEntry, _ bool) queueafs.UsageLedgerEntry {
		old.Resources = resource.MergeResourceListKeepSum(old.Resources, penalty)
		return old
	})
	return true
}
