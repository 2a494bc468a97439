package scenarios

import (
	"fmt"
	"slices"
	"testing"

	"headgate/e2e/cluster"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// A Job goes to the workers; the first that admits it runs it, its end comes back, and nothing is left. Another one is
// deleted while it runs. The manager is Headgate's, the core on its cluster and the workers are Kueue's.
func TestFleetManager(t *testing.T) {
	f := suite.StartFleet(t)
	manageJobs(f, f.Manage(false))
}

// The same with Headgate on the workers.
func TestFleetManagerOfHeadgate(t *testing.T) {
	f := suite.StartFleet(t)
	f.Headgate(f.Fleet.Workers...)
	manageJobs(f, f.Manage(false))
}

// The same with Headgate as the core on the manager's cluster as well, and Kueue on the workers: these write the
// replicas of Workloads that Headgate has made.
func TestFleetManagerWithCore(t *testing.T) {
	f := suite.StartFleet(t)
	manageJobs(f, f.ManageWithCore())
}

func manageJobs(f *suite.F, process *cluster.Process) {
	f.Queues(2)
	one := f.Submit("one", 1)
	on := f.WaitRuns("one", one)
	// The next process goes on.
	process.Kill()
	f.FinishPods(on, "one")
	f.Must(process.Start())
	f.WaitComplete("one", one)

	two := f.Submit("two", 1)
	f.WaitRuns("two", two)
	f.DeleteJob(f.Fleet.Manager, "two")
	f.DeleteWorkload(two)
	f.WaitNothingLeft("two", two)
}

// ranOn: the Job began to run on these workers, one after the other, and never on two at once.
func ranOn(f *suite.F, job string, twice int, workers ...string) {
	f.Helper()
	var starts []string
	f.Eventually("the oracle has seen "+job+" run", func() error {
		// It has watches of its own, which may be behind.
		if starts = f.Runs.Starts(f.Namespace, job); len(starts) < len(workers) {
			return fmt.Errorf("on %v", starts)
		}
		return nil
	})
	if !slices.Equal(starts, workers) {
		f.Errorf("Job %s began to run on %v, not on %v", job, starts, workers)
	}
	if n := f.Runs.Twice(f.Namespace, job); n != twice {
		f.Errorf("Job %s began %d times to run while another worker ran it, not %d times", job, n, twice)
	}
}

// The worker that runs a Job is lost for longer than workerLostTimeout: another one runs the Job, as Kueue does it, and
// this is the one case in which two do. When the lost worker is back, its Job is deleted, and never begun again.
func TestFleetManagerLosesWorker(t *testing.T) {
	f := suite.StartFleet(t)
	f.Manage(false, "workerLostTimeout: 5s")
	f.Queues(1)
	high := f.Submit("high", 1)
	lost := f.WaitRuns("high", high)
	lost.CutOff()
	f.Cleanup(lost.Reconnect)
	other := f.WaitWinner("high", f.Others(lost)...)
	f.WaitActive(other, "high", 1)
	lost.Reconnect()
	if on := f.WaitRuns("high", high); on != other {
		t.Errorf("it runs on %s", on.Name)
	}
	f.FinishPods(other, "high")
	f.WaitComplete("high", high)
	ranOn(f, "high", 1, lost.Name, other.Name)
	f.Must(victims(f, 0))
}

// A worker evicts a Job, and takes none any more: the Job is offered again, and another worker runs it.
func TestFleetManagerWorkerEvicts(t *testing.T) {
	f := suite.StartFleet(t)
	f.Manage(false)
	f.Queues(1)
	high := f.Submit("high", 1)
	first := f.WaitRuns("high", high)
	f.StopQueue(first)
	second := f.WaitWinner("high", f.Others(first)...)
	f.WaitEvent(high, `MultiKueue: Workload evicted on worker cluster: "`+first.Name+`"`)
	f.WaitActive(second, "high", 1)
	f.FinishPods(second, "high")
	f.WaitComplete("high", high)
	ranOn(f, "high", 0, first.Name, second.Name)
	f.Must(victims(f, 0))
}

// Headgate's manager makes replicas with gates, and opens one: of the worker on which preemption costs least. It is
// killed while that worker has the token, and the next process goes on with it.
func TestFleetManagerPreempts(t *testing.T) {
	f := suite.StartFleet(t)
	process := f.Manage(true, "orchestratedPreemption: {order: Cost}")
	last := f.Fleet.Workers[len(f.Fleet.Workers)-1]
	fillUnequally(f)
	release := f.HoldVictims()
	high := f.Submit("high", 1)
	f.WaitToken(high, `"phase":"Granted"`)
	process.Kill()
	f.Must(process.Start())
	f.Eventually("a victim", func() error { return victims(f, 1) })
	release()
	checkOnePreemption(f, high, last)
	ranOn(f, "high", 0, last.Name)
}

// Thirty Jobs at once need the room of thirty victims on all workers together: each preempts once, and runs once.
func TestFleetManagerThirtyPreemptors(t *testing.T) {
	const jobs = 30
	f := suite.StartFleet(t)
	f.Manage(true, "orchestratedPreemption: {order: Cost, collectionWindow: 5s}")
	cpus := jobs / len(f.Fleet.Workers)
	f.Queues(cpus)
	for _, m := range f.Fleet.Workers {
		f.Fill(m, "low", cpus)
	}
	highs := map[string]string{}
	for i := range cpus * len(f.Fleet.Workers) {
		job := fmt.Sprintf("high-%d", i)
		highs[job] = f.Submit(job, 1)
	}
	for job, high := range highs {
		on := f.WaitRuns(job, high)
		ranOn(f, job, 0, on.Name)
		if opened := f.Gates.Clusters(f.Namespace, high, oracle.Opened); !slices.Equal(opened, []string{on.Name}) {
			t.Errorf("gates of %s were opened on %v, and it runs on %s", high, opened, on.Name)
		}
	}
	f.Must(victims(f, len(highs)))
}
