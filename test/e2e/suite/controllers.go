package suite

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	sigsyaml "sigs.k8s.io/yaml"

	"headgate/e2e/cluster"
	"headgate/e2e/headgate"
)

// envControllers is a file that appears with the folder of the programs of JobSet and LeaderWorkerSet, or why there
// is none.
const envControllers = "E2E_CONTROLLERS"

// Kinds of jobs that bring a controller of their own, for dynamic clients.
var (
	JobSets           = schema.GroupVersionResource{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"}
	LeaderWorkerSets  = schema.GroupVersionResource{Group: "leaderworkerset.x-k8s.io", Version: "v1", Resource: "leaderworkersets"}
	mutatingHooks     = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"}
	validatingHooks   = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"}
	hookConfigOfKinds = map[string]schema.GroupVersionResource{
		"MutatingWebhookConfiguration": mutatingHooks, "ValidatingWebhookConfiguration": validatingHooks}
)

// jobKind is a kind of jobs with its controller manager.
type jobKind struct {
	name   string // of the program, and of its chart
	kind   schema.GroupVersionResource
	object string // of the smallest spec that the webhook completes
	conf   string // of the manager: its API group
}

var (
	jobSet = jobKind{name: "jobset", kind: JobSets, conf: "config.jobset.x-k8s.io/v1alpha1",
		object: `{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"try"},"spec":{"replicatedJobs":[]}}`}
	leaderWorkerSet = jobKind{name: "lws", kind: LeaderWorkerSets, conf: "config.lws.x-k8s.io/v1alpha1",
		object: `{"apiVersion":"leaderworkerset.x-k8s.io/v1","kind":"LeaderWorkerSet","metadata":{"name":"try"},"spec":` +
			`{"replicas":1,"leaderWorkerTemplate":{"size":1,"workerTemplate":{"spec":{"containers":[{"name":"main","image":"i"}]}}}}}`}
)

// JobSetController runs the controller manager of JobSet, with its webhooks, until the scenario ends. The feature gate
// that lets a JobSet change its number of pods is on.
func (s *S) JobSetController() {
	s.Helper()
	s.runController(jobSet, "featureGates: {ElasticJobSet: true}\n")
}

// LeaderWorkerSetController runs the controller manager of LeaderWorkerSet, with its webhooks, until the scenario
// ends. With gangs it makes a PodGroup of Volcano for each group of pods, as it does for Volcano.
func (s *S) LeaderWorkerSetController(gangs bool) {
	s.Helper()
	more := ""
	if gangs {
		more = "gangSchedulingManagement: {schedulerProvider: volcano}\n"
	}
	s.runController(leaderWorkerSet, more)
}

// runController installs the CustomResourceDefinitions, which stay, starts the manager and registers its webhooks. Its
// certificate is one of the cluster's CA, as if another controller managed it.
func (s *S) runController(k jobKind, more string) {
	s.Helper()
	folder := s.waitForControllers()
	port, err := cluster.FreePort()
	s.Must(err)
	health, err := cluster.FreePort()
	s.Must(err)
	dir := filepath.Join(s.Cluster.Dir, s.Namespace+"-"+k.name)
	s.Must(os.Mkdir(dir, 0o755))
	s.Must(s.Cluster.ServingCertificate(dir, s.Namespace+"-"+k.name))
	conf := filepath.Join(dir, "config.yaml")
	s.Must(os.WriteFile(conf, fmt.Appendf(nil, "apiVersion: %s\nkind: Configuration\nleaderElection: {leaderElect: false}\n"+
		"internalCertManagement: {enable: false}\nwebhook: {host: 127.0.0.1, port: %d, certDir: %q}\n%s", k.conf, port, dir, more), 0o644))
	_, err = s.Headgate.Kubectl(s.Ctx, "", "apply", "--server-side", "-f", filepath.Join(folder, k.name+"-chart", "crds"))
	s.Must(err)
	// A manager that finds no such kind looks again ten seconds later.
	s.Eventually(k.kind.Resource+" are served", func() error {
		_, err := s.Cluster.Dynamic.Resource(k.kind).Namespace(s.Namespace).List(s.Ctx, metav1.ListOptions{})
		return err
	})
	p := cluster.NewProcess(s.Cluster.Dir, s.Namespace+"-"+k.name, filepath.Join(folder, k.name), "--config="+conf,
		"--metrics-bind-address=0", fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", health))
	p.Env = []string{"KUBECONFIG=" + s.Cluster.Kubeconfig}
	s.Cluster.Adopt(p)
	s.Must(p.Start())
	s.Cleanup(func() { s.endController(p) })
	for _, o := range s.controllerHooks(k, folder, port) {
		hooks := s.Cluster.Dynamic.Resource(hookConfigOfKinds[o.GetKind()])
		_, err := hooks.Create(s.Ctx, o, metav1.CreateOptions{})
		s.Must(err)
		// Before the manager ends: requests that need a webhook fail without it.
		s.Cleanup(func() { s.Must(hooks.Delete(s.Ctx, o.GetName(), metav1.DeleteOptions{})) })
	}
	try := &unstructured.Unstructured{}
	s.Must(try.UnmarshalJSON([]byte(k.object)))
	s.Eventually(k.name+" and its webhooks answer", func() error {
		if p.Crashed() {
			s.Fatalf("%s ended by itself, see %s", p.Name, p.Log)
		}
		_, err := s.Cluster.Dynamic.Resource(k.kind).Namespace(s.Namespace).Create(s.Ctx, try,
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
}

func (s *S) endController(p *cluster.Process) {
	if p.Crashed() {
		s.Errorf("%s ended by itself, see %s", p.Name, p.Log)
	}
	if err := p.Terminate(time.Minute); err != nil {
		s.Logf("%s: %v", p.Name, err)
	}
}

// controllerHooks are the registrations of its chart, which lead the API server to loopback.
func (s *S) controllerHooks(k jobKind, folder string, port int) []*unstructured.Unstructured {
	s.Helper()
	text, err := s.Headgate.Helm(s.Ctx, "template", k.name, filepath.Join(folder, k.name+"-chart"))
	s.Must(err)
	objects, err := headgate.Decode(text)
	s.Must(err)
	var registrations []*unstructured.Unstructured
	for _, o := range objects {
		if _, is := hookConfigOfKinds[o.GetKind()]; !is {
			continue
		}
		hooks, _, err := unstructured.NestedSlice(o.Object, "webhooks")
		s.Must(err)
		for _, h := range hooks {
			path, _, err := unstructured.NestedString(h.(map[string]any), "clientConfig", "service", "path")
			s.Must(err)
			h.(map[string]any)["clientConfig"] = map[string]any{"url": fmt.Sprintf("https://127.0.0.1:%d%s", port, path),
				"caBundle": base64.StdEncoding.EncodeToString(s.Cluster.CA)}
		}
		o.Object["webhooks"] = hooks
		registrations = append(registrations, o)
	}
	return registrations
}

// ControllersBuilt is nil when the controller managers are there, or the reason why they cannot be built.
func (s *S) ControllersBuilt() error {
	_, err := s.controllersFolder()
	return err
}

func (s *S) controllersFolder() (string, error) {
	return waitForBuild(s.Ctx, envControllers, "JobSet and LeaderWorkerSet are built")
}

// waitForControllers returns the folder of the programs. Where they cannot be built the scenario is skipped.
func (s *S) waitForControllers() string {
	s.Helper()
	folder, err := s.controllersFolder()
	if err != nil {
		s.Skipf("JobSet and LeaderWorkerSet: %v", err)
	}
	return folder
}

// Example is the manifest below a heading of docs/examples.md, in the scenario's namespace.
func (s *S) Example(heading string) *unstructured.Unstructured {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(Repository(), "docs", "examples.md"))
	s.Must(err)
	_, section, _ := strings.Cut(string(text), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, block, found := strings.Cut(section, "\n```yaml\n")
	if !found {
		s.Fatalf("docs/examples.md: no manifest under %s", heading)
	}
	block, _, _ = strings.Cut(block, "```\n")
	o := &unstructured.Unstructured{}
	s.Must(sigsyaml.Unmarshal([]byte(block), &o.Object))
	o.SetNamespace(s.Namespace)
	return o
}

// Create creates an object, as its user does.
func (s *S) Create(kind schema.GroupVersionResource, o *unstructured.Unstructured) {
	s.Helper()
	s.Must(s.send(func() error {
		_, err := s.Cluster.Dynamic.Resource(kind).Namespace(s.Namespace).Create(s.Ctx, o, metav1.CreateOptions{})
		return err
	}))
}

// Patch merges a patch into an object that Create created; subresource "": into the object itself.
func (s *S) Patch(kind schema.GroupVersionResource, name, patch, subresource string) {
	s.Helper()
	var more []string
	if subresource != "" {
		more = append(more, subresource)
	}
	s.Must(s.send(func() error {
		_, err := s.Cluster.Dynamic.Resource(kind).Namespace(s.Namespace).Patch(s.Ctx, name, types.MergePatchType,
			[]byte(patch), metav1.PatchOptions{}, more...)
		return err
	}))
}

// Delete deletes such an object, and what belongs to it follows by itself.
func (s *S) Delete(kind schema.GroupVersionResource, name string) {
	s.Helper()
	s.Must(s.Cluster.Dynamic.Resource(kind).Namespace(s.Namespace).Delete(s.Ctx, name, metav1.DeleteOptions{}))
}

// Limit changes what a queue may have.
func (s *S) Limit(queue, cpu string) {
	s.Helper()
	_, err := s.Cluster.Dynamic.Resource(headgate.Queues).Patch(s.Ctx, queue, types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"capability":{"cpu":%q}}}`, cpu), metav1.PatchOptions{})
	s.Must(err)
}
