package scenarios

import (
	"testing"

	"headgate/e2e/suite"
)

// A job of a kind that the configuration names goes to the workers; the first that admits it gets the object. Its whole
// status comes back, a process that is killed meanwhile misses nothing, and nothing is left. Of another one the Workload
// is deleted while it runs.
func TestFleetManagerKinds(t *testing.T) {
	f := suite.StartFleet(t)
	process := f.ManageSimulations()
	f.Queues(1)
	f.SubmitSimulation("one")
	on := f.WaitSimulation("one")
	f.SetSimulation(on, "one", "Running")
	f.WaitSimulationState("one", "Running")
	process.Kill()
	f.SetSimulation(on, "one", "Done")
	f.FinishSimulation(on, "one")
	f.Must(process.Start())
	f.WaitSimulationState("one", "Done")
	f.WaitFinished("one")
	f.WaitNoSimulation("one")

	f.SubmitSimulation("two")
	f.SetSimulation(f.WaitSimulation("two"), "two", "Running")
	f.WaitSimulationState("two", "Running")
	f.DeleteWorkload("two")
	f.WaitNoSimulation("two")
}
