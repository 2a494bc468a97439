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

// quotaResults so far.
type quotaResults struct {
	runs   map[quotaRow][]*quotaFigures
	failed map[quotaRow]error // the last one
}

// quotaRow of the table: a scheduler, a set and a limit of requests.
type quotaRow struct {
	who   string // kueue or headgate
	set   string // name of the generator's file
	limit int    // requests per second, 0: none
}

const (
	theirs    = "kueue"
	ourselves = "headgate"

	// What minimalkueue limits itself to, each kind of objects on its own, and how many kinds it writes all
	// the time: Workloads, ClusterQueues, LocalQueues, Events. Headgate has one limit for all.
	theirLimit = 50
	theirKinds = 4
)

func (r quotaRow) String() string {
	if r.limit == 0 {
		return fmt.Sprintf("%s, %s, unlimited", r.who, r.set)
	}
	return fmt.Sprintf("%s, %s, %d QPS", r.who, r.set, r.limit)
}

// other is the row of Kueue that one of ours is compared with.
func (r quotaRow) other() quotaRow {
	return quotaRow{theirs, r.set, min(r.limit, theirLimit)}
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
	if text := os.Getenv("BENCH_TIMEOUT"); text != "" {
		if o.timeout, err = time.ParseDuration(text); err != nil || o.timeout <= 0 {
			return o, fmt.Errorf("BENCH_TIMEOUT=%s: no time above 0, such as 45m", text)
		}
	}
	o.only, err = regexp.Compile(os.Getenv("BENCH_ONLY"))
	return o, err
}

// quotaRows in the order of the table. Those that are compared follow each other.
func quotaRows(o quotaOptions) []quotaRow {
	var rows []quotaRow

	for _, r := range []quotaRow{
		{theirs, "baseline", theirLimit},
		{ourselves, "baseline", theirKinds * theirLimit},
		{ourselves, "baseline", theirLimit},
		{theirs, "baseline", 0},
		{ourselves, "baseline", 0},
		{theirs, "large-scale", 0},
		{ourselves, "large-scale", 0},
	} {
		if o.only.MatchString(r.String()) {
			rows = append(rows, r)
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
	results := quotaResults{map[quotaRow][]*quotaFigures{}, map[quotaRow]error{}}
	for round := range o.rounds {
		for _, r := range rows {
			fmt.Printf("%s round %d: %s\n", time.Now().UTC().Format(time.TimeOnly), round+1, r)
			f, err := measureQuota(ctx, o, r)
			if ctx.Err() != nil {
				return err
			}
			// What the others take is worth having all the same.
			if err != nil {
				results.failed[r] = err
				fmt.Printf("FAILED: %v\n", err)
			} else {
				results.runs[r] = append(results.runs[r], f)
				fmt.Println(f)
			}
			if err := writeQuotaReport(o, rows, results); err != nil {
				return err
			}
		}
	}
	fmt.Print("\n", quotaReport(o, rows, results))
	if len(results.failed) > 0 {
		return fmt.Errorf("%d rows failed", len(results.failed))
	}
	return nil
}

// writeQuotaReport after each row: what there is then is not lost when a later one, or the machine, fails.
func writeQuotaReport(o quotaOptions, rows []quotaRow, results quotaResults) error {
	return os.WriteFile(filepath.Join(o.work, "bench-quota.md"), []byte(quotaReport(o, rows, results)), 0o644)
}
