package api

// In Volcano all members of a role are taken for equal: those after one that found no node are not
// tried, and none of the others when the role lacks members then.

// NeedContinueAllocating says whether the PodGroup can do without the member that found no node.
func (ji *JobInfo) NeedContinueAllocating(SubJobID) bool { return int(ji.MinAvailable) < len(ji.Tasks) }

// TaskHasFitErrors says whether the member need not be tried.
func (ji *JobInfo) TaskHasFitErrors(SubJobID, *TaskInfo) bool { return false }
