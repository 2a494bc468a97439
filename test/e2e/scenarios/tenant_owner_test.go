package scenarios

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
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

// unlabelled takes the name of the queue away.
func unlabelled(p *corev1.Pod) { delete(p.Labels, headgate.QueueLabel) }

// A tenant with rights on pods alone, in a namespace whose pods queue, writes into a pod that a Job owns it. The pod
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
	s.Eventually("the Job controller let the pod go, which is not its own", func() error {
		if metav1.GetControllerOf(s.GetPod("forged")) != nil {
			return fmt.Errorf("it has a controller")
		}
		return nil
	})
	// What was created before it has been decided when this runs.
	s.Pod("last", queued("blue", "1"))
	s.WaitRunning("last")
	unseen(s, "forged")
	// It is a pod that queues: it runs when there is quota.
	s.DeletePod("honest")
	s.WaitRunning("forged")
}

// The same where all that runs has to queue, label or not: what the Job controller let go has no queue, and waits until
// somebody gives it one.
func TestTenantForgesOwnerWhereAllQueue(t *testing.T) {
	s := suite.StartOwn(t, suite.Options{Values: []string{"quota.enabled=true", "scheduler.replicas=1", "webhook.replicas=1",
		"quota.config=manageJobsWithoutQueueName: true\nintegrations:\n  frameworks:\n  - batch/job\n  - pod\n"}})
	makeTenants(s)
	job := s.Job("owner", "green", 8)
	pods := s.Tenant("eve").CoreV1().Pods(s.Namespace)
	_, err := pods.Create(s.Ctx, s.Spec("forged", queued("", "3"), unlabelled, ownedBy(job)), metav1.CreateOptions{})
	s.Must(err)
	unseen(s, "forged")
	s.Eventually("the Job controller let the pod go, which is not its own", func() error {
		if metav1.GetControllerOf(s.GetPod("forged")) != nil {
			return fmt.Errorf("it has a controller")
		}
		return nil
	})
	s.Pod("last", queued("blue", "1"))
	s.WaitRunning("last")
	unseen(s, "forged")
	_, err = pods.Patch(s.Ctx, "forged", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"green"}}}`), metav1.PatchOptions{})
	s.Must(err)
	s.WaitRunning("forged")
}
