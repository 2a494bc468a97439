package suite

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"headgate/e2e/fleet"
	"headgate/e2e/headgate"
	"headgate/e2e/oracle"
)

// Play plays a part of a scenario in a namespace of its own, with the daemons that the scenario has started. After one
// that fails, the others are not played.
func (f *F) Play(name string, part func(*F)) {
	f.Helper()
	ok := f.Run(name, func(t *testing.T) {
		p := StartFleet(t)
		p.orchestrator, p.managedBy, p.schedulers = f.orchestrator, f.managedBy, f.schedulers
		part(p)
	})
	if !ok {
		f.FailNow()
	}
}

// WaitOpened waits until the gate of a Workload has been opened on a worker, and returns this one; with others, until it
// was opened on one more after those.
func (f *F) WaitOpened(workload string, before ...*fleet.Member) *fleet.Member {
	f.Helper()
	var on *fleet.Member
	f.Eventually("a gate of Workload "+workload+" is open", func() error {
		opened := f.Gates.Clusters(f.Namespace, workload, oracle.Opened)
		if len(opened) <= len(before) {
			return fmt.Errorf("opened on %v", opened)
		}
		name := opened[len(before)]
		on = f.Fleet.Workers[slices.IndexFunc(f.Fleet.Workers, func(m *fleet.Member) bool { return m.Name == name })]
		return nil
	})
	return on
}

// WaitQuota waits until the replica of a Workload has quota on a worker, whether the manager knows it or not.
func (f *F) WaitQuota(m *fleet.Member, workload string) {
	f.Helper()
	f.Eventually("Workload "+workload+" has quota on "+m.Name, func() error {
		w, err := m.Dynamic.Resource(headgate.Workloads).Namespace(f.Namespace).Get(f.Ctx, workload, metav1.GetOptions{})
		if err == nil && !strings.HasPrefix(Condition(w, "QuotaReserved"), "True/") {
			err = errors.New(Condition(w, "QuotaReserved"))
		}
		return err
	})
}

// MakeAnew makes the cluster of a worker anew, at the same address and with the same certificates: it is empty but for
// the namespace and the queue of the scenario, and what schedules there. The manager gets its rights last.
func (f *F) MakeAnew(m *fleet.Member, cpus int) {
	f.Helper()
	own := f.schedulers[m.Name]
	if own != nil {
		own.Kill()
	}
	f.Must(m.Empty(f.Ctx))
	f.Gates.Emptied(m.Name)
	f.Runs.Emptied(m.Name)
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace}}
	_, err := m.Client.CoreV1().Namespaces().Create(f.Ctx, space, metav1.CreateOptions{})
	f.Must(err)
	if own != nil {
		f.ownKinds(m)
		f.Must(own.Start())
	}
	f.workerQueue(m, cpus)
	f.waitQueue(m)
	f.Must(m.GiveRights(f.Ctx))
}

// refusal of an API server to close a gate that is open.
const refusal = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $NS}
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
    resourceRules:
    - {apiGroups: [kueue.x-k8s.io], apiVersions: ["*"], operations: [UPDATE], resources: [workloads/status]}
  matchConditions:
  - {name: manager, expression: "request.userInfo.username == '$USER'"}
  validations:
  - message: gates stay open
    expression: >-
      !oldObject.?status.?preemptionGates.orValue([]).exists(g, g.position == 'Open') ||
      object.?status.?preemptionGates.orValue([]).exists(g, g.position == 'Open')
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: $NS}
spec: {policyName: $NS, validationActions: [Deny]}
`

// RefuseToClose lets the API server of a worker refuse that the manager closes a gate, until the function that it
// returns is called, or the scenario ends.
func (f *F) RefuseToClose(m *fleet.Member) (allow func()) {
	f.Helper()
	f.Apply(m, strings.ReplaceAll(refusal, "$USER", m.Account().User))
	removed := false
	allow = func() {
		if removed {
			return
		}
		removed = true
		_, err := m.Kubectl(f.Ctx, "", "delete", fmt.Sprintf("validatingadmissionpolicybindings/%s", f.Namespace),
			fmt.Sprintf("validatingadmissionpolicies/%s", f.Namespace))
		f.Must(err)
	}
	f.Cleanup(allow)
	return allow
}
