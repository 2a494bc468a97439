package suite

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"headgate/e2e/cluster"
	"headgate/e2e/fleet"
	"headgate/e2e/headgate"
)

// Environment that run.sh sets.
const (
	envComponents = "E2E_COMPONENTS" // folder of the programs that build.sh made
	envRepo       = "E2E_REPO"       // root of the repository
	envBuild      = "E2E_BUILD"      // where the daemons are, in bin/
	envWork       = "E2E_WORK"       // clusters live in folders of this one
	envNetns      = "E2E_NETNS"      // 1: alone in a network namespace
	envKarpenter  = "E2E_KARPENTER"  // file that appears with the exit status of Karpenter's build
)

// env is what scenarios of this binary share.
var env struct {
	mu       sync.Mutex
	clusters []*installation // that run now
	shared   [shapes]shared
	begun    map[string]int // how often each scenario has: -test.count

	fleet       *fleet.Fleet // shared
	fleetBroken error        // why there is none
	fleetFailed bool         // a scenario on it has
}

type shared struct {
	*installation
	broken error // why there is none
}

// shape of a shared cluster: the values of the chart.
type shape int

const (
	plain    shape = iota // as the chart ships
	quota                 // with quota for Workloads
	evicting              // with actions that evict, and the plugin pdb
	shapes
)

// evictingConfig lets pods be evicted one by one, those of gangs too, within their PodDisruptionBudgets.
const evictingConfig = `scheduler.config=actions: "enqueue\, allocate\, backfill\, preempt\, reclaim"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
    enableReclaimable: false
  - name: conformance
  - name: pdb
- plugins:
  - name: predicates
  - name: capacity
    enableHierarchy: true
`

// quotaOn is the chart's value; quotaMore turns on what is off by default.
const quotaOn = "quota.enabled=true"

var quotaMore = []string{"quota.preemptionCost=true",
	"quota.config=integrations: {frameworks: [batch/job\\, pod]}\nfeatureGates: {MultiKueueOrchestratedPreemption: true}"}

type installation struct {
	cluster  *cluster.Cluster
	headgate *headgate.Headgate
	quota    bool // for Workloads
	failed   bool
	audited  int64     // requests of our accounts were looked at up to here
	forgiven time.Time // those that came until then may have been refused
}

// Main is what TestMain calls.
func Main(m *testing.M) {
	if os.Getenv(envNetns) == "1" {
		if err := cluster.LoopbackUp(); err != nil {
			fmt.Fprintln(os.Stderr, "e2e: loopback:", err)
			os.Exit(1)
		}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		os.Exit(serve(signals))
	}
	go func() {
		s := <-signals
		fmt.Fprintln(os.Stderr, "e2e:", s)
		stopAll(true)
		os.Exit(1)
	}()
	code := m.Run()
	stopAll(false)
	os.Exit(code)
}

func serve(signals <-chan os.Signal) int {
	i, err := install(context.Background(), Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	fmt.Printf("\nexport KUBECONFIG=%s\nexport PATH=%s:$PATH\n\nCtrl-C ends it.\n",
		i.cluster.Kubeconfig, i.cluster.Bin)
	<-signals
	i.stop()
	return 0
}

// BuildFile is a path in the build folder's e2e/ for files of a scenario that are read after the run.
func BuildFile(name string) string {
	return filepath.Join(os.Getenv(envWork), name)
}

// Repository is the root of the sources.
func Repository() string {
	return os.Getenv(envRepo)
}

// Image is the tar file of the OCI image that `make image` wrote.
func Image() string {
	return filepath.Join(os.Getenv(envBuild), "headgate-image.tar")
}

// Options of a cluster of one's own.
type Options struct {
	Values        []string // of the chart, as helm's --set
	APIServerArgs []string // more flags of kube-apiserver
	SchedulerArgs []string // and of kube-scheduler
	Empty         bool     // without Headgate, which the scenario installs itself

	Container *headgate.Container // the daemons run in containers of the image
}

func install(ctx context.Context, o Options) (*installation, error) {
	for _, name := range []string{envComponents, envRepo, envBuild, envWork} {
		if os.Getenv(name) == "" {
			return nil, fmt.Errorf("%s is not set: start this with ./run e2e", name)
		}
	}
	work := os.Getenv(envWork)
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(work, "cluster-")
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	c, err := cluster.Start(ctx, cluster.Options{Bin: os.Getenv(envComponents), Dir: dir,
		APIServerArgs: o.APIServerArgs, SchedulerArgs: o.SchedulerArgs, Audit: "system:serviceaccounts:" + headgate.Namespace})
	if err != nil {
		return nil, err
	}
	up := time.Since(begin)
	options := headgate.Options{Repo: os.Getenv(envRepo),
		Bin: filepath.Join(os.Getenv(envBuild), "bin"), Values: o.Values, Container: o.Container}
	var h *headgate.Headgate
	if o.Empty {
		h, err = headgate.Prepare(c, options)
	} else {
		h, err = headgate.Install(ctx, c, options)
	}
	if err != nil {
		c.Stop(true)
		return nil, err
	}
	fmt.Printf("        cluster up in %.1f s, headgate in %.1f s more\n", up.Seconds(), (time.Since(begin) - up).Seconds())
	i := &installation{cluster: c, headgate: h, quota: slices.Contains(o.Values, quotaOn)}
	env.mu.Lock()
	defer env.mu.Unlock()
	env.clusters = append(env.clusters, i)
	return i, nil
}

func (i *installation) stop() {
	i.headgate.Stop()
	i.cluster.Stop(i.failed)
	if i.failed {
		fmt.Printf("        logs are kept in %s\n", i.cluster.Dir)
	}
}

func stopAll(keep bool) {
	env.mu.Lock()
	defer env.mu.Unlock()
	for _, i := range env.clusters {
		i.failed = i.failed || keep
		i.stop()
	}
	env.clusters = nil
	if env.fleet != nil {
		keep = keep || env.fleetFailed
		env.fleet.Stop(keep)
		if keep {
			fmt.Printf("        logs are kept in %s\n", env.fleet.Dir)
		}
		env.fleet = nil
	}
}

// sharedInstallation starts a shared cluster when it is first asked for.
func sharedInstallation(ctx context.Context, which shape) (*installation, error) {
	i, o := &env.shared[which], Options{}
	switch which {
	case quota:
		o.Values = append([]string{quotaOn}, quotaMore...)
	case evicting:
		o.Values = []string{evictingConfig}
	}
	if i.installation == nil && i.broken == nil {
		i.installation, i.broken = install(ctx, o)
	}
	return i.installation, i.broken
}

func forget(i *installation) {
	env.mu.Lock()
	defer env.mu.Unlock()
	for n, o := range env.clusters {
		if o == i {
			env.clusters = append(env.clusters[:n:n], env.clusters[n+1:]...)
			return
		}
	}
}

// namespaceOf makes "scenario1-quota" of "TestScenario1_Quota", "scenario1-quota-2" when it begins again.
func namespaceOf(test string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + ('a' - 'A')
		default:
			return '-'
		}
	}, strings.TrimPrefix(test, "Test"))
	name = strings.Trim(name[:min(len(name), 40)], "-")
	env.mu.Lock()
	defer env.mu.Unlock()
	if env.begun == nil {
		env.begun = map[string]int{}
	}
	env.begun[test]++
	if n := env.begun[test]; n > 1 {
		name = fmt.Sprintf("%s-%d", name, n)
	}
	return name
}
