// The program feeds random clusters to Volcano's scheduler and to headgatectl simulate, and compares
// what they decide. ../README.md says how.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"k8s.io/klog/v2"

	"headgate/differential/lib"
)

// How often Volcano is asked when it answers differently.
const tries = 12

type options struct {
	clusters int
	seed     uint64
	program  string
	shrink   bool
	keep     string // folder for the manifests of differences
	stopAt   int
	log      bool
	budget   time.Duration
}

// A tally counts what the clusters came to.
type tally struct {
	lib.Tally
	sampled census
}

func (o *options) report(c *cluster, h *headgate, seed uint64, v verdict) {
	fmt.Printf("\n=== cluster %d: they differ\n", seed)
	if o.shrink {
		c = shrink(c, h, v)
	}
	if o.log {
		klog.SetOutput(os.Stderr)
		v = compare(c, h, 1)
		klog.SetOutput(io.Discard)
	} else {
		v = compare(c, h, tries)
	}
	text := fmt.Sprintf("# headgatectl simulate %v --scheduler-conf scheduler.yaml FILE\n# scheduler.yaml:\n%s# - Volcano, + Headgate:\n%s%s",
		c.arguments(), lib.Comment(string(c.configuration())), lib.Comment(v.Difference("Volcano")), c.yaml())
	fmt.Print(text)
	if o.keep != "" {
		name := filepath.Join(o.keep, fmt.Sprintf("%d.yaml", seed))
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

func (o *options) play(h *headgate) tally {
	t := tally{}
	begin := time.Now()
	for i := range o.clusters {
		if o.budget > 0 && time.Since(begin) > o.budget {
			break
		}
		seed := o.seed + uint64(i)
		c := generate(seed)
		v := compare(c, h, tries)
		t.Total++
		t.sampled.count(c, &v)
		t.Kinds[v.Kind]++
		if v.Kind == lib.Same || v.Kind == lib.Unsettled {
			continue
		}
		o.report(c, h, seed, v)
		if found := t.Found(); found >= o.stopAt {
			fmt.Printf("\nstopped after %d differences\n", found)
			break
		}
	}
	return t
}

func (t *tally) print() {
	t.Print("Volcano")
	t.sampled.print(t.Total)
}

func main() {
	var o options
	flag.IntVar(&o.clusters, "n", 100, "how many clusters")
	flag.Uint64Var(&o.seed, "seed", 1, "of the first cluster; the others follow")
	flag.StringVar(&o.program, "headgatectl", "build/bin/headgatectl", "the program")
	flag.BoolVar(&o.shrink, "shrink", true, "make clusters on which they differ small")
	flag.StringVar(&o.keep, "keep", "", "folder for the manifests of differences")
	flag.IntVar(&o.stopAt, "stop", 10, "stop after that many differences")
	flag.DurationVar(&o.budget, "budget", 0, "stop after that time")
	flag.BoolVar(&o.log, "log", false, "show Volcano's log of differences, made small")
	flag.Parse()
	logging := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(logging)
	_ = logging.Set("logtostderr", "false")
	_ = logging.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)
	if o.log {
		_ = logging.Set("v", "4")
	}
	folder := lib.Must(os.MkdirTemp("", "differential"))
	t := o.play(&headgate{program: o.program, folder: folder})
	t.print()
	os.RemoveAll(folder)
	if t.Found() > 0 {
		os.Exit(1)
	}
}
