// Program bench measures schedulers on a real etcd and kube-apiserver: ./run bench-e2e and, with the
// argument quota, ./run bench-quota, with fleet ./run bench-fleet. README.md says what is measured and which environment
// variables change it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"headgate/e2e/cluster"
)

type options struct {
	components, repo, build, work string // as run.sh sets them

	nodes, pods, rounds, workers int
	only                         *regexp.Regexp // of rows
	perf                         string         // events; empty: no profile
	keep                         bool           // the folders of all runs
	timeout                      time.Duration
	peer, peerName               string
	peerArgs                     []string
	peerGangs                    bool
}

const aheadName = "headgate before kube-scheduler"

// candidate is a scheduler that may be measured.
type candidate struct {
	name string
	make func() contender
}

// row of the table.
type row struct {
	who      *candidate
	mode     mode
	workload workload
}

func (r row) String() string {
	return fmt.Sprintf("%s, %s, %s", r.who.name, r.mode, r.workload)
}

func number(name string, otherwise int) (int, error) {
	text := os.Getenv(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%s=%s: not a positive number", name, text)
	}
	return n, nil
}

func readOptions() (options, error) {
	o := options{components: os.Getenv("E2E_COMPONENTS"), repo: os.Getenv("E2E_REPO"),
		build: os.Getenv("E2E_BUILD"), work: os.Getenv("E2E_WORK"),
		perf: os.Getenv("BENCH_PERF"), keep: os.Getenv("BENCH_KEEP") != "", timeout: 20 * time.Minute,
		peer: os.Getenv("BENCH_PEER"), peerName: os.Getenv("BENCH_PEER_NAME"),
		peerGangs: os.Getenv("BENCH_PEER_GANGS") != ""}
	if o.components == "" || o.repo == "" || o.build == "" || o.work == "" {
		return o, fmt.Errorf("start this with ./run bench-e2e")
	}
	for _, n := range []struct {
		name      string
		otherwise int
		to        *int
	}{
		{"BENCH_NODES", 1000, &o.nodes}, {"BENCH_PODS", 5000, &o.pods},
		{"BENCH_ROUNDS", 3, &o.rounds}, {"BENCH_WORKERS", 8, &o.workers},
	} {
		var err error
		if *n.to, err = number(n.name, n.otherwise); err != nil {
			return o, err
		}
	}
	if o.pods%gangSize != 0 {
		return o, fmt.Errorf("BENCH_PODS=%d: not a multiple of %d", o.pods, gangSize)
	}
	if o.pods > o.nodes*100 {
		return o, fmt.Errorf("BENCH_PODS=%d: more than 100 on each node", o.pods)
	}
	args := os.Getenv("BENCH_PEER_ARGS")
	if args == "" {
		args = "--kubeconfig={kubeconfig}"
	}
	o.peerArgs = strings.Fields(args)
	if o.peer != "" && o.peerName == "" {
		return o, fmt.Errorf("BENCH_PEER is set: BENCH_PEER_NAME has to say which schedulerName its pods have")
	}
	var err error
	o.only, err = regexp.Compile(os.Getenv("BENCH_ONLY"))
	return o, err
}

// rows in the order of the table. Those that are compared follow each other closely.
func rows(o options) []row {
	bin := filepath.Join(o.build, "bin")
	own := &candidate{"headgate", func() contender { return &ours{repo: o.repo, bin: bin} }}
	kube := &candidate{"kube-scheduler", func() contender { return &kubeScheduler{} }}
	before := &candidate{aheadName, func() contender { return &ahead{ours: ours{repo: o.repo, bin: bin}} }}
	other := &candidate{filepath.Base(o.peer), func() contender {
		return &peer{ours: ours{repo: o.repo, bin: bin}, path: o.peer, name: o.peerName, args: o.peerArgs}
	}}
	var all []row
	add := func(who *candidate, m mode, w workload) {
		if r := (row{who, m, w}); o.only.MatchString(r.String()) {
			all = append(all, r)
		}
	}
	for _, w := range []workload{plain, singly, gangs, gated} {
		for _, m := range []mode{backlog, stream} {
			if w == plain {
				add(kube, m, w)
			}
			if o.peer != "" && (w == plain || w == gangs && o.peerGangs) {
				add(other, m, w)
			}
			if w == singly {
				add(before, m, w)
			}
			if w != gangs || o.peer != "" && o.peerGangs {
				add(own, m, w)
			}
		}
	}
	return all
}

func main() {
	if os.Getenv("E2E_NETNS") == "1" {
		if err := cluster.LoopbackUp(); err != nil {
			fmt.Fprintln(os.Stderr, "bench-e2e: loopback:", err)
			os.Exit(1)
		}
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	run := bench
	if len(os.Args) > 1 {
		run = map[string]func(context.Context) error{"quota": benchQuota, "fleet": benchFleet}[os.Args[1]]
	}
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench-e2e:", err)
		cancel()
		os.Exit(1)
	}
}

func bench(ctx context.Context) error {
	o, err := readOptions()
	if err != nil {
		return err
	}
	all := rows(o)
	if len(all) == 0 {
		return fmt.Errorf("no row matches BENCH_ONLY=%s", o.only)
	}
	results := map[row][]*figures{}
	for round := range o.rounds {
		for i := range all {
			// Nobody is always measured after the same other.
			r := all[i]
			if round%2 == 1 {
				r = all[len(all)-1-i]
			}
			begin := time.Now()
			f, err := measure(ctx, o, r)
			if err != nil {
				return err
			}
			results[r] = append(results[r], f)
			fmt.Printf("round %d: %s: %s; %.0f s in all\n", round+1, r, f, time.Since(begin).Seconds())
		}
	}
	text := report(o, all, results)
	fmt.Print("\n", text)
	return os.WriteFile(filepath.Join(o.work, "bench.md"), []byte(text), 0o644)
}
