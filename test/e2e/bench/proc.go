package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// The kernel's USER_HZ is 100 on every architecture that Linux shows to programs.
const ticksPerSecond = 100

// usage of a process so far.
type usage struct {
	cpu  float64 // seconds, user and system, all threads
	peak float64 // MiB, VmHWM
}

// readUsage reads a process's usage from /proc.
func readUsage(pid int) (usage, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return usage{}, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return usage{}, err
	}
	return parseUsage(string(text), string(status))
}

func parseUsage(stat, status string) (usage, error) {
	var u usage

	// The second field is the name in brackets, with whatever it contains.
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return u, fmt.Errorf("stat: %q", stat)
	}
	for _, f := range fields[11:13] { // utime, stime
		n, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			return u, fmt.Errorf("stat: %w", err)
		}
		u.cpu += float64(n) / ticksPerSecond
	}
	_, rest, found := strings.Cut(status, "VmHWM:")
	if !found {
		return u, fmt.Errorf("status has no VmHWM: %q", status)
	}
	if _, err := fmt.Sscanf(rest, "%f kB", &u.peak); err != nil {
		return u, fmt.Errorf("VmHWM: %w", err)
	}
	u.peak /= 1024
	return u, nil
}

// readMachine returns the seconds that all cores were busy so far.
func readMachine() (float64, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	return parseMachine(string(text))
}

func parseMachine(stat string) (float64, error) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, fmt.Errorf("/proc/stat: %q", line)
	}
	busy := 0.0
	// user nice system idle iowait irq softirq steal
	for i, f := range fields[1:9] {
		n, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat: %w", err)
		}
		if i != 3 && i != 4 {
			busy += float64(n) / ticksPerSecond
		}
	}
	return busy, nil
}
