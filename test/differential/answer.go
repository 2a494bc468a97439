package main

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"headgate/differential/lib"
)

// What a scheduler decided:
//
//	CYCLE Admit WORKLOAD in QUEUE; PODSET xCOUNT RESOURCE=FLAVOR:AMOUNT...
//	CYCLE Preempt VICTIM by WORKLOAD REASON
//	CYCLE Pending WORKLOAD heap|inadmissible REASON
//	queue NAME: heap WORKLOAD... inadmissible WORKLOAD...

func addQueue(a *lib.Answer, name string, heap, inadmissible []string) {
	if len(heap)+len(inadmissible) > 0 {
		a.Add("queue %s: heap %v inadmissible %v", name, heap, inadmissible)
	}
}

// amount is a quantity in thousandths, since its spelling says nothing.
func amount(q resource.Quantity) string { return fmt.Sprintf("%dm", q.MilliValue()) }

func podSetText(name string, count int32, flavors, usage map[string]string) string {
	out := fmt.Sprintf("; %s x%d", name, count)
	for _, r := range slices.Sorted(maps.Keys(usage)) {
		out += fmt.Sprintf(" %s=%s:%s", r, flavors[r], usage[r])
	}
	return out
}
