package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"sigs.k8s.io/yaml"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"headgate/differential/lib"
)

// The clock of Headgate. It stands still; Volcano's decisions do not ask for the time.
var now = time.Date(2026, 1, 15, 10, 0, 0, 0, time.UTC)

// A plugin of the scheduler configuration. Switches are its enable... members.
type plugin struct {
	name      string
	switches  map[string]bool
	arguments map[string]any
}

// A cluster is what both schedulers are asked about.
type cluster struct {
	actions     []string
	sparesGangs bool // allowWholeBundle: false
	tiers       [][]plugin
	cycles      int
	classes     []*schedulingv1.PriorityClass
	nodes       []*corev1.Node
	queues      []*scheduling.Queue
	groups      []*scheduling.PodGroup
	pods        []*corev1.Pod
}

func (c *cluster) clone() *cluster {
	out := *c
	out.actions = slices.Clone(c.actions)
	out.tiers = nil
	for _, t := range c.tiers {
		out.tiers = append(out.tiers, slices.Clone(t))
	}
	out.classes = lib.Copies(c.classes)
	out.nodes = lib.Copies(c.nodes)
	out.queues = lib.Copies(c.queues)
	out.groups = lib.Copies(c.groups)
	out.pods = lib.Copies(c.pods)
	return &out
}

// plugin finds one of the configuration; nil: it is not there.
func (c *cluster) plugin(name string) *plugin {
	for t := range c.tiers {
		for i := range c.tiers[t] {
			if c.tiers[t][i].name == name {
				return &c.tiers[t][i]
			}
		}
	}
	return nil
}

func (c *cluster) hasAction(name string) bool { return slices.Contains(c.actions, name) }

// configuration is the file by which both decide.
func (c *cluster) configuration() []byte {
	actions := ""
	for i, a := range c.actions {
		if i > 0 {
			actions += ", "
		}
		actions += a
	}
	var tiers []any
	for _, t := range c.tiers {
		var plugins []any
		for _, p := range t {
			m := map[string]any{"name": p.name}
			for name, on := range p.switches {
				m[name] = on
			}
			if len(p.arguments) > 0 {
				m["arguments"] = p.arguments
			}
			plugins = append(plugins, m)
		}
		tiers = append(tiers, map[string]any{"plugins": plugins})
	}
	all := map[string]any{"actions": actions, "tiers": tiers}
	if c.sparesGangs {
		var more []any
		for _, name := range []string{"gangpreempt", "gangreclaim"} {
			more = append(more, map[string]any{"name": name, "arguments": map[string]any{"allowWholeBundle": false}})
		}
		all["configurations"] = more
	}
	return lib.Must(yaml.Marshal(all))
}

func (c *cluster) objects() []any {
	var out []any
	for _, o := range c.classes {
		out = append(out, o)
	}
	for _, o := range c.nodes {
		out = append(out, o)
	}
	for _, o := range c.queues {
		out = append(out, o)
	}
	for _, o := range c.groups {
		out = append(out, o)
	}
	for _, o := range c.pods {
		out = append(out, o)
	}
	return out
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

// yaml is the cluster as manifests.
func (c *cluster) yaml() string {
	out := ""
	for _, o := range c.objects() {
		out += "---\n" + lib.Manifest(o)
	}
	return out
}
