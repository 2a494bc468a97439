package scenarios

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/suite"
)

// The oracle must notice a breach: another client publishes a pod without quota, for a moment only,
// and the oracle has to report it.
func TestScenario0OracleNotices(t *testing.T) {
	s := suite.Start(t)
	q := s.Queue("q", "1", "1Gi")
	// No node fits: one of another scenario may be about to go.
	s.Pod("first", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"), suite.Select("e2e.headgate.io/none", "none"))
	s.WaitPublished("first")
	s.Pod("second", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))
	s.SchedulerSawAll()
	s.WaitGated("second")
	s.ExpectBreach()
	patch := []byte(`{"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}}`)
	pods := s.Cluster.Client.CoreV1().Pods(s.Namespace)
	_, err := pods.Patch(s.Ctx, "second", types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	s.Must(err)
	s.DeletePod("second")
}
