package framework

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
)

// GangPreemptable has the victims to which all plugins of preempt agree but gang.
func (ssn *Session) GangPreemptable(t *api.TaskInfo, victims []*api.TaskInfo) []*api.TaskInfo {
	return ssn.permitted(t, victims, ssn.preemptableFns,
		func(p *conf.PluginOption) bool { return p.Name != "gang" && isEnabled(p.EnabledPreemptable) })
}

// GangReclaimable has the victims to which all plugins of reclaim agree but gang.
func (ssn *Session) GangReclaimable(t *api.TaskInfo, victims []*api.TaskInfo) []*api.TaskInfo {
	return ssn.permitted(t, victims, ssn.reclaimableFns,
		func(p *conf.PluginOption) bool { return p.Name != "gang" && isEnabled(p.EnabledReclaimable) })
}

// Preempts: others may be evicted for the pod. In Volcano gangpreempt and gangreclaim do not ask.
func Preempts(t *api.TaskInfo) bool {
	policy := t.Pod.Spec.PreemptionPolicy
	return policy == nil || *policy != v1.PreemptNever
}

// UnifiedEvictable asks for the first pod of the PodGroup that lacks a node. In Volcano few plugins
// are asked, and the first tier decides that permits any.
func (ssn *Session) UnifiedEvictable(ctx *api.EvictionContext, candidates []*api.TaskInfo) []*api.TaskInfo {
	var pending []*api.TaskInfo
	for _, t := range ctx.Job.TaskStatusIndex[api.Pending] {
		if !t.SchGated && !t.Resreq.IsEmpty() && Preempts(t) {
			pending = append(pending, t)
		}
	}
	if len(pending) == 0 {
		return nil
	}
	first := slices.MinFunc(pending, func(a, b *api.TaskInfo) int {
		if ssn.TaskOrderFn(a, b) {
			return -1
		}
		return 1
	})
	if ctx.Kind == api.EvictionKindGangPreempt {
		return ssn.GangPreemptable(first, candidates)
	}
	return ssn.GangReclaimable(first, candidates)
}
