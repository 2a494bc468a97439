package headgate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	authv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"headgate/e2e/cluster"
)

// An API server has stored what it was given before it acts upon it: it serves kinds, knows roles and
// calls webhooks a little later, on a busy machine much later. These wait for that.

// waitServed waits until the kinds of the chart's CRDs are.
func (h *Headgate) waitServed(ctx context.Context) error {
	var wanted []string
	for _, o := range h.objects {
		if o.GetKind() == "CustomResourceDefinition" {
			wanted = append(wanted, kinds(o)...)
		}
	}
	return h.WaitKinds(ctx, wanted...)
}

// WaitKinds waits until kinds ("GROUP/VERSION PLURAL") are served and discovered, which is later than
// that their CRDs are established.
func (h *Headgate) WaitKinds(ctx context.Context, wanted ...string) error {
	ctx, cancel := context.WithTimeout(ctx, ReadyTimeout)
	defer cancel()
	return cluster.Poll(ctx, "kinds are served", func(ctx context.Context) error {
		_, lists, err := h.c.Client.Discovery().ServerGroupsAndResources()
		if err != nil {
			return err
		}
		there := map[string]bool{}
		for _, list := range lists {
			for _, r := range list.APIResources {
				there[list.GroupVersion+" "+r.Name] = true
			}
		}
		for _, what := range wanted {
			if !there[what] {
				return fmt.Errorf("%s is not", what)
			}
		}
		return nil
	})
}

// kinds that a CRD serves: "GROUP/VERSION PLURAL".
func kinds(crd *unstructured.Unstructured) []string {
	var found []string
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		if version, ok := v.(map[string]any); ok && version["served"] == true {
			found = append(found, fmt.Sprintf("%s/%s %s", group, version["name"], plural))
		}
	}
	return found
}

// waitAllowed waits until the authorizer knows each rule of the chart's roles: a request that comes
// before is refused, which every scenario takes for a right that is missing.
func (h *Headgate) waitAllowed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ReadyTimeout)
	defer cancel()
	convert := runtime.DefaultUnstructuredConverter.FromUnstructured
	roles := map[string][]rbacv1.PolicyRule{}
	for _, o := range h.objects {
		if kind := o.GetKind(); kind == "ClusterRole" || kind == "Role" {
			var role rbacv1.Role
			if err := convert(o.Object, &role); err != nil {
				return err
			}
			roles[kind+"/"+role.Name] = role.Rules
		}
	}
	for _, o := range h.objects {
		if o.GetKind() != "ClusterRoleBinding" && o.GetKind() != "RoleBinding" {
			continue
		}
		var binding rbacv1.RoleBinding
		if err := convert(o.Object, &binding); err != nil {
			return err
		}
		for _, rule := range roles[binding.RoleRef.Kind+"/"+binding.RoleRef.Name] {
			for _, subject := range binding.Subjects {
				if err := h.waitRule(ctx, rule, subject, binding.Namespace); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// waitRule waits for the first of the rights that a rule gives; a role is known as a whole.
func (h *Headgate) waitRule(ctx context.Context, rule rbacv1.PolicyRule, who rbacv1.Subject, namespace string) error {
	if who.Kind != "ServiceAccount" || len(rule.Verbs)*len(rule.APIGroups)*len(rule.Resources) == 0 {
		return nil
	}
	what, sub, _ := strings.Cut(rule.Resources[0], "/")
	asked := &authv1.ResourceAttributes{Namespace: namespace, Verb: rule.Verbs[0], Group: rule.APIGroups[0],
		Resource: what, Subresource: sub, Name: slices.Concat(rule.ResourceNames, []string{""})[0]}
	review := &authv1.SubjectAccessReview{Spec: authv1.SubjectAccessReviewSpec{ResourceAttributes: asked,
		User: fmt.Sprintf("system:serviceaccount:%s:%s", who.Namespace, who.Name)}}
	return cluster.Poll(ctx, fmt.Sprintf("%s may %s %s", who.Name, asked.Verb, rule.Resources[0]),
		func(ctx context.Context) error {
			answer, err := h.c.Client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			if err == nil && !answer.Status.Allowed {
				err = errors.New("not yet")
			}
			return err
		})
}

// WaitRegistrations waits until the API server acts upon the registrations of webhooks as they are now.
// It learns of changes in their order, so one of each kind is made after them, for ConfigMaps with a
// label that is its own: when that one is called, at an address without a listener, all others are in force.
func (h *Headgate) WaitRegistrations(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ReadyTimeout)
	defer cancel()
	admission := h.c.Client.AdmissionregistrationV1()
	h.marks++
	mark := fmt.Sprintf("e2e-mark-%d", h.marks)
	hook := markWebhook(mark + "-mutating")
	mutating := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: mark},
		Webhooks: []admissionv1.MutatingWebhook{{Name: hook.Name, ClientConfig: hook.ClientConfig, Rules: hook.Rules,
			ObjectSelector: hook.ObjectSelector, SideEffects: hook.SideEffects, FailurePolicy: hook.FailurePolicy,
			AdmissionReviewVersions: hook.AdmissionReviewVersions}}}
	if _, err := admission.MutatingWebhookConfigurations().Create(ctx, mutating, metav1.CreateOptions{}); err != nil {
		return err
	}
	err := h.waitMark(ctx, mark+"-mutating")
	err = errors.Join(err, admission.MutatingWebhookConfigurations().Delete(ctx, mark, metav1.DeleteOptions{}))
	if err != nil {
		return err
	}
	validating := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: mark},
		Webhooks: []admissionv1.ValidatingWebhook{markWebhook(mark + "-validating")}}
	if _, err := admission.ValidatingWebhookConfigurations().Create(ctx, validating, metav1.CreateOptions{}); err != nil {
		return err
	}
	err = h.waitMark(ctx, mark+"-validating")
	return errors.Join(err, admission.ValidatingWebhookConfigurations().Delete(ctx, mark, metav1.DeleteOptions{}))
}

const (
	markLabel = "e2e.headgate.io/mark"
	markName  = "mark.e2e.headgate.io"
)

func markWebhook(label string) admissionv1.ValidatingWebhook {
	url, none, fail := "https://127.0.0.1:1/", admissionv1.SideEffectClassNone, admissionv1.Fail
	return admissionv1.ValidatingWebhook{
		Name:                    markName,
		ClientConfig:            admissionv1.WebhookClientConfig{URL: &url},
		ObjectSelector:          &metav1.LabelSelector{MatchLabels: map[string]string{markLabel: label}},
		SideEffects:             &none,
		FailurePolicy:           &fail,
		AdmissionReviewVersions: []string{"v1"},
		Rules: []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Create},
			Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}}}},
	}
}

func (h *Headgate) waitMark(ctx context.Context, label string) error {
	asked := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-mark-", Labels: map[string]string{markLabel: label}}}
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	return cluster.Poll(ctx, "the API server knows the registration "+label, func(ctx context.Context) error {
		_, err := h.c.Client.CoreV1().ConfigMaps(Namespace).Create(ctx, asked, dry)
		if err != nil && strings.Contains(err.Error(), markName) {
			return nil
		}
		return errors.Join(errors.New("it does not ask there"), err)
	})
}
