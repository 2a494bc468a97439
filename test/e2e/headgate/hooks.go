package headgate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	sigsyaml "sigs.k8s.io/yaml"

	"headgate/e2e/cluster"
)

const hookAnnotation = "helm.sh/hook"

// Hook returns the pod of the chart's hook of that kind, "pre-delete" or "test".
func (h *Headgate) Hook(ctx context.Context, kind string) (*corev1.PodSpec, error) {
	objects, err := h.render(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if o.GetAnnotations()[hookAnnotation] != kind {
			continue
		}
		convert := runtime.DefaultUnstructuredConverter.FromUnstructured
		if o.GetKind() == "Job" {
			var job batchv1.Job
			err = convert(o.Object, &job)
			return &job.Spec.Template.Spec, err
		}
		if o.GetKind() == "Pod" {
			var pod corev1.Pod
			err = convert(o.Object, &pod)
			return &pod.Spec, err
		}
	}
	return nil, fmt.Errorf("the chart has no hook %s", kind)
}

// ApplyHook makes what helm makes before the pod of a hook: its account and rights. They stay.
func (h *Headgate) ApplyHook(ctx context.Context, kind string) error {
	objects, err := h.render(ctx)
	if err != nil {
		return err
	}
	manifests := ""
	for _, o := range objects {
		if o.GetAnnotations()[hookAnnotation] != kind || o.GetKind() == "Job" || o.GetKind() == "Pod" {
			continue
		}
		text, err := sigsyaml.Marshal(o.Object)
		if err != nil {
			return err
		}
		manifests += "---\n" + string(text)
	}
	return h.apply(ctx, manifests)
}

// RunPod runs the command of a pod's first container as a process, with a token of the pod's
// account, and returns what it printed. An error: it ended with another code than 0.
func (h *Headgate) RunPod(ctx context.Context, spec *corev1.PodSpec) (string, error) {
	kubeconfig, err := h.token(ctx, "hook", spec.ServiceAccountName)
	if err != nil {
		return "", err
	}
	c := &spec.Containers[0]
	args := append(slices.Clone(c.Args), "--kubeconfig="+kubeconfig)
	return h.c.Run(ctx, "", filepath.Join(h.o.Bin, filepath.Base(c.Command[0])), args...)
}

// HookRun is one run of a hook's command.
type HookRun struct {
	Pod    string
	Output string
	Err    error
}

// HookRuns so far, oldest first.
func (h *Headgate) HookRuns() []HookRun {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.runs)
}

// RunHooks plays the kubelet for pods of hooks until ctx is done: kwok says that they run, this runs
// their command and reports how it ended, which is what helm waits for.
func (h *Headgate) RunHooks(ctx context.Context) {
	done := map[types.UID]bool{}
	for ctx.Err() == nil {
		pods, err := h.c.Client.CoreV1().Pods(Namespace).List(ctx, metav1.ListOptions{})
		if err == nil {
			for i := range pods.Items {
				p := &pods.Items[i]
				program := filepath.Base(slices.Concat(p.Spec.Containers[0].Command, []string{""})[0])
				if program == "headgatectl" && p.Status.Phase == corev1.PodRunning && !done[p.UID] {
					done[p.UID] = true
					h.runHook(ctx, p)
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// FailHooks: pods of hooks fail from now on, and their commands are not run; or are run again.
func (h *Headgate) FailHooks(fail bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failHooks = fail
}

func (h *Headgate) runHook(ctx context.Context, p *corev1.Pod) {
	h.mu.Lock()
	fail := h.failHooks
	h.mu.Unlock()
	out, err := "", errors.New("hooks are to fail")
	if !fail {
		out, err = h.RunPod(ctx, &p.Spec)
	}
	h.mu.Lock()
	h.runs = append(h.runs, HookRun{Pod: p.Name, Output: out, Err: err})
	h.mu.Unlock()
	phase, code := corev1.PodSucceeded, int32(0)
	if err != nil {
		phase, code = corev1.PodFailed, 1
	}
	_ = cluster.Poll(ctx, "the end of "+p.Name, func(ctx context.Context) error {
		now, err := h.c.Client.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
		if err != nil {
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		}
		now.Status.Phase = phase
		now.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name,
			Image: p.Spec.Containers[0].Image, State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}}
		_, err = h.c.Client.CoreV1().Pods(p.Namespace).UpdateStatus(ctx, now, metav1.UpdateOptions{})
		return err
	})
}
