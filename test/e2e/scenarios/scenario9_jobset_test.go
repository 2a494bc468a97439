package scenarios

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// trainPods are the pods of the JobSet train of docs/examples.md, of which each failure restarts all. Its workers are two
// Jobs of two pods each.
const trainPods = 5

// decorate gives a pod template annotations, and the labels of the nodes that its pods may run on.
func decorate(s *suite.S, template map[string]any, nodes, annotations map[string]string) {
	s.Helper()
	s.Must(unstructured.SetNestedStringMap(template, annotations, "metadata", "annotations"))
	s.Must(unstructured.SetNestedStringMap(template, nodes, "spec", "nodeSelector"))
}

// createTrain creates that JobSet.
func createTrain(s *suite.S, nodes, annotations map[string]string) {
	s.Helper()
	set := s.Example("A JobSet")
	jobs, _, err := unstructured.NestedSlice(set.Object, "spec", "replicatedJobs")
	s.Must(err)
	for _, job := range jobs {
		template, _, err := unstructured.NestedMap(job.(map[string]any), "template", "spec", "template")
		s.Must(err)
		decorate(s, template, nodes, annotations)
		s.Must(unstructured.SetNestedMap(job.(map[string]any), template, "template", "spec", "template"))
	}
	s.Must(unstructured.SetNestedSlice(set.Object, jobs, "spec", "replicatedJobs"))
	s.Create(suite.JobSets, set)
}

// failOne makes a pod that runs fail, as its kubelet reports it.
func failOne(s *suite.S, name string) {
	s.Helper()
	s.Eventually(name+" has failed", func() error {
		p, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).Get(s.Ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		p.Status.Phase = corev1.PodFailed
		p.Status.Conditions = nil
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: p.Spec.Containers[0].Image,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}}}
		_, err = s.Cluster.Client.CoreV1().Pods(s.Namespace).UpdateStatus(s.Ctx, p, metav1.UpdateOptions{})
		return err
	})
}

// hold keeps pods that are deleted from going, or lets them go.
func hold(s *suite.S, yes bool, names ...string) {
	s.Helper()
	list := "finalizers"
	if !yes {
		list = "$deleteFromPrimitiveList/finalizers"
	}
	for _, name := range names {
		_, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).Patch(s.Ctx, name, types.StrategicMergePatchType,
			fmt.Appendf(nil, `{"metadata":{%q:[%q]}}`, list, heldFinalizer), metav1.PatchOptions{})
		s.Must(err)
	}
}

// waitRestarted waits until the JobSet was restarted so often, and no pod of an earlier attempt is left.
func waitRestarted(s *suite.S, restarts int) {
	s.Helper()
	s.Eventually(fmt.Sprintf("restart %d of the JobSet", restarts), func() error {
		set, err := s.Cluster.Dynamic.Resource(suite.JobSets).Namespace(s.Namespace).Get(s.Ctx, "train", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if n, _, _ := unstructured.NestedInt64(set.Object, "status", "restarts"); n != int64(restarts) {
			return fmt.Errorf("%d restarts", n)
		}
		pods, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).List(s.Ctx, metav1.ListOptions{
			LabelSelector: "jobset.sigs.k8s.io/restart-attempt=" + fmt.Sprint(restarts)})
		if err == nil && len(pods.Items) != trainPods {
			err = fmt.Errorf("%d pods of this attempt", len(pods.Items))
		}
		return err
	})
	// The failed pod may be there for a moment longer.
	s.Eventually("no pod of an earlier attempt is left", func() error {
		if all := everyPod(s); len(all) != trainPods {
			return fmt.Errorf("%v", all)
		}
		return nil
	})
}

// everyPod of the scenario that is there, whatever its state.
func everyPod(s *suite.S) []string {
	return s.Oracle.Names(s.Namespace, func(oracle.PodState) bool { return true })
}

// wholeQueueIsFree fails unless a pod that asks for all that the queue has gets it.
func wholeQueueIsFree(s *suite.S, queue, name, cpu string) {
	s.Helper()
	s.Pod(name, elsewhere, suite.Opted, suite.Queue(queue), suite.Request(cpu, "1Gi"))
	s.WaitRunning(name)
	s.DeletePod(name)
	s.WaitGone(name)
}

// The pods of a JobSet in a labelled namespace wait for their queue one by one, whichever Job they are of; a restart
// after a failure, and what is suspended and resumed, waits again.
func TestScenario9JobSet(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "16", "32Gi")
	q := s.Queue("q", "3", "16Gi")
	label(s)
	patchNamespace(s, fmt.Sprintf(`{"annotations":{%q:%q}}`, suite.QueueNameKey, q))
	s.JobSetController()
	s.Create(suite.JobSets, s.Example("A JobSet"))
	waitCounts(s, 3, 2)
	first := everyPod(s)
	s.WaitRunning(holding(s, "train-")...)
	explains(s, waiting(s)[0], "waits for quota")

	// All of it starts anew: the quota of each pod is its predecessor's only when that one is gone.
	failOne(s, holding(s, "train-")[0])
	waitRestarted(s, 1)
	waitCounts(s, 3, 2)
	s.WaitRunning(holding(s, "train-")...)
	beganGated(s, append(first, everyPod(s)...)...)

	s.Limit(q, "5")
	waitCounts(s, 5, 0)
	s.WaitRunning(everyPod(s)...)
	workers := func(pods int) {
		set, err := s.Cluster.Dynamic.Resource(suite.JobSets).Namespace(s.Namespace).Get(s.Ctx, "train", metav1.GetOptions{})
		s.Must(err)
		jobs, _, _ := unstructured.NestedSlice(set.Object, "spec", "replicatedJobs")
		for _, field := range []string{"parallelism", "completions"} {
			s.Must(unstructured.SetNestedField(jobs[1].(map[string]any), int64(pods), "template", "spec", field))
		}
		s.Must(unstructured.SetNestedSlice(set.Object, jobs, "spec", "replicatedJobs"))
		_, err = s.Cluster.Dynamic.Resource(suite.JobSets).Namespace(s.Namespace).Update(s.Ctx, set, metav1.UpdateOptions{})
		s.Must(err)
	}
	workers(3)
	waitCounts(s, 5, 2)
	beganGated(s, waiting(s)...)
	workers(1)
	waitCounts(s, 3, 0)

	s.Patch(suite.JobSets, "train", `{"spec":{"suspend":true}}`, "")
	waitCounts(s, 0, 0)
	wholeQueueIsFree(s, q, "while-suspended", "5")
	s.Limit(q, "2")
	s.Patch(suite.JobSets, "train", `{"spec":{"suspend":false}}`, "")
	waitCounts(s, 2, 1)
	beganGated(s, everyPod(s)...)
	s.Delete(suite.JobSets, "train")
	waitCounts(s, 0, 0)
	wholeQueueIsFree(s, q, "after", "2")
}

// A JobSet with pods that opt in and name a PodGroup by their annotations gets quota for all of them or for none.
func TestScenario9JobSetGang(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "16", "32Gi")
	q := s.Queue("q", "4", "16Gi")
	s.JobSetController()
	s.PodGroup("train", q, trainPods, nil)
	createTrain(s, nil, map[string]string{oracle.GroupKey: "train", oracle.GateKey: "true"})
	waitCounts(s, 0, trainPods)
	first := everyPod(s)
	s.SchedulerSawAll()
	s.WaitGated(first...)
	explains(s, first[0], "can never get quota: 5 cpu needed by its gang")
	s.Limit(q, fmt.Sprint(trainPods))
	waitCounts(s, trainPods, 0)
	s.WaitRunning(first...)

	// Two pods of the first attempt end late. They are no gang together with the new ones, for which there would be room.
	var old []string
	for _, name := range first {
		if strings.HasPrefix(name, "train-workers-0-") {
			old = append(old, name)
		}
	}
	hold(s, true, old...)
	failOne(s, first[0])
	waitTerminating(s, 2, old...)
	waitCounts(s, 2, 3)
	fresh := waiting(s)
	s.SchedulerSawAll()
	s.WaitGated(fresh...)
	s.Limit(q, "4")
	hold(s, false, old...)
	waitRestarted(s, 1)
	waitCounts(s, 0, trainPods)
	again := everyPod(s)
	s.SchedulerSawAll()
	s.WaitGated(again...)
	s.Limit(q, fmt.Sprint(trainPods))
	waitCounts(s, trainPods, 0)
	s.WaitRunning(again...)
	beganGated(s, append(first, again...)...)
	s.Delete(suite.JobSets, "train")
	waitCounts(s, 0, 0)
	wholeQueueIsFree(s, q, "after", fmt.Sprint(trainPods))
}
