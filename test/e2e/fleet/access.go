package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"headgate/e2e/cluster"
)

// workerRights: those of the script in Kueue's documentation that makes a worker's kubeconfig, and, last, to list what
// the cost of preemption is estimated from. Its arguments are the account's name and the subject of the binding.
const workerRights = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: multikueue}
rules:
- {apiGroups: [batch], resources: [jobs], verbs: [create, delete, get, list, watch]}
- {apiGroups: [batch], resources: [jobs/status], verbs: [get]}
- {apiGroups: [kueue.x-k8s.io], resources: [workloads], verbs: [create, delete, get, list, watch, patch, update]}
- {apiGroups: [kueue.x-k8s.io], resources: [workloads/status], verbs: [get, patch, update]}
- {apiGroups: [kueue.x-k8s.io], resources: [clusterqueues, localqueues], verbs: [get, list, watch]}
- {apiGroups: [kueue.x-k8s.io], resources: [admissionchecks, cohorts, resourceflavors, topologies], verbs: [list]}
- {apiGroups: ["", node.k8s.io], resources: [limitranges, namespaces, runtimeclasses], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: multikueue}
subjects: [%[2]s]
`

const workerCluster = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueCluster
metadata: {name: %[1]s}
spec: {clusterSource: {kubeConfig: {locationType: Secret, location: %[1]s}}}
`

// Account is how the manager signs on to a worker.
type Account struct {
	Name   string // of the ServiceAccount, or of the user of a certificate
	User   string // as the API server calls it
	config string // file: a kubeconfig for the worker's own address
	token  bool
}

// connect gives the manager access to a worker and waits until it has connected.
func (f *Fleet) connect(ctx context.Context, m *Member) (err error) {
	if m.line, err = newLine(strings.TrimPrefix(m.URL, "https://")); err != nil {
		return err
	}
	if err := f.NewAccount(ctx, m); err != nil {
		return err
	}
	if _, err := f.Manager.Kubectl(ctx, fmt.Sprintf(workerCluster, m.Name), "apply", "--server-side", "-f", "-"); err != nil {
		return err
	}
	return f.WaitConnected(ctx, m)
}

// Account that the manager uses on a worker.
func (m *Member) Account() *Account { return m.account }

// accountName: "multikueue", then multikueue-2 and so on.
func (m *Member) accountName() string {
	m.accounts++
	if m.accounts == 1 {
		return "multikueue"
	}
	return fmt.Sprintf("multikueue-%d", m.accounts)
}

// NewAccount gives the manager a kubeconfig with the token of another ServiceAccount on a worker. Revoke takes the one
// before away.
func (f *Fleet) NewAccount(ctx context.Context, m *Member) error {
	a := &Account{Name: m.accountName(), token: true}
	a.User = "system:serviceaccount:" + KueueNamespace + ":" + a.Name
	accounts := m.Client.CoreV1().ServiceAccounts(KueueNamespace)
	_, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: a.Name}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	day := int64(24 * 60 * 60)
	token, err := accounts.CreateToken(ctx, a.Name,
		&authv1.TokenRequest{Spec: authv1.TokenRequestSpec{ExpirationSeconds: &day}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if a.config, err = m.TokenKubeconfig(a.Name, token.Status.Token); err != nil {
		return err
	}
	return f.use(ctx, m, a)
}

// NewCertificate gives the manager a kubeconfig with a certificate for a worker.
func (f *Fleet) NewCertificate(ctx context.Context, m *Member) (err error) {
	a := &Account{Name: m.accountName()}
	a.User = a.Name
	if a.config, err = m.CertificateKubeconfig(a.Name, a.User); err != nil {
		return err
	}
	return f.use(ctx, m, a)
}

func (f *Fleet) use(ctx context.Context, m *Member, a *Account) error {
	m.account = a
	if err := m.GiveRights(ctx); err != nil {
		return err
	}
	text, err := os.ReadFile(a.config)
	if err != nil {
		return err
	}
	text = bytes.ReplaceAll(text, []byte(m.URL), []byte(m.line.url()))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: m.Name, Namespace: KueueNamespace},
		Data: map[string][]byte{"kubeconfig": text}}
	secrets := f.Manager.Client.CoreV1().Secrets(KueueNamespace)
	_, err = secrets.Create(ctx, secret, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = secrets.Update(ctx, secret, metav1.UpdateOptions{})
	}
	return err
}

// GiveRights gives the account on a worker what a manager needs there.
func (m *Member) GiveRights(ctx context.Context) error {
	subject := fmt.Sprintf("{apiGroup: rbac.authorization.k8s.io, kind: User, name: %s}", m.account.Name)
	if m.account.token {
		subject = fmt.Sprintf("{kind: ServiceAccount, name: %s, namespace: %s}", m.account.Name, KueueNamespace)
	}
	_, err := m.Kubectl(ctx, fmt.Sprintf(workerRights, m.account.Name, subject), "apply", "--server-side", "-f", "-")
	return err
}

// Revoke deletes a ServiceAccount, and returns when its token is refused. Watches that are open go on.
func (m *Member) Revoke(ctx context.Context, a *Account) error {
	err := m.Client.CoreV1().ServiceAccounts(KueueNamespace).Delete(ctx, a.Name, metav1.DeleteOptions{})
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", a.config)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cluster.StartTimeout)
	defer cancel()
	// An API server knows a token that it has seen for 10 s.
	return cluster.Poll(ctx, "the token of "+a.Name+" is refused", func(ctx context.Context) error {
		_, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if apierrors.IsUnauthorized(err) {
			return nil
		}
		if err == nil {
			err = errors.New("it is not")
		}
		return err
	})
}

// WaitConnected waits until the manager says that it is connected to a worker.
func (f *Fleet) WaitConnected(ctx context.Context, m *Member) error {
	ctx, cancel := context.WithTimeout(ctx, cluster.StartTimeout)
	defer cancel()
	return cluster.Poll(ctx, "MultiKueueCluster "+m.Name+" is active", func(ctx context.Context) error {
		return f.connection(ctx, m)
	}, f.Manager.Kueue)
}

// WaitLost waits until the manager says that it is not.
func (f *Fleet) WaitLost(ctx context.Context, m *Member) error {
	ctx, cancel := context.WithTimeout(ctx, cluster.StartTimeout)
	defer cancel()
	return cluster.Poll(ctx, "MultiKueueCluster "+m.Name+" is not active", func(ctx context.Context) error {
		if f.connection(ctx, m) != nil {
			return nil
		}
		return errors.New("it is")
	})
}

// connection is nil when the condition Active is True.
func (f *Fleet) connection(ctx context.Context, m *Member) error {
	o, err := f.Manager.Dynamic.Resource(Clusters).Get(ctx, m.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	return hasCondition(o, "Active")
}
