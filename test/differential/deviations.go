package main

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"headgate/differential/lib"
)

// A deviation is a difference that docs/deviations.md explains. A cluster counts for it when
// explains says so of the answers (one of Kueue's, when it gives several), or when Kueue answers as
// Headgate does once it is mended in that way (mend).
type deviation struct {
	name     string
	explains func(c *cluster, h *headgate, v *verdict) bool
	mend     func(c *cluster) bool // on the copy that it gets; false: that cannot make a difference
}

var deviations = []deviation{
	{name: "reasons", explains: onlyReasons},
	{name: "giving-back", mend: func(c *cluster) bool { c.mends.GivingBack = true; return c.fair }},
	{name: "flavor-fungibility-off", mend: func(c *cluster) bool {
		c.mends.FlavorFungibilityOff = true
		return !c.gates["FlavorFungibility"]
	}},
	{name: "scan-progress-off", mend: func(c *cluster) bool {
		c.quiet = true
		return !c.gates["FlavorFungibilityPreserveScanProgress"] || c.cycles > 2
	}},
	{name: "scan-progress-off", explains: onlyPlaces},
	{name: "behind-the-scan", explains: onlyTriedAgain},
	{name: "stopped-local-queue", mend: func(c *cluster) bool {
		c.mends.StoppedLocalQueue = true
		return len(c.deletions)+len(c.updates) > 0 || c.stops
	}},
	{name: "edits-wake-all", mend: func(c *cluster) bool {
		c.mends.EditsWakeAll = true
		return slices.ContainsFunc(c.updates, func(u update) bool {
			_, ok := u.object.(*kueue.Workload)
			return !ok
		})
	}},
	{name: "local-queue-names", mend: func(c *cluster) bool { c.mends.LocalQueueNames = true; return c.usage != nil }},
	{name: "failed-checks", mend: func(c *cluster) bool {
		c.mends.FailedChecks = true
		return len(c.checks) > 0 && c.cycles > 1
	}},
	{name: "backoff", mend: func(c *cluster) bool {
		c.mends.Backoff = true
		return slices.ContainsFunc(c.updates, func(u update) bool {
			switch o := u.object.(type) {
			case *kueue.LocalQueue:
				return true
			case *kueue.Workload:
				return o.Status.RequeueState != nil
			}
			return false
		})
	}},
	{name: "changed-requests", mend: func(c *cluster) bool {
		c.mends.ChangedRequests = true
		return c.gates["SchedulingEquivalenceHashing"] && slices.ContainsFunc(c.updates, func(u update) bool {
			w, ok := u.object.(*kueue.Workload)
			return ok && !c.isArrival(w)
		})
	}},
	{name: "usage-of-others", mend: func(c *cluster) bool {
		c.mends.UsageOfOthers = true
		return c.usage != nil && !c.fair
	}},
	{name: "usage-of-stopped", mend: func(c *cluster) bool {
		c.mends.UsageOfStopped = true
		return c.usage != nil && c.advance > 0 && c.stopsLocalQueues()
	}},
	{name: "entry-penalty", mend: func(c *cluster) bool {
		c.mends.EntryPenalty = true
		return c.usage != nil && c.cycles > 1
	}},
	{name: "nothing-came-free", mend: func(c *cluster) bool {
		c.mends.NothingCameFree = true
		return len(c.deletions)+len(c.updates) > 0
	}},
	{name: "pods", mend: func(c *cluster) bool { c.mends.Pods = true; return c.hasPodQuota() }},
	{name: "preemption-over-borrowing", mend: func(c *cluster) bool {
		c.mends.PreemptionOverBorrowing = true
		return slices.ContainsFunc(c.queues, func(q *kueue.ClusterQueue) bool {
			p := q.Spec.FlavorFungibility.Preference
			return p != nil && *p == kueue.PreemptionOverBorrowing
		})
	}},
	{name: "less-than-nothing", mend: func(c *cluster) bool { c.mends.LessThanNothing = true; return true }},
}

func (c *cluster) hasPodQuota() bool {
	return slices.ContainsFunc(c.queues, func(q *kueue.ClusterQueue) bool {
		return slices.ContainsFunc(q.Spec.ResourceGroups, func(g kueue.ResourceGroup) bool {
			return slices.Contains(g.CoveredResources, corev1.ResourcePods)
		})
	})
}

// stopsLocalQueues: some LocalQueue is stopped, from the beginning or by an edit.
func (c *cluster) stopsLocalQueues() bool {
	return slices.ContainsFunc(c.locals, func(l *kueue.LocalQueue) bool { return stops(l) }) ||
		slices.ContainsFunc(c.updates, func(u update) bool {
			_, ok := u.object.(*kueue.LocalQueue)
			return ok && stops(u.object)
		})
}

// onlyPlaces: with the gate off, the first cycle in which the answers differ leaves in Kueue's heap
// what does not fit. What follows from that is not compared.
func onlyPlaces(c *cluster, h *headgate, v *verdict) bool {
	return !c.gates["FlavorFungibilityPreserveScanProgress"] && beginsWith(sameButForPlaces, c, h, v)
}

// beginsWith: the first cycle in which the answers differ is alike.
func beginsWith(alike func(c *cluster, kueue, ours lib.Answer) bool, c *cluster, h *headgate, v *verdict) bool {
	first := c.cycles
	for _, line := range slices.Concat(v.Theirs[0], v.Ours) {
		var cycle int
		if n, _ := fmt.Sscan(line, &cycle); n == 1 && !(containsLine(v.Theirs[0], line) && containsLine(v.Ours, line)) {
			first = min(first, cycle)
		}
	}
	start := c.clone()
	start.stopAfter(first)
	w := compare(start, h, firstTries)
	return slices.ContainsFunc(w.Theirs, func(k lib.Answer) bool { return alike(c, k, w.Ours) })
}

// onlyTriedAgain: quota came free while scans went on, or a Workload that lost a flavor within a cycle
// may be admitted with fewer pods; and what Kueue makes inadmissible at the end of a scan is in our
// heap. What follows from that is not compared.
func onlyTriedAgain(c *cluster, h *headgate, v *verdict) bool {
	return (len(c.deletions)+len(c.updates) > 0 || c.stops || c.admitsPartially()) && beginsWith(sameButForTriedAgain, c, h, v)
}

// admitsPartially: some Workload may be admitted with fewer pods than it asks for.
func (c *cluster) admitsPartially() bool {
	return c.gates["PartialAdmission"] && slices.ContainsFunc(c.workloads, func(w *kueue.Workload) bool {
		return slices.ContainsFunc(w.Spec.PodSets, func(p kueue.PodSet) bool { return p.MinCount != nil })
	})
}

func sameButForTriedAgain(c *cluster, kueue, ours lib.Answer) bool {
	for _, line := range ours {
		aside := strings.Replace(line, " heap ", " inadmissible ", 1)
		if line[0] != 'q' && !hasButForReason(c, kueue, line) && !hasButForReason(c, kueue, aside) {
			return false
		}
	}
	return len(kueue) == len(ours)
}

func sameButForPlaces(c *cluster, kueue, ours lib.Answer) bool {
	for _, line := range kueue {
		if line[0] != 'q' && !hasButForReason(c, ours, line) && !hasElsewhere(c, ours, line) {
			return false
		}
	}
	return len(kueue) == len(ours)
}

// hasElsewhere: what Kueue keeps in its heap is among the inadmissible ones. A scan that goes on sees
// the flavors left alone, and gives the reason why these do not fit.
func hasElsewhere(c *cluster, ours lib.Answer, line string) bool {
	moved := strings.Replace(line, " heap ", " inadmissible ", 1)
	if hasButForReason(c, ours, moved) {
		return true
	}
	what, reason := split(moved)
	return moved != line && slices.Contains(noFit, reason) &&
		slices.ContainsFunc(ours, func(other string) bool {
			same, why := split(other)
			return same == what && slices.Contains(noFit, why)
		})
}

// The reasons of what does not fit. Kueue looks at resources one by one and stops at the first
// without a flavor, and counts flavors that were passed over in a group which found one.
var noFit = []string{"", "WaitingForQuota", "ExceedsMaxQuota", "NoMatchingFlavor"}

// onlyReasons: decisions are equal, and the answers differ in the reason of Workloads that wait for
// flavors of several groups, or for a resource that their ClusterQueue does not have.
func onlyReasons(c *cluster, _ *headgate, v *verdict) bool {
	for _, line := range v.Theirs[0] {
		if !hasButForReason(c, v.Ours, line) {
			return false
		}
	}
	return len(v.Theirs[0]) == len(v.Ours)
}

func hasButForReason(c *cluster, ours lib.Answer, line string) bool {
	what, reason := split(line)
	for _, other := range ours {
		same, why := split(other)
		if same == what && (why == reason || (slices.Contains(noFit, why) && slices.Contains(noFit, reason) &&
			needsSeveralGroups(c, strings.Fields(what)[2]))) {
			return true
		}
	}
	return false
}

func needsSeveralGroups(c *cluster, key string) bool {
	w := c.workload(key)
	q := c.queueOf(w)
	for _, p := range w.Spec.PodSets {
		groups := map[int]bool{}
		for r := range p.Template.Spec.Containers[0].Resources.Requests {
			groups[slices.IndexFunc(q.Spec.ResourceGroups, func(g kueue.ResourceGroup) bool {
				return slices.Contains(g.CoveredResources, r)
			})] = true
		}
		if len(groups) > 1 {
			return true
		}
	}
	return false
}

// split takes the reason off a Pending line.
func split(line string) (what, reason string) {
	words := strings.Fields(line)
	if len(words) >= 4 && words[1] == "Pending" {
		return strings.Join(words[:4], " "), strings.Join(words[4:], " ")
	}
	return line, ""
}

// byAnswers names the deviation that the answers show.
func byAnswers(c *cluster, h *headgate, v verdict) string {
	for _, d := range deviations {
		for i := range v.Theirs {
			one := v
			one.Theirs = v.Theirs[i : i+1]
			if d.explains != nil && d.explains(c, h, &one) {
				return d.name
			}
		}
	}
	return ""
}

// explains: Kueue answers as Headgate does when it is mended in these ways, or what is left has a name.
func explains(by []deviation, c *cluster, h *headgate, tries int) (rest string, ok bool) {
	changed := c.clone()
	for _, d := range by {
		d.mend(changed)
	}
	v := compare(changed, h, tries)
	if v.Kind == lib.Same || v.Kind == lib.Unsettled {
		return "", true
	}
	rest = byAnswers(changed, h, v)
	return rest, rest != ""
}

// explain names the deviation that a difference comes from, or several; "" when they do not explain
// all of it.
func explain(c *cluster, h *headgate, v verdict, tries int) string {
	if v.Kind != lib.Different && v.Kind != lib.Unstable {
		return ""
	}
	if name := byAnswers(c, h, v); name != "" {
		return name
	}
	var known []deviation
	for _, d := range deviations {
		if d.mend == nil || !d.mend(c.clone()) {
			continue
		}
		known = append(known, d)
		if rest, ok := explains(known[len(known)-1:], c, h, tries); ok && rest == "" {
			return d.name
		}
	}
	return explainBySeveral(known, c, h, tries)
}

// explainBySeveral mends Kueue in all ways, and leaves out those that make no difference.
func explainBySeveral(known []deviation, c *cluster, h *headgate, tries int) string {
	rest, ok := explains(known, c, h, tries)
	if !ok {
		return ""
	}
	for i := len(known) - 1; i >= 0; i-- {
		fewer := dropped(known, i)
		if left, still := explains(fewer, c, h, tries); still {
			known, rest = fewer, left
		}
	}
	names := []string{}
	for _, d := range known {
		names = append(names, d.name)
	}
	if rest != "" {
		names = append(names, rest)
	}
	return strings.Join(names, " and ")
}
