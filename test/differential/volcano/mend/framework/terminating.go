package framework

import "volcano.sh/volcano/pkg/scheduler/api"

// releasing counts pods that terminate on a node.
func releasing(job *api.JobInfo) int {
	n := 0
	for _, t := range job.TaskStatusIndex[api.Releasing] {
		if t.NodeName != "" {
			n++
		}
	}
	return n
}

// OnlyTerminates: the PodGroup lacks members only because some terminate, and none waits.
func OnlyTerminates(job *api.JobInfo) bool {
	scheduled := releasing(job)
	if scheduled == 0 || len(job.TaskStatusIndex[api.Pending])+len(job.TaskStatusIndex[api.Pipelined]) > 0 {
		return false
	}
	for status, tasks := range job.TaskStatusIndex {
		if api.ScheduledStatus(status) {
			scheduled += len(tasks)
		}
	}
	return int32(scheduled) >= job.MinAvailable
}
