package oracle

import (
	"context"
	"fmt"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
)

var jobs = batchv1.SchemeGroupVersion.WithResource("jobs")

// Runs watches the Jobs of the clusters of a fleet and counts where each one has run: a Job runs while it has active
// pods.
type Runs struct {
	*watches

	mu     sync.Mutex
	active map[string]map[string]string // by namespace/name, then by cluster: the UID of the Job that runs
	starts map[string][]string          // by namespace/name: clusters, in the order in which they began to run it
	twice  map[string]int               // how often it began to run while another cluster seemed to run it
}

// StartRuns begins to watch, with a client for each cluster by its name, and returns when it has seen what is there.
// Stop ends it.
func StartRuns(ctx context.Context, clients map[string]dynamic.Interface) *Runs {
	r := &Runs{active: map[string]map[string]string{}, starts: map[string][]string{}, twice: map[string]int{}}
	r.watches = &watches{kind: jobs, clients: clients,
		see: func(_ context.Context, cluster string, o *unstructured.Unstructured, gone bool) {
			r.see(cluster, o, gone)
		}}
	r.start(ctx)
	return r
}

// see takes a version of a Job from the watch of a cluster.
func (r *Runs) see(cluster string, o *unstructured.Unstructured, gone bool) {
	var j batchv1.Job
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &j); err != nil {
		panic(err) // the API server made it
	}
	uid := ""
	if !gone && j.Status.Active > 0 {
		uid = string(j.UID)
	}
	key := j.Namespace + "/" + j.Name
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.active[key] == nil {
		r.active[key] = map[string]string{}
	}
	before := r.active[key][cluster]
	delete(r.active[key], cluster)
	if uid == "" {
		return
	}
	if uid != before {
		r.starts[key] = append(r.starts[key], cluster)
		if len(r.active[key]) > 0 {
			r.twice[key]++
		}
	}
	r.active[key][cluster] = uid
}

// Emptied: a cluster has lost everything, and is watched anew.
func (r *Runs) Emptied(cluster string) {
	r.unwatch(cluster)
	r.mu.Lock()
	for _, active := range r.active {
		delete(active, cluster)
	}
	r.mu.Unlock()
	r.watch(cluster)()
}

// Starts names the clusters in which a Job began to run, in order, as often as it did.
func (r *Runs) Starts(namespace, name string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.starts[namespace+"/"+name])
}

// Twice is how often a Job began to run on a cluster while it seemed to run on another one. The watches of two
// clusters come in no order: only a Job that was stopped elsewhere just before may seem to.
func (r *Runs) Twice(namespace, name string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.twice[namespace+"/"+name]
}

// Tell is where all Jobs of the namespace have run, for a log.
func (r *Runs) Tell(namespace string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := ""
	for key, clusters := range r.starts {
		if _, in := inNamespace(key, namespace); in {
			text += fmt.Sprintf("%s: %v\n", key, clusters)
		}
	}
	return text
}
