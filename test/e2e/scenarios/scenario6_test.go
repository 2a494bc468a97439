package scenarios

import (
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/headgate"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// template is a pod template with a label for its owner's selector.
func template(s *suite.S, app string, options ...suite.PodOption) corev1.PodTemplateSpec {
	p := s.Spec("", options...)
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}, Annotations: p.Annotations},
		Spec:       p.Spec,
	}
}

// restarts lets the pods of Deployments and StatefulSets restart.
func restarts(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyAlways }

// waitCounts waits until so many pods have quota and so many wait for it.
func waitCounts(s *suite.S, with, without int) {
	s.Helper()
	s.Eventually(fmt.Sprintf("%d pods have quota and %d wait", with, without), func() error {
		if h, w := holding(s, ""), waiting(s); len(h) != with || len(w) != without {
			return fmt.Errorf("with %v, without %v", h, w)
		}
		return nil
	})
}

// waitPodGroupOf waits until there is exactly one PodGroup, of that owner, and every pod names it.
func waitPodGroupOf(s *suite.S, owner types.UID) {
	s.Helper()
	want := "podgroup-" + string(owner)
	s.Eventually("the pods share PodGroup "+want, func() error {
		groups, err := s.Cluster.Dynamic.Resource(headgate.PodGroups).Namespace(s.Namespace).List(s.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(groups.Items) != 1 || groups.Items[0].GetName() != want {
			return fmt.Errorf("%d PodGroups", len(groups.Items))
		}
		pods, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).List(s.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, p := range pods.Items {
			if p.Annotations[oracle.GroupKey] != want {
				return fmt.Errorf("%s names %q", p.Name, p.Annotations[oracle.GroupKey])
			}
		}
		return nil
	})
}

// A Job that wants more at once than its queue has: the pods take turns until all are done.
func TestScenario6JobLargerThanItsQuota(t *testing.T) {
	const parallelism, quota = 6, 2

	s := suite.Start(t)
	s.Nodes(2, "8", "16Gi")
	q := s.Queue("q", fmt.Sprint(quota), "8Gi")
	n := int32(parallelism)
	job, err := s.Cluster.Client.BatchV1().Jobs(s.Namespace).Create(s.Ctx, &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "job"},
		Spec: batchv1.JobSpec{Parallelism: &n, Completions: &n,
			Template: template(s, "job", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"),
				suite.CompleteAfter(2*time.Second))},
	}, metav1.CreateOptions{})
	s.Must(err)
	waitPodGroupOf(s, job.UID)
	s.Eventually("the Job is complete", func() error {
		j, err := s.Cluster.Client.BatchV1().Jobs(s.Namespace).Get(s.Ctx, "job", metav1.GetOptions{})
		if err == nil && j.Status.Succeeded != parallelism {
			err = fmt.Errorf("%d succeeded", j.Status.Succeeded)
		}
		return err
	})
	var pods []string
	s.Eventually("its pods succeeded", func() error {
		pods = s.Oracle.Names(s.Namespace, func(p oracle.PodState) bool { return p.Phase == corev1.PodSucceeded })
		if len(pods) != parallelism {
			return fmt.Errorf("%v", pods)
		}
		return nil
	})
	turns := slices.SortedFunc(slices.Values(pods), func(a, b string) int { return int(s.Ungated(a).RV() - s.Ungated(b).RV()) })
	ends := slices.SortedFunc(slices.Values(pods), func(a, b string) int { return int(s.Succeeded(a).RV() - s.Succeeded(b).RV()) })
	for i := quota; i < parallelism; i++ {
		s.Before("its turn comes when another one is done", s.Succeeded(ends[i-quota]), s.Ungated(turns[i]))
	}
}

// A Deployment with the annotation in its pod template: pods with quota run, the rest waits; after
// scaling down no other pod takes the place, after scaling up new pods wait.
func TestScenario6Deployment(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "8", "16Gi")
	q := s.Queue("q", "2", "8Gi")
	replicas := int32(3)
	apps := s.Cluster.Client.AppsV1()
	_, err := apps.Deployments(s.Namespace).Create(s.Ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: template(s, "web", restarts, suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))},
	}, metav1.CreateOptions{})
	s.Must(err)
	waitCounts(s, 2, 1)
	sets, err := apps.ReplicaSets(s.Namespace).List(s.Ctx, metav1.ListOptions{})
	s.Must(err)
	waitPodGroupOf(s, sets.Items[0].UID)
	scale := func(n int) {
		patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n)
		_, err := apps.Deployments(s.Namespace).Patch(s.Ctx, "web", types.MergePatchType, patch, metav1.PatchOptions{}, "scale")
		s.Must(err)
	}
	// The controller takes the pod that does not run first.
	scale(2)
	waitCounts(s, 2, 0)
	scale(4)
	waitCounts(s, 2, 2)
	s.WaitRunning(holding(s, "")...)
}

// A StatefulSet's pods come back under their names: the new one is another pod, with a gate of its
// own, and the quota of the old one is free when it is gone.
func TestScenario6StatefulSetReusesNames(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "8", "16Gi")
	q := s.Queue("q", "2", "8Gi")
	replicas := int32(3)
	_, err := s.Cluster.Client.AppsV1().StatefulSets(s.Namespace).Create(s.Ctx, &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec: appsv1.StatefulSetSpec{Replicas: &replicas, ServiceName: "db", PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}},
			Template: template(s, "db", restarts, suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))},
	}, metav1.CreateOptions{})
	s.Must(err)
	waitCounts(s, 2, 1)
	s.WaitRunning(holding(s, "")...)
	for range 4 {
		name := holding(s, "")[0]
		old := s.GetPod(name).UID
		s.DeletePod(name)
		// By the view of the oracle, which has the pods that hold quota.
		s.Eventually(name+" is back", func() error {
			line := s.Oracle.Timeline(s.Namespace + "/" + name)
			if now := line[len(line)-1]; now.Deleted || now.UID == string(old) {
				return fmt.Errorf("still the old one")
			}
			return nil
		})
		waitCounts(s, 2, 1)
		s.WaitRunning(holding(s, "")...)
	}
	// Every pod that came was gated first, also those under a name that had lost its gate before.
	for n := range 3 {
		seen := map[string]bool{}
		for _, state := range s.Oracle.Timeline(fmt.Sprintf("%s/db-%d", s.Namespace, n)) {
			if state.Deleted || seen[state.UID] {
				continue
			}
			seen[state.UID] = true
			if !state.Gated {
				t.Errorf("db-%d began without gate: %+v", n, state)
			}
		}
	}
}
