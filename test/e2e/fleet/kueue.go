package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	sigsyaml "sigs.k8s.io/yaml"

	"headgate/e2e/cluster"
	"headgate/e2e/headgate"
)

const (
	kueueRelease   = "kueue"
	kueueNamespace = "kueue-system"
)

// Clusters are the MultiKueueClusters, for dynamic clients.
var Clusters = schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "multikueueclusters"}

// kueueConfig has Kueue's defaults but for addresses, the lease, and kinds of jobs that these clusters do not serve.
const kueueConfig = `
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
health: {healthProbeBindAddress: "127.0.0.1:%d"}
metrics: {bindAddress: "0"}
webhook: {host: 127.0.0.1, port: %d, certDir: %q}
leaderElection: {leaderElect: false}
clientConnection: {qps: 300, burst: 500}
controller: {groupKindConcurrency: {Job.batch: 5, Workload.kueue.x-k8s.io: 10, LocalQueue.kueue.x-k8s.io: 5, ClusterQueue.kueue.x-k8s.io: 5}}
integrations: {frameworks: [batch/job]}
multiKueue: {origin: %s}
featureGates: %s
`

// kueue is Kueue's controller manager while it is installed on a cluster.
type kueue struct {
	m           *Member
	folder      string // of its program and chart
	certificate string // folder that the kubelet would fill from the Secret
	webhookPort int
	health      string
}

// startKueue installs Kueue and returns when its webhooks answer.
func (m *Member) startKueue(ctx context.Context, folder string, gates map[string]bool) error {
	health, err := cluster.FreePort()
	if err != nil {
		return err
	}
	k := &kueue{m: m, folder: folder, certificate: filepath.Join(m.Dir, "kueue-certificate"),
		health: fmt.Sprintf("http://127.0.0.1:%d/readyz", health)}
	if k.webhookPort, err = cluster.FreePort(); err != nil {
		return err
	}
	if err := os.Mkdir(k.certificate, 0o755); err != nil {
		return err
	}
	all := map[string]bool{"VisibilityOnDemand": false} // listens on every address
	for name, on := range gates {
		all[name] = on
	}
	switches, err := sigsyaml.Marshal(all)
	if err != nil {
		return err
	}
	if switches, err = sigsyaml.YAMLToJSON(switches); err != nil {
		return err
	}
	config := fmt.Sprintf(kueueConfig, health, k.webhookPort, k.certificate, Origin, switches)
	if err := k.install(ctx, config); err != nil {
		return err
	}
	if err := m.Kueue.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cluster.StartTimeout)
	defer cancel()
	if err := cluster.Poll(ctx, "Kueue has its certificate", k.mountCertificate, m.Kueue); err != nil {
		return err
	}
	if err := cluster.Poll(ctx, "Kueue is ready", k.ready, m.Kueue); err != nil {
		return err
	}
	return cluster.Poll(ctx, "Kueue's webhooks and conversion answer", k.serves, m.Kueue)
}

// installed are the kinds of the chart's objects that are needed here: Kueue is a process with the rights of a
// cluster-admin, and nothing aggregates its API.
var installed = map[string]bool{"ConfigMap": true, "CustomResourceDefinition": true, "Secret": true, "Service": true,
	"MutatingWebhookConfiguration": true, "ValidatingWebhookConfiguration": true}

// install applies the chart and prepares the process.
func (k *kueue) install(ctx context.Context, config string) error {
	values, err := sigsyaml.Marshal(map[string]any{
		"managerConfig": map[string]any{"controllerManagerConfigYaml": config}})
	if err != nil {
		return err
	}
	file := filepath.Join(k.m.Dir, "kueue-values.yaml")
	if err := os.WriteFile(file, values, 0o644); err != nil {
		return err
	}
	text, err := k.m.Helm(ctx, "template", kueueRelease, filepath.Join(k.folder, "chart"),
		"--namespace", kueueNamespace, "--values", file)
	if err != nil {
		return err
	}
	objects, err := headgate.Decode(text)
	if err != nil {
		return err
	}
	var manifests bytes.Buffer
	for _, o := range objects {
		if !installed[o.GetKind()] {
			continue
		}
		if o.GetKind() == "ConfigMap" {
			file = filepath.Join(k.m.Dir, "kueue-config.yaml")
			text, _, _ := unstructured.NestedString(o.Object, "data", "controller_manager_config.yaml")
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				return err
			}
		}
		k.redirect(o)
		text, err := sigsyaml.Marshal(o.Object)
		if err != nil {
			return err
		}
		fmt.Fprintf(&manifests, "---\n%s", text)
	}
	if _, err := k.m.Kubectl(ctx, manifests.String(), "apply", "--server-side", "-n", kueueNamespace, "-f", "-"); err != nil {
		return err
	}
	k.m.Kueue = cluster.NewProcess(k.m.Dir, "kueue", filepath.Join(k.folder, "kueue"), "--config="+file, "--zap-log-level=3")
	k.m.Kueue.Env = []string{"KUBECONFIG=" + k.m.Kubeconfig}
	k.m.Adopt(k.m.Kueue)
	return nil
}

// redirect makes the Service one that leads the API server to the process on loopback; the port of such a
// Service is that of its clients.
func (k *kueue) redirect(o *unstructured.Unstructured) {
	if o.GetKind() == "Service" {
		o.Object["spec"] = map[string]any{"type": "ExternalName", "externalName": "localhost"}
		return
	}
	hooks, _, _ := unstructured.NestedSlice(o.Object, "webhooks")
	for _, h := range hooks {
		_ = unstructured.SetNestedField(h.(map[string]any), int64(k.webhookPort), "clientConfig", "service", "port")
	}
	if hooks != nil {
		o.Object["webhooks"] = hooks
	}
	conversion := []string{"spec", "conversion", "webhook", "clientConfig", "service"}
	if _, there, _ := unstructured.NestedMap(o.Object, conversion...); there {
		_ = unstructured.SetNestedField(o.Object, int64(k.webhookPort), append(conversion, "port")...)
	}
}

// mountCertificate writes the Secret that Kueue fills into the folder from which it serves.
func (k *kueue) mountCertificate(ctx context.Context) error {
	secret, err := k.m.Client.CoreV1().Secrets(kueueNamespace).Get(ctx, kueueRelease+"-webhook-server-cert", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if len(secret.Data[corev1.TLSCertKey]) == 0 {
		return errors.New("the Secret is empty")
	}
	// The certificate last: Kueue looks for it alone.
	for _, name := range []string{"ca.crt", corev1.TLSPrivateKeyKey, corev1.TLSCertKey} {
		if err := os.WriteFile(filepath.Join(k.certificate, name), secret.Data[name], 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (k *kueue) ready(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, k.health, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

// serves makes requests that need webhooks for admission and for conversion.
func (k *kueue) serves(ctx context.Context) error {
	config := rest.CopyConfig(k.m.Config)
	config.WarningHandler = rest.NoWarnings{} // the version that needs conversion is deprecated
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	queue := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "kueue.x-k8s.io/v1beta1",
		"kind": "ClusterQueue", "metadata": map[string]any{"name": "try"}, "spec": map[string]any{}}}
	_, err = client.Resource(headgate.ClusterQueues.GroupResource().WithVersion("v1beta1")).
		Create(ctx, queue, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// hasCondition is nil when an object has this condition with status True.
func hasCondition(o *unstructured.Unstructured, kind string) error {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range list {
		if m, ok := c.(map[string]any); ok && m["type"] == kind {
			if m["status"] == "True" {
				return nil
			}
			return fmt.Errorf("%v: %v", m["reason"], m["message"])
		}
	}
	return fmt.Errorf("it has no condition %s", kind)
}
