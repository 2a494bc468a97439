package main

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"headgate/differential/lib"
)

const (
	gpu       = corev1.ResourceName("example.com/gpu")
	namespace = "team"
	role      = "volcano.sh/task-spec"
	evictable = "volcano.sh/preemptable"
)

// A generator makes one cluster from a seed.
type generator struct {
	lib.Random
	c          *cluster
	hierarchy  bool
	capacity   bool // the plugin capacity, not proportion
	gpus       bool
	evicts     bool // preempt or reclaim is among the actions, or that of gangs
	reclaims   bool
	bestEffort bool // pods without requests
	full       bool // most of the nodes is taken
	ties       bool // creation times from few values
	leaves     []string
	idle       map[string]corev1.ResourceList // of each node, pods included
}

func (g *generator) meta(namespace, name string) metav1.ObjectMeta {
	age := g.Between(0, 100000)
	if g.ties {
		age = g.Between(0, 2)
	}
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name),
		CreationTimestamp: metav1.Time{Time: now.Add(-time.Duration(age+10) * time.Second)}}
}

func generate(seed uint64) *cluster {
	g := &generator{Random: lib.NewRandom(seed), c: &cluster{}, idle: map[string]corev1.ResourceList{}}
	g.c.cycles = lib.Pick(g.Random, 1, 1, 2, 3)
	g.capacity = g.Chance(0.6)
	g.hierarchy = g.capacity && g.Chance(0.5)
	g.gpus = g.capacity && g.Chance(0.4) // see whole-units in docs/deviations.md
	g.bestEffort = g.Chance(0.2)
	g.full = g.Chance(0.5)
	g.ties = g.Chance(0.1)
	g.makeConfiguration()
	g.withGangs(lib.NewRandom(seed + 1<<40))
	g.makeClasses()
	for i := range lib.Pick(g.Random, 1, 2, 3, 4, 6) {
		g.makeNode(fmt.Sprintf("n%d", i))
	}
	g.makeQueues()
	for i := range g.Between(1, 8) {
		g.makeGroup(fmt.Sprintf("g%d", i))
	}
	g.withImages(lib.NewRandom(seed + 2<<40))
	return g.c
}

func off(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, name := range names {
		out[name] = false
	}
	return out
}

func (g *generator) makeConfiguration() {
	g.c.actions = lib.Pick(g.Random,
		[]string{"enqueue", "allocate", "backfill"},
		[]string{"enqueue", "allocate", "backfill"},
		[]string{"allocate", "backfill"},
		[]string{"enqueue", "allocate", "preempt", "backfill"},
		[]string{"enqueue", "allocate", "backfill", "reclaim"},
		[]string{"enqueue", "allocate", "preempt", "reclaim", "backfill"},
		[]string{"enqueue", "reclaim", "allocate", "backfill", "preempt"})
	g.reclaims = g.c.hasAction("reclaim")
	g.evicts = g.c.hasAction("preempt") || g.reclaims
	g.bestEffort = g.bestEffort && !g.reclaims // see pods-as-quota in docs/deviations.md
	gang := plugin{name: "gang"}
	drf := plugin{name: "drf"}
	if g.Chance(0.6) { // as the chart has it
		gang.switches, drf.switches = off("enablePreemptable"), off("enablePreemptable")
	}
	quota := plugin{name: "proportion"}
	if g.capacity {
		quota.name = "capacity"
		if g.hierarchy {
			quota.switches = map[string]bool{"enableHierarchy": true}
		}
	}
	first := []plugin{{name: "priority"}, gang, {name: "conformance"}}
	var second []plugin
	if g.Chance(0.7) {
		o := plugin{name: "overcommit"}
		if g.Chance(0.3) {
			o.arguments = map[string]any{"overcommit-factor": lib.Pick(g.Random, 1.0, 1.5, 2.0)}
		}
		second = append(second, o)
	}
	if g.Chance(0.8) {
		second = append(second, drf)
	}
	second = append(second, plugin{name: "predicates"}, quota)
	if !g.bestEffort && g.Chance(0.8) {
		second = append(second, plugin{name: "nodeorder"})
	}
	if g.Chance(0.5) {
		second = append(second, plugin{name: "binpack"})
	}
	g.c.tiers = [][]plugin{first, second}
}

// withGangs has the actions for whole gangs in place of the others in some clusters. The draw is one
// of its own, so that it changes nothing else.
func (g *generator) withGangs(r lib.Random) {
	for i, name := range g.c.actions {
		if isEvicting(name) && r.Chance(0.5) {
			g.c.actions[i] = "gang" + name
		}
	}
	g.c.sparesGangs = r.Chance(0.15)
}

// withImages gives the nodes of some clusters container images, and the pods of a PodGroup one or two of
// them. The draw is one of its own, too.
func (g *generator) withImages(r lib.Random) {
	order := g.c.plugin("nodeorder")
	if order == nil || r.Chance(0.5) {
		return
	}
	if r.Chance(0.5) {
		order.arguments = map[string]any{"imagelocality.weight": lib.Pick(r, 0, 2, 5)}
	}
	sizes := map[string]int64{"example.com/a": 3 << 30, "b": 900 << 20, "c": 120 << 20, "d": 20 << 20}
	names := lib.SortedKeys(sizes)
	for _, n := range g.c.nodes {
		for _, name := range names {
			if r.Chance(0.5) {
				n.Status.Images = append(n.Status.Images, corev1.ContainerImage{
					Names: []string{name + "@sha256:0", name + ":latest"}, SizeBytes: sizes[name]})
			}
		}
	}
	images := map[string][]string{}
	for _, p := range g.c.pods {
		group := p.Annotations["scheduling.k8s.io/group-name"]
		if images[group] == nil {
			images[group] = []string{lib.Pick(r, names...), lib.Pick(r, "", "", lib.Pick(r, names...)+"@sha256:0")}
		}
		p.Spec.Containers[0].Image = images[group][0]
		if second := images[group][1]; second != "" {
			p.Spec.InitContainers = []corev1.Container{{Name: "i", Image: second}}
		}
	}
}

func (g *generator) makeClasses() {
	for _, name := range lib.SortedKeys(priorities) {
		p := &schedulingv1.PriorityClass{TypeMeta: metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass"},
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Value: priorities[name]}
		g.c.classes = append(g.c.classes, p)
	}
}

func cpus(milli int) resource.Quantity {
	return *resource.NewMilliQuantity(int64(milli), resource.DecimalSI)
}

func gibibytes(n int) resource.Quantity {
	return *resource.NewQuantity(int64(n)<<30, resource.BinarySI)
}

func units(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }

func (g *generator) makeNode(name string) {
	all := corev1.ResourceList{
		corev1.ResourceCPU:    cpus(1000 * lib.Pick(g.Random, 2, 4, 4, 8, 16)),
		corev1.ResourceMemory: gibibytes(lib.Pick(g.Random, 4, 8, 8, 16, 32)),
		corev1.ResourcePods:   units(lib.Pick(g.Random, 110, 110, 110, 4)),
	}
	if g.reclaims && !g.capacity { // see pods-as-quota in docs/deviations.md
		all[corev1.ResourcePods] = units(110)
	}
	if g.gpus && (len(g.c.nodes) == 0 || g.Chance(0.6)) { // see names-of-no-node in docs/deviations.md
		all[gpu] = units(lib.Pick(g.Random, 1, 2, 4))
	}
	n := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: g.meta("", name)}
	n.Labels = map[string]string{"zone": lib.Pick(g.Random, "a", "b"), "kubernetes.io/hostname": name}
	n.Status.Allocatable, n.Status.Capacity = all, all
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if g.Chance(0.1) {
		n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
	}
	n.Spec.Unschedulable = g.Chance(0.05)
	g.idle[name] = all.DeepCopy()
	g.c.nodes = append(g.c.nodes, n)
}

// all has all resources, each as a part of what the cluster has, and not 0: see zero in
// docs/deviations.md.
func (g *generator) all(least, most float64) corev1.ResourceList {
	total := corev1.ResourceList{}
	for _, n := range g.c.nodes {
		addTo(total, n.Status.Allocatable)
	}
	part := func(r corev1.ResourceName) float64 {
		q := total[r]
		return q.AsApproximateFloat64() * (least + g.Float64()*(most-least))
	}
	out := corev1.ResourceList{
		corev1.ResourceCPU:    cpus(500 * max(int(part(corev1.ResourceCPU)*2), 1)),
		corev1.ResourceMemory: gibibytes(max(int(part(corev1.ResourceMemory)/(1<<30)), 1)),
	}
	if g.gpus {
		out[gpu] = units(max(int(part(gpu)), 1))
	}
	return out
}

// some has some of the resources.
func (g *generator) some(least, most float64) corev1.ResourceList {
	out := g.all(least, most)
	if g.Chance(0.1) {
		delete(out, corev1.ResourceCPU)
	}
	if g.Chance(0.2) {
		delete(out, corev1.ResourceMemory)
	}
	if g.Chance(0.5) {
		delete(out, gpu)
	}
	return out
}

func (g *generator) addQueue(name, parent string) *scheduling.Queue {
	q := &scheduling.Queue{TypeMeta: metav1.TypeMeta{APIVersion: "scheduling.volcano.sh/v1beta1", Kind: "Queue"},
		ObjectMeta: g.meta("", name)}
	q.Spec.Weight = 1
	reclaimable := true
	q.Spec.Reclaimable = &reclaimable
	q.Spec.Parent = parent
	q.Status.State = scheduling.QueueStateOpen
	g.c.queues = append(g.c.queues, q)
	return q
}

// quotas gives a queue limits. Those of children may exceed their parent's.
func (g *generator) quotas(q *scheduling.Queue, share float64) {
	q.Spec.Weight = int32(lib.Pick(g.Random, 1, 1, 2, 4))
	if g.Chance(0.5) {
		q.Spec.Capability = g.some(0.2*share, 1.2*share)
	}
	if g.Chance(0.25) && (g.capacity || !g.reclaims) { // see guarantee in docs/deviations.md
		q.Spec.Guarantee.Resource = g.some(0, 0.3*share)
	}
	if g.capacity && g.Chance(0.7) {
		q.Spec.Deserved = g.some(0.1*share, 0.7*share)
	}
	if g.Chance(0.15) {
		reclaimable := false
		q.Spec.Reclaimable = &reclaimable
	}
	if g.Chance(0.15) {
		q.Spec.Priority = int32(lib.Pick(g.Random, 1, 5))
	}
	if g.Chance(0.04) {
		q.Status.State = scheduling.QueueStateClosed
	}
}

func (g *generator) makeQueues() {
	root := g.addQueue("root", "")
	*root.Spec.Reclaimable = false
	if g.hierarchy && g.Chance(0.2) {
		root.Spec.Capability = g.all(0.5, 1.2) // see the deviation root-capability
	}
	parent := ""
	if g.hierarchy {
		parent = "root"
	}
	g.addQueue("default", parent)
	g.leaves = []string{"default"}
	for i := range g.Between(1, 3) {
		name := fmt.Sprintf("q%d", i)
		q := g.addQueue(name, parent)
		g.quotas(q, 1)
		if !g.hierarchy || g.Chance(0.5) {
			g.leaves = append(g.leaves, name)
			continue
		}
		for k := range g.Between(1, 3) {
			child := fmt.Sprintf("%s-%d", name, k)
			g.quotas(g.addQueue(child, name), 0.6)
			g.leaves = append(g.leaves, child)
		}
	}
}

func (g *generator) requests() corev1.ResourceList {
	if g.bestEffort && g.Chance(0.25) {
		return nil
	}
	out := corev1.ResourceList{
		corev1.ResourceCPU:    cpus(lib.Pick(g.Random, 250, 500, 1000, 1000, 2000, 3000)),
		corev1.ResourceMemory: gibibytes(lib.Pick(g.Random, 1, 1, 2, 3)),
	}
	if g.gpus && g.Chance(0.4) {
		out[gpu] = units(lib.Pick(g.Random, 1, 1, 2))
	}
	return out
}

// fits takes the requests off the node's idle resources, if there is room.
func (g *generator) fits(node *corev1.Node, requests corev1.ResourceList) bool {
	idle := g.idle[node.Name]
	for r, q := range requests {
		if left := idle[r]; left.Cmp(q) < 0 {
			return false
		}
	}
	pods := idle[corev1.ResourcePods]
	if pods.IsZero() {
		return false
	}
	pods.Sub(units(1))
	idle[corev1.ResourcePods] = pods
	for r, q := range requests {
		left := idle[r]
		left.Sub(q)
		idle[r] = left
	}
	return true
}

// run gives the pod a node with room. False: there is none.
func (g *generator) run(p *corev1.Pod) bool {
	first := g.IntN(len(g.c.nodes))
	for i := range g.c.nodes {
		n := g.c.nodes[(first+i)%len(g.c.nodes)]
		if g.fits(n, p.Spec.Containers[0].Resources.Requests) {
			p.Spec.NodeName = n.Name
			p.Status.Phase = corev1.PodRunning
			return true
		}
	}
	return false
}
