package headgate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"headgate/e2e/cluster"
)

// Daemon is a replica of the scheduler or of the webhook.
type Daemon struct {
	*cluster.Process
	Health  string // base URL of /livez and /readyz
	Metrics string // URL of /metrics

	h       *Headgate
	serving string // address behind the front; empty: a scheduler
	mounts  []mount

	mu     sync.Mutex // held while it is started and ended
	wanted bool       // to run, until a scenario ends it
}

// A ConfigMap or Secret as files in a folder.
type mount struct {
	configMap, secret, dir string
}

// daemon makes a process of a Deployment's pod template.
func (h *Headgate) daemon(ctx context.Context, deployment *unstructured.Unstructured, name string) (*Daemon, error) {
	var dep appsv1.Deployment

	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(deployment.Object, &dep); err != nil {
		return nil, err
	}
	spec := &dep.Spec.Template.Spec
	container := &spec.Containers[0]
	kubeconfig, err := h.token(ctx, name, spec.ServiceAccountName)
	if err != nil {
		return nil, err
	}
	d := &Daemon{h: h}
	args := append([]string{}, container.Args...)
	for _, m := range container.VolumeMounts {
		dir := filepath.Join(h.c.Dir, name, m.MountPath)
		d.addMount(spec, m.Name, dir)
		// Not those that are replaced already: dir may begin with another mount's path.
		for i, a := range container.Args {
			if strings.Contains(a, "="+m.MountPath) {
				args[i] = strings.Replace(a, "="+m.MountPath, "="+dir, 1)
			}
		}
	}
	more, err := d.addresses(dep.Labels["app.kubernetes.io/component"] == "webhook")
	if err != nil {
		return nil, err
	}
	args = append(append(args, "--kubeconfig="+kubeconfig), more...)
	program := filepath.Join(h.o.Bin, filepath.Base(container.Command[0]))
	if h.o.Container != nil {
		if program, args, err = h.contain(ctx, &dep, d, name, kubeconfig, args); err != nil {
			return nil, err
		}
	}
	d.Process = cluster.NewProcess(h.c.Dir, "headgate-"+name, program, args...)
	for _, e := range container.Env {
		d.Env = append(d.Env, e.Name+"="+e.Value)
	}
	h.c.Adopt(d.Process)
	return d, nil
}

func (d *Daemon) addMount(spec *corev1.PodSpec, volume, dir string) {
	for _, v := range spec.Volumes {
		if v.Name != volume {
			continue
		}
		m := mount{dir: dir}
		if v.ConfigMap != nil {
			m.configMap = v.ConfigMap.Name
		} else if v.Secret != nil {
			m.secret = v.Secret.SecretName
		}
		d.mounts = append(d.mounts, m)
	}
}

// addresses chooses ports on loopback and returns the flags that say so.
func (d *Daemon) addresses(webhook bool) ([]string, error) {
	serving, err := cluster.FreePort()
	if err != nil {
		return nil, err
	}
	health, err := cluster.FreePort()
	if err != nil {
		return nil, err
	}
	d.Health = fmt.Sprintf("http://127.0.0.1:%d", health)
	args := []string{fmt.Sprintf("--healthz-address=127.0.0.1:%d", health)}
	if webhook {
		d.serving = fmt.Sprintf("127.0.0.1:%d", serving)
		d.Metrics = d.Health + "/metrics"
		return append(args, "--listen-address=127.0.0.1", fmt.Sprintf("--port=%d", serving)), nil
	}
	d.Metrics = fmt.Sprintf("http://127.0.0.1:%d/metrics", serving)
	return append(args, fmt.Sprintf("--listen-address=127.0.0.1:%d", serving)), nil
}

// token returns a kubeconfig with a token of the ServiceAccount.
func (h *Headgate) token(ctx context.Context, name, account string) (string, error) {
	day := int64(24 * 60 * 60)
	request := &authv1.TokenRequest{Spec: authv1.TokenRequestSpec{ExpirationSeconds: &day}}
	answer, err := h.c.Client.CoreV1().ServiceAccounts(Namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return h.c.TokenKubeconfig(name, answer.Status.Token)
}

// SyncFiles writes the ConfigMaps and Secrets that the daemon mounts, as the kubelet does now and
// then; call it after changing one.
func (d *Daemon) SyncFiles(ctx context.Context) error {
	core := d.h.c.Client.CoreV1()
	for _, m := range d.mounts {
		files := map[string][]byte{".keep": nil}
		if m.configMap != "" {
			o, err := core.ConfigMaps(Namespace).Get(ctx, m.configMap, metav1.GetOptions{})
			if err != nil {
				return err
			}
			for k, v := range o.Data {
				files[k] = []byte(v)
			}
		} else if m.secret != "" {
			o, err := core.Secrets(Namespace).Get(ctx, m.secret, metav1.GetOptions{})
			if err != nil {
				return err
			}
			files = o.Data
		}
		for name, data := range files {
			if err := writeFile(filepath.Join(m.dir, name), data); err != nil {
				return err
			}
		}
	}
	return nil
}

// Start starts the daemon, and from then on plays the kubelet for one that resigns; a webhook goes into
// the front's rotation when it is ready.
func (d *Daemon) Start(ctx context.Context) error {
	if err := d.SyncFiles(ctx); err != nil {
		return err
	}
	d.mu.Lock()
	err := d.Process.Start()
	d.wanted = err == nil
	d.mu.Unlock()
	if err != nil {
		return err
	}
	go d.keep()
	if d.serving == "" {
		return nil
	}
	if err := d.waitReady(ctx); err != nil {
		return err
	}
	d.h.Front.Add(d.serving)
	return nil
}

// resignations are what daemons say last that end by themselves and leave it to the kubelet to start
// them again, because they, or the API server, stood still for too long.
var resignations = []string{
	"lease lost: exiting so that a fresh process starts as standby",
	"first lists not complete in time",
	"contains no certificate",
}

// resigned: it has ended in that way.
func (d *Daemon) resigned() bool {
	var exit *exec.ExitError
	ended, err := d.Ended()
	if !ended || !errors.As(err, &exit) || exit.ExitCode() < 0 {
		return false
	}
	text := d.Output()
	return slices.ContainsFunc(resignations, func(why string) bool { return strings.Contains(text, why) })
}

// Crashed: it has ended without a signal of ours, and it did not resign.
func (d *Daemon) Crashed() bool {
	return d.Process.Crashed() && !d.resigned()
}

// keep starts it again each time that it resigns, until a scenario ends it.
func (d *Daemon) keep() {
	for again := true; again; {
		_ = d.Wait(context.Background())
		d.mu.Lock()
		again = d.wanted && d.resigned()
		if again {
			fmt.Printf("        %s has resigned and is started again\n", d.Name)
			again = d.Process.Start() == nil
		}
		d.mu.Unlock()
	}
}

func (d *Daemon) unwanted() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted = false
}

// Kill is kill -9.
func (d *Daemon) Kill() {
	d.unwanted()
	d.Process.Kill()
	d.h.Front.Remove(d.serving)
}

// Terminate takes the daemon out of rotation, sends SIGTERM and returns how it ended.
func (d *Daemon) Terminate(grace time.Duration) error {
	d.unwanted()
	d.h.Front.Remove(d.serving)
	return d.Process.Terminate(grace)
}

func (d *Daemon) get(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", url, answer.Status, body)
	}
	return string(body), err
}

// Ready: /readyz answers 200.
func (d *Daemon) Ready(ctx context.Context) error {
	_, err := d.get(ctx, d.Health+"/readyz")
	return err
}

// waitReady waits until it is ready; one that crashes ends the wait.
func (d *Daemon) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ReadyTimeout)
	defer cancel()
	ctx, crashed := context.WithCancelCause(ctx)
	defer crashed(nil)
	return cluster.Poll(ctx, d.Name+" is ready", func(ctx context.Context) error {
		err := d.Ready(ctx)
		if err != nil && d.Crashed() {
			crashed(fmt.Errorf("it ended by itself, see %s", d.Log))
		}
		return err
	})
}

// Metric sums the samples of a metric with labels that contain all of match (`queue_name="a"`).
func (d *Daemon) Metric(ctx context.Context, name string, match ...string) (float64, error) {
	text, err := d.get(ctx, d.Metrics)
	if err != nil {
		return 0, err
	}
	sum, found := 0.0, false
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), name)
		if !ok || rest == "" || (rest[0] != '{' && rest[0] != ' ') {
			continue
		}
		labels, value := "", rest
		if i := strings.LastIndexByte(rest, '}'); i >= 0 {
			labels, value = rest[:i+1], rest[i+1:]
		}
		if !containsAll(labels, match) {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", line, err)
		}
		sum, found = sum+v, true
	}
	if !found {
		return 0, fmt.Errorf("%s has no metric %s %v", d.Name, name, match)
	}
	return sum, nil
}

func containsAll(text string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}
