package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// podTenant is a user that may do everything with pods in the scenario's namespace, and nothing else.
func podTenant(s *suite.S, name string) typedcorev1.PodInterface {
	s.Helper()
	rbac := s.Cluster.Client.RbacV1()
	_, err := rbac.Roles(s.Namespace).Create(s.Ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"*"}}},
	}, metav1.CreateOptions{})
	s.Must(err)
	_, err = rbac.RoleBindings(s.Namespace).Create(s.Ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}, metav1.CreateOptions{})
	s.Must(err)
	config := rest.CopyConfig(s.Cluster.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: name}
	client, err := kubernetes.NewForConfig(config)
	s.Must(err)
	pods := client.CoreV1().Pods(s.Namespace)
	s.Eventually("the tenant's role is known", func() error {
		_, err := pods.List(s.Ctx, metav1.ListOptions{})
		return err
	})
	if _, err := client.CoreV1().Namespaces().List(s.Ctx, metav1.ListOptions{}); err == nil {
		s.Fatal("the tenant may list namespaces")
	}
	return pods
}

// restartSchedulers ends all of them before the first starts again: the next leader starts without any state.
func restartSchedulers(s *suite.S) {
	s.Helper()
	for _, d := range s.Headgate.Schedulers {
		s.Must(d.Terminate(suite.Timeout))
	}
	for _, d := range s.Headgate.Schedulers {
		s.Must(d.Start(s.Ctx))
	}
	leader(s)
}

// manyAnnotations is a merge patch with n of them.
func manyAnnotations(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"metadata":{"annotations":{`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"k%d":""`, i)
	}
	b.WriteString(`}}}`)
	return []byte(b.String())
}

// A tenant makes pods that run as odd as the API server takes them, and waits for the scheduler to
// start again: they hold their quota, the others wait. The tools work on, and a drain takes off
// every gate.
func TestTenantUndecodablePod(t *testing.T) {
	odd := []struct {
		name string
		kind types.PatchType
		body []byte
	}{
		{"nul", types.JSONPatchType, []byte(`[{"op":"add","path":"/metadata/annotations/x","value":"a\u0000b"}]`)},
		{"many", types.MergePatchType, manyAnnotations(10001)},
	}
	s := suite.StartOwn(t, suite.Options{})
	s.Nodes(1, "8", "16Gi")
	eve := podTenant(s, "eve")
	create := func(name, queue string, options ...suite.PodOption) *corev1.Pod {
		options = append([]suite.PodOption{suite.Opted, suite.Queue(queue), suite.Request("1", "1Gi")}, options...)
		p, err := eve.Create(s.Ctx, s.Spec(name, options...), metav1.CreateOptions{})
		s.Must(err)
		return p
	}

	var queues, waiting []string
	for _, o := range odd {
		q := s.Queue(o.name, "1", "8Gi")
		queues = append(queues, q)
		create(o.name+"-runs", q)
		s.WaitRunning(o.name + "-runs")
		create(o.name+"-waits", q)
		waiting = append(waiting, o.name+"-waits")
		_, err := eve.Patch(s.Ctx, o.name+"-runs", o.kind, o.body, metav1.PatchOptions{})
		s.Must(err)
	}
	// Odd from the beginning: gated like any other.
	gated := create("odd-waits", queues[0], suite.Annotation("x", "a\x00b"))
	if gates := gatesOf(gated); !slices.Equal(gates, []string{oracle.GateKey}) {
		t.Fatalf("gates of an odd pod as it was created: %v", gates)
	}
	waiting = append(waiting, gated.Name)

	for range 2 {
		restartSchedulers(s)
		s.SchedulerSawAll()
		s.SchedulerSawAll()
		s.WaitGated(waiting...)
	}
	wants(s, "headgatectl queues", slices.Sorted(slices.Values(queues)), func() (string, error) { return s.Headgate.Ctl(s.Ctx, "queues") })
	wants(s, "headgatectl explain", []string{queues[0]}, func() (string, error) {
		return s.Headgate.Ctl(s.Ctx, "explain", "pod", s.Namespace+"/"+waiting[0])
	})

	// The quota is free when they are gone, and an odd pod gets its turn.
	s.Must(eve.Delete(s.Ctx, "nul-waits", metav1.DeleteOptions{}))
	s.Must(eve.Delete(s.Ctx, "nul-runs", metav1.DeleteOptions{}))
	s.WaitRunning("odd-waits")
	create("last-waits", queues[0], suite.Annotation("x", "\x00"))
	s.SchedulerSawAll()
	s.WaitGated("many-waits", "last-waits")

	out, err := s.Headgate.Ctl(s.Ctx, "drain", "--yes")
	if err != nil || !strings.Contains(out, "removed the gate from 2 pods") {
		t.Fatalf("headgatectl drain --yes: %v\n%s", err, out)
	}
	s.Eventually("no pod has a gate", func() error {
		list, err := eve.List(s.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, p := range list.Items {
			if len(p.Spec.SchedulingGates) > 0 {
				return errors.New(p.Name)
			}
		}
		return nil
	})
}
