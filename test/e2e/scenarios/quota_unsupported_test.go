package scenarios

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"headgate/e2e/headgate"
	"headgate/e2e/suite"
)

const queueLabel = "kueue.x-k8s.io/queue-name: nowhere"

// deployment has labels LABELS, and its pods have PODS beside the one that it selects them by.
func deployment(name, labels, pods string) string {
	return fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, labels: {%s}}, spec: {
		replicas: 0, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a, %s}},
		spec: {containers: [{name: main, image: pause}]}}}}`, name, labels, pods)
}

// said is what kubectl prints, warnings and refusals as well.
func said(s *suite.S, manifest, args string) string {
	s.Helper()
	out, err := s.Cluster.Run(s.Ctx, strings.ReplaceAll(manifest, "\t", " "), "sh", "-c",
		s.Cluster.Bin+"/kubectl -n "+s.Namespace+" "+args+" 2>&1 || true")
	s.Must(err)
	return out
}

// eventuallyAnswered waits until a Deployment that names a queue is answered like that: the API server learns
// policies by and by.
func eventuallyAnswered(s *suite.S, with string) {
	s.Helper()
	s.Eventually("a labelled Deployment is answered with "+with, func() error {
		out := said(s, deployment("named", queueLabel, "b: c"), "create --dry-run=server -f -")
		if strings.Contains(out, with) && strings.Contains(out, "a Deployment does not wait for quota") {
			return nil
		}
		return fmt.Errorf("kubectl said: %s", out)
	})
}

// A Deployment that names a queue does not wait for it: its user is warned, once, unless its pods queue.
func TestQuotaUnsupportedKinds(t *testing.T) {
	s := suite.StartQuota(t)
	eventuallyAnswered(s, "Warning: ")
	for _, c := range []struct {
		name, manifest, args string
		warns                bool
	}{
		{"without the label", deployment("plain", "a: b", "b: c"), "apply -f -", false},
		{"its pods have it, too", deployment("pods", queueLabel, queueLabel), "apply -f -", false},
		{"it gets the label", deployment("plain", queueLabel, "b: c"), "apply -f -", true},
		{"it has the label already", "", "scale deployment plain --replicas=1", false},
		{"an update of its specification", "", "set image deployment plain main=other", false},
		{"it is deleted", "", "delete deployment plain pods", false},
	} {
		out := said(s, c.manifest, c.args)
		if strings.Contains(out, "does not wait for quota") != c.warns || strings.Contains(out, "rror") {
			t.Errorf("%s: %s", c.name, out)
		}
	}
}

// With the value deny it is refused, also when the Configuration is one of Kueue's that integrates the kind. So are
// pods, which this one does not have queue, but not those of a Job that does.
func TestQuotaUnsupportedKindsAreDenied(t *testing.T) {
	s := suite.StartOwn(t, suite.Options{Values: []string{"quota.enabled=true", "scheduler.replicas=1",
		"webhook.replicas=1", "quota.unsupportedKinds=deny",
		`quota.config=integrations: {frameworks: [batch/job\, deployment]}`}})
	eventuallyAnswered(s, "denied request")
	out := said(s, `{apiVersion: v1, kind: Pod, metadata: {name: named, labels: {`+queueLabel+`}},
		spec: {containers: [{name: main, image: pause}]}}`, "create -f -")
	if !strings.Contains(out, "a Pod does not wait for quota, it starts at once") {
		t.Errorf("a labelled pod: %s", out)
	}
	makeTenants(s)
	s.Job("labelled", "green", 1, func(j *batchv1.Job) {
		j.Spec.Template.Labels = map[string]string{headgate.QueueLabel: "green"}
	})
	s.WaitJobRuns("labelled")
}
