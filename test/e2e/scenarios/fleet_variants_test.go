package scenarios

import (
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/fleet"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// The workers' Kueue splits each Workload into variants, one for each flavor, which wait for the gate of their replica
// besides one of Kueue's own. One gate of one variant is opened, and one Workload is preempted. Kueue's manager opens
// none, and takes variants for orphans.
func TestFleetVariants(t *testing.T) {
	f := suite.StartFleet(t)
	f.SplitReplicas()
	f.Manage(true, "orchestratedPreemption: {order: ConfigOrder, reactionTimeout: 10s}")
	for _, m := range f.Fleet.Workers {
		f.Fill(m, "low-"+m.Name, 2)
	}
	high := f.Submit("high", 1)
	before := map[*fleet.Member]map[string]types.UID{}
	for _, m := range f.Fleet.Workers {
		before[m] = f.WaitVariants(m, high, 2)
	}
	on := f.WaitRuns("high", high)
	f.Must(victims(f, 1))
	var opened []string
	for _, m := range f.Fleet.Workers {
		for v := range before[m] {
			if slices.Contains(f.Gates.Clusters(f.Namespace, v, oracle.Opened), m.Name) {
				opened = append(opened, m.Name)
			}
		}
	}
	if !slices.Equal(opened, []string{on.Name}) {
		t.Errorf("gates of variants were opened on %v; it runs on %s", opened, on.Name)
	}
	f.WaitToken(high, `"outcome":"Admitted"`)
	f.WaitCollected(on, high)
	if after := f.Variants(on, high); !maps.Equal(after, before[on]) {
		t.Errorf("variants on %s: %v, before: %v", on.Name, after, before[on])
	}
	ranOn(f, "high", 0, on.Name)
}
