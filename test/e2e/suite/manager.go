package suite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"headgate/e2e/cluster"
	"headgate/e2e/fleet"
	"headgate/e2e/headgate"
)

// managerRights are all that it needs on the manager's cluster.
const managerRights = `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: headgate-multikueue, namespace: kueue-system}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: headgate-multikueue-manager}
rules:
- {apiGroups: [kueue.x-k8s.io], resources: [workloads], verbs: [list, watch, patch]}
- {apiGroups: [kueue.x-k8s.io], resources: [admissionchecks, multikueueconfigs, multikueueclusters], verbs: [list, watch]}
- apiGroups: [kueue.x-k8s.io]
  resources: [workloads/status, admissionchecks/status, multikueueclusters/status]
  verbs: [patch]
- {apiGroups: [batch], resources: [jobs], verbs: [list, watch]}
- {apiGroups: [batch], resources: [jobs/status], verbs: [patch]}
- {apiGroups: [""], resources: [namespaces], resourceNames: [kube-system], verbs: [list, watch]}
- {apiGroups: [""], resources: [events], verbs: [create, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: headgate-multikueue, namespace: kueue-system}
rules:
- {apiGroups: [""], resources: [secrets], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: headgate-multikueue-manager}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: headgate-multikueue-manager}
subjects: [{kind: ServiceAccount, name: headgate-multikueue, namespace: kueue-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: headgate-multikueue, namespace: kueue-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: headgate-multikueue}
subjects: [{kind: ServiceAccount, name: headgate-multikueue, namespace: kueue-system}]
`

const managerConfig = `
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
featureGates: {MultiKueueOrchestratedPreemption: %t}
multiKueue: {%s}
`

// Manage starts headgate-scheduler --controllers=multikueue on the manager until the scenario ends, in place of Kueue's
// manager of MultiKueue: Kueue goes on without its feature gate MultiKueue. It may be killed and started again. The
// settings are more ones of multiKueue ("workerLostTimeout: 5s").
func (f *F) Manage(orchestrates bool, settings ...string) *cluster.Process {
	f.Helper()
	manager := f.Fleet.Manager
	f.Must(manager.RestartKueue(f.Ctx, map[string]bool{orchestration: false, "MultiKueue": false}))
	f.Cleanup(func() {
		f.Must(manager.RestartKueue(f.Ctx, map[string]bool{orchestration: false}))
		for _, m := range f.Fleet.Workers {
			f.Must(f.Fleet.WaitConnected(f.Ctx, m))
		}
	})
	return f.manage(fmt.Sprintf(managerConfig, orchestrates, strings.Join(ofManager(settings), ", ")))
}

func ofManager(settings []string) []string {
	return append([]string{"origin: " + fleet.Origin, "gcInterval: 5s"}, settings...)
}

// ManageWithCore is Manage with Headgate as the core on the manager's cluster, too: Kueue does not run there.
func (f *F) ManageWithCore() *cluster.Process {
	f.Helper()
	f.Cleanup(func() {
		for _, m := range f.Fleet.Workers {
			f.Must(f.Fleet.WaitConnected(f.Ctx, m))
		}
	})
	f.Headgate(f.Fleet.Manager)
	return f.manage(fmt.Sprintf(managerConfig, false, strings.Join(ofManager(nil), ", ")))
}

// manage starts headgate-scheduler --controllers=multikueue with this Configuration.
func (f *F) manage(config string) *cluster.Process {
	f.Helper()
	manager := f.Fleet.Manager
	_, err := manager.Kubectl(f.Ctx, managerRights, "apply", "--server-side", "-f", "-")
	f.Must(err)
	kubeconfig := f.accountKubeconfig("multikueue")
	conf := filepath.Join(manager.Dir, f.Namespace+".yaml")
	f.Must(os.WriteFile(conf, []byte(config), 0o644))
	f.orchestrator = f.daemon(manager, f.Namespace+"-multikueue", kubeconfig, "--controllers=multikueue",
		"--quota-conf="+conf, "--multikueue-namespace="+fleet.KueueNamespace)
	f.Cleanup(func() { f.terminate(f.orchestrator) })
	f.managedBy = true
	return f.orchestrator
}

// managedByMultiKueue is what Kueue's webhook writes into Jobs while its feature gate MultiKueue is on.
func managedByMultiKueue(j *batchv1.Job) {
	by := "kueue.x-k8s.io/multikueue"
	j.Spec.ManagedBy = &by
}

// FinishPods lets the pods of a Job succeed.
func (f *F) FinishPods(m *fleet.Member, job string) {
	f.Helper()
	f.Eventually("the pods of Job "+job+" have succeeded on "+m.Name, func() error {
		pods, err := m.Client.CoreV1().Pods(f.Namespace).List(f.Ctx,
			metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=" + job})
		if err == nil && len(pods.Items) == 0 {
			err = errors.New("there are none")
		}
		for i := 0; err == nil && i < len(pods.Items); i++ {
			pods.Items[i].Status.Phase = corev1.PodSucceeded
			_, err = m.Client.CoreV1().Pods(f.Namespace).UpdateStatus(f.Ctx, &pods.Items[i], metav1.UpdateOptions{})
		}
		return err
	})
}

// WaitComplete waits until a Job of the manager has completed, its Workload has finished, and nothing of it is left on
// any worker.
func (f *F) WaitComplete(job, workload string) {
	f.Helper()
	f.Eventually("Job "+job+" is complete", func() error {
		j, err := f.Fleet.Manager.Client.BatchV1().Jobs(f.Namespace).Get(f.Ctx, job, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range j.Status.Conditions {
			if c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("%v", j.Status)
	})
	f.WaitFinished(workload)
	f.WaitNothingLeft(job, workload)
}

// WaitNothingLeft waits until no worker has the Job or its replica.
func (f *F) WaitNothingLeft(job, workload string) {
	f.Helper()
	for _, m := range f.Fleet.Workers {
		f.Eventually("nothing of "+job+" is left on "+m.Name, func() error {
			list, err := m.Client.BatchV1().Jobs(f.Namespace).List(f.Ctx, metav1.ListOptions{
				FieldSelector: "metadata.name=" + job})
			if err == nil && len(list.Items) > 0 {
				err = errors.New("the Job")
			}
			if err == nil && f.Replica(m, workload) != nil {
				err = errors.New("the replica")
			}
			return err
		})
	}
}

// DeleteWorkload deletes a Workload on the manager, as the garbage collector does that these clusters do without, and
// waits until it is gone: the core there takes its finalizer off. Who comes after this core does not look at it again.
func (f *F) DeleteWorkload(name string) {
	f.Helper()
	workloads := f.Fleet.Manager.Dynamic.Resource(headgate.Workloads).Namespace(f.Namespace)
	f.Must(workloads.Delete(f.Ctx, name, metav1.DeleteOptions{}))
	f.Eventually("Workload "+name+" is gone on the manager", func() error {
		_, err := f.local(name)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil {
			err = errors.New("it is there")
		}
		return err
	})
}
