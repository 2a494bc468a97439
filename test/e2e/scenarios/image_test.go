package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"headgate/e2e/headgate"
	"headgate/e2e/suite"
)

// Both daemons run in containers of the image, with the chart's security context: as the user of the
// image, and as one that the image does not know (OpenShift gives each namespace a range of its own).
func TestScenarioImage(t *testing.T) {
	if err := headgate.ContainerTools(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err) // what was not played does not hold
		}
		t.Skip(err)
	}
	for name, uid := range map[string]int{"OwnUser": 65532, "ArbitraryUser": 1000650000} {
		t.Run(name, func(t *testing.T) {
			container := &headgate.Container{Image: suite.Image(), UID: uid}
			if uid == 65532 {
				container.GID = uid
			}
			s := suite.StartOwn(t, suite.Options{Container: container,
				Values: []string{"scheduler.replicas=1", "webhook.replicas=1"}})
			s.Nodes(1, "4", "8Gi")
			q := s.Queue("q", "1", "")
			s.Pod("first", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))
			s.WaitRunning("first")
			s.Pod("second", suite.Opted, suite.Queue(q), suite.Request("1", "1Gi"))
			s.SchedulerSawAll()
			s.WaitGated("second")
			for _, d := range slices.Concat(s.Headgate.Schedulers, s.Headgate.Webhooks) {
				confined(s, d, uid)
			}
			s.DeletePod("first")
			s.WaitRunning("second")
			for _, d := range slices.Concat(s.Headgate.Schedulers, s.Headgate.Webhooks) {
				s.Must(d.Terminate(suite.Timeout))
				s.Must(d.Start(s.Ctx)) // what cleans up needs both
			}
		})
	}
}

// confined looks at the daemon's process as the kernel has it: the image's program, this user, no
// capability, no way to gain one, and a root that cannot be written to.
func confined(s *suite.S, d *headgate.Daemon, uid int) {
	s.Helper()
	pid, err := d.Contained()
	s.Must(err)
	proc := func(name string) string {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
		s.Must(err)
		return string(text)
	}
	status := proc("status")
	for _, want := range []string{fmt.Sprintf("Uid:\t%d\t%d\t%d\t%d\n", uid, uid, uid, uid),
		"CapEff:\t0000000000000000\n", "CapBnd:\t0000000000000000\n", "NoNewPrivs:\t1\n"} {
		if !strings.Contains(status, want) {
			s.Errorf("%s: status lacks %q:\n%s", d.Name, want, status)
		}
	}
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	s.Must(err)
	if filepath.Dir(program) != "/usr/bin" {
		s.Errorf("%s runs %s, which is not the image's", d.Name, program)
	}
	for line := range strings.Lines(proc("mountinfo")) {
		if f := strings.Fields(line); f[4] == "/" && !slices.Contains(strings.Split(f[5], ","), "ro") {
			s.Errorf("%s: its root can be written to: %s", d.Name, line)
		}
	}
}
