package oracle

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func testJob(uid string, active int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{"namespace": "ns", "name": "j", "uid": uid},
		"status":   map[string]any{"active": active}}}
}

func TestRuns(t *testing.T) {
	r := &Runs{active: map[string]map[string]string{}, starts: map[string][]string{}, twice: map[string]int{}}
	for i, step := range []struct {
		cluster string
		job     *unstructured.Unstructured
		gone    bool
		starts  []string
		twice   int
	}{
		{"w1", testJob("a", 0), false, nil, 0},
		{"w1", testJob("a", 1), false, []string{"w1"}, 0},
		{"w1", testJob("a", 2), false, []string{"w1"}, 0},
		{"w1", testJob("a", 0), false, []string{"w1"}, 0},
		{"w2", testJob("b", 1), false, []string{"w1", "w2"}, 0},
		{"w1", testJob("a", 1), false, []string{"w1", "w2", "w1"}, 1},
		{"w1", testJob("a", 1), true, []string{"w1", "w2", "w1"}, 1},
		{"w2", testJob("c", 1), false, []string{"w1", "w2", "w1", "w2"}, 1}, // deleted and made again
	} {
		r.see(step.cluster, step.job, step.gone)
		if got := r.Starts("ns", "j"); !slices.Equal(got, step.starts) || r.Twice("ns", "j") != step.twice {
			t.Errorf("step %d: %v, %d times twice", i, got, r.Twice("ns", "j"))
		}
	}
}
