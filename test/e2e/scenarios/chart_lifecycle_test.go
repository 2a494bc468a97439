package scenarios

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/headgate"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// chartLife is a release and what is checked about it at each revision.
type chartLife struct {
	*suite.S
	values []string
	serial int
}

// owner of a CRD as helm sees it: the release, or "" for none.
func (c *chartLife) owner(crd string) string {
	c.Helper()
	o, err := c.Cluster.Dynamic.Resource(crds).Get(c.Ctx, crd, metav1.GetOptions{})
	c.Must(err)
	return o.GetAnnotations()["meta.helm.sh/release-name"]
}

func (c *chartLife) checkOwner(want string) {
	c.Helper()
	for _, crd := range []string{"queues.scheduling.volcano.sh", "podgroups.scheduling.volcano.sh"} {
		if owner := c.owner(crd); owner != want {
			c.Errorf("CRD %s belongs to release %q, not %q", crd, owner, want)
		}
	}
}

// refused: helm has to say no, and why.
func (c *chartLife) refused(err error, because string) {
	c.Helper()
	if err == nil {
		c.Fatalf("helm did not refuse: %s", because)
	}
	if !strings.Contains(err.Error(), because) {
		c.Fatalf("helm refused without %q: %v", because, err)
	}
}

// pod that wants all of the queue; one of them runs, the next one waits.
func (c *chartLife) pod(queue string, gated bool) string {
	c.Helper()
	c.serial++
	name := fmt.Sprintf("pod-%d", c.serial)
	gates := gatesOf(c.Pod(name, suite.Opted, suite.Queue(queue), suite.Request("1", "1Gi")))
	if slices.Contains(gates, oracle.GateKey) != gated {
		c.Fatalf("gates of %s as it was created: %v", name, gates)
	}
	return name
}

// upgrade to the values and these.
func (c *chartLife) upgrade(more ...string) {
	c.Helper()
	c.Must(c.Headgate.HelmUpgrade(c.Ctx, slices.Concat(c.values, more)))
}

const featureOff = "featureGates.SchedulingGatesQueueAdmission=false"

// off does what switches the feature off: gates drain, and new pods get none.
func (c *chartLife) off(queue string, how func()) {
	c.Helper()
	waits := c.pod(queue, true)
	c.SchedulerSawAll()
	c.WaitGated(waits)
	c.Oracle.Suspend(true)
	how()
	c.WaitGated()
	late := c.pod(queue, false)
	c.DeletePod(waits)
	c.DeletePod(late)
	c.Eventually("both are gone", func() error {
		left := c.Oracle.Names(c.Namespace, func(p oracle.PodState) bool { return p.Node == "" })
		if len(left) > 0 {
			return fmt.Errorf("still there: %v", left)
		}
		return nil
	})
}

// on does what switches it on again.
func (c *chartLife) on(queue string, how func()) {
	c.Helper()
	how()
	c.Oracle.Suspend(false)
	waits := c.pod(queue, true)
	c.SchedulerSawAll()
	c.WaitGated(waits)
	c.DeletePod(waits)
}

// A release from its first installation beside CRDs of another manager to its second one: helm does all
// of it, on a real API server. The commands of hooks run as processes with tokens of their accounts,
// in place of a kubelet, and helm waits for how they end.
func TestChartLifecycle(t *testing.T) {
	s := suite.StartOwn(t, suite.Options{Empty: true})
	// A scheduler that is uninstalled may not even release its lease.
	c := &chartLife{S: s, values: slices.Concat(headgate.DefaultLease, []string{
		"webhook.extraArgs[0]=--shutdown-delay-duration=0s", "webhook.logLevel=1"})}
	h := s.Headgate
	s.Nodes(1, "8", "16Gi")
	go h.RunHooks(s.Ctx)

	_, err := h.Kubectl(s.Ctx, "", "apply", "-f", filepath.Join(h.Chart(), "files", "crds"))
	s.Must(err)
	c.refused(h.HelmInstall(s.Ctx, []string{"scheduler.replicas=two"}), "replicas")
	c.refused(h.HelmInstall(s.Ctx, []string{"webhook.failurePolicy.podz=Fail"}), "podz")
	s.Must(h.HelmInstall(s.Ctx, c.values))
	c.checkOwner("")
	_, err = h.Helm(s.Ctx, "test", headgate.Release, "--namespace", headgate.Namespace)
	s.Must(err)
	if runs := h.HookRuns(); len(runs) != 1 || !strings.Contains(runs[0].Output, "default") {
		t.Errorf("what helm test ran: %+v", runs)
	}
	queue := s.Queue("q", "1", "1Gi")
	first := c.pod(queue, true)
	s.WaitRunning(first)

	c.refused(h.HelmUpgrade(s.Ctx, append(c.values, "crds.install=always")), "invalid ownership metadata")
	s.Must(h.HelmUpgrade(s.Ctx, append(c.values, "crds.install=always"), "--take-ownership"))
	c.checkOwner(headgate.Release)
	c.off(queue, func() { c.upgrade(featureOff) })
	offRevision := c.revision()
	c.on(queue, func() { c.upgrade() })
	c.off(queue, func() { s.Must(h.HelmRollback(s.Ctx, offRevision)) })
	// The first revision had no CRDs: those that there are stay.
	c.on(queue, func() { s.Must(h.HelmRollback(s.Ctx, 1)) })
	last := c.pod(queue, true)
	s.DeletePod(first)
	s.WaitRunning(last)

	c.uninstall(queue)
	s.Must(h.HelmInstall(s.Ctx, c.values))
	waits := c.pod(queue, true)
	s.SchedulerSawAll()
	s.WaitGated(waits)
	s.DeletePod(last)
	s.WaitRunning(waits)
}

// revision of the release that is deployed.
func (c *chartLife) revision() int {
	c.Helper()
	text, err := c.Headgate.Helm(c.Ctx, "status", headgate.Release, "--namespace", headgate.Namespace)
	c.Must(err)
	for line := range strings.Lines(text) {
		var n int
		if _, err := fmt.Sscanf(line, "REVISION: %d", &n); err == nil {
			return n
		}
	}
	c.Fatalf("no revision:\n%s", text)
	return 0
}

// uninstallInVain: the hook fails, so the release stays. The account that may delete its registrations does not.
func (c *chartLife) uninstallInVain() {
	c.Helper()
	const name = headgate.Release + "-drain"
	jobs := c.Cluster.Client.BatchV1().Jobs(headgate.Namespace)
	c.Headgate.FailHooks(true)
	failed := make(chan error, 1)
	go func() { failed <- c.Headgate.HelmUninstall(c.Ctx) }()
	c.Eventually("no second pod is tried", func() error {
		_, err := jobs.Patch(c.Ctx, name, types.MergePatchType, []byte(`{"spec":{"backoffLimit":0}}`), metav1.PatchOptions{})
		return err
	})
	c.refused(<-failed, name)
	c.Headgate.FailHooks(false)
	_, err := c.Cluster.Client.CoreV1().ServiceAccounts(headgate.Namespace).Get(c.Ctx, name, metav1.GetOptions{})
	c.gone("ServiceAccount", err)
	_, err = c.Cluster.Client.RbacV1().ClusterRoles().Get(c.Ctx, name, metav1.GetOptions{})
	c.gone("ClusterRole", err)
	_, err = c.Cluster.Client.RbacV1().ClusterRoleBindings().Get(c.Ctx, name, metav1.GetOptions{})
	c.gone("ClusterRoleBinding", err)
}

func (c *chartLife) gone(kind string, err error) {
	c.Helper()
	if !apierrors.IsNotFound(err) {
		c.Errorf("the %s of the hook that failed: %v", kind, err)
	}
}

// uninstall leaves nothing that holds a pod, and what is the user's.
func (c *chartLife) uninstall(queue string) {
	c.Helper()
	waits := c.pod(queue, true)
	c.SchedulerSawAll()
	c.WaitGated(waits)
	c.uninstallInVain()
	before := len(c.Headgate.HookRuns())
	// Roles go before the daemons do.
	c.CheckRights()
	c.Must(c.Headgate.HelmUninstall(c.Ctx))
	c.ForgiveRefusals()
	runs := c.Headgate.HookRuns()[before:]
	if len(runs) != 1 || runs[0].Err != nil || !strings.Contains(runs[0].Output, "removed the gate from 1 pods") {
		c.Errorf("what the hook ran: %+v", runs)
	}
	c.WaitGated()
	c.DeletePod(waits)
	ours := metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=" + headgate.Release}
	admission, rbac := c.Cluster.Client.AdmissionregistrationV1(), c.Cluster.Client.RbacV1()
	c.Eventually("no object is left", func() error {
		mutating, err := admission.MutatingWebhookConfigurations().List(c.Ctx, ours)
		c.Must(err)
		validating, err := admission.ValidatingWebhookConfigurations().List(c.Ctx, ours)
		c.Must(err)
		roles, err := rbac.ClusterRoles().List(c.Ctx, ours)
		c.Must(err)
		deployments, err := c.Cluster.Client.AppsV1().Deployments(headgate.Namespace).List(c.Ctx, ours)
		c.Must(err)
		if n := len(mutating.Items) + len(validating.Items) + len(roles.Items) + len(deployments.Items); n > 0 {
			return fmt.Errorf("%d are", n)
		}
		return nil
	})
	_, err := c.Cluster.Dynamic.Resource(headgate.Queues).Get(c.Ctx, queue, metav1.GetOptions{})
	c.Must(err)
	_, err = c.Cluster.Client.CoreV1().Secrets(headgate.Namespace).Get(c.Ctx, headgate.Release+"-webhook-tls", metav1.GetOptions{})
	c.Must(err)
	_, err = c.Headgate.Helm(c.Ctx, "status", headgate.Release, "--namespace", headgate.Namespace)
	if err == nil {
		c.Error("the release is still there")
	}
	c.pod(queue, false)
	c.DeletePod(fmt.Sprintf("pod-%d", c.serial))
}
