package main

import (
	"fmt"
	"slices"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"headgate/differential/lib"
)

// active: queues that are stopped, or lack a flavor or a check, are not compared: their heaps may
// differ.
func active(c *cluster, name string) bool {
	q := c.queueAtEnd(name)
	if q == nil || (q.Spec.StopPolicy != nil && *q.Spec.StopPolicy != kueue.None) {
		return false
	}
	if s := q.Spec.AdmissionChecksStrategy; s != nil && slices.ContainsFunc(s.AdmissionChecks, func(r kueue.AdmissionCheckStrategyRule) bool {
		return !slices.ContainsFunc(c.checks, func(k *kueue.AdmissionCheck) bool {
			return k.Name == string(r.Name) && apimeta.IsStatusConditionTrue(k.Status.Conditions, kueue.AdmissionCheckActive)
		})
	}) {
		return false
	}
	known := map[kueue.ResourceFlavorReference]bool{}
	for _, f := range c.flavors {
		known[kueue.ResourceFlavorReference(f.Name)] = true
	}
	for _, rg := range q.Spec.ResourceGroups {
		for _, f := range rg.Flavors {
			if !known[f.Name] {
				return false
			}
		}
	}
	return true
}

// How a comparison can end.
const (
	same      = iota
	unsettled // Kueue answers one way and another, and ours is one of its answers
	different
	unstable // Kueue answers one way and another, and ours is none of them
	broken   // one of them gave no answer
)

// A verdict is what came of one cluster.
type verdict struct {
	kind       int
	ours       lib.Answer
	kueue      []lib.Answer // different ones
	error      error
	run        *simulated
	precedence bool // see askKueue
}

// compare asks both. The order in which Kueue walks its maps decides some ties, so it is asked
// again when the answers differ, and much more often when it gave several: there may be two ties.
func compare(c *cluster, h *headgate, tries int) verdict {
	run, err := h.run(c)
	if err != nil {
		return verdict{kind: broken, error: err}
	}
	v := verdict{ours: run.answer(c), run: run}
	for i := 0; i < tries || (len(v.kueue) > 1 && i < 10*tries); i++ {
		k, precedence, err := askKueue(c)
		if err != nil {
			return verdict{kind: broken, error: err, ours: v.ours}
		}
		v.precedence = v.precedence || precedence
		if !slices.ContainsFunc(v.kueue, k.Equals) {
			v.kueue = append(v.kueue, k)
		}
		if k.Equals(v.ours) {
			v.kind = same
			if len(v.kueue) > 1 {
				v.kind = unsettled
			}
			return v
		}
	}
	v.kind = different
	if len(v.kueue) > 1 {
		v.kind = unstable
	}
	return v
}

// difference shows both answers: what only Kueue says with -, what only Headgate says with +.
func (v *verdict) difference() string {
	if v.error != nil {
		return v.error.Error() + "\n"
	}
	out := ""
	for i, k := range v.kueue {
		if len(v.kueue) > 1 {
			out += fmt.Sprintf("against answer %d of Kueue:\n", i+1)
		}
		out += lib.Difference(k, v.ours)
	}
	return out
}

func containsLine(a lib.Answer, line string) bool { return slices.Contains(a, line) }
