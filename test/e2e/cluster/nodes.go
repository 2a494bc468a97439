package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Resources is a list of cpu and memory.
func Resources(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse(memory),
	}
}

// AddNode makes a node with kwok as its kubelet, and waits until it is Ready and untainted.
func (c *Cluster) AddNode(ctx context.Context, name string, amount corev1.ResourceList, labels map[string]string) error {
	amount = amount.DeepCopy()
	if _, there := amount[corev1.ResourcePods]; !there {
		amount[corev1.ResourcePods] = resource.MustParse("110")
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
			Labels: map[string]string{
				corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
			},
		},
		Status: corev1.NodeStatus{Allocatable: amount, Capacity: amount},
	}
	for k, v := range labels {
		node.Labels[k] = v
	}
	if _, err := c.Client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return err
	}
	return Poll(ctx, "node "+name+" is ready", func(ctx context.Context) error {
		n, err := c.Client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !NodeReady(n) || len(n.Spec.Taints) > 0 {
			return fmt.Errorf("conditions %v, taints %v", n.Status.Conditions, n.Spec.Taints)
		}
		return nil
	}, c.Kwok)
}

// NodeReady says whether the node's kubelet, or kwok in its place, reported it ready.
func NodeReady(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
