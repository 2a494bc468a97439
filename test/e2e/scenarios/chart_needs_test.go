package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"headgate/e2e/headgate"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// writeRefused is the start of names of pods that cannot be bound, of claims that get no node, and of volumes that are
// reserved for none.
const writeRefused = "refused-"

// prepare makes what the needs are made of: a node, a queue with room, one without, a gated pod, a
// StorageClass, and pods and claims with writes that the API server finds invalid.
func (c *chartRights) prepare() {
	c.Helper()
	var err error
	c.drain, err = c.Headgate.Hook(c.Ctx, "pre-delete")
	c.Must(err)
	c.Must(c.Headgate.ApplyHook(c.Ctx, "pre-delete"))
	c.Nodes(1, "64", "64Gi")
	c.Apply(quotaToNeed)
	c.queue = c.Queue("q", "32", "32Gi")
	c.full = c.Queue("full", "1m", "1Mi")
	makeLateClass(c.S)
	makeLocalClass(c.S, c.localClass())
	c.Pod("waits", suite.Opted, suite.Queue(c.full), suite.Request("1", "1Gi"))
	c.SchedulerSawAll()
	c.WaitGated("waits")

	admission := c.Cluster.Client.AdmissionregistrationV1()
	invalid, match := metav1.StatusReasonInvalid, admissionv1.Exact
	_, err = admission.ValidatingAdmissionPolicies().Create(c.Ctx, &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: c.Namespace},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{MatchPolicy: &match,
				ResourceRules: []admissionv1.NamedRuleWithOperations{
					refusedRule(admissionv1.Create, "pods/binding"),
					refusedRule(admissionv1.Update, "persistentvolumeclaims"),
					refusedRule(admissionv1.Update, "persistentvolumes")}},
			// Claims of others are left alone, so that the namespace can be deleted.
			Validations: []admissionv1.Validation{{Reason: &invalid,
				Expression: fmt.Sprintf("!request.name.startsWith(%q) || (request.operation == \"UPDATE\" && "+
					"request.userInfo.username != %q)", writeRefused, account("scheduler"))}},
		}}, metav1.CreateOptions{})
	c.Must(err)
	_, err = admission.ValidatingAdmissionPolicyBindings().Create(c.Ctx, &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: c.Namespace},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: c.Namespace,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}, metav1.CreateOptions{})
	c.Must(err)
	c.Eventually("bindings are refused as invalid", func() error {
		binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: writeRefused + "none"},
			Target: corev1.ObjectReference{Kind: "Node", Name: "none"}}
		err := c.Cluster.Client.CoreV1().Pods(c.Namespace).Bind(c.Ctx, binding, metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) {
			return fmt.Errorf("not yet: %w", err)
		}
		return nil
	})
}

func refusedRule(operation admissionv1.OperationType, resource string) admissionv1.NamedRuleWithOperations {
	return admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{operation},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{resource}}}}
}

// enter begins a stage: with daemons that lead, where the one before left some that had not all rights
// when they started.
func (c *chartRights) enter(stage int) {
	c.Helper()
	switch stage {
	case schedulerStarts + 1:
		c.restart("scheduler")
	case webhookStarts + 1:
		// With the wait until it is ready, and into the front's rotation.
		c.Headgate.Webhooks[0].Kill()
		c.deleteLease("webhook")
		c.Must(c.Headgate.Webhooks[0].Start(c.Ctx))
	default:
		return
	}
	c.Must(c.Headgate.WaitReady(c.Ctx))
	c.Eventually("both lead", func() error {
		if c.Headgate.Leader() == nil {
			return errors.New("no scheduler does")
		}
		_, err := c.Cluster.Client.CoordinationV1().Leases(headgate.Namespace).Get(c.Ctx,
			headgate.Release+"-webhook", metav1.GetOptions{})
		return err
	})
}

func (c *chartRights) deleteLease(account string) {
	c.Helper()
	err := c.Cluster.Client.CoordinationV1().Leases(headgate.Namespace).Delete(c.Ctx,
		headgate.Release+"-"+account, metav1.DeleteOptions{})
	if !apierrors.IsNotFound(err) {
		c.Must(err)
	}
}

// next is a name that was not used yet.
func (c *chartRights) next(prefix string) string {
	c.serial++
	return fmt.Sprintf("%s%d", prefix, c.serial)
}

// work is a pod without owner, which needs everything from its quota to its binding.
func (c *chartRights) work(prefix string, more ...suite.PodOption) {
	c.Helper()
	c.Pod(c.next(prefix), append([]suite.PodOption{suite.Opted, suite.Queue(c.queue),
		suite.Request("1m", "1Mi")}, more...)...)
}

// workWithClaim is work with a claim that needs a node before it is bound.
func (c *chartRights) workWithClaim(prefix string) {
	c.Helper()
	claim := c.next(prefix)
	makeLateClaim(c.S, claim)
	c.work("with-claim-", withClaim(claim))
}

func (c *chartRights) localClass() string { return c.Namespace + "-local" }

// workWithVolume is work with a claim that gets a volume that is there.
func (c *chartRights) workWithVolume(prefix string) {
	c.Helper()
	name := c.next(prefix)
	makeVolume(c.S, c.localClass(), name+"."+c.Namespace, "1Gi", "")
	makeClaim(c.S, c.localClass(), name, "1Gi")
	c.work("with-volume-", withClaim(name))
}

// need returns what makes the account ask for the right; nil: not known.
func (c *chartRights) need(r right) func() {
	switch {
	case r.account == "drain":
		return func() {
			c.restoreRegistrations()
			c.Pod(c.next("gated-"), suite.Opted, suite.Queue(c.full), suite.Request("1", "1Gi"),
				suite.Gate(oracle.GateKey))
			if out, err := c.Headgate.RunPod(c.Ctx, c.drain); err == nil {
				c.Errorf("without %s the drain says that all went well:\n%s", r, out)
			}
		}
	case stage(r) == schedulerStarts, stage(r) == webhookStarts:
		return func() { c.restart(r.account) }
	case r.what == "leases" && r.verb == "create":
		return func() { c.deleteLease(r.account) }
	case r.what == "leases" && r.verb == "update":
		return func() {} // it is renewed all the time
	case r.account == "scheduler":
		return c.schedulerNeeds(r)
	case r.account == "webhook":
		return c.webhookNeeds(r)
	}
	return nil
}

// restoreRegistrations makes the registrations again that a drain has deleted: it deletes what it may,
// whatever else is refused.
func (c *chartRights) restoreRegistrations() {
	c.Helper()
	admission := c.Cluster.Client.AdmissionregistrationV1()
	if c.registrations == nil {
		ours := metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=" + headgate.Release}
		mutating, err := admission.MutatingWebhookConfigurations().List(c.Ctx, ours)
		c.Must(err)
		validating, err := admission.ValidatingWebhookConfigurations().List(c.Ctx, ours)
		c.Must(err)
		// That of Queues was in the way before; that it is there is enough for the drain.
		const queues = headgate.Release + "-queues-validate"
		if !slices.ContainsFunc(validating.Items, func(v admissionv1.ValidatingWebhookConfiguration) bool { return v.Name == queues }) {
			v := validating.Items[0].DeepCopy()
			v.Name, v.Webhooks = queues, nil
			validating.Items = append(validating.Items, *v)
		}
		for _, m := range mutating.Items {
			m.ResourceVersion, m.UID = "", ""
			c.registrations = append(c.registrations, func() error {
				_, err := admission.MutatingWebhookConfigurations().Create(c.Ctx, &m, metav1.CreateOptions{})
				return err
			})
		}
		for _, v := range validating.Items {
			v.ResourceVersion, v.UID = "", ""
			c.registrations = append(c.registrations, func() error {
				_, err := admission.ValidatingWebhookConfigurations().Create(c.Ctx, &v, metav1.CreateOptions{})
				return err
			})
		}
	}
	for _, create := range c.registrations {
		if err := create(); !apierrors.IsAlreadyExists(err) {
			c.Must(err)
		}
	}
}

// restart lets the daemon lead at once, which the scheduler lists nothing before, and does not wait
// for anything: what is missing may keep it from being ready.
func (c *chartRights) restart(account string) {
	c.Helper()
	d := c.Headgate.Schedulers[0]
	if account == "webhook" {
		d = c.Headgate.Webhooks[0]
	}
	d.Kill()
	c.deleteLease(account)
	c.Must(d.Process.Start())
}

func (c *chartRights) schedulerNeeds(r right) func() {
	switch r.verb + " " + r.what {
	case "create podgroups", "get podgroups", "patch podgroups": // of the pods of an owner
		return func() { c.makeOwner("job") }
	case "patch pods", "create pods/binding", "create events":
		return func() { c.work("work-") }
	case "patch pods/status":
		return func() { c.work("fits-nowhere-", suite.Select("e2e.headgate.io/none", "none")) }
	case "patch events": // the PodGroup is refused again and again
		return func() { c.makeOwner("job", suite.Queue(c.next("unknown-"))) }
	case "get pods": // what became of a write that was refused as invalid
		return func() { c.work(writeRefused) }
	case "patch persistentvolumeclaims": // the node that its volume is to be made for
		return func() { c.workWithClaim("data-") }
	case "get persistentvolumeclaims": // as for pods
		return func() { c.workWithClaim(writeRefused) }
	case "patch persistentvolumes": // the claim for which one is reserved
		return func() { c.workWithVolume("local-") }
	case "get persistentvolumes":
		return func() { c.workWithVolume(writeRefused) }
	case "patch queues/status":
		return func() { c.makeQueue(c.next("new-"), "root") }
	case "patch queues": // a child learns that its parent was closed
		return func() {
			parent := c.next("parent-")
			c.makeQueue(parent, "root")
			c.waitState(parent, "Open")
			c.makeQueue(c.next("child-"), parent)
			patch := []byte(`{"status":{"state":"Closed","allocated":{}}}`)
			_, err := c.queues().Patch(c.Ctx, parent, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
			c.Must(err)
		}
	case "create queues":
		return c.deleteDefaultQueue
	case "get replicasets", "get statefulsets", "get daemonsets", "get jobs":
		return func() { c.makeOwner(strings.TrimSuffix(r.what, "s")) }
	}
	return c.quotaNeeds(r)
}

func (c *chartRights) queues() dynamic.ResourceInterface {
	return c.Cluster.Dynamic.Resource(headgate.Queues)
}

// makeQueue waits for nothing, unlike Queue.
func (c *chartRights) makeQueue(name, parent string) {
	c.Helper()
	_, err := c.queues().Create(c.Ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
		"metadata": map[string]any{"name": name},
		"spec":     map[string]any{"weight": int64(1), "parent": parent},
	}}, metav1.CreateOptions{})
	c.Must(err)
}

func (c *chartRights) waitState(queue, want string) {
	c.Helper()
	c.Eventually(fmt.Sprintf("queue %s is %s", queue, want), func() error {
		q, err := c.queues().Get(c.Ctx, queue, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if state, _, _ := unstructured.NestedString(q.Object, "status", "state"); state != want {
			return fmt.Errorf("state %q", state)
		}
		return nil
	})
}

// deleteDefaultQueue: our webhook would refuse it.
func (c *chartRights) deleteDefaultQueue() {
	c.Helper()
	c.Must(c.Cluster.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(c.Ctx,
		headgate.Release+"-queues-validate", metav1.DeleteOptions{}))
	c.Eventually("the default queue is deleted", func() error {
		return c.queues().Delete(c.Ctx, "default", metav1.DeleteOptions{})
	})
}

// makeOwner makes an owner with pods that opt in.
func (c *chartRights) makeOwner(kind string, more ...suite.PodOption) {
	c.Helper()
	pod := c.Spec(c.next(kind+"-"), append([]suite.PodOption{suite.Opted, suite.Queue(c.queue),
		suite.Request("1m", "1Mi")}, more...)...)
	template := corev1.PodTemplateSpec{Spec: pod.Spec, ObjectMeta: metav1.ObjectMeta{
		Annotations: pod.Annotations, Labels: map[string]string{"app": pod.Name}}}
	meta := metav1.ObjectMeta{Name: pod.Name}
	selector := &metav1.LabelSelector{MatchLabels: template.Labels}
	apps, one := c.Cluster.Client.AppsV1(), int32(1)
	var err error
	if kind == "job" {
		_, err = c.Cluster.Client.BatchV1().Jobs(c.Namespace).Create(c.Ctx, &batchv1.Job{ObjectMeta: meta,
			Spec: batchv1.JobSpec{Template: template}}, metav1.CreateOptions{})
		c.Must(err)
		return
	}
	template.Spec.RestartPolicy = corev1.RestartPolicyAlways
	switch kind {
	case "replicaset":
		_, err = apps.ReplicaSets(c.Namespace).Create(c.Ctx, &appsv1.ReplicaSet{ObjectMeta: meta,
			Spec: appsv1.ReplicaSetSpec{Replicas: &one, Selector: selector, Template: template}}, metav1.CreateOptions{})
	case "statefulset":
		_, err = apps.StatefulSets(c.Namespace).Create(c.Ctx, &appsv1.StatefulSet{ObjectMeta: meta,
			Spec: appsv1.StatefulSetSpec{Replicas: &one, Selector: selector, Template: template}}, metav1.CreateOptions{})
	default:
		_, err = apps.DaemonSets(c.Namespace).Create(c.Ctx, &appsv1.DaemonSet{ObjectMeta: meta,
			Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template}}, metav1.CreateOptions{})
	}
	c.Must(err)
}

func (c *chartRights) webhookNeeds(r right) func() {
	const secret = headgate.Release + "-webhook-tls"
	core := c.Cluster.Client.CoreV1().Secrets(headgate.Namespace)
	admission := c.Cluster.Client.AdmissionregistrationV1()
	patch := func(patch string) ([]byte, types.PatchType) { return []byte(patch), types.JSONPatchType }
	switch r.verb + " " + r.what {
	case "get queues": // a PodGroup of a queue that the webhook does not know
		return func() {
			group := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
				"metadata": map[string]any{"name": c.next("group-")},
				"spec":     map[string]any{"queue": c.next("unknown-"), "minMember": int64(1)},
			}}
			c.Eventually("a PodGroup is denied", func() error {
				_, err := c.Cluster.Dynamic.Resource(headgate.PodGroups).Namespace(c.Namespace).Create(c.Ctx,
					group, metav1.CreateOptions{})
				if err == nil || !strings.Contains(err.Error(), "does not exist") {
					return fmt.Errorf("instead: %w", err)
				}
				return nil
			})
		}
	case "create secrets":
		return func() { c.Must(core.Delete(c.Ctx, secret, metav1.DeleteOptions{})) }
	case "patch secrets": // a certificate that is none is made anew
		return func() {
			body, kind := patch(`[{"op":"replace","path":"/data/tls.crt","value":""}]`)
			c.Eventually("the Secret is there", func() error {
				_, err := core.Patch(c.Ctx, secret, kind, body, metav1.PatchOptions{})
				return err
			})
		}
	case "patch mutatingwebhookconfigurations":
		return func() {
			body, kind := patch(`[{"op":"remove","path":"/webhooks/0/clientConfig/caBundle"}]`)
			_, err := admission.MutatingWebhookConfigurations().Patch(c.Ctx, r.name, kind, body, metav1.PatchOptions{})
			c.Must(err)
		}
	case "patch validatingwebhookconfigurations":
		return func() {
			body, kind := patch(`[{"op":"remove","path":"/webhooks/0/clientConfig/caBundle"}]`)
			_, err := admission.ValidatingWebhookConfigurations().Patch(c.Ctx, r.name, kind, body, metav1.PatchOptions{})
			c.Must(err)
		}
	}
	return nil
}
