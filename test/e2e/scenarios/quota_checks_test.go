package scenarios

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"headgate/e2e/headgate"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// checker is a controller of admission checks, as a user would write one: it reads Workloads and
// updates their statuses. The test gives its answers for each Job, one after another.
type checker struct {
	s     *suite.S
	check string

	mu      sync.Mutex
	answers map[string][]string
	labels  map[string]any // that the pods of Ready ones get
	wrong   error
}

// answer lets it answer so when it is asked the next times.
func (c *checker) answer(job string, states ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[job] = append(c.answers[job], states...)
}

func (c *checker) workloads() ([]unstructured.Unstructured, error) {
	list, err := c.s.Cluster.Dynamic.Resource(headgate.Workloads).Namespace(c.s.Namespace).List(c.s.Ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// run looks at all Workloads whenever one of them changes, until ctx is done.
func (c *checker) run(ctx context.Context) {
	client := c.s.Cluster.Dynamic.Resource(headgate.Workloads).Namespace(c.s.Namespace)
	for ctx.Err() == nil {
		w, err := client.Watch(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		tick := time.NewTicker(100 * time.Millisecond) // answers may come later than Workloads
		for open := true; open; {
			select {
			case <-ctx.Done():
				open = false
			case _, open = <-w.ResultChan():
			case <-tick.C:
			}
			items, err := c.workloads()
			for i := range items {
				if err == nil {
					c.look(ctx, &items[i])
				}
			}
		}
		tick.Stop()
		w.Stop()
	}
}

// checksOf is the list in the Workload's status.
func checksOf(w *unstructured.Unstructured) []any {
	checks, _, _ := unstructured.NestedSlice(w.Object, "status", "admissionChecks")
	return checks
}

// look answers when quota is reserved and the check waits.
func (c *checker) look(ctx context.Context, w *unstructured.Unstructured) {
	owner := metav1.GetControllerOf(w)
	checks := checksOf(w)
	if owner == nil || suite.Condition(w, "QuotaReserved") != "True/QuotaReserved" || suite.Condition(w, "Evicted") == "True/AdmissionCheck" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range checks {
		check, _ := one.(map[string]any)
		again := len(c.answers[owner.Name]) > 0 && (check["state"] == "Pending" ||
			check["state"] == "Ready" && c.answers[owner.Name][0] != "Ready")
		if check["name"] != c.check || !again {
			continue
		}
		check["state"] = c.answers[owner.Name][0]
		check["message"] = "says the scenario"
		check["lastTransitionTime"] = time.Now().UTC().Format(time.RFC3339)
		if check["state"] == "Ready" {
			check["podSetUpdates"] = []any{map[string]any{"name": "main", "labels": c.labels}}
		}
		_ = unstructured.SetNestedSlice(w.Object, checks, "status", "admissionChecks")
		_, err := c.s.Cluster.Dynamic.Resource(headgate.Workloads).Namespace(c.s.Namespace).UpdateStatus(ctx, w, metav1.UpdateOptions{FieldManager: "e2e-checker"})
		if err == nil {
			c.answers[owner.Name] = c.answers[owner.Name][1:]
		} else if refused := apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err); refused && c.wrong == nil {
			c.wrong = err
		}
	}
}

// activate says that the controller is there for its check.
func (c *checker) activate() {
	c.s.Helper()
	patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Active","status":"True","reason":"Active",
		"message":"the checker runs","lastTransitionTime":%q}]}}`, time.Now().UTC().Format(time.RFC3339))
	_, err := c.s.Headgate.Kubectl(c.s.Ctx, "", "patch", "admissionchecks.kueue.x-k8s.io", c.check,
		"--subresource=status", "--type=merge", "-p", patch)
	c.s.Must(err)
}

// Checks of another controller come between quota and start. Ready starts the Job with the pod set
// updates of the check; Retry releases the quota and tries again, also when the Job runs;
// Rejected deactivates the Workload.
func TestQuotaAdmissionChecks(t *testing.T) {
	s := startTenants(t)
	s.Apply(`
{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: $NS-check},
 spec: {controllerName: e2e.headgate.io/checker}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: $NS-checked},
 spec: {namespaceSelector: {}, admissionChecksStrategy: {admissionChecks: [{name: $NS-check}]},
 resourceGroups: [{coveredResources: [cpu], flavors: [{name: $NS-spot,
 resources: [{name: cpu, nominalQuota: 4}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: checked}, spec: {clusterQueue: $NS-checked}}
`)
	queue := s.Namespace + "-checked"
	s.WaitCondition(headgate.ClusterQueues, queue, "Active", "False/AdmissionCheckInactive")
	c := &checker{s: s, check: s.Namespace + "-check", answers: map[string][]string{},
		labels: map[string]any{"e2e.headgate.io/checked": "yes"}}
	c.activate()
	s.WaitCondition(headgate.ClusterQueues, queue, "Active", "True/Ready")
	ctx, cancel := context.WithCancel(s.Ctx)
	var done sync.WaitGroup
	done.Go(func() { c.run(ctx) })
	t.Cleanup(func() { cancel(); done.Wait() })

	s.Job("ready", "checked", 2)
	s.WaitWorkload("ready", "QuotaReserved", "True/QuotaReserved")
	s.WaitWorkload("ready", "Admitted", "False/UnsatisfiedAdmissionChecks")
	s.Job("retried", "checked", 2)
	s.WaitWorkload("retried", "QuotaReserved", "True/QuotaReserved")
	// Of less priority: one that is tried again queues anew, behind others of its own.
	s.Job("rejected", "checked", 1, suite.Class(s.Namespace+"-idle"))
	s.WaitWorkload("rejected", "QuotaReserved", "False/WaitingForQuota")

	c.answer("ready", "Ready")
	s.WaitJobRuns("ready")
	for _, p := range s.JobPods("ready") {
		if p.Labels["e2e.headgate.io/checked"] != "yes" {
			t.Errorf("%s lacks the label that the check adds: %v", p.Name, p.Labels)
		}
	}
	c.answer("retried", "Retry", "Ready")
	s.Happened("retried", oracle.Released, 1)
	s.WaitJobRuns("retried")
	s.Before("Retry gives the quota back", s.Happened("retried", oracle.Released, 1),
		s.Happened("retried", oracle.Admitted, 1))

	c.answer("ready", "Retry")
	s.Happened("ready", oracle.Stopped, 1)
	s.Eventually("what the check adds to pods ends with the admission", func() error {
		w, err := s.WorkloadOf("ready")
		if err != nil {
			return err
		}
		for _, one := range checksOf(w) {
			check, _ := one.(map[string]any)
			if updates, _ := check["podSetUpdates"].([]any); len(updates) > 0 {
				return fmt.Errorf("%v", check)
			}
		}
		return nil
	})
	c.answer("ready", "Ready")
	s.Happened("ready", oracle.Started, 2)
	s.WaitJobRuns("ready")
	s.FinishJob("ready")
	c.answer("rejected", "Rejected")
	s.WaitWorkload("rejected", "Evicted", "True/DeactivatedDueToAdmissionCheck")
	s.Eventually("a rejected Workload is not active", func() error {
		w, err := s.WorkloadOf("rejected")
		if err != nil {
			return err
		}
		if active, found, _ := unstructured.NestedBool(w.Object, "spec", "active"); active || !found {
			return errors.New("it is")
		}
		return nil
	})
	s.Happened("rejected", oracle.Released, 1)
	if n := s.Times("rejected", oracle.Started); n > 0 {
		t.Errorf("a rejected Job was started %d times", n)
	}
	// A queue that asks for no check any more: they are gone from those that run, too.
	_, err := s.Headgate.Kubectl(s.Ctx, "", "patch", "clusterqueue", queue, "--type=merge",
		"-p", `{"spec":{"admissionChecksStrategy":null}}`)
	s.Must(err)
	s.Eventually("no check is left", func() error {
		w, err := s.WorkloadOf("retried")
		if err != nil {
			return err
		}
		if checks := checksOf(w); len(checks) > 0 {
			return fmt.Errorf("%v", checks)
		}
		return nil
	})
	s.WaitJobRuns("retried")
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wrong != nil {
		t.Errorf("a status that the checker wrote was refused: %v", c.wrong)
	}
}
