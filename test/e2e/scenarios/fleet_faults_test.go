package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"headgate/e2e/cluster"
	"headgate/e2e/fleet"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// reaction is the time in which a worker has to react to an open gate.
const reaction = 10 * time.Second

// What fails while one worker preempts for a Job: whatever it is, one worker evicts one Workload, and one runs the Job.
// Headgate is the manager and schedules on the workers.
func TestFleetFaults(t *testing.T) {
	f := suite.StartFleet(t)
	f.Headgate(f.Fleet.Workers...)
	manager := f.Manage(true, "orchestratedPreemption: {order: ConfigOrder, collectionWindow: 10s, "+
		"reactionTimeout: "+reaction.String()+"}")
	f.Play("SchedulerDies", schedulerDies)
	f.Play("ManagerDiesWaiting", func(f *suite.F) { managerDiesWaiting(f, manager) })
	f.Play("ManagerDiesRevoking", func(f *suite.F) { managerDiesRevoking(f, manager) })
	f.Play("ManagerMissesAdmission", func(f *suite.F) { managerMissesAdmission(f, manager) })
	f.Play("APIServerDown", apiServerDown)
	f.Play("BackBeforeReaction", backBeforeReaction)
	f.Play("KubeconfigRotated", kubeconfigRotated)
	f.Play("ClusterMadeAnew", clusterMadeAnew)
}

// The same with Kueue as the manager, which opens the gates. What Kueue's rules do not promise is left out: it forgets a
// worker that it cannot reach (TestFleetKueueForgetsHolder).
func TestFleetFaultsUnderKueue(t *testing.T) {
	f := suite.StartFleet(t)
	f.KueueOrchestrates()
	f.Headgate(f.Fleet.Workers...)
	f.Play("SchedulerDies", schedulerDiesEvicting)
	f.Play("TenPreemptors", tenPreemptors)
}

// fillEach lets Jobs of one pod use all of each worker: low-worker1-1 and so on.
func fillEach(f *suite.F, cpus int) {
	f.Helper()
	f.Queues(cpus)
	for _, m := range f.Fleet.Workers {
		f.Fill(m, "low-"+m.Name, cpus)
	}
}

// checkHolder: Job high has run on this worker alone, which has opened its gate once, and evicted one Workload for it.
// No other Job of a worker has been stopped.
func checkHolder(f *suite.F, high string, holder *fleet.Member) {
	f.Helper()
	if on := f.WaitRuns("high", high); on != holder {
		f.Errorf("high runs on %s, not on %s", on.Name, holder.Name)
	}
	onlyVictims(f, holder.Name+"/low")
	checkOpened(f, high, holder.Name)
	ranOn(f, "high", 0, holder.Name)
	checkUndisturbed(f, f.Others(holder)...)
}

// checkOpened: the gate of a Workload was opened on these workers, one after the other.
func checkOpened(f *suite.F, workload string, on ...string) {
	f.Helper()
	if opened := f.Gates.Clusters(f.Namespace, workload, oracle.Opened); !slices.Equal(opened, on) {
		f.Errorf("gates of %s were opened on %v, not on %v", workload, opened, on)
	}
}

// checkUndisturbed: the first Job of each of these workers was started once.
func checkUndisturbed(f *suite.F, workers ...*fleet.Member) {
	f.Helper()
	for _, m := range workers {
		ranOn(f, "low-"+m.Name+"-1", 0, m.Name)
	}
}

// mustHold: this worker has the token, and is the only one of which the gate was ever open.
func mustHold(f *suite.F, workload string, holder *fleet.Member) {
	f.Helper()
	if token := f.Token(workload); !strings.Contains(token, `"phase":"Granted","holder":"`+holder.Name+`"`) {
		f.Errorf("%s does not have the token: %s", holder.Name, token)
	}
	checkOpened(f, workload, holder.Name)
}

// oneAsks submits Job high, for which the first worker asks to preempt, while nothing schedules on the others: the
// manager waits for them until its window is over.
func oneAsks(f *suite.F) (high string, asks *fleet.Member) {
	f.Helper()
	asks = f.Fleet.Workers[0]
	for _, m := range f.Others(asks) {
		f.Scheduler(m).Kill()
	}
	high = f.Submit("high", 1)
	f.Eventually(asks.Name+" asks", func() error {
		if !slices.Contains(f.Gates.Clusters(f.Namespace, high, oracle.Blocked), asks.Name) {
			return fmt.Errorf("it does not")
		}
		return nil
	})
	return high, asks
}

func startSchedulers(f *suite.F, workers ...*fleet.Member) {
	f.Helper()
	for _, m := range workers {
		f.Must(f.Scheduler(m).Start())
	}
}

// The scheduler of the worker that may preempt is killed before it knows that, and again when it has evicted.
func schedulerDies(f *suite.F) {
	fillEach(f, 1)
	release := f.HoldVictims()
	high, holder := oneAsks(f)
	f.Scheduler(holder).Kill()
	if on := f.WaitOpened(high); on != holder {
		f.Fatalf("the gate of %s is open", on.Name)
	}
	f.Must(victims(f, 0))
	startSchedulers(f, f.Fleet.Workers...)
	f.Eventually("a victim", func() error { return victims(f, 1) })
	f.Scheduler(holder).Kill()
	release()
	startSchedulers(f, holder)
	checkHolder(f, high, holder)
	f.WaitToken(high, `"outcome":"Admitted"`)
}

// The scheduler of the worker that may preempt is killed when it has evicted: it does not evict again.
func schedulerDiesEvicting(f *suite.F) {
	fillEach(f, 1)
	release := f.HoldVictims()
	high := f.Submit("high", 1)
	f.Eventually("a victim", func() error { return victims(f, 1) })
	holder := f.WaitOpened(high)
	f.Scheduler(holder).Kill()
	release()
	startSchedulers(f, holder)
	checkHolder(f, high, holder)
}

// Ten Jobs preempt at once: each evicts one of those that run, and none evicts two.
func tenPreemptors(f *suite.F) {
	const jobs = 10
	fillEach(f, jobs)
	highs := map[string]string{}
	for i := range jobs {
		job := fmt.Sprintf("high-%d", i)
		highs[job] = f.Submit(job, 1)
	}
	for job, high := range highs {
		on := f.WaitRuns(job, high)
		ranOn(f, job, 0, on.Name)
		checkOpened(f, high, on.Name)
	}
	f.Must(victims(f, jobs))
}

// The manager is killed while it waits for the answers of other workers: no worker has the token.
func managerDiesWaiting(f *suite.F, manager *cluster.Process) {
	fillEach(f, 1)
	high, first := oneAsks(f)
	manager.Kill()
	if token := f.Token(high); strings.Contains(token, "Granted") {
		f.Skip("the window was over before the manager was killed: " + token)
	}
	f.Must(manager.Start())
	startSchedulers(f, f.Others(first)...)
	checkHolder(f, high, f.WaitOpened(high))
}

// A worker that does not react loses the token. Its API server refuses to close its gate: as long as that is open, no
// other gate is opened, by the next process of the manager as well. When the gate is closed, another worker preempts.
func managerDiesRevoking(f *suite.F, manager *cluster.Process) {
	fillEach(f, 1)
	high, first := oneAsks(f)
	f.Scheduler(first).Kill()
	allow := f.RefuseToClose(first)
	startSchedulers(f, f.Others(first)...)
	f.WaitToken(high, `"phase":"Revoking"`)
	f.WaitEvent(high, "PreemptionGateRefused")
	manager.Kill()
	f.Must(manager.Start())
	f.Must(f.Fleet.WaitConnected(f.Ctx, first))
	checkOpened(f, high, first.Name)
	allow()
	if on := f.WaitRuns("high", high); on == first {
		f.Errorf("high runs on %s, where nothing schedules", on.Name)
	}
	startSchedulers(f, first)
	second := f.WaitOpened(high, first)
	ranOn(f, "high", 0, second.Name)
	onlyVictims(f, second.Name+"/low")
	checkOpened(f, high, first.Name, second.Name)
	checkUndisturbed(f, f.Others(second)...)
}

// The worker that may preempt admits the Job while no manager runs.
func managerMissesAdmission(f *suite.F, manager *cluster.Process) {
	fillEach(f, 1)
	release := f.HoldVictims()
	high := f.Submit("high", 1)
	f.Eventually("a victim", func() error { return victims(f, 1) })
	holder := f.WaitOpened(high)
	manager.Kill()
	release()
	f.WaitQuota(holder, high)
	f.Must(manager.Start())
	checkHolder(f, high, holder)
	f.WaitToken(high, `"outcome":"Admitted"`)
}

// runAndPreempt lets the first worker run a Job of the manager, and use its other CPU and all others. Then it has the
// token for Job high, and has evicted its own Job; the pod of that Job stays until release.
func runAndPreempt(f *suite.F) (run, high string, holder *fleet.Member, release func()) {
	f.Helper()
	holder = f.Fleet.Workers[0]
	f.Queues(2)
	for _, m := range f.Others(holder) {
		f.Fill(m, "low-"+m.Name, 2)
	}
	f.Fill(holder, "low-"+holder.Name, 1)
	run = f.Submit("run", 1)
	if on := f.WaitRuns("run", run); on != holder {
		f.Fatalf("run runs on %s, which had no room", on.Name)
	}
	release = f.HoldVictims()
	high = f.Submit("high", 1)
	f.Eventually("a victim", func() error { return victims(f, 1) })
	if on := f.WaitOpened(high); on != holder {
		f.Fatalf("%s preempts, which is not the first worker", on.Name)
	}
	return run, high, holder, release
}

// The API server of the worker that may preempt is down, for less than workerLostTimeout. The worker keeps the token,
// and the Job that runs there. Another Job uses another worker meanwhile.
func apiServerDown(f *suite.F) {
	run, high, holder, release := runAndPreempt(f)
	holder.APIServer.Kill()
	release()
	f.Must(f.Fleet.WaitLost(f.Ctx, holder))
	other := f.Submit("other", 1)
	second := f.WaitWinner("other", f.Others(holder)...)
	f.WaitActive(second, "other", 1)
	mustHold(f, high, holder)
	f.Must(holder.APIServer.Start())
	f.Must(holder.WaitAPI(f.Ctx))
	for job, workload := range map[string]string{"high": high, "run": run} {
		if on := f.WaitRuns(job, workload); on != holder {
			f.Errorf("%s runs on %s", job, on.Name)
		}
		ranOn(f, job, 0, holder.Name)
	}
	ranOn(f, "other", 0, second.Name)
	onlyVictims(f, holder.Name+"/low", second.Name+"/low")
	checkOpened(f, high, holder.Name)
	checkOpened(f, other, second.Name)
}

// The worker that may preempt is cut off before it has reacted, for longer than it has for that. It is given this time
// again, and no other worker preempts.
func backBeforeReaction(f *suite.F) {
	fillEach(f, 1)
	high, holder := oneAsks(f)
	f.Scheduler(holder).Kill()
	if on := f.WaitOpened(high); on != holder {
		f.Fatalf("the gate of %s is open", on.Name)
	}
	opened := time.Now()
	holder.CutOff()
	f.Must(f.Fleet.WaitLost(f.Ctx, holder))
	f.Eventually("the time for a reaction is over", func() error {
		if left := reaction - time.Since(opened); left > 0 {
			return fmt.Errorf("in %v", left)
		}
		return nil
	})
	holder.Reconnect()
	f.Must(f.Fleet.WaitConnected(f.Ctx, holder))
	startSchedulers(f, f.Fleet.Workers...)
	checkHolder(f, high, holder)
	f.WaitToken(high, `"outcome":"Admitted"`)
}

// The kubeconfig of the worker that may preempt is replaced twice: the account before is revoked after that, as it
// should be, and then before it, so that all that the manager asks for is refused for a while. A Job that runs there
// ends meanwhile, and its end is not missed.
func kubeconfigRotated(f *suite.F) {
	run, high, holder, release := runAndPreempt(f)
	before := holder.Account()
	f.Must(f.Fleet.NewAccount(f.Ctx, holder))
	f.Must(holder.Revoke(f.Ctx, before))
	f.Must(f.Fleet.WaitConnected(f.Ctx, holder))
	mustHold(f, high, holder)
	f.Must(holder.Revoke(f.Ctx, holder.Account()))
	f.FinishPods(holder, "run")
	release()
	f.WaitQuota(holder, high)
	f.Must(f.Fleet.NewAccount(f.Ctx, holder))
	checkHolder(f, high, holder)
	f.WaitComplete("run", run)
	ranOn(f, "run", 0, holder.Name)
}

// The cluster of the worker that may preempt is made anew, at the same address and with the same kubeconfig. The Job
// that ran there is offered again, as well as the one for which it preempted, and both have room there now: nothing
// else is evicted.
func clusterMadeAnew(f *suite.F) {
	holder := f.Fleet.Workers[0]
	f.Must(f.Fleet.NewCertificate(f.Ctx, holder)) // a token would be of an account that is gone
	f.Cleanup(func() {
		f.Must(f.Fleet.NewAccount(f.Ctx, holder))
		f.Must(f.Fleet.WaitConnected(f.Ctx, holder))
	})
	run, high, _, release := runAndPreempt(f)
	f.MakeAnew(holder, 2)
	release()
	for job, workload := range map[string]string{"high": high, "run": run} {
		if on := f.WaitRuns(job, workload); on != holder {
			f.Errorf("%s runs on %s", job, on.Name)
		}
	}
	ranOn(f, "run", 0, holder.Name, holder.Name)
	ranOn(f, "high", 0, holder.Name)
	onlyVictims(f, holder.Name+"/low")
	checkOpened(f, high, holder.Name)
	checkUndisturbed(f, f.Others(holder)...)
}
