//go:build differential

package scheduler

import (
	"sigs.k8s.io/kueue/pkg/mend"
	"sigs.k8s.io/kueue/pkg/resources"
)

// notNegative is the amount that is reserved of what a ClusterQueue has left up to its borrowing
// limit, which is less than nothing where it uses more than that.
func notNegative(a resources.Amount) resources.Amount {
	if !mend.On.LessThanNothing {
		return a
	}
	return resources.MaxAmount(resources.NewAmount(0), a)
}
