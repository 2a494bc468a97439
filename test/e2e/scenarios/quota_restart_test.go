package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"headgate/e2e/oracle"
	"headgate/e2e/suite"
)

// interruptions of the scheduler: a right is taken away, so that it gets stuck at a step that is known,
// and it is killed there.
type interruptions struct {
	chartRights
	found []grant
}

func startInterruptions(s *suite.S) *interruptions {
	s.Helper()
	s.ExpectRefusals()
	i := &interruptions{chartRights: chartRights{S: s}}
	i.found = i.granted()
	return i
}

// stuck takes a right, does something and returns when the scheduler was refused it; the function that
// is returned gives it back.
func (i *interruptions) stuck(verb, what string, do func()) func() {
	i.Helper()
	for _, g := range i.found {
		if g.account != "scheduler" || g.verb != verb || g.what != what {
			continue
		}
		_, from, err := i.Cluster.Requests(0)
		i.Must(err)
		i.Must(g.set(true))
		i.waitAllowed(g.right, false)
		do()
		i.waitRefused(g.right, from)
		return func() {
			i.Helper()
			i.Must(g.set(false))
			i.waitAllowed(g.right, true)
		}
	}
	i.Fatalf("the chart does not grant the scheduler %s %s", verb, what)
	return nil
}

// kill is kill -9 of the scheduler that leads; the other one takes over at once.
func (i *interruptions) kill() {
	i.Helper()
	d := leader(i.S)
	d.Kill()
	i.deleteLease("scheduler")
	i.Must(d.Start(i.Ctx))
}

// counts is how often things happened to a Job.
func (i *interruptions) counts(job string, want map[string]int) {
	i.Helper()
	for what, n := range want {
		if times := i.Times(job, what); times != n {
			i.Errorf("%s was %s %d times, not %d", job, what, times, n)
		}
	}
}

// A scheduler that is killed in the middle of an admission: before the Workload is made, before the
// admission is written, before the Job is started. The next one goes on, nothing happens twice.
func TestQuotaKilledWhileAdmitting(t *testing.T) {
	s := startTenants(t)
	i := startInterruptions(s)
	for n, step := range []struct{ verb, what string }{
		{"create", "workloads"}, {"patch", "workloads/status"}, {"patch", "jobs"},
	} {
		job := fmt.Sprintf("job-%d", n)
		restore := i.stuck(step.verb, step.what, func() { s.Job(job, "green", 4) })
		i.kill()
		restore()
		s.WaitJobRuns(job)
		s.FinishJob(job)
		s.WaitWorkload(job, "Finished", "True/Succeeded")
		i.counts(job, map[string]int{oracle.Reserved: 1, oracle.Admitted: 1, oracle.Started: 1, oracle.Evicted: 0})
	}
}

// A scheduler that is killed in the middle of a preemption: before the victim's Job is suspended,
// then before its quota is given back.
func TestQuotaKilledWhilePreempting(t *testing.T) {
	s := startTenants(t)
	i := startInterruptions(s)
	s.Job("low", "green", 4)
	s.WaitJobRuns("low")
	restore := i.stuck("patch", "jobs", func() { s.Job("high", "green", 4, suite.Class(s.Namespace+"-high")) })
	s.WaitWorkload("low", "Evicted", "True/Preempted")
	i.kill()
	release := i.stuck("patch", "workloads/status", restore)
	s.WaitJobStopped("low")
	i.kill()
	release()
	s.WaitJobRuns("high")
	s.FinishJob("high")
	s.WaitJobRuns("low")
	i.counts("low", map[string]int{oracle.Evicted: 1, oracle.Released: 1, oracle.Admitted: 2, oracle.Started: 2})
	i.counts("high", map[string]int{oracle.Evicted: 0, oracle.Admitted: 1, oracle.Started: 1})
}

// Many short Jobs of all tenants, and schedulers that are killed at any time: every one is done in the
// end, and whoever got quota gave it back before getting it again.
func TestQuotaKilledAtAnyTime(t *testing.T) {
	const rounds, each = 3, 3

	s := startTenants(t)
	i := startInterruptions(s)
	var jobs []string
	for n := range rounds * each {
		for at, tenant := range []string{"red", "blue", "green"} {
			name := fmt.Sprintf("%s-%d", tenant, n)
			options := []suite.JobOption{suite.Takes(300 * time.Millisecond)}
			if (n+at)%3 == 0 {
				options = append(options, suite.Class(s.Namespace+"-high"))
			}
			s.Job(name, tenant, 1+n%4, options...)
			jobs = append(jobs, name)
		}
		if n%each == each-1 {
			i.kill()
		}
	}
	for _, job := range jobs {
		s.WaitWorkload(job, "Finished", "True/Succeeded")
	}
	for _, job := range jobs {
		reserved, released := s.Times(job, oracle.Reserved), s.Times(job, oracle.Released)
		w, err := s.WorkloadOf(job)
		s.Must(err)
		// One that is preempted in the moment in which its last pod succeeds has no quota in the end.
		if stopped := strings.HasPrefix(suite.Condition(w, "Evicted"), "True/"); reserved != released+1 &&
			!(stopped && reserved == released) {
			t.Errorf("%s got quota %d times and lost it %d times", job, reserved, released)
		}
	}
}
