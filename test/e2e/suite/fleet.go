package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"headgate/e2e/cluster"
	"headgate/e2e/fleet"
	"headgate/e2e/headgate"
	"headgate/e2e/oracle"
)

const (
	envKueueManager = "E2E_KUEUE_MANAGER" // file that appears with the folder of Kueue's program, or why there is none
	envFleetWorkers = "E2E_FLEET_WORKERS" // how many worker clusters there are
)

// fleetWorkers is how many there are without the variable: a manager and two workers keep two cores busy.
const fleetWorkers = 2

// F is a scenario on a fleet: a manager cluster and its workers, all with Kueue (package fleet). Its cluster-wide
// objects begin with its namespace.
type F struct {
	*testing.T
	Ctx       context.Context
	Fleet     *fleet.Fleet
	Gates     *oracle.Gates
	Runs      *oracle.Runs // of the workers
	Namespace string

	breach       bool                        // one is expected
	orchestrator *cluster.Process            // nil: none was started
	managedBy    bool                        // Jobs of the manager say that MultiKueue manages them
	schedulers   map[string]*cluster.Process // Headgate by the name of the member on which it runs in place of Kueue
}

// StartFleet begins a scenario on the shared fleet, on which Kueue's feature gate
// MultiKueueOrchestratedPreemption is on for the workers and off for the manager.
func StartFleet(t *testing.T) *F {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	shared := sharedFleet(ctx, t)
	f := &F{T: t, Ctx: ctx, Fleet: shared, Namespace: namespaceOf(t.Name())}
	clients := map[string]dynamic.Interface{}
	for _, m := range shared.Members() {
		space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace}}
		_, err := m.Client.CoreV1().Namespaces().Create(ctx, space, metav1.CreateOptions{})
		f.Must(err)
		clients[m.Name] = m.Dynamic
	}
	delete(clients, shared.Manager.Name)
	f.Gates = oracle.StartGates(ctx, clients)
	f.Runs = oracle.StartRuns(ctx, clients)
	t.Cleanup(f.end)
	return f
}

// sharedFleet starts it when it is first asked for; the test is skipped where Kueue cannot be had.
func sharedFleet(ctx context.Context, t *testing.T) *fleet.Fleet {
	t.Helper()
	kueue, err := waitForBuild(ctx, envKueueManager, "Kueue is built")
	if err != nil {
		t.Skipf("there is no fleet without Kueue: %v", err)
	}
	if env.fleetBroken != nil {
		t.Fatal(env.fleetBroken)
	}
	if env.fleet != nil {
		return env.fleet
	}
	dir, err := os.MkdirTemp(os.Getenv(envWork), "fleet-")
	if err != nil {
		t.Fatal(err)
	}
	workers := fleetWorkers
	if text := os.Getenv(envFleetWorkers); text != "" {
		if workers, err = strconv.Atoi(text); err != nil || workers < 2 {
			t.Fatalf("%s=%s: at least 2", envFleetWorkers, text)
		}
	}
	begin := time.Now()
	started, err := fleet.Start(ctx, fleet.Options{Bin: os.Getenv(envComponents), Kueue: kueue, Dir: dir,
		Workers: workers, ManagerGates: map[string]bool{orchestration: false}, WorkerGates: map[string]bool{orchestration: true}})
	env.mu.Lock()
	env.fleet, env.fleetBroken = started, err
	env.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("        fleet of %d workers up in %.1f s\n", workers, time.Since(begin).Seconds())
	return started
}

// waitForBuild returns the folder of programs that run.sh builds beside the first scenarios, when it has done so: what
// stands in the file that the variable names. Otherwise why there is none.
func waitForBuild(ctx context.Context, variable, what string) (string, error) {
	file := os.Getenv(variable)
	if file == "" {
		return "", fmt.Errorf("%s is not set", variable)
	}
	var text []byte
	err := cluster.Poll(ctx, what, func(context.Context) (err error) {
		text, err = os.ReadFile(file)
		return err
	})
	folder := strings.TrimSpace(string(text))
	if err == nil && !filepath.IsAbs(folder) {
		err = errors.New(folder)
	}
	return folder, err
}

// end judges, says what has happened if something went wrong, and cleans up.
func (f *F) end() {
	if err := f.Gates.Err(); err != nil && !f.breach {
		f.Errorf("oracle: %v", err)
	} else if err == nil && f.breach {
		f.Error("oracle: two open gates of one Workload were expected")
	}
	for _, m := range f.Fleet.Members() {
		if m.Kueue.Crashed() {
			f.Errorf("Kueue on %s ended by itself, see %s", m.Name, m.Kueue.Log)
		}
	}
	if f.Failed() {
		env.mu.Lock()
		env.fleetFailed = true
		env.mu.Unlock()
		f.diagnose()
	}
	f.cleanUp()
	f.Gates.Stop()
	f.Runs.Stop()
}

func (f *F) diagnose() {
	f.Logf("what the oracle saw:\n%s", f.Gates.Tell(f.Namespace))
	f.Logf("where Jobs have run:\n%s", f.Runs.Tell(f.Namespace))
	for _, m := range f.Fleet.Members() {
		for _, what := range []string{"jobs", "workloads.kueue.x-k8s.io", "events"} {
			args := []string{"get", what, "-n", f.Namespace}
			if what == "workloads.kueue.x-k8s.io" {
				args = append(args, "-o", "yaml")
			}
			one, cancel := context.WithTimeout(f.Ctx, 20*time.Second)
			out, err := m.Kubectl(one, "", args...)
			cancel()
			f.Logf("%s: kubectl %s\n%s%v", m.Name, strings.Join(args, " "), out, err)
		}
	}
	if f.orchestrator != nil {
		lines := strings.Split(f.orchestrator.Output(), "\n")
		f.Logf("the end of the orchestrator's log:\n%s", strings.Join(lines[max(0, len(lines)-200):], "\n"))
	}
	f.Logf("logs: %s", f.Fleet.Dir)
}

// cleanUp returns when nothing of the scenario is left in any cluster but its namespace. There is no controller on the
// manager that removes what a Job owned.
func (f *F) cleanUp() {
	background, all := metav1.DeletePropagationBackground, metav1.ListOptions{}
	for _, m := range f.Fleet.Members() {
		ctx, cancel := context.WithTimeout(f.Ctx, Timeout)
		err := cluster.Poll(ctx, "nothing is left on "+m.Name, func(ctx context.Context) error {
			options := metav1.DeleteOptions{PropagationPolicy: &background}
			if err := m.Client.BatchV1().Jobs(f.Namespace).DeleteCollection(ctx, options, all); err != nil {
				return err
			}
			workloads := m.Dynamic.Resource(headgate.Workloads).Namespace(f.Namespace)
			if err := workloads.DeleteCollection(ctx, options, all); err != nil {
				return err
			}
			left, err := workloads.List(ctx, all)
			if err == nil && len(left.Items) > 0 {
				first, _ := json.Marshal(left.Items[0].Object)
				err = fmt.Errorf("%d workloads, the first one: %s", len(left.Items), first)
			}
			return err
		})
		for _, k := range fleetKinds {
			client := m.Dynamic.Resource(headgate.Workloads.GroupVersion().WithResource(k))
			err = errors.Join(err, client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{
				LabelSelector: scenarioLabel + "=" + f.Namespace}))
		}
		cancel()
		if err != nil {
			f.Errorf("cleaning up %s: %v", m.Name, err)
		}
	}
}

// originLabel is on replicas.
const originLabel = "kueue.x-k8s.io/multikueue-origin"

// scenarioLabel is on what a scenario makes outside of its namespace.
const scenarioLabel = "e2e.headgate.io/scenario"

// fleetKinds of Queues in the order in which they are removed.
var fleetKinds = []string{"clusterqueues", "admissionchecks", "multikueueconfigs", "resourceflavors"}

// Must fails the test when there is an error.
func (f *F) Must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// Eventually waits until do returns nil; the test fails with its last error after Timeout, or at once when the
// oracle found a breach.
func (f *F) Eventually(what string, do func() error) {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Ctx, Timeout)
	defer cancel()
	err := cluster.Poll(ctx, what, func(context.Context) error {
		f.Helper()
		if err := f.Gates.Err(); err != nil && !f.breach {
			f.Fatalf("oracle, while waiting for %q: %v", what, err)
		}
		return do()
	})
	f.Must(err)
}

// ExpectBreach says that two gates of one Workload have to be open together before the scenario ends.
func (f *F) ExpectBreach() {
	f.breach = true
}

// Apply applies manifests to a cluster, with the scenario's namespace in place of $NS.
func (f *F) Apply(m *fleet.Member, manifests string) {
	f.Helper()
	_, err := m.Kubectl(f.Ctx, strings.ReplaceAll(manifests, "$NS", f.Namespace), "apply", "--server-side",
		"-n", f.Namespace, "-f", "-")
	f.Must(err)
}

const fleetQueues = `
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: $NS, labels: {e2e.headgate.io/scenario: $NS}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high}, value: 100}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: $NS, labels: {e2e.headgate.io/scenario: $NS}}
spec:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: $NS, resources: [{name: cpu, nominalQuota: $CPU}]}]}]
$CHECK
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: main}, spec: {clusterQueue: $NS}}
`

const fleetCheck = `
{apiVersion: kueue.x-k8s.io/v1beta2, kind: MultiKueueConfig, metadata: {name: $NS, labels: {e2e.headgate.io/scenario: $NS}},
 spec: {clusters: [$CLUSTERS]}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: $NS, labels: {e2e.headgate.io/scenario: $NS}}
spec: {controllerName: kueue.x-k8s.io/multikueue, parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: $NS}}
---
`

// Queues makes a queue "main" with so many CPUs on each worker, and one on the manager with room for all that sends
// its Workloads to the workers.
func (f *F) Queues(cpus int) {
	f.Helper()
	for _, m := range f.Fleet.Workers {
		f.workerQueue(m, cpus)
	}
	f.managerQueue()
}

// managerQueue makes the queue of the manager, and waits for those of all members.
func (f *F) managerQueue() {
	f.Helper()
	var names []string
	for _, m := range f.Fleet.Workers {
		names = append(names, m.Name)
	}
	check := strings.ReplaceAll(fleetCheck, "$CLUSTERS", strings.Join(names, ", "))
	f.Apply(f.Fleet.Manager, check+strings.NewReplacer("$CPU", "1000", "$CHECK",
		"  admissionChecksStrategy: {admissionChecks: [{name: $NS}]}").Replace(fleetQueues))
	for _, m := range f.Fleet.Members() {
		f.waitQueue(m)
	}
}

func (f *F) workerQueue(m *fleet.Member, cpus int) {
	f.Helper()
	f.Apply(m, strings.NewReplacer("$CPU", strconv.Itoa(cpus), "$CHECK", "").Replace(fleetQueues))
}

func (f *F) waitQueue(m *fleet.Member) {
	f.Helper()
	f.Eventually("ClusterQueue "+f.Namespace+" is active on "+m.Name, func() error {
		q, err := m.Dynamic.Resource(headgate.ClusterQueues).Get(f.Ctx, f.Namespace, metav1.GetOptions{})
		if err == nil && !strings.HasPrefix(Condition(q, "Active"), "True/") {
			err = errors.New(Condition(q, "Active"))
		}
		return err
	})
}

// Others are the workers but this one.
func (f *F) Others(but *fleet.Member) []*fleet.Member {
	return slices.DeleteFunc(slices.Clone(f.Fleet.Workers), func(m *fleet.Member) bool { return m == but })
}

// StopQueue lets a worker evict what the scenario has there, and admit nothing.
func (f *F) StopQueue(m *fleet.Member) {
	f.Helper()
	_, err := m.Kubectl(f.Ctx, "", "patch", "clusterqueues.kueue.x-k8s.io", f.Namespace, "--type=merge",
		`--patch={"spec": {"stopPolicy": "HoldAndDrain"}}`)
	f.Must(err)
}

// Job creates a Job of queue "main" on a cluster.
func (f *F) Job(m *fleet.Member, name string, pods int, options ...JobOption) {
	f.Helper()
	_, err := m.Client.BatchV1().Jobs(f.Namespace).Create(f.Ctx, newJob(f.Namespace, name, "main", pods, options...),
		metav1.CreateOptions{})
	f.Must(err)
}

// DeleteJob deletes a Job with its pods.
func (f *F) DeleteJob(m *fleet.Member, name string) {
	f.Helper()
	background := metav1.DeletePropagationBackground
	f.Must(m.Client.BatchV1().Jobs(f.Namespace).Delete(f.Ctx, name, metav1.DeleteOptions{PropagationPolicy: &background}))
}

// WaitActive waits until so many pods of a Job are active, by its status.
func (f *F) WaitActive(m *fleet.Member, job string, pods int) {
	f.Helper()
	f.Eventually(fmt.Sprintf("Job %s has %d active pods on %s", job, pods, m.Name), func() error {
		j, err := m.Client.BatchV1().Jobs(f.Namespace).Get(f.Ctx, job, metav1.GetOptions{})
		if err == nil && int(j.Status.Active) != pods {
			err = fmt.Errorf("%d", j.Status.Active)
		}
		return err
	})
}

// Fill lets Jobs of one pod each, NAME-1 and so on, use as many CPUs of a worker. Without a webhook a Job starts before
// it has quota, so that its pod says nothing about room.
func (f *F) Fill(m *fleet.Member, name string, cpus int) {
	f.Helper()
	for i := range cpus {
		f.Job(m, fmt.Sprintf("%s-%d", name, i+1), 1)
	}
	for i := range cpus {
		job := fmt.Sprintf("%s-%d", name, i+1)
		f.waitFills(m, job)
		f.WaitActive(m, job, 1)
	}
}

// waitFills waits until a Job has quota.
func (f *F) waitFills(m *fleet.Member, job string) {
	f.Helper()
	f.Eventually("Job "+job+" has quota on "+m.Name, func() error {
		w, err := f.Workload(m, job)
		if err == nil && !strings.HasPrefix(Condition(w, "QuotaReserved"), "True/") {
			err = errors.New(Condition(w, "QuotaReserved"))
		}
		return err
	})
}

// Workload of a Job on a cluster.
func (f *F) Workload(m *fleet.Member, job string) (*unstructured.Unstructured, error) {
	list, err := m.Dynamic.Resource(headgate.Workloads).Namespace(f.Namespace).List(f.Ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		owner := metav1.GetControllerOf(&list.Items[i])
		if owner != nil && owner.Kind == "Job" && owner.Name == job {
			return &list.Items[i], nil
		}
	}
	return nil, fmt.Errorf("Job %s has no Workload on %s", job, m.Name)
}

// Submit creates a Job of class high on the manager and returns the name of its Workload, which replicas have, too.
func (f *F) Submit(job string, pods int) string {
	f.Helper()
	var name string
	options := []JobOption{Class("high")}
	if f.managedBy {
		options = append(options, managedByMultiKueue)
	}
	f.Job(f.Fleet.Manager, job, pods, options...)
	f.Eventually("Job "+job+" has a Workload", func() error {
		w, err := f.Workload(f.Fleet.Manager, job)
		if err == nil {
			name = w.GetName()
		}
		return err
	})
	return name
}

// local is a Workload on the manager.
func (f *F) local(name string) (*unstructured.Unstructured, error) {
	return f.Fleet.Manager.Dynamic.Resource(headgate.Workloads).Namespace(f.Namespace).Get(f.Ctx, name, metav1.GetOptions{})
}

// Replica of a Workload on a worker; nil: there is none.
func (f *F) Replica(m *fleet.Member, name string) *unstructured.Unstructured {
	f.Helper()
	w, err := m.Dynamic.Resource(headgate.Workloads).Namespace(f.Namespace).Get(f.Ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	f.Must(err)
	return w
}

// WaitBlocked waits until the replicas on all workers ask that their gates be opened.
func (f *F) WaitBlocked(name string) {
	f.Helper()
	for _, m := range f.Fleet.Workers {
		f.Eventually("Workload "+name+" asks on "+m.Name+" that its gate be opened", func() error {
			if !slices.Contains(f.Gates.Clusters(f.Namespace, name, oracle.Blocked), m.Name) {
				return errors.New("it does not")
			}
			return nil
		})
	}
}

// WaitNominated waits until the manager offers a Workload to these workers.
func (f *F) WaitNominated(name string, workers ...*fleet.Member) {
	f.Helper()
	f.Eventually("Workload "+name+" is offered to all workers", func() error {
		w, err := f.local(name)
		if err != nil {
			return err
		}
		nominated, _, _ := unstructured.NestedStringSlice(w.Object, "status", "nominatedClusterNames")
		for _, m := range workers {
			if !slices.Contains(nominated, m.Name) {
				return fmt.Errorf("to %v", nominated)
			}
		}
		return nil
	})
}

// WaitWinner waits until a Job is admitted on one of these workers, and returns this one.
func (f *F) WaitWinner(job string, workers ...*fleet.Member) *fleet.Member {
	f.Helper()
	var on *fleet.Member
	f.Eventually("Job "+job+" is admitted on one worker", func() error {
		w, err := f.Workload(f.Fleet.Manager, job)
		if err != nil {
			return err
		}
		name, _, _ := unstructured.NestedString(w.Object, "status", "clusterName")
		at := slices.IndexFunc(workers, func(m *fleet.Member) bool { return m.Name == name })
		if at < 0 || !strings.HasPrefix(Condition(w, "Admitted"), "True/") {
			return fmt.Errorf("clusterName %q, Admitted %s", name, Condition(w, "Admitted"))
		}
		on = workers[at]
		return nil
	})
	return on
}

// WaitRuns waits until a Job runs on one worker, and nowhere else, and returns this one.
func (f *F) WaitRuns(job, workload string) *fleet.Member {
	f.Helper()
	on := f.WaitWinner(job, f.Fleet.Workers...)
	f.Eventually("its other replicas are gone", func() error {
		for _, m := range f.Fleet.Workers {
			if m != on && f.Replica(m, workload) != nil {
				return fmt.Errorf("there is one on %s", m.Name)
			}
		}
		return nil
	})
	j, err := f.Fleet.Manager.Client.BatchV1().Jobs(f.Namespace).Get(f.Ctx, job, metav1.GetOptions{})
	f.Must(err)
	f.WaitActive(on, job, int(*j.Spec.Parallelism))
	return on
}

// workerGate is the file with what adds the gate to replicas.
const workerGate = "docs/multikueue-worker-gate.yaml"

// GateReplicas gives replicas their preemption gate, on all workers, until the scenario ends.
func (f *F) GateReplicas() {
	f.Helper()
	text, err := os.ReadFile(filepath.Join(os.Getenv(envRepo), workerGate))
	f.Must(err)
	for _, m := range f.Fleet.Workers {
		f.Apply(m, string(text))
		f.Cleanup(func() {
			_, err := m.Kubectl(f.Ctx, string(text), "delete", "-f", "-")
			f.Must(err)
			f.waitGated(m, false)
		})
	}
	for _, m := range f.Fleet.Workers {
		f.waitGated(m, true)
	}
}

// waitGated waits until a replica that were made on a worker would have a gate, or none: API servers learn of policies
// a little later.
func (f *F) waitGated(m *fleet.Member, yes bool) {
	f.Helper()
	template := newJob(f.Namespace, "try", "main", 1).Spec.Template.Spec
	try := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
		"metadata": map[string]any{"name": "try", "labels": map[string]any{originLabel: fleet.Origin}},
		"spec": map[string]any{"queueName": "main", "podSets": []any{map[string]any{"name": "main", "count": int64(1),
			"template": map[string]any{"spec": map[string]any{"restartPolicy": string(template.RestartPolicy),
				"containers": []any{map[string]any{"name": "main", "image": template.Containers[0].Image}}}}}}}}}
	f.Eventually(fmt.Sprintf("replicas get a gate on %s: %v", m.Name, yes), func() error {
		w, err := m.Dynamic.Resource(headgate.Workloads).Namespace(f.Namespace).Create(f.Ctx, try,
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err
		}
		gates, _, _ := unstructured.NestedSlice(w.Object, "spec", "preemptionGates")
		if (len(gates) > 0) != yes {
			return fmt.Errorf("its gates: %v", gates)
		}
		return nil
	})
}

// HoldVictims stops what removes the pods of Jobs on all workers, so that no victim gives back its quota, until the
// function that it returns is called, or the scenario ends.
func (f *F) HoldVictims() (release func()) {
	f.Helper()
	for _, m := range f.Fleet.Workers {
		m.ControllerManager.Signal(syscall.SIGSTOP)
	}
	release = func() {
		for _, m := range f.Fleet.Workers {
			m.ControllerManager.Signal(syscall.SIGCONT)
		}
	}
	f.Cleanup(release)
	return release
}
