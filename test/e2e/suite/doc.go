// Package suite is what a scenario is written with: a cluster with Headgate in it, a namespace and
// queues of its own, the oracle beside it, and waits that never depend on how fast the machine is.
//
//	func TestScenario9Example(t *testing.T) {
//		s := suite.Start(t)                              // the cluster that all scenarios share
//		s.Nodes(2, "2", "2Gi")                           // simulated by kwok, gone at the end
//		q := s.Queue("q", "1", "1Gi")                    // returns its name in the cluster
//		s.Pod("a", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))
//		s.WaitRunning("a")
//		s.Pod("b", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))
//		s.SchedulerSawAll()                              // and decided with it in sight
//		s.WaitGated("b")                                 // exactly these are gated now
//		s.WaitPublished()                                // exactly nothing is published
//		s.DeletePod("a")
//		s.WaitRunning("b")
//		s.Before("default order", s.Gone("a"), s.Ungated("b"))
//	}
//
// Rules. Wait for conditions (s.Eventually), never for time. "Stays so" is not a pause: let the
// scheduler see everything (s.SchedulerSawAll), do what ends the state, and compare at the end by
// resourceVersion what the oracle wrote down (s.Before, s.Oracle.Timeline). Between any two lines half
// a minute may pass: a state that something replaces later may be over before it is looked for, objects
// that are made one after the other are found together, and different kinds are seen in any order
// (s.Oracle.Verify waits until the oracle has seen all). The oracle judges every
// moment by itself, and s fails the test at the first breach. Scenarios run one after another. One
// that stops components of the control plane, or needs other values of the chart, takes a cluster
// of its own: suite.StartOwn(t, suite.Options{Values: []string{"scheduler.replicas=1"}}).
//
// One file per scenario in test/e2e/scenarios, tests called TestScenarioN...; ./run e2e SCENARIO=N
// runs those of one number.
package suite
