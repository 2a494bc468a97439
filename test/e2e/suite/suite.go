package suite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"headgate/e2e/autoscaler"
	"headgate/e2e/cluster"
	"headgate/e2e/headgate"
	"headgate/e2e/oracle"
)

// Timeout of a wait. It is only ever reached by what is broken.
const Timeout = 10 * time.Minute

// S is a scenario.
type S struct {
	*testing.T
	Ctx       context.Context
	Cluster   *cluster.Cluster
	Headgate  *headgate.Headgate
	Oracle    *oracle.Oracle
	Namespace string

	installation *installation
	queues       []string
	manifests    []*unstructured.Unstructured // of Apply that live in no namespace
	nodes        int
	canaries     int
	own          bool // a cluster of its own
	refusals     bool // are expected
	breach       bool // one is expected
}

// Start begins a scenario on the shared cluster.
func Start(t *testing.T) *S {
	t.Helper()
	return startShared(t, plain)
}

// StartQuota begins a scenario on another shared cluster, which has quota for Workloads.
func StartQuota(t *testing.T) *S {
	t.Helper()
	return startShared(t, quota)
}

// StartEvicting begins a scenario on a third shared cluster: with the actions preempt and reclaim, which evict pods one by
// one and within their PodDisruptionBudgets.
func StartEvicting(t *testing.T) *S {
	t.Helper()
	return startShared(t, evicting)
}

func startShared(t *testing.T, which shape) *S {
	t.Helper()
	i, err := sharedInstallation(context.Background(), which)
	if err != nil {
		t.Fatal(err)
	}
	return begin(t, i)
}

// StartOwn begins a scenario on a cluster of its own, which ends with it.
func StartOwn(t *testing.T, o Options) *S {
	t.Helper()
	i, err := install(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		forget(i)
		i.stop()
	})
	s := begin(t, i)
	s.own = true
	return s
}

func begin(t *testing.T, i *installation) *S {
	t.Helper()
	s := &S{T: t, Cluster: i.cluster, Headgate: i.headgate, Namespace: namespaceOf(t.Name()), installation: i}
	// Not t.Context(): cleaning up needs it, too.
	ctx, cancel := context.WithCancel(context.Background())
	s.Ctx = ctx
	t.Cleanup(cancel)
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}
	if _, err := i.cluster.Client.CoreV1().Namespaces().Create(ctx, space, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.Eventually("the namespace's service account", func() error {
		_, err := i.cluster.Client.CoreV1().ServiceAccounts(s.Namespace).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	s.Oracle = oracle.Start(ctx, i.cluster, i.quota)
	t.Cleanup(s.end)
	return s
}

// end judges the last moments, says what was there if something went wrong, and cleans up.
func (s *S) end() {
	ctx, cancel := context.WithTimeout(s.Ctx, Timeout)
	defer cancel()
	err := s.Oracle.Verify(ctx)
	if breach := (*oracle.Breach)(nil); s.breach && !errors.As(err, &breach) {
		s.Errorf("oracle: a breach was expected, found: %v", err)
	} else if !s.breach && err != nil {
		s.Errorf("oracle: %v", err)
	}
	s.Logf("the oracle judged %d moments", s.Oracle.Judged())
	s.checkDaemons()
	s.CheckRights()
	if s.Failed() {
		s.installation.failed = true
		s.diagnose(ctx)
	}
	s.Oracle.Stop()
	s.cleanUp(ctx)
}

// checkDaemons: only a scenario may end a daemon.
func (s *S) checkDaemons() {
	for _, d := range slices.Concat(s.Headgate.Schedulers, s.Headgate.Webhooks) {
		if d.Crashed() {
			s.Errorf("%s ended by itself, see %s", d.Name, d.Log)
		}
	}
}

// diagnose prints the scenario's objects as kubectl shows them.
func (s *S) diagnose(ctx context.Context) {
	about := [][]string{
		{"get", "nodes", "-o", "wide"},
		{"get", "queues.scheduling.volcano.sh"},
		{"get", "podgroups.scheduling.volcano.sh,pods", "-n", s.Namespace, "-o", "wide"},
		{"get", "events", "-n", s.Namespace, "--sort-by=.lastTimestamp"},
	}
	if s.installation.quota {
		about = append(about, []string{"get", "clusterqueues,cohorts"},
			[]string{"get", "localqueues,jobs", "-n", s.Namespace},
			[]string{"get", "workloads", "-n", s.Namespace, "-o", "yaml"})
	}
	for _, args := range about {
		out, err := s.Headgate.Kubectl(ctx, "", args...)
		s.Logf("kubectl %s\n%s%v", strings.Join(args, " "), out, err)
	}
	out, err := s.Headgate.Ctl(ctx, "queues")
	s.Logf("headgatectl queues\n%s%v", out, err)
	s.Logf("logs: %s", s.Cluster.Dir)
}

// cleanUp returns when nothing of the scenario asks for anything any more; what is left of the
// namespace goes by itself.
func (s *S) cleanUp(ctx context.Context) {
	core := s.Cluster.Client.CoreV1()
	groups := s.Cluster.Dynamic.Resource(headgate.PodGroups).Namespace(s.Namespace)
	now, all := int64(0), metav1.ListOptions{}
	// First, so that no controller makes more.
	_ = core.Namespaces().Delete(ctx, s.Namespace, metav1.DeleteOptions{})
	s.cleanUpQuota(ctx)
	err := cluster.Poll(ctx, "pods and pod groups are gone", func(ctx context.Context) error {
		err := core.Pods(s.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, all)
		err = errors.Join(err, groups.DeleteCollection(ctx, metav1.DeleteOptions{}, all))
		if err != nil {
			return err
		}
		pods, err := core.Pods(s.Namespace).List(ctx, all)
		if err != nil {
			return err
		}
		left, err := groups.List(ctx, all)
		if err == nil && len(pods.Items)+len(left.Items) > 0 {
			err = fmt.Errorf("%d pods, %d pod groups", len(pods.Items), len(left.Items))
		}
		return err
	})
	if err != nil {
		s.Errorf("cleaning up: %v", err)
	}
	// Children before their parents; the webhook learns of their end a little later, and refuses until then.
	for _, q := range slices.Backward(s.queues) {
		err := cluster.Poll(ctx, "queue "+q+" is deleted", func(ctx context.Context) error {
			err := s.Cluster.Dynamic.Resource(headgate.Queues).Delete(ctx, q, metav1.DeleteOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
		if err != nil {
			s.Errorf("cleaning up: %v", err)
		}
	}
	for n := range s.nodes {
		_ = core.Nodes().Delete(ctx, s.NodeName(n), metav1.DeleteOptions{})
	}
}

// Eventually waits until f returns nil; the test fails with f's last error after Timeout, or at once
// when the oracle found a breach.
func (s *S) Eventually(what string, f func() error) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Ctx, Timeout)
	defer cancel()
	err := cluster.Poll(ctx, what, func(context.Context) error {
		s.Helper()
		if s.Oracle != nil && !s.breach {
			if err := s.Oracle.Err(); err != nil {
				s.Fatalf("oracle, while waiting for %q: %v", what, err)
			}
		}
		return f()
	})
	if err != nil {
		s.Fatal(err)
	}
}

// ExpectBreach says that the oracle has to find one before the scenario ends.
func (s *S) ExpectBreach() {
	s.breach = true
}

// send makes a request again that failed because a webhook stood still, as its user would.
func (s *S) send(f func() error) error {
	for {
		if err := f(); !cluster.Stalled(err) || s.Ctx.Err() != nil {
			return err
		}
	}
}

// Must fails the test when there is an error.
func (s *S) Must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// NodeName of the scenario's nth node.
func (s *S) NodeName(n int) string {
	return fmt.Sprintf("%s-%d", s.Namespace, n)
}

// Nodes adds n nodes that kwok plays, labelled e2e.headgate.io/scenario=NAMESPACE, and returns when
// the schedulers, ours if one runs and Kubernetes' own, have seen them, and so the end of those that
// were there before: pods and nodes come to them by different watches, and a pod that overtakes its
// node is rightly published.
func (s *S) Nodes(n int, cpu, memory string) {
	s.Helper()
	s.NodesWith(nil, n, cpu, memory)
}

// NodesWith is Nodes with more labels.
func (s *S) NodesWith(more map[string]string, n int, cpu, memory string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Ctx, Timeout)
	defer cancel()
	for range n {
		s.addNode(ctx, more, cluster.Resources(cpu, memory))
	}
	if n == 0 {
		return
	}
	last := s.NodeName(s.nodes - 1)
	s.schedulerSawNode(last, Scheduler(""))
	if slices.ContainsFunc(s.Headgate.Schedulers, func(d *headgate.Daemon) bool { return d.Running() }) {
		s.schedulerSawNode(last)
	}
}

// NodeOf adds one node that offers this, labelled as those of Nodes, and returns its name. The schedulers
// may not have seen it yet.
func (s *S) NodeOf(amount corev1.ResourceList) string {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Ctx, Timeout)
	defer cancel()
	return s.addNode(ctx, nil, amount)
}

func (s *S) addNode(ctx context.Context, more map[string]string, amount corev1.ResourceList) string {
	s.Helper()
	labels := map[string]string{"e2e.headgate.io/scenario": s.Namespace}
	maps.Copy(labels, more)
	name := s.NodeName(s.nodes)
	s.nodes++
	s.Must(s.Cluster.AddNode(ctx, name, amount, labels))
	return name
}

// Autoscalers are the kinds of node autoscalers that scenarios are played with on this machine.
func Autoscalers() []string {
	if autoscaler.ClusterAutoscaler() == "" {
		return []string{"Karpenter"}
	}
	return []string{"Karpenter", "ClusterAutoscaler"}
}

// Autoscaler starts one of Autoscalers(). It buys nodes for anybody's pods and leaves them behind,
// so the scenario has to have a cluster of its own.
func (s *S) Autoscaler(kind string, i autoscaler.Instance) *autoscaler.Autoscaler {
	s.Helper()
	if !s.own {
		s.Fatal("an autoscaler needs suite.StartOwn")
	}
	start := autoscaler.StartClusterAutoscaler
	if kind == "Karpenter" {
		start = autoscaler.Karpenter
		s.Must(waitForKarpenter(s.Ctx))
	}
	ctx, cancel := context.WithTimeout(s.Ctx, 2*Timeout)
	defer cancel()
	nodes, err := s.Cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	s.Must(err)
	a, err := start(ctx, s.Cluster, i)
	s.Must(err)
	s.Cleanup(func() { s.logBought(kind, len(nodes.Items)) })
	return a
}

// logBought says how many nodes there were at most beside those that were there before the autoscaler.
func (s *S) logBought(kind string, before int) {
	most := before
	for _, n := range s.Oracle.Nodes() {
		most = max(most, n.Nodes)
	}
	s.Logf("%s bought %d nodes", kind, most-before)
}

// waitForKarpenter returns when run.sh, which builds Karpenter beside the first scenarios, has done so.
func waitForKarpenter(ctx context.Context) error {
	file := os.Getenv(envKarpenter)
	if file == "" {
		return nil
	}
	var status []byte
	if err := cluster.Poll(ctx, "Karpenter is built", func(context.Context) (err error) {
		status, err = os.ReadFile(file)
		return err
	}); err != nil {
		return err
	}
	if s := strings.TrimSpace(string(status)); s != "0" {
		return fmt.Errorf("the build of Karpenter ended with exit status %s", s)
	}
	return nil
}

// Write puts text into a file of build/e2e, to be read after the run.
func (s *S) Write(name, text string) {
	s.Helper()
	s.Must(os.WriteFile(BuildFile(name), []byte(text), 0o644))
	s.Logf("written: %s", BuildFile(name))
}
