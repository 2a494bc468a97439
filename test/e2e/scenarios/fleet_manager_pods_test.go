package scenarios

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"headgate/e2e/suite"
)

// A group of pods goes to the workers; the first that admits it gets the pods, which are never let go on the manager.
// Their status comes back, a process that is killed meanwhile misses nothing, and nothing is left. Of another group the
// pods are deleted while they run.
func TestFleetManagerPods(t *testing.T) {
	const pods = 2
	f := suite.StartFleet(t)
	process := f.ManagePods()
	f.Queues(pods)
	f.SubmitPods("one", pods)
	on := f.WaitPodsLetGo("one", pods)
	f.SetPods(on, "one", corev1.PodRunning)
	f.WaitPods("one", corev1.PodRunning, pods)
	process.Kill()
	f.SetPods(on, "one", corev1.PodSucceeded)
	f.Must(process.Start())
	f.WaitPods("one", corev1.PodSucceeded, pods)
	f.WaitFinished("one")
	f.WaitNoPodsLeft("one")

	f.SubmitPods("two", pods)
	f.SetPods(f.WaitPodsLetGo("two", pods), "two", corev1.PodRunning)
	f.WaitPods("two", corev1.PodRunning, pods)
	f.Must(f.Fleet.Manager.Client.CoreV1().Pods(f.Namespace).DeleteCollection(f.Ctx, metav1.DeleteOptions{},
		metav1.ListOptions{LabelSelector: "kueue.x-k8s.io/pod-group-name=two"}))
	f.DeleteWorkload("two")
	f.WaitNoPodsLeft("two")
}
