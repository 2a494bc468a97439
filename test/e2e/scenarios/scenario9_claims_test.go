package scenarios

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"headgate/e2e/suite"
)

// selectedNode is the annotation by which a scheduler says where a volume is to be made.
const selectedNode = "volume.kubernetes.io/selected-node"

func provisionerName(s *suite.S) string { return "e2e.headgate.io/" + s.Namespace }

// makeLateClass makes a StorageClass with the name of the namespace; its claims are bound when a pod needs them.
func makeLateClass(s *suite.S) {
	s.Helper()
	makeWaitingClass(s, s.Namespace, provisionerName(s))
}

// makeLocalClass makes a StorageClass of volumes that an administrator makes.
func makeLocalClass(s *suite.S, name string) {
	s.Helper()
	makeWaitingClass(s, name, "kubernetes.io/no-provisioner")
}

func makeWaitingClass(s *suite.S, name, provisioner string) {
	s.Helper()
	classes, late := s.Cluster.Client.StorageV1().StorageClasses(), storagev1.VolumeBindingWaitForFirstConsumer
	_, err := classes.Create(s.Ctx, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name},
		Provisioner: provisioner, VolumeBindingMode: &late}, metav1.CreateOptions{})
	s.Must(err)
	s.Cleanup(func() { _ = classes.Delete(s.Ctx, name, metav1.DeleteOptions{}) })
}

// makeLateClaim makes a claim of the class of makeLateClass.
func makeLateClaim(s *suite.S, name string) *corev1.PersistentVolumeClaim {
	s.Helper()
	return makeClaim(s, s.Namespace, name, "1Gi")
}

func makeClaim(s *suite.S, class, name, size string) *corev1.PersistentVolumeClaim {
	s.Helper()
	c, err := s.Cluster.Client.CoreV1().PersistentVolumeClaims(s.Namespace).Create(s.Ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class,
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}}},
	}, metav1.CreateOptions{})
	s.Must(err)
	return c
}

// onNode is the affinity of a volume that is on one node.
func onNode(node string) *corev1.VolumeNodeAffinity {
	return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn,
			Values: []string{node}}}}}}}
}

// makeVolume makes a volume that no claim has got yet, on a node (empty: every one reaches it).
func makeVolume(s *suite.S, class, name, size, node string) {
	s.Helper()
	volumes := s.Cluster.Client.CoreV1().PersistentVolumes()
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{StorageClassName: class,
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)},
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}}}}
	if node != "" {
		v.Spec.NodeAffinity = onNode(node)
		v.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/data"}}
	}
	_, err := volumes.Create(s.Ctx, v, metav1.CreateOptions{})
	s.Must(err)
	s.Cleanup(func() { _ = volumes.Delete(s.Ctx, name, metav1.DeleteOptions{}) })
}

func withClaim(name string) suite.PodOption {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}}
	}
}

// provisioner makes a volume for each claim of the scenario for which a scheduler has selected a node.
type provisioner struct {
	s    *suite.S
	lock sync.Mutex
	made map[string]string // claim -> node
}

// startProvisioner provisions for the StorageClass of makeLateClass.
func startProvisioner(s *suite.S) *provisioner {
	s.Helper()
	p := &provisioner{s: s, made: map[string]string{}}
	ctx, cancel := context.WithCancel(s.Ctx)
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		for ctx.Err() == nil {
			p.look(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	s.Cleanup(func() {
		cancel()
		done.Wait()
		for claim := range p.made {
			_ = s.Cluster.Client.CoreV1().PersistentVolumes().Delete(s.Ctx, p.volume(claim), metav1.DeleteOptions{})
		}
	})
	return p
}

func (p *provisioner) volume(claim string) string { return p.s.Namespace + "-" + claim }

// look tries again at the next look what fails now.
func (p *provisioner) look(ctx context.Context) {
	core := p.s.Cluster.Client.CoreV1()
	claims, err := core.PersistentVolumeClaims(p.s.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	for _, c := range claims.Items {
		node := c.Annotations[selectedNode]
		if node == "" || p.node(c.Name) != "" {
			continue
		}
		_, err := core.PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: p.volume(c.Name), Annotations: map[string]string{
				"pv.kubernetes.io/provisioned-by": provisionerName(p.s)}},
			Spec: corev1.PersistentVolumeSpec{Capacity: c.Spec.Resources.Requests, StorageClassName: p.s.Namespace,
				AccessModes:            c.Spec.AccessModes,
				ClaimRef:               &corev1.ObjectReference{Namespace: c.Namespace, Name: c.Name, UID: c.UID},
				PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/data"}},
				NodeAffinity:           onNode(node)},
		}, metav1.CreateOptions{})
		if err == nil {
			p.lock.Lock()
			p.made[c.Name] = node
			p.lock.Unlock()
		}
	}
}

// node is the one that the claim's volume is on; empty: there is none.
func (p *provisioner) node(claim string) string {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.made[claim]
}

// Volumes are provisioned where kube-scheduler puts the pods, and for no pod that waits for quota.
func TestScenario9ProvisionedVolumes(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(2, "4", "8Gi")
	q := s.Queue("q", "2", "8Gi")
	label(s)
	makeLateClass(s)
	p := startProvisioner(s)
	for i := range 3 {
		name := fmt.Sprintf("data-%d", i)
		makeLateClaim(s, name)
		s.Pod(name, elsewhere, suite.Queue(q), suite.Request("1", "1Gi"), suite.Select("e2e.headgate.io/scenario", s.Namespace),
			withClaim(name))
	}
	waitCounts(s, 2, 1)
	running, gated := holding(s, "data-"), waiting(s)[0]
	s.WaitRunning(running...)
	for _, name := range running {
		if node := s.GetPod(name).Spec.NodeName; p.node(name) != node {
			t.Errorf("the volume of %s is on %q, and the pod on %s", name, p.node(name), node)
		}
	}
	explains(s, gated, "waits for quota")
	if node := p.node(gated); node != "" {
		t.Errorf("a volume was provisioned on %s for %s, which has no quota", node, gated)
	}
	s.DeletePod(running[0])
	s.WaitRunning(gated)
	s.Before("the third pod waits for quota", s.Gone(running[0]), s.Ungated(gated))
}

// Devices are allocated by kube-scheduler, to pods that have quota. Quota for two pods is not a device for each of them.
func TestScenario9ResourceClaims(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "8", "16Gi")
	q := s.Queue("q", "2", "8Gi")
	label(s)
	name, devices := s.Namespace, s.Cluster.Client.ResourceV1()
	_, err := devices.DeviceClasses().Create(s.Ctx, &resourcev1.DeviceClass{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{
			Expression: `device.driver == "e2e.headgate.io"`}}}},
	}, metav1.CreateOptions{})
	s.Must(err)
	node := s.NodeName(0)
	_, err = devices.ResourceSlices().Create(s.Ctx, &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: resourcev1.ResourceSliceSpec{Driver: "e2e.headgate.io", NodeName: &node,
			Pool:    resourcev1.ResourcePool{Name: node, ResourceSliceCount: 1},
			Devices: []resourcev1.Device{{Name: "only"}}},
	}, metav1.CreateOptions{})
	s.Must(err)
	s.Cleanup(func() {
		_ = devices.ResourceSlices().Delete(s.Ctx, name, metav1.DeleteOptions{})
		_ = devices.DeviceClasses().Delete(s.Ctx, name, metav1.DeleteOptions{})
	})
	_, err = devices.ResourceClaimTemplates(s.Namespace).Create(s.Ctx, &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: "device"},
		Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
			Requests: []resourcev1.DeviceRequest{{Name: "device",
				Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: name}}}}}},
	}, metav1.CreateOptions{})
	s.Must(err)

	template := "device"
	withDevice := func(p *corev1.Pod) {
		p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "device", ResourceClaimTemplateName: &template}}
		p.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "device"}}
	}
	for i := range 3 {
		s.Pod(fmt.Sprintf("device-%d", i), elsewhere, suite.Queue(q), suite.Request("1", "1Gi"),
			suite.Select("e2e.headgate.io/scenario", s.Namespace), withDevice)
	}
	waitCounts(s, 2, 1)
	gated := waiting(s)[0]
	explains(s, gated, "waits for quota")
	// One of the two gets the device, the other one waits for it with its quota.
	var runs, waits string
	s.Eventually("one pod has the device and one needs it", func() error {
		runs, waits = "", ""
		for _, name := range holding(s, "device-") {
			if p := s.GetPod(name); p.Status.Phase == corev1.PodRunning {
				runs = name
			} else if p.Spec.NodeName == "" {
				waits = name
			}
		}
		if runs == "" || waits == "" {
			return fmt.Errorf("running %q, waiting %q", runs, waits)
		}
		return nil
	})
	waitEvent(s, waits, "FailedScheduling")
	explains(s, waits, "has quota, and its own scheduler finds no node for it")
	claims, err := devices.ResourceClaims(s.Namespace).List(s.Ctx, metav1.ListOptions{})
	s.Must(err)
	for _, c := range claims.Items {
		if owner := c.OwnerReferences[0].Name; owner == gated && c.Status.Allocation != nil {
			t.Errorf("a device is allocated to %s, which has no quota", gated)
		}
	}
	s.DeletePod(runs)
	s.WaitRunning(waits)
	s.WaitUngated(gated)
	s.Before("the third pod waits for quota", s.Gone(runs), s.Ungated(gated))
}
