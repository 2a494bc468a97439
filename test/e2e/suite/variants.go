package suite

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/fleet"
	"headgate/e2e/headgate"
)

// variants is Kueue's feature gate for queues that split Workloads into a variant for each flavor.
const variants = "ConcurrentAdmission"

// Flavor $NS-a comes before $NS-b. What was admitted stays in its flavor.
const variantQueues = `
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: $NS-a, labels: {e2e.headgate.io/scenario: $NS}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: $NS-b, labels: {e2e.headgate.io/scenario: $NS}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high}, value: 100}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: $NS, labels: {e2e.headgate.io/scenario: $NS}}
spec:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
  preemption: {withinClusterQueue: LowerPriority}
  concurrentAdmissionPolicy: {migration: {mode: RetainFirstAdmission}}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - {name: $NS-a, resources: [{name: cpu, nominalQuota: 1}]}
    - {name: $NS-b, resources: [{name: cpu, nominalQuota: 1}]}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: main}, spec: {clusterQueue: $NS}}
`

// SplitReplicas lets Kueue on the workers make variants of Workloads, until the scenario ends, in a queue "main" with
// one CPU in each of two flavors.
func (f *F) SplitReplicas() {
	f.Helper()
	restart := func(on bool) error {
		return f.Fleet.Each(func(m *fleet.Member) error {
			if m == f.Fleet.Manager {
				return nil
			}
			return m.RestartKueue(f.Ctx, map[string]bool{orchestration: true, variants: on})
		})
	}
	f.Must(restart(true))
	f.Cleanup(func() { f.Must(restart(false)) })
	for _, m := range f.Fleet.Workers {
		f.Apply(m, variantQueues)
	}
	f.managerQueue()
}

// Variants of a Workload on a worker: the Workloads that it owns, by name.
func (f *F) Variants(m *fleet.Member, of string) map[string]types.UID {
	f.Helper()
	list, err := m.Dynamic.Resource(headgate.Workloads).Namespace(f.Namespace).List(f.Ctx, metav1.ListOptions{})
	f.Must(err)
	found := map[string]types.UID{}
	for i := range list.Items {
		owner := metav1.GetControllerOf(&list.Items[i])
		if owner != nil && owner.Kind == "Workload" && owner.Name == of {
			found[list.Items[i].GetName()] = list.Items[i].GetUID()
		}
	}
	return found
}

// WaitVariants waits until a worker has as many variants of a Workload.
func (f *F) WaitVariants(m *fleet.Member, of string, count int) (found map[string]types.UID) {
	f.Helper()
	f.Eventually(fmt.Sprintf("Workload %s has %d variants on %s", of, count, m.Name), func() error {
		if found = f.Variants(m, of); len(found) != count {
			return fmt.Errorf("it has %v", found)
		}
		return nil
	})
	return found
}

// WaitCollected waits until the manager has collected what it takes for orphans on a worker: one is made, like the
// replica of a Workload.
func (f *F) WaitCollected(m *fleet.Member, like string) {
	f.Helper()
	replica := f.Replica(m, like)
	orphan := &unstructured.Unstructured{Object: map[string]any{"apiVersion": replica.GetAPIVersion(), "kind": "Workload",
		"spec": replica.Object["spec"]}}
	orphan.SetName("orphan")
	orphan.SetLabels(map[string]string{originLabel: fleet.Origin})
	orphan.SetAnnotations(replica.GetAnnotations())
	_, err := m.Dynamic.Resource(headgate.Workloads).Namespace(f.Namespace).Create(f.Ctx, orphan, metav1.CreateOptions{})
	f.Must(err)
	f.Eventually("orphans are collected on "+m.Name, func() error {
		if f.Replica(m, "orphan") != nil {
			return errors.New("one is there")
		}
		return nil
	})
}
