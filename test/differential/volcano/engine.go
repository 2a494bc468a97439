package main

import (
	"fmt"
	"runtime/debug"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	internal "volcano.sh/apis/pkg/apis/scheduling"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"volcano.sh/volcano/pkg/scheduler"
	_ "volcano.sh/volcano/pkg/scheduler/actions"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/cache"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/metrics"
	_ "volcano.sh/volcano/pkg/scheduler/plugins"
	"volcano.sh/volcano/pkg/scheduler/util"

	"headgate/differential/lib"
)

func init() { metrics.InitKubeSchedulerRelatedMetrics() }

// recordingCache is Volcano's cache without writes to an API server: they are noted.
type recordingCache struct {
	*cache.SchedulerCache
	sync.Mutex
	binds     map[string]string // node by pod
	evictions map[string]bool
	status    map[string]internal.PodGroupStatus
}

func (r *recordingCache) AddBindTask(b *cache.BindContext) error {
	if err := r.SchedulerCache.AddBindTask(b); err != nil {
		return err
	}
	<-r.BindFlowChannel
	r.Mutex.Lock()
	defer r.Mutex.Unlock()
	r.binds[b.TaskInfo.Namespace+"/"+b.TaskInfo.Name] = b.TaskInfo.NodeName
	return nil
}

func (r *recordingCache) Evict(t *api.TaskInfo, reason string) error {
	if err := r.SchedulerCache.Evict(t, reason); err != nil {
		return err
	}
	r.Mutex.Lock()
	defer r.Mutex.Unlock()
	r.evictions[t.Namespace+"/"+t.Name] = true
	return nil
}

func (r *recordingCache) UpdateJobStatus(job *api.JobInfo, _, _, _ bool) (*api.JobInfo, error) {
	r.Mutex.Lock()
	defer r.Mutex.Unlock()
	r.status[job.Namespace+"/"+job.Name] = job.PodGroup.Status
	return job, nil
}

func (r *recordingCache) UpdateQueueStatus(*api.QueueInfo) error { return nil }

// noEvictions is the API server's side of evictions: none.
type noEvictions struct{}

func (noEvictions) Evict(*corev1.Pod, string) error { return nil }

// newCache is Volcano's cache with the objects of the cluster, as they stand.
func newCache(c *cluster) *recordingCache {
	r := &recordingCache{
		SchedulerCache: cache.NewCustomMockSchedulerCache("volcano", util.NewFakeBinder(0), noEvictions{},
			&util.FakeStatusUpdater{}, nil, &record.FakeRecorder{}),
		binds:     map[string]string{},
		evictions: map[string]bool{},
		status:    map[string]internal.PodGroupStatus{},
	}
	for _, o := range c.classes {
		r.AddPriorityClass(o)
	}
	for range 2 { // See nodeorder in docs/deviations.md: an image on a node counts those that had it then.
		for _, o := range c.nodes {
			if err := r.AddOrUpdateNode(o); err != nil {
				panic(err)
			}
		}
	}
	for _, o := range c.queues {
		r.AddQueueV1beta1(o)
	}
	for _, o := range c.groups {
		r.AddPodGroupV1beta1(o)
	}
	for _, o := range c.pods {
		r.AddPod(o)
	}
	return r
}

// A configured is a scheduler configuration as Volcano reads it.
type configured struct {
	actions []framework.Action
	tiers   []conf.Tier
	more    []conf.Configuration
}

func configure(c *cluster) (configured, error) {
	var f configured
	var err error
	f.actions, f.tiers, f.more, _, err = scheduler.UnmarshalSchedulerConf(string(c.configuration()))
	return f, err
}

// cycle runs one session. c is as the API server has it, and gets what the session writes.
func (f *configured) cycle(c *cluster, ours *simulated, number int, out *lib.Answer) {
	r := newCache(c.clone()) // a session writes into pods
	conf.EnabledActionMap = map[string]bool{}
	for _, a := range f.actions {
		conf.EnabledActionMap[a.Name()] = true
	}
	s := framework.OpenSession(r, f.tiers, f.more)
	again := newReplay(s, c, ours, number, out)
	for _, a := range f.actions {
		execute := func() {
			a.Initialize()
			a.Execute(s)
			a.UnInitialize()
		}
		if isEvicting(a.Name()) {
			again.action(a.Name(), execute)
		} else {
			execute()
		}
	}
	pipelined := pipelinedIn(s)
	nominated := map[string]string{}
	for key, t := range pipelined {
		out.Add("%d Pipeline %s on %s", number, key, t.NodeName)
		if t.EvictionOccurred {
			nominated[key] = t.NodeName
		}
	}
	framework.CloseSession(s)
	r.write(c, number, nominated, out)
}

// pipelinedIn includes pods that are Allocated and not bound, since others of their gang are pipelined: Headgate
// pipelines those as well.
func pipelinedIn(s *framework.Session) map[string]*api.TaskInfo {
	out := map[string]*api.TaskInfo{}
	for _, job := range s.Jobs {
		for _, status := range []api.TaskStatus{api.Pipelined, api.Allocated} {
			for _, t := range job.TaskStatusIndex[status] {
				out[t.Namespace+"/"+t.Name] = t
			}
		}
	}
	return out
}

// write applies what the session sent, as the API server and kubelets would: bound pods run, evicted
// ones terminate until the end.
func (r *recordingCache) write(c *cluster, number int, nominated map[string]string, out *lib.Answer) {
	for _, p := range c.pods {
		key := p.Namespace + "/" + p.Name
		if node, ok := r.binds[key]; ok {
			out.Add("%d Bind %s on %s", number, key, node)
			p.Spec.NodeName = node
			p.Status.Phase = corev1.PodRunning
		}
		if r.evictions[key] {
			out.Add("%d Evict %s", number, key)
			p.DeletionTimestamp = &metav1.Time{Time: now}
		}
		if node, ok := nominated[key]; ok {
			p.Status.NominatedNodeName = node
		}
	}
	for _, g := range c.groups {
		status, ok := r.status[g.Namespace+"/"+g.Name]
		if !ok {
			continue
		}
		g.Status.Phase = scheduling.PodGroupPhase(status.Phase)
		g.Status.Conditions = nil
		for _, k := range status.Conditions {
			g.Status.Conditions = append(g.Status.Conditions, scheduling.PodGroupCondition{
				Type: scheduling.PodGroupConditionType(k.Type), Status: k.Status, TransitionID: k.TransitionID,
				LastTransitionTime: k.LastTransitionTime, Reason: k.Reason, Message: k.Message,
			})
		}
		g.Status.Running, g.Status.Succeeded, g.Status.Failed = status.Running, status.Succeeded, status.Failed
	}
}

// askVolcano runs all cycles. Headgate's evictions are replayed in them.
func askVolcano(c *cluster, ours *simulated) (out lib.Answer, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("Volcano: %v\n%s", r, debug.Stack())
		}
	}()
	f, err := configure(c)
	if err != nil {
		return nil, err
	}
	c = c.clone()
	for i := range c.cycles {
		f.cycle(c, ours, i+1, &out)
	}
	out = withoutRepeats(out)
	for _, g := range c.groups {
		out.Add("group %s/%s %s", g.Namespace, g.Name, g.Status.Phase)
	}
	return out.Sorted(), nil
}
