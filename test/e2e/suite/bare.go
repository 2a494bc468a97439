package suite

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"headgate/e2e/cluster"
)

// Bare is etcd and kube-apiserver alone, for programs of the repository's own tests.
type Bare struct {
	*testing.T
	Cluster *cluster.Cluster
}

// StartBare starts one, which ends with the test.
func StartBare(t *testing.T) *Bare {
	t.Helper()
	dir, err := os.MkdirTemp(os.Getenv(envWork), "bare-")
	if err != nil {
		t.Fatal(err)
	}
	c, err := cluster.Start(context.Background(), cluster.Options{
		Bin: os.Getenv(envComponents), Dir: dir, Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(t.Failed()) })
	return &Bare{T: t, Cluster: c}
}

// Chart is the folder of the chart.
func (b *Bare) Chart() string {
	return filepath.Join(os.Getenv(envRepo), "charts", "headgate")
}

// Play runs a test program of the build folder ("integration/test_gate") in the root of the
// repository as a test of its own. Its tests find the API server in $HEADGATE_TEST_KUBECONFIG.
func (b *Bare) Play(program string, args ...string) {
	b.Run(filepath.Base(program), func(t *testing.T) {
		cmd := exec.Command(filepath.Join(os.Getenv(envBuild), "test", program), args...)
		cmd.Dir = os.Getenv(envRepo)
		cmd.Env = append(os.Environ(), "HEADGATE_TEST_KUBECONFIG="+b.Cluster.Kubeconfig,
			"HEADGATE_BIN="+filepath.Join(os.Getenv(envBuild), "bin"),
			"TMPDIR="+b.Cluster.Dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	})
}
