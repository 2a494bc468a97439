package main

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"headgate/differential/lib"
)

// memory is the API server of Kueue's scheduler: objects in maps, and the few verbs that a cycle
// uses. Any other verb is one of a nil client, and ends the program.
type memory struct {
	client.Client
	sync.Mutex
	namespaces map[string]*corev1.Namespace
	locals     []*kueue.LocalQueue
	queues     map[string]*kueue.ClusterQueue
	workloads  map[string]*kueue.Workload
	changed    map[string]*kueue.Workload // by key: as it was before the first patch of this cycle
}

func newMemory(c *cluster) *memory {
	m := &memory{
		namespaces: map[string]*corev1.Namespace{},
		locals:     lib.Copies(c.locals),
		queues:     map[string]*kueue.ClusterQueue{},
		workloads:  map[string]*kueue.Workload{},
		changed:    map[string]*kueue.Workload{},
	}
	for _, n := range c.namespaces {
		m.namespaces[n.Name] = n
	}
	for _, q := range c.queues {
		m.queues[q.Name] = q
	}
	for _, w := range c.workloads {
		m.workloads[w.Namespace+"/"+w.Name] = w.DeepCopy()
	}
	return m
}

func notFound(kind, name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: kind}, name)
}

func (m *memory) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	m.Lock()
	defer m.Unlock()
	switch o := obj.(type) {
	case *corev1.Namespace:
		if n, ok := m.namespaces[key.Name]; ok {
			n.DeepCopyInto(o)
			return nil
		}
	case *kueue.LocalQueue:
		for _, l := range m.locals {
			if l.Namespace == key.Namespace && l.Name == key.Name {
				l.DeepCopyInto(o)
				return nil
			}
		}
	case *kueue.ClusterQueue:
		if q, ok := m.queues[key.Name]; ok {
			q.DeepCopyInto(o)
			apimeta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: kueue.ClusterQueueActive,
				Status: metav1.ConditionTrue, Reason: "Ready"})
			return nil
		}
	case *kueue.Workload:
		if w, ok := m.workloads[key.String()]; ok {
			w.DeepCopyInto(o)
			return nil
		}
	}
	return notFound("object", key.String())
}

func matches(options client.ListOptions, namespace string, values fields.Set) bool {
	if options.Namespace != "" && options.Namespace != namespace {
		return false
	}
	return options.FieldSelector == nil || options.FieldSelector.Matches(values)
}

func (m *memory) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var options client.ListOptions
	options.ApplyOptions(opts)
	m.Lock()
	defer m.Unlock()
	switch l := list.(type) {
	case *kueue.LocalQueueList:
		for _, q := range m.locals {
			if matches(options, q.Namespace, fields.Set{"spec.clusterQueue": string(q.Spec.ClusterQueue)}) {
				l.Items = append(l.Items, *q.DeepCopy())
			}
		}
	case *kueue.WorkloadList:
		for _, w := range m.workloads {
			set := fields.Set{"spec.queueName": string(w.Spec.QueueName)}
			if w.Status.Admission != nil {
				set["status.admission.clusterQueue"] = string(w.Status.Admission.ClusterQueue)
			}
			if matches(options, w.Namespace, set) {
				l.Items = append(l.Items, *w.DeepCopy())
			}
		}
	}
	return nil
}

func (m *memory) Status() client.SubResourceWriter { return &statusWriter{memory: m} }

type statusWriter struct {
	client.SubResourceWriter
	memory *memory
}

// Patch merges what the scheduler applies: it owns the admission, and the conditions that it sends.
func (s *statusWriter) Patch(_ context.Context, obj client.Object, _ client.Patch,
	_ ...client.SubResourcePatchOption) error {
	patch := obj.(*kueue.Workload)
	key := patch.Namespace + "/" + patch.Name
	m := s.memory
	m.Lock()
	defer m.Unlock()
	w, ok := m.workloads[key]
	if !ok {
		return notFound("workloads", key)
	}
	if _, again := m.changed[key]; !again {
		m.changed[key] = w.DeepCopy()
	}
	w.Status.Admission = patch.Status.Admission.DeepCopy()
	for _, condition := range patch.Status.Conditions {
		apimeta.SetStatusCondition(&w.Status.Conditions, condition)
	}
	w.Status.RequeueState = patch.Status.RequeueState.DeepCopy()
	w.Status.SchedulingStats = patch.Status.SchedulingStats.DeepCopy()
	w.Status.PreemptionGates = patch.DeepCopy().Status.PreemptionGates
	w.DeepCopyInto(patch)
	return nil
}

// Update takes the status of a LocalQueue.
func (s *statusWriter) Update(_ context.Context, obj client.Object, _ ...client.SubResourceUpdateOption) error {
	l := obj.(*kueue.LocalQueue)
	s.memory.Lock()
	defer s.memory.Unlock()
	for _, known := range s.memory.locals {
		if known.Namespace == l.Namespace && known.Name == l.Name {
			l.Status.DeepCopyInto(&known.Status)
		}
	}
	return nil
}

// recorder notes victims with their preemptors, and the reasons of heads that wait.
type recorder struct {
	sync.Mutex
	preemptor map[string]string // by victim
	pending   map[string]string // reason by Workload
}

func newRecorder() *recorder {
	return &recorder{preemptor: map[string]string{}, pending: map[string]string{}}
}

func (r *recorder) Eventf(regarding, _ runtime.Object, eventtype, reason, _, _ string, args ...any) {
	w := regarding.(*kueue.Workload)
	key := w.Namespace + "/" + w.Name
	r.Lock()
	defer r.Unlock()
	switch {
	case reason == "PreemptedWorkload":
		r.preemptor[args[0].(klog.ObjectRef).String()] = key
	case eventtype == corev1.EventTypeWarning:
		r.pending[key] = reason
	}
}
