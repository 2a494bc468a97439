package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"headgate/e2e/cluster"
)

var workloads = schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "workloads"}

// waits of a class of Workloads, as the runner sums them up.
type quotaClass struct {
	Count                    int
	TotalEvictions           int
	AverageTimeToAdmissionMs int
	AverageTimeToFinishMs    int
}

type quotaFigures struct {
	workloads int
	wall      time.Duration // from the start of the runner until it has seen all queues empty
	classes   map[string]quotaClass
	usage     map[string]usage // contender, kube-apiserver, etcd, runner
	others    float64          // CPU seconds of all other processes on the machine
	asked     map[string]int   // of the contender
}

// quotaRun is one measurement on a cluster of its own.
type quotaRun struct {
	o         quotaOptions
	row       quotaRow
	set       *quotaSet
	c         *cluster.Cluster
	contender *cluster.Process
	runner    *cluster.Process
}

func measureQuota(ctx context.Context, o quotaOptions, row quotaRow) (f *quotaFigures, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("not done in %s", o.timeout))
	defer cancel()
	dir, err := os.MkdirTemp(o.work, "quota-")
	if err != nil {
		return nil, err
	}
	args, err := auditArgs(dir, quotaAuditPolicy)
	if err != nil {
		return nil, err
	}
	// The runner's own API server is started with these limits.
	args = append(args, "--max-requests-inflight=5000", "--max-mutating-requests-inflight=2500")
	c, err := cluster.Start(ctx, cluster.Options{Bin: o.components, Dir: dir, APIServerArgs: args, Bare: true})
	if err != nil {
		return nil, err
	}
	defer func() {
		c.Stop(err != nil || o.keep)
		if err != nil {
			err = fmt.Errorf("%s: %w (logs in %s)", row, err, dir)
		}
	}()
	r := &quotaRun{o: o, row: row, c: c}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	return r.play(ctx)
}

// prepare makes the kinds and the processes; the kinds of Kueue are those of its module for both.
func (r *quotaRun) prepare(ctx context.Context) error {
	crds := []string{filepath.Join(r.o.kueue, "crds")}
	if r.row.who == ourselves {
		crds = append(crds, filepath.Join(r.o.repo, "charts", "headgate", "files", "crds"))
	}
	for _, dir := range crds {
		_, err := r.c.Kubectl(ctx, "", "apply", "--server-side", "-f", dir)
		if err != nil {
			return err
		}
	}
	if _, err := r.c.Kubectl(ctx, "", "wait", "crd", "--all", "--for=condition=Established",
		"--timeout=60s"); err != nil {
		return err
	}
	var err error
	if r.set, err = readSet(filepath.Join(r.o.kueue, r.row.set+".yaml"), r.o.share); err != nil {
		return err
	}
	set := filepath.Join(r.c.Dir, "set.yaml")
	if err := r.set.write(set); err != nil {
		return err
	}
	if r.contender, err = r.makeContender(); err != nil {
		return err
	}
	// The limits of its client are those of its own API server.
	r.runner = cluster.NewProcess(r.c.Dir, "runner", filepath.Join(r.o.kueue, "runner"),
		"--kubeconfig="+r.c.Kubeconfig, "--o="+r.c.Dir, "--generatorConfig="+set,
		"--timeout="+r.o.timeout.String(), "--qps=1000", "--burst=2000", "--zap-log-level=error")
	r.c.Adopt(r.contender)
	r.c.Adopt(r.runner)
	return nil
}

func (r *quotaRun) makeContender() (*cluster.Process, error) {
	kubeconfig := "--kubeconfig=" + r.c.Kubeconfig
	if r.row.who == theirs {
		program := "minimalkueue"
		if r.row.limit == 0 {
			program = "minimalkueue-unlimited"
		}
		return cluster.NewProcess(r.c.Dir, program, filepath.Join(r.o.kueue, program), kubeconfig), nil
	}
	args := []string{kubeconfig, "--controllers=workload", "--leader-elect=false",
		fmt.Sprintf("--kube-api-qps=%d", r.row.limit), fmt.Sprintf("--kube-api-burst=%d", 2*r.row.limit)}
	for _, flag := range []string{"--listen-address", "--healthz-address"} {
		port, err := cluster.FreePort()
		if err != nil {
			return nil, err
		}
		args = append(args, fmt.Sprintf("%s=127.0.0.1:%d", flag, port))
	}
	program := "headgate-scheduler"
	return cluster.NewProcess(r.c.Dir, program, filepath.Join(r.o.build, "bin", program), args...), nil
}

func (r *quotaRun) play(ctx context.Context) (*quotaFigures, error) {
	before, err := r.readAll()
	if err != nil {
		return nil, err
	}
	busy, err := readMachine()
	if err != nil {
		return nil, err
	}
	for _, p := range []*cluster.Process{r.contender, r.runner} {
		if err := p.Start(); err != nil {
			return nil, err
		}
	}
	begin := time.Now()
	stop := recordProfile(ctx, r.o.perf, r.contender.PID(), filepath.Join(r.o.work, fileName("perf-", r.row)))
	summary := filepath.Join(r.c.Dir, "summary.yaml")
	err = cluster.Poll(ctx, "the runner has seen all queues empty", func(context.Context) error {
		_, err := os.Stat(summary)
		return err
	}, r.runner, r.contender, r.c.Etcd, r.c.APIServer)
	f := &quotaFigures{wall: time.Since(begin), workloads: r.set.workloads()}
	stop()
	if err != nil {
		return nil, err
	}
	if f.usage, err = r.readAll(); err != nil {
		return nil, err
	}
	if f.others, err = readMachine(); err != nil {
		return nil, err
	}
	f.others -= busy
	for name, u := range f.usage {
		u.cpu -= before[name].cpu
		f.usage[name] = u
		f.others -= u.cpu
	}
	return f, r.finish(ctx, f, summary)
}

// finish reads what the runner and the audit log say, and looks whether all Workloads are finished.
func (r *quotaRun) finish(ctx context.Context, f *quotaFigures, summary string) error {
	if err := r.runner.Wait(ctx); err != nil {
		return fmt.Errorf("runner: %w", err)
	}
	text, err := os.ReadFile(summary)
	if err != nil {
		return err
	}
	var s struct {
		WorkloadClasses map[string]quotaClass
	}
	if err := yaml.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("%s: %w", summary, err)
	}
	f.classes = s.WorkloadClasses
	if f.asked, err = readAsked(r.c.Dir, client{program: r.contender.Name + "/"}); err != nil {
		return err
	}
	finished, err := r.countFinished(ctx)
	if err == nil && finished != f.workloads {
		err = fmt.Errorf("%d Workloads are finished, not %d", finished, f.workloads)
	}
	return err
}

func (r *quotaRun) countFinished(ctx context.Context) (int, error) {
	n, options := 0, metav1.ListOptions{Limit: 500}
	for {
		list, err := r.c.Dynamic.Resource(workloads).List(ctx, options)
		if err != nil {
			return 0, err
		}
		for _, w := range list.Items {
			conditions, _, _ := unstructured.NestedSlice(w.Object, "status", "conditions")
			for _, c := range conditions {
				if one, _ := c.(map[string]any); one["type"] == "Finished" && one["status"] == "True" {
					n++
				}
			}
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return n, nil
		}
	}
}

// readAll reads the usage of all processes that run.
func (r *quotaRun) readAll() (map[string]usage, error) {
	all := map[string]usage{}
	for name, p := range map[string]*cluster.Process{"contender": r.contender, "runner": r.runner,
		"kube-apiserver": r.c.APIServer, "etcd": r.c.Etcd} {
		if !p.Running() {
			continue
		}
		u, err := readUsage(p.PID())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[name] = u
	}
	return all, nil
}
