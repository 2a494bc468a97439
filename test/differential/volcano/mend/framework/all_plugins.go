package framework

import (
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
)

// permitted are the victims to which each plugin that votes agrees, whatever its tier.
func (ssn *Session) permitted(t *api.TaskInfo, victims []*api.TaskInfo, votes map[string]api.EvictableFn,
	enabled func(p *conf.PluginOption) bool) []*api.TaskInfo {
	asked := false
	for _, tier := range ssn.Tiers {
		for k, plugin := range tier.Plugins {
			vote, found := votes[plugin.Name]
			if !found || !enabled(&tier.Plugins[k]) {
				continue
			}
			agreed, abstain := vote(t, victims)
			if abstain == 0 {
				continue
			}
			asked = true
			victims = slices.DeleteFunc(slices.Clone(victims), func(v *api.TaskInfo) bool {
				return !slices.ContainsFunc(agreed, func(a *api.TaskInfo) bool { return a.UID == v.UID })
			})
		}
	}
	if !asked {
		return nil
	}
	return victims
}

// Reclaimable: in Volcano the first tier decides that permits any.
func (ssn *Session) Reclaimable(t *api.TaskInfo, victims []*api.TaskInfo) []*api.TaskInfo {
	return ssn.permitted(t, victims, ssn.reclaimableFns, func(p *conf.PluginOption) bool { return isEnabled(p.EnabledReclaimable) })
}

// Preemptable: in Volcano the first tier decides that permits any.
func (ssn *Session) Preemptable(t *api.TaskInfo, victims []*api.TaskInfo) []*api.TaskInfo {
	return ssn.permitted(t, victims, ssn.preemptableFns, func(p *conf.PluginOption) bool { return isEnabled(p.EnabledPreemptable) })
}
