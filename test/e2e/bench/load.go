package main

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"headgate/e2e/cluster"
	"headgate/e2e/headgate"
)

const (
	space    = "bench" // namespace of the pods
	queue    = "bench"
	gangSize = 10
	gate     = "scheduling.volcano.sh/queue-allocation-gate"
	warmUp   = "warm-up" // a pod that is not counted
)

// load makes the cluster's nodes and pods.
type load struct {
	c       *cluster.Cluster
	client  kubernetes.Interface // protobuf, so that it costs little beside what is measured
	workers int
}

func newLoad(c *cluster.Cluster, workers int) (*load, error) {
	config := rest.CopyConfig(c.Config)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	return &load{c: c, client: client, workers: workers}, err
}

// each calls f for 0..n-1 from several goroutines and returns the first error.
func (l *load) each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var wg sync.WaitGroup
	for range l.workers {
		wg.Go(func() {
			for i := range next {
				if err := f(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// namespace of the pods, with the account that controllers would make.
func (l *load) namespace(ctx context.Context) error {
	o := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: space}}
	if _, err := l.client.CoreV1().Namespaces().Create(ctx, o, metav1.CreateOptions{}); err != nil {
		return err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	_, err := l.client.CoreV1().ServiceAccounts(space).Create(ctx, account, metav1.CreateOptions{})
	return err
}

// nodes makes n nodes and marks them Ready: they have no kubelets.
func (l *load) nodes(ctx context.Context, n int) error {
	amount := cluster.Resources("32", "128Gi")
	amount[corev1.ResourcePods] = resource.MustParse("110")
	nodes := l.client.CoreV1().Nodes()
	return l.each(ctx, n, func(ctx context.Context, i int) error {
		name := fmt.Sprintf("node-%05d", i)
		node, err := nodes.Create(ctx, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
				corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
			}},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		node.Spec.Taints = nil // not-ready, which admission added
		if node, err = nodes.Update(ctx, node, metav1.UpdateOptions{}); err != nil {
			return err
		}
		node.Status = corev1.NodeStatus{Allocatable: amount, Capacity: amount, Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
			LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(),
		}}}
		_, err = nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{})
		return err
	})
}

// queue makes the queue of gangs and of gated pods, with room for all.
func (l *load) queue(ctx context.Context) error {
	q := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
		"metadata": map[string]any{"name": queue},
		"spec":     map[string]any{"weight": int64(1), "capability": map[string]any{"cpu": "100000", "memory": "100Ti"}},
	}}
	_, err := l.c.Dynamic.Resource(headgate.Queues).Create(ctx, q, metav1.CreateOptions{})
	return err
}

// pods makes n pods for a scheduler, in gangs or not.
func (l *load) pods(ctx context.Context, n int, scheduler string, w workload) error {
	if w == plain || w == singly {
		var annotations map[string]string
		if w == singly {
			annotations = map[string]string{gate: "true", "scheduling.volcano.sh/queue-name": queue}
		}
		return l.each(ctx, n, func(ctx context.Context, i int) error {
			return l.pod(ctx, fmt.Sprintf("pod-%05d", i), scheduler, annotations)
		})
	}
	return l.each(ctx, n/gangSize, func(ctx context.Context, i int) error {
		gang := fmt.Sprintf("gang-%04d", i)
		if err := l.podGroup(ctx, gang); err != nil {
			return err
		}
		annotations := map[string]string{"scheduling.k8s.io/group-name": gang}
		if w == gated {
			annotations[gate] = "true"
		}
		for j := range gangSize {
			if err := l.pod(ctx, fmt.Sprintf("%s-%d", gang, j), scheduler, annotations); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *load) pod(ctx context.Context, name, scheduler string, annotations map[string]string) error {
	_, err := l.client.CoreV1().Pods(space).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations},
		Spec: corev1.PodSpec{
			SchedulerName: scheduler,
			RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.k8s.io/pause:3.10",
				Resources: corev1.ResourceRequirements{Requests: cluster.Resources("100m", "128Mi")},
			}},
		},
	}, metav1.CreateOptions{})
	return err
}

func (l *load) podGroup(ctx context.Context, name string) error {
	g := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
		"metadata": map[string]any{"name": name, "namespace": space},
		"spec":     map[string]any{"queue": queue, "minMember": int64(gangSize)},
	}}
	_, err := l.c.Dynamic.Resource(headgate.PodGroups).Namespace(space).Create(ctx, g, metav1.CreateOptions{})
	return err
}
