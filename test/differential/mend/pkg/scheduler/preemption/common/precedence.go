//go:build differential

package common

import (
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/mend"
)

func mayNotPreempt(preemptor, candidate *kueue.Workload) bool {
	return mend.On.PreemptionEnds && mend.HasPrecedence(candidate, preemptor)
}
