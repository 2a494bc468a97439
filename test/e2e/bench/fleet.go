package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// fleetOptions of ./run bench-fleet.
type fleetOptions struct {
	components, repo, build, work, kueue string // as bench.sh sets them

	only         *regexp.Regexp // of rows
	rounds, jobs int
	clusters     int // workers
	loaders      int // goroutines that create Jobs
	keep         bool
	timeout      time.Duration // of one run
}

// fleetRow of the table: the programs on the manager's cluster, and those on its workers.
type fleetRow struct {
	manager, workers string // kueue or headgate
}

func (r fleetRow) String() string {
	return fmt.Sprintf("%s, workers with %s", r.manager, r.workers)
}

// Those that are compared follow each other.
var fleetRows = []fleetRow{{theirs, theirs}, {ourselves, theirs}, {theirs, ourselves}, {ourselves, ourselves}}

func readFleetOptions() (fleetOptions, error) {
	o := fleetOptions{components: os.Getenv("E2E_COMPONENTS"), repo: os.Getenv("E2E_REPO"),
		build: os.Getenv("E2E_BUILD"), work: os.Getenv("E2E_WORK"), kueue: os.Getenv("E2E_KUEUE"),
		keep: os.Getenv("BENCH_KEEP") != "", timeout: 20 * time.Minute}
	if o.components == "" || o.repo == "" || o.build == "" || o.work == "" || o.kueue == "" {
		return o, fmt.Errorf("start this with ./run bench-fleet")
	}
	var err error
	for _, n := range []struct {
		name      string
		otherwise int
		to        *int
	}{
		{"BENCH_ROUNDS", 1, &o.rounds}, {"BENCH_JOBS", 300, &o.jobs}, {"BENCH_CLUSTERS", 3, &o.clusters},
		{"BENCH_WORKERS", 8, &o.loaders},
	} {
		if *n.to, err = number(n.name, n.otherwise); err != nil {
			return o, err
		}
	}
	o.only, err = regexp.Compile(os.Getenv("BENCH_ONLY"))
	return o, err
}

func benchFleet(ctx context.Context) error {
	o, err := readFleetOptions()
	if err != nil {
		return err
	}
	results := map[fleetRow][]*fleetFigures{}
	for round := range o.rounds {
		for _, r := range fleetRows {
			if !o.only.MatchString(r.String()) {
				continue
			}
			f, err := measureFleet(ctx, o, r)
			if err != nil {
				return err
			}
			results[r] = append(results[r], f)
			fmt.Printf("round %d: %s: %s\n", round+1, r, f)
		}
	}
	if len(results) == 0 {
		return fmt.Errorf("no row matches BENCH_ONLY=%s", o.only)
	}
	text := fleetReport(o, results)
	fmt.Print("\n", text)
	return os.WriteFile(filepath.Join(o.work, "bench-fleet.md"), []byte(text), 0o644)
}
