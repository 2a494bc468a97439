package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"headgate/e2e/cluster"
	"headgate/e2e/headgate"
	"headgate/e2e/suite"
)

// volcanoConfiguration is that of Volcano's chart, as the scenario of this name in test/scenario has it.
func volcanoConfiguration(t *testing.T) string {
	text, err := os.ReadFile(filepath.Join(suite.Repository(), "test", "scenario", "volcano_chart_configuration.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var scenario struct{ Conf string }
	if err := yaml.Unmarshal(text, &scenario); err != nil || scenario.Conf == "" {
		t.Fatalf("%q: %v", scenario.Conf, err)
	}
	return scenario.Conf
}

// warned are the lines of the scheduler's log about its configuration.
func warned(d *headgate.Daemon) []string {
	return slices.DeleteFunc(strings.Split(d.Output(), "\n"), func(line string) bool {
		return !strings.HasPrefix(line, "W") || !strings.Contains(line, ".yaml") && !strings.Contains(line, ".conf")
	})
}

// The configuration of Volcano's chart as it is: the scheduler is ready, and queues get what their weights deserve of the
// nodes that exist, in turns; a PodGroup that asks for more than the cluster is not enqueued, a gang starts as a whole,
// and gates depend on the capability alone. What Headgate leaves out is named with file and line.
func TestScenario12VolcanoConfiguration(t *testing.T) {
	conf := volcanoConfiguration(t)
	s := suite.StartOwn(t, suite.Options{Values: []string{"scheduler.replicas=1",
		"scheduler.config=" + strings.ReplaceAll(conf, ",", `\,`)}})
	scheduler := s.Headgate.Schedulers[0]
	s.Must(scheduler.Ready(s.Ctx))
	if w := warned(scheduler); len(w) > 0 {
		t.Errorf("warnings: %v", w)
	}
	weight := func(w int64) suite.QueueOption {
		return func(q *unstructured.Unstructured) {
			s.Must(unstructured.SetNestedField(q.Object, w, "spec", "weight"))
		}
	}
	a, b := s.Queue("a", "", "", weight(1)), s.Queue("b", "", "", weight(3))
	// Without a node nothing is decided about them, so that they are decided about together.
	s.PodGroup("big", a, 1, cluster.Resources("5", "1Gi"))
	s.PodGroup("ga", a, 1, nil)
	s.PodGroup("gb", b, 1, nil)
	s.PodGroup("gang", b, 2, nil)
	s.Pod("big-0", suite.Group("big"), cpu("5"))
	as := makePods(s, "a", 3, suite.Group("ga"), cpu("1"))
	s.Pod("gang-0", suite.Group("gang"), cpu("1"))
	bs := makePods(s, "b", 3, suite.Group("gb"), cpu("1"))
	s.SchedulerSawAll()
	s.WaitAllRunning()
	s.NodeOf(cluster.Resources("4", "8Gi"))
	running := func(names []string) int {
		return len(slices.DeleteFunc(slices.Clone(names), func(n string) bool {
			return s.GetPod(n).Status.Phase != corev1.PodRunning
		}))
	}
	s.Eventually("one pod of a and three of b run", func() error {
		if x, y := running(as), running(bs); x != 1 || y != 3 {
			return fmt.Errorf("%d and %d", x, y)
		}
		return nil
	})
	phase := func(group string, want ...string) {
		s.Helper()
		s.Eventually(fmt.Sprintf("%s is one of %q", group, want), func() error {
			g, err := s.Cluster.Dynamic.Resource(headgate.PodGroups).Namespace(s.Namespace).Get(s.Ctx, group, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if now, _, _ := unstructured.NestedString(g.Object, "status", "phase"); !slices.Contains(want, now) {
				return fmt.Errorf("%s", now)
			}
			return nil
		})
	}
	phase("ga", "Running")
	phase("big", "", "Pending")
	waitEvent(s, "big-0", "FailedScheduling")

	// The second member of the gang; then room for it, as a whole.
	s.Pod("gang-1", suite.Group("gang"), cpu("1"))
	s.Pod("gated", suite.Opted, suite.Group("gb"), cpu("8"))
	s.WaitPublished("gated")
	s.DeletePod(bs[0])
	s.SchedulerSawAll()
	if n := running([]string{"gang-0", "gang-1"}); n != 0 {
		t.Errorf("%d pods of the gang run, for which there is one place", n)
	}
	s.DeletePod("gated")
	s.DeletePod(bs[1])
	s.WaitRunning("gang-0", "gang-1")
	leftOut(s, conf)
}

// leftOut adds what Volcano has and Headgate has not: it is named with file and line, and the rest goes on.
func leftOut(s *suite.S, conf string) {
	s.Helper()
	scheduler := s.Headgate.Schedulers[0]
	maps := s.Cluster.Client.CoreV1().ConfigMaps(headgate.Namespace)
	list, err := maps.List(s.Ctx, metav1.ListOptions{})
	s.Must(err)
	changed := strings.Replace(conf, "backfill", "backfill, shuffle", 1) + "- plugins:\n  - name: tdm\n"
	for _, m := range list.Items {
		for key, text := range m.Data {
			if text == conf {
				m.Data[key] = changed
				_, err := maps.Update(s.Ctx, &m, metav1.UpdateOptions{})
				s.Must(err)
			}
		}
	}
	s.Must(scheduler.SyncFiles(s.Ctx))
	s.Eventually("what is left out is named", func() error {
		w := strings.Join(warned(scheduler), "\n")
		for _, want := range []string{":1", "shuffle", "tdm", fmt.Sprintf(":%d", strings.Count(changed, "\n"))} {
			if !strings.Contains(w, want) {
				return fmt.Errorf("no %q in: %s", want, w)
			}
		}
		return nil
	})
	s.Must(scheduler.Ready(s.Ctx))
	s.Pod("after") // requests nothing: the node is full
	s.WaitRunning("after")
}
