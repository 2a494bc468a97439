//go:build differential

package scheduler

import (
	"context"

	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/mend"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption"
	preemptioncommon "sigs.k8s.io/kueue/pkg/scheduler/preemption/common"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/fairsharing"
	"sigs.k8s.io/kueue/pkg/workload"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// How many workloads behind an admitted head keep nominal quota from being lent.
const workloadsAhead = 4

// A reserve is nominal quota that the next workloads of ClusterQueues are about to use.
type reserve struct {
	queues []kueue.ClusterQueueReference // with a head that was admitted without borrowing
	known  int                           // of so many queues the usage is in held
	held   []heldUsage
}

type heldUsage struct {
	queue kueue.ClusterQueueReference
	usage workload.Usage
}

// Of the cycle that goes on: there is never more than one.
var reserved reserve

// noVictims is an oracle for which preemption never helps.
type noVictims struct{}

func (noVictims) SimulatePreemption(_ context.Context, _ *schdcache.ClusterQueueSnapshot, _ workload.Info,
	_ resources.FlavorResource, _ resources.Amount) (preemptioncommon.PreemptionPossibility, int) {
	return preemptioncommon.NoCandidates, 0
}

// lendsNominalQuota: e would borrow what the next workloads of the lenders are about to use.
func (s *Scheduler) lendsNominalQuota(ctx context.Context, e *entry, cq *schdcache.ClusterQueueSnapshot,
	usage *workload.Usage, snapshot *schdcache.Snapshot, gone preemption.PreemptedWorkloads) bool {
	if !mend.On.NominalQuotaFirst || e.assignment.RepresentativeMode() != flavorassigner.Fit ||
		e.assignment.Borrowing == 0 || e.IsPreemptor || len(reserved.queues) == 0 {
		return false
	}
	var undo []func()
	defer func() {
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i]()
		}
	}()
	undo = append(undo, snapshot.SimulateWorkloadUsageRemoval(gone.Workloads()))
	for _, h := range reserved.held {
		undo = append(undo, snapshot.ClusterQueue(h.queue).SimulateUsageAddition(h.usage))
	}
	for ; reserved.known < len(reserved.queues); reserved.known++ {
		for _, h := range s.reserveNext(ctx, reserved.queues[reserved.known], snapshot) {
			undo = append(undo, func() { snapshot.ClusterQueue(h.queue).RemoveUsage(h.usage) })
			reserved.held = append(reserved.held, h)
		}
	}
	return cq.Fits(*usage) != schdcache.FitsCheckOk
}

// reserveNext adds the next workloads of the queue to the snapshot, up to the first that would have
// to borrow or preempt.
func (s *Scheduler) reserveNext(ctx context.Context, queue kueue.ClusterQueueReference,
	snapshot *schdcache.Snapshot) []heldUsage {
	var held []heldUsage
	cq := snapshot.ClusterQueue(queue)
	next := s.queues.NextOf(queue)
	for _, w := range next[:min(len(next), workloadsAhead)] {
		if workload.HasRetryChecks(w.Obj) || workload.HasRejectedChecks(w.Obj) ||
			workload.ValidateAdmissibility(ctx, s.client, w, cq.NamespaceSelector) != nil {
			return held
		}
		trial := *w
		if trial.LastAssignment != nil && lastAssignmentOutdated(trial.LastAssignment,
			cq.AllocatableResourceGeneration, s.schedulingCycle, trial.SchedulingHash) {
			trial.LastAssignment = nil
		}
		a := flavorassigner.New(&trial, cq, snapshot.ResourceFlavors, fairsharing.Enabled(s.fairSharing), noVictims{},
			nil, s.quotaCheckStrategy, s.resourceFormatter, s.schedulingCycle)
		assignment := a.Assign(ctx, nil)
		if assignment.RepresentativeMode() != flavorassigner.Fit || assignment.Borrowing > 0 {
			return held
		}
		h := heldUsage{queue, workload.Usage{Quota: assignment.Usage.Quota}}
		cq.AddUsage(h.usage)
		held = append(held, h)
	}
	return held
}

// reserveForNext: after e, which is being admitted, come the next workloads of its ClusterQueue.
func (e *entry) reserveForNext() {
	if e.assignment.Borrowing == 0 {
		reserved.queues = append(reserved.queues, e.ClusterQueue)
	}
}
