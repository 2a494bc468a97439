package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"headgate/e2e/cluster"
	"headgate/e2e/fleet"
	"headgate/e2e/headgate"
)

// remoteUser is the user of the manager at the API server of a worker.
const remoteUser = "system:serviceaccount:" + fleet.KueueNamespace + ":multikueue"

const multiKueue = "kueue.x-k8s.io/multikueue"

const fleetConfig = `
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
multiKueue: {origin: ` + fleet.Origin + `}
`

const fleetSpaceAndQueue = `
{apiVersion: v1, kind: Namespace, metadata: {name: bench}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: bench}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: bench}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: bench, resources: [{name: cpu, nominalQuota: 100000}]}]}]
%s
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: bench, namespace: bench}, spec: {clusterQueue: bench}}
`

const fleetCheck = `
{apiVersion: kueue.x-k8s.io/v1beta2, kind: MultiKueueConfig, metadata: {name: bench}, spec: {clusters: [%s]}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: bench}
spec: {controllerName: ` + multiKueue + `, parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: bench}}
---
`

// fleetFigures of one run.
type fleetFigures struct {
	jobs    int
	wall    time.Duration // from the first Job until each is admitted on one worker, and on no other one
	manager usage         // of all programs that do the manager's work
	servers float64       // CPU seconds of all kube-apiservers and etcds
	others  float64       // and of everything else on the machine
	asked   map[string]int
	busiest map[string]int // of the worker that the manager asked most
}

// fleetRun is one measurement on a fleet of its own.
type fleetRun struct {
	o       fleetOptions
	row     fleetRow
	f       *fleet.Fleet
	manager []*cluster.Process
	l       *load
}

func measureFleet(ctx context.Context, o fleetOptions, row fleetRow) (figures *fleetFigures, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("not done in %s", o.timeout))
	defer cancel()
	dir, err := os.MkdirTemp(o.work, "bench-fleet-")
	if err != nil {
		return nil, err
	}
	f, err := fleet.Start(ctx, fleet.Options{Bin: o.components, Kueue: o.kueue, Dir: dir, Workers: o.clusters, NoPods: true,
		APIServerArgs: func(dir string) ([]string, error) { return auditArgs(dir, quotaAuditPolicy) }})
	if err != nil {
		return nil, err
	}
	defer func() {
		f.Stop(err != nil || o.keep)
		if err != nil {
			err = fmt.Errorf("%s: %w (logs in %s)", row, err, dir)
		}
	}()
	r := &fleetRun{o: o, row: row, f: f}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	return r.play(ctx)
}

// prepare puts the programs of the row in place of Kueue's, and lets one Job show that all of them work.
func (r *fleetRun) prepare(ctx context.Context) error {
	if err := r.f.Each(func(m *fleet.Member) error { return r.equip(ctx, m) }); err != nil {
		return err
	}
	var names []string
	for _, m := range r.f.Workers {
		names = append(names, m.Name)
		if err := apply(ctx, m, fmt.Sprintf(fleetSpaceAndQueue, "")); err != nil {
			return err
		}
	}
	queue := fmt.Sprintf(fleetSpaceAndQueue, "  admissionChecksStrategy: {admissionChecks: [{name: bench}]}")
	if err := apply(ctx, r.f.Manager, fmt.Sprintf(fleetCheck, strings.Join(names, ", "))+queue); err != nil {
		return err
	}
	var err error
	if r.l, err = newLoad(r.f.Manager.Cluster, r.o.loaders); err != nil {
		return err
	}
	if err := r.submit(ctx, warmUp); err != nil {
		return err
	}
	return r.settled(ctx, 1)
}

func apply(ctx context.Context, m *fleet.Member, manifests string) error {
	_, err := m.Kubectl(ctx, manifests, "apply", "--server-side", "-f", "-")
	return err
}

func (r *fleetRun) equip(ctx context.Context, m *fleet.Member) error {
	who := r.row.workers
	if m == r.f.Manager {
		who = r.row.manager
		r.manager = []*cluster.Process{m.Kueue}
	}
	if who == theirs {
		return nil
	}
	if err := m.RemoveKueue(ctx); err != nil {
		return err
	}
	for _, kind := range []string{"queues", "podgroups"} {
		crd := filepath.Join(r.o.repo, "charts", "headgate", "files", "crds", kind+".yaml")
		if _, err := m.Kubectl(ctx, "", "apply", "--server-side", "-f", crd); err != nil {
			return err
		}
	}
	core, err := r.start(m, "workload")
	if err != nil || m != r.f.Manager {
		return err
	}
	manager, err := r.start(m, "multikueue", "--multikueue-namespace="+fleet.KueueNamespace)
	r.manager = []*cluster.Process{core, manager}
	return err
}

// start starts headgate-scheduler with a controller. Its limit of requests is that of Kueue here.
func (r *fleetRun) start(m *fleet.Member, controller string, args ...string) (*cluster.Process, error) {
	conf := filepath.Join(m.Dir, "headgate.yaml")
	if err := os.WriteFile(conf, []byte(fleetConfig), 0o644); err != nil {
		return nil, err
	}
	args = append(args, "--kubeconfig="+m.Kubeconfig, "--leader-elect=false", "--controllers="+controller,
		"--quota-conf="+conf, "--kube-api-qps=300", "--kube-api-burst=500")
	for _, flag := range []string{"--listen-address", "--healthz-address"} {
		port, err := cluster.FreePort()
		if err != nil {
			return nil, err
		}
		args = append(args, fmt.Sprintf("%s=127.0.0.1:%d", flag, port))
	}
	p := cluster.NewProcess(m.Dir, "headgate-"+controller, filepath.Join(r.o.build, "bin", "headgate-scheduler"), args...)
	m.Adopt(p)
	return p, p.Start()
}

// submit creates a Job of one pod on the manager, as Kueue's webhook would leave it.
func (r *fleetRun) submit(ctx context.Context, name string) error {
	one, by, suspended := int32(1), multiKueue, true
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: space, Labels: map[string]string{headgate.QueueLabel: queue}},
		Spec: batchv1.JobSpec{Parallelism: &one, Completions: &one, Suspend: &suspended, ManagedBy: &by,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{Name: "main", Image: "registry.k8s.io/pause:3.10",
					Resources: corev1.ResourceRequirements{Requests: cluster.Resources("1", "0")}}}}}}}
	delete(j.Spec.Template.Spec.Containers[0].Resources.Requests, corev1.ResourceMemory)
	_, err := r.l.client.BatchV1().Jobs(space).Create(ctx, j, metav1.CreateOptions{})
	return err
}

// settled waits until n Workloads are admitted on the manager, and each has one replica in all.
func (r *fleetRun) settled(ctx context.Context, n int) error {
	return cluster.Poll(ctx, fmt.Sprintf("%d Jobs run on one worker each", n), func(ctx context.Context) error {
		admitted, _, err := r.count(ctx, r.f.Manager)
		if err == nil && admitted != n {
			err = fmt.Errorf("%d are admitted", admitted)
		}
		admitted, all := 0, 0
		for _, m := range r.f.Workers {
			if err != nil {
				return err
			}
			var here, there int
			here, there, err = r.count(ctx, m)
			admitted, all = admitted+here, all+there
		}
		if err == nil && (admitted != n || all != n) {
			err = fmt.Errorf("%d of %d replicas are admitted", admitted, all)
		}
		return err
	}, r.manager...)
}

// count Workloads: those that are admitted, and all.
func (r *fleetRun) count(ctx context.Context, m *fleet.Member) (admitted, all int, err error) {
	list, err := m.Dynamic.Resource(headgate.Workloads).Namespace(space).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return 0, 0, err
	}
	for _, w := range list.Items {
		conditions, _, _ := unstructured.NestedSlice(w.Object, "status", "conditions")
		for _, c := range conditions {
			if one, _ := c.(map[string]any); one["type"] == "Admitted" && one["status"] == "True" {
				admitted++
			}
		}
	}
	return admitted, len(list.Items), nil
}

func (r *fleetRun) play(ctx context.Context) (*fleetFigures, error) {
	before, err := r.read()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	err = r.l.each(ctx, r.o.jobs, func(ctx context.Context, i int) error { return r.submit(ctx, fmt.Sprintf("job-%d", i)) })
	if err == nil {
		err = r.settled(ctx, r.o.jobs+1)
	}
	if err != nil {
		return nil, err
	}
	wall := time.Since(begin)
	f, err := r.read()
	if err != nil {
		return nil, err
	}
	f.jobs, f.wall = r.o.jobs, wall
	f.manager.cpu -= before.manager.cpu
	f.servers -= before.servers
	f.others -= before.others + f.manager.cpu + f.servers
	f.asked, f.busiest = less(f.asked, before.asked), less(f.busiest, before.busiest)
	return f, nil
}

// read everything that grows.
func (r *fleetRun) read() (*fleetFigures, error) {
	f := &fleetFigures{asked: map[string]int{}, busiest: map[string]int{}}
	for _, p := range r.manager {
		u, err := readUsage(p.PID())
		if err != nil {
			return nil, err
		}
		f.manager.cpu, f.manager.peak = f.manager.cpu+u.cpu, f.manager.peak+u.peak
		asked, err := readAsked(r.f.Manager.Dir, client{program: agentOf(p)})
		if err != nil {
			return nil, err
		}
		f.asked = asked // both of ours have one name
	}
	for _, m := range r.f.Members() {
		for _, p := range []*cluster.Process{m.APIServer, m.Etcd} {
			u, err := readUsage(p.PID())
			if err != nil {
				return nil, err
			}
			f.servers += u.cpu
		}
		if m == r.f.Manager {
			continue
		}
		asked, err := readAsked(m.Dir, client{user: remoteUser})
		if err != nil {
			return nil, err
		}
		if total(asked) > total(f.busiest) {
			f.busiest = asked
		}
	}
	var err error
	f.others, err = readMachine()
	return f, err
}

// agentOf a program, as its requests begin to name it.
func agentOf(p *cluster.Process) string {
	if p.Name == theirs {
		return "kueue/"
	}
	return "headgate-scheduler/"
}

func total(asked map[string]int) int {
	n := 0
	for _, times := range asked {
		n += times
	}
	return n
}

// less is what was asked for since.
func less(after, before map[string]int) map[string]int {
	for what, n := range before {
		if after[what] -= n; after[what] <= 0 {
			delete(after, what)
		}
	}
	return after
}
