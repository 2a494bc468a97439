//go:build differential

package preemption

import (
	"slices"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/sets"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/mend"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/fairsharing"
	"sigs.k8s.io/kueue/pkg/workload"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"
)

const mostRounds = 8

// Of the search that goes on: there is never more than one.
var (
	banned map[workload.Reference]bool
	taken  []*Target // in the order in which they were, before some were given back
)

// fairPreemptions stands in for Kueue's, which is fairPreemptionsOnce here: victims are checked again
// after some were given back (kubernetes-sigs/kueue#14543).
func (p *Preemptor) fairPreemptions(ctx *preemptionCtx, strategies []fairsharing.Strategy) []*Target {
	banned = map[workload.Reference]bool{}
	for range mostRounds {
		targets := p.fairPreemptionsOnce(ctx, strategies)
		if !mend.On.GivingBack || len(targets) == 0 || areLegal(ctx, strategies, targets) {
			return targets
		}
	}
	return nil
}

func (p *Preemptor) candidatesNotBanned(log logr.Logger, w *kueue.Workload, cq *schdcache.ClusterQueueSnapshot,
	needed sets.Set[resources.FlavorResource]) []*workload.Info {
	return slices.DeleteFunc(p.findCandidates(log, w, cq, needed), func(c *workload.Info) bool {
		return banned[workload.Key(c.Obj)]
	})
}

func giveBack(ctx *preemptionCtx, targets []*Target) []*Target {
	taken = slices.Clone(targets)
	return fillBackWorkloads(ctx, targets, true)
}

// sharer is a ClusterQueue or a cohort.
type sharer interface{ DominantResourceShare() schdcache.DRS }

// sharers are the two nodes right below the lowest cohort above both ClusterQueues.
func sharers(preemptor, target *schdcache.ClusterQueueSnapshot) (sharer, sharer) {
	below := map[*schdcache.CohortSnapshot]sharer{} // on the way to the preemptor's
	var last sharer = preemptor
	for cohort := range preemptor.PathParentToRoot() {
		below[cohort] = last
		last = cohort
	}
	last = target
	for cohort := range target.PathParentToRoot() {
		if of, ok := below[cohort]; ok {
			return of, last
		}
		last = cohort
	}
	panic("a victim in another tree")
}

// A trial takes victims one after another.
type trial struct {
	ctx           *preemptionCtx
	strategies    []fairsharing.Strategy
	withinNominal bool
	tookSecond    map[*schdcache.ClusterQueueSnapshot]bool
}

// reason is that of the rule which allows to take t now; "": none does.
func (r *trial) reason(t *Target) string {
	preemptor, target := r.ctx.preemptorCQ, t.WorkloadCq
	switch {
	case workloadevict.IsEvicted(t.WorkloadInfo.Obj):
		return t.Reason
	case target == preemptor:
		return kueue.InClusterQueueReason
	case r.withinNominal:
		return kueue.InCohortReclamationReason
	}
	a, b := sharers(preemptor, target)
	with, old := fairsharing.PreemptorNewShare(a.DominantResourceShare()), fairsharing.TargetOldShare(b.DominantResourceShare())
	if fsStrategyUnsatisfiable(with, old) {
		return ""
	}
	revert := target.SimulateUsageRemoval(t.WorkloadInfo.Usage())
	left := fairsharing.TargetNewShare(b.DominantResourceShare())
	revert()
	if r.strategies[0](with, old, left) {
		return kueue.InCohortFairSharingReason
	}
	if len(r.strategies) > 1 && !r.tookSecond[target] && fairsharing.LessThanInitialShare(with, old, left) {
		r.tookSecond[target] = true
		return kueue.InCohortFairSharingReason
	}
	return ""
}

// areLegal takes the targets once more, without those that were given back, and bans those that no
// rule allows. Workloads that are being evicted already are taken unchecked, given back or not.
func areLegal(ctx *preemptionCtx, strategies []fairsharing.Strategy, targets []*Target) bool {
	legal := true
	revert := ctx.preemptorCQ.SimulateUsageAddition(ctx.workloadUsage)
	r := trial{ctx: ctx, strategies: strategies, tookSecond: map[*schdcache.ClusterQueueSnapshot]bool{}}
	r.withinNominal = features.Enabled(features.FairSharingPreemptWithinNominal) &&
		queueWithinNominalInResourcesNeedingPreemption(ctx)
	var gone []*Target
	for _, t := range taken {
		if !slices.Contains(targets, t) && !workloadevict.IsEvicted(t.WorkloadInfo.Obj) {
			continue
		}
		reason := r.reason(t)
		if reason == "" {
			banned[workload.Key(t.WorkloadInfo.Obj)] = true
			legal = false
			continue
		}
		t.Reason = reason
		ctx.snapshot.RemoveWorkload(t.WorkloadInfo)
		gone = append(gone, t)
	}
	restoreSnapshot(ctx.snapshot, gone)
	revert()
	return legal
}
