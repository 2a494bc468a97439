package headgate

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
		var pod corev1.Pod
		err = convert(o.Object, &pod)
		return &pod.Spec, err
	}
	return nil, fmt.Errorf("the chart has no hook %s", kind)
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
