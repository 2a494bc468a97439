// Package autoscaler runs real node autoscalers with their kwok providers: Karpenter, and Cluster
// Autoscaler when the environment variable CLUSTER_AUTOSCALER names its program (it cannot be required
// as a Go module). Nodes that they add are played by kwok. They never take a node away: what is
// looked at is what they buy.
package autoscaler

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	"headgate/e2e/cluster"
)

// Instance is the one type of machine that can be bought.
type Instance struct {
	// What pods can have of it.
	MilliCPU  int
	MemoryMiB int
	Pods      int
	Max       int // machines, for Cluster Autoscaler
}

// Autoscaler runs; Stop ends it and leaves the nodes.
type Autoscaler struct {
	*cluster.Process
}

// ClusterAutoscaler is the program that CLUSTER_AUTOSCALER names; "": none.
func ClusterAutoscaler() string {
	return os.Getenv("CLUSTER_AUTOSCALER")
}

// What an autoscaler keeps of each machine: Karpenter for the kubelet, Cluster Autoscaler's kwok
// provider for the kube-proxy that it adds to the template of each group.
const (
	reservedMilliCPU  = 100
	reservedMemoryMiB = 10
)

var karpenterTypes = template.Must(template.New("").Parse(`[{
  "name": "e2e-amd64-linux", "architecture": "amd64", "operatingSystems": ["linux"],
  "resources": {"cpu": "{{.MilliCPU}}m", "memory": "{{.MemoryMiB}}Mi", "pods": "{{.Pods}}", "ephemeral-storage": "20Gi"},
  "offerings": [{"Price": 1, "Available": true, "Requirements": [
    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
    {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["zone-a"]}]}]
}]
`))

const karpenterObjects = `
apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {name: default}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      requirements:
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      expireAfter: Never
  disruption:
    consolidationPolicy: WhenEmpty
    consolidateAfter: Never
    budgets: [{nodes: "0"}]
`

func kubectl(ctx context.Context, c *cluster.Cluster, stdin string, args ...string) error {
	_, err := c.Kubectl(ctx, stdin, args...)
	return err
}

// Karpenter starts it with one NodePool of this machine and waits until it is ready.
func Karpenter(ctx context.Context, c *cluster.Cluster, i Instance) (*Autoscaler, error) {
	if err := kubectl(ctx, c, "", "apply", "--server-side", "-f", filepath.Join(c.Bin, "karpenter-crds.yaml")); err != nil {
		return nil, err
	}
	for _, kind := range []string{"nodepools.karpenter.sh", "nodeclaims.karpenter.sh", "kwoknodeclasses.karpenter.kwok.sh"} {
		if err := kubectl(ctx, c, "", "wait", "--for=condition=Established", "--timeout=120s", "crd/"+kind); err != nil {
			return nil, err
		}
	}
	// Kinds can be found a little after they are established.
	if err := cluster.Poll(ctx, "Karpenter's kinds are served", func(ctx context.Context) error {
		return kubectl(ctx, c, karpenterObjects, "apply", "--server-side", "-f", "-")
	}); err != nil {
		return nil, err
	}
	i.MilliCPU += reservedMilliCPU
	i.MemoryMiB += reservedMemoryMiB
	var types bytes.Buffer
	if err := karpenterTypes.Execute(&types, i); err != nil {
		return nil, err
	}
	file := filepath.Join(c.Dir, "karpenter-types.json")
	if err := os.WriteFile(file, types.Bytes(), 0o644); err != nil {
		return nil, err
	}
	metrics, err := cluster.FreePort()
	if err != nil {
		return nil, err
	}
	health, err := cluster.FreePort()
	if err != nil {
		return nil, err
	}
	a := &Autoscaler{cluster.NewProcess(c.Dir, "karpenter", filepath.Join(c.Bin, "karpenter"))}
	a.Env = []string{
		"KUBECONFIG=" + c.Kubeconfig, "INSTANCE_TYPES_FILE_PATH=" + file,
		"DISABLE_LEADER_ELECTION=true", "SYSTEM_NAMESPACE=kube-system", "KUBERNETES_MIN_VERSION=1.19.0-0",
		fmt.Sprintf("METRICS_PORT=%d", metrics), fmt.Sprintf("HEALTH_PROBE_PORT=%d", health),
	}
	c.Adopt(a.Process)
	if err := a.Start(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, cluster.StartTimeout)
	defer cancel()
	return a, cluster.Poll(ctx, "the NodePool is ready", func(ctx context.Context) error {
		return kubectl(ctx, c, "", "wait", "--for=condition=Ready", "--timeout=10s", "nodepool/default")
	}, a.Process)
}

var clusterAutoscalerObjects = template.Must(template.New("").Parse(`
apiVersion: v1
kind: ConfigMap
metadata: {name: kwok-provider-config, namespace: kube-system}
data:
  config: |
    apiVersion: v1alpha1
    readNodesFrom: configmap
    nodegroups:
      fromNodeLabelKey: e2e.headgate.io/group
    nodes:
      skipTaint: true
    configmap:
      name: kwok-provider-templates
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kwok-provider-templates, namespace: kube-system}
data:
  templates: |
    apiVersion: v1
    kind: List
    items:
    - apiVersion: v1
      kind: Node
      metadata:
        name: e2e-template
        annotations:
          cluster-autoscaler.kwok.nodegroup/name: e2e
          cluster-autoscaler.kwok.nodegroup/min-count: "0"
          cluster-autoscaler.kwok.nodegroup/max-count: "{{.Max}}"
          cluster-autoscaler.kwok.nodegroup/desired-count: "0"
        labels:
          e2e.headgate.io/group: e2e
          kubernetes.io/arch: amd64
          kubernetes.io/os: linux
      spec: {}
      status:
        allocatable: {cpu: "{{.MilliCPU}}m", memory: "{{.MemoryMiB}}Mi", pods: "{{.Pods}}"}
        capacity: {cpu: "{{.MilliCPU}}m", memory: "{{.MemoryMiB}}Mi", pods: "{{.Pods}}"}
`))

// StartClusterAutoscaler starts the program that CLUSTER_AUTOSCALER names with one group of this
// machine and waits until it has looked at the cluster.
func StartClusterAutoscaler(ctx context.Context, c *cluster.Cluster, i Instance) (*Autoscaler, error) {
	var objects bytes.Buffer

	if i.Max == 0 {
		i.Max = 100
	}
	i.MilliCPU += reservedMilliCPU
	i.MemoryMiB += reservedMemoryMiB
	if err := clusterAutoscalerObjects.Execute(&objects, i); err != nil {
		return nil, err
	}
	if err := kubectl(ctx, c, objects.String(), "apply", "--server-side", "-f", "-"); err != nil {
		return nil, err
	}
	port, err := cluster.FreePort()
	if err != nil {
		return nil, err
	}
	a := &Autoscaler{cluster.NewProcess(c.Dir, "cluster-autoscaler", ClusterAutoscaler(),
		"--cloud-provider=kwok", "--kubeconfig="+c.Kubeconfig, "--namespace=kube-system",
		"--scan-interval=1s", "--leader-elect=false", "--scale-down-enabled=false",
		fmt.Sprintf("--address=127.0.0.1:%d", port))}
	a.Env = []string{"KUBECONFIG=" + c.Kubeconfig, "KWOK_PROVIDER_MODE=local", "POD_NAMESPACE=kube-system"}
	c.Adopt(a.Process)
	if err := a.Start(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, cluster.StartTimeout)
	defer cancel()
	return a, cluster.Poll(ctx, "Cluster Autoscaler looked at the cluster", func(ctx context.Context) error {
		return kubectl(ctx, c, "", "get", "configmap/cluster-autoscaler-status", "--namespace=kube-system")
	}, a.Process)
}

// Stop ends it without a farewell: Cluster Autoscaler would delete its nodes.
func (a *Autoscaler) Stop() {
	a.Kill()
}
