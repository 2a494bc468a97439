package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// pki is the cluster's CA. It signs the API server's certificate and those of all clients, the
// aggregation layer's among them.
type pki struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "EC PRIVATE KEY", der)
}

func certificate(name, group string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, err
	}
	c := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(30 * 24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
	if group != "" {
		c.Subject.Organization = []string{group}
	}
	return c, nil
}

func newPKI(dir string) (*pki, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	cert, err := certificate("headgate-e2e-ca", "")
	if err != nil {
		return nil, err
	}
	cert.IsCA, cert.BasicConstraintsValid, cert.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		return nil, err
	}
	p := &pki{dir: dir, cert: cert, key: key,
		pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
	// One more key signs the tokens of service accounts.
	tokens, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if err := writeKey(p.file("sa.key"), tokens); err != nil {
		return nil, err
	}
	if err := writeKey(p.file("ca.key"), key); err != nil {
		return nil, err
	}
	return p, os.WriteFile(p.file("ca.crt"), p.pem, 0o600)
}

func (p *pki) file(name string) string {
	return filepath.Join(p.dir, name)
}

// issue writes name.crt and name.key for a client, and for a server on loopback when server.
func (p *pki) issue(name, user, group string, server bool) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	cert, err := certificate(user, group)
	if err != nil {
		return err
	}
	cert.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if server {
		cert.ExtKeyUsage = append(cert.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
		cert.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
		cert.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default.svc"}
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, p.cert, key.Public(), p.key)
	if err != nil {
		return err
	}
	if err := writeKey(p.file(name+".key"), key); err != nil {
		return err
	}
	return writePEM(p.file(name+".crt"), "CERTIFICATE", der)
}

// kubeconfig writes one for the API server at url.
func kubeconfig(path, url string, ca []byte, user *api.AuthInfo) error {
	c := api.NewConfig()
	c.Clusters["e2e"] = &api.Cluster{Server: url, CertificateAuthorityData: ca}
	c.AuthInfos["user"] = user
	c.Contexts["e2e"] = &api.Context{Cluster: "e2e", AuthInfo: "user", Namespace: "default"}
	c.CurrentContext = "e2e"
	return clientcmd.WriteToFile(*c, path)
}
