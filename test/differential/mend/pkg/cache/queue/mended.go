//go:build differential

package queue

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/mend"
	"sigs.k8s.io/kueue/pkg/workload"
)

// QuotaCameFree wakes the workloads that wait for quota of the ClusterQueue in which w held some,
// also when its LocalQueue is stopped or deleted, of which Kueue does not know any more.
func (m *Manager) QuotaCameFree(w *kueue.Workload) {
	if mend.On.StoppedLocalQueue && w.Status.Admission != nil {
		NotifyRetryInadmissible(m, sets.New(w.Status.Admission.ClusterQueue))
	}
}

// QueuesChanged wakes the workloads of all trees after an edit of a queue or cohort; Kueue wakes those
// of its tree.
func (m *Manager) QueuesChanged() {
	if mend.On.EditsWakeAll {
		NotifyRetryInadmissible(m, sets.New(m.GetClusterQueueNames()...))
	}
}

// NextOf are the workloads that wait in the heap of the ClusterQueue, in its order.
func (m *Manager) NextOf(name kueue.ClusterQueueReference) []*workload.Info {
	cq := m.getClusterQueue(name)
	if cq == nil {
		return nil
	}
	keys, _ := cq.Dump()
	return slices.DeleteFunc(cq.Snapshot(), func(w *workload.Info) bool {
		return !slices.Contains(keys, workload.Key(w.Obj))
	})
}

// scanGoesOn: some flavors have not been looked at. Kueue looks at none while a check has failed, and
// tries the workload in every cycle.
func scanGoesOn(w *workload.Info) bool {
	failed := workload.HasRetryChecks(w.Obj) || workload.HasRejectedChecks(w.Obj)
	return w.LastAssignment.PendingFlavors() && !(mend.On.FailedChecks && failed)
}

// waitsForBackoff: the back-off of a workload is not over when its LocalQueue goes on. Kueue, which has
// forgotten the workloads of a LocalQueue that is stopped, tries it at once.
func (c *ClusterQueue) waitsForBackoff(w *workload.Info) bool {
	key := workload.Key(w.Obj)
	if !mend.On.Backoff || c.backoffWaitingTimeExpired(w) {
		return false
	}
	if c.heap.GetByKey(key) == nil && !c.inadmissibleWorkloads.hasKey(key) {
		c.insertInadmissible(key, w)
	}
	return true
}

// leaveHeapForBackoff: a workload that is in the heap has got a back-off. Kueue tries it all the same,
// and is mindful of the back-off from then on.
func (c *ClusterQueue) leaveHeapForBackoff(key workload.Reference, w *workload.Info) {
	if mend.On.Backoff && !c.backoffWaitingTimeExpired(w) {
		c.removeFromHeap(key)
	}
}

// forgetHashOfChanged: a workload that asks for something else than before is tried, whatever was found
// out about those that it equals now. Kueue puts it aside with them.
func (c *ClusterQueue) forgetHashOfChanged(w *workload.Info) {
	key, hash := string(workload.Key(w.Obj)), string(w.SchedulingHash)
	before, known := mend.Hashes[key]
	mend.Hashes[key] = hash
	if mend.On.ChangedRequests && known && before != hash {
		delete(c.hashToBulkMoveReason, w.SchedulingHash)
	}
}

func mendedClock() clock.Clock { return mend.Clock }

// ordersAtOnce: the ClusterQueue goes by the usage of its LocalQueues, and its heap is to be in order
// whenever that has changed. Kueue's is put in order while penalties are pending and at samples, one
// workload after another, which may leave it out of order.
func (c *ClusterQueue) ordersAtOnce() bool { return mend.On.EntryPenalty && c.afsUsageLedger != nil }

func (c *ClusterQueue) orderAnew() {
	all := c.heap.List()
	for _, w := range all {
		c.heap.Delete(workload.Key(w.Obj))
	}
	for _, w := range all {
		c.heap.PushOrUpdate(w)
	}
}
