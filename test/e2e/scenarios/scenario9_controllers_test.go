package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// label opts the whole namespace in: its pods need not say anything.
func label(s *suite.S) {
	s.Helper()
	patch := []byte(`{"metadata":{"labels":{"` + oracle.GateKey + `":"true"}}}`)
	_, err := s.Cluster.Client.CoreV1().Namespaces().Patch(s.Ctx, s.Namespace, types.MergePatchType, patch, metav1.PatchOptions{})
	s.Must(err)
}

// explains waits until headgatectl says this of the pod.
func explains(s *suite.S, pod string, words ...string) {
	s.Helper()
	wants(s, "headgatectl explain pod "+pod, words, func() (string, error) {
		return s.Headgate.Ctl(s.Ctx, "explain", "pod", s.Namespace+"/"+pod)
	})
}

// beganGated fails unless each pod that was ever seen under one of these names had its gate at first.
func beganGated(s *suite.S, names ...string) {
	s.Helper()
	for _, name := range names {
		seen := map[string]bool{}
		for _, state := range s.Oracle.Timeline(s.Namespace + "/" + name) {
			if !state.Deleted && !seen[state.UID] && !state.Gated {
				s.Errorf("%s began without gate: %+v", name, state)
			}
			seen[state.UID] = true
		}
	}
}

// replicaSet creates one with pods of the app that kube-scheduler places on nodes of the scenario.
func replicaSet(s *suite.S, app string, replicas int32, options ...suite.PodOption) {
	s.Helper()
	options = append([]suite.PodOption{restarts, elsewhere, suite.Select("e2e.headgate.io/scenario", s.Namespace)}, options...)
	_, err := s.Cluster.Client.AppsV1().ReplicaSets(s.Namespace).Create(s.Ctx, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: app},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
			Template: template(s, app, options...)},
	}, metav1.CreateOptions{})
	s.Must(err)
}

// A StatefulSet starts its pods one by one, and replaces them one by one under the same names. Each waits for quota
// first, and holds up the next one.
func TestScenario9StatefulSet(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "8", "16Gi")
	q := s.Queue("q", "2", "8Gi")
	label(s)
	replicas := int32(4)
	sets := s.Cluster.Client.AppsV1().StatefulSets(s.Namespace)
	_, err := sets.Create(s.Ctx, &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec: appsv1.StatefulSetSpec{Replicas: &replicas, ServiceName: "db",
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}},
			Template: template(s, "db", restarts, elsewhere, suite.Queue(q), suite.Request("1", "1Gi"))},
	}, metav1.CreateOptions{})
	s.Must(err)
	s.WaitRunning("db-0", "db-1")
	s.WaitGated("db-2") // and db-3 is not created before it is ready
	explains(s, "db-2", "waits for quota")
	explains(s, "db-0", "Charge:    Bound")

	scale := func(n int32) {
		patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n)
		_, err := sets.Patch(s.Ctx, "db", types.MergePatchType, patch, metav1.PatchOptions{}, "scale")
		s.Must(err)
	}
	scale(1)
	waitCounts(s, 1, 0)
	scale(2)
	s.WaitRunning("db-0", "db-1")
	waitCounts(s, 2, 0)

	change := []byte(`{"spec":{"template":{"metadata":{"annotations":{"revision":"2"}}}}}`)
	_, err = sets.Patch(s.Ctx, "db", types.MergePatchType, change, metav1.PatchOptions{})
	s.Must(err)
	s.Eventually("both pods are of the new revision", func() error {
		d, err := sets.Get(s.Ctx, "db", metav1.GetOptions{})
		if err == nil && (d.Status.ObservedGeneration < d.Generation || d.Status.UpdatedReplicas != 2 ||
			d.Status.ReadyReplicas != 2 || d.Status.CurrentRevision != d.Status.UpdateRevision) {
			err = fmt.Errorf("%+v", d.Status)
		}
		return err
	})
	beganGated(s, "db-0", "db-1", "db-2")
}

// A node that is gone takes its pods with it. What replaces them waits at the gate until they have gone.
func TestScenario9NodeLoss(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(2, "1", "4Gi")
	q := s.Queue("q", "2", "8Gi")
	label(s)
	replicaSet(s, "web", 2, suite.Queue(q), suite.Request("1", "1Gi"))
	waitCounts(s, 2, 0)
	before := holding(s, "web-")
	s.WaitRunning(before...)
	lost := before[0]
	if s.GetPod(lost).Spec.NodeName != s.NodeName(0) {
		lost = before[1]
	}
	s.Must(s.Cluster.Client.CoreV1().Nodes().Delete(s.Ctx, s.NodeName(0), metav1.DeleteOptions{}))
	// The garbage collector of pods waits for 40 seconds whether the node comes back.
	s.Eventually("the pod is gone with its node", func() error {
		_, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).Get(s.Ctx, lost, metav1.GetOptions{})
		if err == nil {
			return fmt.Errorf("%s is still there", lost)
		}
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	// No node has room for the new pod, which has quota all the same: an autoscaler would see it.
	waitCounts(s, 2, 0)
	var fresh string
	for _, name := range holding(s, "web-") {
		if name != before[0] && name != before[1] {
			fresh = name
		}
	}
	s.Before("the new pod waits for the quota of the old one", s.Gone(lost), s.Ungated(fresh))
	beganGated(s, append(before, fresh)...)
	s.Eventually(fresh+" is reported by kube-scheduler", func() error {
		if p := s.GetPod(fresh); !oracle.Unschedulable(p) {
			return fmt.Errorf("%+v", p.Status.Conditions)
		}
		return nil
	})
	explains(s, fresh, "has quota, and its own scheduler finds no node for it")
	s.Nodes(1, "1", "4Gi")
	s.WaitRunning(fresh)
}

// Pods are evicted as far as a disruption budget allows, and what replaces them waits at the gate.
func TestScenario9Eviction(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "8", "16Gi")
	q := s.Queue("q", "2", "8Gi")
	label(s)
	replicaSet(s, "web", 3, suite.Queue(q), suite.Request("1", "1Gi"))
	waitCounts(s, 2, 1)
	running := holding(s, "web-")
	s.WaitRunning(running...)
	one := intstr.FromInt32(1)
	_, err := s.Cluster.Client.PolicyV1().PodDisruptionBudgets(s.Namespace).Create(s.Ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &one,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}, metav1.CreateOptions{})
	s.Must(err)
	evict := func(name string) error {
		return s.Cluster.Client.PolicyV1().Evictions(s.Namespace).Evict(s.Ctx, &policyv1.Eviction{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.Namespace}})
	}
	// The budget's controller may not have counted the pods yet.
	s.Eventually(running[0]+" is evicted", func() error { return evict(running[0]) })
	s.Eventually(running[0]+" is gone", func() error {
		if slices.Contains(holding(s, ""), running[0]) {
			return fmt.Errorf("it is still there")
		}
		return nil
	})
	waitCounts(s, 2, 1)
	now := holding(s, "web-")
	s.WaitRunning(now...)
	for _, name := range now {
		if name != running[1] {
			s.Before("the next one waits for the quota of the evicted pod", s.Gone(running[0]), s.Ungated(name))
		}
	}
	explains(s, waiting(s)[0], "waits for quota")
	for _, name := range append(now, waiting(s)...) {
		if strings.HasPrefix(name, "web-") {
			beganGated(s, name)
		}
	}
}
