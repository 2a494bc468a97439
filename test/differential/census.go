package main

import (
	"fmt"
	"sort"
	"strings"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	kueueconstants "sigs.k8s.io/kueue/pkg/constants"
)

// A census counts clusters by what was in them and what was decided in them.
type census map[string]int

func (s *census) count(c *cluster, v *verdict) {
	if *s == nil {
		*s = census{}
	}
	seen := map[string]bool{}
	describe(c, seen)
	mark(seen, "candidate with precedence over the preemptor", v.precedence)
	if v.run != nil {
		decided(c, v.run, seen)
	}
	for what := range seen {
		(*s)[what]++
	}
}

func depth(c *cluster) int {
	parents := map[string]string{}
	for _, co := range c.cohorts {
		parents[co.Name] = string(co.Spec.ParentName)
	}
	most := 0
	for _, q := range c.queues {
		n := 0
		for name := string(q.Spec.CohortName); name != ""; name = parents[name] {
			n++
		}
		most = max(most, n)
	}
	return most
}

func describe(c *cluster, seen map[string]bool) {
	seen[fmt.Sprintf("cohorts %d deep", depth(c))] = true
	seen["fair sharing"] = c.fair
	seen["NominalQuotaFirst"] = c.mends.NominalQuotaFirst
	seen["several cycles"] = c.cycles > 1
	seen["deletions"] = len(c.deletions) > 0
	seen["victims that stop and wait again"] = c.stops
	seen["admission fair sharing"] = c.usage != nil
	seen["admission checks"] = len(c.checks) > 0
	for _, w := range c.workloads {
		seen["Workload that is held back"] = seen["Workload that is held back"] || w.Spec.Active != nil ||
			w.Spec.PreemptionGates != nil || w.Annotations[kueueconstants.AdmissionGatedByAnnotation] != ""
	}
	seen["a clock that moves"] = c.advance > 0
	seen["usage that is sampled"] = c.usage != nil && c.cycles > 1 && c.advance*time.Duration(c.cycles-1) >= c.usage.UsageSamplingInterval.Duration
	for _, u := range c.updates {
		seen[c.nameOf(u)] = true
	}
	for name, on := range c.gates {
		seen["gate "+name+" not by default"] = on != gates[name]
	}
	for _, q := range c.queues {
		seen["StrictFIFO"] = seen["StrictFIFO"] || q.Spec.QueueingStrategy == kueue.StrictFIFO
		seen["stopped queue"] = seen["stopped queue"] || *q.Spec.StopPolicy != kueue.None
		seen["borrowWithinCohort"] = seen["borrowWithinCohort"] ||
			q.Spec.Preemption.BorrowWithinCohort.Policy != kueue.BorrowWithinCohortPolicyNever
		for _, rg := range q.Spec.ResourceGroups {
			seen["several flavors"] = seen["several flavors"] || len(rg.Flavors) > 1
			for _, f := range rg.Flavors {
				seen["borrowing limit"] = seen["borrowing limit"] || f.Resources[0].BorrowingLimit != nil
				seen["lending limit"] = seen["lending limit"] || f.Resources[0].LendingLimit != nil
			}
		}
	}
	for what, is := range seen {
		if !is {
			delete(seen, what)
		}
	}
}

// firstFlavor: whether all resources got the first flavor of their group.
func firstFlavor(q *kueue.ClusterQueue, flavors map[string]string) bool {
	for _, rg := range q.Spec.ResourceGroups {
		for _, r := range rg.CoveredResources {
			if f, ok := flavors[string(r)]; ok && f != string(rg.Flavors[0].Name) {
				return false
			}
		}
	}
	return true
}

func mark(seen map[string]bool, what string, is bool) {
	if is {
		seen[what] = true
	}
}

func decided(c *cluster, run *simulated, seen map[string]bool) {
	for _, d := range run.Decisions {
		switch d.Kind {
		case "Admit":
			seen["admission"] = true
			w := c.workload(d.Workload)
			if d.Borrowing > 0 {
				seen["admission that borrows"] = true
			}
			if len(w.Spec.PodSets) > 1 {
				seen["admission of several pod sets"] = true
			}
			for i, p := range d.PodSetAssignments {
				later := !firstFlavor(c.queue(d.ClusterQueue), p.Flavors)
				if p.Count < w.Spec.PodSets[i].Count {
					seen["partial admission"] = true
					mark(seen, "partial admission of several pod sets", len(w.Spec.PodSets) > 1)
					mark(seen, "partial admission with a later flavor", later)
				}
				if later {
					seen["admission with a later flavor"] = true
					f := c.queue(d.ClusterQueue).Spec.FlavorFungibility
					mark(seen, "admission with a later flavor after TryNextFlavor",
						f.WhenCanBorrow == kueue.TryNextFlavor || f.WhenCanPreempt == kueue.TryNextFlavor)
				}
			}
			if d.Borrowing > 0 && c.hasLendingLimitAbove(c.queue(d.ClusterQueue)) {
				seen["admission that borrows below a Cohort with a lending limit"] = true
			}
		case "Preempt":
			seen["preemption "+d.Reason] = true
			c.describePreemption(d.Workload, d.By, d.Reason, seen)
			if d.Ongoing {
				seen["preemption goes on"] = true
			}
		case "Pending":
			seen["pending in the "+strings.Replace(d.Requeue, "inadmissible", "inadmissible ones", 1)] = true
			seen["pending "+d.Reason] = true
			c.describeWaiting(d.Workload, d.Requeue, run, seen)
			if d.Assignment != nil && d.Assignment.Borrowing > 0 {
				seen["pending while it would borrow"] = true
			}
		}
	}
}

// hasLendingLimitAbove: a cohort above q lends only a part of its quota.
func (c *cluster) hasLendingLimitAbove(q *kueue.ClusterQueue) bool {
	cohorts := map[string]*kueue.Cohort{}
	for _, co := range c.cohorts {
		cohorts[co.Name] = co
	}
	for co := cohorts[string(q.Spec.CohortName)]; co != nil; co = cohorts[string(co.Spec.ParentName)] {
		for _, rg := range co.Spec.ResourceGroups {
			for _, f := range rg.Flavors {
				if f.Resources[0].LendingLimit != nil {
					return true
				}
			}
		}
	}
	return false
}

func isPlain(f *kueue.FairSharing) bool {
	return f == nil || f.Weight == nil || f.Weight.MilliValue() >= 1000
}

func (c *cluster) describePreemption(victim, by, reason string, seen map[string]bool) {
	from, to := c.queueOf(c.workload(victim)), c.queueOf(c.workload(by))
	if from.Spec.CohortName != to.Spec.CohortName {
		seen["preemption across cohorts"] = true
	}
	if reason == kueue.InCohortReclaimWhileBorrowingReason && to.Spec.Preemption.BorrowWithinCohort.MaxPriorityThreshold != nil {
		seen["preemption "+reason+" with a threshold"] = true
	}
	if reason == kueue.InCohortFairSharingReason && !(isPlain(from.Spec.FairSharing) && isPlain(to.Spec.FairSharing)) {
		seen["preemption "+reason+" with a weight below 1"] = true
	}
	if len(c.costs) > 0 {
		seen["preemption with costs"] = true
	}
}

func (c *cluster) describeWaiting(key, place string, run *simulated, seen map[string]bool) {
	w := c.workload(key)
	q := c.queueOf(w)
	if len(q.Spec.NamespaceSelector.MatchLabels) > 0 && w.Namespace != "b" {
		seen["pending in a namespace that is not selected"] = true
	}
	if q.Spec.QueueingStrategy == kueue.StrictFIFO && place == "heap" && len(run.Queues[q.Name].Heap) > 1 {
		seen["head of a StrictFIFO queue with others behind it"] = true
	}
}

func (s census) print(total int) {
	var lines []string
	for what, n := range s {
		lines = append(lines, fmt.Sprintf("  %6.2f%% %s", 100*float64(n)/float64(max(total, 1)), what))
	}
	sort.Slice(lines, func(i, j int) bool { return lines[i] > lines[j] })
	fmt.Println("Of them had")
	fmt.Println(strings.Join(lines, "\n"))
}
