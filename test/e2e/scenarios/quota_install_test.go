package scenarios

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"headgate/e2e/headgate"
	"headgate/e2e/suite"
)

var heredoc = regexp.MustCompile(`(?s)<<'?EOF'?\n(.*?\n)EOF\n`)

// firstOf waits until one of two Jobs has quota, and returns it, then the other one: those that are
// created in the same second have no order.
func firstOf(s *suite.S, one, two string) (first, second string) {
	s.Helper()
	s.Eventually(one+" or "+two+" has quota", func() error {
		for first, second = range map[string]string{one: two, two: one} {
			w, err := s.WorkloadOf(first)
			if err == nil && suite.Condition(w, "QuotaReserved") == "True/QuotaReserved" {
				return nil
			}
		}
		return errors.New("none")
	})
	return first, second
}

// The example of Jobs that share quota works as it is pasted.
func TestQuotaQuickStart(t *testing.T) {
	s := suite.StartQuota(t)
	s.Nodes(1, "8", "16Gi")
	text, err := os.ReadFile(filepath.Join(filepath.Dir(s.Headgate.Chart()), "..", "docs", "examples.md"))
	s.Must(err)
	_, rest, _ := strings.Cut(string(text), "\n## A Job in a LocalQueue\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	script := ""
	for i, block := range strings.Split(section, "```\n") {
		if i%2 == 1 && strings.HasPrefix(block, "kubectl") {
			script += block
		}
	}
	if script == "" {
		t.Fatal("docs/examples.md: no commands under A Job in a LocalQueue")
	}
	for _, m := range heredoc.FindAllStringSubmatch(script, -1) {
		s.Owns(m[1])
	}
	kubectl := fmt.Sprintf("kubectl() { %s/kubectl -n %s \"$@\"; }\n", s.Cluster.Bin, s.Namespace)
	out, err := s.Cluster.Run(s.Ctx, "", "sh", "-e", "-c", kubectl+script)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	first, second := firstOf(s, "train-1", "train-2")
	s.WaitJobRuns(first)
	s.WaitWorkload(second, "QuotaReserved", "False/WaitingForQuota")
	if pods := s.JobPods(second); len(pods) > 0 {
		t.Errorf("a Job that waits has %d pods", len(pods))
	}
	s.FinishJob(first)
	s.WaitJobRuns(second)
}

// Quota for Workloads is turned on and off by upgrades. A CRD of Kueue that is there already is left
// alone; with quota off again nothing of the users' is gone, and their Jobs are not touched.
func TestQuotaUpgrade(t *testing.T) {
	const foreign, ours = "admissionchecks.kueue.x-k8s.io", "clusterqueues.kueue.x-k8s.io"

	s := suite.StartOwn(t, suite.Options{Empty: true})
	h := s.Headgate
	values := []string{"scheduler.replicas=1", "webhook.replicas=1", "webhook.extraArgs[0]=--shutdown-delay-duration=0s"}
	s.Must(h.HelmInstall(s.Ctx, values))
	_, err := h.Kubectl(s.Ctx, "", "apply", "-f", filepath.Join(h.Chart(), "files", "crds", "quota", "admissionchecks.yaml"))
	s.Must(err)
	s.Nodes(1, "16", "64Gi")
	if j := s.Job("before", "main", 1); j.Spec.Suspend != nil && *j.Spec.Suspend {
		t.Error("a Job was suspended while quota is off")
	}
	s.WaitJobRuns("before")
	s.FinishJob("before")
	s.Eventually("it is complete", func() error {
		if s.GetJob("before").Status.CompletionTime == nil {
			return errors.New("not yet")
		}
		return nil
	})

	s.Must(h.HelmUpgrade(s.Ctx, append(slices.Clone(values), "quota.enabled=true")))
	life := &chartLife{S: s}
	if owner := life.owner(foreign); owner != "" {
		t.Errorf("the CRD of another manager belongs to release %q", owner)
	}
	if owner := life.owner(ours); owner != headgate.Release {
		t.Errorf("our CRD belongs to release %q", owner)
	}
	const queue = `
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: $NS-any}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: $NS-main}, spec: {namespaceSelector: {},
 resourceGroups: [{coveredResources: [cpu], flavors: [{name: $NS-any, resources: [{name: cpu, nominalQuota: 4}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: main}, spec: {clusterQueue: $NS-main}}
`
	s.Apply(queue)
	s.Job("on", "main", 4)
	s.WaitJobRuns("on")
	s.Job("waits", "main", 1)
	s.WaitWorkload("waits", "QuotaReserved", "False/WaitingForQuota")

	// Roles get smaller before the daemons end that look after Workloads.
	s.CheckRights()
	s.Must(h.HelmUpgrade(s.Ctx, values))
	s.ForgiveRefusals()
	if j := s.Job("off", "main", 1); j.Spec.Suspend != nil && *j.Spec.Suspend {
		t.Error("a Job was suspended although quota is off")
	}
	s.WaitJobRuns("off")
	s.WaitJobRuns("on")
	if !*s.GetJob("waits").Spec.Suspend {
		t.Error("a Job that waited was let go")
	}
	_, err = s.Cluster.Dynamic.Resource(headgate.ClusterQueues).Get(s.Ctx, s.Namespace+"-main", metav1.GetOptions{})
	s.Must(err)

	s.Must(h.HelmUpgrade(s.Ctx, append(slices.Clone(values), "quota.enabled=true")))
	s.FinishJob("on")
	s.WaitJobRuns("waits")
	// It ran without quota, was stopped, and queued.
	s.WaitWorkload("off", "Admitted", "True/Admitted")
	s.WaitJobRuns("off")
}
