package oracle

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func testQueue(parent, cpu, guarantee string) *unstructured.Unstructured {
	spec := map[string]any{"parent": parent}
	if cpu != "" {
		spec["capability"] = map[string]any{"cpu": cpu}
	}
	if guarantee != "" {
		spec["guarantee"] = map[string]any{"resource": map[string]any{"cpu": guarantee}}
	}
	return &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
}

func testPod(group, cpu string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns",
			Annotations: map[string]string{GateKey: "true", GroupKey: group}},
		Spec: corev1.PodSpec{SchedulerName: OurScheduler, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func byHand(p *corev1.Pod) { p.Spec.NodeName = "n" }
func moved(p *corev1.Pod)  { p.Annotations[MarkKey] = "b" }
func alone(p *corev1.Pod) {
	notOpted(p)
	p.Spec.SchedulerName = OurScheduler
	p.Annotations[queueKey] = "a"
}
func finished(p *corev1.Pod)  { p.Status.Phase = corev1.PodSucceeded }
func ending(p *corev1.Pod)    { p.DeletionTimestamp = &metav1.Time{Time: time.Now()} }
func notOpted(p *corev1.Pod)  { delete(p.Annotations, GateKey) }
func withdrawn(p *corev1.Pod) { p.Status.Conditions[0].Reason = "NotReadyForScheduling" }
func elsewhere(p *corev1.Pod) {
	p.Spec.SchedulerName = corev1.DefaultSchedulerName
	p.Status.Conditions = nil
}
func gated(p *corev1.Pod) {
	p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: GateKey}}
}
func marked(p *corev1.Pod) { p.Annotations[MarkKey] = "a" }
func bestEffort(p *corev1.Pod) {
	p.Spec.Containers[0].Resources.Requests = nil
}
func onNode(p *corev1.Pod) {
	p.Spec.NodeName = "n"
	p.Annotations[BoundKey] = "headgate-scheduler"
}
func alias(p *corev1.Pod) {
	delete(p.Annotations, GateKey)
	p.Annotations[GateKeyAlias] = "true"
}

func sidecar(p *corev1.Pod) {
	always := corev1.ContainerRestartPolicyAlways
	p.Spec.InitContainers = []corev1.Container{{RestartPolicy: &always, Resources: p.Spec.Containers[0].Resources}}
}

func TestRules(t *testing.T) {
	// parent has 4 CPU; a has 2, b no limit of its own and 1 guaranteed.
	for _, c := range []struct {
		name   string
		a, b   []*corev1.Pod // of the queues a and b
		breach string        // part of the message
	}{
		{name: "nothing"},
		{name: "at the limit", a: []*corev1.Pod{testPod("a", "1"), testPod("a", "1")}},
		{name: "beyond the limit", a: []*corev1.Pod{testPod("a", "1"), testPod("a", "1100m")}, breach: "queue a"},
		{name: "what is allocated counts", a: []*corev1.Pod{testPod("a", "1500m"), testPod("a", "1", onNode)}, breach: "queue a"},
		{name: "allocated by others counts", a: []*corev1.Pod{testPod("a", "1500m"), testPod("a", "1", onNode, notOpted)}, breach: "queue a"},
		{name: "what was placed by hand takes nothing", a: []*corev1.Pod{testPod("a", "1500m"), testPod("a", "1", byHand)}},
		{name: "allocated beyond the limit alone", a: []*corev1.Pod{testPod("a", "3", onNode)}},
		{name: "a group that was moved", a: []*corev1.Pod{testPod("a", "1500m"), testPod("a", "1", onNode, moved)}},
		{name: "a move of what is published", a: []*corev1.Pod{testPod("a", "3", moved)}, breach: "queue a"},
		{name: "finished does not count", a: []*corev1.Pod{testPod("a", "2"), testPod("a", "1", onNode, finished)}},
		{name: "ending without node is no demand", a: []*corev1.Pod{testPod("a", "3", ending)}},
		{name: "ending on a node counts", a: []*corev1.Pod{testPod("a", "1"), testPod("a", "1500m", onNode, ending)}, breach: "queue a"},
		{name: "not opted in", a: []*corev1.Pod{testPod("a", "3", notOpted)}},
		{name: "the other spelling", a: []*corev1.Pod{testPod("a", "3", alias)}, breach: "queue a"},
		{name: "withdrawn", a: []*corev1.Pod{testPod("a", "3", withdrawn)}},
		{name: "sidecars count", a: []*corev1.Pod{testPod("a", "1500m", sidecar)}, breach: "queue a: 3 cpu"},
		{name: "the parent's limit", a: []*corev1.Pod{testPod("a", "2")}, b: []*corev1.Pod{testPod("b", "2500m")}, breach: "queue parent"},
		{name: "a sibling's guarantee", b: []*corev1.Pod{testPod("b", "4")}},
		{name: "limits come from above", b: []*corev1.Pod{testPod("b", "5")}, breach: "queue b"},
		{name: "a pod that is a group of its own counts", a: []*corev1.Pod{testPod("a", "1500m"), testPod("", "1", onNode, alone)}, breach: "queue a"},
		{name: "no group, no queue", a: []*corev1.Pod{testPod("", "9")}, breach: "no PodGroup"},
		{name: "not opted in, no group", a: []*corev1.Pod{testPod("", "9", notOpted)}},
		{name: "no group, but a mark", a: []*corev1.Pod{testPod("", "2", marked)}},
		{name: "beyond the limit by a mark", a: []*corev1.Pod{testPod("", "3", marked)}, breach: "queue a"},
		{name: "of another scheduler, without a gate", a: []*corev1.Pod{testPod("a", "3", elsewhere)}, breach: "queue a"},
		{name: "of another scheduler, gated", a: []*corev1.Pod{testPod("a", "3", elsewhere, gated)}},
		{name: "of another scheduler, at the limit", a: []*corev1.Pod{testPod("a", "1", elsewhere, marked), testPod("a", "1", elsewhere, marked, onNode)}},
		{name: "of another scheduler, not opted in", a: []*corev1.Pod{testPod("a", "3", elsewhere, notOpted)}},
		{name: "no request, no group", a: []*corev1.Pod{testPod("", "9", bestEffort)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newState()
			for name, q := range map[string]*unstructured.Unstructured{
				"root": testQueue("", "", ""), "parent": testQueue("root", "4", ""),
				"a": testQueue("parent", "2", ""), "b": testQueue("parent", "", "1"),
			} {
				s.setQueue(name, q, time.Time{})
			}
			for _, name := range []string{"a", "b"} {
				group := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"queue": name}}}
				s.setGroup("ns/"+name, group, time.Time{})
			}
			for i, p := range append(c.a, c.b...) {
				s.setPod(string(rune('a'+i)), p, time.Time{})
			}
			err := s.check()
			switch {
			case c.breach == "" && err != nil:
				t.Errorf("unexpected: %v", err)
			case c.breach != "" && (err == nil || !strings.Contains(err.Error(), c.breach)):
				t.Errorf("got %v, want %q", err, c.breach)
			}
		})
	}
}

func TestLowered(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name     string
		old, new *unstructured.Unstructured
		lowered  bool
	}{
		{"same", testQueue("root", "2", ""), testQueue("root", "2", ""), false},
		{"raised", testQueue("root", "2", ""), testQueue("root", "3", ""), false},
		{"lifted", testQueue("root", "2", ""), testQueue("root", "", ""), false},
		{"lowered", testQueue("root", "2", ""), testQueue("root", "1", ""), true},
		{"limited", testQueue("root", "", ""), testQueue("root", "1", ""), true},
		{"moved", testQueue("root", "2", ""), testQueue("other", "2", ""), true},
		{"guarantee", testQueue("root", "2", ""), testQueue("root", "2", "1"), true},
		{"gone", testQueue("root", "2", ""), nil, true},
	} {
		s := newState()
		s.setQueue("q", c.old, time.Time{})
		s.setQueue("q", c.new, now)
		if got := s.loweredAt.Equal(now); got != c.lowered {
			t.Errorf("%s: lowered %v, want %v", c.name, got, c.lowered)
		}
	}
}
