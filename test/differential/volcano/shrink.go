package main

import (
	corev1 "k8s.io/api/core/v1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"headgate/differential/lib"
)

type shrinker = lib.Shrinker[*cluster]

func objects(s *shrinker) bool {
	any := lib.DropEach(s, func(c *cluster) *[]*corev1.Pod { return &c.pods })
	any = lib.DropEach(s, func(c *cluster) *[]*scheduling.PodGroup { return &c.groups }) || any
	any = lib.DropEach(s, func(c *cluster) *[]*scheduling.Queue { return &c.queues }) || any
	any = lib.DropEach(s, func(c *cluster) *[]*corev1.Node { return &c.nodes }) || any
	return lib.DropEach(s, func(c *cluster) *[]string { return &c.actions }) || any
}

func settings(s *shrinker) bool {
	any := s.Try(func(c *cluster) bool { c.cycles--; return c.cycles > 0 })
	any = s.Try(func(c *cluster) bool { was := c.sparesGangs; c.sparesGangs = false; return was }) || any
	for t := range s.Best.tiers {
		any = lib.DropEach(s, func(c *cluster) *[]plugin { return &c.tiers[t] }) || any
		for i := range s.Best.tiers[t] {
			any = s.Try(func(c *cluster) bool {
				was := len(c.tiers[t][i].switches) > 0
				c.tiers[t][i].switches = nil
				return was
			}) || any
			any = s.Try(func(c *cluster) bool {
				was := len(c.tiers[t][i].arguments) > 0
				c.tiers[t][i].arguments = nil
				return was
			}) || any
		}
	}
	return any
}

func queueFields(s *shrinker) bool {
	any := false
	for i := range s.Best.queues {
		for _, change := range []func(q *scheduling.QueueSpec) bool{
			func(q *scheduling.QueueSpec) bool { was := q.Capability != nil; q.Capability = nil; return was },
			func(q *scheduling.QueueSpec) bool { was := q.Deserved != nil; q.Deserved = nil; return was },
			func(q *scheduling.QueueSpec) bool {
				was := q.Guarantee.Resource != nil
				q.Guarantee.Resource = nil
				return was
			},
			func(q *scheduling.QueueSpec) bool { was := q.Weight != 1; q.Weight = 1; return was },
			func(q *scheduling.QueueSpec) bool { was := q.Priority != 0; q.Priority = 0; return was },
			func(q *scheduling.QueueSpec) bool { was := q.Parent != ""; q.Parent = ""; return was },
		} {
			any = s.Try(func(c *cluster) bool { return change(&c.queues[i].Spec) }) || any
		}
		for _, list := range []func(q *scheduling.QueueSpec) corev1.ResourceList{
			func(q *scheduling.QueueSpec) corev1.ResourceList { return q.Capability },
			func(q *scheduling.QueueSpec) corev1.ResourceList { return q.Deserved },
			func(q *scheduling.QueueSpec) corev1.ResourceList { return q.Guarantee.Resource },
		} {
			any = resources(s, func(c *cluster) corev1.ResourceList { return list(&c.queues[i].Spec) }) || any
		}
	}
	return any
}

func resources(s *shrinker, list func(c *cluster) corev1.ResourceList) bool {
	any := false
	for _, r := range []corev1.ResourceName{gpu, corev1.ResourceMemory, corev1.ResourceCPU} {
		any = s.Try(func(c *cluster) bool {
			_, was := list(c)[r]
			delete(list(c), r)
			return was
		}) || any
	}
	return any
}

func groupFields(s *shrinker) bool {
	any := false
	for i := range s.Best.groups {
		for _, change := range []func(g *scheduling.PodGroupSpec) bool{
			func(g *scheduling.PodGroupSpec) bool { was := g.MinResources != nil; g.MinResources = nil; return was },
			func(g *scheduling.PodGroupSpec) bool {
				was := g.MinTaskMember != nil
				g.MinTaskMember = nil
				return was
			},
			func(g *scheduling.PodGroupSpec) bool {
				was := g.PriorityClassName != ""
				g.PriorityClassName = ""
				return was
			},
			func(g *scheduling.PodGroupSpec) bool { g.MinMember--; return g.MinMember > 0 },
		} {
			any = s.Try(func(c *cluster) bool { return change(&c.groups[i].Spec) }) || any
		}
	}
	return any
}

func podFields(s *shrinker) bool {
	any := false
	for i := range s.Best.pods {
		for _, change := range []func(p *corev1.Pod) bool{
			func(p *corev1.Pod) bool { was := p.Spec.NodeSelector != nil; p.Spec.NodeSelector = nil; return was },
			func(p *corev1.Pod) bool { was := p.Spec.Affinity != nil; p.Spec.Affinity = nil; return was },
			func(p *corev1.Pod) bool { was := p.Spec.Tolerations != nil; p.Spec.Tolerations = nil; return was },
			func(p *corev1.Pod) bool {
				was := p.Spec.InitContainers != nil
				p.Spec.InitContainers = nil
				return was
			},
			func(p *corev1.Pod) bool { was := p.Spec.Priority != nil; p.Spec.Priority = nil; return was },
			func(p *corev1.Pod) bool {
				was := p.Spec.PreemptionPolicy != nil
				p.Spec.PreemptionPolicy = nil
				return was
			},
			func(p *corev1.Pod) bool {
				_, was := p.Annotations[role]
				delete(p.Annotations, role)
				return was
			},
		} {
			any = s.Try(func(c *cluster) bool { return change(c.pods[i]) }) || any
		}
		any = resources(s, func(c *cluster) corev1.ResourceList {
			return c.pods[i].Spec.Containers[0].Resources.Requests
		}) || any
	}
	for i := range s.Best.nodes {
		any = s.Try(func(c *cluster) bool {
			was := len(c.nodes[i].Spec.Taints) > 0
			c.nodes[i].Spec.Taints = nil
			return was
		}) || any
		any = s.Try(func(c *cluster) bool {
			was := len(c.nodes[i].Status.Images) > 0
			c.nodes[i].Status.Images = nil
			return was
		}) || any
	}
	return any
}

// shrink ends when no single change is possible any more.
func shrink(c *cluster, h *headgate, v verdict) *cluster {
	signature := v.signature()
	s := &shrinker{Best: c, Clone: (*cluster).clone, Differs: func(c *cluster) bool {
		if !valid(c) {
			return false
		}
		w := compare(c, h, tries)
		return w.Kind == v.Kind && lib.Subset(w.signature(), signature)
	}}
	for objects(s) || settings(s) || queueFields(s) || groupFields(s) || podFields(s) {
	}
	return s.Best
}
