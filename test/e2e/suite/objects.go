package suite

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"headgate/e2e/cluster"
	"headgate/e2e/headgate"
	"headgate/e2e/oracle"
)

// QueueNameKey is the annotation that names a pod's queue.
const QueueNameKey = "scheduling.volcano.sh/queue-name"

// PodOption changes a pod before it is created.
type PodOption func(*corev1.Pod)

// Opted opts in to the gate.
func Opted(p *corev1.Pod) { p.Annotations[oracle.GateKey] = "true" }

// Queue names the queue of the PodGroup that is made for the pod.
func Queue(name string) PodOption { return Annotation(QueueNameKey, name) }

// Group names the pod's PodGroup.
func Group(name string) PodOption { return Annotation(oracle.GroupKey, name) }

// CompleteAfter lets the pod succeed after it has run for d.
func CompleteAfter(d time.Duration) PodOption { return Annotation(cluster.CompleteAfter, d.String()) }

// Annotation sets one.
func Annotation(key, value string) PodOption {
	return func(p *corev1.Pod) { p.Annotations[key] = value }
}

// Request of the pod's container; without it the pod is best-effort.
func Request(cpu, memory string) PodOption {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = cluster.Resources(cpu, memory) }
}

// Priority names the pod's PriorityClass.
func Priority(class string) PodOption {
	return func(p *corev1.Pod) { p.Spec.PriorityClassName = class }
}

// Gate adds a foreign scheduling gate.
func Gate(name string) PodOption {
	return func(p *corev1.Pod) {
		p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: name})
	}
}

// Select adds a node label that the pod wants.
func Select(key, value string) PodOption {
	return func(p *corev1.Pod) {
		if p.Spec.NodeSelector == nil {
			p.Spec.NodeSelector = map[string]string{}
		}
		p.Spec.NodeSelector[key] = value
	}
}

// Scheduler sets the schedulerName (ours is the default); "" leaves it to Kubernetes.
func Scheduler(name string) PodOption {
	return func(p *corev1.Pod) { p.Spec.SchedulerName = name }
}

// Spec is a pod for the scenario that is not created; for templates of Deployments and the like.
func (s *S) Spec(name string, options ...PodOption) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.Namespace, Annotations: map[string]string{}},
		Spec: corev1.PodSpec{
			SchedulerName: "volcano",
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "main", Image: "registry.k8s.io/pause:3.10"}},
		},
	}
	for _, o := range options {
		o(p)
	}
	return p
}

// Pod creates a pod and returns it as the API server answered.
func (s *S) Pod(name string, options ...PodOption) *corev1.Pod {
	s.Helper()
	return s.createPod(name, metav1.CreateOptions{}, options...)
}

// TryPod asks what Pod would make, and makes nothing; every webhook is asked, too.
func (s *S) TryPod(name string, options ...PodOption) *corev1.Pod {
	s.Helper()
	return s.createPod(name, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}, options...)
}

func (s *S) createPod(name string, how metav1.CreateOptions, options ...PodOption) *corev1.Pod {
	s.Helper()
	var p *corev1.Pod
	s.Must(s.send(func() (err error) {
		p, err = s.Cluster.Client.CoreV1().Pods(s.Namespace).Create(s.Ctx, s.Spec(name, options...), how)
		return err
	}))
	return p
}

// GetPod reads a pod.
func (s *S) GetPod(name string) *corev1.Pod {
	s.Helper()
	p, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).Get(s.Ctx, name, metav1.GetOptions{})
	s.Must(err)
	return p
}

// DeletePod deletes a pod at once; kwok need not end it.
func (s *S) DeletePod(name string) {
	s.Helper()
	s.Must(s.TryDeletePod(name))
}

// TryDeletePod is DeletePod for when the API server may not be there.
func (s *S) TryDeletePod(name string) error {
	now := int64(0)
	return s.Cluster.Client.CoreV1().Pods(s.Namespace).Delete(s.Ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now})
}

// QueueOption changes a queue before it is created.
type QueueOption func(*unstructured.Unstructured)

// Parent of a queue; without it, root.
func Parent(name string) QueueOption {
	return func(q *unstructured.Unstructured) { set(q, name, "spec", "parent") }
}

// Guarantee of a queue; it deserves no less, or the webhook refuses it.
func Guarantee(cpu, memory string) QueueOption {
	return func(q *unstructured.Unstructured) {
		set(q, map[string]any{"cpu": cpu, "memory": memory}, "spec", "guarantee", "resource")
		set(q, map[string]any{"cpu": cpu, "memory": memory}, "spec", "deserved")
	}
}

// Deserved is what a queue may have before others may take it back.
func Deserved(cpu, memory string) QueueOption {
	return func(q *unstructured.Unstructured) {
		set(q, map[string]any{"cpu": cpu, "memory": memory}, "spec", "deserved")
	}
}

func set(o *unstructured.Unstructured, value any, path ...string) {
	if err := unstructured.SetNestedField(o.Object, value, path...); err != nil {
		panic(err)
	}
}

// Queue creates a queue and waits until its state is Open. Queues live in no namespace: the name
// that is returned has the scenario's before it. cpu "" and memory "": no capability.
func (s *S) Queue(name, cpu, memory string, options ...QueueOption) string {
	s.Helper()
	name = s.Namespace + "-" + name
	q := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
		"metadata": map[string]any{"name": name},
		"spec":     map[string]any{"weight": int64(1)},
	}}
	for resource, amount := range map[string]string{"cpu": cpu, "memory": memory} {
		if amount != "" {
			set(q, amount, "spec", "capability", resource)
		}
	}
	for _, o := range options {
		o(q)
	}
	queues := s.Cluster.Dynamic.Resource(headgate.Queues)
	s.Must(s.send(func() error {
		_, err := queues.Create(s.Ctx, q, metav1.CreateOptions{})
		return err
	}))
	s.queues = append(s.queues, name)
	s.Eventually("queue "+name+" is Open", func() error {
		q, err := queues.Get(s.Ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		state, _, _ := unstructured.NestedString(q.Object, "status", "state")
		if state != "Open" {
			return fmt.Errorf("state %q", state)
		}
		return nil
	})
	return name
}

// PodGroup creates one in a queue. minResources may be nil.
func (s *S) PodGroup(name, queue string, minMember int, minResources corev1.ResourceList) {
	s.Helper()
	s.PodGroupOf(name, queue, "", minMember, minResources)
}

// PodGroupOf is PodGroup with a PriorityClass; "": none.
func (s *S) PodGroupOf(name, queue, class string, minMember int, minResources corev1.ResourceList) {
	s.Helper()
	g := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
		"metadata": map[string]any{"name": name, "namespace": s.Namespace},
		"spec":     map[string]any{"queue": queue, "minMember": int64(minMember)},
	}}
	if class != "" {
		set(g, class, "spec", "priorityClassName")
	}
	for resource, amount := range minResources {
		set(g, amount.String(), "spec", "minResources", string(resource))
	}
	s.Must(s.send(func() error {
		_, err := s.Cluster.Dynamic.Resource(headgate.PodGroups).Namespace(s.Namespace).Create(s.Ctx, g, metav1.CreateOptions{})
		return err
	}))
}
