package suite

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/cluster"
	"headgate/e2e/fleet"
	"headgate/e2e/headgate"
)

// Simulations are jobs of a kind of which Headgate knows the name alone. Nothing on the clusters acts on them: the
// scenario is their controller.
var Simulations = schema.GroupVersionResource{Group: "e2e.example.com", Version: "v1", Resource: "simulations"}

const simulationKind = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: simulations.e2e.example.com}
spec:
  group: e2e.example.com
  scope: Namespaced
  names: {kind: Simulation, plural: simulations, singular: simulation, listKind: SimulationList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: headgate-multikueue-simulations}
rules: [%s]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: headgate-multikueue-simulations}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: headgate-multikueue-simulations}
subjects: [{kind: ServiceAccount, name: %s, namespace: kueue-system}]
`

const (
	simulationRulesOfWorker = `{apiGroups: [e2e.example.com], resources: [simulations],
  verbs: [get, list, watch, create, patch, delete]}`
	simulationRulesOfManager = `{apiGroups: [e2e.example.com], resources: [simulations], verbs: [list, watch]},
  {apiGroups: [e2e.example.com], resources: [simulations/status], verbs: [patch]}`
)

// ManageSimulations is Manage with Simulations as one of externalFrameworks, which all members serve.
func (f *F) ManageSimulations() *cluster.Process {
	f.Helper()
	for _, m := range f.Fleet.Members() {
		rules, account := simulationRulesOfManager, "headgate-multikueue"
		if m != f.Fleet.Manager {
			rules, account = simulationRulesOfWorker, m.Account().Name
		}
		_, err := m.Kubectl(f.Ctx, fmt.Sprintf(simulationKind, rules, account), "apply", "--server-side", "-f", "-")
		f.Must(err)
	}
	return f.Manage(false, "externalFrameworks: [{name: Simulation.v1.e2e.example.com}]")
}

// SubmitSimulation creates a Simulation on the manager, and its Workload of the same name, which asks for one CPU.
func (f *F) SubmitSimulation(name string) {
	f.Helper()
	made, err := f.Fleet.Manager.Dynamic.Resource(Simulations).Namespace(f.Namespace).Create(f.Ctx,
		&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "e2e.example.com/v1", "kind": "Simulation",
			"metadata": map[string]any{"name": name},
			"spec": map[string]any{"managedBy": "kueue.x-k8s.io/multikueue", "suspend": false,
				"steps": int64(3)},
		}}, metav1.CreateOptions{})
	f.Must(err)
	f.Apply(f.Fleet.Manager, fmt.Sprintf(`
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata:
  name: %s
  ownerReferences: [{apiVersion: e2e.example.com/v1, kind: Simulation, name: %s, uid: %s, controller: true}]
spec:
  queueName: main
  podSets:
  - name: main
    count: 1
    template:
      spec:
        restartPolicy: Never
        containers: [{name: c, image: image, resources: {requests: {cpu: "1"}}}]
`, name, name, made.GetUID()))
}

func (f *F) simulation(m *fleet.Member, name string) (*unstructured.Unstructured, error) {
	return m.Dynamic.Resource(Simulations).Namespace(f.Namespace).Get(f.Ctx, name, metav1.GetOptions{})
}

// WaitSimulation waits until one worker alone has the Simulation, and returns this one.
func (f *F) WaitSimulation(name string) *fleet.Member {
	f.Helper()
	var on *fleet.Member
	f.Eventually("Simulation "+name+" is on one worker", func() error {
		on = nil
		for _, m := range f.Fleet.Workers {
			s, err := f.simulation(m, name)
			if apierrors.IsNotFound(err) {
				continue
			}
			if err != nil {
				return err
			}
			if on != nil {
				return errors.New("it is on two")
			}
			on = m
			spec, _, _ := unstructured.NestedMap(s.Object, "spec")
			if spec["managedBy"] != nil || spec["suspend"] != true || spec["steps"] != int64(3) {
				return fmt.Errorf("its spec is %v", spec)
			}
		}
		if on == nil {
			return errors.New("it is on none")
		}
		return nil
	})
	return on
}

// SetSimulation writes the state of the Simulation on a worker, as its controller there does.
func (f *F) SetSimulation(m *fleet.Member, name, state string) {
	f.Helper()
	_, err := m.Dynamic.Resource(Simulations).Namespace(f.Namespace).Patch(f.Ctx, name, types.MergePatchType,
		[]byte(fmt.Sprintf(`{"status":{"state":%q,"done":[{"step":1}]}}`, state)), metav1.PatchOptions{}, "status")
	f.Must(err)
}

// FinishSimulation finishes its Workload on a worker likewise.
func (f *F) FinishSimulation(m *fleet.Member, name string) {
	f.Helper()
	_, err := m.Dynamic.Resource(headgate.Workloads).Namespace(f.Namespace).Patch(f.Ctx, name, types.JSONPatchType,
		[]byte(`[{"op":"add","path":"/status/conditions/-","value":{"type":"Finished","status":"True","reason":
		"Succeeded","message":"done","lastTransitionTime":"2026-01-01T00:00:00Z"}}]`), metav1.PatchOptions{}, "status")
	f.Must(err)
}

// WaitSimulationState waits until the Simulation on the manager has this state.
func (f *F) WaitSimulationState(name, state string) {
	f.Helper()
	f.Eventually("Simulation "+name+" is "+state, func() error {
		s, err := f.simulation(f.Fleet.Manager, name)
		if err != nil {
			return err
		}
		if have, _, _ := unstructured.NestedString(s.Object, "status", "state"); have != state {
			return errors.New(strings.TrimSpace("it is " + have))
		}
		return nil
	})
}

// WaitNoSimulation waits until no worker has the Simulation or its replica.
func (f *F) WaitNoSimulation(name string) {
	f.Helper()
	for _, m := range f.Fleet.Workers {
		f.Eventually("nothing of "+name+" is left on "+m.Name, func() error {
			_, err := f.simulation(m, name)
			if err == nil {
				return errors.New("the Simulation")
			}
			if !apierrors.IsNotFound(err) {
				return err
			}
			if f.Replica(m, name) != nil {
				return errors.New("the replica")
			}
			return nil
		})
	}
}
