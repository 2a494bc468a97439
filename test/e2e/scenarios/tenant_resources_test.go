package scenarios

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"headgate/e2e/cluster"
	"headgate/e2e/suite"
)

// A tenant invents many extended resources, in pods of Kubernetes' scheduler and of ours, and
// deletes the pods. Nodes, pods and queues with a resource that comes later are none the worse.
func TestTenantInventsResources(t *testing.T) {
	const gpu = "nvidia.com/gpu"
	s := suite.Start(t)
	s.Nodes(1, "2", "4Gi")
	q := s.Queue("team", "4", "8Gi")
	pods := s.Tenant("eve").CoreV1().Pods(s.Namespace)

	invented := []suite.PodOption{suite.Request("1", "1Gi")}
	for i := range 40 {
		invented = append(invented, suite.Extended(fmt.Sprintf("example.com/x%d", i), 1))
	}
	others := s.Spec("others", append(invented, suite.Scheduler(""))...)
	ours := s.Spec("ours", append(invented, suite.Opted, suite.Queue(q))...)
	for _, p := range []*corev1.Pod{others, ours} {
		_, err := pods.Create(s.Ctx, p, metav1.CreateOptions{})
		s.Must(err)
	}
	// Quota does not limit what no queue names: an autoscaler may know nodes that have it.
	s.WaitPublished("ours")
	s.Eventually("the message names a resource that no node has", func() error {
		for _, c := range s.GetPod("ours").Status.Conditions {
			if c.Type == corev1.PodScheduled && strings.Contains(c.Message, "Insufficient example.com/x") {
				return nil
			}
		}
		return fmt.Errorf("conditions %v", s.GetPod("ours").Status.Conditions)
	})
	for _, name := range []string{"others", "ours"} {
		s.Must(pods.Delete(s.Ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
	}
	s.SchedulerSawAll()

	amount := cluster.Resources("6", "8Gi")
	amount[gpu] = resource.MustParse("4")
	node := s.NodeOf(amount)
	gpus := s.Queue("gpus", "6", "8Gi", suite.Capability(gpu, "2"))
	s.Pod("first", suite.Opted, suite.Queue(gpus), suite.Request("1", "1Gi"), suite.Extended(gpu, 2))
	s.WaitRunning("first")
	s.Pod("second", suite.Opted, suite.Queue(gpus), suite.Request("1", "1Gi"), suite.Extended(gpu, 1))
	s.Pod("plain", suite.Opted, suite.Queue(q), suite.Request("4", "1Gi"))
	s.WaitRunning("plain")
	s.SchedulerSawAll()
	s.WaitGated("second")
	for _, name := range []string{"first", "plain"} {
		if on := s.GetPod(name).Spec.NodeName; on != node {
			t.Errorf("%s runs on %s, not on %s", name, on, node)
		}
	}
}

// The same with Jobs that queue: the names go with their Workloads, and what others ask for is decided meanwhile.
func TestTenantInventsResourcesOfJobs(t *testing.T) {
	s := startTenants(t)
	jobs := s.JobTenant("eve").BatchV1().Jobs(s.Namespace)
	for n := range 10 {
		name := fmt.Sprintf("odd-%d", n)
		job := s.JobSpec(name, "green", 1, func(j *batchv1.Job) {
			r := &j.Spec.Template.Spec.Containers[0].Resources
			r.Limits = corev1.ResourceList{}
			for i := range 2000 {
				invented := corev1.ResourceName(fmt.Sprintf("example.com/x%d-%d", n, i))
				r.Requests[invented], r.Limits[invented] = resource.MustParse("1"), resource.MustParse("1")
			}
		})
		_, err := jobs.Create(s.Ctx, job, metav1.CreateOptions{})
		s.Must(err)
		s.WaitWorkload(name, "QuotaReserved", "False/NoMatchingFlavor")
		s.Must(jobs.Delete(s.Ctx, name, metav1.DeleteOptions{}))
	}
	s.Job("honest", "green", 1)
	s.WaitJobRuns("honest")
}
