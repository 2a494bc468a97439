package scenarios

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"headgate/e2e/suite"
)

// kubePodGroups are the flags by which kube-apiserver serves the PodGroups of Kubernetes.
var kubePodGroups = []string{"--feature-gates=GenericWorkload=true", "--runtime-config=scheduling.k8s.io/v1beta1=true"}

// member puts the pod into a PodGroup of Kubernetes.
func member(group string) suite.PodOption {
	return func(p *corev1.Pod) { p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group} }
}

// kubeGang creates a PodGroup of Kubernetes with a minimum; 0: with the policy basic.
func kubeGang(s *suite.S, name string, min int32) {
	s.Helper()
	policy := schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}}
	if min > 0 {
		policy = schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: min}}
	}
	_, err := s.Cluster.Client.SchedulingV1beta1().PodGroups(s.Namespace).Create(s.Ctx, &schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       schedulingv1beta1.PodGroupSpec{SchedulingPolicy: policy},
	}, metav1.CreateOptions{})
	s.Must(err)
}

// A PodGroup of Kubernetes gets the quota of its minimum as a whole, and kube-scheduler starts its pods together.
func TestScenario9KubernetesPodGroups(t *testing.T) {
	s := suite.StartOwn(t, suite.Options{APIServerArgs: kubePodGroups,
		SchedulerArgs: []string{"--feature-gates=GenericWorkload=true"}})
	s.Nodes(2, "4", "8Gi")
	q := s.Queue("q", "4", "16Gi")
	add := func(name, group string, more ...suite.PodOption) {
		s.Pod(name, append([]suite.PodOption{elsewhere, suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"), member(group)}, more...)...)
	}

	// Pods may come before their PodGroup, and wait for it.
	add("a-0", "a")
	add("a-1", "a")
	add("a-2", "a")
	s.SchedulerSawAll()
	s.WaitGated("a-0", "a-1", "a-2")
	kubeGang(s, "a", 3)
	s.WaitRunning("a-0", "a-1", "a-2")

	// There is room for one pod of the next PodGroup, which needs two.
	kubeGang(s, "b", 2)
	add("b-0", "b")
	add("b-1", "b")
	s.SchedulerSawAll()
	s.WaitGated("b-0", "b-1")
	// With the policy basic one of two gets the room that is left.
	kubeGang(s, "basic", 0)
	add("basic-0", "basic")
	add("basic-1", "basic")
	s.Eventually("one pod without a gang has quota", func() error {
		if h := holding(s, "basic-"); len(h) != 1 {
			return fmt.Errorf("%v have", h)
		}
		return nil
	})
	s.DeletePod("basic-0")
	s.DeletePod("basic-1")
	s.DeletePod("a-0")
	s.WaitRunning("b-0", "b-1")
	s.Before("a gang has quota when there is room for all of it", s.Gone("a-0"), s.Ungated("b-0"))

	// Which of two PodGroups counts cannot be known: an event says so.
	add("both", "a", suite.Group("v"))
	waitEvent(s, "both", "Unsupported")
	out, err := s.Headgate.Kubectl(s.Ctx, "", "get", "podgroups", "-n", s.Namespace, "-o", "name")
	s.Must(err)
	if want := "podgroup.scheduling.k8s.io/a\npodgroup.scheduling.k8s.io/b\npodgroup.scheduling.k8s.io/basic\n"; out != want {
		t.Errorf("kubectl get podgroups: %q, want %q", out, want)
	}
}
