package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"headgate/e2e/fleet"
	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// onlyVictims: each of these Jobs ("worker1/low", sorted; the names begin so) was preempted once, and no other was.
func onlyVictims(f *suite.F, jobs ...string) {
	f.Helper()
	f.Must(victims(f, len(jobs)))
	for i, v := range f.Gates.Victims(f.Namespace) {
		// The name of a Workload begins with that of its Job: worker1/job-low-1-06a83.
		if !strings.HasPrefix(v, strings.Replace(jobs[i], "/", "/job-", 1)) {
			f.Errorf("victim %d is %s, not of %s", i, v, jobs[i])
		}
	}
}

// One worker preempts for a Job, the one on which that costs least, and the Job runs there.
func TestFleetOnePreemption(t *testing.T) {
	f := suite.StartFleet(t)
	f.Orchestrate("order: Cost")
	preemptOnce(f, f.Fleet.Workers[len(f.Fleet.Workers)-1])
}

// The same with Headgate on that worker, and Kueue on the others.
func TestFleetOnePreemptionByHeadgate(t *testing.T) {
	f := suite.StartFleet(t)
	last := f.Fleet.Workers[len(f.Fleet.Workers)-1]
	f.Headgate(last)
	f.Orchestrate("order: Cost")
	preemptOnce(f, last)
}

// fillUnequally fills all workers. Preemption costs least on the last one.
func fillUnequally(f *suite.F) {
	f.Helper()
	f.Queues(4)
	for i, m := range f.Fleet.Workers {
		if i == len(f.Fleet.Workers)-1 {
			f.Fill(m, "low", 4)
			continue
		}
		f.Job(m, "low-1", 4) // all of its pods stop when one CPU is needed
		f.WaitActive(m, "low-1", 4)
	}
}

func preemptOnce(f *suite.F, last *fleet.Member) {
	f.Helper()
	fillUnequally(f)
	high := f.Submit("high", 1)
	checkOnePreemption(f, high, last)
}

// checkOnePreemption: Job high runs on the last worker, where it has preempted once.
func checkOnePreemption(f *suite.F, high string, last *fleet.Member) {
	f.Helper()
	if on := f.WaitRuns("high", high); on != last {
		// A machine that stands still for longer than the orchestrator waits for costs.
		events, err := f.Events(f.Ctx, high)
		f.Must(err)
		for _, e := range events {
			if strings.Contains(e, "not known") {
				f.Skip("the costs were not known in time: " + e)
			}
		}
		f.Fatalf("it runs on %s, where preemption costs more", on.Name)
	}
	onlyVictims(f, last.Name+"/low")
	if opened := f.Gates.Clusters(f.Namespace, high, oracle.Opened); !slices.Equal(opened, []string{last.Name}) {
		f.Errorf("gates were opened on %v", opened)
	}
	f.WaitToken(high, `"outcome":"Admitted"`)
	f.WaitEvent(high, "PreemptionGranted: worker cluster "+last.Name+" may preempt for it")
	f.WaitEvent(high, "PreemptionGrantEnded: worker cluster "+last.Name+" may preempt for it no longer")
}

// The worker that may preempt is cut off while its victims end. It keeps the token, another Job may use the other
// worker meanwhile, and nothing else is preempted when it is back. Compare TestFleetKueueForgetsHolder.
func TestFleetHolderIsCutOff(t *testing.T) {
	f := suite.StartFleet(t)
	// A worker that evicts while it is cut off must not seem not to react.
	f.Orchestrate("order: ConfigOrder, collectionWindow: 5s, reactionTimeout: 5s")
	fillAll(f)
	release := f.HoldVictims()
	first, second := f.Fleet.Workers[0], f.Fleet.Workers[1]
	high := f.Submit("high", 1)
	f.Eventually("the victim on "+first.Name, func() error { return victims(f, 1) })
	first.CutOff()
	f.Cleanup(first.Reconnect)
	cut := time.Now()
	other := f.Submit("other", 1)
	f.Eventually("the victim on "+second.Name, func() error { return victims(f, 2) })
	f.Eventually("the cut has lasted", func() error {
		if lasts := time.Since(cut); lasts < 10*time.Second {
			return fmt.Errorf("%s", lasts)
		}
		return nil
	})
	first.Reconnect()
	// Kueue nominates the clusters that it is connected to; its webhook refuses for ever that a Workload is assigned to
	// a cluster that was admitted there before it was nominated again.
	f.WaitNominated(high, first, second)
	release()
	if on := f.WaitRuns("high", high); on != first {
		t.Errorf("high runs on %s", on.Name)
	}
	if on := f.WaitRuns("other", other); on != second {
		t.Errorf("other runs on %s", on.Name)
	}
	onlyVictims(f, first.Name+"/low", second.Name+"/low")
	for workload, m := range map[string]string{high: first.Name, other: second.Name} {
		if opened := f.Gates.Clusters(f.Namespace, workload, oracle.Opened); !slices.Equal(opened, []string{m}) {
			t.Errorf("gates of %s were opened on %v", workload, opened)
		}
	}
}

// The orchestrator dies at two moments: as soon as the token is in the local Workload, and as soon as the gate is open.
func TestFleetOrchestratorDies(t *testing.T) {
	for name, await := range map[string]func(*suite.F, string){
		"token": func(f *suite.F, w string) { f.WaitToken(w, `"phase":"Granted"`) },
		"gate": func(f *suite.F, w string) {
			f.Eventually("a gate is open", func() error {
				if len(f.Gates.Clusters(f.Namespace, w, oracle.Opened)) == 0 {
					return fmt.Errorf("none is")
				}
				return nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := suite.StartFleet(t)
			o := f.Orchestrate("order: ConfigOrder, collectionWindow: 5s")
			fillAll(f)
			release := f.HoldVictims()
			high := f.Submit("high", 1)
			await(f, high)
			o.Kill()
			f.Must(o.Start())
			f.Eventually("a victim", func() error { return victims(f, 1) })
			release()
			if on := f.WaitRuns("high", high); on != f.Fleet.Workers[0] {
				t.Errorf("it runs on %s", on.Name)
			}
			onlyVictims(f, f.Fleet.Workers[0].Name+"/low")
		})
	}
}

// The orchestrator that was killed had written the token, and had not opened the gate. The one after it opens the gate
// of the worker that has the token, although it would have chosen another one.
func TestFleetTokenBeforeGate(t *testing.T) {
	f := suite.StartFleet(t)
	o := f.Orchestrate("order: ConfigOrder, collectionWindow: 5s")
	o.Kill()
	fillAll(f)
	high := f.Submit("high", 1)
	f.WaitBlocked(high)
	holder := f.Fleet.Workers[1]
	f.WriteToken(high, fmt.Sprintf(`{"epoch":1,"phase":"Granted","holder":%q,"uid":%q,"grantedAt":%q}`, holder.Name,
		f.Replica(holder, high).GetUID(), time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")))
	f.Must(o.Start())
	if on := f.WaitRuns("high", high); on != holder {
		t.Errorf("it runs on %s", on.Name)
	}
	onlyVictims(f, holder.Name+"/low")
}

// Ten Jobs at once need the room of ten victims: each preempts once.
func TestFleetTenPreemptors(t *testing.T) {
	const jobs = 10
	f := suite.StartFleet(t)
	f.Orchestrate("order: Cost, collectionWindow: 5s")
	f.Queues(jobs)
	for _, m := range f.Fleet.Workers {
		f.Fill(m, "low", jobs)
	}
	var highs []string
	for i := range jobs {
		highs = append(highs, f.Submit(fmt.Sprintf("high-%d", i), 1))
	}
	for i, high := range highs {
		f.WaitRuns(fmt.Sprintf("high-%d", i), high)
		if opened := f.Gates.Clusters(f.Namespace, high, oracle.Opened); len(opened) != 1 {
			t.Errorf("gates of %s were opened on %v", high, opened)
		}
	}
	f.Must(victims(f, jobs))
}
