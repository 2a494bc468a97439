package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// String is one line for those who wait.
func (f *figures) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.0f pods/s, first %.1f s, all %.1f s, p50 %.2f s, p99 %.2f s", f.rate, f.first.Seconds(),
		f.all.Seconds(), f.p50.Seconds(), f.p99.Seconds())
	for _, name := range f.order {
		u := f.processes[name]
		fmt.Fprintf(&b, "; %s %.2f CPU-s %.0f MiB", strings.TrimPrefix(name, "headgate-"), u.cpu, u.peak)
	}
	fmt.Fprintf(&b, "; others %.1f CPU-s; writes", f.others)
	for _, k := range slices.Sorted(maps.Keys(f.writes)) {
		if f.writes[k] >= 20 {
			fmt.Fprintf(&b, " %d %s,", f.writes[k], k)
		}
	}
	if len(f.failed) > 0 {
		fmt.Fprintf(&b, " refused %v", f.failed)
	}
	return b.String()
}

func median[T cmp.Ordered](values []T) T {
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

func medianOf[T cmp.Ordered](all []*figures, f func(*figures) T) T {
	var values []T
	for _, one := range all {
		values = append(values, f(one))
	}
	return median(values)
}

// summary of a row's rounds: the median of each figure.
type summary struct {
	rate, first float64
	p50, p99    float64 // seconds
	cpu, peak   [5]float64
	low, high   float64 // rate
	writes      int
	others      float64
}

// Columns of processes in the table.
const (
	scheduler = iota
	webhook
	apiServer
	etcd
	generator
)

func (s *summary) process(column int, name string, all []*figures) {
	s.cpu[column] = medianOf(all, func(f *figures) float64 { return f.processes[name].cpu })
	s.peak[column] = medianOf(all, func(f *figures) float64 { return f.processes[name].peak })
}

func summarize(all []*figures) summary {
	var s summary

	seconds := func(f func(*figures) time.Duration) float64 {
		return medianOf(all, f).Seconds()
	}
	s.rate = medianOf(all, func(f *figures) float64 { return f.rate })
	s.first = seconds(func(f *figures) time.Duration { return f.first })
	s.p50 = seconds(func(f *figures) time.Duration { return f.p50 })
	s.p99 = seconds(func(f *figures) time.Duration { return f.p99 })
	s.others = medianOf(all, func(f *figures) float64 { return f.others })
	s.writes = medianOf(all, func(f *figures) int {
		sum := 0
		for _, n := range f.writes {
			sum += n
		}
		return sum
	})
	s.low, s.high = all[0].rate, all[0].rate
	for _, f := range all {
		s.low, s.high = min(s.low, f.rate), max(s.high, f.rate)
	}
	order := all[0].order
	s.process(scheduler, order[0], all)
	if len(order) == 5 {
		s.process(webhook, order[1], all)
	}
	s.process(apiServer, "kube-apiserver", all)
	s.process(etcd, "etcd", all)
	s.process(generator, "load", all)
	return s
}

// command is the command line that repeats the run.
func command(target string) string {
	var words []string
	for _, e := range os.Environ() {
		if strings.HasPrefix(e, "BENCH_") {
			name, value, _ := strings.Cut(e, "=")
			if name == "BENCH_PEER" {
				value = "..." // a path of this machine
			}
			words = append(words, name+"="+value)
		}
	}
	slices.Sort(words)
	return strings.Join(append(words, "./run "+target), " ")
}

// report is the table in Markdown.
func report(o options, all []row, results map[row][]*figures) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: `%s`; %d nodes, %d pods, median of %d rounds, %d cores.\n\n",
		time.Now().UTC().Format(time.DateOnly), command("bench-e2e"), o.nodes, o.pods, o.rounds, runtime.NumCPU())
	b.WriteString("| scheduler | pods | pods/s (lowest–highest) | first after s | p50 / p99 s | scheduler CPU-s, peak MiB |" +
		" webhook CPU-s, MiB | kube-apiserver CPU-s, MiB | etcd CPU-s, MiB | load CPU-s | writes | others CPU-s |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	summaries := map[row]summary{}
	for _, r := range all {
		s := summarize(results[r])
		summaries[r] = s
		pair := func(column int) string {
			if s.peak[column] == 0 {
				return "–"
			}
			return fmt.Sprintf("%.2f, %.0f", s.cpu[column], s.peak[column])
		}
		wait := "–"
		if r.mode == stream {
			wait = fmt.Sprintf("%.2f / %.2f", s.p50, s.p99)
		}
		fmt.Fprintf(&b, "| %s | %s, %s | %.0f (%.0f–%.0f) | %.1f | %s | %s | %s | %s | %s | %.1f | %d | %.1f |\n",
			r.who.name, r.mode, r.workload, s.rate, s.low, s.high, s.first, wait, pair(scheduler), pair(webhook),
			pair(apiServer), pair(etcd), s.cpu[generator], s.writes, s.others)
	}
	b.WriteString(compare(o, all, summaries))
	return b.String()
}

// goals are lines that say which were met.
type goals struct {
	b strings.Builder
}

func (g *goals) say(met bool, format string, args ...any) {
	word := "met"
	if !met {
		word = "MISSED"
	}
	fmt.Fprintf(&g.b, "- %s: %s\n", fmt.Sprintf(format, args...), word)
}

func (g *goals) String() string {
	if g.b.Len() == 0 {
		return ""
	}
	return "\n" + g.b.String()
}

// compare compares our rows with kube-scheduler's of the same run.
func compare(o options, all []row, summaries map[row]summary) string {
	var g goals
	for _, r := range all {
		s := summaries[r]
		goal, share := 2.5, 1.0 // CPU-s for 5,000 pods; of the rate of kube-scheduler alone
		switch r.who.name {
		case "headgate":
		case aheadName:
			goal, share = 1, 0.9
		default:
			continue
		}
		cpu := s.cpu[scheduler] * 5000 / float64(o.pods)
		scaled := ""
		if o.pods != 5000 {
			// Start and nodes are scaled with it, and what grows faster than pods is not.
			scaled = fmt.Sprintf(" (scaled from %d, not measured)", o.pods)
		}
		g.say(cpu <= goal, "%s: %.2f CPU-s of the scheduler per 5,000 pods%s, goal %.1f", r, cpu, scaled, goal)
		g.say(s.peak[scheduler] <= 30, "%s: peak RSS %.1f MiB, goal 30", r, s.peak[scheduler])
		for _, k := range all {
			if k.who.name != "kube-scheduler" || k.mode != r.mode || r.workload != plain && r.who.name != aheadName {
				continue
			}
			of := summaries[k]
			g.say(s.rate >= share*of.rate, "%s: %.0f pods/s, goal %.0f %% of kube-scheduler's %.0f", r, s.rate, 100*share, of.rate)
			if r.mode == stream && r.workload == plain {
				g.say(s.p99 <= of.p99, "%s: p99 %.2f s, kube-scheduler %.2f s", r, s.p99, of.p99)
			}
		}
	}
	return g.String()
}
