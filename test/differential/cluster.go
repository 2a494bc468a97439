package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/mend"

	"headgate/differential/lib"
)

// The clock of both schedulers. It stands still.
var now = time.Date(2026, 1, 15, 10, 0, 0, 0, time.UTC)

// A deletion removes a Workload after that cycle.
type deletion struct {
	after    int
	workload string // namespace/name
}

// An update creates or changes an object after that cycle: of a Workload's status only reclaimable
// pods, checks, requeueState and conditions that it has.
type update struct {
	after  int
	object client.Object
}

// A cluster is what both schedulers are asked about.
type cluster struct {
	gates      map[string]bool
	fair       bool
	strategies []string
	quiet      bool     // Kueue does not hear of its own writes to Workloads that wait
	mends      mend.Set // what Kueue does as Headgate does
	cycles     int
	deletions  []deletion
	updates    []update
	stops      bool          // victims stop after each cycle, and wait again
	advance    time.Duration // between cycles
	namespaces []*corev1.Namespace
	flavors    []*kueue.ResourceFlavor
	cohorts    []*kueue.Cohort
	queues     []*kueue.ClusterQueue
	checks     []*kueue.AdmissionCheck
	usage      *config.AdmissionFairSharing
	costs      map[string]int64 // of being preempted, by Workload; Kueue is mended where there are some
	locals     []*kueue.LocalQueue
	workloads  []*kueue.Workload
}

func (c *cluster) clone() *cluster {
	out := *c
	out.gates = map[string]bool{}
	for name, on := range c.gates {
		out.gates[name] = on
	}
	out.costs = maps.Clone(c.costs)
	out.strategies = append([]string(nil), c.strategies...)
	out.deletions = append([]deletion(nil), c.deletions...)
	out.updates = append([]update(nil), c.updates...)
	out.namespaces = lib.Copies(c.namespaces)
	out.flavors = lib.Copies(c.flavors)
	out.cohorts = lib.Copies(c.cohorts)
	out.queues = lib.Copies(c.queues)
	out.checks = lib.Copies(c.checks)
	out.locals = lib.Copies(c.locals)
	out.workloads = lib.Copies(c.workloads)
	return &out
}

// stopAfter leaves out the cycles after that one.
func (c *cluster) stopAfter(cycle int) {
	c.cycles = cycle
	c.deletions = slices.DeleteFunc(c.deletions, func(d deletion) bool { return d.after >= cycle })
	c.updates = slices.DeleteFunc(c.updates, func(u update) bool { return u.after >= cycle })
}

func (c *cluster) workload(key string) *kueue.Workload {
	for _, w := range c.workloads {
		if w.Namespace+"/"+w.Name == key {
			return w
		}
	}
	for _, u := range c.updates {
		if w, ok := u.object.(*kueue.Workload); ok && w.Namespace+"/"+w.Name == key {
			return w
		}
	}
	return nil
}

// queueAtEnd is the ClusterQueue after all edits.
func (c *cluster) queueAtEnd(name string) *kueue.ClusterQueue {
	out := c.queue(name)
	for _, u := range c.updates {
		if q, ok := u.object.(*kueue.ClusterQueue); ok && q.Name == name {
			out = q
		}
	}
	return out
}

func (c *cluster) queue(name string) *kueue.ClusterQueue {
	for _, q := range c.queues {
		if q.Name == name {
			return q
		}
	}
	return nil
}

// nameOf says for the census what kind of update it is.
func (c *cluster) nameOf(u update) string {
	w, ok := u.object.(*kueue.Workload)
	switch {
	case !ok && stops(u.object):
		return "stop of a " + u.object.GetObjectKind().GroupVersionKind().Kind
	case !ok:
		return "edit of a " + u.object.GetObjectKind().GroupVersionKind().Kind
	case c.isArrival(w):
		return "arrival"
	case apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted) != nil && len(w.Status.AdmissionChecks) == 0:
		return "Workload of a drained LocalQueue"
	case len(w.Status.AdmissionChecks) > 0 && w.Spec.Active != nil:
		return "check that is rejected"
	case len(w.Status.AdmissionChecks) > 0 && apimeta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadEvicted):
		return "check that asks for a retry"
	case len(w.Status.AdmissionChecks) > 0:
		return "check of another state"
	case apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadRequeued) != nil:
		return "backoff that is over"
	case len(w.Status.Conditions) > 0:
		return "Workload that ends"
	case w.Status.ReclaimablePods != nil:
		return "pods that become reclaimable"
	default:
		return "edit of a priority"
	}
}

func stops(o client.Object) bool {
	var p *kueue.StopPolicy
	switch q := o.(type) {
	case *kueue.ClusterQueue:
		p = q.Spec.StopPolicy
	case *kueue.LocalQueue:
		p = q.Spec.StopPolicy
	}
	return p != nil && *p != kueue.None
}

// isArrival: the Workload is created between cycles.
func (c *cluster) isArrival(w *kueue.Workload) bool {
	return !slices.ContainsFunc(c.workloads, func(o *kueue.Workload) bool {
		return o.Namespace == w.Namespace && o.Name == w.Name
	})
}

// queueOf is the ClusterQueue of w's LocalQueue.
func (c *cluster) queueOf(w *kueue.Workload) *kueue.ClusterQueue {
	for _, l := range c.locals {
		if l.Namespace == w.Namespace && l.Name == string(w.Spec.QueueName) {
			return c.queue(string(l.Spec.ClusterQueue))
		}
	}
	return nil
}

func (c *cluster) objects() []any {
	var out []any
	for _, o := range c.namespaces {
		out = append(out, o)
	}
	for _, o := range c.flavors {
		out = append(out, o)
	}
	for _, o := range c.checks {
		out = append(out, o)
	}
	for _, o := range c.cohorts {
		out = append(out, o)
	}
	for _, o := range c.queues {
		out = append(out, o)
	}
	for _, o := range c.locals {
		out = append(out, o)
	}
	for _, o := range c.workloads {
		out = append(out, c.withCost(o))
	}
	return out
}

// withCost is the Workload with its status.preemptionCost, which Kueue does not have.
func (c *cluster) withCost(w *kueue.Workload) any {
	cost, ok := c.costs[w.Namespace+"/"+w.Name]
	if !ok {
		return w
	}
	var m map[string]any
	if err := json.Unmarshal(lib.Must(json.Marshal(w)), &m); err != nil {
		panic(err)
	}
	m["status"].(map[string]any)["preemptionCost"] = fmt.Sprint(cost)
	return m
}

// configuration is the manager's configuration file by which both decide. Kueue has no gate
// NominalQuotaFirst: where it is on, Kueue is mended.
func (c *cluster) configuration() []byte {
	all := map[string]bool{"NominalQuotaFirst": c.mends.NominalQuotaFirst}
	maps.Copy(all, c.gates)
	out := map[string]any{
		"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "featureGates": all,
	}
	if c.fair {
		out["fairSharing"] = map[string]any{"preemptionStrategies": c.strategies}
	}
	if c.usage != nil {
		out["admissionFairSharing"] = c.usage
	}
	return lib.Must(yaml.Marshal(out))
}

// manifests are all objects as JSON documents.
func (c *cluster) manifests() []byte {
	var out bytes.Buffer
	for _, o := range c.objects() {
		out.Write(lib.Must(json.Marshal(o)))
		out.WriteString("\n---\n")
	}
	return out.Bytes()
}

// updatesAfter are the manifests of what comes after that cycle, each kind in the order in which it
// is applied.
func (c *cluster) updatesAfter(cycle int, write func(object any) string) string {
	out := ""
	for _, u := range c.updates {
		if u.after == cycle {
			out += "---\n" + write(u.object)
		}
	}
	return out
}

// arguments are those of headgatectl simulate, files left out. updates names the file of what comes
// after a cycle. There is always one: so the scheduler's cache reads back what was written.
func (c *cluster) arguments(updates func(after int) string) []string {
	out := []string{"--as-is", "--now", now.Format(time.RFC3339), "--cycles", fmt.Sprint(c.cycles), "--advance", c.advance.String()}
	if c.stops {
		out = append(out, "--victims-stop")
	}
	for after := 1; after < c.cycles; after++ {
		out = append(out, "--apply-after", fmt.Sprintf("%d:%s", after, updates(after)))
	}
	for _, d := range c.deletions {
		out = append(out, "--delete-after", fmt.Sprintf("%d:Workload/%s", d.after, d.workload))
	}
	return out
}

// yaml is the cluster as manifests.
func (c *cluster) yaml() string {
	out := ""
	for _, o := range c.objects() {
		out += "---\n" + lib.Manifest(o)
	}
	for after := 1; after < c.cycles; after++ {
		if updates := c.updatesAfter(after, lib.Manifest); updates != "" {
			out += lib.Comment(fmt.Sprintf("after-%d.yaml:\n%s", after, updates))
		}
	}
	return out
}
