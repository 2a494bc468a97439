package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"headgate/e2e/headgate"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

const (
	multiKueueGate = "kueue.x-k8s.io/multikueue"
	orchestrator   = "orchestrator" // field manager
)

// gateOf is the entry of the gate in the Workload's status.
func gateOf(w *unstructured.Unstructured) map[string]any {
	list, _, _ := unstructured.NestedSlice(w.Object, "status", "preemptionGates")
	for _, g := range list {
		if m, _ := g.(map[string]any); m["name"] == multiKueueGate {
			return m
		}
	}
	return nil
}

// replica is a Workload as a manager cluster creates it, without a Job, and all its versions.
type replica struct {
	s      *suite.S
	client dynamic.ResourceInterface
	name   string
	opened string // resourceVersion of the write that opened the gate

	mu       sync.Mutex
	versions []*unstructured.Unstructured
}

// createReplica of a Job that will be created later, with a preemption gate.
func createReplica(s *suite.S, job *batchv1.Job, priority int64) *replica {
	s.Helper()
	template, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&job.Spec.Template)
	s.Must(err)
	w := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": map[string]any{"name": job.Name},
		"spec": map[string]any{
			"queueName": job.Labels[headgate.QueueLabel], "priority": priority,
			"preemptionGates": []any{map[string]any{"name": multiKueueGate}},
			"podSets": []any{map[string]any{"name": "main", "count": int64(*job.Spec.Parallelism),
				"template": template}}}}}
	r := &replica{s: s, name: job.Name, client: s.Cluster.Dynamic.Resource(headgate.Workloads).Namespace(s.Namespace)}
	w, err = r.client.Create(s.Ctx, w, metav1.CreateOptions{})
	s.Must(err)
	r.record(w)
	return r
}

// record appends each version of the Workload from now on, until the scenario ends.
func (r *replica) record(w *unstructured.Unstructured) {
	r.s.Helper()
	changes, err := r.client.Watch(r.s.Ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + r.name,
		ResourceVersion: w.GetResourceVersion(), TimeoutSeconds: new(int64(suite.Timeout.Seconds()))})
	r.s.Must(err)
	r.s.Cleanup(changes.Stop)
	go func() {
		for e := range changes.ResultChan() {
			if w, ok := e.Object.(*unstructured.Unstructured); ok {
				r.mu.Lock()
				r.versions = append(r.versions, w)
				r.mu.Unlock()
			}
		}
	}()
}

// waitVersion returns the first version for which f holds.
func (r *replica) waitVersion(what string, f func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	r.s.Helper()
	var found *unstructured.Unstructured
	r.s.Eventually("a version of Workload "+r.name+": "+what, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		at := slices.IndexFunc(r.versions, f)
		if at < 0 {
			return fmt.Errorf("none of %d", len(r.versions))
		}
		found = r.versions[at]
		return nil
	})
	return found
}

// has reports whether both fields of the gate say this.
func has(position string) func(*unstructured.Unstructured) bool {
	return func(w *unstructured.Unstructured) bool {
		g := gateOf(w)
		return g["position"] == position && g["state"] == position
	}
}

// checkFields: the fields of the gate disagree in no version but that of the write that opened it. The
// first one may have one field alone, until it is known which ones are served.
func (r *replica) checkFields() {
	r.s.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.versions {
		g := gateOf(w)
		position, state := g["position"], g["state"]
		if position != nil && state != nil && position != state && w.GetResourceVersion() != r.opened {
			r.s.Errorf("at resourceVersion %s the gate is %v", w.GetResourceVersion(), g)
		}
	}
}

// openGate opens the gate and returns the Workload as the API server answered.
type openGate func(*replica) (*unstructured.Unstructured, error)

// apply opens the gate by server-side apply of one field.
func (r *replica) apply(field string) (*unstructured.Unstructured, error) {
	return r.client.ApplyStatus(r.s.Ctx, r.name, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": map[string]any{"name": r.name},
		"status": map[string]any{"preemptionGates": []any{map[string]any{"name": multiKueueGate, field: "Open"}}},
	}}, metav1.ApplyOptions{FieldManager: orchestrator, Force: true})
}

// patch opens the gate by a merge patch, which replaces the list by this entry.
func (r *replica) patch(entry map[string]any) (*unstructured.Unstructured, error) {
	body, err := (&unstructured.Unstructured{Object: map[string]any{"kind": "Workload",
		"status": map[string]any{"preemptionGates": []any{entry}}}}).MarshalJSON()
	r.s.Must(err)
	return r.client.Patch(r.s.Ctx, r.name, types.MergePatchType, body,
		metav1.PatchOptions{FieldManager: orchestrator}, "status")
}

// letSchedulerDecide returns when all has been decided that followed from what was written before:
// the second of two Jobs, one created after the other, has quota in another cohort.
func letSchedulerDecide(s *suite.S, name string) suite.Moment {
	s.Helper()
	s.Job(name+"-1", "red", 1)
	s.WaitWorkload(name+"-1", "Admitted", "True/Admitted")
	s.Job(name+"-2", "red", 1)
	return s.Happened(name+"-2", oracle.Reserved, 1)
}

// A replica with a closed gate preempts nothing and says that it would. When another field manager
// opens the gate, in the words of KEP-8303 (state) or in Kueue's (position), it preempts at once, and
// Headgate's next write makes both fields agree. The eviction of the replica closes both.
func TestQuotaPreemptionGate(t *testing.T) {
	for name, open := range map[string]openGate{
		"apply-state":    func(r *replica) (*unstructured.Unstructured, error) { return r.apply("state") },
		"apply-position": func(r *replica) (*unstructured.Unstructured, error) { return r.apply("position") },
		"patch-state": func(r *replica) (*unstructured.Unstructured, error) {
			return r.patch(map[string]any{"name": multiKueueGate, "state": "Open"})
		},
		"patch-position-of-what-was-read": func(r *replica) (*unstructured.Unstructured, error) {
			w, err := r.client.Get(r.s.Ctx, r.name, metav1.GetOptions{})
			r.s.Must(err)
			entry := maps.Clone(gateOf(w))
			entry["position"] = "Open"
			return r.patch(entry)
		},
	} {
		t.Run(name, func(t *testing.T) { playPreemptionGate(startTenants(t), open) })
	}
}

func playPreemptionGate(s *suite.S, open openGate) {
	s.Apply(`{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: $NS-top}, value: 200}`)
	s.Job("victim", "green", 4)
	s.WaitJobRuns("victim")
	job := s.JobSpec("gated", "green", 4, func(j *batchv1.Job) {
		j.Labels["kueue.x-k8s.io/prebuilt-workload-name"] = j.Name
	}, suite.Class(s.Namespace+"-high"))
	r := createReplica(s, job, 100)
	r.waitVersion("it asks that the gate be opened", func(w *unstructured.Unstructured) bool {
		return suite.Condition(w, "BlockedOnPreemptionGates") == "True/PreemptionGated" &&
			suite.Condition(w, "QuotaReserved") == "False/AdmissionGated" && has("Closed")(w)
	})
	letSchedulerDecide(s, "before")
	if n := s.Times("victim", oracle.Evicted); n > 0 {
		s.Fatalf("a Workload with a closed gate preempted, %d times", n)
	}

	w, err := open(r)
	s.Must(err)
	r.opened = w.GetResourceVersion()
	after := letSchedulerDecide(s, "after")
	s.Before("the gate was opened", s.Happened("victim", oracle.Evicted, 1), after)
	r.waitVersion("the gate is open", has("Open"))
	s.WaitJobStopped("victim")
	r.waitVersion("it is admitted", func(w *unstructured.Unstructured) bool {
		return suite.Condition(w, "Admitted") == "True/Admitted" && has("Open")(w) &&
			strings.HasPrefix(suite.Condition(w, "BlockedOnPreemptionGates"), "False/")
	})
	_, err = s.Cluster.Client.BatchV1().Jobs(s.Namespace).Create(s.Ctx, job, metav1.CreateOptions{})
	s.Must(err)
	s.WaitJobRuns("gated")

	s.Job("top", "green", 4, suite.Class(s.Namespace+"-top"))
	s.WaitJobRuns("top")
	evicted := r.waitVersion("it is evicted", func(w *unstructured.Unstructured) bool {
		return suite.Condition(w, "Evicted") == "True/Preempted"
	})
	if !has("Closed")(evicted) {
		s.Errorf("the gate of an evicted Workload: %v", gateOf(evicted))
	}
	s.WaitWorkload("gated", "QuotaReserved", "False/WaitingForQuota")
	letSchedulerDecide(s, "end")
	r.checkFields()
}
