package scenarios

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"headgate/e2e/suite"
)

// cheap pods are evicted first.
var cheap = suite.Annotation("controller.kubernetes.io/pod-deletion-cost", "-100")

// configuration is the flag by which headgatectl reads the file that the scheduler reads.
func configuration(s *suite.S) string {
	s.Helper()
	for _, arg := range s.Headgate.Schedulers[0].Args {
		if strings.HasPrefix(arg, "--scheduler-conf=") {
			return arg
		}
	}
	s.Fatalf("no configuration: %v", s.Headgate.Schedulers[0].Args)
	return ""
}

// makeBudget makes a PodDisruptionBudget for the pods of an app.
func makeBudget(s *suite.S, app string, available int32) {
	s.Helper()
	least := intstr.FromInt32(available)
	_, err := s.Cluster.Client.PolicyV1().PodDisruptionBudgets(s.Namespace).Create(s.Ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: app},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &least,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}}, metav1.CreateOptions{})
	s.Must(err)
}

// waitCounted waits until its status counts so many healthy pods, and allows none of them to be evicted.
func waitCounted(s *suite.S, budget string, healthy int32) {
	s.Helper()
	s.Eventually("the budget has counted its pods", func() error {
		b, err := s.Cluster.Client.PolicyV1().PodDisruptionBudgets(s.Namespace).Get(s.Ctx, budget, metav1.GetOptions{})
		if err == nil && (b.Status.CurrentHealthy != healthy || b.Status.DisruptionsAllowed != 0) {
			err = fmt.Errorf("%+v", b.Status)
		}
		return err
	})
}

// A PodDisruptionBudget that allows nothing: other pods go in place of those that it covers, and where there are none the
// pod waits, without a request. As soon as the budget allows one eviction there is one.
func TestScenario11BudgetForbids(t *testing.T) {
	s := suite.StartEvicting(t)
	a := askedFromNow(s)
	budgets := s.Cluster.Client.PolicyV1().PodDisruptionBudgets(s.Namespace)
	makeBudget(s, "web", 2)
	s.Nodes(1, "6", "12Gi")
	q := s.Queue("q", "6", "12Gi")
	high := suite.Priority(highClass(s))
	// All that victims are compared by speaks for the other two.
	s.Pod("other", suite.Opted, suite.Queue(q), cpu("2"))
	s.WaitRunning("other")
	web := makePods(s, "web", 2, suite.Opted, suite.Queue(q), cpu("2"), labelled("app", "web"), cheap)
	s.WaitRunning(web...)
	waitCounted(s, "web", 2)

	s.Pod("high-0", suite.Opted, suite.Queue(q), cpu("2"), high)
	s.WaitRunning("high-0")
	waitEvent(s, "other", "Preempted")
	s.Before("it waits for the quota of its victim", s.Gone("other"), s.Ungated("high-0"))

	s.Pod("high-1", suite.Opted, suite.Queue(q), cpu("2"), high)
	s.Pod("high-2", suite.Opted, suite.Queue(q), cpu("2"), high)
	s.SchedulerSawAll()
	s.WaitGated("high-1", "high-2")
	waitEvent(s, "high-1", "WaitingForQuota")
	allows := "PodDisruptionBudget " + s.Namespace + "/web allows 0 evictions now"
	wants(s, "headgatectl explain pod web-0", []string{allows}, func() (string, error) {
		return s.Headgate.Ctl(s.Ctx, "explain", "pod", s.Namespace+"/web-0", configuration(s))
	})
	now := askedFromNow(s)
	for range 3 {
		s.SchedulerSawAll()
	}
	if idle := now.about("", "high-1", "high-2", "web-0", "web-1"); len(idle) > 0 {
		t.Errorf("asked while there is nothing to do: %v", idle)
	}
	a.wantEvictions(0, web...)

	_, err := budgets.Patch(s.Ctx, "web", types.MergePatchType, []byte(`{"spec":{"minAvailable":1}}`), metav1.PatchOptions{})
	s.Must(err)
	s.Eventually("one has its quota", func() error {
		if h := holding(s, "high-"); len(h) != 2 {
			return fmt.Errorf("%v", h)
		}
		return nil
	})
	s.WaitRunning(holding(s, "high-")...)
	s.SchedulerSawAll()
	if left := holding(s, "web-"); len(left) != 1 {
		t.Errorf("the budget keeps one, there are %v", left)
	}
	a.wantEvictions(1, web...)

	s.Must(budgets.Delete(s.Ctx, "web", metav1.DeleteOptions{}))
	s.WaitRunning("high-1", "high-2")
	s.WaitAllRunning(numbered("high", 3)...)
	a.wantEvictions(3, append(web, "other")...)
	s.WaitPublished()
	none(s, "EvictedInVain")
	none(s, "FailedEviction")
}

// forbidEvictions makes the API server refuse to evict this pod, whatever its budget says. What it returns ends that.
func forbidEvictions(s *suite.S, pod string) func() {
	s.Helper()
	name, admission := s.Namespace, s.Cluster.Client.AdmissionregistrationV1()
	rule := admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods/eviction"}}
	_, err := admission.ValidatingAdmissionPolicies().Create(s.Ctx, &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": s.Namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: rule}}}},
			Validations: []admissionv1.Validation{{Expression: fmt.Sprintf("request.name != %q", pod),
				Message: "this pod stays"}},
		}}, metav1.CreateOptions{})
	s.Must(err)
	_, err = admission.ValidatingAdmissionPolicyBindings().Create(s.Ctx, &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}, metav1.CreateOptions{})
	s.Must(err)
	end := func() {
		_ = admission.ValidatingAdmissionPolicyBindings().Delete(s.Ctx, name, metav1.DeleteOptions{})
		_ = admission.ValidatingAdmissionPolicies().Delete(s.Ctx, name, metav1.DeleteOptions{})
	}
	s.Cleanup(end)
	s.Eventually("the API server refuses", func() error {
		err := s.Cluster.Client.PolicyV1().Evictions(s.Namespace).Evict(s.Ctx, &policyv1.Eviction{
			ObjectMeta:    metav1.ObjectMeta{Name: pod, Namespace: s.Namespace},
			DeleteOptions: &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}})
		if err == nil || !strings.Contains(err.Error(), "this pod stays") {
			return fmt.Errorf("it answers %v", err)
		}
		return nil
	})
	return end
}

// The API server refuses an eviction again and again: another pod goes in its place, and where there is none it is asked
// after pauses that double. That is visible, and ends with the refusals.
func TestScenario11EvictionsRefused(t *testing.T) {
	s := suite.StartEvicting(t)
	a := askedFromNow(s)
	s.Nodes(1, "4", "8Gi")
	q := s.Queue("q", "4", "8Gi")
	high := suite.Priority(highClass(s))
	s.Pod("other", suite.Opted, suite.Queue(q), cpu("2"))
	s.Pod("stays", suite.Opted, suite.Queue(q), cpu("2"), cheap)
	s.WaitRunning("other", "stays")
	allow := forbidEvictions(s, "stays")
	leader := s.Headgate.Leader()
	rejected := func() float64 {
		n, err := leader.Metric(s.Ctx, "headgate_requests_total", `request="evict"`, `outcome="rejected"`)
		if err != nil {
			return 0 // there is none before the first
		}
		return n
	}
	before := rejected()

	s.Pod("high-0", suite.Opted, suite.Queue(q), cpu("2"), high)
	if e := waitEvent(s, "stays", "FailedEviction"); !strings.Contains(e.Message, "this pod stays") {
		t.Errorf("the event does not say why: %s", e.Message)
	}
	s.WaitRunning("high-0")
	s.WaitGone("other")
	waitEvent(s, "high-0", "EvictedInVain")
	s.Before("it waits for the quota of its victim", s.Gone("other"), s.Ungated("high-0"))

	s.Pod("high-1", suite.Opted, suite.Queue(q), cpu("2"), high)
	s.Eventually("the eviction is tried again", func() error {
		if _, refused := a.evictions("stays"); len(refused) < 3 {
			return fmt.Errorf("%v", refused)
		}
		return nil
	})
	s.WaitGated("high-1")
	allow()
	s.WaitRunning("high-1")
	granted, refused := a.evictions("stays")
	if len(granted) != 1 {
		t.Errorf("granted: %v", granted)
	}
	// One at first, then after a second, two more, four more.
	spent := refused[len(refused)-1].At.Sub(refused[0].At) + time.Second
	if most := 1 + int(math.Log2(1+spent.Seconds())); len(refused) > most {
		t.Errorf("%d refusals in %v, want %d at most: %v", len(refused), spent, most, refused)
	}
	if n := rejected() - before; n != float64(len(refused)) && leader == s.Headgate.Leader() {
		t.Errorf("the metric counts %v refusals, not %d", n, len(refused))
	}
	if g, r := a.evictions("other"); len(g) != 1 || len(r) > 0 {
		t.Errorf("the other one: granted %v, refused %v", g, r)
	}
	s.WaitAllRunning("high-0", "high-1")
	s.WaitPublished()
}
