package scenarios

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// elsewhere leaves the placement to kube-scheduler.
var elsewhere = suite.Scheduler("")

func labelled(key, value string) suite.PodOption {
	return func(p *corev1.Pod) {
		if p.Labels == nil {
			p.Labels = map[string]string{}
		}
		p.Labels[key] = value
	}
}

// apart forbids two pods of the app on one node.
func apart(app string) suite.PodOption {
	return func(p *corev1.Pod) {
		labelled("app", app)(p)
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey:   corev1.LabelHostname,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
			}}}}
	}
}

// spread allows a difference of one pod of the app between the nodes of the scenario.
func spread(s *suite.S, app string) suite.PodOption {
	return func(p *corev1.Pod) {
		labelled("app", app)(p)
		suite.Select("e2e.headgate.io/scenario", s.Namespace)(p)
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
		}}
	}
}

// countByNode counts the pods of the app by node.
func countByNode(s *suite.S, app string) map[string]int {
	s.Helper()
	pods, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).List(s.Ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	s.Must(err)
	nodes := map[string]int{}
	for _, p := range pods.Items {
		if p.Spec.NodeName != "" {
			nodes[p.Spec.NodeName]++
		}
	}
	return nodes
}

// kube-scheduler places pods that waited behind the gate, by its own rules.
func TestScenario9KubeSchedulerPlaces(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(3, "4", "8Gi")
	q := s.Queue("q", "2", "8Gi")
	for i := range 4 {
		s.Pod(fmt.Sprintf("apart-%d", i), elsewhere, suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"), apart("apart"))
	}
	waitCounts(s, 2, 2)
	s.WaitRunning(holding(s, "")...)
	if nodes := countByNode(s, "apart"); len(nodes) != 2 {
		t.Errorf("two pods that must not share a node are on %v", nodes)
	}
	first := holding(s, "")[0]
	s.DeletePod(first)
	waitCounts(s, 2, 1)
	s.WaitRunning(holding(s, "")...)

	// The pods of a group have quota together, or none has.
	whole := s.Queue("whole", "3", "8Gi")
	s.PodGroup("gang", whole, 3, nil)
	for i := range 2 {
		s.Pod(fmt.Sprintf("gang-%d", i), elsewhere, suite.Opted, suite.Group("gang"), suite.Request("1", "1Gi"), spread(s, "gang"))
	}
	s.SchedulerSawAll()
	if h := holding(s, "gang-"); len(h) > 0 {
		t.Errorf("members of a gang that is not complete have quota: %v", h)
	}
	s.Pod("gang-2", elsewhere, suite.Opted, suite.Group("gang"), suite.Request("1", "1Gi"), spread(s, "gang"))
	s.WaitRunning("gang-0", "gang-1", "gang-2")
	if nodes := countByNode(s, "gang"); len(nodes) != 3 {
		t.Errorf("a gang that is to be spread over three nodes is on %v", nodes)
	}
}

// A claim is bound to a volume when its pod has a node, by kube-scheduler. Until then the pod waits for quota.
func TestScenario9VolumeThatWaitsForItsConsumer(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "4", "8Gi")
	q := s.Queue("q", "1", "8Gi")
	class, core := s.Namespace, s.Cluster.Client.CoreV1()
	late := storagev1.VolumeBindingWaitForFirstConsumer
	_, err := s.Cluster.Client.StorageV1().StorageClasses().Create(s.Ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &late,
	}, metav1.CreateOptions{})
	s.Must(err)
	one := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	_, err = core.PersistentVolumes().Create(s.Ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: s.Namespace},
		Spec: corev1.PersistentVolumeSpec{Capacity: one, StorageClassName: class,
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/data"}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn,
					Values: []string{s.NodeName(0)}}}}}}}},
	}, metav1.CreateOptions{})
	s.Must(err)
	t.Cleanup(func() {
		_ = core.PersistentVolumes().Delete(s.Ctx, s.Namespace, metav1.DeleteOptions{})
		_ = s.Cluster.Client.StorageV1().StorageClasses().Delete(s.Ctx, class, metav1.DeleteOptions{})
	})
	_, err = core.PersistentVolumeClaims(s.Namespace).Create(s.Ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class, Resources: corev1.VolumeResourceRequirements{Requests: one},
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}},
	}, metav1.CreateOptions{})
	s.Must(err)

	s.Pod("first", elsewhere, suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))
	s.WaitRunning("first")
	s.Pod("with-volume", elsewhere, suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"), func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	})
	s.SchedulerSawAll()
	s.WaitGated("with-volume")
	s.DeletePod("first")
	s.WaitRunning("with-volume")
	s.Before("the volume waits for quota", s.Gone("first"), s.Ungated("with-volume"))
	s.Eventually("the claim is bound", func() error {
		c, err := core.PersistentVolumeClaims(s.Namespace).Get(s.Ctx, "data", metav1.GetOptions{})
		if err == nil && c.Status.Phase != corev1.ClaimBound {
			err = fmt.Errorf("it is %s", c.Status.Phase)
		}
		return err
	})
}

// A label on the namespace is all that a Deployment needs: its pods name no scheduler and carry no annotation but the
// queue. While it is updated, the pods beyond its replicas need quota as well.
func TestScenario9DeploymentOfALabelledNamespace(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "8", "16Gi")
	q := s.Queue("q", "3", "8Gi")
	patch := []byte(`{"metadata":{"labels":{"` + oracle.GateKey + `":"true"}}}`)
	_, err := s.Cluster.Client.CoreV1().Namespaces().Patch(s.Ctx, s.Namespace, types.MergePatchType, patch, metav1.PatchOptions{})
	s.Must(err)
	replicas := int32(5)
	apps := s.Cluster.Client.AppsV1()
	_, err = apps.Deployments(s.Namespace).Create(s.Ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: template(s, "web", restarts, elsewhere, suite.Queue(q), suite.Request("1", "1Gi"))},
	}, metav1.CreateOptions{})
	s.Must(err)
	waitCounts(s, 3, 2)
	s.WaitRunning(holding(s, "")...)
	explains(s, waiting(s)[0], "waits for quota")
	scale := func(n int) {
		patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n)
		_, err := apps.Deployments(s.Namespace).Patch(s.Ctx, "web", types.MergePatchType, patch, metav1.PatchOptions{}, "scale")
		s.Must(err)
	}
	scale(2)
	waitCounts(s, 2, 0)
	// One pod is added before one of the old ones ends.
	s.Limit(q, "2")
	change := []byte(`{"spec":{"template":{"metadata":{"annotations":{"revision":"2"}}}}}`)
	_, err = apps.Deployments(s.Namespace).Patch(s.Ctx, "web", types.MergePatchType, change, metav1.PatchOptions{})
	s.Must(err)
	waitCounts(s, 2, 1)
	old, fresh := holding(s, ""), waiting(s)[0]
	s.SchedulerSawAll()
	s.WaitGated(fresh)
	explains(s, fresh, "waits for quota")
	s.WaitRunning(old...)
	s.Limit(q, "3")
	s.Eventually("both pods are of the new revision", func() error {
		d, err := apps.Deployments(s.Namespace).Get(s.Ctx, "web", metav1.GetOptions{})
		if err == nil && (d.Status.ObservedGeneration < d.Generation || d.Status.UpdatedReplicas != 2 ||
			d.Status.AvailableReplicas != 2 || d.Status.Replicas != 2) {
			err = fmt.Errorf("%+v", d.Status)
		}
		return err
	})
}

// Nodes are bought for pods with quota, and for nothing else, when kube-scheduler is the one that reports them.
func TestScenario9AutoscalerTruth(t *testing.T) {
	for _, kind := range suite.Autoscalers() {
		t.Run(kind, func(t *testing.T) {
			r := startTruth(t, kind, suite.Opted, elsewhere)
			r.waitFull()
			r.s.SchedulerSawAll()
			r.s.Must(r.s.Oracle.Verify(r.s.Ctx))
			if n := r.count(func(p oracle.PodState) bool { return p.Gated }); n != truthPods-truthQuota {
				t.Errorf("%d pods are gated, want %d", n, truthPods-truthQuota)
			}
			r.finish()
			r.s.Must(r.s.Oracle.Verify(r.s.Ctx))
			if _, peak := r.nodes(); peak != truthQuota {
				t.Errorf("%d nodes at most, want %d", peak, truthQuota)
			}
		})
	}
}

// Pods that are deleted while they run are replaced by their controller; the new ones are gated first.
func TestScenario9EvictedPodsComeBackGated(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "8", "16Gi")
	q := s.Queue("q", "2", "8Gi")
	replicas := int32(3)
	_, err := s.Cluster.Client.AppsV1().ReplicaSets(s.Namespace).Create(s.Ctx, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: template(s, "web", restarts, suite.Opted, elsewhere, suite.Queue(q), suite.Request("1", "1Gi"))},
	}, metav1.CreateOptions{})
	s.Must(err)
	waitCounts(s, 2, 1)
	running := holding(s, "")
	s.WaitRunning(running...)
	for _, name := range running {
		s.DeletePod(name)
	}
	s.WaitGone(running...)
	waitCounts(s, 2, 1)
	s.WaitRunning(holding(s, "")...)
	for _, name := range s.Oracle.Names(s.Namespace, func(p oracle.PodState) bool { return p.Phase == corev1.PodRunning }) {
		if line := s.Oracle.Timeline(s.Namespace + "/" + name); !line[0].Gated {
			t.Errorf("%s was not gated at first", name)
		}
	}
}
