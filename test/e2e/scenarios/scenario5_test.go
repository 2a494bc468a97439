package scenarios

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"headgate/e2e/headgate"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// waitEvent waits for an event on an object of the scenario.
func waitEvent(s *suite.S, object, reason string) corev1.Event {
	s.Helper()
	var found corev1.Event
	s.Eventually(fmt.Sprintf("event %s on %s", reason, object), func() error {
		list, err := s.Cluster.Client.CoreV1().Events(s.Namespace).List(s.Ctx, metav1.ListOptions{
			FieldSelector: "involvedObject.name=" + object + ",reason=" + reason})
		if err != nil {
			return err
		}
		if len(list.Items) == 0 {
			return fmt.Errorf("none")
		}
		found = list.Items[0]
		return nil
	})
	return found
}

// warnings collects what the API server warns about.
type warnings struct {
	lock sync.Mutex
	text []string
}

func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.text = append(w.text, text)
}

// A pod with another gate holds no quota, not even when a user removed our gate; then it is not
// published before it has quota.
func TestScenario5ForeignGateHoldsNoQuota(t *testing.T) {
	const foreign = "example.com/other-gate"

	s := suite.Start(t)
	s.Nodes(1, "4", "8Gi")
	q := s.Queue("q", "1", "1Gi")
	s.Pod("held", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"), suite.Gate(foreign))
	s.SchedulerSawAll()
	s.Pod("free", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))
	s.WaitRunning("free")
	patch := []byte(`{"spec":{"schedulingGates":null}}`)
	_, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).Patch(s.Ctx, "held", types.MergePatchType, patch, metav1.PatchOptions{})
	s.Must(err)
	s.WaitUngated("held")
	s.SchedulerSawAll()
	s.WaitPublished()
	s.DeletePod("free")
	s.WaitRunning("held")
	s.Before("one after the other", s.Gone("free"), s.Bound("held"))
}

// The annotation is not the user's to take off a gated pod: it stays gated until its queue has room.
func TestScenario5AnnotationRemoved(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "4", "8Gi")
	q := s.Queue("q", "1", "1Gi")
	s.Pod("first", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))
	s.WaitRunning("first")
	s.Pod("leaves", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))
	s.SchedulerSawAll()
	s.WaitGated("leaves")
	pods := s.Tenant("eve").CoreV1().Pods(s.Namespace)
	for _, value := range []string{`null`, `"false"`} {
		patch := []byte(`{"metadata":{"annotations":{"` + oracle.GateKey + `":` + value + `}}}`)
		_, err := pods.Patch(s.Ctx, "leaves", types.MergePatchType, patch, metav1.PatchOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "required until the pod ends") {
			t.Errorf("annotation %s: %v", value, err)
		}
	}
	s.SchedulerSawAll()
	s.WaitGated("leaves")
	s.DeletePod("first")
	s.WaitRunning("leaves")
}

// Queues that are closed, or not there: the pod stays gated and an event says why; a pod that is
// created directly warns its user at once. It goes on when the queue is there and open.
func TestScenario5ClosedAndUnknownQueues(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "4", "8Gi")
	queues := s.Cluster.Dynamic.Resource(headgate.Queues)
	state := func(name, state string) {
		patch := []byte(`{"status":{"state":"` + state + `","allocated":{}}}`)
		_, err := queues.Patch(s.Ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		s.Must(err)
	}
	warned := &warnings{}
	config := rest.CopyConfig(s.Cluster.Config)
	config.WarningHandler = warned
	client, err := kubernetes.NewForConfig(config)
	s.Must(err)
	send := func(o metav1.CreateOptions, name string, options ...suite.PodOption) {
		options = append([]suite.PodOption{suite.Opted, suite.Request("1", "1Gi")}, options...)
		_, err := client.CoreV1().Pods(s.Namespace).Create(s.Ctx, s.Spec(name, options...), o)
		s.Must(err)
	}
	create := func(name string, options ...suite.PodOption) { send(metav1.CreateOptions{}, name, options...) }
	warns := func(name string) bool {
		return slices.ContainsFunc(warned.text, func(w string) bool { return strings.Contains(w, name) })
	}

	// Quota for both pods: the order in which they run is not tested here.
	closed := s.Queue("closed", "2", "2Gi")
	s.PodGroup("before", closed, 1, nil)
	s.Eventually("the webhook knows that the queue is closed", func() error {
		state(closed, "Closed") // each time: what the scheduler writes of the queue's first state may come later
		send(metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}, "closed", suite.Queue(closed))
		if !warns(closed) {
			return fmt.Errorf("%q", warned.text)
		}
		return nil
	})
	create("closed", suite.Queue(closed))
	create("member", suite.Group("before"))
	unknown := s.Namespace + "-nowhere"
	create("unknown", suite.Queue(unknown))
	if !warns(unknown) {
		t.Errorf("no warning names queue %s: %q", unknown, warned.text)
	}
	waitEvent(s, "closed", "QueueUnavailable")
	waitEvent(s, "unknown", "QueueUnavailable")
	waitEvent(s, "member", "QueueUnavailable")
	s.WaitGated("closed", "member", "unknown")
	s.WaitPublished()
	out, err := s.Headgate.Ctl(s.Ctx, "explain", "pod", s.Namespace+"/member")
	if err != nil || !strings.Contains(out, closed) {
		t.Errorf("explain: %v\n%s", err, out)
	}

	state(closed, "Open")
	s.WaitRunning("member", "closed")
	if got := s.Queue("nowhere", "1", "1Gi"); got != unknown {
		t.Fatalf("the queue is called %s", got)
	}
	s.WaitRunning("unknown")
}

// reviews is how many times the webhook was asked at paths that contain one of these words. About queues
// and PodGroups it is asked by our scheduler, too, at any time.
func reviews(s *suite.S, words ...string) float64 {
	s.Helper()
	sum := 0.0
	for _, w := range s.Headgate.Webhooks {
		for _, word := range words {
			n, err := w.Metric(s.Ctx, "headgate_webhook_reviews_total", word)
			s.Must(err)
			sum += n
		}
	}
	return sum
}

// Pods of others never reach the webhook and are scheduled by others: those that did not opt in, of kube-scheduler or of
// a DaemonSet, and those of a scheduler that is not listed although they carry the annotation.
func TestScenario5PodsOfOthersAreNotTouched(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(2, "4", "8Gi")
	before := reviews(s, "/pods/")
	plain := s.Pod("plain", suite.Scheduler(""), suite.Request("1", "1Gi"))
	other := s.Pod("other", suite.Scheduler("other"), suite.Opted, suite.Request("1", "1Gi"))
	for _, p := range []*corev1.Pod{plain, other} {
		if gates := gatesOf(p); len(gates) > 0 {
			t.Errorf("%s has gates: %v", p.Name, gates)
		}
	}
	template := s.Spec("set", suite.Scheduler(""), suite.Request("100m", "64Mi"))
	template.Spec.RestartPolicy = corev1.RestartPolicyAlways
	template.Labels = map[string]string{"app": "set"}
	template.Spec.NodeSelector = map[string]string{"e2e.headgate.io/scenario": s.Namespace}
	_, err := s.Cluster.Client.AppsV1().DaemonSets(s.Namespace).Create(s.Ctx, &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "set"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: template.Labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: template.Labels,
				Annotations: template.Annotations}, Spec: template.Spec},
		}}, metav1.CreateOptions{})
	s.Must(err)
	s.WaitRunning("plain")
	s.Eventually("a pod of the DaemonSet runs on every node", func() error {
		set, err := s.Cluster.Client.AppsV1().DaemonSets(s.Namespace).Get(s.Ctx, "set", metav1.GetOptions{})
		if err == nil && set.Status.NumberAvailable != 2 {
			err = fmt.Errorf("%d", set.Status.NumberAvailable)
		}
		return err
	})
	if asked := reviews(s, "/pods/") - before; asked != 0 {
		t.Errorf("the webhook was asked %v times", asked)
	}
	s.SchedulerSawAll()
	if asked := reviews(s, "/pods/") - before; asked == 0 {
		t.Error("the webhook was not asked about a pod that opted in")
	}
	if p := s.GetPod("other"); p.Spec.NodeName != "" || len(p.Status.Conditions) > 0 {
		t.Errorf("a pod of a scheduler that does not run was changed: %+v", p.Status)
	}
}

// A pod that asks for nothing needs no quota: it runs although its queue is full.
func TestScenario5BestEffort(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "4", "8Gi")
	q := s.Queue("q", "1", "1Gi")
	s.Pod("full", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))
	s.WaitRunning("full")
	s.Pod("waits", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))
	if gates := gatesOf(s.Pod("best-effort", suite.Opted, suite.Queue(q))); len(gates) != 1 {
		t.Errorf("gates of the best-effort pod as it was created: %v", gates)
	}
	s.WaitRunning("best-effort")
	s.SchedulerSawAll()
	s.WaitGated("waits")
}

// foreignBinds are those of this program so far, which may play the scenario several times.
var foreignBinds float64

// Another client binds a pod that names our scheduler: an event of the pod reports it, a metric counts
// it, readyz shows it and stays green. Our own binds until then were never counted.
func TestScenario5AnotherSchedulerIsNoticed(t *testing.T) {
	const metric = "headgate_foreign_binds_total"

	s := suite.Start(t)
	s.Nodes(1, "4", "8Gi")
	q := s.Queue("q", "2", "2Gi")
	s.Pod("ours", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))
	s.WaitRunning("ours")
	s.Pod("theirs", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"), suite.Select("e2e.headgate.io/none", "none"))
	s.WaitPublished("theirs")
	leads := leader(s)
	before, err := leads.Metric(s.Ctx, metric)
	s.Must(err)
	if before > foreignBinds {
		t.Errorf("%v binds of our own were counted as foreign", before-foreignBinds)
	}
	foreignBinds++
	node := corev1.ObjectReference{Kind: "Node", Name: s.NodeName(0)}
	s.Must(s.Cluster.Client.CoreV1().Pods(s.Namespace).Bind(s.Ctx,
		&corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}, Target: node}, metav1.CreateOptions{}))
	if e := waitEvent(s, "theirs", "ForeignBind"); !strings.Contains(e.Message, node.Name) {
		t.Errorf("the event does not name the node: %s", e.Message)
	}
	after, err := leads.Metric(s.Ctx, metric)
	s.Must(err)
	if after != before+1 {
		t.Errorf("%s is %v after one, was %v", metric, after, before)
	}
	s.Eventually("readyz shows it", func() error {
		answer, err := http.Get(leads.Health + "/readyz?verbose")
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err == nil && (answer.StatusCode != http.StatusOK || !strings.Contains(string(text), s.Namespace+"/theirs")) {
			err = fmt.Errorf("%s\n%s", answer.Status, text)
		}
		return err
	})
}
