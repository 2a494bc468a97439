//go:build differential

package flavorassigner

import "sigs.k8s.io/kueue/pkg/mend"

// fitsAsAWhole: the flavor's mode is fit, and no resource needs preemption. With the preference
// PreemptionOverBorrowing a resource that fits by borrowing is worse than one that needs preemption,
// so that Kueue takes a flavor with one of each for fitting.
func fitsAsAWhole(mode preemptionMode, assignment ResourceAssignment) bool {
	for _, a := range assignment {
		if mend.On.PreemptionOverBorrowing && a.Mode != Fit {
			return false
		}
	}
	return mode == fit
}

// withoutScan: with the gate FlavorFungibility off there is no scan to go on with.
func withoutScan(assignment ResourceAssignment) ResourceAssignment {
	for _, a := range assignment {
		if mend.On.FlavorFungibilityOff {
			a.TriedFlavorIdx = -1
		}
	}
	return assignment
}
