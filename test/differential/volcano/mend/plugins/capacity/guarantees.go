package capacity

import (
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// checkGuaranteeConstraint asks for the resources that the pod gives up alone: in Volcano a queue
// that has less of another one than it is guaranteed loses nothing.
func (cp *capacityPlugin) checkGuaranteeConstraint(allocated *api.Resource, reclaimee *api.TaskInfo,
	guarantee *api.Resource) (bool, *api.Resource) {
	rest := allocated.Clone().Sub(reclaimee.Resreq)
	for _, name := range reclaimee.Resreq.ResourceNames() {
		if reclaimee.Resreq.Get(name) > 0 && guarantee.Get(name) > rest.Get(name) {
			return false, rest
		}
	}
	return true, rest
}

// keepsGuaranteesAbove: also the queues above that of the pod keep what they are guaranteed, as far
// as they are not above the queue that reclaims, too.
func (cp *capacityPlugin) keepsGuaranteesAbove(s *framework.Session, reclaimer, attr *queueAttr,
	victims []*api.TaskInfo, reclaimee *api.TaskInfo) bool {
	for _, id := range attr.ancestors {
		if id == reclaimer.queueID || slices.Contains(reclaimer.ancestors, id) {
			continue
		}
		allocated := cp.queueOpts[id].allocated.Clone()
		for _, v := range victims {
			if slices.Contains(cp.queueOpts[s.Jobs[v.Job].Queue].ancestors, id) {
				allocated.Sub(v.Resreq)
			}
		}
		if keeps, _ := cp.checkGuaranteeConstraint(allocated, reclaimee, cp.queueOpts[id].guarantee); !keeps {
			return false
		}
	}
	return true
}
