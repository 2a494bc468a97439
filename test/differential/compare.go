package main

import (
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

// A verdict is what came of one cluster.
type verdict struct {
	lib.Verdict
	run        *simulated
	precedence bool // see askKueue
}

// compare asks both. Kueue is asked much more often when it gave several answers: there may be two ties.
func compare(c *cluster, h *headgate, tries int) verdict {
	run, err := h.run(c)
	if err != nil {
		return verdict{Verdict: lib.Verdict{Kind: lib.Broken, Error: err}}
	}
	v := verdict{Verdict: lib.Verdict{Ours: run.answer(c)}, run: run}
	v.Ask(tries, 10, func() (lib.Answer, error) {
		k, precedence, err := askKueue(c)
		v.precedence = v.precedence || precedence
		return k, err
	})
	return v
}

func containsLine(a lib.Answer, line string) bool { return slices.Contains(a, line) }
