package headgate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// HelmInstall installs the release as a user does, with helm itself, and starts the daemons of its
// Deployments. Values are those of helm's --set; args are more arguments of helm.
func (h *Headgate) HelmInstall(ctx context.Context, values []string, args ...string) error {
	return h.helm(ctx, "install", values, append([]string{"--create-namespace"}, args...))
}

// HelmUpgrade upgrades it to these values and replaces the daemons by new ones.
func (h *Headgate) HelmUpgrade(ctx context.Context, values []string, args ...string) error {
	return h.helm(ctx, "upgrade", values, args)
}

func (h *Headgate) helm(ctx context.Context, verb string, values, more []string) error {
	h.o.Values = values
	args := []string{verb, Release, h.Chart(), "--namespace", Namespace}
	if _, err := h.Helm(ctx, slices.Concat(args, h.values(), more)...); err != nil {
		return err
	}
	return h.roll(ctx)
}

// HelmRollback goes back to a revision and replaces the daemons.
func (h *Headgate) HelmRollback(ctx context.Context, revision int) error {
	_, err := h.Helm(ctx, "rollback", Release, strconv.Itoa(revision), "--namespace", Namespace)
	if err != nil {
		return err
	}
	return h.roll(ctx)
}

// HelmUninstall ends the daemons after helm has ended, for which RunHooks has to play the hooks.
func (h *Headgate) HelmUninstall(ctx context.Context, args ...string) error {
	_, err := h.Helm(ctx, append([]string{"uninstall", Release, "--namespace", Namespace}, args...)...)
	if err != nil {
		return err
	}
	h.objects = nil
	if err := h.end(h.takeDaemons()); err != nil {
		return err
	}
	return h.WaitRegistrations(ctx)
}

func (h *Headgate) takeDaemons() []*Daemon {
	all := slices.Concat(h.Schedulers, h.Webhooks)
	h.Schedulers, h.Webhooks = nil, nil
	return all
}

// roll is what a rollout of the Deployments does: new daemons are ready before the old ones end.
func (h *Headgate) roll(ctx context.Context) error {
	text, err := h.Helm(ctx, "get", "manifest", Release, "--namespace", Namespace)
	if err != nil {
		return err
	}
	if h.objects, err = Decode(text); err != nil {
		return err
	}
	h.rollouts++
	old := h.takeDaemons()
	if err := h.startAll(ctx); err != nil {
		return errors.Join(err, h.end(old))
	}
	if err := h.end(old); err != nil {
		return err
	}
	return h.WaitReady(ctx)
}

// end ends daemons as the kubelet does, all at once.
func (h *Headgate) end(daemons []*Daemon) error {
	ended := make(chan error)
	for _, d := range daemons {
		go func() {
			if err := d.Terminate(ReadyTimeout); err != nil {
				ended <- fmt.Errorf("%s: %w", d.Name, err)
				return
			}
			ended <- nil
		}()
	}
	var all error
	for range daemons {
		all = errors.Join(all, <-ended)
	}
	return all
}
