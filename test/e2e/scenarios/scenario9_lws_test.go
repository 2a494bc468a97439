package scenarios

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"headgate/e2e/suite"
)

// createServe creates the LeaderWorkerSet serve of docs/examples.md: two groups of three pods.
func createServe(s *suite.S, nodes map[string]string, queue string) {
	s.Helper()
	set := s.Example("A LeaderWorkerSet")
	annotations := map[string]string{suite.QueueNameKey: queue}
	set.SetAnnotations(annotations) // for the PodGroups that its controller makes
	template, _, err := unstructured.NestedMap(set.Object, "spec", "leaderWorkerTemplate", "workerTemplate")
	s.Must(err)
	decorate(s, template, nodes, annotations)
	s.Must(unstructured.SetNestedMap(set.Object, template, "spec", "leaderWorkerTemplate", "workerTemplate"))
	s.Create(suite.LeaderWorkerSets, set)
}

// updateServe changes the template of the pods, and how the change is rolled out.
func updateServe(s *suite.S, revision string, unavailable, surge int) {
	s.Helper()
	template := fmt.Sprintf(`{"metadata":{"annotations":{"revision":%q}}}`, revision)
	s.Patch(suite.LeaderWorkerSets, "serve", fmt.Sprintf(`{"spec":{"leaderWorkerTemplate":{"workerTemplate":%s},`+
		`"rolloutStrategy":{"type":"RollingUpdate","rollingUpdateConfiguration":{"maxUnavailable":%d,"maxSurge":%d}}}}`,
		template, unavailable, surge), "")
}

// waitServes waits until so many groups are ready, of this revision ("": of any), and there is no other pod.
func waitServes(s *suite.S, groups int, revision string) {
	s.Helper()
	s.Eventually(fmt.Sprintf("%d groups of revision %q are ready", groups, revision), func() error {
		set, err := s.Cluster.Dynamic.Resource(suite.LeaderWorkerSets).Namespace(s.Namespace).Get(s.Ctx, "serve", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if n, _, _ := unstructured.NestedInt64(set.Object, "status", "readyReplicas"); n != int64(groups) {
			return fmt.Errorf("%d groups", n)
		}
		pods, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).List(s.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, p := range pods.Items {
			if p.Annotations["revision"] != revision && revision != "" {
				return fmt.Errorf("%s is of revision %q", p.Name, p.Annotations["revision"])
			}
		}
		if len(pods.Items) != 3*groups {
			return fmt.Errorf("%d pods", len(pods.Items))
		}
		return nil
	})
}

func scaleServe(s *suite.S, groups int) {
	s.Helper()
	s.Patch(suite.LeaderWorkerSets, "serve", fmt.Sprintf(`{"spec":{"replicas":%d}}`, groups), "scale")
}

// group are the names of the pods of one group: the leader and its workers.
func group(n int) []string {
	leader := fmt.Sprintf("serve-%d", n)
	return []string{leader, leader + "-1", leader + "-2"}
}

// evictAndWait evicts a pod and waits until another one has its name.
func evictAndWait(s *suite.S, name string) {
	s.Helper()
	old := s.GetPod(name).UID
	evict(s, name)
	s.Eventually(name+" is back", func() error {
		p, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).Get(s.Ctx, name, metav1.GetOptions{})
		if err == nil && p.UID == old {
			err = fmt.Errorf("it is the old one")
		}
		return err
	})
}

// The pods of a LeaderWorkerSet in a labelled namespace wait for their queue one by one. Groups that are added, updated
// or made anew wait; those that an update adds for a while need quota beside the others.
func TestScenario9LeaderWorkerSet(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "16", "32Gi")
	q := s.Queue("q", "4", "16Gi")
	label(s)
	s.LeaderWorkerSetController(false)
	createServe(s, nil, q)
	waitCounts(s, 4, 2)
	s.WaitRunning(holding(s, "serve-")...)
	explains(s, waiting(s)[0], "waits for quota")
	s.Limit(q, "6")
	waitServes(s, 2, "")

	scaleServe(s, 3)
	waitCounts(s, 6, 3)
	scaleServe(s, 1)
	waitCounts(s, 3, 0)
	scaleServe(s, 2)
	waitServes(s, 2, "")

	// Nothing of the old revision may end before the surge is ready, which needs quota for a third group.
	updateServe(s, "2", 0, 1)
	waitCounts(s, 6, 3)
	s.SchedulerSawAll()
	s.WaitGated(group(2)...)
	explains(s, "serve-2", "waits for quota")
	s.Limit(q, "9")
	waitServes(s, 2, "2")
	s.Limit(q, "6")
	// In place: a group ends first, and its quota is that of the next one.
	updateServe(s, "3", 1, 0)
	waitServes(s, 2, "3")

	// A group is made anew as a whole when one of its pods is evicted.
	evictAndWait(s, "serve-1-2")
	waitServes(s, 2, "3")
	beganGated(s, slices.Concat(group(0), group(1), group(2))...)
	s.Delete(suite.LeaderWorkerSets, "serve")
	waitCounts(s, 0, 0)
	wholeQueueIsFree(s, q, "after", "6")
}

// With its setting for Volcano the controller of LeaderWorkerSets makes a PodGroup for each group, and names it on the
// group's pods: each group has quota as a whole or not at all.
func TestScenario9LeaderWorkerSetGangs(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "16", "32Gi")
	q := s.Queue("q", "5", "16Gi")
	label(s)
	s.LeaderWorkerSetController(true)
	createServe(s, nil, q)
	waitCounts(s, 3, 3)
	s.WaitRunning(holding(s, "serve-")...)
	s.SchedulerSawAll()
	served, other := 0, 1
	if !slices.Contains(holding(s, "serve-"), "serve-0") {
		served, other = 1, 0
	}
	s.WaitGated(group(other)...)
	explains(s, group(other)[1], "waits for quota")

	// The group of an evicted leader is made anew. Its PodGroup, which belongs to that leader, is deleted with it, and the
	// next leader may have its place in the gang by then.
	evictAndWait(s, group(served)[0])
	s.Limit(q, "6")
	waitServes(s, 2, "")
	s.Limit(q, "8")
	scaleServe(s, 3)
	waitCounts(s, 6, 3)
	s.SchedulerSawAll()
	s.WaitGated(group(2)...)
	updateServe(s, "2", 1, 0)
	s.Limit(q, "9")
	waitServes(s, 3, "2")
	beganGated(s, slices.Concat(group(0), group(1), group(2))...)
	s.Delete(suite.LeaderWorkerSets, "serve")
	waitCounts(s, 0, 0)
	wholeQueueIsFree(s, q, "after", "9")
}
