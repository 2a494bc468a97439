package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"headgate/e2e/fleet"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// fillAll lets one Job use each worker up.
func fillAll(f *suite.F) {
	f.Helper()
	f.Queues(1)
	for _, m := range f.Fleet.Workers {
		f.Fill(m, "low", 1)
	}
}

// victims of each worker, as often as these were preempted.
func victims(f *suite.F, want int) error {
	if found := f.Gates.Victims(f.Namespace); len(found) != want {
		return fmt.Errorf("%d victims, not %d: %v", len(found), want, found)
	}
	return nil
}

// What Kueue does on both sides without gates: a Job that needs preemption preempts on every worker, and the victims
// of all workers but one were stopped for nothing. The other scenarios are to be compared with this one.
func TestFleetPreemptsEverywhereWithoutGates(t *testing.T) {
	f := suite.StartFleet(t)
	fillAll(f)
	release := f.HoldVictims() // no worker admits before each one has looked
	high := f.Submit("high", 1)
	f.Eventually("each worker has preempted", func() error { return victims(f, len(f.Fleet.Workers)) })
	release()
	f.WaitRuns("high", high)
	f.Must(victims(f, len(f.Fleet.Workers)))
}

// With the policy for workers, their Kueue asks for the gate to be opened and preempts nothing, and Kueue on the
// manager opens none. A replica that fits without preemption is admitted with its gate closed.
func TestFleetGatesStayClosed(t *testing.T) {
	f := suite.StartFleet(t)
	f.GateReplicas()
	fillAll(f)
	high := f.Submit("high", 1)
	f.WaitBlocked(high)
	for _, m := range f.Fleet.Workers {
		// As a manager does that does not know of gates.
		_, err := m.Kubectl(f.Ctx, "", "patch", "workloads.kueue.x-k8s.io", high, "-n", f.Namespace,
			"--type=json", `--patch=[{"op": "remove", "path": "/spec/preemptionGates"}]`)
		f.Must(err)
		if gates, _, _ := unstructured.NestedSlice(f.Replica(m, high).Object, "spec", "preemptionGates"); len(gates) != 1 {
			t.Errorf("gates of the replica on %s: %v", m.Name, gates)
		}
	}
	last := f.Fleet.Workers[len(f.Fleet.Workers)-1]
	f.DeleteJob(last, "low-1")
	if on := f.WaitRuns("high", high); on != last {
		t.Errorf("it runs on %s", on.Name)
	}
	f.Must(victims(f, 0))
	if opened := f.Gates.Clusters(f.Namespace, high, oracle.Opened); !slices.Equal(opened, []string{}) {
		t.Errorf("gates were opened on %v", opened)
	}
}

// Kueue on the manager gives replicas their gates and opens one of them; Headgate on the workers asks as Kueue does.
func TestFleetHeadgateUnderKueue(t *testing.T) {
	f := suite.StartFleet(t)
	f.KueueOrchestrates()
	f.Headgate(f.Fleet.Workers...)
	fillAll(f)
	high := f.Submit("high", 1)
	on := f.WaitRuns("high", high)
	f.Must(victims(f, 1))
	if opened := f.Gates.Clusters(f.Namespace, high, oracle.Opened); !slices.Equal(opened, []string{on.Name}) {
		t.Errorf("gates were opened on %v", opened)
	}
}

// What Kueue's own orchestration does when the worker that may preempt is cut off: it forgets that worker, opens
// another gate at once, and both are open when the worker is back. Compare TestFleetHolderIsCutOff.
func TestFleetKueueForgetsHolder(t *testing.T) {
	f := suite.StartFleet(t)
	f.ExpectBreach()
	f.KueueOrchestrates()
	fillAll(f)
	f.HoldVictims()
	high := f.Submit("high", 1)
	f.WaitBlocked(high)
	f.Eventually("a victim", func() error { return victims(f, 1) })
	name := f.Gates.Clusters(f.Namespace, high, oracle.Opened)[0]
	holder := f.Fleet.Workers[slices.IndexFunc(f.Fleet.Workers, func(m *fleet.Member) bool { return m.Name == name })]
	holder.CutOff()
	f.Eventually("a victim on another worker", func() error { return victims(f, 2) })
	holder.Reconnect()
	f.Eventually("both gates are open", func() error {
		if f.Gates.Err() == nil {
			return errors.New("they are not")
		}
		return nil
	})
	t.Logf("as expected: %v", f.Gates.Err())
}
