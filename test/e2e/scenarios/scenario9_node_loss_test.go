package scenarios

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

const (
	smallNodes  = "e2e.headgate.io/small"  // the label of nodes with room for one pod of the ReplicaSet
	doomedNodes = "e2e.headgate.io/doomed" // of the one node that the pods of all other kinds run on
)

// startOnDoomed creates one object of each other kind, in a queue that lacks room for the last of its pods, and returns
// how many pods have quota and how many wait.
func startOnDoomed(s *suite.S) (with, without int) {
	s.Helper()
	on := suite.Select(doomedNodes, s.Namespace)
	queue := func(name string, pods int) string {
		with += pods - 1
		without++
		return s.Queue(name, fmt.Sprint(pods-1), "16Gi")
	}
	two, many := int32(2), int32(100)
	_, err := s.Cluster.Client.AppsV1().StatefulSets(s.Namespace).Create(s.Ctx, &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec: appsv1.StatefulSetSpec{Replicas: &two, ServiceName: "db", PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}},
			Template: template(s, "db", restarts, elsewhere, on, suite.Queue(queue("db", 2)), suite.Request("1", "1Gi"))},
	}, metav1.CreateOptions{})
	s.Must(err)
	_, err = s.Cluster.Client.BatchV1().Jobs(s.Namespace).Create(s.Ctx, &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "job"},
		Spec: batchv1.JobSpec{Parallelism: &two, Completions: &many, BackoffLimit: &many,
			Template: template(s, "job", elsewhere, on, suite.Queue(queue("job", 2)), suite.Request("1", "1Gi"))},
	}, metav1.CreateOptions{})
	s.Must(err)
	if err := s.ControllersBuilt(); err != nil {
		s.Logf("without JobSet and LeaderWorkerSet: %v", err)
		return with, without
	}
	s.JobSetController()
	s.LeaderWorkerSetController(false)
	nodes := map[string]string{doomedNodes: s.Namespace}
	createTrain(s, nodes, map[string]string{suite.QueueNameKey: queue("train", trainPods)})
	createServe(s, nodes, queue("serve", len(group(0))+len(group(1))))
	return with, without
}

// placedOn are the UIDs of the pods that were placed there.
func placedOn(s *suite.S, node string) map[string]string {
	s.Helper()
	pods, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).List(s.Ctx, metav1.ListOptions{})
	s.Must(err)
	found := map[string]string{}
	for _, p := range pods.Items {
		if p.Spec.NodeName == node {
			found[string(p.UID)] = p.Name
		}
	}
	return found
}

// waitNoneOf waits until none of these pods, which are UIDs, is there.
func waitNoneOf(s *suite.S, gone map[string]string) {
	s.Helper()
	s.Eventually("the pods are gone with their node", func() error {
		pods, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).List(s.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, p := range pods.Items {
			if gone[string(p.UID)] != "" {
				return fmt.Errorf("%s is still there", p.Name)
			}
		}
		return nil
	})
}

// A node that is gone takes its pods with it. What replaces them waits at the gate until they have gone.
func TestScenario9NodeLoss(t *testing.T) {
	s := suite.Start(t)
	s.NodesWith(map[string]string{smallNodes: s.Namespace}, 2, "1", "4Gi")
	s.NodesWith(map[string]string{doomedNodes: s.Namespace}, 1, "32", "64Gi")
	q := s.Queue("q", "2", "8Gi")
	label(s)
	with, without := startOnDoomed(s)
	replicaSet(s, "web", 2, suite.Queue(q), suite.Request("1", "1Gi"), suite.Select(smallNodes, s.Namespace))
	waitCounts(s, 2+with, without)
	before := holding(s, "web-")
	s.WaitRunning(holding(s, "")...)
	began := everyPod(s)
	lost := before[0]
	if s.GetPod(lost).Spec.NodeName != s.NodeName(0) {
		lost = before[1]
	}
	doomed := placedOn(s, s.NodeName(2))
	if len(doomed) != with {
		t.Fatalf("%d pods on the node, want %d: %v", len(doomed), with, doomed)
	}
	for _, n := range []int{0, 2} {
		s.Must(s.Cluster.Client.CoreV1().Nodes().Delete(s.Ctx, s.NodeName(n), metav1.DeleteOptions{}))
	}
	// The garbage collector of pods waits for 40 seconds whether the node comes back.
	s.WaitGone(lost)
	waitNoneOf(s, doomed)
	// No node has room for the new pods, which have quota all the same: an autoscaler would see them.
	waitCounts(s, 2+with, without)
	began = append(began, everyPod(s)...)
	beganGated(s, began...)
	var fresh string
	for _, name := range holding(s, "web-") {
		if !slices.Contains(before, name) {
			fresh = name
		}
	}
	s.Before("the new pod waits for the quota of the old one", s.Gone(lost), s.Ungated(fresh))
	s.Eventually("kube-scheduler reports the new pods that have quota", func() error {
		pods, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).List(s.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		reported := 0
		for i := range pods.Items {
			if oracle.Unschedulable(&pods.Items[i]) {
				reported++
			}
		}
		if reported != with+1 {
			return fmt.Errorf("%d of %d", reported, with+1)
		}
		return nil
	})
	explains(s, fresh, "has quota, and its own scheduler finds no node for it")
	s.NodesWith(map[string]string{smallNodes: s.Namespace}, 1, "1", "4Gi")
	s.NodesWith(map[string]string{doomedNodes: s.Namespace}, 1, "32", "64Gi")
	s.WaitRunning(holding(s, "")...)
	waitCounts(s, 2+with, without)
}
