package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestParseUsage(t *testing.T) {
	stat := "7 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 250 50 13 14 15"
	u, err := parseUsage(stat, "Name:\ta\nVmHWM:\t   20480 kB\nVmRSS:\t 1 kB\n")
	if err != nil || u.cpu != 3 || u.peak != 20 {
		t.Errorf("%+v, %v", u, err)
	}
	for _, c := range []struct{ stat, status string }{
		{"", "VmHWM: 1 kB"}, {"7 (a) S 1", "VmHWM: 1 kB"}, {stat, ""}, {stat, "VmHWM: x"},
		{strings.Replace(stat, "250", "x", 1), "VmHWM: 1 kB"},
	} {
		if u, err := parseUsage(c.stat, c.status); err == nil {
			t.Errorf("%+v of %q", u, c)
		}
	}
	if u, err := readUsage(os.Getpid()); err != nil || u.peak <= 0 {
		t.Errorf("ourselves: %+v, %v", u, err)
	}
}

func TestParseMachine(t *testing.T) {
	busy, err := parseMachine("cpu  100 200 300 9000 9000 0 0 100 0 0\ncpu0 1 2\n")
	if err != nil || busy != 7 {
		t.Errorf("%v, %v", busy, err)
	}
	for _, text := range []string{"", "cpu 1 2 3\n", "intr 1 2 3 4 5 6 7 8 9\n", "cpu 1 2 3 4 5 6 7 x 9\n"} {
		if busy, err := parseMachine(text); err == nil {
			t.Errorf("%v of %q", busy, text)
		}
	}
}

func auditLine(verb, what, sub, name string, code int, received, answered time.Duration) string {
	stamp := func(d time.Duration) string { return time.Unix(1000, 0).Add(d).UTC().Format(time.RFC3339Nano) }
	return fmt.Sprintf(`{"verb":%q,"objectRef":{"resource":%q,"namespace":%q,"name":%q,"subresource":%q},`+
		`"responseStatus":{"metadata":{},"code":%d},"requestReceivedTimestamp":%q,"stageTimestamp":%q}`+"\n",
		verb, what, space, name, sub, code, stamp(received), stamp(answered))
}

func TestHistory(t *testing.T) {
	dir := t.TempDir()
	text := auditLine("create", "podgroups", "", "g", 201, 0, 1) +
		auditLine("create", "pods", "", "a", 201, time.Second, 2*time.Second) +
		auditLine("create", "pods", "", "b", 201, 2*time.Second, 3*time.Second) +
		auditLine("create", "pods", "", "c", 403, 2*time.Second, 3*time.Second) +
		auditLine("create", "pods", "", warmUp, 201, 0, 1) +
		auditLine("create", "pods", "binding", warmUp, 201, 0, 1) +
		auditLine("create", "pods", "binding", "b", 409, 3*time.Second, 4*time.Second) +
		auditLine("create", "pods", "binding", "a", 201, 3*time.Second, 4*time.Second)
	last := auditLine("create", "pods", "binding", "b", 201, 4*time.Second, 6*time.Second)
	log := filepath.Join(dir, "bench-audit.log")
	if err := os.WriteFile(log, []byte(text+last[:len(last)/2]), 0o644); err != nil {
		t.Fatal(err)
	}
	// A line counts when it is complete.
	follow, err := newTail(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer follow.f.Close()
	if err := follow.read(); err != nil || follow.bound != 2 {
		t.Fatalf("%d, %v", follow.bound, err)
	}
	if err := os.WriteFile(log, []byte(text+last), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := follow.read(); err != nil || follow.bound != 3 {
		t.Fatalf("%d, %v", follow.bound, err)
	}
	begin := time.Unix(1001, 0)
	h, err := readHistory(dir, begin)
	if err != nil {
		t.Fatal(err)
	}
	if h.writes["create pods/binding"] != 3 || h.writes["create podgroups"] != 0 ||
		h.failed["create pods/binding: 409"] != 1 || h.failed["create pods: 403"] != 1 {
		t.Errorf("writes %v, failed %v", h.writes, h.failed)
	}
	f := &figures{}
	if err := f.times(h, 2, begin); err != nil {
		t.Fatal(err)
	}
	if f.first != 3*time.Second || f.all != 5*time.Second || f.rate != 0.4 || f.p50 != 3*time.Second {
		t.Errorf("%+v", f)
	}
	if err := f.times(h, 3, begin); err == nil {
		t.Error("a pod that was not bound is not missed")
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		of   []int
		want int
	}{{[]int{1}, 1}, {[]int{3, 1}, 1}, {[]int{9, 1, 5}, 5}} {
		if got := median(c.of); got != c.want {
			t.Errorf("%v: %d", c.of, got)
		}
	}
}

func TestAsked(t *testing.T) {
	asked := map[string]int{}
	for _, agent := range []string{"minimalkueue/v0.0.0 (linux/amd64)", "runner/v0.0.0", "of minimalkueue/"} {
		for _, code := range []int{200, 200, 409} {
			line := auditLine("patch", "workloads", "status", "a", code, 0, 0)
			line = strings.Replace(line, "{", fmt.Sprintf(`{"userAgent":%q,`, agent), 1)
			if err := addAsked(asked, []byte(line), client{program: "minimalkueue/"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(asked) != 2 || asked["patch workloads/status"] != 2 || asked["patch workloads/status (409)"] != 1 {
		t.Errorf("%v", asked)
	}
	if err := addAsked(asked, []byte(`{"userAgent":"minimalkueue/`), client{program: "minimalkueue/"}); err == nil {
		t.Error("half a line was taken")
	}
	for _, user := range []string{remoteUser, remoteUser + "2", "admin"} {
		line := strings.Replace(auditLine("get", "jobs", "", "a", 200, 0, 0), "{",
			fmt.Sprintf(`{"user":{"username":%q},"userAgent":%q,`, user, remoteUser), 1)
		if err := addAsked(asked, []byte(line), client{user: remoteUser}); err != nil {
			t.Fatal(err)
		}
	}
	if asked["get jobs"] != 1 {
		t.Errorf("%v", asked)
	}
	left := less(asked, map[string]int{"get jobs": 1, "patch workloads/status": 1})
	if len(left) != 2 || left["patch workloads/status"] != 1 || total(left) != 2 {
		t.Errorf("%v", left)
	}
}

const smallSet = `cohorts:
- className: cohort
  count: 5
  queuesSets:
  - className: cq
    count: 6
    nominalQuota: 20
    borrowingLimit: 100
    reclaimWithinCohort: Any
    withinClusterQueue: LowerPriority
    workloadsSets:
    - {count: 50, creationIntervalMs: 100, workloads: [{className: small, request: 1}]}
    - {count: 3, creationIntervalMs: 200, workloads: [{className: a}, {className: b}]}
`

func TestReadSet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "set.yaml")
	if err := os.WriteFile(file, []byte(smallSet), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		share float64
		want  int
	}{{1, 30 * (50 + 2*3)}, {0.1, 30 * (5 + 2*1)}, {0.5, 30 * (25 + 2*2)}} {
		s, err := readSet(file, c.share)
		if err != nil || s.workloads() != c.want {
			t.Fatalf("share %g: %v, %v", c.share, s, err)
		}
		if err := s.write(file + ".out"); err != nil {
			t.Fatal(err)
		}
		again, err := readSet(file+".out", 1)
		if err != nil || again.workloads() != c.want {
			t.Errorf("share %g written: %v, %v", c.share, again, err)
		}
	}
	if err := os.WriteFile(file, []byte(smallSet+"topology: {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err := readSet(file, 1); err == nil {
		t.Errorf("a set with what is not known: %v", s)
	}
}

func TestQuotaReport(t *testing.T) {
	k, h := quotaRow{theirs, "baseline", 0}, quotaRow{ourselves, "baseline", 0}
	late := quotaRow{ourselves, "large-scale", 0}
	played := &quotaFigures{workloads: 10, wall: 2 * time.Second, usage: map[string]usage{},
		classes: map[string]quotaClass{"large": {TotalEvictions: 3}, "small": {TotalEvictions: 4}}}
	results := quotaResults{map[quotaRow][]*quotaFigures{h: {played}}, map[quotaRow]error{k: fmt.Errorf("a|b\nc")}}
	text := quotaReport(quotaOptions{share: 1, rounds: 1}, []quotaRow{k, h, late}, results)
	for _, want := range []string{"| kueue, baseline, unlimited | failed: a/b c |", "| headgate, baseline, unlimited | 10 | 2.0 |",
		"| 7 |", "| headgate, large-scale, unlimited | not yet played |", "peak RSS 0.0 MiB, goal 40"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
