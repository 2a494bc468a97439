package main

import (
	"fmt"
	"sort"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	kueueconstants "sigs.k8s.io/kueue/pkg/constants"
)

// A census counts clusters by what was in them and what was decided in them.
type census map[string]int

func (s *census) count(c *cluster, run *simulated) {
	if *s == nil {
		*s = census{}
	}
	seen := map[string]bool{}
	describe(c, seen)
	if run != nil {
		decided(c, run, seen)
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
				if p.Count < w.Spec.PodSets[i].Count {
					seen["partial admission"] = true
				}
				if !firstFlavor(c.queue(d.ClusterQueue), p.Flavors) {
					seen["admission with a later flavor"] = true
				}
			}
		case "Preempt":
			seen["preemption "+d.Reason] = true
			if d.Ongoing {
				seen["preemption goes on"] = true
			}
		case "Pending":
			seen["pending in the "+strings.Replace(d.Requeue, "inadmissible", "inadmissible ones", 1)] = true
			seen["pending "+d.Reason] = true
			if d.Assignment != nil && d.Assignment.Borrowing > 0 {
				seen["pending while it would borrow"] = true
			}
		}
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

func comment(text string) string {
	return "# " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n# ") + "\n"
}
