package main

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"volcano.sh/volcano/pkg/scheduler/actions/utils"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"headgate/differential/lib"
)

// Which victims are taken of those that may be, and on which node, is Headgate's own choice
// (docs/preemption.md): the least harm over all nodes, in Volcano the first node in order. So
// Headgate's evictions are replayed in Volcano's session: Volcano's plugins must permit each of
// them, the preemptor must then have room and quota, its PodGroup must be one that starves and is
// served by that; and when all are done Volcano must find none that it would add.

// A preemptor is a pod with the victims that Headgate evicts for it.
type preemptor struct {
	pod, node string
	victims   []string
}

// replay is the state of replaying one cycle of Headgate's.
type replay struct {
	session *framework.Session
	wholes  bool // gangs may be evicted as a whole
	cycle   int
	steps   []preemptor
	out     *lib.Answer
}

// newReplay takes the evictions and pipelines of one cycle. Those without victims come last: they
// are members of PodGroups for which others have victims.
func newReplay(s *framework.Session, c *cluster, ours *simulated, cycle int, out *lib.Answer) *replay {
	r := &replay{session: s, wholes: !c.sparesGangs, cycle: cycle, out: out}
	at := func(pod string) *preemptor {
		for i := range r.steps {
			if r.steps[i].pod == pod {
				return &r.steps[i]
			}
		}
		r.steps = append(r.steps, preemptor{pod: pod})
		return &r.steps[len(r.steps)-1]
	}
	for _, d := range ours.Decisions {
		if d.Cycle == cycle && d.Kind == "Evict" {
			p := at(preemptorIn(d.Message))
			p.victims = append(p.victims, d.Pod)
		}
	}
	for _, d := range ours.Decisions {
		if d.Cycle == cycle && d.Kind == "Pipeline" {
			at(d.Pod).node = d.Node
		}
	}
	return r
}

func (r *replay) task(key string) *api.TaskInfo {
	for _, job := range r.session.Jobs {
		for _, t := range job.Tasks {
			if t.Namespace+"/"+t.Name == key {
				return t
			}
		}
	}
	return nil
}

// action replays what Headgate did in the action, and asks Volcano's for more: about a PodGroup that
// comes before one for which Headgate evicts pods, in the state before that, since both serve each
// PodGroup when its turn comes; about the others at the end.
func (r *replay) action(name string, execute func()) {
	order, steps := r.stepsOf(name)
	asked := map[api.JobID]bool{}
	for _, id := range order {
		asked[id] = true
	}
	for _, id := range order {
		for _, job := range r.before(id, asked) {
			asked[job] = true
			r.ask(execute, func(t *api.TaskInfo) bool { return t.Job != job })
		}
		r.serve(name, r.session.Jobs[id], steps[id])
	}
	for _, id := range order {
		delete(asked, id)
	}
	r.ask(execute, func(t *api.TaskInfo) bool { return asked[t.Job] })
}

// before lists the PodGroups, of those not asked about, for which victims are looked for before the
// one with the id.
func (r *replay) before(id api.JobID, asked map[api.JobID]bool) []api.JobID {
	s := r.session
	var out []api.JobID
	next := s.Jobs[id]
	for _, key := range slices.Sorted(maps.Keys(s.Jobs)) {
		job := s.Jobs[key]
		if asked[key] || len(job.TaskStatusIndex[api.Pending]) == 0 || s.Queues[job.Queue] == nil {
			continue
		}
		if job.Queue == next.Queue && s.JobOrderFn(job, next) ||
			job.Queue != next.Queue && s.QueueOrderFn(s.Queues[job.Queue], s.Queues[next.Queue]) {
			out = append(out, key)
		}
	}
	return out
}

// ask runs Volcano's action without the pods that are left out. A pod that will have room when pods
// that terminate are gone does not preempt in Headgate: Volcano's is not asked about it. What it
// places without victims is left to allocate.
func (r *replay) ask(execute func(), isLeftOut func(t *api.TaskInfo) bool) {
	before := pipelinedIn(r.session)
	waiting := r.withComplete(r.waiting())
	for _, job := range r.session.Jobs {
		for _, t := range job.TaskStatusIndex[api.Pending] {
			if !t.SchGated && isLeftOut(t) && !slices.Contains(waiting, t) {
				waiting = append(waiting, t)
			}
		}
	}
	for _, t := range waiting {
		t.SchGated = true
	}
	execute()
	for _, t := range waiting {
		t.SchGated = false
	}
	for key, t := range pipelinedIn(r.session) {
		if before[key] == nil && !t.EvictionOccurred {
			_ = framework.NewStatement(r.session).UnPipeline(t)
		}
	}
}

// withComplete adds the other pods of PodGroups that do not starve with those that wait: in Headgate
// nothing is evicted for them either.
func (r *replay) withComplete(waiting []*api.TaskInfo) []*api.TaskInfo {
	s := r.session
	out := slices.Clone(waiting)
	byJob := map[api.JobID][]*api.TaskInfo{}
	for _, t := range waiting {
		byJob[t.Job] = append(byJob[t.Job], t)
	}
	for id, tasks := range byJob {
		job := s.Jobs[id]
		slices.SortFunc(tasks, func(a, b *api.TaskInfo) int {
			if s.TaskOrderFn(a, b) {
				return -1
			}
			return 1
		})
		st := framework.NewStatement(s)
		for _, t := range tasks {
			for _, n := range s.NodeList {
				if t.InitResreq.LessEqual(n.FutureIdle(), api.Zero) && s.PredicateForPreemptAction(t, n) == nil {
					_ = st.Pipeline(t, n.Name, false)
					break
				}
			}
		}
		complete := !s.JobStarving(job)
		st.Discard()
		for _, t := range job.TaskStatusIndex[api.Pending] {
			if complete && !t.SchGated && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// waiting are the pods for which a node will do without evictions.
func (r *replay) waiting() []*api.TaskInfo {
	var out []*api.TaskInfo
	s := r.session
	for _, job := range s.Jobs {
		for _, t := range job.TaskStatusIndex[api.Pending] {
			if t.SchGated || s.PrePredicateFn(t) != nil || !s.Allocatable(s.Queues[job.Queue], t) {
				continue
			}
			if slices.ContainsFunc(s.NodeList, func(n *api.NodeInfo) bool {
				return t.InitResreq.LessEqual(n.FutureIdle(), api.Zero) && s.PredicateForPreemptAction(t, n) == nil
			}) {
				out = append(out, t)
			}
		}
	}
	return out
}

// stepsOf lists what Headgate did in the action: its PodGroups in the order of their first victim.
func (r *replay) stepsOf(name string) ([]api.JobID, map[api.JobID][]preemptor) {
	var order []api.JobID
	byJob := map[api.JobID][]preemptor{}
	evicts := map[api.JobID]bool{}
	for _, p := range r.steps {
		t := r.task(p.pod)
		if t == nil || t.Status != api.Pending || !r.belongs(name, t, p) {
			continue
		}
		if byJob[t.Job] == nil {
			order = append(order, t.Job)
		}
		byJob[t.Job] = append(byJob[t.Job], p)
		evicts[t.Job] = evicts[t.Job] || len(p.victims) > 0
	}
	return slices.DeleteFunc(order, func(id api.JobID) bool { return !evicts[id] }), byJob
}

// preempts: preempt and gangpreempt evict within the queue, reclaim and gangreclaim in others.
func preempts(action string) bool { return strings.HasSuffix(action, "preempt") }

// belongs says whether the eviction is one of the action's.
func (r *replay) belongs(action string, t *api.TaskInfo, p preemptor) bool {
	if len(p.victims) == 0 {
		return true
	}
	v := r.task(p.victims[0])
	if v == nil {
		return false
	}
	same := r.session.Jobs[v.Job].Queue == r.session.Jobs[t.Job].Queue
	return same == preempts(action)
}

func (r *replay) refuse(p preemptor, why string) { r.out.Add("%d refused %s: %s", r.cycle, p.pod, why) }

// serve replays one PodGroup in one statement.
func (r *replay) serve(action string, job *api.JobInfo, steps []preemptor) {
	s := r.session
	if job.IsPending() {
		r.refuse(steps[0], "its PodGroup is Pending")
	}
	if v := s.JobValid(job); v != nil && !v.Pass {
		r.refuse(steps[0], "its PodGroup is not valid")
	}
	if !preempts(action) && s.Overused(s.Queues[job.Queue]) {
		r.refuse(steps[0], "its queue is overused")
	}
	st := framework.NewStatement(s)
	var victims []string
	for _, p := range steps {
		victims = append(victims, p.victims...)
	}
	for _, p := range steps {
		if !s.JobStarving(job) && len(p.victims) == 0 {
			break // the rest is placed by allocate
		}
		if !s.JobStarving(job) {
			r.refuse(p, "its PodGroup does not starve")
		}
		r.place(action, st, p, victims)
	}
	if !s.JobPipelined(job) {
		r.refuse(steps[0], "its PodGroup is not served by that")
	}
	st.Commit()
}

// mayEvict: all are the victims of the PodGroup.
func (r *replay) mayEvict(action string, t, victim *api.TaskInfo, all []string) bool {
	s := r.session
	if victim == nil || !victim.Preemptable {
		return false
	}
	job := s.Jobs[victim.Job]
	same := job.Queue == s.Jobs[t.Job].Queue
	switch action {
	case "preempt":
		return api.PreemptableStatus(victim.Status) && same && (!t.BestEffort || victim.BestEffort) &&
			len(s.Preemptable(t, []*api.TaskInfo{victim})) == 1
	case "reclaim":
		return victim.Status == api.Running && !same && s.Queues[job.Queue].Reclaimable() &&
			len(s.Reclaimable(t, []*api.TaskInfo{victim})) == 1
	}
	if utils.CreateJobBundles(job, []*api.TaskInfo{victim})[0].Type != utils.BundleSafe &&
		!r.goesWhole(job, all) {
		return false
	}
	if action == "gangpreempt" {
		return api.PreemptableStatus(victim.Status) && same && victim.Job != t.Job &&
			s.Jobs[t.Job].Priority > job.Priority && len(s.GangPreemptable(t, []*api.TaskInfo{victim})) == 1
	}
	return victim.Status == api.Running && !same && s.Queues[job.Queue].Reclaimable() &&
		len(s.GangReclaimable(t, []*api.TaskInfo{victim})) == 1
}

// goesWhole: no pod of the PodGroup is left that could be evicted.
func (r *replay) goesWhole(job *api.JobInfo, victims []string) bool {
	for _, t := range job.Tasks {
		if api.PreemptableStatus(t.Status) && t.Preemptable && !slices.Contains(victims, t.Namespace+"/"+t.Name) {
			return false
		}
	}
	return r.wholes
}

// place replays one preemptor: its victims, then its node.
func (r *replay) place(action string, st *framework.Statement, p preemptor, all []string) {
	s := r.session
	t := r.task(p.pod)
	queue := s.Queues[s.Jobs[t.Job].Queue]
	node := s.Nodes[p.node]
	if node == nil {
		r.refuse(p, "it has no node")
		return
	}
	if t.SchGated || (t.Pod.Spec.PreemptionPolicy != nil && *t.Pod.Spec.PreemptionPolicy == corev1.PreemptNever) {
		r.refuse(p, "it may not preempt")
	}
	if !preempts(action) && !s.Preemptive(queue, []*api.TaskInfo{t}) {
		r.refuse(p, "its queue may not reclaim")
	}
	if err := s.PrePredicateFn(t); err != nil {
		r.refuse(p, "it fits no node: "+err.Error())
	}
	for _, key := range p.victims {
		v := r.task(key)
		if !r.mayEvict(action, t, v, all) {
			r.refuse(p, key+" may not be evicted")
		}
		if v != nil {
			st.Evict(v, action)
		}
	}
	if !t.InitResreq.LessEqual(node.FutureIdle(), api.Zero) {
		r.refuse(p, "there is no room on "+p.node)
	}
	if !s.Allocatable(queue, t) {
		r.refuse(p, "there is no quota")
	}
	if err := s.PredicateForPreemptAction(t, node); err != nil {
		r.refuse(p, "it does not fit "+p.node)
	}
	if err := st.Pipeline(t, node.Name, true); err != nil {
		r.refuse(p, "it cannot be pipelined")
	}
}

// evictsIn: the first cycle in which there are evictions; 0: none.
func (s *simulated) evictsIn() int {
	first := 0
	for _, d := range s.Decisions {
		if d.Kind == "Evict" && (first == 0 || d.Cycle < first) {
			first = d.Cycle
		}
	}
	return first
}

// isEvicting: an action that is replayed.
func isEvicting(name string) bool {
	return slices.Contains([]string{"preempt", "reclaim", "gangpreempt", "gangreclaim"}, name)
}
