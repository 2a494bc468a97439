package main

import (
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"headgate/differential/lib"
)

// valid: whether an API server with Kueue's rules would hold the cluster, and whether nothing
// in it names what is not there: a smaller cluster should differ for the same reason, not for a new
// one.
func valid(c *cluster) bool {
	names := map[string]bool{}
	for _, n := range c.namespaces {
		names["namespace "+n.Name] = true
	}
	for _, k := range c.checks {
		names["check "+k.Name] = true
	}
	for _, f := range c.flavors {
		names["flavor "+f.Name] = true
	}
	for _, q := range c.queues {
		names["queue "+q.Name] = true
		if !validGroups(q.Spec.ResourceGroups, string(q.Spec.CohortName), names) {
			return false
		}
		if s := q.Spec.AdmissionChecksStrategy; s != nil && !names["check "+string(s.AdmissionChecks[0].Name)] {
			return false
		}
		p := q.Spec.Preemption
		if p.ReclaimWithinCohort == kueue.PreemptionPolicyNever &&
			p.BorrowWithinCohort.Policy != kueue.BorrowWithinCohortPolicyNever {
			return false
		}
	}
	for _, co := range c.cohorts {
		if !validGroups(co.Spec.ResourceGroups, string(co.Spec.ParentName), names) {
			return false
		}
	}
	for _, l := range c.locals {
		names["local "+l.Namespace+"/"+l.Name] = true
		if !names["queue "+string(l.Spec.ClusterQueue)] {
			return false
		}
	}
	for _, w := range c.workloads {
		if !names["namespace "+w.Namespace] || !names["local "+w.Namespace+"/"+string(w.Spec.QueueName)] ||
			!validAdmission(c, w.Status.Admission) {
			return false
		}
	}
	for _, u := range c.updates {
		if w, ok := u.object.(*kueue.Workload); u.after >= c.cycles || (ok && (!names["namespace "+w.Namespace] ||
			!names["local "+w.Namespace+"/"+string(w.Spec.QueueName)])) {
			return false
		}
		if l, ok := u.object.(*kueue.LocalQueue); ok && !names["local "+l.Namespace+"/"+l.Name] {
			return false
		}
		if q, ok := u.object.(*kueue.ClusterQueue); ok && !names["queue "+q.Name] {
			return false
		}
	}
	for _, d := range c.deletions {
		if c.workload(d.workload) == nil || d.after >= c.cycles {
			return false
		}
	}
	return true
}

func validGroups(groups []kueue.ResourceGroup, parent string, names map[string]bool) bool {
	for _, g := range groups {
		if len(g.Flavors) == 0 {
			return false
		}
		for _, f := range g.Flavors {
			if !names["flavor "+string(f.Name)] {
				return false
			}
			for _, r := range f.Resources {
				if parent == "" && (r.BorrowingLimit != nil || r.LendingLimit != nil) {
					return false
				}
			}
		}
	}
	return true
}

// validAdmission: what is held is of flavors that the ClusterQueue has.
func validAdmission(c *cluster, a *kueue.Admission) bool {
	if a == nil {
		return true
	}
	q := c.queue(string(a.ClusterQueue))
	if q == nil {
		return false
	}
	has := map[string]bool{}
	for _, g := range q.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				has[string(f.Name)+" "+string(r.Name)] = true
			}
		}
	}
	for _, p := range a.PodSetAssignments {
		for r, f := range p.Flavors {
			if !has[string(f)+" "+string(r)] {
				return false
			}
		}
	}
	return true
}

// signature says in what way the answers differ: which kinds of lines only one of them has.
func (v *verdict) signature() map[string]bool {
	out := map[string]bool{}
	if v.Error != nil {
		out[v.Error.Error()] = true
	}
	if len(v.Theirs) == 0 {
		return out
	}
	note := func(side string, lines, others lib.Answer) {
		for _, line := range lines {
			words := strings.Fields(line)
			if !containsLine(others, line) && words[0] != "queue" {
				kind := side + words[1]
				switch words[1] {
				case "Pending":
					kind += strings.Join(words[3:], " ")
				case "Preempt":
					kind += words[5]
				}
				out[kind] = true
			}
		}
	}
	note("-", v.Theirs[0], v.Ours)
	note("+", v.Ours, v.Theirs[0])
	if len(out) == 0 {
		out["queues at the end"] = true
	}
	return out
}
