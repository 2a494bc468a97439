package allocate

import (
	"encoding/json"
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/util"
)

const orders = 4

// ordered is a queue of the tasks in just that order.
func ordered(tasks []*api.TaskInfo) *util.PriorityQueue {
	q := util.NewPriorityQueue(func(l, r interface{}) bool {
		return slices.Index(tasks, l.(*api.TaskInfo)) < slices.Index(tasks, r.(*api.TaskInfo))
	})
	for _, t := range tasks {
		q.Push(t)
	}
	return q
}

// class has what placing depends on.
func class(t *api.TaskInfo) string {
	s := t.Pod.Spec
	text, err := json.Marshal([]any{s.Containers[0].Resources.Requests, s.NodeSelector, s.Affinity, s.Tolerations})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// lacking is the first task that found no node; -1: none that could have got that of another class.
func lacking(job *api.JobInfo, tasks []*api.TaskInfo) int {
	for i, t := range tasks {
		if _, failed := job.NodesFitErrors[t.UID]; failed {
			if slices.ContainsFunc(tasks[:i], func(o *api.TaskInfo) bool { return class(o) != class(t) }) {
				return i
			}
			return -1
		}
	}
	return -1
}

// allocateResourcesForTasks tries several orders of the members of a gang: the one that found no
// node goes first the next time.
func (alloc *Action) allocateResourcesForTasks(sub *api.SubJobInfo, tasks *util.PriorityQueue, hyperNode string) *framework.Statement {
	var list []*api.TaskInfo
	for !tasks.Empty() {
		list = append(list, tasks.Pop().(*api.TaskInfo))
	}
	s := alloc.session
	job := s.Jobs[sub.Job]
	for try := 1; ; try++ {
		for _, t := range list {
			delete(job.NodesFitErrors, t.UID)
		}
		q := ordered(list)
		st := alloc.allocateInOrder(sub, q, hyperNode)
		i := lacking(job, list)
		if try == orders || i < 0 || s.JobReady(job) {
			for !q.Empty() {
				tasks.Push(q.Pop())
			}
			return st
		}
		if st != nil {
			st.Discard()
		}
		first := list[i]
		list = slices.Insert(slices.Delete(slices.Clone(list), i, i+1), 0, first)
	}
}
