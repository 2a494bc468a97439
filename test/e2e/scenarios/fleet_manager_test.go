package scenarios

import (
	"testing"

	"headgate/e2e/suite"
)

// A Job goes to the workers; the first that admits it runs it, its end comes back, and nothing is left. Another one is
// deleted while it runs. The manager is Headgate's, the core on its cluster and the workers are Kueue's.
func TestFleetManager(t *testing.T) {
	f := suite.StartFleet(t)
	manageJobs(f)
}

// The same with Headgate on the workers.
func TestFleetManagerOfHeadgate(t *testing.T) {
	f := suite.StartFleet(t)
	f.Headgate(f.Fleet.Workers...)
	manageJobs(f)
}

func manageJobs(f *suite.F) {
	process := f.Manage(false)
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
	f.Must(f.DeleteWorkload(two))
	f.WaitNothingLeft("two", two)
}
