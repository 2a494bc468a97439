// The program differential feeds random clusters to Kueue's scheduler and to headgatectl simulate,
// and compares what they decide. README.md says how.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"headgate/differential/lib"
)

// How often Kueue is asked when it answers differently: of the two orders of a small map one may come
// up only once in eight times.
const (
	tries      = 60
	firstTries = 6 // enough for a cause that, taken out, makes the answers the same
)

type options struct {
	clusters int
	seed     uint64
	defaults bool
	mended   bool
	program  string
	shrink   bool
	keep     string // folder for the manifests of differences
	stopAt   int
	log      int // level of Kueue's log
	budget   time.Duration
}

// A tally counts what the clusters came to.
type tally struct {
	lib.Tally
	explained map[string]int // by deviation
	sampled   census
}

func (o *options) report(c *cluster, h *headgate, seed uint64, v verdict) {
	fmt.Printf("\n=== cluster %d: they differ\n", seed)
	if o.shrink {
		c = shrink(c, h, v)
		v = compare(c, h, tries)
	}
	text := fmt.Sprintf("# headgatectl simulate %v --config config.yaml FILE\n# config.yaml:\n%s# - Kueue, + Headgate:\n%s%s",
		c.arguments(func(after int) string { return fmt.Sprintf("after-%d.yaml", after) }), lib.Comment(string(c.configuration())), lib.Comment(v.Difference("Kueue")), c.yaml())
	fmt.Print(text)
	if o.keep != "" {
		name := filepath.Join(o.keep, fmt.Sprintf("%d.yaml", seed))
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

// judge compares, and names the deviations that explain a difference.
func judge(c *cluster, h *headgate) (verdict, string) {
	v := compare(c, h, firstTries)
	name := explain(c, h, v, firstTries)
	settled := name != "" && !strings.Contains(name, " and ")
	if !settled && (v.Kind == lib.Different || v.Kind == lib.Unstable) {
		v = compare(c, h, tries)
		name = explain(c, h, v, tries)
	}
	return v, name
}

func (o *options) play(h *headgate) tally {
	t := tally{explained: map[string]int{}}
	begin := time.Now()
	for i := range o.clusters {
		if o.budget > 0 && time.Since(begin) > o.budget {
			break
		}
		seed := o.seed + uint64(i)
		c := generate(seed)
		if o.defaults {
			c.withDefaults()
		}
		for _, d := range deviations {
			if o.mended && d.mend != nil {
				d.mend(c)
			}
		}
		v, name := judge(c, h)
		t.Total++
		t.sampled.count(c, &v)
		if name != "" {
			t.explained[name]++
			continue
		}
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
	t.Print("Kueue")
	for _, name := range lib.SortedKeys(t.explained) {
		fmt.Printf("  %d by the deviation %s of docs/deviations.md\n", t.explained[name], name)
	}
	t.sampled.print(t.Total)
}

func main() {
	var o options
	flag.IntVar(&o.clusters, "n", 100, "how many clusters")
	flag.Uint64Var(&o.seed, "seed", 1, "of the first cluster; the others follow")
	flag.BoolVar(&o.defaults, "defaults", false, "all feature gates as Headgate has them by default")
	flag.BoolVar(&o.mended, "mended", false, "Kueue with all changes of mend, to see what they leave")
	flag.StringVar(&o.program, "headgatectl", "build/bin/headgatectl", "the program")
	flag.BoolVar(&o.shrink, "shrink", true, "make clusters on which they differ small")
	flag.StringVar(&o.keep, "keep", "", "folder for the manifests of differences")
	flag.IntVar(&o.stopAt, "stop", 10, "stop after that many differences")
	flag.DurationVar(&o.budget, "budget", 0, "stop after that time")
	flag.IntVar(&o.log, "log", -1, "show Kueue's log to that level")
	flag.Parse()
	if o.log >= 0 {
		kueueLog = funcr.New(func(_, args string) { fmt.Println("kueue:", args) }, funcr.Options{Verbosity: o.log})
	}
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	folder := lib.Must(os.MkdirTemp("", "differential"))
	defer os.RemoveAll(folder)
	t := o.play(&headgate{program: o.program, folder: folder})
	t.print()
	if t.Found() > 0 {
		os.RemoveAll(folder)
		os.Exit(1)
	}
}
