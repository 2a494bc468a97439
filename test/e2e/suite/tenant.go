package suite

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"headgate/e2e/headgate"
)

// Tenant is the client of a user with all rights on pods, and on those sub-resources of theirs, in the scenario's
// namespace, and no others.
func (s *S) Tenant(name string, subResources ...string) kubernetes.Interface {
	s.Helper()
	resources := []string{"pods"}
	for _, sub := range subResources {
		resources = append(resources, "pods/"+sub)
	}
	return s.tenant(name, rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{""}, Resources: resources})
}

// JobTenant has all rights on Jobs as well.
func (s *S) JobTenant(name string) kubernetes.Interface {
	s.Helper()
	return s.tenant(name, rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{""}, Resources: []string{"pods"}},
		rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"batch"}, Resources: []string{"jobs"}})
}

// GroupTenant has all rights on PodGroups of Volcano as well.
func (s *S) GroupTenant(name string) kubernetes.Interface {
	s.Helper()
	return s.tenant(name, rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{""}, Resources: []string{"pods"}},
		rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{headgate.PodGroups.Group}, Resources: []string{"podgroups"}})
}

func (s *S) tenant(name string, rules ...rbacv1.PolicyRule) kubernetes.Interface {
	s.Helper()
	rbac := s.Cluster.Client.RbacV1()
	s.Must(s.send(func() error {
		_, err := rbac.Roles(s.Namespace).Create(s.Ctx, &rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Rules:      rules,
		}, metav1.CreateOptions{})
		return err
	}))
	s.Must(s.send(func() error {
		_, err := rbac.RoleBindings(s.Namespace).Create(s.Ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
			RoleRef:    rbacv1.RoleRef{Kind: "Role", APIGroup: rbacv1.GroupName, Name: name},
		}, metav1.CreateOptions{})
		return err
	}))
	config := rest.CopyConfig(s.Cluster.Config)
	config.Impersonate.UserName = name
	client, err := kubernetes.NewForConfig(config)
	s.Must(err)
	// The API server learns of roles by a watch of its own.
	s.Eventually("user "+name+" may list pods", func() error {
		_, err := client.CoreV1().Pods(s.Namespace).List(s.Ctx, metav1.ListOptions{})
		return err
	})
	return client
}

// Extended requests pieces of an extended resource, besides what is requested already.
func Extended(name string, amount int64) PodOption {
	return func(p *corev1.Pod) {
		r := &p.Spec.Containers[0].Resources
		for _, list := range []*corev1.ResourceList{&r.Requests, &r.Limits} {
			if *list == nil {
				*list = corev1.ResourceList{}
			}
			(*list)[corev1.ResourceName(name)] = *resource.NewQuantity(amount, resource.DecimalSI)
		}
	}
}

// Capability limits a queue in one more resource.
func Capability(name, amount string) QueueOption {
	return func(q *unstructured.Unstructured) { set(q, amount, "spec", "capability", name) }
}
