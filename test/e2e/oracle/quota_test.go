package oracle

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func fromYAML(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	// Numbers as the API server's JSON has them.
	text2, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.UnmarshalJSON(text2); err != nil {
		t.Fatal(err)
	}
	return o
}

func queueYAML(parent, cpu, limits string) string {
	return `{apiVersion: v1, kind: Queue, metadata: {name: q}, spec: {cohortName: "` + parent + `", parentName: "` + parent +
		`", resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: ` +
		cpu + limits + `}]}]}]}}`
}

// workloadYAML of Job "job-NAME"; cpu "": without admission.
func workloadYAML(name, queue, cpu, conditions string) string {
	admission := ""
	if cpu != "" {
		admission = `, admission: {clusterQueue: ` + queue + `, podSetAssignments: [{name: main, count: 2,
  flavors: {cpu: f}, resourceUsage: {cpu: "` + cpu + `"}}]}`
	}
	return `{apiVersion: v1, kind: Workload, metadata: {name: ` + name + `, namespace: ns, uid: u-` + name + `,
 ownerReferences: [{apiVersion: batch/v1, kind: Job, name: job-` + name + `, uid: j-` + name + `, controller: true}]},
 status: {conditions: [` + conditions + `]` + admission + `}}`
}

func jobYAML(name, suspend, active string) string {
	return `{apiVersion: batch/v1, kind: Job, metadata: {name: job-` + name + `, uid: j-` + name + `,
 labels: {kueue.x-k8s.io/queue-name: lq}}, spec: {suspend: ` + suspend + `}, status: {active: ` + active + `}}`
}

const (
	yes    = `{type: Admitted, status: "True"}`
	no     = `{type: Admitted, status: "False"}`
	theEnd = `{type: Finished, status: "True"}`
)

// One step after the other; the cohort "all" has 1 cpu of its own, a has 4 and lends 3, b has 2 and
// borrows up to 3; c has 1 and no cohort.
func TestQuotaRules(t *testing.T) {
	w, j := workloadYAML, jobYAML
	for _, c := range []struct {
		name   string
		steps  []string
		breach string
	}{
		{"within nominal quota", []string{w("x", "a", "4", "")}, ""},
		{"alone", []string{w("x", "c", "1", ""), w("y", "c", "1", "")}, "ClusterQueue c uses 2000m"},
		{"all of the cohort", []string{w("x", "a", "7", "")}, ""},
		{"more than the cohort", []string{w("x", "a", "8", "")}, "Cohort all uses"},
		{"borrowing limit", []string{w("x", "b", "5", "")}, ""},
		{"beyond the borrowing limit", []string{w("x", "b", "6", "")}, "ClusterQueue b uses 6000m"},
		{"what is not lent", []string{w("x", "b", "5", ""), w("y", "a", "2", "")}, ""},
		{"what is lent twice", []string{w("x", "b", "5", ""), w("y", "a", "2500m", "")}, "Cohort all"},
		{"finished ones count no more", []string{w("x", "c", "1", theEnd), w("y", "c", "1", "")}, ""},
		{"no such queue", []string{w("x", "d", "1", "")}, "no ClusterQueue d"},
		{"admission stays", []string{w("x", "a", "2", ""), w("x", "b", "2", "")}, "changed"},
		{"admitted without quota", []string{w("x", "a", "", yes)}, "without an admission"},
		{"runs", []string{j("x", "true", "0"), w("x", "a", "2", yes), j("x", "false", "0")}, ""},
		{"runs too early", []string{j("x", "true", "0"), w("x", "a", "2", no), j("x", "false", "0")}, "started 1 times"},
		{"runs on", []string{w("x", "a", "2", yes), j("x", "false", "0"), w("x", "a", "2", no)}, "without an admitted"},
		{"stopped", []string{w("x", "a", "2", yes), j("x", "false", "2"), j("x", "true", "0"), w("x", "a", "", no)}, ""},
		{"pods are left", []string{w("x", "a", "2", yes), j("x", "false", "2"), j("x", "true", "1"),
			w("x", "a", "", no)}, "1 active pods"},
		{"started twice", []string{w("x", "a", "2", yes), j("x", "false", "2"), j("x", "true", "0"),
			j("x", "false", "0")}, "started 2 times"},
		{"admitted again", []string{w("x", "a", "2", yes), j("x", "false", "2"), j("x", "true", "0"),
			w("x", "a", "", no), w("x", "a", "2", yes), j("x", "false", "0")}, ""},
		{"admitted before its Job was made", []string{strings.Replace(w("x", "a", "2", yes), "ownerReferences", "others", 1),
			j("x", "true", "0"), w("x", "a", "2", yes), j("x", "false", "2")}, ""},
		{"two Workloads of a Job", []string{w("x", "a", "1", ""),
			strings.Replace(w("x", "a", "1", ""), "name: x, namespace", "name: x2, namespace", 1)}, "one Job"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newQuotaState()
			setNode(s.cohorts, "all", fromYAML(t, queueYAML("", "1", "")), "parentName")
			setNode(s.queues, "a", fromYAML(t, queueYAML("all", "4", ", lendingLimit: 3")), "cohortName")
			setNode(s.queues, "b", fromYAML(t, queueYAML("all", "2", ", borrowingLimit: 3")), "cohortName")
			setNode(s.queues, "c", fromYAML(t, queueYAML("", "1", "")), "cohortName")
			var err error
			for i, step := range c.steps {
				o := fromYAML(t, step)
				if o.GetKind() == "Job" {
					s.setJob("ns/"+o.GetName(), o, int64(i))
				} else {
					s.setWorkload("ns/"+o.GetName(), o, int64(i))
				}
				if err = s.check(); err != nil {
					break
				}
			}
			if c.breach == "" && err != nil || c.breach != "" && (err == nil || !strings.Contains(err.Error(), c.breach)) {
				t.Errorf("got %v, want %q", err, c.breach)
			}
		})
	}
}

func TestReclaimablePodsCountNoMore(t *testing.T) {
	text := strings.Replace(workloadYAML("x", "c", "2", ""), "status: {", "status: {reclaimablePods: [{name: main, count: 1}], ", 1)
	if w := newWorkload(fromYAML(t, text)); milli(w.usage, "f/cpu") != 1000 {
		t.Errorf("uses %dm", milli(w.usage, "f/cpu"))
	}
}
