package scenarios

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"headgate/e2e/suite"
)

// Six cpus that the company has, for two cohorts: red and blue are in one, green is in the other.
const company = `
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: $NS-any}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: $NS-company},
 spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: $NS-any,
 resources: [{name: cpu, nominalQuota: 6}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: $NS-field}, spec: {parentName: $NS-company}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: $NS-office}, spec: {parentName: $NS-company}}
`

// companyQueue of a tenant, with nothing of its own.
func companyQueue(name, cohort string) string {
	return strings.NewReplacer("NAME", name, "COHORT", cohort).Replace(`
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: $NS-NAME},
 spec: {cohortName: $NS-COHORT, namespaceSelector: {}, preemption: {reclaimWithinCohort: Any},
 resourceGroups: [{coveredResources: [cpu], flavors: [{name: $NS-any,
 resources: [{name: cpu, nominalQuota: 0}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: NAME}, spec: {clusterQueue: $NS-NAME}}
`)
}

// runningPods counts the running pods of each tenant; its Jobs are called TENANT-N and have one pod.
func runningPods(s *suite.S) map[string]int {
	s.Helper()
	counts := map[string]int{}
	for _, tenant := range []string{"red", "blue", "green"} {
		for n := range 6 {
			for _, p := range s.JobPods(fmt.Sprintf("%s-%d", tenant, n)) {
				if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
					counts[tenant]++
				}
			}
		}
	}
	return counts
}

// With fair sharing, which the configuration file turns on, cohorts get equal parts of what they share,
// and in a cohort its queues; a queue that has its part already waits.
func TestQuotaFairSharing(t *testing.T) {
	s := suite.StartOwn(t, suite.Options{Values: []string{"quota.enabled=true", "scheduler.replicas=1",
		"webhook.replicas=1", "quota.config=fairSharing: {}"}})
	s.Nodes(1, "32", "64Gi")
	s.Apply(company + companyQueue("red", "field") + companyQueue("blue", "field") + companyQueue("green", "office"))
	jobs := func(tenant string, from, to int) {
		for n := from; n < to; n++ {
			s.Job(fmt.Sprintf("%s-%d", tenant, n), tenant, 1)
		}
	}
	wait := func(red, blue, green int) {
		s.Helper()
		want := map[string]int{"red": red, "blue": blue, "green": green}
		maps.DeleteFunc(want, func(_ string, n int) bool { return n == 0 })
		s.Eventually(fmt.Sprintf("running are %v", want), func() error {
			if now := runningPods(s); !maps.Equal(now, want) {
				return fmt.Errorf("now %v", now)
			}
			return nil
		})
	}
	jobs("red", 0, 6)
	wait(6, 0, 0)
	jobs("green", 0, 3)
	wait(3, 0, 3)
	jobs("blue", 0, 1)
	wait(2, 1, 3)
	jobs("green", 3, 4)
	s.WaitWorkload("green-3", "QuotaReserved", "False/WaitingForQuota")
	s.FinishJob("blue-0")
	// The cohort of red and blue has room for one more than the other, or as many.
	s.WaitWorkload("blue-0", "Finished", "True/Succeeded")
	wait(3, 0, 3)
}
