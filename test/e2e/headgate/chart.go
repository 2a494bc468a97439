package headgate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// Render returns the chart's objects, without hooks.
func (h *Headgate) Render(ctx context.Context) ([]*unstructured.Unstructured, error) {
	return h.render(ctx, "--no-hooks")
}

func (h *Headgate) render(ctx context.Context, more ...string) ([]*unstructured.Unstructured, error) {
	args := []string{"template", Release, h.Chart(), "--namespace", Namespace, "--dry-run=server",
		"--take-ownership"}
	text, err := h.Helm(ctx, slices.Concat(args, h.values(), more)...)
	if err != nil {
		return nil, err
	}
	return Decode(text)
}

// patience is what a machine needs on which everything may stand still for half a minute: without it
// pods were refused, and the lead changed hands, because of that. Values of a scenario go before.
// E2E_PATIENCE=0 or =1 decides; otherwise machines of fewer than four cores, which run a whole control
// plane on the side, have it, and all others run with the times that the chart ships with.
var patience = []string{"webhook.timeoutSeconds=30", "scheduler.leaderElection.leaseDuration=5m",
	"scheduler.leaderElection.renewDeadline=4m"}

// DefaultLease are the chart's own values, for scenarios in which a leader dies without a good-bye and
// another one has to wait until its lease has run out.
var DefaultLease = []string{"scheduler.leaderElection.leaseDuration=15s",
	"scheduler.leaderElection.renewDeadline=10s"}

// ShippedTimes are all the times that the chart ships with and patience changes.
var ShippedTimes = slices.Concat(DefaultLease, []string{"webhook.timeoutSeconds=5"})

// Patient reports whether this machine has the values of patience.
func Patient() bool {
	if told := os.Getenv("E2E_PATIENCE"); told != "" {
		return told != "0"
	}
	return goruntime.NumCPU() < 4
}

// values as arguments of helm.
func (h *Headgate) values() []string {
	args := []string{"--set", "webhook.url=" + h.Front.URL()}
	values := h.o.Values
	if Patient() {
		values = slices.Concat(patience, values)
	}
	for _, v := range values {
		args = append(args, "--set", v)
	}
	return args
}

// Decode reads objects out of YAML documents.
func Decode(text string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured

	d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		var raw runtime.RawExtension
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(raw.Raw) == 0 || string(raw.Raw) == "null" {
			continue
		}
		o := &unstructured.Unstructured{}
		if err := o.UnmarshalJSON(raw.Raw); err != nil {
			return nil, err
		}
		objects = append(objects, o)
	}
}

// Apply renders the chart again and applies it; daemons that run keep their arguments.
func (h *Headgate) Apply(ctx context.Context) error {
	objects, err := h.Render(ctx)
	if err != nil {
		return err
	}
	h.objects = objects
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}}
	_, err = h.c.Client.CoreV1().Namespaces().Create(ctx, space, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	var crds, others bytes.Buffer
	for _, o := range objects {
		text, err := sigsyaml.Marshal(o.Object)
		if err != nil {
			return err
		}
		switch o.GetKind() {
		case "Deployment":
		case "CustomResourceDefinition":
			fmt.Fprintf(&crds, "---\n%s", text)
		default:
			fmt.Fprintf(&others, "---\n%s", text)
		}
	}
	if crds.Len() > 0 {
		if err := h.apply(ctx, crds.String()); err != nil {
			return err
		}
	}
	if err := h.waitServed(ctx); err != nil {
		return err
	}
	return h.apply(ctx, others.String())
}

func (h *Headgate) apply(ctx context.Context, manifests string) error {
	_, err := h.Kubectl(ctx, manifests, "apply", "--server-side", "--force-conflicts",
		"--namespace", Namespace, "-f", "-")
	return err
}
