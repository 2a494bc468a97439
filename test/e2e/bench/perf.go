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
	if r.o.perf == "" {
		return func() {}
	}
	name := strings.NewReplacer(", ", "-", " ", "-").Replace(r.row.String())
	file := filepath.Join(r.o.work, "perf-"+name+".data")
	c := exec.CommandContext(ctx, "perf", "record", "-q", "-g", "-e", r.o.perf, "-o", file, "-p",
		strconv.Itoa(r.who.processes()[0].PID()))
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
