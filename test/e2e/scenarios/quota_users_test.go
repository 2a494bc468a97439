package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"headgate/e2e/suite"
)

// cells of what kubectl prints: under each heading the value, but not how old something is.
func cells(text string) string {
	var out []string
	var starts []int
	heads := regexp.MustCompile(`[A-Z]+( [A-Z]+)*`)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if starts == nil {
			for _, at := range heads.FindAllStringIndex(line, -1) {
				starts = append(starts, at[0])
			}
		}
		var row []string
		for i, from := range starts {
			to := len(line)
			if i+1 < len(starts) {
				to = min(to, starts[i+1])
			}
			row = append(row, strings.TrimSpace(line[min(from, len(line)):to]))
		}
		if len(out) > 0 && strings.HasSuffix(out[0], "AGE") {
			row[len(row)-1] = "-"
		}
		out = append(out, strings.Join(row, " | "))
	}
	return strings.Join(out, "\n")
}

// Columns and short names are those that users of Kueue know.
func TestQuotaColumns(t *testing.T) {
	s := startTenants(t)
	s.Job("runs", "green", 3)
	s.WaitJobRuns("runs")
	s.Job("waits", "green", 2)
	s.WaitWorkload("waits", "QuotaReserved", "False/WaitingForQuota")
	runs, waits := workloadName(s, "runs"), workloadName(s, "waits")
	for _, c := range []struct{ args, want string }{
		{"clusterqueue $NS-green $NS-red", "NAME | COHORT | PENDING WORKLOADS\n$NS-green | $NS-alone | 1\n$NS-red | $NS-shared | 0"},
		{"cq $NS-green -o wide", "NAME | COHORT | STRATEGY | PENDING WORKLOADS | ADMITTED WORKLOADS\n" +
			"$NS-green | $NS-alone | BestEffortFIFO | 1 | 1"},
		{"localqueue green", "NAME | CLUSTERQUEUE | PENDING WORKLOADS | ADMITTED WORKLOADS\ngreen | $NS-green | 1 | 1"},
		{"lq red", "NAME | CLUSTERQUEUE | PENDING WORKLOADS | ADMITTED WORKLOADS\nred | $NS-red | 0 | 0"},
		{"workload " + runs, "NAME | QUEUE | RESERVED IN | ADMITTED | FINISHED | AGE\n" + runs + " | green | $NS-green | True |  | -"},
		{"kwl " + waits, "NAME | QUEUE | RESERVED IN | ADMITTED | FINISHED | AGE\n" + waits + " | green |  | False |  | -"},
		{"wpc $NS-high", "NAME | VALUE\n$NS-high | 100"},
		{"rf $NS-spot", "NAME | AGE\n$NS-spot | -"},
		{"cohort $NS-shared", "NAME | AGE\n$NS-shared | -"},
	} {
		args := strings.Fields(s.Expand("get -n $NS " + c.args))
		s.Eventually("kubectl get "+c.args, func() error {
			text, err := s.Headgate.Kubectl(s.Ctx, "", args...)
			if found := cells(text); err == nil && found != s.Expand(c.want) {
				err = fmt.Errorf("found\n%s\nnot\n%s", found, s.Expand(c.want))
			}
			return err
		})
	}
}

// The examples that come with Kueue work as they are.
func TestQuotaExamplesOfKueue(t *testing.T) {
	folder := os.Getenv("E2E_KUEUE")
	if folder == "" {
		t.Skip("the module sigs.k8s.io/kueue is not on this machine")
	}
	files, err := filepath.Glob(filepath.Join(folder, "cmd/kueueviz/examples/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	s := suite.StartQuota(t)
	s.Nodes(1, "16", "64Gi")
	var jobs []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		s.Must(err)
		if !strings.Contains(string(text), "generateName") {
			s.Apply(string(text))
			continue
		}
		out, err := s.Headgate.Kubectl(s.Ctx, string(text), "create", "-n", s.Namespace, "-o", "name", "-f", "-")
		s.Must(err)
		for line := range strings.Lines(out) {
			jobs = append(jobs, strings.TrimPrefix(strings.TrimSpace(line), "job.batch/"))
		}
	}
	if len(jobs) == 0 {
		t.Error("the examples have no Jobs")
	}
	for _, job := range jobs {
		s.WaitJobRuns(job)
	}
}

// Manifests of v1beta1 work as well, where fields have the same names; the others are refused by the
// name that is right.
func TestQuotaOlderManifests(t *testing.T) {
	const older = `
{apiVersion: kueue.x-k8s.io/v1beta1, kind: ResourceFlavor, metadata: {name: $NS-any}}
---
{apiVersion: kueue.x-k8s.io/v1beta1, kind: WorkloadPriorityClass, metadata: {name: $NS-high}, value: 7}
---
{apiVersion: kueue.x-k8s.io/v1beta1, kind: Cohort, metadata: {name: $NS-all}, spec: {parentName: $NS-top}}
---
{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: $NS-old}, spec: {namespaceSelector: {},
 resourceGroups: [{coveredResources: [cpu], flavors: [{name: $NS-any, resources: [{name: cpu, nominalQuota: 4}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta1, kind: LocalQueue, metadata: {name: old}, spec: {clusterQueue: $NS-old}}
`
	s := suite.StartQuota(t)
	s.Nodes(1, "4", "8Gi")
	s.Apply(older)
	s.Job("runs", "old", 2, suite.Class(s.Namespace+"-high"))
	s.WaitJobRuns("runs")
	for field, name := range map[string]string{"cohort: a": "spec.cohortName",
		"admissionChecks: [a]":                         "spec.admissionChecksStrategy",
		"flavorFungibility: {whenCanBorrow: Borrow}":   "MayStopSearch",
		"flavorFungibility: {whenCanPreempt: Preempt}": "MayStopSearch",
	} {
		_, err := s.Headgate.Kubectl(s.Ctx, s.Expand("{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, "+
			"metadata: {name: $NS-refused}, spec: {"+field+"}}"), "apply", "-f", "-")
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("spec %s: %v; not refused by naming %s", field, err, name)
		}
	}
}

// Jobs that name no queue are none of our business: no webhook is asked about them, when they are
// created or when they are changed, and they start at once.
func TestQuotaJobsWithoutQueue(t *testing.T) {
	s := startTenants(t)
	before := reviews(s, "-job", "-pod")
	j := s.Job("plain", "", 2)
	if j.Spec.Suspend != nil && *j.Spec.Suspend {
		t.Error("a Job without queue was suspended")
	}
	s.WaitJobRuns("plain")
	_, err := s.Headgate.Kubectl(s.Ctx, "", "annotate", "job", "plain", "-n", s.Namespace, "a=b")
	s.Must(err)
	s.FinishJob("plain")
	s.Eventually("it is complete", func() error {
		if !slices.ContainsFunc(s.GetJob("plain").Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type == batchv1.JobComplete
		}) {
			return fmt.Errorf("%v", s.GetJob("plain").Status.Conditions)
		}
		return nil
	})
	if asked := reviews(s, "-job", "-pod") - before; asked != 0 {
		t.Errorf("the webhook was asked %v times", asked)
	}
	if w, err := s.WorkloadOf("plain"); err == nil {
		t.Errorf("it has Workload %s", w.GetName())
	}
	before = reviews(s, "-job")
	s.Job("queued", "green", 1)
	if asked := reviews(s, "-job") - before; asked < 2 {
		t.Errorf("about a Job of a queue the webhook was asked %v times", asked)
	}
	// A queue with that name takes Jobs of namespaces that are selected.
	s.Apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: default}, spec: {clusterQueue: $NS-green}}")
	s.Job("still-plain", "", 1)
	_, err = s.Headgate.Kubectl(s.Ctx, "", "label", "namespace", s.Namespace, "kueue.x-k8s.io/managed-namespace=true")
	s.Must(err)
	s.Eventually("a Job gets the default queue", func() error {
		j, err := s.Cluster.Client.BatchV1().Jobs(s.Namespace).Create(s.Ctx, s.JobSpec("defaulted", "", 1),
			metav1.CreateOptions{DryRun: []string{"All"}})
		if err == nil && j.Labels["kueue.x-k8s.io/queue-name"] != "default" {
			err = fmt.Errorf("labels %v", j.Labels)
		}
		return err
	})
}
