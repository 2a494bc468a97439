package suite

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"headgate/e2e/cluster"
	"headgate/e2e/fleet"
)

// podRights of the account on each worker, and of the manager's on its own cluster, besides those for Jobs.
const podRights = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: headgate-multikueue-pods}
rules: [%s]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: headgate-multikueue-pods}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: headgate-multikueue-pods}
subjects: [{kind: ServiceAccount, name: %s, namespace: kueue-system}]
`

const (
	podRulesOfWorker  = `{apiGroups: [""], resources: [pods], verbs: [get, list, watch, create, patch, delete]}`
	podRulesOfManager = `{apiGroups: [""], resources: [pods], verbs: [list, watch]},
  {apiGroups: [""], resources: [pods/status], verbs: [patch]}`
)

// ManagePods starts Headgate on all members in place of Kueue, as their core and as the manager of MultiKueue, which
// carries pods as well.
func (f *F) ManagePods() *cluster.Process {
	f.Helper()
	f.Cleanup(func() {
		for _, m := range f.Fleet.Workers {
			f.Must(f.Fleet.WaitConnected(f.Ctx, m))
		}
	})
	f.HeadgateForPods()
	// The manager has no controllers, and the API server wants the account of a pod.
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	_, err := f.Fleet.Manager.Client.CoreV1().ServiceAccounts(f.Namespace).Create(f.Ctx, account, metav1.CreateOptions{})
	f.Must(err)
	for _, m := range f.Fleet.Members() {
		rules, account := podRulesOfManager, "headgate-multikueue"
		if m != f.Fleet.Manager {
			rules, account = podRulesOfWorker, m.Account().Name
		}
		_, err = m.Kubectl(f.Ctx, fmt.Sprintf(podRights, rules, account), "apply", "--server-side", "-f", "-")
		f.Must(err)
	}
	return f.manage(fmt.Sprintf(managerConfig, false, strings.Join(ofManager(nil), ", ")) + withPods)
}

// SubmitPods creates a group of pods of one CPU on the manager, as Headgate's webhook, which does not run here, makes
// them. The Workload has the name of the group.
func (f *F) SubmitPods(group string, pods int) {
	f.Helper()
	for i := range pods {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", group, i), Namespace: f.Namespace,
				Labels: map[string]string{"kueue.x-k8s.io/queue-name": "main", "kueue.x-k8s.io/managed": "true",
					"kueue.x-k8s.io/pod-group-name": group},
				Annotations: map[string]string{"kueue.x-k8s.io/pod-group-total-count": fmt.Sprint(pods),
					"kueue.x-k8s.io/role-hash": "role"},
				Finalizers: []string{"kueue.x-k8s.io/managed"}},
			Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
				SchedulingGates: []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}},
				Containers: []corev1.Container{{Name: "c", Image: "image", Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}}}}
		_, err := f.Fleet.Manager.Client.CoreV1().Pods(f.Namespace).Create(f.Ctx, pod, metav1.CreateOptions{})
		f.Must(err)
	}
}

// podsOf the group on a member.
func (f *F) podsOf(m *fleet.Member, group string) ([]corev1.Pod, error) {
	list, err := m.Client.CoreV1().Pods(f.Namespace).List(f.Ctx,
		metav1.ListOptions{LabelSelector: "kueue.x-k8s.io/pod-group-name=" + group})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// WaitPodsLetGo waits until one worker has let go all pods of the group, and returns this one. No other one has any,
// and on the manager they keep their gate.
func (f *F) WaitPodsLetGo(group string, pods int) *fleet.Member {
	f.Helper()
	var on *fleet.Member
	f.Eventually("the pods of "+group+" are let go on one worker", func() error {
		on = nil
		for _, m := range f.Fleet.Workers {
			list, err := f.podsOf(m, group)
			if err != nil {
				return err
			}
			free := 0
			for i := range list {
				if len(list[i].Spec.SchedulingGates) == 0 {
					free++
				}
			}
			if free == pods && on == nil {
				on = m
			} else if len(list) > 0 {
				return fmt.Errorf("%s has %d, of which %d are let go", m.Name, len(list), free)
			}
		}
		if on == nil {
			return errors.New("there are none")
		}
		return nil
	})
	f.checkHeld(group)
	return on
}

func (f *F) checkHeld(group string) {
	f.Helper()
	list, err := f.podsOf(f.Fleet.Manager, group)
	f.Must(err)
	for i := range list {
		if len(list[i].Spec.SchedulingGates) != 1 {
			f.Errorf("pod %s was let go on the manager", list[i].Name)
		}
	}
}

// SetPods gives the pods of the group this phase on a worker.
func (f *F) SetPods(m *fleet.Member, group string, phase corev1.PodPhase) {
	f.Helper()
	list, err := f.podsOf(m, group)
	f.Must(err)
	for i := range list {
		list[i].Status.Phase = phase
		list[i].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}
		list[i].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", Image: "image", State: corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}}
		_, err := m.Client.CoreV1().Pods(f.Namespace).UpdateStatus(f.Ctx, &list[i], metav1.UpdateOptions{})
		f.Must(err)
	}
}

// WaitPods waits until as many pods of the group have this phase on the manager.
func (f *F) WaitPods(group string, phase corev1.PodPhase, pods int) {
	f.Helper()
	f.Eventually(fmt.Sprintf("%d pods of %s are %s", pods, group, phase), func() error {
		list, err := f.podsOf(f.Fleet.Manager, group)
		if err != nil {
			return err
		}
		n := 0
		for i := range list {
			if list[i].Status.Phase == phase {
				n++
			}
		}
		if n != pods {
			return fmt.Errorf("%d", n)
		}
		return nil
	})
}

// WaitNoPodsLeft waits until no worker has a pod of the group or its replica.
func (f *F) WaitNoPodsLeft(group string) {
	f.Helper()
	for _, m := range f.Fleet.Workers {
		f.Eventually("nothing of "+group+" is left on "+m.Name, func() error {
			list, err := f.podsOf(m, group)
			if err == nil && len(list) > 0 {
				err = fmt.Errorf("%d pods", len(list))
			}
			if err == nil && f.Replica(m, group) != nil {
				err = errors.New("the replica")
			}
			return err
		})
	}
}

// WaitFinished waits until the Workload of the manager has finished.
func (f *F) WaitFinished(workload string) {
	f.Helper()
	f.Eventually("Workload "+workload+" is finished", func() error {
		w, err := f.local(workload)
		if err == nil && !strings.HasPrefix(Condition(w, "Finished"), "True/") {
			err = errors.New(Condition(w, "Finished"))
		}
		return err
	})
}
