package main

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// An answer is what a scheduler decided, a line each, in an order that says nothing:
//
//	CYCLE Admit WORKLOAD in QUEUE; PODSET xCOUNT RESOURCE=FLAVOR:AMOUNT...
//	CYCLE Preempt VICTIM by WORKLOAD REASON
//	CYCLE Pending WORKLOAD heap|inadmissible REASON
//	queue NAME: heap WORKLOAD... inadmissible WORKLOAD...
type answer []string

func (a *answer) add(line string) { *a = append(*a, line) }

func (a *answer) addQueue(name string, heap, inadmissible []string) {
	if len(heap)+len(inadmissible) > 0 {
		a.add(fmt.Sprintf("queue %s: heap %v inadmissible %v", name, heap, inadmissible))
	}
}

func (a answer) sorted() answer {
	sort.Strings(a)
	return a
}

func (a answer) equals(b answer) bool { return slices.Equal(a, b) }

func (a answer) text() string { return strings.Join(a, "\n") + "\n" }

// amount is a quantity in thousandths, since its spelling says nothing.
func amount(q resource.Quantity) string { return fmt.Sprintf("%dm", q.MilliValue()) }

func podSetText(name string, count int32, flavors, usage map[string]string) string {
	out := fmt.Sprintf("; %s x%d", name, count)
	for _, r := range slices.Sorted(maps.Keys(usage)) {
		out += fmt.Sprintf(" %s=%s:%s", r, flavors[r], usage[r])
	}
	return out
}
