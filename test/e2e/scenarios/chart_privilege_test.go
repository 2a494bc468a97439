package scenarios

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"headgate/e2e/headgate"
	"headgate/e2e/suite"
)

const waitingPod = `{apiVersion: v1, kind: Pod, metadata: {name: waits, labels: {a: b}, annotations: {c: d}}, spec: {
	schedulingGates: [{name: example.com/gate}], nodeSelector: {e: f}, containers: [{name: main, image: pause}]}}`

// Patches that the token of an account of ours allows or not, beyond RBAC.
func TestChartLeastPrivilege(t *testing.T) {
	s := suite.StartQuota(t)
	s.ExpectRefusals()
	if out := said(s, waitingPod, "create -f -"); !strings.Contains(out, "created") {
		t.Fatal(out)
	}
	as := map[string]dynamic.Interface{}
	for _, name := range []string{"scheduler", "webhook"} {
		config := rest.CopyConfig(s.Cluster.Config)
		config.Impersonate = rest.ImpersonationConfig{UserName: account(name)}
		client, err := dynamic.NewForConfig(config)
		s.Must(err)
		as[name] = client
	}
	makeClaim(s, s.Namespace, "waits", "1Gi")
	makeVolume(s, s.Namespace, s.Namespace, "1Gi", "")
	makeVolume(s, s.Namespace, s.Namespace+"-taken", "1Gi", "")
	_, err := s.Cluster.Client.CoreV1().PersistentVolumes().Patch(s.Ctx, s.Namespace+"-taken", types.MergePatchType, []byte(
		`{"spec":{"claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim","namespace":"other","name":"other","uid":"u"}}}`),
		metav1.PatchOptions{})
	s.Must(err)
	_, err = s.Cluster.Client.CoreV1().Pods(s.Namespace).Patch(s.Ctx, "waits", types.StrategicMergePatchType, []byte(
		`{"status":{"conditions":[{"type":"example.com/a","status":"True"}]}}`), metav1.PatchOptions{}, "status")
	s.Must(err)
	objects := map[string]struct{ resource, space, name string }{
		"claim": {"persistentvolumeclaims", s.Namespace, "waits"}, "volume": {"persistentvolumes", "", s.Namespace},
		"taken": {"persistentvolumes", "", s.Namespace + "-taken"}, "status": {"pods", s.Namespace, "waits"}}
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	registrations := schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1",
		Resource: "validatingwebhookconfigurations"}
	for _, c := range []struct {
		account, patch string
		refusal        string // empty: it is allowed
		object         string // of objects, "status" by that subresource; empty: the pod, or the registration
	}{
		{"scheduler", `{"spec":{"containers":[{"name":"main","image":"other"}]}}`, "no containers", ""},
		{"scheduler", `{"spec":{"activeDeadlineSeconds":1}}`, "no deadlines", ""},
		{"scheduler", `{"spec":{"schedulingGates":null}}`, "none but its own", ""},
		{"scheduler", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u"}]}}`, "no owners", ""},
		{"scheduler", `{"metadata":{"finalizers":["example.com/a"]}}`, "no finalizers", ""},
		{"scheduler", `{"metadata":{"labels":{"a":"z"}}}`, "only when it is admitted", ""},
		{"scheduler", `{"spec":{"nodeSelector":{"e":"f","g":"h"}}}`, "only when it is admitted", ""},
		{"scheduler", `[{"op":"add","path":"/spec/tolerations/-","value":{"operator":"Exists"}}]`, "only when it is admitted", ""},
		{"scheduler", `{"metadata":{"annotations":{"c":"z"}}}`, "no annotations of others", ""},
		{"scheduler", `{"metadata":{"annotations":{"c":null}}}`, "no annotations of others", ""},
		{"scheduler", `{"metadata":{"annotations":{"headgate.io/reserved":"q"}}}`, "", ""},
		{"scheduler", `{"metadata":{"finalizers":["kueue.x-k8s.io/managed"]}}`, "", ""},
		{"scheduler", `{"status":{"nominatedNodeName":"n","conditions":[` +
			`{"type":"PodScheduled","status":"False","reason":"Unschedulable"},` +
			`{"type":"headgate.io/ReservationTimedOut","status":"True"},{"type":"DisruptionTarget","status":"True"},` +
			`{"type":"TerminationTarget","status":"True"}]}}`, "", "status"},
		{"scheduler", `{"status":{"phase":"Succeeded"}}`, "nothing of a pod's status", "status"},
		{"scheduler", `{"status":{"phase":null}}`, "nothing of a pod's status", "status"},
		{"scheduler", `{"status":{"podIP":"10.0.0.9","podIPs":[{"ip":"10.0.0.9"}]}}`, "nothing of a pod's status", "status"},
		{"scheduler", `{"status":{"containerStatuses":[{"name":"main","image":"i","imageID":"i","ready":true,"restartCount":0}]}}`,
			"nothing of a pod's status", "status"},
		{"scheduler", `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, "no conditions of others", "status"},
		{"scheduler", `{"status":{"conditions":[{"type":"example.com/a","status":"False"}]}}`, "no conditions of others", "status"},
		{"scheduler", `{"status":{"conditions":[{"type":"example.com/a","$patch":"delete"}]}}`, "no conditions of others", "status"},
		{"scheduler", `{"metadata":{"labels":{"a":"z"}}}`, "nothing of a pod with its status", "status"},
		{"scheduler", `{"metadata":{"annotations":{"headgate.io/reserved":"q"}}}`, "nothing of a pod with its status", "status"},
		{"webhook", `[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]`, "nothing of its registrations", ""},
		{"webhook", `[{"op":"replace","path":"/webhooks/0/rules/0/resources","value":["*"]}]`, "nothing of its registrations", ""},
		{"webhook", `[{"op":"replace","path":"/webhooks/0/clientConfig/url","value":"https://127.0.0.1/a"}]`, "nothing of its registrations", ""},
		{"webhook", `[{"op":"remove","path":"/webhooks/0"}]`, "nothing of its registrations", ""},
		{"webhook", `[{"op":"replace","path":"/webhooks/0/clientConfig/caBundle","value":"` +
			base64.StdEncoding.EncodeToString(s.Cluster.CA) + `"}]`, "", ""},
		{"scheduler", `{"metadata":{"annotations":{"volume.kubernetes.io/selected-node":"n"}}}`, "", "claim"},
		{"scheduler", `{"metadata":{"annotations":{"pv.kubernetes.io/bind-completed":"yes"}}}`, "no annotations of others", "claim"},
		{"scheduler", `{"metadata":{"finalizers":null}}`, "no labels, owners and finalizers", "claim"},
		{"scheduler", `{"spec":{"volumeName":"v"}}`, "nothing that a claim asks for", "claim"},
		{"scheduler", `{"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":"yes"}},"spec":{"claimRef":{` +
			`"apiVersion":"v1","kind":"PersistentVolumeClaim","namespace":"n","name":"c","uid":"u"}}}`, "", "volume"},
		{"scheduler", `{"spec":{"claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim","namespace":"n","name":"c"}}}`,
			"no volume from a claim", "volume"},
		{"scheduler", `{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`, "nothing of a volume but its claim", "volume"},
		{"scheduler", `{"spec":{"capacity":{"storage":"2Gi"}}}`, "nothing of a volume but its claim", "volume"},
		{"scheduler", `{"metadata":{"labels":{"a":"z"}}}`, "no labels, owners and finalizers", "volume"},
		{"scheduler", `{"metadata":{"annotations":{"a":"z"}}}`, "no annotations of others", "volume"},
		{"scheduler", `{"spec":{"claimRef":null}}`, "no volume from a claim", "taken"},
		{"scheduler", `{"spec":{"claimRef":{"uid":"v"}}}`, "no volume from a claim", "taken"},
	} {
		resource, space, name, kind := pods, s.Namespace, "waits", types.StrategicMergePatchType
		var sub []string
		if c.account == "webhook" {
			resource, space, name = registrations, "", headgate.Release+"-queues-validate"
		}
		if o, found := objects[c.object]; found {
			resource, space, name = schema.GroupVersionResource{Version: "v1", Resource: o.resource}, o.space, o.name
		}
		if c.object == "status" {
			sub = []string{"status"}
		}
		if strings.HasPrefix(c.patch, "[") {
			kind = types.JSONPatchType
		}
		s.Eventually(c.account+" patches "+name+" with "+c.patch, func() error {
			_, err := as[c.account].Resource(resource).Namespace(space).Patch(s.Ctx, name, kind, []byte(c.patch),
				metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, sub...)
			if c.refusal == "" {
				return err
			}
			if err == nil || !strings.Contains(err.Error(), "Headgate's "+c.account) || !strings.Contains(err.Error(), c.refusal) {
				return fmt.Errorf("not refused with %q: %w", c.refusal, err)
			}
			return nil
		})
	}
	policiesAreWellTyped(s)
}

// policiesAreWellTyped: the controller manager compares each expression with the schemas of the kinds that it is about.
func policiesAreWellTyped(s *suite.S) {
	s.Helper()
	s.Eventually("all policies are checked, without warnings", func() error {
		policies, err := s.Cluster.Client.AdmissionregistrationV1().ValidatingAdmissionPolicies().List(s.Ctx, metav1.ListOptions{
			LabelSelector: "app.kubernetes.io/instance=" + headgate.Release})
		if err != nil {
			return err
		}
		for _, p := range policies.Items {
			if p.Status.ObservedGeneration != p.Generation || p.Status.TypeChecking == nil {
				return fmt.Errorf("%s is not checked", p.Name)
			}
			if warnings := p.Status.TypeChecking.ExpressionWarnings; len(warnings) > 0 {
				return fmt.Errorf("%s: %+v", p.Name, warnings)
			}
		}
		return nil
	})
}
