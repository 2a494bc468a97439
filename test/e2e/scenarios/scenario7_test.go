package scenarios

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	flowcontrol "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"headgate/e2e/cluster"
	"headgate/e2e/headgate"
	"headgate/e2e/suite"
)

// leader waits for a scheduler that leads.
func leader(s *suite.S) *headgate.Daemon {
	s.Helper()
	var d *headgate.Daemon
	s.Eventually("a scheduler leads", func() error {
		if d = s.Headgate.Leader(); d == nil {
			return errors.New("none")
		}
		return nil
	})
	return d
}

// restart is kill -9 and a new start of a component of the control plane.
func restart(s *suite.S, p *cluster.Process) {
	s.Helper()
	s.CheckRights()
	p.Kill()
	s.Must(p.Start())
	s.Must(s.Cluster.WaitAPI(s.Ctx))
	// Until it has read the roles, an API server refuses every client.
	s.ForgiveRefusals()
}

// Everything dies once while scenario 2 runs: both schedulers, the webhooks, etcd, the API server.
// No node is bought that quota does not need, and every pod has its turn.
func TestScenario7KilledWhileTheAutoscalerWorks(t *testing.T) {
	for _, kind := range suite.Autoscalers() {
		t.Run(kind, func(t *testing.T) { killWhileTheAutoscalerWorks(t, kind) })
	}
}

func killWhileTheAutoscalerWorks(t *testing.T, kind string) {
	r := startTruthWith(t, suite.Options{Values: headgate.DefaultLease}, kind, suite.Opted)
	s := r.s
	faults := map[int]func(){
		0:  func() { d := leader(s); d.Kill(); s.Must(d.Start(s.Ctx)) },
		5:  func() { restart(s, s.Cluster.Etcd) },
		10: func() { restart(s, s.Cluster.APIServer) },
		15: func() {
			for _, d := range s.Headgate.Schedulers {
				d.Kill()
			}
			for _, d := range s.Headgate.Schedulers {
				s.Must(d.Start(s.Ctx))
			}
		},
		20: func() {
			for _, d := range s.Headgate.Webhooks {
				d.Kill()
				s.Must(d.Start(s.Ctx))
			}
		},
	}
	for done := range truthPods {
		if fault := faults[done]; fault != nil {
			fault()
		}
		r.finishNext()
	}
	s.WaitSucceeded(r.names...)
	s.Must(s.Oracle.Verify(s.Ctx))
	if _, peak := r.nodes(); peak != truthQuota {
		t.Errorf("%d nodes at most, want %d", peak, truthQuota)
	}
}

// No webhook answers: pods that opt in are refused with the reason, others are created. When it is back
// all are created.
func TestScenario7NoWebhookAnswers(t *testing.T) {
	s := suite.StartOwn(t, suite.Options{})
	s.Nodes(1, "4", "8Gi")
	q := s.Queue("q", "1", "1Gi")
	for _, d := range s.Headgate.Webhooks {
		d.Kill()
	}
	s.Pod("plain", suite.Scheduler(""), suite.Request("1", "1Gi"))
	s.Pod("volcano", suite.Queue(q), suite.Request("1", "1Gi"))
	_, err := s.Cluster.Client.CoreV1().Pods(s.Namespace).Create(s.Ctx,
		s.Spec("opted", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi")), metav1.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), "failed calling webhook") {
		t.Errorf("a pod that opted in, while no webhook answers: %v", err)
	}
	s.WaitRunning("plain")
	for _, d := range s.Headgate.Webhooks {
		s.Must(d.Start(s.Ctx))
	}
	s.DeletePod("volcano")
	s.Pod("opted", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))
	s.WaitRunning("opted")
}

// Pods come and go while the leader changes, with and without a good-bye. What the former leader had
// begun is neither lost nor done twice, as the oracle sees it.
func TestScenario7LeaderHandOver(t *testing.T) {
	s := suite.StartOwn(t, suite.Options{Values: headgate.DefaultLease})
	s.Nodes(2, "4", "8Gi")
	q := s.Queue("q", "6", "")
	var names []string
	more := func(n int) {
		for range n {
			name := fmt.Sprintf("work-%02d", len(names))
			names = append(names, name)
			s.Pod(name, suite.Opted, suite.Queue(q), suite.Request("1", "512Mi"), suite.CompleteAfter(time.Second))
		}
	}
	for _, leave := range []func(*headgate.Daemon){
		func(d *headgate.Daemon) { s.Must(d.Terminate(suite.Timeout)) },
		func(d *headgate.Daemon) { d.Kill() },
	} {
		first := leader(s)
		more(10)
		s.WaitUngated(names[len(names)-10])
		leave(first)
		more(10)
		if second := leader(s); second == first {
			t.Errorf("%s leads although it is gone", second.Name)
		}
		s.WaitSucceeded(names...)
		s.Must(first.Start(s.Ctx))
	}
}

// stalls adds up how long this process, and so the machine, stood still since it was called.
func stalls(ctx context.Context) func() time.Duration {
	const tick = 10 * time.Millisecond
	var sum atomic.Int64
	go func() {
		for last := time.Now(); ctx.Err() == nil; last = time.Now() {
			time.Sleep(tick)
			if late := time.Since(last) - 2*tick; late > 0 {
				sum.Add(int64(late))
			}
		}
	}()
	return func() time.Duration { return time.Duration(sum.Load()) }
}

// With the times that the chart ships: how long a pod waits from the moment when the leader ends until the next
// one has written. A lease of 15 s that was renewed just before has to run out; one that is given up is taken at the
// next look.
func TestScenario7FailOverTimes(t *testing.T) {
	s := suite.StartOwn(t, suite.Options{Values: headgate.ShippedTimes})
	s.Nodes(1, "16", "16Gi")
	q := s.Queue("q", "16", "")
	for _, end := range []struct {
		how        string
		most, slow time.Duration // slow: on top of it where the suite is patient
		act        func(*headgate.Daemon) error
	}{
		{"kill -9", 17 * time.Second, 10 * time.Second, func(d *headgate.Daemon) error { d.Kill(); return nil }},
		// Nothing waits in it but the next look at the lease, however slow the machine is: what stands still is added.
		{"SIGTERM", 1500 * time.Millisecond, 0, func(d *headgate.Daemon) error { return d.Terminate(suite.Timeout) }},
	} {
		for n := range 3 {
			name := fmt.Sprintf("%s-%d", strings.ToLower(strings.Fields(end.how)[0]), n)
			first := leader(s)
			s.Pod(name+"-before", suite.Opted, suite.Queue(q), suite.Request("1", "512Mi"))
			s.WaitRunning(name + "-before")
			ctx, cancel := context.WithCancel(s.Ctx)
			stalled, began, ended := stalls(ctx), time.Now(), make(chan error, 1)
			go func() { ended <- end.act(first) }()
			s.Pod(name, suite.Opted, suite.Queue(q), suite.Request("1", "512Mi"))
			for len(s.GetPod(name).Spec.SchedulingGates) > 0 && time.Since(began) < suite.Timeout {
				time.Sleep(10 * time.Millisecond)
			}
			took := time.Since(began)
			s.Logf("%s: the next leader's first write after %.2f s (the machine stood still for %.2f s)",
				end.how, took.Seconds(), stalled().Seconds())
			most := end.most + 3*stalled()
			if headgate.Patient() {
				most += end.slow
			}
			if took > most {
				t.Errorf("%s: %v, want %v at most", end.how, took, end.most)
			}
			cancel()
			s.Must(<-ended)
			s.WaitRunning(name)
			s.Must(first.Start(s.Ctx))
		}
	}
}

// Certificates live for a minute and a half, and are renewed when a third of that is left: several times
// while pods are created one after the other, of which not one is refused.
func TestScenario7CertificatesRotateUnderLoad(t *testing.T) {
	s := suite.StartOwn(t, suite.Options{Values: []string{"webhook.certificates.leafDuration=90s"}})
	q := s.Queue("q", "1", "")
	reloads := func() float64 {
		least := -1.0
		for _, d := range s.Headgate.Webhooks {
			n, err := d.Metric(s.Ctx, "headgate_webhook_certificate_reloads_total")
			s.Must(err)
			if least < 0 || n < least {
				least = n
			}
		}
		return least
	}
	before, created := reloads(), 0
	ctx, cancel := context.WithTimeout(s.Ctx, suite.Timeout)
	defer cancel()
	for reloads() < before+2 && ctx.Err() == nil {
		for n := range 20 {
			create := s.TryPod
			if n == 0 {
				create = s.Pod
			}
			p := create(fmt.Sprintf("load-%04d", created), suite.Opted, suite.Queue(q), suite.Request("1", "1Mi"))
			if len(p.Spec.SchedulingGates) != 1 {
				t.Fatalf("%s came in without gate", p.Name)
			}
			created++
		}
	}
	t.Logf("%d pods were created during %v rotations", created, reloads()-before)
	s.Must(ctx.Err())
}

// The API server refuses most of what the scheduler wants (429): everything happens all the same.
func TestScenario7APIServerIsBusy(t *testing.T) {
	const pods = 40

	s := suite.StartOwn(t, suite.Options{APIServerArgs: []string{"--max-requests-inflight=10", "--max-mutating-requests-inflight=10"}})
	s.Nodes(1, "64", "64Gi")
	q := s.Queue("q", "1m", "")
	squeeze(s)
	names := make([]string, pods)
	for i := range names {
		names[i] = fmt.Sprintf("work-%02d", i)
		s.Pod(names[i], suite.Opted, suite.Queue(q), suite.Request("1", "1Mi"))
	}
	s.SchedulerSawAll()
	s.WaitGated(names...)
	// All of them at once, or requests might come one after the other and none would be refused.
	_, err := s.Cluster.Dynamic.Resource(headgate.Queues).Patch(s.Ctx, q, types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"capability":{"cpu":"%d"}}}`, pods), metav1.PatchOptions{})
	s.Must(err)
	s.WaitRunning(names...)
	metrics, err := s.Headgate.Kubectl(s.Ctx, "", "get", "--raw", "/metrics")
	s.Must(err)
	var refused []string
	for line := range strings.Lines(metrics) {
		if strings.HasPrefix(line, "apiserver_flowcontrol_rejected_requests_total") && strings.Contains(line, `"e2e-squeeze"`) {
			refused = append(refused, strings.TrimSpace(line))
		}
	}
	t.Log(refused)
	if len(refused) == 0 {
		t.Error("nothing was refused: the limits are not low enough to show anything")
	}
}

// squeeze gives the chart's scheduler a priority level with one seat and no queue.
func squeeze(s *suite.S) {
	s.Helper()
	account := leaderAccount(s)
	none := int32(0)
	one := int32(1)
	flow := s.Cluster.Client.FlowcontrolV1()
	_, err := flow.PriorityLevelConfigurations().Create(s.Ctx, &flowcontrol.PriorityLevelConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "e2e-squeeze"},
		Spec: flowcontrol.PriorityLevelConfigurationSpec{Type: flowcontrol.PriorityLevelEnablementLimited,
			Limited: &flowcontrol.LimitedPriorityLevelConfiguration{NominalConcurrencyShares: &one, LendablePercent: &none,
				BorrowingLimitPercent: &none, LimitResponse: flowcontrol.LimitResponse{Type: flowcontrol.LimitResponseTypeReject}}},
	}, metav1.CreateOptions{})
	s.Must(err)
	_, err = flow.FlowSchemas().Create(s.Ctx, &flowcontrol.FlowSchema{
		ObjectMeta: metav1.ObjectMeta{Name: "e2e-squeeze"},
		Spec: flowcontrol.FlowSchemaSpec{MatchingPrecedence: 10,
			PriorityLevelConfiguration: flowcontrol.PriorityLevelConfigurationReference{Name: "e2e-squeeze"},
			Rules: []flowcontrol.PolicyRulesWithSubjects{{
				Subjects: []flowcontrol.Subject{{Kind: flowcontrol.SubjectKindServiceAccount, ServiceAccount: &account}},
				ResourceRules: []flowcontrol.ResourcePolicyRule{{Verbs: []string{"*"}, APIGroups: []string{""},
					Resources: []string{"*"}, Namespaces: []string{"*"}}},
			}}},
	}, metav1.CreateOptions{})
	s.Must(err)
	s.Eventually("the priority level is in force", func() error {
		f, err := flow.FlowSchemas().Get(s.Ctx, "e2e-squeeze", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range f.Status.Conditions {
			if c.Type == flowcontrol.FlowSchemaConditionDangling && c.Status == flowcontrol.ConditionFalse {
				return nil
			}
		}
		return errors.New("its FlowSchema is not looked at yet")
	})
}

// leaderAccount is the ServiceAccount of the scheduler.
func leaderAccount(s *suite.S) flowcontrol.ServiceAccountSubject {
	s.Helper()
	accounts, err := s.Cluster.Client.CoreV1().ServiceAccounts("").List(s.Ctx, metav1.ListOptions{})
	s.Must(err)
	for _, a := range accounts.Items {
		if strings.HasSuffix(a.Name, "-scheduler") && strings.HasPrefix(a.Name, "headgate") {
			return flowcontrol.ServiceAccountSubject{Namespace: a.Namespace, Name: a.Name}
		}
	}
	s.Fatal(apierrors.NewNotFound(corev1.Resource("serviceaccounts"), "headgate-scheduler"))
	return flowcontrol.ServiceAccountSubject{}
}
