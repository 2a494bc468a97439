package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// label opts the whole namespace in: its pods need not say anything.
func label(s *suite.S) {
	s.Helper()
	patchNamespace(s, `{"labels":{"`+oracle.GateKey+`":"true"}}`)
}

func patchNamespace(s *suite.S, metadata string) {
	s.Helper()
	_, err := s.Cluster.Client.CoreV1().Namespaces().Patch(s.Ctx, s.Namespace, types.MergePatchType,
		[]byte(`{"metadata":`+metadata+`}`), metav1.PatchOptions{})
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

// evict asks for the eviction of a pod until it is granted: the controller of its PodDisruptionBudget may not have
// counted the pods yet.
func evict(s *suite.S, name string) {
	s.Helper()
	s.Eventually(name+" is evicted", func() error {
		return s.Cluster.Client.PolicyV1().Evictions(s.Namespace).Evict(s.Ctx, &policyv1.Eviction{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.Namespace}})
	})
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
	// The new one has the name of the evicted one, and not its quota: another pod gets that.
	s.Limit(q, "1")
	s.Pod("other", elsewhere, suite.Queue(q), suite.Request("1", "1Gi"))
	evict(s, "db-1")
	s.Eventually("db-1 is back", func() error {
		if w := waiting(s); !slices.Equal(w, []string{"db-1", "other"}) {
			return fmt.Errorf("%v wait", w)
		}
		return nil
	})
	s.Limit(q, "2")
	waitCounts(s, 2, 1)
	beganGated(s, "db-0", "db-1", "db-2", "other")
}

// A Job is made to run more pods at once and fewer, and is suspended and resumed; one of its pods is evicted.
func TestScenario9Job(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "8", "16Gi")
	q := s.Queue("q", "3", "8Gi")
	label(s)
	two, many := int32(2), int32(100)
	jobs := s.Cluster.Client.BatchV1().Jobs(s.Namespace)
	_, err := jobs.Create(s.Ctx, &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "job"},
		Spec: batchv1.JobSpec{Parallelism: &two, Completions: &many, BackoffLimit: &many,
			Template: template(s, "job", elsewhere, suite.Queue(q), suite.Request("1", "1Gi"))},
	}, metav1.CreateOptions{})
	s.Must(err)
	change := func(spec string) {
		_, err := jobs.Patch(s.Ctx, "job", types.MergePatchType, []byte(`{"spec":`+spec+`}`), metav1.PatchOptions{})
		s.Must(err)
	}
	waitCounts(s, 2, 0)
	change(`{"parallelism":5}`)
	waitCounts(s, 3, 2)
	began := everyPod(s)
	s.WaitRunning(holding(s, "job-")...)
	evicted := holding(s, "job-")[0]
	evict(s, evicted)
	s.WaitGone(evicted)
	waitCounts(s, 3, 2)
	for _, name := range holding(s, "job-") {
		if !slices.Contains(began, name) || s.Ungated(name).RV() > s.Gone(evicted).RV() {
			s.Before("the next one waits for the quota of the evicted pod", s.Gone(evicted), s.Ungated(name))
		}
	}
	began = append(began, everyPod(s)...)
	change(`{"parallelism":1}`)
	waitCounts(s, 1, 0)
	change(`{"suspend":true}`)
	waitCounts(s, 0, 0)
	wholeQueueIsFree(s, q, "while-suspended", "3")
	change(`{"suspend":false,"parallelism":4}`)
	waitCounts(s, 3, 1)
	beganGated(s, append(began, everyPod(s)...)...)
	background := metav1.DeletePropagationBackground
	s.Must(jobs.Delete(s.Ctx, "job", metav1.DeleteOptions{PropagationPolicy: &background}))
	waitCounts(s, 0, 0)
	wholeQueueIsFree(s, q, "after", "3")
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
	evict(s, running[0])
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
