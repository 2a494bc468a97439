package main

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	kueueconstants "sigs.k8s.io/kueue/pkg/constants"

	"headgate/differential/lib"
)

// makeChecks adds admission checks to some ClusterQueues, and their states to Workloads.
func (g *generator) makeChecks() {
	for _, name := range []string{"k0", "k1"} {
		k := &kueue.AdmissionCheck{Spec: kueue.AdmissionCheckSpec{ControllerName: "example.com/check"}}
		k.TypeMeta, k.ObjectMeta = object("AdmissionCheck", "", name)
		active := metav1.ConditionTrue
		if g.Chance(0.15) {
			active = metav1.ConditionFalse
		}
		k.Status.Conditions = []metav1.Condition{{Type: kueue.AdmissionCheckActive, Status: active, Reason: "Active",
			LastTransitionTime: g.ago(300)}}
		g.c.checks = append(g.c.checks, k)
	}
	has := map[*kueue.ClusterQueue]string{}
	g.checked = has
	for _, q := range g.c.queues {
		if !g.Chance(0.4) {
			continue
		}
		rule := kueue.AdmissionCheckStrategyRule{Name: kueue.AdmissionCheckReference(lib.Pick(g.Random, "k0", "k0", "k1"))}
		if g.Chance(0.3) && len(q.Spec.ResourceGroups) > 0 {
			rule.OnFlavors = []kueue.ResourceFlavorReference{lib.Pick(g.Random, q.Spec.ResourceGroups[0].Flavors...).Name}
		} else {
			has[q] = string(rule.Name)
		}
		q.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{rule}}
	}
	for _, w := range g.c.workloads {
		if name, ok := has[g.c.queueOf(w)]; ok {
			g.makeCheckState(w, name)
		}
	}
}

func (g *generator) makeCheckState(w *kueue.Workload, name string) {
	held := w.Status.Admission != nil
	state := lib.Pick(g.Random, kueue.CheckStateReady, kueue.CheckStatePending)
	if !held && g.Chance(0.3) {
		state = lib.Pick(g.Random, kueue.CheckStateRetry, kueue.CheckStateRejected)
	}
	w.Status.AdmissionChecks = []kueue.AdmissionCheckState{{Name: kueue.AdmissionCheckReference(name), State: state,
		LastTransitionTime: g.ago(1), Message: "m"}}
	if held && state == kueue.CheckStatePending {
		for i := range w.Status.Conditions {
			if w.Status.Conditions[i].Type == kueue.WorkloadAdmitted {
				w.Status.Conditions[i].Status, w.Status.Conditions[i].Reason = metav1.ConditionFalse, "NoChecks"
			}
		}
	}
}

// makeHolds keeps some Workloads back: closed gates for preemption, gates for admission, and
// Workloads that are not active.
func (g *generator) makeHolds() {
	g.c.gates["MultiKueueOrchestratedPreemption"] = true
	for _, w := range g.c.workloads {
		if w.Status.Admission != nil || !g.Chance(0.4) {
			continue
		}
		switch g.IntN(4) {
		case 0:
			w.Annotations = map[string]string{kueueconstants.AdmissionGatedByAnnotation: "example.com/gate"}
		case 1:
			inactive := false
			w.Spec.Active = &inactive
		default:
			w.Spec.PreemptionGates = []kueue.PreemptionGate{{Name: "example.com/gate"}}
			position := lib.Pick(g.Random, kueue.PreemptionGatePositionClosed, kueue.PreemptionGatePositionOpen)
			if g.Chance(0.7) {
				w.Status.PreemptionGates = []kueue.PreemptionGateState{{Name: "example.com/gate", Position: position,
					LastTransitionTime: g.ago(1)}}
			}
		}
	}
}

// makeCosts makes it dearer to preempt some Workloads than others.
func (g *generator) makeCosts() {
	g.c.costs = map[string]int64{}
	for _, w := range g.c.workloads {
		if w.Status.Admission != nil && g.Chance(0.6) {
			g.c.costs[w.Namespace+"/"+w.Name] = int64(g.Between(-1, 3))
		}
	}
}

// makeUsage turns on admission fair sharing.
func (g *generator) makeUsage() {
	g.c.usage = &config.AdmissionFairSharing{
		UsageHalfLifeTime:     metav1.Duration{Duration: lib.Pick(g.Random, time.Minute, 5*time.Minute, 5*time.Minute, time.Hour)},
		UsageSamplingInterval: metav1.Duration{Duration: lib.Pick(g.Random, time.Minute, 5*time.Minute)},
	}
	if g.Chance(0.3) {
		g.c.usage.ResourceWeights = map[corev1.ResourceName]float64{corev1.ResourceCPU: 3}
	}
	for _, q := range g.c.queues {
		if g.fading || g.Chance(0.7) {
			q.Spec.AdmissionScope = &kueue.AdmissionScope{AdmissionMode: kueue.UsageBasedAdmissionFairSharing}
		}
	}
	most := 6
	if g.fading {
		most = 20
	}
	for _, l := range g.c.locals {
		l.Spec.FairSharing = g.weight()
		l.Status.FairSharing = &kueue.LocalQueueFairSharingStatus{
			AdmissionFairSharingStatus: &kueue.LocalQueueAdmissionFairSharingStatus{
				ConsumedResources: corev1.ResourceList{corev1.ResourceCPU: g.quantity(corev1.ResourceCPU, g.IntN(most))},
				LastUpdate:        metav1.NewTime(now),
			},
		}
	}
}

// beginFading: what LocalQueues of few ClusterQueues have consumed fades while their workloads wait, so
// that others come first.
func (g *generator) beginFading() {
	g.usage, g.fading = true, true
	g.c.cycles = g.Between(3, 8)
}
