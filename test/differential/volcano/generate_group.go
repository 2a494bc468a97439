package main

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"headgate/differential/lib"
)

// A template is what the pods of one role have in common.
type template struct {
	role       string
	requests   corev1.ResourceList
	selector   map[string]string
	tolerates  bool
	priority   *int32
	never      bool // preemptionPolicy
	annotation string
}

var priorities = map[string]int32{"high": 100, "middle": 50, "low": 10}

func (g *generator) makeTemplate(role, class string) template {
	t := template{role: role, requests: g.requests()}
	if g.Chance(0.15) {
		t.selector = map[string]string{"zone": lib.Pick(g.Random, "a", "b")}
	}
	t.tolerates = g.Chance(0.2)
	if value, ok := priorities[class]; ok && g.Chance(0.8) {
		t.priority = &value
	}
	t.never = g.evicts && g.Chance(0.05)
	if g.evicts && g.Chance(0.1) {
		t.annotation = lib.Pick(g.Random, "true", "false")
	}
	return t
}

func (g *generator) makePod(group, name string, t template) *corev1.Pod {
	p := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: g.meta(namespace, name)}
	p.Annotations = map[string]string{"scheduling.k8s.io/group-name": group}
	if t.role != "" {
		p.Annotations[role] = t.role
	}
	if t.annotation != "" {
		p.Annotations[evictable] = t.annotation
	}
	p.Spec.SchedulerName = "volcano"
	p.Spec.Containers = []corev1.Container{{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{Requests: t.requests.DeepCopy()}}}
	p.Spec.NodeSelector = t.selector
	if t.tolerates {
		p.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	}
	p.Spec.Priority = t.priority
	if t.never {
		never := corev1.PreemptNever
		p.Spec.PreemptionPolicy = &never
	}
	p.Status.Phase = corev1.PodPending
	return p
}

// makeGroup makes a PodGroup and its pods: it waits, it runs, or a part of it does.
func (g *generator) makeGroup(name string) {
	group := &scheduling.PodGroup{TypeMeta: metav1.TypeMeta{APIVersion: "scheduling.volcano.sh/v1beta1", Kind: "PodGroup"},
		ObjectMeta: g.meta(namespace, name)}
	group.Spec.Queue = lib.Pick(g.Random, g.leaves...)
	group.Spec.PriorityClassName = lib.Pick(g.Random, "", "low", "middle", "high")
	roles := lib.Pick(g.Random, []string{""}, []string{""}, []string{"worker"}, []string{"master", "worker"})
	total := 0
	dashes := g.Chance(0.5)
	running := lib.Pick(g.Random, 0.0, 0.0, 0.5, 1.0)
	if g.full {
		running = lib.Pick(g.Random, 0.0, 0.7, 1.0, 1.0)
	}
	minimum := corev1.ResourceList{}
	tasks := map[string]int32{}
	placed := 0
	for _, role := range roles {
		t := g.makeTemplate(role, group.Spec.PriorityClassName)
		n := g.Between(1, 5)
		tasks[role] = int32(g.Between(1, n))
		for i := range n {
			podName := fmt.Sprintf("%s%s%c", name, role, 'a'+i)
			if dashes {
				podName = fmt.Sprintf("%s-%s-%d", name, role+"x", i)
			}
			p := g.makePod(name, podName, t)
			if g.Chance(running) && g.run(p) {
				placed++
				if g.Chance(0.06) {
					p.DeletionTimestamp = &metav1.Time{Time: now}
				} else if g.Chance(0.04) {
					p.Status.Phase = lib.Pick(g.Random, corev1.PodSucceeded, corev1.PodFailed)
				}
			} else if g.Chance(0.03) {
				p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/later"}}
			}
			g.c.pods = append(g.c.pods, p)
			if int32(i) < tasks[role] {
				addTo(minimum, t.requests)
			}
		}
		total += n
	}
	g.setMinimum(group, total, minimum, tasks)
	group.Status.Phase = scheduling.PodGroupPending
	switch {
	case placed > 0 && placed >= int(group.Spec.MinMember):
		group.Status.Phase = scheduling.PodGroupRunning
	case placed > 0 || g.Chance(0.3):
		group.Status.Phase = scheduling.PodGroupInqueue
	}
	g.c.groups = append(g.c.groups, group)
}

func addTo(sum, more corev1.ResourceList) {
	for r, q := range more {
		s := sum[r]
		s.Add(q)
		sum[r] = s
	}
}

func (g *generator) setMinimum(group *scheduling.PodGroup, total int, minimum corev1.ResourceList, tasks map[string]int32) {
	least := int32(0)
	for _, n := range tasks {
		least += n
	}
	group.Spec.MinMember = lib.Pick(g.Random, 1, least, least, int32(total), int32(g.Between(1, total)))
	if _, none := tasks[""]; !none && g.Chance(0.4) {
		group.Spec.MinTaskMember = tasks
		if g.Chance(0.7) {
			group.Spec.MinMember = least
		}
	}
	switch {
	case g.Chance(0.7):
		group.Spec.MinResources = &minimum
	case g.Chance(0.3):
		minimum[corev1.ResourceCPU] = resource.MustParse("1")
		group.Spec.MinResources = &minimum
	}
}

// hasAllRequests: the scores of nodeorder assume some where a pod has none.
func hasAllRequests(c *cluster) bool {
	return c.plugin("nodeorder") == nil || !slices.ContainsFunc(c.pods, func(p *corev1.Pod) bool {
		r := p.Spec.Containers[0].Resources.Requests
		return r.Cpu().IsZero() || r.Memory().IsZero()
	})
}

// valid: what Volcano's webhooks and controllers keep up. Its capacity plugin stops the cluster where
// the tree of queues is broken.
func valid(c *cluster) bool {
	queues := map[string]bool{}
	children := map[string]bool{}
	for _, q := range c.queues {
		queues[q.Name] = true
	}
	for _, q := range c.queues {
		if q.Spec.Parent != "" && !queues[q.Spec.Parent] {
			return false
		}
		children[q.Spec.Parent] = true
	}
	groups := map[string]bool{}
	for _, g := range c.groups {
		groups[g.Name] = true
		if !queues[g.Spec.Queue] || children[g.Spec.Queue] {
			return false
		}
	}
	nodes := map[string]bool{}
	for _, n := range c.nodes {
		nodes[n.Name] = true
	}
	for _, p := range c.pods {
		if !groups[p.Annotations["scheduling.k8s.io/group-name"]] || (p.Spec.NodeName != "" && !nodes[p.Spec.NodeName]) {
			return false
		}
	}
	return queues["root"] && queues["default"] && len(c.actions) > 0 && c.plugin("predicates") != nil && hasAllRequests(c)
}
