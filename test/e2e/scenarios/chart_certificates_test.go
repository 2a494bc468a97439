package scenarios

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"headgate/e2e/headgate"
	"headgate/e2e/suite"
)

// agedCA makes a CA near the end of its life, so that the webhook has to replace it.
func agedCA(s *suite.S) (cert, key []byte) {
	s.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	s.Must(err)
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "aged"},
		NotBefore: now.AddDate(-9, 0, 0), NotAfter: now.AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	s.Must(err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	s.Must(err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

// names of the certificates of a bundle: "aged", or the serial number.
func bundle(text []byte) string {
	var names []string
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return strings.Join(names, " ")
		}
		text = rest
		cert, err := x509.ParseCertificate(block.Bytes)
		switch {
		case err != nil:
			names = append(names, err.Error())
		case cert.Subject.CommonName == "aged":
			names = append(names, "aged")
		default:
			names = append(names, cert.SerialNumber.String())
		}
	}
}

// bundles is what the registration for pods trusted, one after another.
type bundles struct {
	mu  sync.Mutex
	all []string
}

func (b *bundles) seen() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.all)
}

func (b *bundles) follow(s *suite.S) {
	s.Helper()
	client := s.Cluster.Client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	list, err := client.List(s.Ctx, metav1.ListOptions{})
	s.Must(err)
	watcher, err := watchtools.NewRetryWatcherWithContext(s.Ctx, list.ResourceVersion, &cache.ListWatch{
		ListFunc: func(o metav1.ListOptions) (runtime.Object, error) { return client.List(s.Ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, o)
		}})
	s.Must(err)
	go func() {
		for e := range watcher.ResultChan() {
			r, ok := e.Object.(*admissionv1.MutatingWebhookConfiguration)
			if !ok || r.Name != headgate.Release+"-pods-mutate" {
				continue
			}
			now := bundle(r.Webhooks[0].ClientConfig.CABundle)
			b.mu.Lock()
			if len(b.all) == 0 || b.all[len(b.all)-1] != now {
				b.all = append(b.all, now)
			}
			b.mu.Unlock()
		}
	}()
}

// gatedPods creates pods one after the other until f says so; each has to come in with its gate.
func gatedPods(s *suite.S, prefix string, f func() bool) {
	s.Helper()
	n := 0
	s.Eventually("certificates", func() error {
		name := fmt.Sprintf("%s-%d", prefix, n)
		n++
		create := s.TryPod
		if n == 1 {
			create = s.Pod
		}
		if gates := gatesOf(create(name, suite.Opted, suite.Select("e2e.headgate.io/none", "none"))); len(gates) != 1 {
			s.Fatalf("gates of %s as it was created: %v", name, gates)
		}
		if !f() {
			return fmt.Errorf("not after %d pods", n)
		}
		return nil
	})
	s.Logf("%s: %d pods came in, each with its gate", prefix, n)
}

// A CA near the end of its life is replaced with no pod refused: the next one is trusted before it
// signs, the former one as long as a replica may serve what it signed. Then the same release goes
// over to a Secret that the user brings, and back.
func TestChartCertificates(t *testing.T) {
	const secret = headgate.Release + "-webhook-tls"
	s := suite.StartOwn(t, suite.Options{Empty: true})
	h, secrets := s.Headgate, s.Cluster.Client.CoreV1().Secrets(headgate.Namespace)
	self := []string{"scheduler.replicas=1", "webhook.extraArgs[0]=--shutdown-delay-duration=0s"}
	s.Must(h.HelmInstall(s.Ctx, append(self, "webhook.extraArgs[1]=--cert-rotation-delay=10s")))
	b := &bundles{}
	b.follow(s)
	before := leastReloads(s)
	cert, key := agedCA(s)
	_, err := secrets.Patch(s.Ctx, secret, types.MergePatchType, fmt.Appendf(nil, `{"data":{"ca.crt":%q,"ca.key":%q}}`,
		base64.StdEncoding.EncodeToString(cert), base64.StdEncoding.EncodeToString(key)), metav1.PatchOptions{})
	s.Must(err)
	// Until then what served was signed by the CA that was taken away from under it, and calls failed.
	s.Eventually("the registration trusts both", func() error {
		if seen := b.seen(); !slices.ContainsFunc(seen, func(all string) bool { return strings.Contains(all, "aged ") }) {
			return fmt.Errorf("%q", seen)
		}
		return nil
	})
	s.Eventually("all webhooks serve what it signed", func() error {
		if now := leastReloads(s); now <= before {
			return fmt.Errorf("%v reloads", now)
		}
		return nil
	})
	s.Must(h.WaitRegistrations(s.Ctx))
	gatedPods(s, "rotation", func() bool {
		seen := b.seen()
		last := seen[len(seen)-1]
		return last != "" && !strings.Contains(last, "aged") && !strings.Contains(last, " ")
	})
	seen := b.seen()
	next := seen[len(seen)-1]
	for _, both := range []string{"aged " + next, next + " aged"} {
		if !slices.Contains(seen, both) {
			t.Errorf("never trusted %q: %q", both, seen)
		}
	}
	ownSecret(s, self)
	s.Must(h.HelmUpgrade(s.Ctx, self))
	gatedPods(s, "back", func() bool { return true })
}

// leastReloads is how often the webhook that did so least has taken another certificate.
func leastReloads(s *suite.S) float64 {
	s.Helper()
	var all []float64
	for _, d := range s.Headgate.Webhooks {
		n, err := d.Metric(s.Ctx, "headgate_webhook_certificate_reloads_total")
		s.Must(err)
		all = append(all, n)
	}
	return slices.Min(all)
}

// ownSecret upgrades to a Secret of the user's, and changes what is in it.
func ownSecret(s *suite.S, values []string) {
	s.Helper()
	h, dir := s.Headgate, filepath.Join(s.Cluster.Dir, "mine")
	put := func(more ...string) {
		s.Helper()
		_, err := h.Ctl(s.Ctx, append([]string{"certs", "--out", dir, "--ip", "127.0.0.1"}, more...)...)
		s.Must(err)
		text, err := h.Kubectl(s.Ctx, "", "create", "secret", "tls", "mine", "--namespace", headgate.Namespace,
			"--cert", filepath.Join(dir, "tls.crt"), "--key", filepath.Join(dir, "tls.key"), "--dry-run=client", "-o", "yaml")
		s.Must(err)
		_, err = h.Kubectl(s.Ctx, text, "apply", "-f", "-")
		s.Must(err)
	}
	put()
	// The caBundle is the webhook's until now, and helm takes over only by force. Rights to write it go
	// before the registrations change and the webhooks end.
	s.CheckRights()
	s.Must(h.HelmUpgrade(s.Ctx, append(values, "webhook.certificates.mode=secret",
		"webhook.certificates.secretName=mine"), "--force-conflicts", "--set-file",
		"webhook.certificates.caBundle="+filepath.Join(dir, "ca.crt")))
	s.ForgiveRefusals()
	gatedPods(s, "secret", func() bool { return true })
	put("--force")
	for _, d := range h.Webhooks {
		s.Must(d.SyncFiles(s.Ctx))
	}
	gatedPods(s, "changed", func() bool {
		return leastReloads(s) >= 1
	})
}
