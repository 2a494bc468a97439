package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// quotaOptions of ./run bench-quota.
type quotaOptions struct {
	components, repo, build, work, kueue string // as bench.sh sets them

	share   float64        // of each set's Workloads
	only    *regexp.Regexp // of rows
	rounds  int
	perf    string // events; empty: no profile
	keep    bool
	timeout time.Duration // of one run
}

// quotaRow of the table: who plays which set with which limit of requests.
type quotaRow struct {
	who   string // kueue or headgate
	set   string // name of the generator's file
	limit int    // requests per second, 0: none
}

const (
	theirs    = "kueue"
	ourselves = "headgate"
)

func (r quotaRow) String() string {
	if r.limit == 0 {
		return fmt.Sprintf("%s, %s, unlimited", r.who, r.set)
	}
	return fmt.Sprintf("%s, %s, %d QPS", r.who, r.set, r.limit)
}

func readQuotaOptions() (quotaOptions, error) {
	o := quotaOptions{components: os.Getenv("E2E_COMPONENTS"), repo: os.Getenv("E2E_REPO"),
		build: os.Getenv("E2E_BUILD"), work: os.Getenv("E2E_WORK"), kueue: os.Getenv("E2E_KUEUE"),
		share: 1, perf: os.Getenv("BENCH_PERF"), keep: os.Getenv("BENCH_KEEP") != "", timeout: time.Hour}
	if o.components == "" || o.repo == "" || o.build == "" || o.work == "" || o.kueue == "" {
		return o, fmt.Errorf("start this with ./run bench-quota")
	}
	var err error
	if text := os.Getenv("BENCH_SHARE"); text != "" {
		if o.share, err = strconv.ParseFloat(text, 64); err != nil || o.share <= 0 || o.share > 1 {
			return o, fmt.Errorf("BENCH_SHARE=%s: not above 0 and at most 1", text)
		}
	}
	if o.rounds, err = number("BENCH_ROUNDS", 1); err != nil {
		return o, err
	}
	o.only, err = regexp.Compile(os.Getenv("BENCH_ONLY"))
	return o, err
}

// quotaRows in the order of the table. Those that are compared follow each other.
func quotaRows(o quotaOptions) []quotaRow {
	var rows []quotaRow

	for _, what := range []quotaRow{{"", "baseline", 50}, {"", "baseline", 0}, {"", "large-scale", 0}} {
		for _, who := range []string{theirs, ourselves} {
			if r := (quotaRow{who, what.set, what.limit}); o.only.MatchString(r.String()) {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

func benchQuota(ctx context.Context) error {
	o, err := readQuotaOptions()
	if err != nil {
		return err
	}
	rows := quotaRows(o)
	if len(rows) == 0 {
		return fmt.Errorf("no row matches BENCH_ONLY=%s", o.only)
	}
	results := map[quotaRow][]*quotaFigures{}
	for round := range o.rounds {
		for _, r := range rows {
			f, err := measureQuota(ctx, o, r)
			if err != nil {
				return err
			}
			results[r] = append(results[r], f)
			fmt.Printf("round %d: %s: %s\n", round+1, r, f)
		}
	}
	text := quotaReport(o, rows, results)
	fmt.Print("\n", text)
	return os.WriteFile(filepath.Join(o.work, "bench-quota.md"), []byte(text), 0o644)
}
