package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"headgate/e2e/cluster"
)

type mode string

const (
	backlog mode = "backlog" // all pods exist before the scheduler starts
	stream  mode = "stream"  // pods come while it runs, as fast as they can be created
)

type workload string

const (
	plain  workload = "plain"
	singly workload = "plain, gated"
	gangs  workload = "gangs of 10"
	gated  workload = "gangs of 10, gated"
)

// figures of one run.
type figures struct {
	rate      float64       // pods/s, from the begin to the last Binding
	first     time.Duration // from the begin to the first Binding
	all       time.Duration // to the last
	p50, p99  time.Duration // of created to bound
	processes map[string]usage
	order     []string // names of processes
	others    float64  // CPU seconds of all other processes on the machine
	writes    map[string]int
	failed    map[string]int
}

// run is one measurement on a cluster of its own.
type run struct {
	o     options
	row   row
	c     *cluster.Cluster
	l     *load
	who   contender
	tail  *tail
	named map[string]*cluster.Process
	order []string
}

// measure starts a cluster, plays the row and ends everything; after an error the logs are kept.
func measure(ctx context.Context, o options, w row) (f *figures, err error) {
	dir, err := os.MkdirTemp(o.work, "bench-")
	if err != nil {
		return nil, err
	}
	audit, err := auditArgs(dir, auditPolicy)
	if err != nil {
		return nil, err
	}
	c, err := cluster.Start(ctx, cluster.Options{Bin: o.components, Dir: dir, APIServerArgs: audit, Bare: true})
	if err != nil {
		return nil, err
	}
	defer func() {
		c.Stop(err != nil || o.keep)
		if err != nil {
			err = fmt.Errorf("%s: %w (logs in %s)", w, err, dir)
		}
	}()
	r := &run{o: o, row: w, c: c, who: w.who.make()}
	defer r.who.stop()
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	defer r.tail.f.Close()
	return r.play(ctx)
}

func (r *run) prepare(ctx context.Context) error {
	var err error

	if r.l, err = newLoad(r.c, r.o.workers); err != nil {
		return err
	}
	if err := r.l.namespace(ctx); err != nil {
		return err
	}
	if err := r.l.nodes(ctx, r.o.nodes); err != nil {
		return err
	}
	if err := r.who.install(ctx, r.c); err != nil {
		return err
	}
	if r.row.workload != plain {
		if err := r.l.queue(ctx); err != nil {
			return err
		}
	}
	r.tail, err = newTail(r.c.Dir)
	return err
}

func (r *run) play(ctx context.Context) (*figures, error) {
	if r.row.mode == stream {
		if err := r.warm(ctx); err != nil {
			return nil, err
		}
	}
	beforeLoad, err := r.usage()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	before, busy := beforeLoad, 0.0
	if busy, err = readMachine(); err != nil {
		return nil, err
	}
	if err := r.l.pods(ctx, r.o.pods, r.who.schedulerName(), r.row.workload); err != nil {
		return nil, err
	}
	if r.row.mode == backlog {
		if err := r.quiet(ctx); err != nil {
			return nil, err
		}
		if before, err = r.usage(); err != nil {
			return nil, err
		}
		if busy, err = readMachine(); err != nil {
			return nil, err
		}
		begin = time.Now()
		if err := r.who.start(ctx); err != nil {
			return nil, err
		}
	}
	stop := r.profile(ctx)
	err = r.wait(ctx)
	stop()
	if err != nil {
		return nil, err
	}
	return r.count(begin, beforeLoad, before, busy)
}

// warm starts the scheduler and waits until it binds a pod: all that it has to know is there.
func (r *run) warm(ctx context.Context) error {
	if err := r.who.start(ctx); err != nil {
		return err
	}
	if err := r.l.pod(ctx, warmUp, r.who.schedulerName(), nil); err != nil {
		return err
	}
	if err := r.bound(ctx, 1); err != nil {
		return err
	}
	return r.quiet(ctx)
}

// wait waits until all pods are bound and what follows from that is done.
func (r *run) wait(ctx context.Context) error {
	n := r.o.pods
	if r.row.mode == stream {
		n++
	}
	if err := r.bound(ctx, n); err != nil {
		return err
	}
	return r.quiet(ctx)
}

func (r *run) bound(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, r.o.timeout)
	defer cancel()
	return cluster.Poll(ctx, fmt.Sprintf("%d pods are bound", n), func(context.Context) error {
		if err := r.tail.read(); err != nil {
			return err
		}
		if r.tail.bound < n {
			return fmt.Errorf("%d are", r.tail.bound)
		}
		return nil
	}, append(r.running(), r.c.Etcd, r.c.APIServer)...)
}

func (r *run) running() []*cluster.Process {
	var list []*cluster.Process
	for _, p := range r.who.processes() {
		if p.Running() {
			list = append(list, p)
		}
	}
	return list
}

// quiet waits until all processes together use less than a tenth of a core, for a second.
func (r *run) quiet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.o.timeout)
	defer cancel()
	last := -1.0
	for {
		all, err := r.usage()
		if err != nil {
			return err
		}
		sum := 0.0
		for _, u := range all {
			sum += u.cpu
		}
		if last >= 0 && sum-last < 0.1 {
			return nil
		}
		last = sum
		select {
		case <-ctx.Done():
			return fmt.Errorf("the cluster does not come to rest: %w", ctx.Err())
		case <-time.After(time.Second):
		}
	}
}

// usage of all processes that run, by name.
func (r *run) usage() (map[string]usage, error) {
	pids := map[string]int{"load": os.Getpid(), "kube-apiserver": r.c.APIServer.PID(), "etcd": r.c.Etcd.PID()}
	r.order = nil
	for _, p := range r.who.processes() {
		r.order = append(r.order, p.Name)
		if p.Running() {
			pids[p.Name] = p.PID()
		}
	}
	r.order = append(r.order, "kube-apiserver", "etcd", "load")
	all := map[string]usage{}
	for name, pid := range pids {
		u, err := readUsage(pid)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[name] = u
	}
	return all, nil
}

// count makes figures of what happened since begin. The webhook works while pods are created, so
// its share is counted from then on; that of the others from before.
func (r *run) count(begin time.Time, beforeLoad, before map[string]usage, busy float64) (*figures, error) {
	after, err := r.usage()
	if err != nil {
		return nil, err
	}
	machine, err := readMachine()
	if err != nil {
		return nil, err
	}
	h, err := readHistory(r.c.Dir, begin)
	if err != nil {
		return nil, err
	}
	f := &figures{processes: map[string]usage{}, order: r.order, others: machine - busy, writes: h.writes, failed: h.failed}
	for i, name := range r.order {
		u := after[name]
		f.others -= u.cpu - before[name].cpu
		if i == 1 && name != "kube-apiserver" {
			u.cpu -= beforeLoad[name].cpu
		} else {
			u.cpu -= before[name].cpu
		}
		f.processes[name] = u
	}
	return f, f.times(h, r.o.pods, begin)
}

func (f *figures) times(h *history, pods int, begin time.Time) error {
	var waits []time.Duration

	first, last := time.Time{}, time.Time{}
	for name, p := range h.pods {
		if name == warmUp || p.bound.IsZero() || p.created.IsZero() {
			continue
		}
		waits = append(waits, p.bound.Sub(p.created))
		if first.IsZero() || p.bound.Before(first) {
			first = p.bound
		}
		if p.bound.After(last) {
			last = p.bound
		}
	}
	if len(waits) != pods {
		return fmt.Errorf("%d pods were created and bound, not %d", len(waits), pods)
	}
	slices.Sort(waits)
	f.p50, f.p99 = waits[(len(waits)-1)/2], waits[(len(waits)-1)*99/100]
	f.first, f.all = first.Sub(begin), last.Sub(begin)
	f.rate = float64(pods) / f.all.Seconds()
	return nil
}
