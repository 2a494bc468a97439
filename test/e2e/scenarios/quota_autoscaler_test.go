package scenarios

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"headgate/e2e/suite"
)

// bought waits until so many nodes are there, and there were never more.
func bought(s *suite.S, want int) {
	s.Helper()
	s.Eventually(fmt.Sprintf("%d nodes", want), func() error {
		if now, _ := nodeCounts(s); now < want {
			return fmt.Errorf("%d", now)
		}
		return nil
	})
	if _, peak := nodeCounts(s); peak != want {
		s.Errorf("%d nodes were bought, not %d", peak, want)
	}
}

// Autoscaler truth for Workloads: nodes are bought for those that have quota, each pod one, and for no
// other, whoever schedules the pods. Jobs of no queue do not wait, and have theirs at once.
func TestQuotaAutoscalerTruth(t *testing.T) {
	const queue = `
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: $NS-any}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: $NS-team}, spec: {namespaceSelector: {},
 resourceGroups: [{coveredResources: [cpu], flavors: [{name: $NS-any, resources: [{name: cpu, nominalQuota: %d}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: team}, spec: {clusterQueue: $NS-team}}
`
	for _, kind := range suite.Autoscalers() {
		t.Run(kind, func(t *testing.T) {
			s := suite.StartOwn(t, suite.Options{Values: []string{"quota.enabled=true", "scheduler.replicas=1",
				"webhook.replicas=1", `quota.config=integrations: {frameworks: [batch/job\, pod]}`}})
			s.Autoscaler(kind, truthInstance)
			s.Apply(fmt.Sprintf(queue, 3))
			s.Job("first", "team", 3)
			s.WaitJobRuns("first")
			bought(s, 3)
			nodes, quota := 3, 3
			// One scheduler after the other: two that bind at once may fill a node twice.
			for _, scheduler := range []string{"default-scheduler", "volcano"} {
				by := func(name string) string { return name + "-" + scheduler }
				job, free, members := by("job"), by("free"), []string{by("member-1"), by("member-2")}
				s.Job(job, "team", 2, func(j *batchv1.Job) { j.Spec.Template.Spec.SchedulerName = scheduler })
				for _, name := range members {
					s.Pod(name, queued("team", "1"), suite.Scheduler(scheduler), inGroup(by("both"), len(members)))
				}
				s.WaitWorkload(job, "QuotaReserved", "False/WaitingForQuota")
				// One of no queue: when it has its node, the autoscaler has looked at all others, too.
				s.Pod(free, suite.Scheduler(scheduler), suite.Request("1", "1Mi"))
				s.WaitRunning(free)
				nodes++
				bought(s, nodes)
				for _, name := range members {
					unseen(s, name)
				}
				if pods := s.JobPods(job); len(pods) > 0 {
					t.Errorf("%s waits for quota and has %d pods", job, len(pods))
				}
				nodes, quota = nodes+4, quota+4
				s.Apply(fmt.Sprintf(queue, quota))
				s.WaitJobRuns(job)
				s.WaitRunning(members...)
				bought(s, nodes)
			}
			s.Job("of-no-queue", "", 5)
			s.WaitJobRuns("of-no-queue")
			bought(s, nodes+5)
		})
	}
}
