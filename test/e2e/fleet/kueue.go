package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

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

const kueueRelease = "kueue"

// KueueNamespace is that of Kueue, and of the Secrets with the kubeconfigs of workers.
const KueueNamespace = "kueue-system"

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
`

// kueue is Kueue's controller manager on a cluster.
type kueue struct {
	m           *Member
	folder      string // of its program and chart
	certificate string // folder that the kubelet would fill from the Secret
	config      string // file
	settings    map[string]any
	webhooks    string          // manifests
	removed     bool            // the webhooks are
	gates       map[string]bool // of the last start
	healthPort  int
	webhookPort int
}

// startKueue installs Kueue and returns when its webhooks answer.
func (m *Member) startKueue(ctx context.Context, folder string, gates map[string]bool) error {
	k := &kueue{m: m, folder: folder, certificate: filepath.Join(m.Dir, "kueue-certificate"),
		config: filepath.Join(m.Dir, "kueue-config.yaml")}
	m.kueue = k
	for _, port := range []*int{&k.healthPort, &k.webhookPort} {
		var err error
		if *port, err = cluster.FreePort(); err != nil {
			return err
		}
	}
	if err := os.Mkdir(k.certificate, 0o755); err != nil {
		return err
	}
	m.Kueue = cluster.NewProcess(m.Dir, "kueue", filepath.Join(folder, "kueue"), "--config="+k.config, "--zap-log-level=3")
	m.Kueue.Env = []string{"KUBECONFIG=" + m.Kubeconfig}
	m.Adopt(m.Kueue)
	if err := k.install(ctx); err != nil {
		return err
	}
	return k.start(ctx, gates)
}

// RestartKueue ends Kueue and starts it with these feature gates, and with its webhooks where they are missing.
func (m *Member) RestartKueue(ctx context.Context, gates map[string]bool) error {
	m.Kueue.Kill()
	return m.kueue.start(ctx, gates)
}

// RemoveKueue ends Kueue and removes its webhooks, and leaves its CustomResourceDefinitions.
func (m *Member) RemoveKueue(ctx context.Context) error {
	m.Kueue.Kill()
	m.kueue.removed = true
	_, err := m.Kubectl(ctx, "", "delete", "validatingwebhookconfigurations/"+kueueRelease+"-validating-webhook-configuration",
		"mutatingwebhookconfigurations/"+kueueRelease+"-mutating-webhook-configuration")
	return err
}

// installAgain is for a cluster that has lost everything. Kueue is started unless it was removed.
func (k *kueue) installAgain(ctx context.Context) error {
	if err := os.RemoveAll(k.certificate); err != nil {
		return err
	}
	if err := os.Mkdir(k.certificate, 0o755); err != nil {
		return err
	}
	if err := k.install(ctx); err != nil {
		return err
	}
	if k.removed {
		return k.m.RemoveKueue(ctx)
	}
	return k.start(ctx, k.gates)
}

func (k *kueue) start(ctx context.Context, gates map[string]bool) error {
	k.gates = gates
	all := map[string]bool{"VisibilityOnDemand": false} // listens on every address
	for name, on := range gates {
		all[name] = on
	}
	k.settings["featureGates"] = all
	text, err := sigsyaml.Marshal(k.settings)
	if err != nil {
		return err
	}
	if err := os.WriteFile(k.config, text, 0o644); err != nil {
		return err
	}
	if k.removed {
		if err := k.apply(ctx, k.webhooks); err != nil {
			return err
		}
		k.removed = false
	}
	if err := k.m.Kueue.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cluster.StartTimeout)
	defer cancel()
	for _, wait := range []struct {
		what string
		f    func(context.Context) error
	}{
		{"Kueue has its certificate", k.mountCertificate},
		{"Kueue is ready", k.ready},
		{"Kueue's webhooks and conversion answer", k.serves},
	} {
		if err := cluster.Poll(ctx, wait.what, wait.f, k.m.Kueue); err != nil {
			return err
		}
	}
	return nil
}

// installed are the kinds of the chart's objects that are needed here: Kueue is a process with the rights of a
// cluster-admin, and nothing aggregates its API.
var installed = map[string]bool{"ConfigMap": true, "CustomResourceDefinition": true, "Secret": true, "Service": true,
	"MutatingWebhookConfiguration": true, "ValidatingWebhookConfiguration": true}

// install applies the chart and keeps its configuration.
func (k *kueue) install(ctx context.Context) error {
	config := fmt.Sprintf(kueueConfig, k.healthPort, k.webhookPort, k.certificate, Origin)
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
		"--namespace", KueueNamespace, "--values", file)
	if err != nil {
		return err
	}
	objects, err := headgate.Decode(text)
	if err != nil {
		return err
	}
	var manifests, webhooks bytes.Buffer
	for _, o := range objects {
		if !installed[o.GetKind()] {
			continue
		}
		if o.GetKind() == "ConfigMap" {
			text, _, _ := unstructured.NestedString(o.Object, "data", "controller_manager_config.yaml")
			if err := sigsyaml.Unmarshal([]byte(text), &k.settings); err != nil {
				return err
			}
		}
		k.redirect(o)
		text, err := sigsyaml.Marshal(o.Object)
		if err != nil {
			return err
		}
		fmt.Fprintf(&manifests, "---\n%s", text)
		if strings.HasSuffix(o.GetKind(), "WebhookConfiguration") {
			fmt.Fprintf(&webhooks, "---\n%s", text)
		}
	}
	k.webhooks = webhooks.String()
	return k.apply(ctx, manifests.String())
}

func (k *kueue) apply(ctx context.Context, manifests string) error {
	_, err := k.m.Kubectl(ctx, manifests, "apply", "--server-side", "-n", KueueNamespace, "-f", "-")
	return err
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
	secret, err := k.m.Client.CoreV1().Secrets(KueueNamespace).Get(ctx, kueueRelease+"-webhook-server-cert", metav1.GetOptions{})
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
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		fmt.Sprintf("http://127.0.0.1:%d/readyz", k.healthPort), nil)
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
