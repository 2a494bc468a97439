package scenarios

import (
	"fmt"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"headgate/e2e/headgate"
	"headgate/e2e/suite"
)

// asRole is the client of a user with this ClusterRole alone.
func asRole(s *suite.S, role string) kubernetes.Interface {
	s.Helper()
	name := s.Namespace + "-" + role
	bindings := s.Cluster.Client.RbacV1().ClusterRoleBindings()
	_, err := bindings.Create(s.Ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef:    rbacv1.RoleRef{Kind: "ClusterRole", APIGroup: rbacv1.GroupName, Name: role},
	}, metav1.CreateOptions{})
	s.Must(err)
	s.Cleanup(func() { _ = bindings.Delete(s.Ctx, name, metav1.DeleteOptions{}) })
	config := rest.CopyConfig(s.Cluster.Config)
	config.Impersonate.UserName = name
	client, err := kubernetes.NewForConfig(config)
	s.Must(err)
	return client
}

// People may by the chart's roles, and by Kubernetes' own, what they may by those of Kueue's release, and no more: the
// API server is asked with each role.
func TestChartUserRoles(t *testing.T) {
	const volcano, kueue = "scheduling.volcano.sh", "kueue.x-k8s.io"
	user, admin := headgate.Release+"-batch-user-role", headgate.Release+"-batch-admin-role"
	s := suite.StartQuota(t)
	as := map[string]kubernetes.Interface{}
	for _, role := range []string{"view", "edit", user, admin} {
		as[role] = asRole(s, role)
	}
	// Those that are allowed come first: then the roles are gathered, and the API server knows them.
	for _, c := range []struct {
		allowed                     bool
		role, verb, group, resource string
	}{
		{true, "view", "list", kueue, "localqueues"},
		{true, "view", "watch", kueue, "workloads"},
		{true, "view", "get", volcano, "podgroups"},
		{true, "view", "get", volcano, "queues"},
		{true, "edit", "list", kueue, "localqueues"},
		{true, "edit", "create", volcano, "podgroups"},
		{true, user, "get", kueue, "workloads"},
		{true, user, "get", kueue, "localqueues"},
		{true, user, "delete", volcano, "podgroups"},
		{true, user, "create", "batch", "jobs"},
		{true, admin, "create", kueue, "clusterqueues"},
		{true, admin, "update", kueue, "cohorts"},
		{true, admin, "delete", kueue, "resourceflavors"},
		{true, admin, "patch", kueue, "localqueues"},
		{true, admin, "patch", kueue, "workloads"},
		{true, admin, "create", volcano, "queues"},
		{true, admin, "patch", volcano, "queues/status"},
		{false, "view", "create", volcano, "podgroups"},
		{false, "view", "get", kueue, "clusterqueues"},
		{false, "edit", "create", kueue, "localqueues"},
		{false, "edit", "patch", kueue, "workloads"},
		{false, "edit", "create", volcano, "queues"},
		{false, "edit", "patch", volcano, "podgroups/status"},
		{false, user, "get", kueue, "clusterqueues"},
		{false, user, "create", kueue, "localqueues"},
		{false, user, "patch", kueue, "workloads"},
		{false, user, "create", "", "pods"},
		{false, admin, "patch", kueue, "workloads/status"},
		{false, admin, "patch", kueue, "clusterqueues/status"},
		{false, admin, "get", "", "secrets"},
	} {
		resource, sub, _ := strings.Cut(c.resource, "/")
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: s.Namespace, Verb: c.verb, Group: c.group,
				Resource: resource, Subresource: sub}}}
		s.Eventually(fmt.Sprintf("%s may %s %s: %t", c.role, c.verb, c.resource, c.allowed), func() error {
			answer, err := as[c.role].AuthorizationV1().SelfSubjectAccessReviews().Create(s.Ctx, review, metav1.CreateOptions{})
			if err == nil && answer.Status.Allowed != c.allowed {
				err = fmt.Errorf("the API server says %t: %s", answer.Status.Allowed, answer.Status.Reason)
			}
			return err
		})
	}
}
