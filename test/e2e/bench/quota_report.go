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
	quotaShareCPU     = 0.1
	quotaPeakBaseline = 40.0 // MiB
	quotaPeakLarge    = 120.0
)

// String is one line for those who wait.
func (f *quotaFigures) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d workloads, %.1f s, %.1f/s", f.workloads, f.wall.Seconds(), f.rate())
	for _, name := range []string{"contender", "kube-apiserver", "etcd", "runner"} {
		fmt.Fprintf(&b, "; %s %.2f CPU-s %.0f MiB", name, f.usage[name].cpu, f.usage[name].peak)
	}
	fmt.Fprintf(&b, "; others %.1f CPU-s", f.others)
	for _, name := range slices.Sorted(maps.Keys(f.classes)) {
		c := f.classes[name]
		fmt.Fprintf(&b, "; %s %.1f s, %d evictions", name, float64(c.AverageTimeToAdmissionMs)/1000, c.TotalEvictions)
	}
	b.WriteString("; asked")
	for _, what := range slices.Sorted(maps.Keys(f.asked)) {
		fmt.Fprintf(&b, " %d %s,", f.asked[what], what)
	}
	return strings.TrimSuffix(b.String(), ",")
}

func (f *quotaFigures) rate() float64 {
	return float64(f.workloads) / f.wall.Seconds()
}

// perWorkload are requests by verb, of Workloads' statuses first.
func (f *quotaFigures) perWorkload() string {
	verbs := map[string]int{}
	for what, n := range f.asked {
		verb, _, _ := strings.Cut(what, " ")
		verbs[verb] += n
	}
	var words []string
	for _, verb := range slices.Sorted(maps.Keys(verbs)) {
		if n := float64(verbs[verb]) / float64(f.workloads); n >= 0.01 {
			words = append(words, fmt.Sprintf("%s %.2f", verb, n))
		}
	}
	return strings.Join(words, ", ")
}

// waits of the classes, large first as Kueue prints them.
func (f *quotaFigures) waits() string {
	var words []string
	for _, name := range []string{"large", "medium", "small"} {
		words = append(words, fmt.Sprintf("%.1f", float64(f.classes[name].AverageTimeToAdmissionMs)/1000))
	}
	return strings.Join(words, " / ")
}

// middle is the run of the median time.
func middle(all []*quotaFigures) *quotaFigures {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b *quotaFigures) int { return int(a.wall - b.wall) })
	return sorted[(len(sorted)-1)/2]
}

// quotaReport is the table in Markdown.
func quotaReport(o quotaOptions, rows []quotaRow, results quotaResults) string {
	var b strings.Builder
	share := ""
	if o.share != 1 {
		share = fmt.Sprintf(", %g of each set", o.share)
	}
	fmt.Fprintf(&b, "%s: `%s`; median of %d rounds%s, %d cores.\n\n", time.Now().UTC().Format(time.DateOnly),
		command("bench-quota"), o.rounds, share, runtime.NumCPU())
	b.WriteString("| | workloads | wall s | workloads/s | CPU-s, peak MiB | kube-apiserver, etcd CPU-s | " +
		"mean admission s, large / medium / small | evictions | requests per Workload | others CPU-s |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		if len(results.runs[r]) == 0 {
			fmt.Fprintf(&b, "| %s | %s |||||||||\n", r, quotaMissing(results, r))
			continue
		}
		f := middle(results.runs[r])
		evictions := 0
		for _, c := range f.classes {
			evictions += c.TotalEvictions
		}
		fmt.Fprintf(&b, "| %s | %d | %.1f | %.1f | %.2f, %.0f | %.1f, %.1f | %s | %d | %s | %.1f |\n", r, f.workloads,
			f.wall.Seconds(), f.rate(), f.usage["contender"].cpu, f.usage["contender"].peak,
			f.usage["kube-apiserver"].cpu, f.usage["etcd"].cpu, f.waits(), evictions, f.perWorkload(), f.others)
	}
	b.WriteString(quotaGoals(o, rows, results))
	return b.String()
}

// quotaMissing says why a row has no figures.
func quotaMissing(results quotaResults, r quotaRow) string {
	if err := results.failed[r]; err != nil {
		return "failed: " + strings.NewReplacer("\n", " ", "|", "/").Replace(err.Error())
	}
	return "not yet played"
}

func quotaGoals(o quotaOptions, rows []quotaRow, results quotaResults) string {
	var g goals
	for _, r := range rows {
		if r.who != ourselves || len(results.runs[r]) == 0 {
			continue
		}
		f := middle(results.runs[r])
		limit := quotaPeakBaseline
		if r.set != "baseline" {
			limit = quotaPeakLarge
		}
		if o.share == 1 {
			g.say(f.usage["contender"].peak <= limit, "%s: peak RSS %.1f MiB, goal %.0f", r, f.usage["contender"].peak, limit)
		}
		of := results.runs[r.other()]
		if len(of) == 0 {
			continue
		}
		k := middle(of)
		g.say(f.wall <= k.wall, "%s: %.1f s, kueue %.1f s", r, f.wall.Seconds(), k.wall.Seconds())
		g.say(f.usage["contender"].cpu <= k.usage["contender"].cpu*quotaShareCPU, "%s: %.2f CPU-s, a tenth of kueue's is %.2f",
			r, f.usage["contender"].cpu, k.usage["contender"].cpu*quotaShareCPU)
	}
	return g.String()
}
