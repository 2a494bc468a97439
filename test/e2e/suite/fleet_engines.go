package suite

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"headgate/e2e/cluster"
	"headgate/e2e/fleet"
)

// orchestration is Kueue's feature gate.
const orchestration = "MultiKueueOrchestratedPreemption"

// KueueOrchestrates lets Kueue on the manager give replicas their gates and open them, until the scenario ends.
func (f *F) KueueOrchestrates() {
	f.Helper()
	f.Must(f.Fleet.Manager.RestartKueue(f.Ctx, map[string]bool{orchestration: true}))
	f.Cleanup(func() {
		f.Must(f.Fleet.Manager.RestartKueue(f.Ctx, map[string]bool{orchestration: false}))
	})
	for _, m := range f.Fleet.Workers {
		f.Must(f.Fleet.WaitConnected(f.Ctx, m))
	}
}

const workerConfig = `
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
featureGates: {MultiKueueOrchestratedPreemption: true}
`

// withPods is a part of a Configuration: pods are managed besides Jobs.
const withPods = "integrations: {frameworks: [batch/job, pod]}\n"

// Headgate runs on these workers in place of Kueue until the scenario ends: headgate-scheduler --controllers=workload
// with Kueue's CustomResourceDefinitions of its kinds, and without webhooks.
func (f *F) Headgate(workers ...*fleet.Member) {
	f.Helper()
	f.headgate(workerConfig, workers...)
}

// HeadgateForPods is the same on all members, the manager included; pods queue besides Jobs.
func (f *F) HeadgateForPods() {
	f.Helper()
	f.headgate(workerConfig+withPods, f.Fleet.Members()...)
}

func (f *F) headgate(config string, workers ...*fleet.Member) {
	f.Helper()
	f.Must(f.Fleet.Each(func(m *fleet.Member) error {
		if !slices.Contains(workers, m) {
			return nil
		}
		return m.RemoveKueue(f.Ctx)
	}))
	f.Cleanup(func() {
		f.Must(f.Fleet.Each(func(m *fleet.Member) error {
			if !slices.Contains(workers, m) {
				return nil
			}
			return m.RestartKueue(f.Ctx, map[string]bool{orchestration: m != f.Fleet.Manager})
		}))
	})
	f.schedulers = map[string]*cluster.Process{}
	for _, m := range workers {
		f.ownKinds(m)
		conf := filepath.Join(m.Dir, "headgate.yaml")
		f.Must(os.WriteFile(conf, []byte(config), 0o644))
		p := f.daemon(m, f.Namespace+"-headgate", m.Kubeconfig, "--controllers=workload", "--quota-conf="+conf)
		f.Cleanup(func() { f.terminate(p) })
		f.schedulers[m.Name] = p
	}
}

// ownKinds installs the CustomResourceDefinitions that Headgate needs besides Kueue's.
func (f *F) ownKinds(m *fleet.Member) {
	f.Helper()
	for _, kind := range []string{"queues", "podgroups"} {
		_, err := m.Kubectl(f.Ctx, "", "apply", "--server-side", "-f",
			filepath.Join(os.Getenv(envRepo), "charts", "headgate", "files", "crds", kind+".yaml"))
		f.Must(err)
	}
}

// Scheduler is what gives quota on a member: Headgate or Kueue.
func (f *F) Scheduler(m *fleet.Member) *cluster.Process {
	if p := f.schedulers[m.Name]; p != nil {
		return p
	}
	return m.Kueue
}

// daemon starts headgate-scheduler on a member and returns when it is ready.
func (f *F) daemon(m *fleet.Member, name, kubeconfig string, args ...string) *cluster.Process {
	f.Helper()
	serving, err := cluster.FreePort()
	f.Must(err)
	health, err := cluster.FreePort()
	f.Must(err)
	p := cluster.NewProcess(m.Dir, name, filepath.Join(os.Getenv(envBuild), "bin", "headgate-scheduler"),
		append(args, "--kubeconfig="+kubeconfig, "--leader-elect=false", "--v=4",
			fmt.Sprintf("--listen-address=127.0.0.1:%d", serving), fmt.Sprintf("--healthz-address=127.0.0.1:%d", health))...)
	m.Adopt(p)
	f.Must(p.Start())
	f.Eventually(name+" is ready", func() error {
		if p.Crashed() {
			f.Fatalf("%s ended by itself, see %s", name, p.Log)
		}
		ctx, cancel := context.WithTimeout(f.Ctx, time.Minute)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/readyz", health), nil)
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
	})
	return p
}

// terminate ends a daemon, unless it has ended; by itself it must not.
func (f *F) terminate(p *cluster.Process) {
	if p.Crashed() {
		f.Errorf("%s ended by itself, see %s", p.Name, p.Log)
	}
	if !p.Running() {
		return
	}
	if err := p.Terminate(time.Minute); err != nil {
		f.Errorf("%s ended with %v, see %s", p.Name, err, p.Log)
	}
}
