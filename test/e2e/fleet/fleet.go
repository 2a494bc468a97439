// Package fleet starts a manager cluster and its worker clusters, each of etcd, kube-apiserver and Kueue as
// its chart installs it, connected by MultiKueue: the manager has a MultiKueueCluster for each worker, with a
// kubeconfig of a ServiceAccount that has the rights of Kueue's example and those that Headgate adds to them.
package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	authv1 "k8s.io/api/authentication/v1"
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

	kueue *kueue
	line  *line // to a worker
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
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: KueueNamespace}}
	_, err = c.Client.CoreV1().Namespaces().Create(ctx, space, metav1.CreateOptions{})
	return err
}

// workerRights: those of the script in Kueue's documentation that makes a worker's kubeconfig, and, last, to list what
// the cost of preemption is estimated from.
const workerRights = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: multikueue, namespace: kueue-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: multikueue}
rules:
- {apiGroups: [batch], resources: [jobs], verbs: [create, delete, get, list, watch]}
- {apiGroups: [batch], resources: [jobs/status], verbs: [get]}
- {apiGroups: [kueue.x-k8s.io], resources: [workloads], verbs: [create, delete, get, list, watch, patch, update]}
- {apiGroups: [kueue.x-k8s.io], resources: [workloads/status], verbs: [get, patch, update]}
- {apiGroups: [kueue.x-k8s.io], resources: [clusterqueues, localqueues], verbs: [get, list, watch]}
- {apiGroups: [kueue.x-k8s.io], resources: [admissionchecks, cohorts, resourceflavors, topologies], verbs: [list]}
- {apiGroups: ["", node.k8s.io], resources: [limitranges, namespaces, runtimeclasses], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: multikueue}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: multikueue}
subjects: [{kind: ServiceAccount, name: multikueue, namespace: kueue-system}]
`

const workerCluster = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueCluster
metadata: {name: %[1]s}
spec: {clusterSource: {kubeConfig: {locationType: Secret, location: %[1]s}}}
`

// connect gives the manager access to a worker and waits until it has connected.
func (f *Fleet) connect(ctx context.Context, m *Member) error {
	if _, err := m.Kubectl(ctx, workerRights, "apply", "--server-side", "-f", "-"); err != nil {
		return err
	}
	day := int64(24 * 60 * 60)
	token, err := m.Client.CoreV1().ServiceAccounts(KueueNamespace).CreateToken(ctx, "multikueue",
		&authv1.TokenRequest{Spec: authv1.TokenRequestSpec{ExpirationSeconds: &day}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	path, err := m.TokenKubeconfig("multikueue", token.Status.Token)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if m.line, err = newLine(strings.TrimPrefix(m.URL, "https://")); err != nil {
		return err
	}
	text = bytes.ReplaceAll(text, []byte(m.URL), []byte(m.line.url()))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: m.Name, Namespace: KueueNamespace},
		Data: map[string][]byte{"kubeconfig": text}}
	if _, err := f.Manager.Client.CoreV1().Secrets(KueueNamespace).Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := f.Manager.Kubectl(ctx, fmt.Sprintf(workerCluster, m.Name), "apply", "--server-side", "-f", "-"); err != nil {
		return err
	}
	return f.WaitConnected(ctx, m)
}

// WaitConnected waits until Kueue on the manager says that it is connected to a worker.
func (f *Fleet) WaitConnected(ctx context.Context, m *Member) error {
	ctx, cancel := context.WithTimeout(ctx, cluster.StartTimeout)
	defer cancel()
	return cluster.Poll(ctx, "MultiKueueCluster "+m.Name+" is active", func(ctx context.Context) error {
		o, err := f.Manager.Dynamic.Resource(Clusters).Get(ctx, m.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return hasCondition(o, "Active")
	}, f.Manager.Kueue)
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
