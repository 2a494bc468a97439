package scenarios

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"headgate/e2e/suite"
)

// A tenant creates pods that together are larger than any page of a list may be. Schedulers that start afterwards read
// them all the same, and decide for others; the tools work on.
func TestTenantFatPods(t *testing.T) {
	const fat = 55
	s := suite.StartOwn(t, suite.Options{})
	s.Nodes(1, "8", "16Gi")
	q, other := s.Queue("fat", "1", "8Gi"), s.Queue("other", "1", "8Gi")
	pods := s.Tenant("eve").CoreV1().Pods(s.Namespace)
	// etcd takes 1.5 MiB for an object.
	text := strings.Repeat("x", 1300000)
	for n := range fat {
		spec := s.Spec(fmt.Sprintf("fat-%d", n), suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"),
			func(p *corev1.Pod) { p.Spec.Containers[0].Args = []string{text} })
		_, err := pods.Create(s.Ctx, spec, metav1.CreateOptions{})
		s.Must(err)
	}
	restartSchedulers(s)
	s.SchedulerSawAll()
	s.Pod("honest", suite.Opted, suite.Queue(other), suite.Request("1", "1Gi"))
	s.WaitRunning("honest")
	wants(s, "headgatectl queues", []string{q, other}, func() (string, error) { return s.Headgate.Ctl(s.Ctx, "queues") })
	out, err := s.Headgate.Ctl(s.Ctx, "drain", "--yes")
	if want := fmt.Sprintf("removed the gate from %d pods", fat-1); err != nil || !strings.Contains(out, want) {
		t.Fatalf("headgatectl drain --yes: %v, want %q\n%s", err, want, out)
	}
}
