package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/headgate"
	"headgate/e2e/suite"
)

// ownedBy says what the pods of a Job say that was admitted: that it controls them, and has quota for them.
func ownedBy(job *batchv1.Job) suite.PodOption {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: job.Name,
			UID: job.UID, Controller: new(true)}}
		p.Labels["kueue.x-k8s.io/managed"] = "true"
		p.Labels["kueue.x-k8s.io/podset"] = "main"
	}
}

// waitLetGo waits until the Job controller has let the pod go, which is not its own.
func waitLetGo(s *suite.S, name string) {
	s.Eventually("the Job controller let the pod go, which is not its own", func() error {
		if metav1.GetControllerOf(s.GetPod(name)) != nil {
			return fmt.Errorf("it has a controller")
		}
		return nil
	})
}

// unlabelled takes the name of the queue away.
func unlabelled(p *corev1.Pod) { delete(p.Labels, headgate.QueueLabel) }

// A tenant with rights on pods alone, in a namespace with pods that queue, writes into a pod that a Job owns it. The pod
// waits as any other does, also after the Job controller let it go.
func TestTenantForgesOwner(t *testing.T) {
	s := startTenants(t)
	s.Apply(`{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: default}, spec: {clusterQueue: $NS-green}}`)
	s.Pod("honest", queued("green", "3"))
	s.WaitRunning("honest")
	// More than the queue ever has: it stays suspended.
	job := s.Job("owner", "green", 8)
	pods := s.Tenant("eve").CoreV1().Pods(s.Namespace)
	_, err := pods.Create(s.Ctx, s.Spec("forged", queued("green", "4"), ownedBy(job)), metav1.CreateOptions{})
	s.Must(err)
	unseen(s, "forged")
	waitLetGo(s, "forged")
	// What was created before it has been decided when this runs.
	s.Pod("last", queued("blue", "1"))
	s.WaitRunning("last")
	unseen(s, "forged")
	// It is a pod that queues: it runs when there is quota.
	s.DeletePod("honest")
	s.WaitRunning("forged")
}

// The same where pods without a queue are held as well: neither the label nor the marks of a Job's pods are needed to
// pass there, only the owner.
func TestTenantForgesOwnerWithoutQueue(t *testing.T) {
	s := suite.StartOwn(t, suite.Options{Values: []string{"quota.enabled=true", "scheduler.replicas=1",
		"webhook.replicas=1", "quota.config=manageJobsWithoutQueueName: true\nintegrations:\n  frameworks: [batch/job\\, pod]\n" +
			"managedJobsNamespaceSelector:\n  matchLabels: {all-queue: \"true\"}"}})
	makeTenants(s)
	_, err := s.Cluster.Client.CoreV1().Namespaces().Patch(s.Ctx, s.Namespace, types.MergePatchType,
		[]byte(`{"metadata": {"labels": {"all-queue": "true"}}}`), metav1.PatchOptions{})
	s.Must(err)
	pods := s.Tenant("eve").CoreV1().Pods(s.Namespace)
	s.Eventually("a pod without a queue is held", func() error {
		pod, err := pods.Create(s.Ctx, s.Spec("any", queued("green", "4"), unlabelled),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && !slices.Equal(gatesOf(pod), []string{admissionGate}) {
			return fmt.Errorf("its gates: %v", gatesOf(pod))
		}
		return err
	})
	s.Pod("honest", queued("green", "3"))
	s.WaitRunning("honest")
	job := s.Job("owner", "green", 8)
	_, err = pods.Create(s.Ctx, s.Spec("forged", queued("green", "4"), ownedBy(job), unlabelled), metav1.CreateOptions{})
	s.Must(err)
	unseen(s, "forged")
	waitLetGo(s, "forged")
	s.Pod("last", queued("blue", "1"))
	s.WaitRunning("last")
	unseen(s, "forged")
	// With a queue it waits for that one's quota.
	_, err = pods.Patch(s.Ctx, "forged", types.MergePatchType, []byte(
		fmt.Sprintf(`{"metadata": {"labels": {%q: "green"}}}`, headgate.QueueLabel)), metav1.PatchOptions{})
	s.Must(err)
	s.DeletePod("honest")
	s.WaitRunning("forged")
}

// controlledBy is an owner that any tenant may write, with or without such an object.
func controlledBy(apiVersion, kind string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "none",
		UID: "705ab4f5-6393-11e8-b7cc-42010a800002", Controller: new(true)}}
}

// The Configuration names a framework of Kueue that Headgate does not have, and an external one. A tenant writes that
// objects of these kinds control its pods and Jobs: none starts without quota.
func TestTenantForgesExternalOwner(t *testing.T) {
	s := suite.StartOwn(t, suite.Options{Values: []string{"quota.enabled=true", "scheduler.replicas=1",
		"webhook.replicas=1", `quota.config=integrations: {frameworks: [batch/job\, pod\, ray.io/raycluster]\, ` +
			`externalFrameworks: [Foo.v1.example.com]}`}})
	makeTenants(s)
	eve := s.JobTenant("eve")
	for name, owner := range map[string][]metav1.OwnerReference{
		"ray": controlledBy("ray.io/v1", "RayCluster"), "foo": controlledBy("example.com/v1", "Foo")} {
		// More than the queue ever has.
		pod := s.Spec(name, queued("green", "8"))
		pod.OwnerReferences = owner
		_, err := eve.CoreV1().Pods(s.Namespace).Create(s.Ctx, pod, metav1.CreateOptions{})
		s.Must(err)
	}
	jobs := eve.BatchV1().Jobs(s.Namespace)
	job := s.JobSpec("ray", "green", 8)
	job.OwnerReferences = controlledBy("ray.io/v1", "RayCluster")
	_, err := jobs.Create(s.Ctx, job, metav1.CreateOptions{})
	s.Must(err)
	job = s.JobSpec("foo", "green", 8)
	job.OwnerReferences = controlledBy("example.com/v1", "Foo")
	if _, err = jobs.Create(s.Ctx, job, metav1.CreateOptions{}); err == nil ||
		!strings.Contains(err.Error(), "is not the controller of the Foo") {
		t.Errorf("a Job with a forged owner: %v", err)
	}
	// What was created before it has been decided when this runs.
	s.Pod("last", queued("blue", "1"))
	s.WaitRunning("last")
	for _, name := range []string{"ray", "foo"} {
		unseen(s, name)
	}
	if job, err = jobs.Get(s.Ctx, "ray", metav1.GetOptions{}); err != nil || job.Spec.Suspend == nil || !*job.Spec.Suspend {
		t.Errorf("the Job with an owner that no controller queues for runs: %v", err)
	}
}

// ofClass is a pod with this WorkloadPriorityClass.
func ofClass(name string) suite.PodOption {
	return func(p *corev1.Pod) { p.Labels["kueue.x-k8s.io/priority-class"] = name }
}

// A tenant takes the marks off a pod that was admitted, by which the scheduler knows that it has a Workload. It is
// refused, and the pod goes when the Workload is preempted.
func TestTenantLeavesItsWorkload(t *testing.T) {
	s := startTenants(t)
	s.Pod("low", queued("green", "4"), ofClass(s.Namespace+"-idle"))
	s.WaitRunning("low")
	pods := s.Tenant("eve").CoreV1().Pods(s.Namespace)
	for _, patch := range []string{
		`{"metadata": {"labels": {"kueue.x-k8s.io/managed": null}}}`,
		`{"metadata": {"labels": {"kueue.x-k8s.io/managed": null, "kueue.x-k8s.io/queue-name": null}}}`,
		`{"metadata": {"annotations": {"kueue.x-k8s.io/role-hash": null}}}`,
	} {
		_, err := pods.Patch(s.Ctx, "low", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		if !apierrors.IsInvalid(err) {
			t.Errorf("%s: %v", patch, err)
		}
	}
	s.Pod("high", queued("green", "4"), ofClass(s.Namespace+"-high"))
	s.WaitRunning("high")
	if _, err := pods.Get(s.Ctx, "low", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the pod is still there although another one has its quota: %v", err)
	}
}

// A tenant writes that a Job which does not exist controls its Job, which is suspended nevertheless. The garbage
// collector deletes it later.
func TestTenantForgesJobOwner(t *testing.T) {
	s := startTenants(t)
	job := s.JobSpec("below", "green", 8)
	job.OwnerReferences = controlledBy("batch/v1", "Job")
	job, err := s.JobTenant("eve").BatchV1().Jobs(s.Namespace).Create(s.Ctx, job, metav1.CreateOptions{})
	s.Must(err)
	if job.Spec.Suspend == nil || !*job.Spec.Suspend {
		t.Errorf("a Job with a queue is created running, since an absent Job controls it")
	}
}
