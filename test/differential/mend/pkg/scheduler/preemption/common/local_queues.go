//go:build differential

package common

import (
	"sigs.k8s.io/kueue/pkg/mend"
	"sigs.k8s.io/kueue/pkg/workload"
)

// ofOtherLocalQueues: Kueue takes two LocalQueues of one name in two namespaces for the same.
func ofOtherLocalQueues(a, b *workload.Info) bool {
	return a.Obj.Spec.QueueName != b.Obj.Spec.QueueName ||
		(mend.On.LocalQueueNames && a.Obj.Namespace != b.Obj.Namespace)
}
