package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/cluster"
	"headgate/e2e/headgate"
)

// contender is a scheduler that is measured.
type contender interface {
	// install prepares everything; other daemons than the scheduler run afterwards.
	install(ctx context.Context, c *cluster.Cluster) error
	// start starts the scheduler; it is a new process.
	start(ctx context.Context) error
	// processes are the scheduler and its webhook, if it has one.
	processes() []*cluster.Process
	// schedulerName of its pods.
	schedulerName() string
	stop()
}

// --- kube-scheduler ------------------------------------------------------------------------------

const kubeSchedulerConfig = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: %q, qps: 5000, burst: 5000}
`

type kubeScheduler struct {
	p *cluster.Process
}

func (k *kubeScheduler) install(_ context.Context, c *cluster.Cluster) error {
	k.p = c.Scheduler
	config := filepath.Join(c.Dir, "kube-scheduler.yaml")
	k.p.Args = append(k.p.Args, "--config="+config)
	text := fmt.Sprintf(kubeSchedulerConfig, filepath.Join(c.Dir, "scheduler.kubeconfig"))
	return os.WriteFile(config, []byte(text), 0o644)
}

func (k *kubeScheduler) start(context.Context) error { return k.p.Start() }

func (k *kubeScheduler) processes() []*cluster.Process { return []*cluster.Process{k.p} }
func (k *kubeScheduler) schedulerName() string         { return "default-scheduler" }
func (k *kubeScheduler) stop()                         {}

// --- Headgate ------------------------------------------------------------------------------------

type ours struct {
	repo, bin string
	h         *headgate.Headgate
}

func (o *ours) install(ctx context.Context, c *cluster.Cluster) error {
	h, err := headgate.Install(ctx, c, headgate.Options{Repo: o.repo, Bin: o.bin,
		Values: []string{"scheduler.replicas=1", "webhook.replicas=1"}})
	if err != nil {
		return err
	}
	o.h = h
	// The one that is measured is a new process; this one gives its Lease back.
	return h.Schedulers[0].Terminate(time.Minute)
}

func (o *ours) start(ctx context.Context) error { return o.h.Schedulers[0].Start(ctx) }

func (o *ours) processes() []*cluster.Process {
	return []*cluster.Process{o.h.Schedulers[0].Process, o.h.Webhooks[0].Process}
}
func (o *ours) schedulerName() string { return "volcano" }
func (o *ours) stop() {
	if o.h != nil {
		o.h.Stop()
	}
}

// --- Headgate's gate in front of kube-scheduler ----------------------------------------------------

// ahead reserves quota and takes gates off; kube-scheduler, which is among the others of the table, places the pods.
type ahead struct {
	ours
	kube kubeScheduler
}

func (a *ahead) install(ctx context.Context, c *cluster.Cluster) error {
	if err := a.kube.install(ctx, c); err != nil {
		return err
	}
	return a.ours.install(ctx, c)
}

func (a *ahead) start(ctx context.Context) error {
	if err := a.kube.start(ctx); err != nil {
		return err
	}
	return a.ours.start(ctx)
}

func (a *ahead) schedulerName() string { return a.kube.schedulerName() }

// --- another scheduler, as a binary --------------------------------------------------------------

// peer has our CRDs at its disposal, and queues that are open: what Volcano's scheduler needs.
type peer struct {
	ours // its CRDs; its daemons are stopped
	path string
	name string
	args []string // {kubeconfig} is replaced
	c    *cluster.Cluster
	p    *cluster.Process
}

func (p *peer) install(ctx context.Context, c *cluster.Cluster) error {
	if err := p.ours.install(ctx, c); err != nil {
		return err
	}
	p.ours.h.Stop()
	// Nobody answers them any more.
	admission, all := c.Client.AdmissionregistrationV1(), metav1.ListOptions{
		LabelSelector: "app.kubernetes.io/instance=" + headgate.Release}
	for _, registrations := range []interface {
		DeleteCollection(context.Context, metav1.DeleteOptions, metav1.ListOptions) error
	}{admission.MutatingWebhookConfigurations(), admission.ValidatingWebhookConfigurations()} {
		if err := registrations.DeleteCollection(ctx, metav1.DeleteOptions{}, all); err != nil {
			return err
		}
	}
	p.c = c
	var args []string
	for _, a := range p.args {
		args = append(args, strings.ReplaceAll(a, "{kubeconfig}", c.Kubeconfig))
	}
	p.p = cluster.NewProcess(c.Dir, filepath.Base(p.path), p.path, args...)
	c.Adopt(p.p)
	return nil
}

func (p *peer) start(ctx context.Context) error {
	if err := p.openQueues(ctx); err != nil {
		return err
	}
	return p.p.Start()
}

// openQueues does what Volcano's queue controller would do.
func (p *peer) openQueues(ctx context.Context) error {
	queues := p.c.Dynamic.Resource(headgate.Queues)
	list, err := queues.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, q := range list.Items {
		if state, _, _ := unstructured.NestedString(q.Object, "status", "state"); state == "Open" {
			continue
		}
		_, err := queues.Patch(ctx, q.GetName(), types.MergePatchType, []byte(`{"status":{"state":"Open"}}`),
			metav1.PatchOptions{}, "status")
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *peer) processes() []*cluster.Process { return []*cluster.Process{p.p} }
func (p *peer) schedulerName() string         { return p.name }
