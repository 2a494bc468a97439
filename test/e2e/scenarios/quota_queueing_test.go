package scenarios

import (
	"slices"
	"testing"

	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// tenants of two cohorts: red and blue lend each other spot nodes, green is alone with its own on
// on-demand ones. Every one of them has 4 cpus.
const tenants = `
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: $NS-spot},
 spec: {nodeLabels: {e2e.headgate.io/flavor: $NS-spot}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: $NS-on-demand},
 spec: {nodeLabels: {e2e.headgate.io/flavor: $NS-on-demand}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: $NS-shared}, spec: {}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: $NS-red},
 spec: {cohortName: $NS-shared, namespaceSelector: {}, preemption: {withinClusterQueue: LowerPriority,
 reclaimWithinCohort: Any}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: $NS-spot,
 resources: [{name: cpu, nominalQuota: 4}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: $NS-blue},
 spec: {cohortName: $NS-shared, namespaceSelector: {}, preemption: {withinClusterQueue: LowerPriority,
 reclaimWithinCohort: Any}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: $NS-spot,
 resources: [{name: cpu, nominalQuota: 4}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: $NS-green},
 spec: {cohortName: $NS-alone, namespaceSelector: {}, preemption: {withinClusterQueue: LowerPriority},
 resourceGroups: [{coveredResources: [cpu], flavors: [{name: $NS-on-demand,
 resources: [{name: cpu, nominalQuota: 4}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: red}, spec: {clusterQueue: $NS-red}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: blue}, spec: {clusterQueue: $NS-blue}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: green}, spec: {clusterQueue: $NS-green}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: $NS-high}, value: 100}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: $NS-idle}, value: -100}
`

// startTenants begins a scenario with the three of them and nodes of both flavors.
func startTenants(t *testing.T) *suite.S {
	s := suite.StartQuota(t)
	makeTenants(s)
	return s
}

func makeTenants(s *suite.S) {
	s.Helper()
	s.Apply(tenants)
	for _, flavor := range []string{"spot", "on-demand"} {
		s.NodesWith(map[string]string{"e2e.headgate.io/flavor": s.Namespace + "-" + flavor}, 1, "16", "64Gi")
	}
}

// nodes that the pods of a Job run on, each once.
func nodesOf(s *suite.S, job string) []string {
	s.Helper()
	var names []string
	for _, p := range s.JobPods(job) {
		if !slices.Contains(names, p.Spec.NodeName) {
			names = append(names, p.Spec.NodeName)
		}
	}
	return names
}

// A Job is suspended as it is created, starts on the nodes of its flavor when it is admitted, and
// leaves its quota to the next one when it is done.
func TestQuotaQueueing(t *testing.T) {
	s := startTenants(t)
	// One pod: of several, each one's end would leave some quota to others.
	if j := s.Job("first", "green", 1, suite.PodCPU("3")); !*j.Spec.Suspend {
		t.Error("a Job of a queue was not suspended as it was created")
	}
	s.WaitWorkload("first", "Admitted", "True/Admitted")
	s.WaitJobRuns("first")
	if nodes := nodesOf(s, "first"); !slices.Equal(nodes, []string{s.NodeName(1)}) {
		t.Errorf("pods of a Job with flavor on-demand run on %v", nodes)
	}
	s.Job("second", "green", 2)
	s.Job("other", "red", 4)
	s.WaitWorkload("second", "QuotaReserved", "False/WaitingForQuota")
	s.WaitJobRuns("other")
	if nodes := nodesOf(s, "other"); !slices.Equal(nodes, []string{s.NodeName(0)}) {
		t.Errorf("pods of a Job with flavor spot run on %v", nodes)
	}
	s.FinishJob("first")
	s.WaitWorkload("first", "Finished", "True/Succeeded")
	s.WaitJobRuns("second")
	s.Before("it waits for the first one's end", s.Happened("first", oracle.Finished, 1),
		s.Happened("second", oracle.Reserved, 1))
	s.FinishJob("second")
	s.WaitWorkload("second", "Finished", "True/Succeeded")
	for _, job := range []string{"first", "second", "other"} {
		if n := s.Times(job, oracle.Started); n != 1 {
			t.Errorf("%s was started %d times", job, n)
		}
	}
}
