package overcommit

import "volcano.sh/volcano/pkg/scheduler/api"

// placed is what the pods of the PodGroup request that have nodes, and so are used there.
func placed(job *api.JobInfo) *api.Resource {
	sum := job.Allocated.Clone()
	for _, t := range job.TaskStatusIndex[api.Releasing] {
		if t.NodeName != "" {
			sum.Add(t.Resreq)
		}
	}
	return sum
}
