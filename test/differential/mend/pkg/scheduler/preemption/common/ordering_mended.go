//go:build differential

package common

import (
	"cmp"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/mend"
	"sigs.k8s.io/kueue/pkg/workload"
)

// ofOtherLocalQueues: Kueue takes two LocalQueues of one name in two namespaces for the same.
func ofOtherLocalQueues(a, b *workload.Info) bool {
	return a.Obj.Spec.QueueName != b.Obj.Spec.QueueName ||
		(mend.On.LocalQueueNames && a.Obj.Namespace != b.Obj.Namespace)
}

// usageCountsIn: victims in that ClusterQueue are ordered by the usage of their LocalQueues. Kueue
// does so in all, where the order is none: two of one ClusterQueue compare by usage, each of them with
// a third one by priority.
func usageCountsIn(queue, preemptors kueue.ClusterQueueReference) bool {
	return !mend.On.UsageOfOthers || queue == preemptors
}

// compareCosts: of victims of equal priority, those that cost less come first.
func compareCosts(a, b *workload.Info) int { return cmp.Compare(mend.Cost(a.Obj), mend.Cost(b.Obj)) }
