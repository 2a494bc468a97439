package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"headgate/differential/lib"
)

// What headgatectl simulate --output json prints, as far as it is compared.
type simulated struct {
	Decisions []struct {
		Kind    string
		Cycle   int
		Pod     string
		Node    string
		Message string
	}
	PodGroups []struct{ Name, Phase string }
}

// preemptorIn is the pod for which an eviction makes room.
func preemptorIn(message string) string {
	_, rest, _ := strings.Cut(message, "make room for pod ")
	pod, _, _ := strings.Cut(rest, " of PodGroup ")
	return pod
}

// headgate runs headgatectl on clusters.
type headgate struct {
	program string
	folder  string // for the configuration file
}

func (c *cluster) arguments() []string {
	return []string{"--as-is", "--now", now.Format(time.RFC3339), "--cycles", fmt.Sprint(c.cycles)}
}

func (h *headgate) run(c *cluster) (*simulated, error) {
	config := filepath.Join(h.folder, "scheduler.yaml")
	if err := os.WriteFile(config, c.configuration(), 0o600); err != nil {
		return nil, err
	}
	arguments := append([]string{"simulate", "--output", "json", "--scheduler-conf", config}, c.arguments()...)
	cmd := exec.Command(h.program, append(arguments, "-")...)
	var out, problems bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(c.manifests()), &out, &problems
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("headgatectl simulate: %w: %s", err, problems.String())
	}
	var s simulated
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		return nil, fmt.Errorf("headgatectl simulate: its output: %w", err)
	}
	return &s, nil
}

// withoutRepeats leaves out pods that are pipelined as in the cycle before: Headgate does not look at
// a PodGroup again for which nothing has changed.
func withoutRepeats(a lib.Answer) lib.Answer {
	return slices.DeleteFunc(slices.Clone(a), func(line string) bool {
		number, rest, _ := strings.Cut(line, " ")
		cycle := 0
		_, _ = fmt.Sscan(number, &cycle)
		return strings.HasPrefix(rest, "Pipeline") && slices.Contains(a, fmt.Sprintf("%d %s", cycle-1, rest))
	})
}

// answer brings the output into the form in which Volcano's is written down.
func (s *simulated) answer() lib.Answer {
	var out lib.Answer
	for _, d := range s.Decisions {
		switch d.Kind {
		case "Bind", "Pipeline":
			out.Add("%d %s %s on %s", d.Cycle, d.Kind, d.Pod, d.Node)
		default:
			out.Add("%d %s %s", d.Cycle, d.Kind, d.Pod)
		}
	}
	out = withoutRepeats(out)
	for _, g := range s.PodGroups {
		out.Add("group %s %s", g.Name, g.Phase)
	}
	return out.Sorted()
}
