package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Run runs a program as cluster-admin (KUBECONFIG), with the cluster's folder as its HOME. It returns
// standard output; with an error, everything that was printed is in that.
func (c *Cluster) Run(ctx context.Context, stdin, program string, args ...string) (string, error) {
	var out, all bytes.Buffer

	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig, "HOME="+c.Dir)
	for _, name := range []string{"CACHE", "CONFIG", "DATA"} {
		cmd.Env = append(cmd.Env, fmt.Sprintf("HELM_%s_HOME=%s/helm", name, c.Dir))
	}
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, &all), &all
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, all.String())
	}
	return out.String(), nil
}

// Kubectl runs kubectl, again when a webhook stood still.
func (c *Cluster) Kubectl(ctx context.Context, stdin string, args ...string) (string, error) {
	for {
		out, err := c.Run(ctx, stdin, filepath.Join(c.Bin, "kubectl"), args...)
		if !Stalled(err) || ctx.Err() != nil {
			return out, err
		}
	}
}

// Stalled says that a request failed because a webhook did not answer in time: nothing has happened,
// and whoever sent it may send it again. A webhook that is not there, or not trusted, is not meant.
func Stalled(err error) bool {
	return err != nil && strings.Contains(err.Error(), "failed calling webhook") &&
		(strings.Contains(err.Error(), "deadline exceeded") || strings.Contains(err.Error(), "handshake timeout"))
}

// Helm runs helm.
func (c *Cluster) Helm(ctx context.Context, args ...string) (string, error) {
	return c.Run(ctx, "", filepath.Join(c.Bin, "helm"), args...)
}
