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
