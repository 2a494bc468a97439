package main

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"sync"
	"unsafe"

	"github.com/go-logr/logr"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	testingclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	queueafs "sigs.k8s.io/kueue/pkg/cache/queue/afs"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/mend"
	"sigs.k8s.io/kueue/pkg/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	utilexpectations "sigs.k8s.io/kueue/pkg/util/expectations"
	utilqueue "sigs.k8s.io/kueue/pkg/util/queue"
	"sigs.k8s.io/kueue/pkg/util/routine"
	"sigs.k8s.io/kueue/pkg/util/wait"
	"sigs.k8s.io/kueue/pkg/workload"

	"headgate/differential/lib"
)

// Start would run cycles for ever, and at its own pace.
//
//go:linkname schedule sigs.k8s.io/kueue/pkg/scheduler.(*Scheduler).schedule
func schedule(s *scheduler.Scheduler, ctx context.Context) wait.SpeedSignal

//go:linkname setWrapper sigs.k8s.io/kueue/pkg/scheduler.(*Scheduler).setAdmissionRoutineWrapper
func setWrapper(s *scheduler.Scheduler, w routine.Wrapper)

// What Kueue says meanwhile.
var kueueLog = logr.Discard()

// kueueRun is one run of Kueue's scheduler over a cluster.
type kueueRun struct {
	c            *cluster
	memory       *memory
	recorder     *recorder
	cache        *schdcache.Cache
	queues       *qcache.Manager
	requeuer     interface{ ProcessRequeues(context.Context) int }
	expectations *utilexpectations.Store
	scheduler    *scheduler.Scheduler
	controller   *core.WorkloadReconciler
	locals       *core.LocalQueueReconciler
	clock        *testingclock.FakeClock
	admissions   sync.WaitGroup
	precedence   *precedence
	cycle        int
	answer       lib.Answer
}

func setGates(gates map[string]bool) error {
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(gates)
}

// setup does what Kueue's controllers do with the objects when they start.
func (r *kueueRun) setup(ctx context.Context) error {
	for _, f := range r.c.flavors {
		r.cache.AddOrUpdateResourceFlavor(logr.Discard(), f)
	}
	for _, k := range r.c.checks {
		r.cache.AddOrUpdateAdmissionCheck(logr.Discard(), k)
	}
	for _, l := range r.c.locals {
		if r.c.usage != nil {
			r.queues.AfsUsageLedger.Update(utilqueue.Key(l), func(e queueafs.UsageLedgerEntry, _ bool) queueafs.UsageLedgerEntry {
				e.Resources = l.Status.FairSharing.AdmissionFairSharingStatus.ConsumedResources.DeepCopy()
				e.LastUpdate, e.StatusAccounted = now, true
				return e
			})
		}
	}
	for _, co := range r.c.cohorts {
		if err := r.cache.AddOrUpdateCohort(co); err != nil {
			return err
		}
		r.queues.AddOrUpdateCohort(ctx, co)
	}
	for _, q := range r.c.queues {
		if err := r.cache.AddClusterQueue(ctx, q); err != nil {
			return err
		}
		if err := r.queues.AddClusterQueue(ctx, q); err != nil {
			return err
		}
	}
	for _, l := range r.c.locals {
		if l.Spec.StopPolicy != nil && *l.Spec.StopPolicy != kueue.None {
			continue
		}
		if err := r.queues.AddLocalQueue(ctx, l); err != nil {
			return err
		}
	}
	r.requeuer.ProcessRequeues(ctx)
	return nil
}

func newKueueRun(c *cluster) *kueueRun {
	r := &kueueRun{c: c, memory: newMemory(c), recorder: newRecorder(), expectations: expectations.New()}
	clock := testingclock.NewFakeClock(now)
	r.clock = clock
	r.precedence = newPrecedence(c, r.memory)
	mend.Clock, mend.HasPrecedence = clock, r.precedence.has
	mend.Hashes = map[string]string{}
	mend.Cost = func(w *kueue.Workload) int64 { return c.costs[keyOf(w)] }
	r.cache = schdcache.New(r.memory, schdcache.WithFairSharing(c.fair),
		schdcache.WithAdmissionFairSharing(c.usage))
	r.queues, r.requeuer = qcache.NewManagerForUnitTestsWithRequeuer(r.memory, r.cache,
		qcache.WithClock(clock), qcache.WithPreemptionExpectations(r.expectations),
		qcache.WithAdmissionFairSharing(c.usage))
	var fair *config.FairSharing
	if c.fair {
		fair = &config.FairSharing{}
		for _, s := range c.strategies {
			fair.PreemptionStrategies = append(fair.PreemptionStrategies, config.PreemptionStrategy(s))
		}
	}
	r.scheduler = scheduler.New(r.queues, r.cache, r.memory, r.recorder, scheduler.WithFairSharing(fair),
		scheduler.WithClock(nil, clock), scheduler.WithPreemptionExpectations(r.expectations),
		scheduler.WithAdmissionFairSharing(c.usage))
	r.controller = core.NewWorkloadReconciler(r.memory, r.queues, r.cache, r.recorder,
		core.WithPreemptionExpectations(r.expectations), core.WithAdmissionFairSharing(c.usage))
	r.locals = core.NewLocalQueueReconciler(r.memory, r.queues, r.cache,
		core.WithAdmissionFairSharingConfig(c.usage), core.WithClock(clock))
	setWrapper(r.scheduler, routine.NewWrapper(func() { r.admissions.Add(1) }, r.admissions.Done))
	return r
}

// hasHeads: a cycle without anything to look at would wait for it.
func (r *kueueRun) hasHeads() bool {
	for name, heap := range r.queues.Dump() {
		if len(heap) > 0 && r.cache.ClusterQueueActive(name) {
			return true
		}
	}
	return false
}

// skipCycle counts a cycle that would wait.
func (r *kueueRun) skipCycle() {
	field, ok := reflect.TypeFor[scheduler.Scheduler]().FieldByName("schedulingCycle")
	if !ok {
		panic("Kueue's scheduler counts its cycles differently now")
	}
	*(*int64)(unsafe.Add(unsafe.Pointer(r.scheduler), field.Offset))++
}

func keysOf(dump []workload.Reference) []string {
	out := make([]string, len(dump))
	for i, k := range dump {
		out[i] = string(k)
	}
	sort.Strings(out)
	return out
}

func (r *kueueRun) places() (heap, inadmissible map[string][]string) {
	heap, inadmissible = map[string][]string{}, map[string][]string{}
	for name, keys := range r.queues.Dump() {
		heap[string(name)] = keysOf(keys)
	}
	for name, keys := range r.queues.DumpInadmissible() {
		inadmissible[string(name)] = keysOf(keys)
	}
	return heap, inadmissible
}

func admissionLine(cycle int, key string, a *kueue.Admission) string {
	line := fmt.Sprintf("%d Admit %s in %s", cycle, key, a.ClusterQueue)
	for _, p := range a.PodSetAssignments {
		flavors := map[string]string{}
		for resource, flavor := range p.Flavors {
			flavors[string(resource)] = string(flavor)
		}
		usage := map[string]string{}
		for resource, q := range p.ResourceUsage {
			usage[string(resource)] = amount(q)
		}
		line += podSetText(string(p.Name), *p.Count, flavors, usage)
	}
	return line
}

// note writes down what the cycle decided.
func (r *kueueRun) note() {
	for _, key := range slices.Sorted(maps.Keys(r.memory.changed)) {
		before, after := r.memory.changed[key], r.memory.workloads[key]
		if !workload.HasQuotaReservation(before) && workload.HasQuotaReservation(after) {
			r.answer.Add("%s", admissionLine(r.cycle, key, after.Status.Admission))
		}
		evicted := apimeta.IsStatusConditionTrue(after.Status.Conditions, kueue.WorkloadEvicted)
		if evicted && !apimeta.IsStatusConditionTrue(before.Status.Conditions, kueue.WorkloadEvicted) {
			reason := apimeta.FindStatusCondition(after.Status.Conditions, kueue.WorkloadPreempted).Reason
			r.answer.Add("%d Preempt %s by %s %s", r.cycle, key, r.recorder.preemptor[key], reason)
			r.precedence.record(r.memory.workloads[r.recorder.preemptor[key]], after)
		}
	}
	heap, inadmissible := r.places()
	for key, reason := range r.recorder.pending {
		r.answer.Add("%d Pending %s %s %s", r.cycle, key, placeOf(key, heap, inadmissible), reason)
	}
	clear(r.recorder.pending)
}

// Where a Workload waits that is in no queue.
const nowhere = "nowhere"

func placeOf(key string, heap, inadmissible map[string][]string) string {
	for _, keys := range heap {
		if slices.Contains(keys, key) {
			return "heap"
		}
	}
	for _, keys := range inadmissible {
		if slices.Contains(keys, key) {
			return "inadmissible"
		}
	}
	return nowhere
}

// observe gives the updates of the cycle to the Workload controller.
func (r *kueueRun) observe() {
	for key, before := range r.memory.changed {
		after := r.memory.workloads[key].DeepCopy()
		if r.c.quiet && !workload.HasQuotaReservation(before) {
			// The scheduler has it in its cache already where it got quota.
			if workload.HasQuotaReservation(after) {
				r.queues.DeleteWorkload(logr.Discard(), workload.Reference(key))
			}
			continue
		}
		r.controller.Update(event.TypedUpdateEvent[*kueue.Workload]{ObjectOld: before, ObjectNew: after})
	}
	clear(r.memory.changed)
}

// remove deletes a Workload.
func (r *kueueRun) remove(key string) {
	w, ok := r.memory.workloads[key]
	if !ok {
		return
	}
	heap, inadmissible := r.places()
	delete(r.memory.workloads, key)
	r.precedence.gaveBack(w)
	r.precedence.gone(key)
	if mend.On.NothingCameFree && !workload.HasQuotaReservation(w) && placeOf(key, heap, inadmissible) == nowhere {
		r.queues.DeleteAndForgetWorkload(logr.Discard(), workload.Reference(key))
		return
	}
	r.controller.Delete(event.TypedDeleteEvent[*kueue.Workload]{Object: w})
	r.queues.QuotaCameFree(w)
}

// changeWorkload merges an update into the Workload, or creates it.
func (r *kueueRun) changeWorkload(w *kueue.Workload) {
	key := w.Namespace + "/" + w.Name
	before, ok := r.memory.workloads[key]
	after := w.DeepCopy()
	r.memory.workloads[key] = after
	if !ok {
		r.controller.Create(event.TypedCreateEvent[*kueue.Workload]{Object: after.DeepCopy()})
		return
	}
	after.Status = *before.Status.DeepCopy()
	if w.Status.ReclaimablePods != nil {
		after.Status.ReclaimablePods = w.DeepCopy().Status.ReclaimablePods
	}
	if w.Status.AdmissionChecks != nil {
		after.Status.AdmissionChecks = w.DeepCopy().Status.AdmissionChecks
	}
	if w.Status.RequeueState != nil {
		after.Status.RequeueState = w.DeepCopy().Status.RequeueState
	}
	for _, c := range w.Status.Conditions {
		apimeta.SetStatusCondition(&after.Status.Conditions, c)
	}
	gaveBack := apimeta.IsStatusConditionTrue(after.Status.Conditions, kueue.WorkloadFinished) ||
		!workload.IsActive(after) || !usesAlike(before, after)
	if gaveBack {
		r.precedence.gaveBack(before)
	}
	if mend.On.NothingCameFree && w.Status.ReclaimablePods != nil && usesAlike(before, after) {
		r.cache.AddOrUpdateWorkload(logr.Discard(), after.DeepCopy())
		return
	}
	r.controller.Update(event.TypedUpdateEvent[*kueue.Workload]{ObjectOld: before, ObjectNew: after.DeepCopy()})
	if workload.HasQuotaReservation(before) && (gaveBack || workload.PriorityChanged(logr.Discard(), before, after)) {
		r.queues.QuotaCameFree(before)
	}
}

// usesAlike: both hold the same quota.
func usesAlike(a, b *kueue.Workload) bool {
	x, y := workload.NewInfo(a).Usage().Quota, workload.NewInfo(b).Usage().Quota
	for fr := range x {
		if x[fr].Cmp(y[fr]) != 0 {
			return false
		}
	}
	return true
}

// change does what Kueue's controllers do with an object that was created or updated.
func (r *kueueRun) change(ctx context.Context, object client.Object) error {
	switch o := object.(type) {
	case *kueue.Workload:
		r.changeWorkload(o)
	case *kueue.ClusterQueue:
		r.memory.queues[o.Name] = o
		r.precedence.edits++
		if err := r.cache.UpdateClusterQueue(logr.Discard(), o); err != nil {
			return err
		}
		r.cache.QueuesChanged()
		r.queues.QueuesChanged()
		return r.queues.UpdateClusterQueue(ctx, o, true)
	case *kueue.LocalQueue:
		i := slices.IndexFunc(r.memory.locals, func(l *kueue.LocalQueue) bool {
			return l.Namespace == o.Namespace && l.Name == o.Name
		})
		before := r.memory.locals[i]
		after := o.DeepCopy()
		after.Status = *before.Status.DeepCopy()
		r.memory.locals[i] = after
		r.locals.Update(event.TypedUpdateEvent[*kueue.LocalQueue]{ObjectOld: before, ObjectNew: after})
		r.queues.QueuesChanged()
	case *kueue.Cohort:
		r.precedence.edits++
		if err := r.cache.AddOrUpdateCohort(o); err != nil {
			return err
		}
		r.queues.AddOrUpdateCohort(ctx, o)
		r.cache.QueuesChanged()
		r.queues.QueuesChanged()
	}
	return nil
}

// stopVictims does what the Job controller does when the pods of evicted Workloads are gone.
func (r *kueueRun) stopVictims() {
	for key, before := range r.memory.workloads {
		evicted := apimeta.FindStatusCondition(before.Status.Conditions, kueue.WorkloadEvicted)
		if !workload.HasQuotaReservation(before) || evicted == nil || evicted.Status != metav1.ConditionTrue {
			continue
		}
		after := before.DeepCopy()
		again := evicted.Reason == kueue.WorkloadEvictedByPreemption
		workload.SetRequeuedCondition(after, evicted.Reason, evicted.Message, again)
		workload.UnsetQuotaReservationWithCondition(after, "Pending", evicted.Message, r.clock.Now())
		r.memory.workloads[key] = after
		r.precedence.gaveBack(before)
		r.controller.Update(event.TypedUpdateEvent[*kueue.Workload]{ObjectOld: before, ObjectNew: after.DeepCopy()})
		r.queues.QuotaCameFree(before)
	}
}

// sample does what the LocalQueue controller does after an admission, and when an interval is over.
func (r *kueueRun) sample(ctx context.Context) error {
	for _, l := range r.c.locals {
		key := types.NamespacedName{Namespace: l.Namespace, Name: l.Name}
		if r.c.usage == nil {
			break
		}
		if _, err := r.locals.Reconcile(ctx, ctrl.Request{NamespacedName: key}); err != nil {
			return err
		}
	}
	return nil
}

func (r *kueueRun) runCycle(ctx context.Context) error {
	r.cycle++
	if r.hasHeads() {
		schedule(r.scheduler, ctx)
		r.admissions.Wait()
	} else {
		r.skipCycle()
	}
	r.note()
	last := r.cycle == r.c.cycles
	if last && !r.c.stops {
		return nil
	}
	if err := r.sample(ctx); err != nil {
		return err
	}
	r.observe()
	for _, d := range r.c.deletions {
		if d.after == r.cycle {
			r.remove(d.workload)
		}
	}
	for _, u := range r.c.updates {
		if u.after == r.cycle {
			if err := r.change(ctx, u.object); err != nil {
				return err
			}
		}
	}
	if r.c.stops {
		r.stopVictims()
	}
	if last {
		return nil
	}
	r.clock.Step(r.c.advance)
	r.requeuer.ProcessRequeues(ctx)
	return r.sample(ctx)
}

// askKueue runs Kueue's scheduler. precedence: what was preempted before kept some workload from being
// a candidate.
func askKueue(c *cluster) (ret lib.Answer, precedence bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("Kueue panics: %v", p)
		}
	}()
	if err := setGates(c.gates); err != nil {
		return nil, false, err
	}
	mend.On = c.mends
	ctx := ctrl.LoggerInto(context.Background(), kueueLog)
	r := newKueueRun(c)
	if err := r.setup(ctx); err != nil {
		return nil, false, fmt.Errorf("Kueue does not take the objects: %w", err)
	}
	for range c.cycles {
		if err := r.runCycle(ctx); err != nil {
			return nil, false, fmt.Errorf("Kueue does not take an update: %w", err)
		}
	}
	heap, inadmissible := r.places()
	for _, q := range c.queues {
		// Headgate lists those that are to be requeued by others apart.
		inadmissible[q.Name] = slices.DeleteFunc(inadmissible[q.Name], func(key string) bool {
			return apimeta.IsStatusConditionFalse(r.memory.workloads[key].Status.Conditions, kueue.WorkloadRequeued)
		})
		if r.cache.ClusterQueueActive(kueue.ClusterQueueReference(q.Name)) {
			addQueue(&r.answer, q.Name, heap[q.Name], inadmissible[q.Name])
		}
	}
	return r.answer.Sorted(), r.precedence.counted, nil
}
