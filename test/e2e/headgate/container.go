package headgate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
)

// Container runs the daemons of an installation from an image, as runc starts containers, instead of as
// processes that see the whole machine.
type Container struct {
	Image    string // tar file of an OCI image layout
	UID, GID int    // a kubelet takes the image's; OpenShift chooses a UID of the namespace's range and group 0
}

// ContainerTools says what this machine lacks for containers; nil: nothing.
func ContainerTools() error {
	if os.Geteuid() != 0 {
		return errors.New("only root can start containers here")
	}
	for _, tool := range []string{"umoci", "runc", "unshare"} {
		if _, err := exec.LookPath(tool); err != nil {
			return err
		}
	}
	return nil
}

// contain unpacks the image for one daemon, and returns the command that runs it there with these
// arguments, under the security context of its Deployment. Of the machine's files the container sees
// the kubeconfig and what the pod mounts, at the same paths. It ends with the command: unshare's child
// is the first process of a namespace, so that nothing in there outlives it.
func (h *Headgate) contain(ctx context.Context, dep *appsv1.Deployment, d *Daemon, name, kubeconfig string, args []string) (string, []string, error) {
	layout, bundle := filepath.Join(h.c.Dir, "image"), filepath.Join(h.c.Dir, name+"-bundle")
	if err := os.MkdirAll(layout, 0o755); err != nil {
		return "", nil, err
	}
	for _, command := range [][]string{
		{"tar", "-C", layout, "-xf", h.o.Container.Image},
		{"umoci", "unpack", "--image", layout + ":" + imageTag(dep), bundle},
	} {
		path, err := exec.LookPath(command[0])
		if err != nil {
			return "", nil, err
		}
		if out, err := h.c.Run(ctx, "", path, command[1:]...); err != nil {
			return "", nil, fmt.Errorf("%v: %w: %s", command, err, out)
		}
	}
	if err := os.Chown(kubeconfig, h.o.Container.UID, h.o.Container.GID); err != nil {
		return "", nil, err
	}
	binds := []string{kubeconfig}
	for _, m := range d.mounts {
		binds = append(binds, m.dir)
	}
	container := &dep.Spec.Template.Spec.Containers[0]
	if err := h.configure(filepath.Join(bundle, "config.json"), dep, append(slices.Clone(container.Command), args...), binds); err != nil {
		return "", nil, err
	}
	unshare, err := exec.LookPath("unshare")
	return unshare, []string{"--pid", "--fork", "--kill-child", "--mount-proc",
		"runc", "--root", filepath.Join(h.c.Dir, "runc"), "run", "--bundle", bundle, name}, err
}

// imageTag is the tag of the image that the chart asks for.
func imageTag(dep *appsv1.Deployment) string {
	image := dep.Spec.Template.Spec.Containers[0].Image
	return image[strings.LastIndexByte(image, ':')+1:]
}

// configure writes into the runtime's configuration what a kubelet would from the pod: arguments, user,
// capabilities, mounts; the network is the pod's, which here is that of the test.
func (h *Headgate) configure(file string, dep *appsv1.Deployment, args, binds []string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var config map[string]any
	if err := json.Unmarshal(text, &config); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	security := dep.Spec.Template.Spec.Containers[0].SecurityContext
	if security == nil || security.Capabilities == nil || !slices.Contains(security.Capabilities.Drop, "ALL") {
		return fmt.Errorf("%s does not drop all capabilities", dep.Name)
	}
	process, _ := config["process"].(map[string]any)
	linux, _ := config["linux"].(map[string]any)
	mounts, _ := config["mounts"].([]any)
	root, _ := config["root"].(map[string]any)
	if process == nil || linux == nil || root == nil {
		return fmt.Errorf("%s: not the configuration of a container", file)
	}
	process["args"] = args
	process["terminal"] = false
	process["user"] = map[string]any{"uid": h.o.Container.UID, "gid": h.o.Container.GID}
	process["capabilities"] = map[string]any{}
	process["noNewPrivileges"] = security.AllowPrivilegeEscalation != nil && !*security.AllowPrivilegeEscalation
	root["readonly"] = security.ReadOnlyRootFilesystem != nil && *security.ReadOnlyRootFilesystem
	delete(process, "rlimits")
	delete(linux, "resources")
	linux["namespaces"] = []map[string]any{{"type": "pid"}, {"type": "ipc"}, {"type": "uts"}, {"type": "mount"}}
	mounts = slices.DeleteFunc(mounts, func(m any) bool {
		mount, _ := m.(map[string]any)
		return mount["destination"] == "/sys/fs/cgroup"
	})
	for _, path := range binds {
		mounts = append(mounts, map[string]any{"destination": path, "source": path, "type": "bind",
			"options": []string{"bind", "ro", "nosuid", "nodev", "noexec"}})
	}
	config["mounts"] = mounts
	if text, err = json.Marshal(config); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// Contained is the process ID of the daemon itself, which the runtime started.
func (d *Daemon) Contained() (int, error) {
	for pid := d.PID(); ; {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err != nil {
			return 0, err
		}
		if strings.HasPrefix(string(name), "headgate-") {
			return pid, nil
		}
		children, err := childrenOf(pid)
		if err != nil {
			return 0, err
		}
		if len(children) != 1 {
			return 0, fmt.Errorf("%s: process %d (%s) has children %v", d.Name, pid, strings.TrimSpace(string(name)), children)
		}
		pid = children[0]
	}
}

func childrenOf(pid int) (children []int, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil, err
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			return nil, err
		}
		for _, word := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				return nil, err
			}
			children = append(children, child)
		}
	}
	return children, nil
}
