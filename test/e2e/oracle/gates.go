package oracle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"headgate/e2e/headgate"
)

// MultiKueueGate is the preemption gate of replicas.
const MultiKueueGate = "kueue.x-k8s.io/multikueue"

// What happens to a Workload of a fleet.
const (
	Blocked     = "blocked"      // it asks that its gate be opened
	Opened      = "opened"       // its gate is open
	Closed      = "closed"       // its gate is not open any more
	Preempted   = "preempted"    // it was evicted for another one
	HasQuota    = "has quota"    // it has quota
	HasNoQuota  = "has no quota" // it has none any more
	HasBeenGone = "gone"         // its object was removed
)

// FleetMoment is when the watch of a cluster showed it.
type FleetMoment struct {
	At      time.Time
	Cluster string
	What    string
}

// replicaState is what counts of a Workload.
type replicaState struct {
	uid                           string
	blocked, open, evicted, quota bool
}

func replicaOf(w *unstructured.Unstructured) replicaState {
	s := replicaState{uid: string(w.GetUID())}
	gates, _, _ := unstructured.NestedSlice(w.Object, "status", "preemptionGates")
	for _, g := range gates {
		if m, _ := g.(map[string]any); m["name"] == MultiKueueGate && m["position"] == "Open" {
			s.open = true
		}
	}
	conditions, _, _ := unstructured.NestedSlice(w.Object, "status", "conditions")
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		if m["status"] != "True" {
			continue
		}
		switch m["type"] {
		case "BlockedOnPreemptionGates":
			s.blocked = true
		case "Evicted":
			s.evicted = m["reason"] == "Preempted"
		case "QuotaReserved":
			s.quota = true
		}
	}
	return s
}

// changes says what has happened between two states of a Workload; the empty state is that of one that is not there.
func changes(before, after replicaState) []string {
	if before.uid != after.uid && before.uid != "" {
		more := []string{HasBeenGone}
		if after.uid != "" {
			more = append(more, changes(replicaState{}, after)...)
		}
		return more
	}
	var what []string
	for _, c := range []struct {
		name          string
		before, after bool
	}{
		{Blocked, before.blocked, after.blocked},
		{Opened, before.open, after.open},
		{Closed, !before.open, !after.open},
		{Preempted, before.evicted, after.evicted},
		{HasQuota, before.quota, after.quota},
		{HasNoQuota, !before.quota, !after.quota},
	} {
		if c.after && !c.before {
			what = append(what, c.name)
		}
	}
	return what
}

// Gates watches the Workloads of the clusters of a fleet and says whether the promise of KEP-8303 holds: at no
// moment are the gates of two replicas of one Workload open. The watches of two clusters come in no order, so what
// they seem to show is looked up in both clusters before it counts.
type Gates struct {
	*watches

	mu      sync.Mutex
	states  map[string]map[string]replicaState // by namespace/name, then by cluster
	moments map[string][]FleetMoment           // by namespace/name
	breach  error
	looked  int
}

// StartGates begins to watch, with a client for each cluster by its name, and returns when it has seen what is there.
// Stop ends it.
func StartGates(ctx context.Context, clients map[string]dynamic.Interface) *Gates {
	g := &Gates{states: map[string]map[string]replicaState{}, moments: map[string][]FleetMoment{}}
	g.watches = &watches{kind: headgate.Workloads, clients: clients, see: g.see}
	g.start(ctx)
	return g
}

// see takes a version of a Workload from the watch of a cluster.
func (g *Gates) see(ctx context.Context, name string, w *unstructured.Unstructured, gone bool) {
	key := w.GetNamespace() + "/" + w.GetName()
	var state replicaState
	if !gone {
		state = replicaOf(w)
	}
	g.mu.Lock()
	if g.states[key] == nil {
		g.states[key] = map[string]replicaState{}
	}
	for _, what := range changes(g.states[key][name], state) {
		g.moments[key] = append(g.moments[key], FleetMoment{time.Now(), name, what})
	}
	g.states[key][name] = state
	open := withOpenGate(g.states[key])
	g.mu.Unlock()
	if len(open) > 1 {
		g.look(ctx, key, open)
	}
}

// withOpenGate names the clusters in which a replica's gate is open, sorted.
func withOpenGate(states map[string]replicaState) []string {
	var open []string
	for _, name := range slices.Sorted(maps.Keys(states)) {
		if states[name].open {
			open = append(open, name)
		}
	}
	return open
}

// look reads a Workload in these clusters, twice in the same order: gates that are open in both readings were open
// together between them.
func (g *Gates) look(ctx context.Context, key string, in []string) {
	namespace, name, _ := strings.Cut(key, "/")
	first := map[string]string{} // UID of each replica with an open gate
	var both []string
	for round := range 2 {
		for _, c := range in {
			one, cancel := context.WithTimeout(ctx, 10*time.Second)
			w, err := g.clients[c].Resource(headgate.Workloads).Namespace(namespace).Get(one, name, metav1.GetOptions{})
			cancel()
			if err != nil {
				continue // gone, or its cluster cannot be reached: nothing is known
			}
			s := replicaOf(w)
			if s.open && round == 0 {
				first[c] = s.uid
			} else if s.open && first[c] == s.uid {
				both = append(both, c)
			}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.looked++
	if len(both) > 1 && g.breach == nil {
		g.breach = fmt.Errorf("the gates of Workload %s are open in %s at the same time:%s",
			key, strings.Join(both, " and "), tell(g.moments[key]))
	}
}

// tell is one line for each moment.
func tell(moments []FleetMoment) string {
	var text strings.Builder
	for _, m := range moments {
		fmt.Fprintf(&text, "\n%s %s: %s", m.At.UTC().Format("15:04:05.000"), m.Cluster, m.What)
	}
	return text.String()
}

// Err is the first breach so far.
func (g *Gates) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.breach
}

// Looked is how often two gates seemed to be open and were looked up.
func (g *Gates) Looked() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.looked
}

// Moments of the Workload of this namespace and name in all clusters, oldest first.
func (g *Gates) Moments(namespace, name string) []FleetMoment {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.moments[namespace+"/"+name])
}

// Clusters names the clusters, in order, in which that happens to a Workload, as often as it does.
func (g *Gates) Clusters(namespace, name, what string) []string {
	clusters := []string{}
	for _, m := range g.Moments(namespace, name) {
		if m.What == what {
			clusters = append(clusters, m.Cluster)
		}
	}
	return clusters
}

// Emptied: a cluster has lost everything, and is watched anew: a new server may be silent about a version that is
// higher than its own.
func (g *Gates) Emptied(cluster string) {
	g.unwatch(cluster)
	g.mu.Lock()
	for key, states := range g.states {
		if states[cluster].uid != "" {
			g.moments[key] = append(g.moments[key], FleetMoment{time.Now(), cluster, HasBeenGone})
			delete(states, cluster)
		}
	}
	g.mu.Unlock()
	g.watch(cluster)()
}

// Victims are the Workloads of the namespace that were preempted ("worker1/name"), as often as they were, sorted.
func (g *Gates) Victims(namespace string) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	victims := []string{}
	for key, moments := range g.moments {
		name, in := inNamespace(key, namespace)
		for _, m := range moments {
			if in && m.What == Preempted {
				victims = append(victims, m.Cluster+"/"+name)
			}
		}
	}
	slices.Sort(victims)
	return victims
}

// Tell is the story of all Workloads of the namespace, for a log.
func (g *Gates) Tell(namespace string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(g.moments)) {
		if _, in := inNamespace(key, namespace); in {
			fmt.Fprintf(&text, "%s:%s\n", key, tell(g.moments[key]))
		}
	}
	return text.String()
}
