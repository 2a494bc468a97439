package scenarios

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"headgate/e2e/suite"
)

// wants waits until the output of a command contains these words in this order: messages come after
// the object that they are about.
func wants(s *suite.S, command string, words []string, run func() (string, error)) {
	s.Helper()
	s.Eventually(fmt.Sprintf("%s has %q", command, words), func() error {
		out, err := run()
		if err != nil {
			return err
		}
		rest := out
		for _, word := range words {
			_, after, found := strings.Cut(rest, word)
			if !found {
				return fmt.Errorf("it lacks %q (in this order: %q):\n%s", word, words, out)
			}
			rest = after
		}
		return nil
	})
}

// What a person at a terminal sees: columns of kubectl get, events and conditions of kubectl
// describe, explanations of headgatectl, documentation of kubectl explain.
func TestScenario8AtTheTerminal(t *testing.T) {
	s := suite.Start(t)
	s.Nodes(1, "2", "4Gi")
	q := s.Queue("team", "3", "8Gi")
	s.Pod("runs", suite.Opted, suite.Queue(q), suite.Request("2", "1Gi"))
	s.WaitRunning("runs")
	s.Pod("node", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))
	s.WaitPublished("node")
	s.Pod("quota", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))
	s.SchedulerSawAll()
	s.WaitGated("quota")

	kubectl := func(line string, words ...string) {
		s.Helper()
		wants(s, "kubectl "+line, words, func() (string, error) {
			return s.Headgate.Kubectl(s.Ctx, "", strings.Fields(line)...)
		})
	}
	ctl := func(line string, words ...string) {
		s.Helper()
		wants(s, "headgatectl "+line, words, func() (string, error) {
			return s.Headgate.Ctl(s.Ctx, strings.Fields(line)...)
		})
	}

	kubectl("get queues.scheduling.volcano.sh "+q, "NAME", "PARENT", q, "root")
	kubectl("get q "+q, q)
	s.PodGroup("group", q, 1, nil)
	kubectl("get podgroups -n "+s.Namespace, "NAME", "STATUS", "MINMEMBER", "RUNNINGS", "AGE", "group")
	kubectl("get pg -n "+s.Namespace, "group")
	kubectl("get pods -n "+s.Namespace, "node", "Pending", "quota", "SchedulingGated", "runs", "Running")
	kubectl("explain queue.spec", "capability", "parent")
	kubectl("explain queue.spec.capability", "FIELD: capability")
	kubectl("explain podgroup.spec.minMember", "minMember")

	waitEvent(s, "runs", "Scheduled")
	waitEvent(s, "node", "FailedScheduling")
	kubectl("describe pod runs -n "+s.Namespace, "PodScheduled", "True", "Scheduled", "Successfully assigned")
	kubectl("describe pod node -n "+s.Namespace, "PodScheduled", "False", "FailedScheduling")
	kubectl("get pod node -n "+s.Namespace+" -o jsonpath={.status.conditions[?(@.type=='PodScheduled')].message}", "cpu")
	waitEvent(s, "quota", "WaitingForQuota")
	kubectl("describe pod quota -n "+s.Namespace, "PodScheduled", "False", "WaitingForQuota", "insufficient cpu in queue "+q)

	ctl("explain pod "+s.Namespace+"/runs", "Verdict", "does not wait")
	ctl("explain pod "+s.Namespace+"/node", "Verdict", "waits for a node; autoscalers see it", "Nodes")
	ctl("explain pod "+s.Namespace+"/quota", "Verdict", "waits for quota: queue "+q, "<- short")
	ctl("queues", "QUEUE", "LIMIT", "root", q, "cpu 3")
	out, err := s.Headgate.Ctl(s.Ctx, "explain", "pod", s.Namespace+"/quota", "-o", "json")
	s.Must(err)
	var doc map[string]any
	if err := json.Unmarshal([]byte(out), &doc); err != nil || doc["verdict"] == nil {
		t.Errorf("explain -o json: %v\n%s", err, out)
	}
	if out, err := s.Headgate.Ctl(s.Ctx, "explain", "pod", s.Namespace+"/absent"); err == nil || !strings.Contains(out+err.Error(), "not found") {
		t.Errorf("explaining a pod that is not there: %v\n%s", err, out)
	}
}
