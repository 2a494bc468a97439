package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// profile records the scheduler with perf while pods are bound, when BENCH_PERF names an event
// ("cpu-clock"); the function that it returns ends that.
func (r *run) profile(ctx context.Context) func() {
	return recordProfile(ctx, r.o.perf, r.who.processes()[0].PID(), filepath.Join(r.o.work, fileName("perf-", r.row)))
}

// fileName of what is recorded about a row.
func fileName(prefix string, row fmt.Stringer) string {
	return prefix + strings.NewReplacer(", ", "-", " ", "-").Replace(row.String()) + ".data"
}

func recordProfile(ctx context.Context, event string, pid int, file string) func() {
	if event == "" {
		return func() {}
	}
	c := exec.CommandContext(ctx, "perf", "record", "-q", "-g", "-e", event, "-o", file, "-p", strconv.Itoa(pid))
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "bench-e2e: perf:", err)
		return func() {}
	}
	return func() {
		_ = c.Process.Signal(syscall.SIGINT)
		_ = c.Wait()
		fmt.Println("profile:", file)
	}
}
