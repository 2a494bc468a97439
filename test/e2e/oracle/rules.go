package oracle

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What the rules look at in objects.
const (
	GateKey      = "scheduling.volcano.sh/queue-allocation-gate"
	GateKeyAlias = "volcano.sh/queue-allocation-gate"
	GroupKey     = "scheduling.k8s.io/group-name"
	queueKey     = "scheduling.volcano.sh/queue-name"
	MarkKey      = "headgate.io/reserved"
	BoundKey     = "headgate.io/bound-by"
	OurScheduler = "volcano"
	maxDepth     = 32
)

// amounts by resource name.
type amounts map[string]resource.Quantity

func (a amounts) add(b amounts) {
	for name, q := range b {
		sum := a[name]
		sum.Add(q)
		a[name] = sum
	}
}

func (a amounts) max(b amounts) {
	for name, q := range b {
		if have, there := a[name]; !there || q.Cmp(have) > 0 {
			a[name] = q
		}
	}
}

func fromList(l corev1.ResourceList) amounts {
	a := amounts{}
	for name, q := range l {
		a[string(name)] = q.DeepCopy()
	}
	return a
}

func fromObject(o *unstructured.Unstructured, path ...string) amounts {
	a := amounts{}
	values, _, _ := unstructured.NestedMap(o.Object, path...)
	for name, v := range values {
		if q, err := resource.ParseQuantity(fmt.Sprint(v)); err == nil {
			a[name] = q
		}
	}
	return a
}

// Request is Kubernetes' effective request: containers and sidecars together, at least what any init
// container needs beside the sidecars started before it, plus overhead; and one pod.
func request(spec *corev1.PodSpec) amounts {
	total, sidecars, peak := amounts{}, amounts{}, amounts{}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		one := fromList(c.Resources.Requests)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sidecars.add(one)
			peak.max(sidecars)
		} else {
			one.add(sidecars)
			peak.max(one)
		}
	}
	for i := range spec.Containers {
		total.add(fromList(spec.Containers[i].Resources.Requests))
	}
	total.add(sidecars)
	total.max(peak)
	total.add(fromList(spec.Overhead))
	total["pods"] = resource.MustParse("1")
	return total
}

type pod struct {
	group             string // "namespace/name", empty: none
	alone             string // the queue of a plain pod that is a group of its own; empty: it is none
	granted           string // the queue that its reservation was charged to, empty: not known
	published, placed bool
	request           amounts
}

func newPod(p *corev1.Pod) *pod {
	finished := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	onNode := p.Spec.NodeName != "" && !finished
	waits := OptedIn(p) && !finished && !onNode && p.DeletionTimestamp == nil
	o := &pod{
		// A pod that was created with a node was never granted quota: the reservations of others stand beside it.
		placed:    onNode && (p.Annotations[MarkKey] != "" || p.Annotations[BoundKey] != ""),
		published: waits && (Unschedulable(p) || PlacedElsewhere(p) && len(p.Spec.SchedulingGates) == 0),
		request:   request(&p.Spec),
		granted:   p.Annotations[MarkKey],
	}
	if group := p.Annotations[GroupKey]; group != "" {
		o.group = p.Namespace + "/" + group
	} else if !OptedIn(p) && metav1.GetControllerOf(p) == nil && p.Spec.SchedulerName == OurScheduler {
		if o.alone = p.Annotations[queueKey]; o.alone == "" {
			o.alone = "default"
		}
	}
	return o
}

// OptedIn says whether the pod asked for the gate.
func OptedIn(p *corev1.Pod) bool {
	return p.Annotations[GateKey] == "true" || p.Annotations[GateKeyAlias] == "true"
}

// PlacedElsewhere says whether Headgate gates the pod for kube-scheduler (--gate-schedulers), which reports Unschedulable
// whenever it likes: such a pod counts from the moment on at which its last gate is off.
func PlacedElsewhere(p *corev1.Pod) bool {
	return p.Spec.SchedulerName == corev1.DefaultSchedulerName
}

// Gated says whether the pod has a gate of ours.
func Gated(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Spec.SchedulingGates, func(g corev1.PodSchedulingGate) bool {
		return g.Name == GateKey || g.Name == GateKeyAlias
	})
}

// Unschedulable is what autoscalers buy nodes for.
func Unschedulable(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
		}
	}
	return false
}

type queue struct {
	parent                string
	capability, guarantee amounts
	published, allocated  amounts // of a check
}

func newQueue(o *unstructured.Unstructured) *queue {
	parent, _, _ := unstructured.NestedString(o.Object, "spec", "parent")
	if parent == "" {
		parent = "root"
	}
	return &queue{
		parent:     parent,
		capability: fromObject(o, "spec", "capability"),
		guarantee:  fromObject(o, "spec", "guarantee", "resource"),
	}
}

// lowered: some dimension of a has less in b, or is limited only there.
func lowered(a, b amounts) bool {
	for name, q := range b {
		if before, there := a[name]; !there || q.Cmp(before) < 0 {
			return true
		}
	}
	return false
}

// raised: some dimension has more in b than in a.
func raised(a, b amounts) bool {
	for name, q := range b {
		before := a[name]
		if q.Cmp(before) > 0 {
			return true
		}
	}
	return false
}

// tighter: what is left for pods of this queue, or of its siblings, can have become less.
func (q *queue) tighter(now *queue) bool {
	return q.parent != now.parent || lowered(q.capability, now.capability) ||
		raised(q.guarantee, now.guarantee) || raised(now.guarantee, q.guarantee)
}

// state is the cluster as the rules see it at one resourceVersion.
type state struct {
	pods   map[string]*pod
	groups map[string]string // PodGroup -> queue
	queues map[string]*queue

	loweredAt time.Time // when a change from outside last reduced room
}

func newState() *state {
	return &state{pods: map[string]*pod{}, groups: map[string]string{}, queues: map[string]*queue{}}
}

func (s *state) setPod(key string, p *corev1.Pod, at time.Time) {
	old := s.pods[key]
	if p == nil {
		delete(s.pods, key)
		return
	}
	now := newPod(p)
	s.pods[key] = now
	// Its owner made it ask for more after quota had been given to it.
	if old != nil && (old.published || old.placed) && (now.published || now.placed) &&
		raised(old.request, now.request) {
		s.loweredAt = at
	}
}

func (s *state) setGroup(key string, o *unstructured.Unstructured, at time.Time) {
	old, there := s.groups[key]
	if o == nil {
		delete(s.groups, key)
		return
	}
	name, _, _ := unstructured.NestedString(o.Object, "spec", "queue")
	if name == "" {
		name = "default"
	}
	s.groups[key] = name
	if there && old != name {
		s.loweredAt = at
	}
}

func (s *state) setQueue(key string, o *unstructured.Unstructured, at time.Time) {
	old := s.queues[key]
	if o == nil {
		delete(s.queues, key)
		if old != nil {
			s.loweredAt = at
		}
		return
	}
	now := newQueue(o)
	s.queues[key] = now
	if old != nil && old.tighter(now) {
		s.loweredAt = at
	}
}

// parentOf: nil for root, and for queues with a parent that does not exist.
func (s *state) parentOf(name string) *queue {
	q := s.queues[name]
	if q == nil || name == "root" {
		return nil
	}
	return s.queues[q.parent]
}

// limit of a queue in one dimension; false: unlimited.
func (s *state) limit(name, dimension string, depth int) (resource.Quantity, bool) {
	q := s.queues[name]
	own, hasOwn := q.capability[dimension]
	if s.parentOf(name) == nil || depth > maxDepth {
		return own, hasOwn
	}
	above, limited := s.limit(q.parent, dimension, depth+1)
	if !limited {
		return own, hasOwn
	}
	// Siblings keep what is guaranteed to them.
	above = above.DeepCopy()
	for sibling, o := range s.queues {
		if sibling != "root" && o.parent == q.parent {
			above.Sub(o.guarantee[dimension])
		}
	}
	if above.Sign() < 0 {
		above = resource.Quantity{}
	}
	above.Add(q.guarantee[dimension])
	if hasOwn && own.Cmp(above) < 0 {
		return own, true
	}
	return above, true
}

// check: at every queue and ancestor, published <= max(0, limit - allocated). What is published and
// asks for something has a PodGroup, or the mark of its queue, or no queue would count it.
func (s *state) check() error {
	for _, q := range s.queues {
		q.published, q.allocated = amounts{}, amounts{}
	}
	for key, p := range s.pods {
		if !p.published && !p.placed {
			continue
		}
		if p.published && p.group == "" && p.granted == "" && len(p.request) > 1 {
			return fmt.Errorf("pod %s is published and has no PodGroup and no mark", key)
		}
		name := s.groups[p.group]
		if p.group == "" {
			name = p.granted
		}
		if p.alone != "" {
			name = p.alone
		}
		// A charge moves with the group only within the other queue's limit: which of the two has it cannot be seen.
		if p.placed && p.granted != "" && p.granted != name {
			continue
		}
		for depth := 0; s.queues[name] != nil && depth < maxDepth; depth++ {
			q := s.queues[name]
			if p.published {
				q.published.add(p.request)
			} else {
				q.allocated.add(p.request)
			}
			if name == "root" {
				break
			}
			name = q.parent
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.queues)) {
		q := s.queues[name]
		for _, dimension := range slices.Sorted(maps.Keys(q.published)) {
			limit, limited := s.limit(name, dimension, 0)
			if !limited {
				continue
			}
			published, allocated := q.published[dimension], q.allocated[dimension]
			room := limit.DeepCopy()
			room.Sub(allocated)
			if room.Sign() < 0 {
				room = resource.Quantity{}
			}
			if published.Cmp(room) > 0 {
				return fmt.Errorf("queue %s: %s %s published, but limit %s - allocated %s",
					name, published.String(), dimension, limit.String(), allocated.String())
			}
		}
	}
	return nil
}
