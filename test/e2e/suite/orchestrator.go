package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	authv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"headgate/e2e/cluster"
	"headgate/e2e/fleet"
)

// tokenAnnotation of the local Workload says which worker may preempt for it.
const tokenAnnotation = "headgate.io/preemption-token"

// orchestratorRights are all that it needs on the manager.
const orchestratorRights = `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: headgate-orchestrator, namespace: kueue-system}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: headgate-orchestrator}
rules:
- apiGroups: [kueue.x-k8s.io]
  resources: [workloads, admissionchecks, multikueueconfigs, multikueueclusters]
  verbs: [get, list, watch]
- {apiGroups: [kueue.x-k8s.io], resources: [workloads], verbs: [patch]}
- {apiGroups: ["", events.k8s.io], resources: [events], verbs: [create, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: headgate-orchestrator, namespace: kueue-system}
rules:
- {apiGroups: [""], resources: [secrets], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: headgate-orchestrator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: headgate-orchestrator}
subjects: [{kind: ServiceAccount, name: headgate-orchestrator, namespace: kueue-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: headgate-orchestrator, namespace: kueue-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: headgate-orchestrator}
subjects: [{kind: ServiceAccount, name: headgate-orchestrator, namespace: kueue-system}]
`

const orchestratorConfig = `
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
multiKueue:
  origin: %s
  orchestratedPreemption: {%s}
`

// Orchestrate gives replicas their gates, and starts headgate-scheduler --controllers=orchestrator on the manager with
// these settings of orchestratedPreemption ("order: Cost") until the scenario ends. It may be killed and started again.
func (f *F) Orchestrate(settings string) *cluster.Process {
	f.Helper()
	f.GateReplicas()
	manager := f.Fleet.Manager
	_, err := manager.Kubectl(f.Ctx, orchestratorRights, "apply", "--server-side", "-f", "-")
	f.Must(err)
	kubeconfig := f.accountKubeconfig("orchestrator")
	conf := filepath.Join(manager.Dir, f.Namespace+".yaml")
	f.Must(os.WriteFile(conf, fmt.Appendf(nil, orchestratorConfig, fleet.Origin, settings), 0o644))
	f.orchestrator = f.daemon(manager, f.Namespace+"-orchestrator", kubeconfig, "--controllers=orchestrator",
		"--quota-conf="+conf, "--multikueue-namespace="+fleet.KueueNamespace)
	f.Cleanup(func() { f.terminate(f.orchestrator) })
	return f.orchestrator
}

// accountKubeconfig is the kubeconfig on the manager of the ServiceAccount headgate-NAME.
func (f *F) accountKubeconfig(name string) string {
	f.Helper()
	manager := f.Fleet.Manager
	day := int64(24 * 60 * 60)
	token, err := manager.Client.CoreV1().ServiceAccounts(fleet.KueueNamespace).CreateToken(f.Ctx, "headgate-"+name,
		&authv1.TokenRequest{Spec: authv1.TokenRequestSpec{ExpirationSeconds: &day}}, metav1.CreateOptions{})
	f.Must(err)
	kubeconfig, err := manager.TokenKubeconfig(name, token.Status.Token)
	f.Must(err)
	return kubeconfig
}

// WriteToken writes the annotation.
func (f *F) WriteToken(workload, text string) {
	f.Helper()
	_, err := f.Fleet.Manager.Kubectl(f.Ctx, "", "annotate", "workloads.kueue.x-k8s.io", workload, "-n", f.Namespace,
		tokenAnnotation+"="+text)
	f.Must(err)
}

// Token of a Workload, as its annotation has it.
func (f *F) Token(workload string) string {
	f.Helper()
	w, err := f.local(workload)
	f.Must(err)
	return w.GetAnnotations()[tokenAnnotation]
}

// WaitToken waits until the token of a Workload says this.
func (f *F) WaitToken(workload, text string) {
	f.Helper()
	f.Eventually("the token of Workload "+workload+" says "+text, func() error {
		w, err := f.local(workload)
		if err == nil && !strings.Contains(w.GetAnnotations()[tokenAnnotation], text) {
			err = fmt.Errorf("%q", w.GetAnnotations()[tokenAnnotation])
		}
		return err
	})
}

// Events about a Workload on the manager, as "Reason: message".
func (f *F) Events(ctx context.Context, workload string) ([]string, error) {
	list, err := f.Fleet.Manager.Client.CoreV1().Events(f.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: "involvedObject.kind=Workload,involvedObject.name=" + workload})
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, e := range list.Items {
		texts = append(texts, e.Reason+": "+e.Message)
	}
	return texts, nil
}

// WaitEvent waits until there is an event about a Workload that begins with this.
func (f *F) WaitEvent(workload, begin string) {
	f.Helper()
	f.Eventually("an event of Workload "+workload+": "+begin, func() error {
		texts, err := f.Events(f.Ctx, workload)
		for _, text := range texts {
			if strings.HasPrefix(text, begin) {
				return nil
			}
		}
		if err == nil {
			err = fmt.Errorf("%q", texts)
		}
		return err
	})
}
