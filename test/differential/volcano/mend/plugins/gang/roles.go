package gang

import (
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// In Volcano placing ends with minMember pods, though minTaskMember may not be met by these.

func rolesAreReady(s *framework.Session, sub *api.SubJobInfo) bool {
	job := s.Jobs[sub.Job]
	return job.ContainsSubJobPolicy() || job.CheckTaskReady()
}

func rolesArePipelined(s *framework.Session, sub *api.SubJobInfo) bool {
	job := s.Jobs[sub.Job]
	return job.ContainsSubJobPolicy() || job.CheckTaskPipelined()
}
