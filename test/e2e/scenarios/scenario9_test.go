package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// labelNamespace opts in all pods of the namespace, with a queue for those that name none.
func labelNamespace(s *suite.S, queue string) {
	s.Helper()
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:"true"},"annotations":{%q:%q}}}`, oracle.GateKey, suite.QueueNameKey, queue)
	_, err := s.Cluster.Client.CoreV1().Namespaces().Patch(s.Ctx, s.Namespace, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	s.Must(err)
}

// apart keeps the pods of an app on different nodes of the scenario.
func apart(s *suite.S, app string) suite.PodOption {
	return func(p *corev1.Pod) {
		suite.Select("e2e.headgate.io/scenario", s.Namespace)(p)
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
				TopologyKey:   "kubernetes.io/hostname",
			}},
		}}
	}
}

// mostUngated is how many pods with this prefix were ever ungated and unfinished at one time.
func mostUngated(s *suite.S, prefix string) int {
	type change struct {
		rv   int64
		step int
	}
	var changes []change
	for _, name := range s.Oracle.Names(s.Namespace, func(oracle.PodState) bool { return true }) {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		held := false
		for _, p := range s.Oracle.Timeline(s.Namespace + "/" + name) {
			holds := !p.Gated && !p.Deleted && p.Phase != corev1.PodSucceeded && p.Phase != corev1.PodFailed
			if holds != held {
				step := -1
				if holds {
					step = 1
				}
				changes = append(changes, change{p.RV, step})
				held = holds
			}
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.rv, b.rv) })
	most, now := 0, 0
	for _, c := range changes {
		now += c.step
		most = max(most, now)
	}
	return most
}

// runningOf are the pods with this prefix that run.
func runningOf(s *suite.S, prefix string) []string {
	names := s.Oracle.Names(s.Namespace, func(p oracle.PodState) bool { return !p.Deleted && p.Phase == corev1.PodRunning })
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) })
}

// A Deployment for kube-scheduler in a labelled namespace: its pods wait for the queue, and those that
// have quota are placed by kube-scheduler, by rules that Headgate does not know.
func TestScenario9PodsOfKubeScheduler(t *testing.T) {
	const nodes, quota, replicas = 2, 3, 4

	s := suite.Start(t)
	s.Nodes(nodes, "8", "16Gi")
	q := s.Queue("q", fmt.Sprint(quota), "8Gi")
	labelNamespace(s, q)
	n := int32(replicas)
	_, err := s.Cluster.Client.AppsV1().Deployments(s.Namespace).Create(s.Ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "spread"},
		Spec: appsv1.DeploymentSpec{Replicas: &n,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "spread"}},
			Template: template(s, "spread", suite.Scheduler(""), suite.Request("1", "1Gi"), restarts, apart(s, "spread"))},
	}, metav1.CreateOptions{})
	s.Must(err)
	settled := func() {
		s.Helper()
		waitCounts(s, quota, replicas-quota)
		s.Eventually("one pod runs on each node", func() error {
			if r := runningOf(s, "spread-"); len(r) != nodes {
				return fmt.Errorf("%v run", r)
			}
			return nil
		})
		s.Eventually("kube-scheduler finds no node for the one that is left", func() error {
			if p := s.Oracle.Published(s.Namespace); len(p) != quota-nodes {
				return fmt.Errorf("published: %v", p)
			}
			return nil
		})
	}
	settled()
	s.DeletePod(runningOf(s, "spread-")[0])
	settled()
	if most := mostUngated(s, "spread-"); most != quota {
		t.Errorf("%d pods were ungated at one time, the quota is for %d", most, quota)
	}
}
