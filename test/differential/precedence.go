package main

import (
	"github.com/go-logr/logr"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	utilpriority "sigs.k8s.io/kueue/pkg/util/priority"
	"sigs.k8s.io/kueue/pkg/workload"
)

// A preemption is the record that a workload has preempted another one.
type preemption struct {
	since     moment // valid until something changes
	reversals int
	times     int
	last      uint64 // releases of the tree when it happened last
}

// A moment is what must not change for preemptions to count.
type moment struct {
	edits                    int
	released                 uint64
	victimAsItWas, byAsItWas version
	root                     string
}

type version struct {
	generation, priority int64
}

// The preemptor of a workload stays out of its reach, until something changes (docs/deviations.md,
// Preemption that ends).
type precedence struct {
	memory   *memory
	c        *cluster
	victims  map[string]map[string]*preemption // by victim, by preemptor
	released map[string]uint64                 // quota of a tree, without preemption
	edits    int                               // of queues and cohorts
	counted  bool                              // it kept some candidate from being a victim
}

const mostTimes = 3

func newPrecedence(c *cluster, m *memory) *precedence {
	return &precedence{memory: m, c: c, victims: map[string]map[string]*preemption{}, released: map[string]uint64{}}
}

func keyOf(w *kueue.Workload) string { return w.Namespace + "/" + w.Name }

func (p *precedence) rootOf(queue string) string {
	parents := map[string]string{}
	for _, co := range p.c.cohorts {
		parents[co.Name] = string(co.Spec.ParentName)
	}
	name := string(p.memory.queues[queue].Spec.CohortName)
	if name == "" {
		return "queue " + queue
	}
	for parents[name] != "" {
		name = parents[name]
	}
	return name
}

func (p *precedence) now(by, victim *kueue.Workload, root string) moment {
	asItIs := func(w *kueue.Workload) version {
		return version{w.Generation, int64(utilpriority.EffectivePriority(logr.Discard(), w))}
	}
	return moment{p.edits, p.released[root], asItIs(victim), asItIs(by), root}
}

func (p *precedence) isValid(by, victim *kueue.Workload, r *preemption) bool {
	if r.times == 0 && r.since.root == "" {
		return false
	}
	now := p.now(by, victim, r.since.root)
	releases := now.released - r.since.released
	now.released = r.since.released
	return now == r.since && releases < 1<<r.reversals
}

func (p *precedence) record(by, victim *kueue.Workload) {
	root := p.rootOf(string(victim.Status.Admission.ClusterQueue))
	r := p.findOrAdd(by, victim)
	if !p.isValid(by, victim, r) {
		if back := p.victims[keyOf(by)][keyOf(victim)]; back != nil {
			r.reversals = min(back.reversals+1, 20)
		}
		r.times = 0
		r.since = p.now(by, victim, root)
	}
	if r.times > 0 && r.last == p.released[root] {
		r.times++
	} else {
		r.times = 1
	}
	r.last = p.released[root]
	if r.times >= mostTimes {
		p.findOrAdd(victim, by).since = p.now(victim, by, root)
	}
}

func (p *precedence) findOrAdd(by, victim *kueue.Workload) *preemption {
	all := p.victims[keyOf(victim)]
	if all == nil {
		all = map[string]*preemption{}
		p.victims[keyOf(victim)] = all
	}
	if all[keyOf(by)] == nil {
		all[keyOf(by)] = &preemption{}
	}
	return all[keyOf(by)]
}

// gaveBack: w gives back quota, or a part of it.
func (p *precedence) gaveBack(w *kueue.Workload) {
	evicted := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted)
	preempted := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadPreempted)
	if !workload.HasQuotaReservation(w) || (evicted != nil && preempted != nil && evicted.Status == "True" &&
		evicted.LastTransitionTime.Equal(&preempted.LastTransitionTime)) {
		return
	}
	p.released[p.rootOf(string(w.Status.Admission.ClusterQueue))]++
}

func (p *precedence) gone(key string) {
	delete(p.victims, key)
	for _, all := range p.victims {
		delete(all, key)
	}
}

// has: w has preempted the other one, or another one that has, and so on.
func (p *precedence) has(w, other *kueue.Workload) bool {
	seen := map[string]bool{}
	next := []string{keyOf(other)}
	for len(next) > 0 {
		at := p.memory.workloads[next[0]]
		for by, r := range p.victims[next[0]] {
			if !seen[by] && at != nil && p.memory.workloads[by] != nil && p.isValid(p.memory.workloads[by], at, r) {
				seen[by] = true
				next = append(next, by)
			}
		}
		next = next[1:]
	}
	p.counted = p.counted || seen[keyOf(w)]
	return seen[keyOf(w)]
}
