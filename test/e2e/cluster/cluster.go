package cluster

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// CompleteAfter is the annotation of pods on kwok nodes that succeed this long ("2s") after they
// began to run. Without it they run until they are deleted, those of Jobs, too.
const CompleteAfter = "e2e.headgate.io/complete-after"

// StartTimeout bounds the start of each component. It is only ever reached by what is broken.
const StartTimeout = 10 * time.Minute

//go:embed stages.yaml
var stages []byte

// Options of a cluster.
type Options struct {
	Bin string // folder of the programs, as build.sh leaves it
	Dir string // an existing folder for everything that is written; the cluster owns it

	// More flags of kube-apiserver and kube-scheduler, after ours.
	APIServerArgs, SchedulerArgs []string
	// The API server writes down the requests of this group of users, for Requests; empty: none.
	Audit string
	// Only etcd and kube-apiserver are started; the others are prepared.
	Bare bool
	// With Bare, kube-controller-manager is started as well, with these controllers ("job-controller"); empty:
	// it is not, and has all but one when it is started later.
	Controllers string
}

// Cluster is a control plane. The processes can be killed and started again one by one.
type Cluster struct {
	Dir, Bin   string
	URL        string
	CA         []byte // PEM
	Kubeconfig string // of a cluster-admin
	Config     *rest.Config
	Client     kubernetes.Interface
	Dynamic    dynamic.Interface

	Etcd, APIServer, ControllerManager, Scheduler, Kwok *Process

	pki   *pki
	etcd  string // address for clients
	extra []*Process
}

// Start starts everything and returns when the controllers have made the first objects. After an
// error nothing is left running and the folder is kept.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	c := &Cluster{Dir: o.Dir, Bin: o.Bin}
	if err := c.start(ctx, o); err != nil {
		c.Stop(true)
		return nil, fmt.Errorf("cluster: %w (logs in %s)", err, o.Dir)
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, o Options) error {
	if err := c.certificates(); err != nil {
		return err
	}
	ports := make([]string, 6)
	for i := range ports {
		port, err := FreePort()
		if err != nil {
			return err
		}
		ports[i] = strconv.Itoa(port)
	}
	c.etcd = "http://127.0.0.1:" + ports[0]
	c.URL = "https://127.0.0.1:" + ports[2]
	c.prepareEtcd("http://127.0.0.1:" + ports[1])
	audit, err := c.auditArgs(o.Audit)
	if err != nil {
		return err
	}
	c.prepareAPIServer(ports[2], append(audit, o.APIServerArgs...))
	if err := c.prepareClients(o, ports[3], ports[4], ports[5]); err != nil {
		return err
	}
	if err := c.startServers(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	if o.Bare && o.Controllers != "" {
		return c.ControllerManager.Start()
	}
	if o.Bare {
		return nil
	}
	for _, p := range []*Process{c.ControllerManager, c.Scheduler, c.Kwok} {
		if err := p.Start(); err != nil {
			return err
		}
	}
	return Poll(ctx, "the controllers' first objects", func(ctx context.Context) error {
		_, err := c.Client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	}, c.Etcd, c.APIServer, c.ControllerManager, c.Scheduler, c.Kwok)
}

// startServers starts etcd and the API server and returns when its own objects are there.
func (c *Cluster) startServers(ctx context.Context) error {
	if err := c.Etcd.Start(); err != nil {
		return err
	}
	if err := c.waitEtcd(ctx); err != nil {
		return err
	}
	if err := c.APIServer.Start(); err != nil {
		return err
	}
	if err := c.WaitAPI(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	return c.waitOwnObjects(ctx)
}

// Empty begins the cluster again without its data: address, certificates and keys stay, all objects are gone. It ends
// the controller manager, and starts it again if it ran; other clients are the caller's.
func (c *Cluster) Empty(ctx context.Context) error {
	controllers := c.ControllerManager.Running()
	for _, p := range []*Process{c.ControllerManager, c.APIServer, c.Etcd} {
		p.Kill()
	}
	if err := os.RemoveAll(filepath.Join(c.Dir, "etcd")); err != nil {
		return err
	}
	if err := c.startServers(ctx); err != nil || !controllers {
		return err
	}
	return c.ControllerManager.Start()
}

// waitEtcd waits until it answers: an API server that finds none for 20 s ends.
func (c *Cluster) waitEtcd(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	return Poll(ctx, "etcd is healthy", func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.etcd+"/health", nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return errors.New(answer.Status)
		}
		return nil
	}, c.Etcd)
}

// waitOwnObjects waits for what the API server makes at some time after it is ready: its namespaces, and
// the ConfigMap about client authentication, without which a controller manager ends.
func (c *Cluster) waitOwnObjects(ctx context.Context) error {
	return Poll(ctx, "the API server's own objects", func(ctx context.Context) error {
		for _, name := range []string{"default", "kube-system", "kube-node-lease", "kube-public"} {
			if _, err := c.Client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); err != nil {
				return err
			}
		}
		m, err := c.Client.CoreV1().ConfigMaps("kube-system").Get(ctx,
			"extension-apiserver-authentication", metav1.GetOptions{})
		if err == nil && m.Data["requestheader-client-ca-file"] == "" {
			err = errors.New("not of its front proxies")
		}
		return err
	}, c.Etcd, c.APIServer)
}

func (c *Cluster) certificates() error {
	var err error

	if c.pki, err = newPKI(c.Dir); err != nil {
		return err
	}
	c.CA = c.pki.pem
	for _, i := range []struct {
		name, user, group string
		server            bool
	}{
		{"apiserver", "kube-apiserver", "", true},
		{"proxy", "front-proxy-client", "", false},
		{"admin", "e2e-admin", "system:masters", false},
		{"controller-manager", "system:kube-controller-manager", "", false},
		{"scheduler", "system:kube-scheduler", "", false},
	} {
		if err := c.pki.issue(i.name, i.user, i.group, i.server); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) program(name string, args ...string) *Process {
	return NewProcess(c.Dir, name, filepath.Join(c.Bin, name), args...)
}

func (c *Cluster) prepareEtcd(peer string) {
	c.Etcd = c.program("etcd", "--name=e2e", "--data-dir="+filepath.Join(c.Dir, "etcd"),
		"--listen-client-urls="+c.etcd, "--advertise-client-urls="+c.etcd,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer,
		"--initial-cluster=e2e="+peer, "--unsafe-no-fsync",
		"--quota-backend-bytes=4294967296", "--log-level=warn")
}

func (c *Cluster) prepareAPIServer(port string, more []string) {
	f := c.pki.file
	c.APIServer = c.program("kube-apiserver", append([]string{
		"--etcd-servers=" + c.etcd,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=" + port,
		"--endpoint-reconciler-type=none", "--cert-dir=" + c.Dir,
		"--tls-cert-file=" + f("apiserver.crt"), "--tls-private-key-file=" + f("apiserver.key"),
		"--client-ca-file=" + f("ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + f("sa.key"),
		"--service-account-signing-key-file=" + f("sa.key"),
		"--service-cluster-ip-range=10.0.0.0/24",
		"--requestheader-client-ca-file=" + f("ca.crt"),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-username-headers=X-Remote-User",
		"--proxy-client-cert-file=" + f("proxy.crt"),
		"--proxy-client-key-file=" + f("proxy.key"),
		"--authorization-mode=Node,RBAC", "--allow-privileged=true",
	}, more...)...)
}

func (c *Cluster) prepareClients(o Options, controllerPort, schedulerPort, kwokPort string) error {
	kubeconfigs := map[string]string{}
	for _, name := range []string{"admin", "controller-manager", "scheduler"} {
		path, err := c.certKubeconfig(name)
		if err != nil {
			return err
		}
		kubeconfigs[name] = path
	}
	own := filepath.Join(c.Dir, "stages.yaml")
	if err := os.WriteFile(own, stages, 0o644); err != nil {
		return err
	}
	c.Kubeconfig = kubeconfigs["admin"]
	f, k := c.pki.file, kubeconfigs["controller-manager"]
	// Simulated kubelets that are late on a busy machine must not cost their nodes the pods. Nor must
	// a taint that is gone: the taint eviction controller hears of nodes and of pods separately, and
	// deletes a pod that was bound within milliseconds of its node's last NoExecute taint.
	controllers := o.Controllers
	if controllers == "" {
		controllers = "*,-taint-eviction-controller"
	}
	c.ControllerManager = c.program("kube-controller-manager",
		"--kubeconfig="+k, "--authentication-kubeconfig="+k, "--authorization-kubeconfig="+k,
		"--bind-address=127.0.0.1", "--secure-port="+controllerPort, "--cert-dir="+c.Dir,
		"--use-service-account-credentials=true", "--leader-elect=false",
		"--controllers="+controllers,
		"--root-ca-file="+f("ca.crt"), "--service-account-private-key-file="+f("sa.key"),
		"--cluster-signing-cert-file="+f("ca.crt"), "--cluster-signing-key-file="+f("ca.key"),
		"--node-monitor-grace-period=10m", "--kube-api-qps=500", "--kube-api-burst=1000")
	k = kubeconfigs["scheduler"]
	c.Scheduler = c.program("kube-scheduler", append([]string{
		"--kubeconfig=" + k, "--authentication-kubeconfig=" + k, "--authorization-kubeconfig=" + k,
		"--bind-address=127.0.0.1", "--secure-port=" + schedulerPort, "--cert-dir=" + c.Dir,
		"--leader-elect=false"}, o.SchedulerArgs...)...)
	c.Kwok = c.program("kwok", "--kubeconfig="+c.Kubeconfig, "--manage-all-nodes=false",
		"--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
		"--node-lease-duration-seconds=40", "--server-address=127.0.0.1:"+kwokPort,
		"--config="+filepath.Join(c.Bin, "stages.yaml"), "--config="+own)
	return c.connect()
}

func (c *Cluster) certKubeconfig(name string) (string, error) {
	path := filepath.Join(c.Dir, name+".kubeconfig")
	return path, kubeconfig(path, c.URL, c.CA, &api.AuthInfo{
		ClientCertificate: c.pki.file(name + ".crt"), ClientKey: c.pki.file(name + ".key")})
}

// TokenKubeconfig writes a kubeconfig with a bearer token into the cluster's folder.
func (c *Cluster) TokenKubeconfig(name, token string) (string, error) {
	path := filepath.Join(c.Dir, name+".kubeconfig")
	return path, kubeconfig(path, c.URL, c.CA, &api.AuthInfo{Token: token})
}

// CertificateKubeconfig writes a kubeconfig with a new certificate of that user into the cluster's folder, as one text.
func (c *Cluster) CertificateKubeconfig(name, user string) (string, error) {
	if err := c.pki.issue(name, user, "", false); err != nil {
		return "", err
	}
	certificate, err := os.ReadFile(c.pki.file(name + ".crt"))
	if err != nil {
		return "", err
	}
	key, err := os.ReadFile(c.pki.file(name + ".key"))
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.Dir, name+".kubeconfig")
	return path, kubeconfig(path, c.URL, c.CA, &api.AuthInfo{ClientCertificateData: certificate, ClientKeyData: key})
}

// ServingCertificate writes tls.crt and tls.key of a server on loopback, signed by CA, into an existing folder.
func (c *Cluster) ServingCertificate(folder, name string) error {
	if err := c.pki.issue(name, name, "", true); err != nil {
		return err
	}
	for from, to := range map[string]string{".key": "tls.key", ".crt": "tls.crt"} {
		if err := os.Rename(c.pki.file(name+from), filepath.Join(folder, to)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) connect() error {
	var err error

	if c.Config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig); err != nil {
		return err
	}
	c.Config.QPS = -1
	c.Config.Timeout = 0
	if c.Client, err = kubernetes.NewForConfig(c.Config); err != nil {
		return err
	}
	c.Dynamic, err = dynamic.NewForConfig(c.Config)
	return err
}

// WaitAPI waits until the API server says that it is ready.
func (c *Cluster) WaitAPI(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	return Poll(ctx, "kube-apiserver is ready", func(ctx context.Context) error {
		one, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		_, err := c.Client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(one)
		return err
	}, c.Etcd, c.APIServer)
}

// Adopt makes Stop end p, too, before the control plane.
func (c *Cluster) Adopt(p *Process) {
	c.extra = append(c.extra, p)
}

// Stop ends everything that runs, last started first, and removes the folder unless keep.
func (c *Cluster) Stop(keep bool) {
	all := append([]*Process{c.Etcd, c.APIServer, c.ControllerManager, c.Scheduler, c.Kwok}, c.extra...)
	for i := len(all) - 1; i >= 0; i-- {
		if all[i] != nil {
			all[i].Kill()
		}
	}
	if keep {
		// Megabytes that are not read.
		_ = os.RemoveAll(filepath.Join(c.Dir, "etcd"))
	} else {
		_ = os.RemoveAll(c.Dir)
	}
}
