package oracle

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"

	"headgate/e2e/cluster"
	"headgate/e2e/headgate"
)

// testReplica has that position of its gate and these conditions ("Evicted/Preempted").
func testReplica(uid, position string, conditions ...string) *unstructured.Unstructured {
	w := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
		"metadata": map[string]any{"namespace": "ns", "name": "w", "uid": uid}}}
	list := []any{}
	for _, c := range conditions {
		kind, reason, _ := strings.Cut(c, "/")
		list = append(list, map[string]any{"type": kind, "reason": reason, "status": "True"})
	}
	w.Object["status"] = map[string]any{"conditions": list,
		"preemptionGates": []any{map[string]any{"name": MultiKueueGate, "position": position}}}
	return w
}

func TestGatesChanges(t *testing.T) {
	gone := replicaState{}
	closed, open := replicaOf(testReplica("a", "Closed")), replicaOf(testReplica("a", "Open"))
	for name, c := range map[string]struct {
		before, after replicaState
		want          []string
	}{
		"new and closed":      {gone, closed, nil},
		"new and open":        {gone, open, []string{Opened}},
		"opened":              {closed, open, []string{Opened}},
		"closed":              {open, closed, []string{Closed}},
		"removed":             {open, gone, []string{HasBeenGone}},
		"made again":          {closed, replicaOf(testReplica("b", "Open")), []string{HasBeenGone, Opened}},
		"asks":                {closed, replicaOf(testReplica("a", "Closed", "BlockedOnPreemptionGates/x")), []string{Blocked}},
		"preempted":           {closed, replicaOf(testReplica("a", "Closed", "Evicted/Preempted")), []string{Preempted}},
		"evicted differently": {closed, replicaOf(testReplica("a", "Closed", "Evicted/PodsReadyTimeout")), nil},
		"quota":               {closed, replicaOf(testReplica("a", "Closed", "QuotaReserved/x")), []string{HasQuota}},
		"quota lost":          {replicaOf(testReplica("a", "Closed", "QuotaReserved/x")), closed, []string{HasNoQuota}},
		"nothing":             {open, open, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := changes(c.before, c.after); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// twoClusters have a replica each, with these positions of the gate.
func twoClusters(t *testing.T, a, b string) (map[string]dynamic.Interface, *Gates) {
	clients := map[string]dynamic.Interface{}
	for name, position := range map[string]string{"a": a, "b": b} {
		clients[name] = fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
			map[schema.GroupVersionResource]string{headgate.Workloads: "WorkloadList"}, testReplica(name, position))
	}
	g := StartGates(t.Context(), clients)
	t.Cleanup(g.Stop)
	return clients, g
}

// move writes the position of a gate and waits until the oracle has seen it.
func move(t *testing.T, g *Gates, clients map[string]dynamic.Interface, in, position, what string) {
	t.Helper()
	seen := len(g.Clusters("ns", "w", what))
	_, err := clients[in].Resource(headgate.Workloads).Namespace("ns").Update(t.Context(),
		testReplica(in, position), metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := cluster.Poll(ctx, "it is seen", func(context.Context) error {
		if now := g.Clusters("ns", "w", what); len(now) == seen {
			return context.DeadlineExceeded
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestGatesTakeTurns(t *testing.T) {
	clients, g := twoClusters(t, "Open", "Closed")
	move(t, g, clients, "a", "Closed", Closed)
	move(t, g, clients, "b", "Open", Opened)
	if err := g.Err(); err != nil {
		t.Error(err)
	}
}

func TestGatesTwoOpen(t *testing.T) {
	clients, g := twoClusters(t, "Open", "Closed")
	move(t, g, clients, "b", "Open", Opened)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := cluster.Poll(ctx, "a breach", func(context.Context) error {
		if g.Err() == nil {
			return context.DeadlineExceeded
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if text := g.Err().Error(); !strings.Contains(text, "Workload ns/w are open in a and b") {
		t.Error(text)
	}
}

// A gate that is closed by the time that it is looked up is not held to have been open then.
func TestGatesLateWatch(t *testing.T) {
	clients, g := twoClusters(t, "Closed", "Closed")
	stale := testReplica("a", "Open")
	g.see(t.Context(), "a", stale, false)
	move(t, g, clients, "b", "Open", Opened)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := cluster.Poll(ctx, "it was looked up", func(context.Context) error {
		if g.Looked() == 0 {
			return context.DeadlineExceeded
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := g.Err(); err != nil {
		t.Error(err)
	}
}
