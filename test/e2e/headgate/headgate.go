package headgate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"headgate/e2e/cluster"
)

// ReadyTimeout bounds the start of the daemons, and their end. It is only ever reached by what is broken.
const ReadyTimeout = 10 * time.Minute

// Release and Namespace of the installation.
const (
	Release   = "headgate"
	Namespace = "headgate-system"
)

// Kinds of ours, for dynamic clients.
var (
	Queues    = schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "queues"}
	PodGroups = schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"}

	ClusterQueues   = schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "clusterqueues"}
	Cohorts         = schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "cohorts"}
	LocalQueues     = schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "localqueues"}
	Workloads       = schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "workloads"}
	AdmissionChecks = schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "admissionchecks"}
)

// QueueLabel of a Job names its LocalQueue.
const QueueLabel = "kueue.x-k8s.io/queue-name"

// Options of an installation.
type Options struct {
	Repo   string   // folder that has charts/ and, unless Bin says otherwise, build/bin
	Bin    string   // folder of the daemons; empty: Repo/build/bin
	Values []string // as helm's --set: "scheduler.replicas=1"

	Container *Container // nil: the daemons are processes
}

// Headgate is an installation with running daemons.
type Headgate struct {
	Schedulers, Webhooks []*Daemon
	Front                *Front

	c       *cluster.Cluster
	o       Options
	objects []*unstructured.Unstructured

	rollouts int
	marks    int // see WaitRegistrations

	mu        sync.Mutex
	runs      []HookRun
	failHooks bool
}

// Install applies the chart and starts the daemons; it returns when all are ready, every registration
// has its CA and the default queue is there.
func Install(ctx context.Context, c *cluster.Cluster, o Options) (*Headgate, error) {
	h, err := Prepare(c, o)
	if err != nil {
		return nil, err
	}
	if err := h.install(ctx); err != nil {
		h.Stop()
		return nil, fmt.Errorf("headgate: %w (logs in %s)", err, c.Dir)
	}
	return h, nil
}

// Prepare installs nothing yet; HelmInstall does.
func Prepare(c *cluster.Cluster, o Options) (*Headgate, error) {
	if o.Bin == "" {
		o.Bin = filepath.Join(o.Repo, "build", "bin")
	}
	front, err := NewFront()
	if err != nil {
		return nil, err
	}
	return &Headgate{Front: front, c: c, o: o}, nil
}

func (h *Headgate) install(ctx context.Context) error {
	if err := h.Apply(ctx); err != nil {
		return err
	}
	if err := h.startAll(ctx); err != nil {
		return err
	}
	return h.WaitReady(ctx)
}

// startAll starts as many daemons as the Deployments have replicas, when they may do what they will ask
// for, and there is what they will watch.
func (h *Headgate) startAll(ctx context.Context) error {
	if err := h.waitServed(ctx); err != nil {
		return err
	}
	if err := h.waitAllowed(ctx); err != nil {
		return err
	}
	for _, d := range h.objects {
		if d.GetKind() != "Deployment" {
			continue
		}
		replicas, _, _ := unstructured.NestedInt64(d.Object, "spec", "replicas")
		for range replicas {
			if _, err := h.add(ctx, d); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *Headgate) add(ctx context.Context, deployment *unstructured.Unstructured) (*Daemon, error) {
	component := deployment.GetLabels()["app.kubernetes.io/component"]
	list := &h.Schedulers
	if component == "webhook" {
		list = &h.Webhooks
	}
	name := fmt.Sprintf("%s-%d", component, len(*list))
	if h.rollouts > 1 {
		name = fmt.Sprintf("%s-rollout%d-%d", component, h.rollouts, len(*list))
	}
	d, err := h.daemon(ctx, deployment, name)
	if err != nil {
		return nil, err
	}
	*list = append(*list, d)
	return d, d.Start(ctx)
}

// WaitReady waits until all running daemons are ready and the cluster shows it.
func (h *Headgate) WaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ReadyTimeout)
	defer cancel()
	for _, d := range slices.Concat(h.Schedulers, h.Webhooks) {
		if !d.Running() {
			continue
		}
		if err := d.waitReady(ctx); err != nil {
			return err
		}
	}
	if err := cluster.Poll(ctx, "registrations with a CA", h.registered); err != nil {
		return err
	}
	if err := h.WaitRegistrations(ctx); err != nil {
		return err
	}
	return cluster.Poll(ctx, "the default queue", func(ctx context.Context) error {
		_, err := h.c.Dynamic.Resource(Queues).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// registered: every webhook of our registrations has a caBundle.
func (h *Headgate) registered(ctx context.Context) error {
	options := metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=" + Release}
	admission := h.c.Client.AdmissionregistrationV1()
	mutating, err := admission.MutatingWebhookConfigurations().List(ctx, options)
	if err != nil {
		return err
	}
	validating, err := admission.ValidatingWebhookConfigurations().List(ctx, options)
	if err != nil {
		return err
	}
	for _, r := range mutating.Items {
		for _, w := range r.Webhooks {
			if len(w.ClientConfig.CABundle) == 0 {
				return fmt.Errorf("%s has no caBundle", w.Name)
			}
		}
	}
	for _, r := range validating.Items {
		for _, w := range r.Webhooks {
			if len(w.ClientConfig.CABundle) == 0 {
				return fmt.Errorf("%s has no caBundle", w.Name)
			}
		}
	}
	return nil
}

// Leader is the scheduler that leads, by its own word; nil: none does now.
func (h *Headgate) Leader() *Daemon {
	for _, d := range h.Schedulers {
		text := d.Output()
		if d.Running() && strings.Contains(text, `"leading"`) && !strings.Contains(text, resignations[0]) {
			return d
		}
	}
	return nil
}

// Stop kills the daemons and closes the front.
func (h *Headgate) Stop() {
	for _, d := range slices.Concat(h.Schedulers, h.Webhooks) {
		d.Kill()
	}
	h.Front.Close()
}

// Ctl runs headgatectl as cluster-admin and returns what it printed, errors included.
func (h *Headgate) Ctl(ctx context.Context, args ...string) (string, error) {
	return h.c.Run(ctx, "", filepath.Join(h.o.Bin, "headgatectl"), args...)
}

// Kubectl runs kubectl as cluster-admin.
func (h *Headgate) Kubectl(ctx context.Context, stdin string, args ...string) (string, error) {
	return h.c.Kubectl(ctx, stdin, args...)
}

// Helm runs helm as cluster-admin.
func (h *Headgate) Helm(ctx context.Context, args ...string) (string, error) {
	return h.c.Helm(ctx, args...)
}

// Chart is the folder of the chart.
func (h *Headgate) Chart() string {
	return filepath.Join(h.o.Repo, "charts", "headgate")
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	// As the kubelet does it: a reader sees the old file or the new one, and any user may read.
	if err := os.WriteFile(path+".new", data, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
