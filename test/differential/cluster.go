package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// The clock of both schedulers. It stands still.
var now = time.Date(2026, 1, 15, 10, 0, 0, 0, time.UTC)

// A deletion removes a Workload after that cycle.
type deletion struct {
	after    int
	workload string // namespace/name
}

// A cluster is what both schedulers are asked about.
type cluster struct {
	gates      map[string]bool
	fair       bool
	strategies []string
	quiet      bool // Kueue does not hear of its own writes to Workloads that wait
	mended     bool // Kueue asks victims again after some were given back
	cycles     int
	deletions  []deletion
	namespaces []*corev1.Namespace
	flavors    []*kueue.ResourceFlavor
	cohorts    []*kueue.Cohort
	queues     []*kueue.ClusterQueue
	locals     []*kueue.LocalQueue
	workloads  []*kueue.Workload
}

func copies[T interface{ DeepCopy() T }](in []T) []T {
	out := make([]T, len(in))
	for i, o := range in {
		out[i] = o.DeepCopy()
	}
	return out
}

func (c *cluster) clone() *cluster {
	out := *c
	out.gates = map[string]bool{}
	for name, on := range c.gates {
		out.gates[name] = on
	}
	out.strategies = append([]string(nil), c.strategies...)
	out.deletions = append([]deletion(nil), c.deletions...)
	out.namespaces = copies(c.namespaces)
	out.flavors = copies(c.flavors)
	out.cohorts = copies(c.cohorts)
	out.queues = copies(c.queues)
	out.locals = copies(c.locals)
	out.workloads = copies(c.workloads)
	return &out
}

// stopAfter leaves out the cycles after that one.
func (c *cluster) stopAfter(cycle int) {
	c.cycles = cycle
	c.deletions = slices.DeleteFunc(c.deletions, func(d deletion) bool { return d.after >= cycle })
}

func (c *cluster) workload(key string) *kueue.Workload {
	for _, w := range c.workloads {
		if w.Namespace+"/"+w.Name == key {
			return w
		}
	}
	return nil
}

func (c *cluster) queue(name string) *kueue.ClusterQueue {
	for _, q := range c.queues {
		if q.Name == name {
			return q
		}
	}
	return nil
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
		out = append(out, o)
	}
	return out
}

// configuration is the manager's configuration file by which both decide. Kueue lends what the next
// workloads of a queue are about to use, and has no such gate.
func (c *cluster) configuration() []byte {
	all := map[string]bool{"NominalQuotaFirst": false}
	maps.Copy(all, c.gates)
	out := map[string]any{
		"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "featureGates": all,
	}
	if c.fair {
		out["fairSharing"] = map[string]any{"preemptionStrategies": c.strategies}
	}
	return must(yaml.Marshal(out))
}

// manifests are all objects as JSON documents.
func (c *cluster) manifests() []byte {
	var out bytes.Buffer
	for _, o := range c.objects() {
		out.Write(must(json.Marshal(o)))
		out.WriteString("\n---\n")
	}
	return out.Bytes()
}

// arguments are those of headgatectl simulate, files left out.
func (c *cluster) arguments() []string {
	out := []string{"--as-is", "--now", now.Format(time.RFC3339), "--cycles", fmt.Sprint(c.cycles)}
	for _, d := range c.deletions {
		out = append(out, "--delete-after", fmt.Sprintf("%d:Workload/%s", d.after, d.workload))
	}
	return out
}

// yaml is the cluster as manifests, without fields that were not written and without empty status.
func (c *cluster) yaml() string {
	var out bytes.Buffer
	for _, o := range c.objects() {
		var m map[string]any
		if err := json.Unmarshal(must(json.Marshal(o)), &m); err != nil {
			panic(err)
		}
		prune(m)
		out.WriteString("---\n")
		out.Write(must(yaml.Marshal(m)))
	}
	return out.String()
}

// prune takes off the empty members that Go writes, except an empty selector, which means everything.
func prune(m map[string]any) {
	for k, v := range m {
		inner, ok := v.(map[string]any)
		if ok {
			prune(inner)
		}
		if list, ok := v.([]any); ok {
			for _, e := range list {
				if inner, ok := e.(map[string]any); ok {
					prune(inner)
				}
			}
		}
		empty := v == nil || (ok && len(inner) == 0 && k != "namespaceSelector")
		zero := k == "pendingWorkloads" || k == "reservingWorkloads" || k == "admittedWorkloads" || k == "weightedShare"
		if empty || zero {
			delete(m, k)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
