package main

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Goals of ours beside Kueue's figures of the same run.
const (
	fleetRate            = 5.0 // times Kueue's
	fleetShare           = 0.1 // of its CPU seconds, and of its memory
	fleetRequests        = 4.0 // per Workload at the manager's API server
	fleetRequestsBusiest = 3.0 // at that of the busiest worker
)

func (f *fleetFigures) rate() float64 {
	return float64(f.jobs) / f.wall.Seconds()
}

func (f *fleetFigures) perWorkload(asked map[string]int) float64 {
	return float64(total(asked)) / float64(f.jobs)
}

// String is one line for those who wait.
func (f *fleetFigures) String() string {
	return fmt.Sprintf("%d Workloads, %.1f s, %.1f/s; manager %.2f CPU-s, %.0f MiB; API servers and etcd %.1f CPU-s; "+
		"others %.1f CPU-s; asked at the manager %s; at the busiest worker %s", f.jobs, f.wall.Seconds(), f.rate(),
		f.manager.cpu, f.manager.peak, f.servers, f.others, f.most(f.asked), f.most(f.busiest))
}

// most are the requests of which there was one for a hundred Workloads at least.
func (f *fleetFigures) most(asked map[string]int) string {
	var words []string
	for _, what := range slices.Sorted(maps.Keys(asked)) {
		if n := float64(asked[what]) / float64(f.jobs); n >= 0.01 {
			words = append(words, fmt.Sprintf("%s %.2f", what, n))
		}
	}
	return strings.Join(words, ", ")
}

// middleFleet is the run of the median time.
func middleFleet(all []*fleetFigures) *fleetFigures {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b *fleetFigures) int { return int(a.wall - b.wall) })
	return sorted[(len(sorted)-1)/2]
}

// fleetReport is the table in Markdown.
func fleetReport(o fleetOptions, results map[fleetRow][]*fleetFigures) string {
	var b strings.Builder
	var g goals

	fmt.Fprintf(&b, "%s: `%s`; %d Jobs without pods, %d workers, median of %d rounds, %d cores.\n\n",
		time.Now().UTC().Format(time.DateOnly), command("bench-fleet"), o.jobs, o.clusters, o.rounds, runtime.NumCPU())
	b.WriteString("| manager | Workloads/s | wall s | manager CPU-s, peak MiB | API servers and etcd CPU-s | " +
		"requests per Workload at the manager | at the busiest worker | others CPU-s |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range fleetRows {
		if len(results[r]) == 0 {
			continue
		}
		f := middleFleet(results[r])
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %.2f, %.0f | %.1f | %.1f | %.1f | %.1f |\n", r, f.rate(), f.wall.Seconds(),
			f.manager.cpu, f.manager.peak, f.servers, f.perWorkload(f.asked), f.perWorkload(f.busiest), f.others)
		of := results[fleetRow{theirs, r.workers}]
		if r.manager != ourselves || len(of) == 0 {
			continue
		}
		k := middleFleet(of)
		g.say(f.rate() >= fleetRate*k.rate(), "%s: %.1f Workloads/s, %.1f times Kueue's", r, f.rate(), f.rate()/k.rate())
		g.say(f.manager.cpu <= fleetShare*k.manager.cpu, "%s: %.2f CPU-s, a tenth of Kueue's is %.2f", r, f.manager.cpu,
			fleetShare*k.manager.cpu)
		g.say(f.manager.peak <= fleetShare*k.manager.peak, "%s: peak RSS %.0f MiB, a tenth of Kueue's is %.0f", r,
			f.manager.peak, fleetShare*k.manager.peak)
		g.say(f.perWorkload(f.asked) <= fleetRequests, "%s: %.1f requests per Workload at the manager, goal %.0f", r,
			f.perWorkload(f.asked), fleetRequests)
		g.say(f.perWorkload(f.busiest) <= fleetRequestsBusiest, "%s: %.1f at the busiest worker, goal %.0f", r,
			f.perWorkload(f.busiest), fleetRequestsBusiest)
	}
	return b.String() + g.String()
}
