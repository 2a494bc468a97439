package scenarios

import (
	"errors"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/headgate"
	"headgate/e2e/suite"
)

// What rights for quota for Workloads are needed with: a queue that borrows everything, so that every
// Job changes its share and that of its cohort, and one that is always full.
const quotaToNeed = `
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: $NS-any}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: $NS-all}, spec: {resourceGroups:
 [{coveredResources: [cpu], flavors: [{name: $NS-any, resources: [{name: cpu, nominalQuota: 1}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: $NS-part}, spec: {parentName: $NS-all}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: $NS-borrows},
 spec: {cohortName: $NS-part, namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu],
 flavors: [{name: $NS-any, resources: [{name: cpu, nominalQuota: 0}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: $NS-full},
 spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu],
 flavors: [{name: $NS-any, resources: [{name: cpu, nominalQuota: 0}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: borrows}, spec: {clusterQueue: $NS-borrows}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: full}, spec: {clusterQueue: $NS-full}}
`

// tiny is a Job that gets quota.
func (c *chartRights) tiny() string {
	c.Helper()
	name := c.next("tiny-")
	c.Job(name, "borrows", 1, suite.PodCPU("10m"))
	return name
}

// tinyGroup is a pod group of one pod, which gets quota; it, its pod and its Workload have the same name.
func (c *chartRights) tinyGroup() string {
	c.Helper()
	name := c.next("group-")
	c.Pod(name, queued("borrows", "10m"), inGroup(name, 1))
	return name
}

// waiting is a Job that gets none, as soon as it has its Workload.
func (c *chartRights) waiting() string {
	c.Helper()
	name := c.next("waiting-")
	c.Job(name, "full", 1)
	c.Eventually(name+" was looked at", func() error {
		w, err := c.WorkloadOf(name)
		if err == nil && !strings.HasPrefix(suite.Condition(w, "QuotaReserved"), "False/") {
			err = errors.New("not yet")
		}
		return err
	})
	return name
}

func (c *chartRights) deleteJob(name string) {
	c.Helper()
	background := metav1.DeletePropagationBackground
	c.Must(c.Cluster.Client.BatchV1().Jobs(c.Namespace).Delete(c.Ctx, name,
		metav1.DeleteOptions{PropagationPolicy: &background}))
}

// quotaNeeds returns what makes the scheduler ask for a right about Workloads and Jobs; nil: not known.
func (c *chartRights) quotaNeeds(r right) func() {
	switch r.verb + " " + r.what {
	case "create workloads", "patch workloads/status", "patch jobs", "patch clusterqueues/status",
		"patch localqueues/status", "patch cohorts/status", "update jobs/finalizers":
		return func() { c.tiny() }
	case "get workloads": // what a Workload that waits asks for depends on LimitRanges
		return func() {
			c.waiting()
			c.Apply("{apiVersion: v1, kind: LimitRange, metadata: {name: " + c.next("limits-") +
				"}, spec: {limits: [{type: Container, defaultRequest: {cpu: 100m}}]}}")
		}
	case "get customresourcedefinitions": // how preemption gates are spelled here
		return func() {
			c.Apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: " + c.next("gated-") +
				"}, spec: {queueName: full, preemptionGates: [{name: example.com/gate}], podSets: [{name: main, count: 1, " +
				"template: {spec: {restartPolicy: Never, containers: [{name: c, image: c, " +
				"resources: {requests: {cpu: 10m}}}]}}}]}}")
		}
	case "patch workloads": // its finalizer
		return func() { c.deleteJob(c.waiting()) }
	case "delete workloads": // a Job has two
		return func() {
			w, err := c.WorkloadOf(c.waiting())
			c.Must(err)
			w.SetName(c.next("second-"))
			w.SetResourceVersion("")
			w.SetUID("")
			_, err = c.Cluster.Dynamic.Resource(headgate.Workloads).Namespace(c.Namespace).Create(c.Ctx, w, metav1.CreateOptions{})
			c.Must(err)
		}
	case "patch jobs/status": // one that was started before, which Kubernetes forgets by itself since 1.36
		return c.startedBefore
	case "update pods/finalizers": // of a pod alone, which controls its Workload
		return func() { c.Pod(c.next("alone-"), queued("borrows", "10m")) }
	case "delete pods": // of a Workload that is stopped
		return func() {
			name := c.tinyGroup()
			c.Eventually(name+" was let go", func() error {
				if len(c.GetPod(name).Spec.SchedulingGates) > 0 {
					return errors.New("not yet")
				}
				return nil
			})
			c.deactivate(name)
		}
	case "patch resourceflavors", "patch clusterqueues", "patch admissionchecks": // the finalizer
		return func() { c.makeWithoutFinalizer(r.what) }
	}
	return nil
}

// startedBefore is a Job that gets quota and bears the time of an earlier start.
func (c *chartRights) startedBefore() {
	c.Helper()
	name := c.next("started-")
	c.Job(name, "full", 1, suite.PodCPU("10m"))
	c.Eventually("Kubernetes knows that "+name+" is suspended", func() error {
		for _, condition := range c.GetJob(name).Status.Conditions {
			if condition.Type == batchv1.JobSuspended {
				return nil
			}
		}
		return errors.New("not yet")
	})
	jobs := c.Cluster.Client.BatchV1().Jobs(c.Namespace)
	_, err := jobs.Patch(c.Ctx, name, types.MergePatchType, []byte(`{"status":{"startTime":"2026-01-01T00:00:00Z"}}`),
		metav1.PatchOptions{}, "status")
	c.Must(err)
	_, err = jobs.Patch(c.Ctx, name, types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"`+headgate.QueueLabel+`":"borrows"}}}`), metav1.PatchOptions{})
	c.Must(err)
}

func (c *chartRights) deactivate(workload string) {
	c.Helper()
	_, err := c.Cluster.Dynamic.Resource(headgate.Workloads).Namespace(c.Namespace).Patch(c.Ctx, workload,
		types.MergePatchType, []byte(`{"spec":{"active":false}}`), metav1.PatchOptions{})
	c.Must(err)
}

// makeWithoutFinalizer makes an object and takes off the finalizer that our webhook gave it.
func (c *chartRights) makeWithoutFinalizer(resource string) {
	c.Helper()
	manifests := map[string]string{
		"resourceflavors": "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: $NAME}}",
		"clusterqueues":   "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: $NAME}, spec: {}}",
		"admissionchecks": "{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: $NAME}, spec: {controllerName: a.b/c}}",
	}
	name := c.next(c.Namespace + "-")
	c.Apply(strings.ReplaceAll(manifests[resource], "$NAME", name))
	_, err := c.Cluster.Dynamic.Resource(headgate.Workloads.GroupVersion().WithResource(resource)).Patch(c.Ctx, name,
		types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	c.Must(err)
}
