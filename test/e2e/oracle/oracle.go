// Package oracle watches Pods, PodGroups and Queues through the real API and says, as an outsider,
// whether the promise holds: at every queue and each of its ancestors, the resources of published
// opted-in pods (PodScheduled=False/Unschedulable, what autoscalers buy nodes for) are at most
// max(0, configured limit - allocated). It never looks at status that Headgate wrote about queues.
//
// Watches come in three streams, so events are kept and judged later, in order of resourceVersion,
// one by one, up to the point that all streams are known to have reached. After a change from
// outside that leaves less room (a limit lowered, a PodGroup moved, a pod resized) an excess is
// tolerated for Grace. quota.go has the rules for Workloads.
//
//	o := oracle.Start(ctx, c, false)        // judges in the background, too
//	err := o.Verify(ctx)                    // everything up to now; the first breach, if any
//	o.Published("ns")                       // names published now, in that namespace
//	o.EverPublished("ns")                   // names that have ever been published
//	o.Timeline("ns/pod")                    // each change of that pod that matters here
package oracle

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"headgate/e2e/cluster"
	"headgate/e2e/headgate"
)

// Grace for an excess after a change from outside reduced room. The daemons need well under 5 s; the
// rest is for a busy machine.
const Grace = 30 * time.Second

// PodState is a pod after one of its changes.
type PodState struct {
	RV        int64
	At        time.Time
	UID       string
	OptedIn   bool
	Gated     bool     // a gate of ours is on
	Gates     []string // all gates
	Published bool     // what autoscalers act upon
	Reason    string   // of the condition PodScheduled
	Node      string
	Phase     corev1.PodPhase
	Deleted   bool // the object is gone
}

type event struct {
	rv       int64
	resource schema.GroupVersionResource
	key      string
	pod      *corev1.Pod // nil for other kinds and when gone
	object   *unstructured.Unstructured
	at       time.Time
	unjudged bool // nothing was promised
}

// stream is one watch.
type stream struct {
	resource schema.GroupVersionResource
	rv       int64            // seen up to here
	objects  map[string]int64 // key -> resourceVersion
	relists  int
}

// Oracle is the watcher; safe for use by several goroutines.
type Oracle struct {
	client dynamic.Interface
	stop   context.CancelFunc
	wg     sync.WaitGroup

	mu        sync.Mutex
	streams   []*stream
	pending   []event
	state     *state
	quota     *quotaState
	now       map[string]PodState // latest, not only judged
	timelines map[string][]PodState
	ever      map[string]bool
	nodes     []NodeCount
	breach    error
	suspended bool
	judged    int
}

var resources = []schema.GroupVersionResource{
	{Version: "v1", Resource: "pods"}, headgate.PodGroups, headgate.Queues,
	{Version: "v1", Resource: "nodes"},
}

var quotaResources = []schema.GroupVersionResource{
	headgate.ClusterQueues, headgate.Cohorts, headgate.Workloads,
	{Group: "batch", Version: "v1", Resource: "jobs"},
}

// NodeCount is how many nodes there were from a moment on.
type NodeCount struct {
	RV    int64
	At    time.Time
	Nodes int
}

// Start begins to watch and judge, with the rules of quota for Workloads where their kinds are served.
// Stop ends it.
func Start(ctx context.Context, c *cluster.Cluster, quota bool) *Oracle {
	ctx, cancel := context.WithCancel(ctx)
	o := &Oracle{
		client: c.Dynamic, stop: cancel, state: newState(), quota: newQuotaState(), now: map[string]PodState{},
		timelines: map[string][]PodState{}, ever: map[string]bool{},
	}
	watched := slices.Clone(resources)
	if quota {
		watched = append(watched, quotaResources...)
	}
	for _, r := range watched {
		s := &stream{resource: r, objects: map[string]int64{}}
		o.streams = append(o.streams, s)
		o.wg.Go(func() { o.follow(ctx, s) })
	}
	o.wg.Go(func() {
		for ctx.Err() == nil {
			_ = o.Verify(ctx)
			wait(ctx, 3*time.Second)
		}
	})
	return o
}

// Suspend makes moments count for nothing while the feature that makes the promise is off.
func (o *Oracle) Suspend(yes bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.suspended = yes
}

// Stop ends watching.
func (o *Oracle) Stop() {
	o.stop()
	o.wg.Wait()
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// follow lists and watches. The API server ends watches at will, in bursts above all: each goes on
// from the last resourceVersion, and only one that is too old costs a new list.
func (o *Oracle) follow(ctx context.Context, s *stream) {
	listed := false
	for ctx.Err() == nil {
		if !listed {
			if err := o.list(ctx, s); err != nil {
				wait(ctx, 200*time.Millisecond)
				continue
			}
			listed = true
		}
		if err := o.watch(ctx, s); apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			listed = false
		} else if err != nil {
			wait(ctx, 200*time.Millisecond)
		}
	}
}

func version(text string) int64 {
	rv, _ := strconv.ParseInt(text, 10, 64)
	return rv
}

func keyOf(u *unstructured.Unstructured) string {
	if u.GetNamespace() == "" {
		return u.GetName()
	}
	return u.GetNamespace() + "/" + u.GetName()
}

func (o *Oracle) list(ctx context.Context, s *stream) error {
	list, err := o.client.Resource(s.resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	rv := version(list.GetResourceVersion())
	o.mu.Lock()
	defer o.mu.Unlock()
	there := map[string]bool{}
	for i := range list.Items {
		u := &list.Items[i]
		there[keyOf(u)] = true
		if s.objects[keyOf(u)] != version(u.GetResourceVersion()) {
			o.record(s, u, version(u.GetResourceVersion()), false)
		}
	}
	for key := range s.objects {
		if !there[key] {
			gone := &unstructured.Unstructured{}
			if space, name, ok := strings.Cut(key, "/"); ok {
				gone.SetNamespace(space)
				gone.SetName(name)
			} else {
				gone.SetName(key)
			}
			o.record(s, gone, rv, true)
		}
	}
	s.rv = max(s.rv, rv)
	s.relists++
	return nil
}

func (o *Oracle) watch(ctx context.Context, s *stream) error {
	o.mu.Lock()
	from := strconv.FormatInt(s.rv, 10)
	o.mu.Unlock()
	w, err := o.client.Resource(s.resource).Watch(ctx, metav1.ListOptions{
		ResourceVersion: from, AllowWatchBookmarks: true})
	if err != nil {
		return err
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if e.Type == watch.Error {
			return apierrors.FromObject(e.Object)
		}
		u, ok := e.Object.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("watch: unexpected %T", e.Object)
		}
		rv := version(u.GetResourceVersion())
		o.mu.Lock()
		if e.Type != watch.Bookmark {
			o.record(s, u, rv, e.Type == watch.Deleted)
		}
		s.rv = max(s.rv, rv)
		o.mu.Unlock()
	}
	return nil
}

// record keeps an event for judgement; the mutex is held.
func (o *Oracle) record(s *stream, u *unstructured.Unstructured, rv int64, gone bool) {
	e := event{rv: rv, resource: s.resource, key: keyOf(u), at: time.Now(), unjudged: o.suspended}
	if gone {
		delete(s.objects, e.key)
	} else {
		s.objects[e.key] = rv
		e.object = u
	}
	if s.resource.Resource == "nodes" {
		// The rules do not use nodes; their number is kept for reports.
		if n := len(o.nodes); n == 0 || o.nodes[n-1].Nodes != len(s.objects) {
			o.nodes = append(o.nodes, NodeCount{RV: rv, At: e.at, Nodes: len(s.objects)})
		}
		return
	}
	if s.resource.Resource == "pods" {
		e.object = nil
		state := PodState{RV: rv, At: e.at, Deleted: gone}
		if last, there := o.now[e.key]; gone && there {
			state = last
			state.RV, state.At, state.Deleted, state.Published = rv, e.at, true, false
		}
		if !gone {
			e.pod = &corev1.Pod{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, e.pod); err != nil {
				o.breach = fmt.Errorf("pod %s does not decode: %w", e.key, err)
				return
			}
			state = podState(e.pod, rv, e.at)
		}
		o.note(e.key, state)
	}
	o.pending = append(o.pending, e)
}

func podState(p *corev1.Pod, rv int64, at time.Time) PodState {
	s := PodState{RV: rv, At: at, UID: string(p.UID), OptedIn: OptedIn(p), Gated: Gated(p),
		Published: newPod(p).published, Node: p.Spec.NodeName, Phase: p.Status.Phase}
	for _, g := range p.Spec.SchedulingGates {
		s.Gates = append(s.Gates, g.Name)
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			s.Reason = c.Reason
		}
	}
	return s
}

func (o *Oracle) note(key string, s PodState) {
	o.now[key] = s
	if s.Published {
		o.ever[key] = true
	}
	all := o.timelines[key]
	if len(all) > 0 {
		last := all[len(all)-1]
		if last.UID == s.UID && slices.Equal(last.Gates, s.Gates) && last.Published == s.Published &&
			last.Reason == s.Reason && last.Node == s.Node && last.Phase == s.Phase &&
			last.Deleted == s.Deleted {
			return
		}
	}
	o.timelines[key] = append(all, s)
}

// Verify waits until all streams have seen everything that is there now, judges it, and returns the
// first breach there has ever been. An error that is not a *Breach means that the API server could
// not be asked.
func (o *Oracle) Verify(ctx context.Context) error {
	until, err := o.catchUp(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.breach != nil {
		return o.breach
	}
	if err != nil {
		return err
	}
	o.judge(until)
	return o.breach
}

// Breach of the promise.
type Breach struct {
	RV int64
	At time.Time
	Of error
}

func (b *Breach) Error() string {
	return fmt.Sprintf("the promise is broken at resourceVersion %d (%s): %v", b.RV,
		b.At.Format("15:04:05.000"), b.Of)
}

// Unwrap: what is exceeded.
func (b *Breach) Unwrap() error { return b.Of }

// catchUp returns the resourceVersion up to which all streams have delivered everything: each is
// compared with a consistent list.
func (o *Oracle) catchUp(ctx context.Context) (int64, error) {
	until := int64(0)
	for _, s := range o.streams {
		list, err := o.client.Resource(s.resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return 0, err
		}
		rv := version(list.GetResourceVersion())
		if until == 0 || rv < until {
			until = rv
		}
		if err := cluster.Poll(ctx, "the watch of "+s.resource.Resource, func(context.Context) error {
			return o.covers(s, list, rv)
		}); err != nil {
			return 0, err
		}
	}
	return until, nil
}

// covers: the stream has delivered all that a list at rv shows.
func (o *Oracle) covers(s *stream, list *unstructured.UnstructuredList, rv int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s.rv >= rv {
		return nil
	}
	there := map[string]bool{}
	for i := range list.Items {
		u := &list.Items[i]
		there[keyOf(u)] = true
		seen, known := s.objects[keyOf(u)]
		if !known || seen < version(u.GetResourceVersion()) {
			return fmt.Errorf("%s is not seen yet", keyOf(u))
		}
	}
	for key := range s.objects {
		if !there[key] {
			return fmt.Errorf("the end of %s is not seen yet", key)
		}
	}
	return nil
}

func (o *Oracle) judge(until int64) {
	slices.SortStableFunc(o.pending, func(a, b event) int { return int(a.rv - b.rv) })
	n := 0
	for n < len(o.pending) && o.pending[n].rv <= until {
		at := o.pending[n].rv
		var e event
		// What a list brought, or one transaction, belongs together.
		for ; n < len(o.pending) && o.pending[n].rv == at; n++ {
			e = o.pending[n]
			o.apply(e)
		}
		o.judged++
		if err := o.quota.check(); err != nil && o.breach == nil {
			o.breach = &Breach{RV: at, At: e.at, Of: err}
		}
		if e.unjudged || e.at.Sub(o.state.loweredAt) <= Grace {
			continue
		}
		if err := o.state.check(); err != nil && o.breach == nil {
			o.breach = &Breach{RV: at, At: e.at, Of: err}
		}
	}
	o.pending = slices.Delete(o.pending, 0, n)
	// An excess that stays, with nothing happening any more, is one, too.
	if o.breach == nil && !o.suspended && time.Since(o.state.loweredAt) > Grace {
		if err := o.state.check(); err != nil {
			o.breach = &Breach{RV: until, At: time.Now(), Of: err}
		}
	}
}

func (o *Oracle) apply(e event) {
	switch e.resource.Resource {
	case "pods":
		o.state.setPod(e.key, e.pod, e.at)
	case "podgroups":
		o.state.setGroup(e.key, e.object, e.at)
	case "queues":
		o.state.setQueue(e.key, e.object, e.at)
	case "workloads":
		o.quota.setWorkload(e.key, e.object, e.rv)
	case "jobs":
		o.quota.setJob(e.key, e.object, e.rv)
	case "clusterqueues":
		setNode(o.quota.queues, e.key, e.object, "cohortName")
	case "cohorts":
		setNode(o.quota.cohorts, e.key, e.object, "parentName")
	}
}

// Err is the breach found so far; it sends no request.
func (o *Oracle) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.breach
}

// Judged counts the moments that were checked.
func (o *Oracle) Judged() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.judged
}

func inNamespace(key, namespace string) (string, bool) {
	space, name, _ := strings.Cut(key, "/")
	return name, space == namespace
}

// Published returns the names of pods in the namespace that are published now, sorted.
func (o *Oracle) Published(namespace string) []string {
	return o.Names(namespace, func(s PodState) bool { return s.Published })
}

// Names returns the pods of the namespace that exist and for which f holds, sorted.
func (o *Oracle) Names(namespace string, f func(PodState) bool) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	names := []string{}
	for key, s := range o.now {
		if name, ok := inNamespace(key, namespace); ok && !s.Deleted && f(s) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// EverPublished returns the names of pods in the namespace that have ever been published, sorted.
func (o *Oracle) EverPublished(namespace string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	names := []string{}
	for key := range o.ever {
		if name, ok := inNamespace(key, namespace); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Timeline returns the states of a pod ("namespace/name") that differ, oldest first. A pod that was
// re-created under its name goes on in the same line, with another UID.
func (o *Oracle) Timeline(key string) []PodState {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.timelines[key])
}

// Nodes returns how many nodes there were, each time that it changed.
func (o *Oracle) Nodes() []NodeCount {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.nodes)
}

// At returns how many nodes there were, and how many pods of the namespace were in phase Running.
func (o *Oracle) At(t time.Time, namespace string) (nodes, running int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range o.nodes {
		if !n.At.After(t) {
			nodes = n.Nodes
		}
	}
	for key, line := range o.timelines {
		if _, ok := inNamespace(key, namespace); !ok {
			continue
		}
		var last PodState
		for _, s := range line {
			if !s.At.After(t) {
				last = s
			}
		}
		if !last.Deleted && last.Phase == corev1.PodRunning {
			running++
		}
	}
	return nodes, running
}

// First returns the first state of the pod for which f holds.
func (o *Oracle) First(key string, f func(PodState) bool) (PodState, bool) {
	for _, s := range o.Timeline(key) {
		if f(s) {
			return s, true
		}
	}
	return PodState{}, false
}
