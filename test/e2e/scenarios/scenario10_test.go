package scenarios

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"headgate/e2e/suite"
)

func getClaim(s *suite.S, name string) *corev1.PersistentVolumeClaim {
	s.Helper()
	c, err := s.Cluster.Client.CoreV1().PersistentVolumeClaims(s.Namespace).Get(s.Ctx, name, metav1.GetOptions{})
	s.Must(err)
	return c
}

// waitSelected waits until a claim names a node, and returns it.
func waitSelected(s *suite.S, claim string) string {
	s.Helper()
	var node string
	s.Eventually("a node is selected for "+claim, func() error {
		if node = getClaim(s, claim).Annotations[selectedNode]; node == "" {
			return errors.New("not yet")
		}
		return nil
	})
	return node
}

// claimBound is the resourceVersion with which a claim was bound to its volume; it has to have happened. The
// history since the claim was made is played again.
func claimBound(s *suite.S, made *corev1.PersistentVolumeClaim) int64 {
	s.Helper()
	claims := s.Cluster.Client.CoreV1().PersistentVolumeClaims(s.Namespace)
	w, err := claims.Watch(s.Ctx, metav1.ListOptions{ResourceVersion: made.ResourceVersion,
		FieldSelector: "metadata.name=" + made.Name})
	s.Must(err)
	defer w.Stop()
	for e := range w.ResultChan() {
		if c, ok := e.Object.(*corev1.PersistentVolumeClaim); !ok {
			s.Fatalf("the history of claim %s: %v", made.Name, e.Object)
		} else if c.Annotations["pv.kubernetes.io/bind-completed"] != "" {
			rv, err := strconv.ParseInt(c.ResourceVersion, 10, 64)
			s.Must(err)
			return rv
		}
	}
	s.Fatalf("the history of claim %s ended", made.Name)
	return 0
}

// boundToItsVolume: a pod runs where the volume of its claim is, and got its node after the claim got the volume.
func boundToItsVolume(s *suite.S, p *provisioner, pod string, claim *corev1.PersistentVolumeClaim) {
	s.Helper()
	if node := s.GetPod(pod).Spec.NodeName; p.node(claim.Name) != node {
		s.Errorf("the volume of %s is on %q, and the pod on %s", pod, p.node(claim.Name), node)
	}
	if pod, claim := s.Bound(pod).RV(), claimBound(s, claim); pod < claim {
		s.Errorf("the pod has its node since resourceVersion %d, and its claim is bound since %d", pod, claim)
	}
}

// Headgate selects the node for which a volume is made. The pod holds its quota from then on, and is bound when its
// claim is. The members of a gang get their nodes together.
func TestScenario10VolumesAreMadeForTheNode(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(2, "4", "8Gi")
	q := s.Queue("q", "3", "8Gi")
	makeLateClass(s)
	alone := makeLateClaim(s, "alone")
	s.Pod("alone", suite.Opted, suite.Queue(q), suite.Request("3", "1Gi"), withClaim("alone"))
	node := waitSelected(s, "alone")
	s.Pod("next", suite.Opted, suite.Queue(q), suite.Request("3", "1Gi"))
	s.SchedulerSawAll()
	s.WaitGated("next")
	if on := s.GetPod("alone").Spec.NodeName; on != "" {
		t.Errorf("the pod is on %s, and its claim is not bound", on)
	}
	p := startProvisioner(s)
	s.WaitRunning("alone")
	boundToItsVolume(s, p, "alone", alone)
	if p.node("alone") != node {
		t.Errorf("the volume is on %s, which is not the first node that was selected, %s", p.node("alone"), node)
	}
	s.DeletePod("alone")
	s.WaitRunning("next")
	s.Before("the quota is held while the volume is made", s.Gone("alone"), s.Ungated("next"))
	s.DeletePod("next")

	whole := s.Queue("whole", "6", "8Gi")
	s.PodGroup("gang", whole, 2, nil)
	members := []string{"gang-0", "gang-1"}
	claims := map[string]*corev1.PersistentVolumeClaim{}
	for _, name := range members {
		claims[name] = makeLateClaim(s, name)
	}
	s.Pod("gang-0", suite.Opted, suite.Group("gang"), suite.Request("3", "1Gi"), withClaim("gang-0"))
	s.SchedulerSawAll()
	s.WaitGated("gang-0")
	if node := getClaim(s, "gang-0").Annotations[selectedNode]; node != "" {
		t.Errorf("node %s was selected for a member of a gang that is not complete", node)
	}
	s.Pod("gang-1", suite.Opted, suite.Group("gang"), suite.Request("3", "1Gi"), withClaim("gang-1"))
	s.WaitRunning(members...)
	for _, name := range members {
		boundToItsVolume(s, p, name, claims[name])
	}
	if p.node("gang-0") == p.node("gang-1") {
		t.Errorf("two pods that fill a node each are both on %s", p.node("gang-0"))
	}
}

// A scheduler that is killed before a node is selected, between the selection and the provisioning, and before the
// pod is bound. The next one goes on with the node that the claim names.
func TestScenario10KilledWhileAVolumeIsMade(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(3, "4", "8Gi")
	q := s.Queue("q", "3", "8Gi")
	makeLateClass(s)
	i := startInterruptions(s)
	var claim *corev1.PersistentVolumeClaim
	restore := i.stuck("patch", "persistentvolumeclaims", func() {
		claim = makeLateClaim(s, "data")
		s.Pod("data", suite.Opted, suite.Queue(q), suite.Request("3", "1Gi"), withClaim("data"))
	})
	i.kill()
	restore()
	node := waitSelected(s, "data")
	i.kill()
	s.SchedulerSawAll()
	var p *provisioner
	restore = i.stuck("create", "pods/binding", func() { p = startProvisioner(s) })
	i.kill()
	restore()
	s.WaitRunning("data")
	boundToItsVolume(s, p, "data", claim)
	if p.node("data") != node {
		t.Errorf("the volume is on %s, which is not the node that was selected, %s", p.node("data"), node)
	}
}

// waitVolume waits until Kubernetes has bound a claim, and returns the name of its volume.
func waitVolume(s *suite.S, claim string) string {
	s.Helper()
	var volume string
	s.Eventually("claim "+claim+" is bound", func() error {
		if volume = getClaim(s, claim).Spec.VolumeName; volume == "" {
			return errors.New("not yet")
		}
		return nil
	})
	return volume
}

// Volumes that are there go to the claims of pods that have quota, the smallest on the node that does, one to each, and
// the pods to their nodes. The volumes are bound by Kubernetes' own controller. A scheduler that is killed before and after a
// volume is reserved costs none.
func TestScenario10LocalVolumes(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(2, "4", "8Gi")
	q := s.Queue("q", "3", "8Gi")
	makeLocalClass(s, s.Namespace)
	small, large := s.Namespace+"-small", s.Namespace+"-large"
	makeVolume(s, s.Namespace, large, "3Gi", s.NodeName(1))
	makeVolume(s, s.Namespace, small, "2Gi", s.NodeName(1))
	made := map[string]*corev1.PersistentVolumeClaim{}
	i := startInterruptions(s)
	restore := i.stuck("patch", "persistentvolumes", func() {
		made["first"] = makeClaim(s, s.Namespace, "first", "1Gi")
		s.Pod("first", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"), withClaim("first"))
	})
	i.kill()
	restore()
	restore = i.stuck("create", "pods/binding", func() { waitVolume(s, "first") })
	i.kill()
	restore()
	s.WaitRunning("first")
	made["second"] = makeClaim(s, s.Namespace, "second", "1Gi")
	s.Pod("second", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"), withClaim("second"))
	s.WaitRunning("second")
	for pod, want := range map[string]string{"first": small, "second": large} {
		if volume := waitVolume(s, pod); volume != want {
			t.Errorf("claim %s has volume %s, not %s", pod, volume, want)
		}
		if node := s.GetPod(pod).Spec.NodeName; node != s.NodeName(1) {
			t.Errorf("pod %s is on %s, and its volume on %s", pod, node, s.NodeName(1))
		}
		if bound, claim := s.Bound(pod).RV(), claimBound(s, made[pod]); bound < claim {
			t.Errorf("pod %s has its node since resourceVersion %d, and its claim is bound since %d", pod, bound, claim)
		}
	}
	makeClaim(s, s.Namespace, "third", "1Gi")
	s.Pod("third", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"), withClaim("third"))
	s.WaitPublished("third")
	makeVolume(s, s.Namespace, s.Namespace+"-late", "1Gi", s.NodeName(0))
	s.WaitRunning("third")
}

// Headgate keeps required anti-affinity, for pods that run and for pods of one gang, and spreads pods.
func TestScenario10AffinityAndSpread(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(3, "8", "8Gi")
	q := s.Queue("q", "16", "16Gi")
	one := suite.Request("1", "512Mi")
	s.PodGroup("apart", q, 3, nil)
	gang := []string{"apart-0", "apart-1", "apart-2"}
	for _, name := range gang {
		s.Pod(name, suite.Opted, suite.Group("apart"), one, apart("apart"))
	}
	s.WaitRunning(gang...)
	if nodes := countByNode(s, "apart"); len(nodes) != 3 {
		t.Errorf("three pods that must not share a node are on %v", nodes)
	}
	s.Pod("fourth", suite.Opted, suite.Queue(q), one, apart("apart"))
	s.SchedulerSawAll()
	s.WaitPublished("fourth")
	waitEvent(s, "fourth", "FailedScheduling")
	s.DeletePod("apart-0")
	s.WaitRunning("fourth")
	s.Before("no two on one node", s.Gone("apart-0"), s.Bound("fourth"))

	// Without the constraint binpack would fill one node.
	var even []string
	for n := range 6 {
		even = append(even, fmt.Sprintf("spread-%d", n))
		s.Pod(even[n], suite.Opted, suite.Queue(q), one, spread(s, "spread"))
	}
	s.WaitRunning(even...)
	for node, pods := range countByNode(s, "spread") {
		if pods != 2 {
			t.Errorf("%d pods on %s, not two on each of three nodes", pods, node)
		}
	}
}

// Headgate makes room for pods with claims where their volumes are: within a queue by priority, and for a queue that has
// not got what it deserves.
func TestScenario10EvictsWhereTheVolumeIs(t *testing.T) {
	s := suite.StartEvicting(t)
	s.Nodes(2, "4", "8Gi")
	high := highClass(s)
	much := s.Queue("much", "", "", suite.Deserved("4", "8Gi"))
	little := s.Queue("little", "", "", suite.Deserved("4", "8Gi"))
	makeLocalClass(s, s.Namespace)
	onNode := func(n int) suite.PodOption { return suite.Select(corev1.LabelHostname, s.NodeName(n)) }
	for n := range 2 {
		s.Pod(fmt.Sprintf("low-%d", n), suite.Opted, suite.Queue(much), suite.Request("4", "1Gi"), onNode(n))
	}
	s.WaitRunning("low-0", "low-1")

	makeVolume(s, s.Namespace, s.Namespace+"-1", "1Gi", s.NodeName(1))
	makeClaim(s, s.Namespace, "first", "1Gi")
	s.Pod("first", suite.Opted, suite.Queue(much), suite.Request("4", "1Gi"), withClaim("first"), suite.Priority(high))
	s.WaitRunning("first")
	if node := s.GetPod("first").Spec.NodeName; node != s.NodeName(1) {
		t.Errorf("the pod is on %s, and its volume on %s", node, s.NodeName(1))
	}
	s.WaitGone("low-1")
	s.WaitRunning("low-0")

	makeVolume(s, s.Namespace, s.Namespace+"-0", "1Gi", s.NodeName(0))
	makeClaim(s, s.Namespace, "second", "1Gi")
	s.Pod("second", suite.Opted, suite.Queue(little), suite.Request("4", "1Gi"), withClaim("second"))
	s.WaitRunning("second")
	if node := s.GetPod("second").Spec.NodeName; node != s.NodeName(0) {
		t.Errorf("the pod is on %s, and its volume on %s", node, s.NodeName(0))
	}
	s.WaitGone("low-0")
	s.WaitRunning("first")
}
