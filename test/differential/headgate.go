package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"

	"k8s.io/apimachinery/pkg/api/resource"

	"headgate/differential/lib"
)

// What headgatectl simulate --output json prints, as far as it is compared or counted.
type simulated struct {
	Decisions []struct {
		Kind              string
		Cycle             int
		Workload          string
		By                string
		ClusterQueue      string
		Borrowing         int
		Reason            string
		Requeue           string
		Ongoing           bool
		PodSetAssignments []struct {
			Name          string
			Flavors       map[string]string
			ResourceUsage map[string]resource.Quantity
			Count         int32
		}
		Assignment *struct {
			Mode      string
			Borrowing int
		}
	}
	Queues map[string]struct{ Heap, Inadmissible []string }
}

// headgate runs headgatectl on clusters.
type headgate struct {
	program string
	folder  string // for the configuration file
}

func (h *headgate) run(c *cluster) (*simulated, error) {
	config := filepath.Join(h.folder, "config.yaml")
	if err := os.WriteFile(config, c.configuration(), 0o600); err != nil {
		return nil, err
	}
	var failed error
	updates := func(after int) string {
		name := filepath.Join(h.folder, fmt.Sprintf("after-%d.yaml", after))
		text := c.updatesAfter(after, func(o any) string { return string(lib.Must(json.Marshal(o))) + "\n" })
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			failed = err
		}
		return name
	}
	arguments := append([]string{"simulate", "--output", "json", "--config", config}, c.arguments(updates)...)
	if failed != nil {
		return nil, failed
	}
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

// answer brings the output into the form in which Kueue's is written down.
func (s *simulated) answer(c *cluster) lib.Answer {
	var out lib.Answer
	for _, d := range s.Decisions {
		switch {
		case d.Kind == "Admit":
			line := fmt.Sprintf("%d Admit %s in %s", d.Cycle, d.Workload, d.ClusterQueue)
			for _, p := range d.PodSetAssignments {
				usage := map[string]string{}
				for r, q := range p.ResourceUsage {
					usage[r] = amount(q)
				}
				line += podSetText(p.Name, p.Count, p.Flavors, usage)
			}
			out.Add("%s", line)
		case d.Kind == "Preempt" && !d.Ongoing:
			out.Add("%d Preempt %s by %s %s", d.Cycle, d.Workload, d.By, d.Reason)
		case d.Kind == "Pending":
			out.Add("%d Pending %s %s %s", d.Cycle, d.Workload, d.Requeue, d.Reason)
		case d.Kind != "Preempt":
			out.Add("%d %s %s", d.Cycle, d.Kind, d.Workload)
		}
	}
	for name, q := range s.Queues {
		if active(c, name) {
			sort.Strings(q.Heap)
			sort.Strings(q.Inadmissible)
			addQueue(&out, name, q.Heap, q.Inadmissible)
		}
	}
	return out.Sorted()
}
