// Package fleet starts a manager cluster and its worker clusters, each of etcd, kube-apiserver and Kueue as
// its chart installs it, connected by MultiKueue: the manager has a MultiKueueCluster for each worker, with a
// kubeconfig of a ServiceAccount that has the rights of Kueue's example and those that Headgate adds to them.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"headgate/e2e/cluster"
)

// Origin is the value of the label kueue.x-k8s.io/multikueue-origin that the manager's replicas have.
const Origin = "multikueue"

// Options of a fleet.
type Options struct {
	Bin     string // folder of Kubernetes' programs
	Kueue   string // folder of Kueue's program and chart
	Dir     string // an existing folder; the fleet owns it
	Workers int

	ManagerGates, WorkerGates map[string]bool // feature gates of Kueue that are not as by default

	NoPods bool // nothing makes pods of Jobs

	// More flags of the kube-apiserver of the member with this folder; nil: none.
	APIServerArgs func(dir string) ([]string, error)
}

// Member is one cluster of a fleet.
type Member struct {
	*cluster.Cluster
	Name  string
	Kueue *cluster.Process

	kueue    *kueue
	line     *line // to a worker
	account  *Account
	accounts int // so many were made
}

// Fleet is a manager and its workers, named worker1, worker2 and so on.
type Fleet struct {
	Dir     string
	Manager *Member
	Workers []*Member
}

// Start returns when the manager has connected to all workers. After an error nothing is left running and the
// folder is kept.
func Start(ctx context.Context, o Options) (*Fleet, error) {
	f := &Fleet{Dir: o.Dir, Manager: &Member{Name: "manager"}}
	for i := range o.Workers {
		f.Workers = append(f.Workers, &Member{Name: fmt.Sprintf("worker%d", i+1)})
	}
	if err := f.start(ctx, o); err != nil {
		f.Stop(true)
		return nil, fmt.Errorf("fleet: %w (logs in %s)", err, o.Dir)
	}
	return f, nil
}

// Members are the manager and all workers.
func (f *Fleet) Members() []*Member {
	return append([]*Member{f.Manager}, f.Workers...)
}

// Each runs do for all members at once.
func (f *Fleet) Each(do func(*Member) error) error {
	var wg sync.WaitGroup
	failed := make([]error, len(f.Members()))

	for i, m := range f.Members() {
		wg.Go(func() {
			if err := do(m); err != nil {
				failed[i] = fmt.Errorf("%s: %w", m.Name, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(failed...)
}

func (f *Fleet) start(ctx context.Context, o Options) error {
	err := f.Each(func(m *Member) error {
		if err := m.startCluster(ctx, o, m != f.Manager && !o.NoPods); err != nil {
			return err
		}
		gates := o.WorkerGates
		if m == f.Manager {
			gates = o.ManagerGates
		}
		return m.startKueue(ctx, o.Kueue, gates)
	})
	if err != nil {
		return err
	}
	for _, m := range f.Workers {
		if err := f.connect(ctx, m); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}

// jobControllers run on workers: they make the pods of Jobs and remove them, and what a Job leaves behind.
// No node runs a pod; a pod that waits for a node is one that its Job counts as active.
const jobControllers = "job-controller,garbage-collector-controller,serviceaccount-controller"

func (m *Member) startCluster(ctx context.Context, o Options, jobs bool) error {
	dir := filepath.Join(o.Dir, m.Name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	controllers := ""
	if jobs {
		controllers = jobControllers
	}
	var args []string
	if o.APIServerArgs != nil {
		var err error
		if args, err = o.APIServerArgs(dir); err != nil {
			return err
		}
	}
	c, err := cluster.Start(ctx, cluster.Options{Bin: o.Bin, Dir: dir, Bare: true, Controllers: controllers, APIServerArgs: args})
	if err != nil {
		return err
	}
	m.Cluster = c
	return m.makeNamespace(ctx)
}

func (m *Member) makeNamespace(ctx context.Context) error {
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: KueueNamespace}}
	_, err := m.Client.CoreV1().Namespaces().Create(ctx, space, metav1.CreateOptions{})
	return err
}

// Empty makes the cluster of a worker anew, at the same address: nothing but its CustomResourceDefinitions is there, and
// Kueue if it runs there. The manager has no rights before GiveRights, and with a token no access before NewAccount.
func (m *Member) Empty(ctx context.Context) error {
	m.Kueue.Kill()
	if err := m.Cluster.Empty(ctx); err != nil {
		return err
	}
	if err := m.makeNamespace(ctx); err != nil {
		return err
	}
	return m.kueue.installAgain(ctx)
}

// CutOff ends all connections of the manager to a worker, and those that it tries to make, until Reconnect. The
// worker does not notice.
func (m *Member) CutOff() { m.line.set(true) }

// Reconnect: see CutOff.
func (m *Member) Reconnect() { m.line.set(false) }

// Stop ends everything and removes the folder unless keep.
func (f *Fleet) Stop(keep bool) {
	_ = f.Each(func(m *Member) error {
		if m.line != nil {
			m.line.stop()
		}
		if m.Cluster != nil {
			m.Cluster.Stop(keep)
		}
		return nil
	})
	if !keep {
		_ = os.RemoveAll(f.Dir)
	}
}
