package oracle

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"headgate/e2e/headgate"
)

// The rules of quota for Workloads, of which this file is the whole account: nothing here is taken
// from what Headgate says about queues, only specs of queues, and Workloads and Jobs themselves.
//
//   - A Workload that is given quota fits into what its ClusterQueue, and each Cohort above, may use.
//   - An admission stays as it is until it ends, and ends only when the Job is suspended and its pods
//     have stopped, or the Workload is finished. A Job has quota for one Workload at most.
//   - A Job of a queue runs only while its Workload is admitted, and is started once per admission.

// What happens to the Workload of a Job, or to the Job itself ("started", "stopped"), as
// Oracle.Moments lists it.
const (
	Reserved = "reserved" // quota was given to it
	Admitted = "admitted"
	Evicted  = "evicted"
	Released = "released" // the quota was taken back before it was finished
	Finished = "finished"
	Started  = "started"
	Stopped  = "stopped"
)

// Happening is one of these.
type Happening struct {
	What string
	RV   int64
}

type workload struct {
	uid, owner, ownerName string
	admission             string // ClusterQueue and flavors, as text; "": no quota
	queue                 string // the ClusterQueue
	usage                 amounts
	admitted, evicted     bool
	finished              bool
}

type job struct {
	uid       string
	managed   bool // it names a queue
	suspended bool
	active    int64
	over      bool // finished, or being deleted
	starts    int
}

// node is a ClusterQueue or a Cohort, with amounts by "flavor/resource".
type node struct {
	parent                      string // Cohort
	nominal, borrowing, lending amounts
}

type quotaState struct {
	workloads  map[string]*workload
	jobs       map[string]*job
	queues     map[string]*node
	cohorts    map[string]*node
	admissions map[string]int // of the Job with this UID
	happenings map[string][]Happening
	broken     error
}

func newQuotaState() *quotaState {
	return &quotaState{workloads: map[string]*workload{}, jobs: map[string]*job{},
		queues: map[string]*node{}, cohorts: map[string]*node{}, admissions: map[string]int{},
		happenings: map[string][]Happening{}}
}

func (s *quotaState) breaks(format string, args ...any) {
	if s.broken == nil {
		s.broken = fmt.Errorf(format, args...)
	}
}

func (s *quotaState) note(key, what string, rv int64) {
	s.happenings[key] = append(s.happenings[key], Happening{What: what, RV: rv})
}

func isTrue(o *unstructured.Unstructured, condition string) bool {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range list {
		if m, ok := c.(map[string]any); ok && m["type"] == condition {
			return m["status"] == "True"
		}
	}
	return false
}

func newWorkload(o *unstructured.Unstructured) *workload {
	w := &workload{uid: string(o.GetUID()), usage: amounts{}, admitted: isTrue(o, "Admitted"),
		evicted: isTrue(o, "Evicted"), finished: isTrue(o, "Finished")}
	if owner := metav1.GetControllerOf(o); owner != nil {
		w.owner, w.ownerName = string(owner.UID), o.GetNamespace()+"/"+owner.Name
	}
	admission, there, _ := unstructured.NestedMap(o.Object, "status", "admission")
	if !there {
		return w
	}
	w.queue, _, _ = unstructured.NestedString(admission, "clusterQueue")
	w.admission = w.queue
	reclaimable := map[string]int64{}
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "reclaimablePods")
	for _, r := range list {
		m, _ := r.(map[string]any)
		name, _ := m["name"].(string)
		reclaimable[name], _ = m["count"].(int64)
	}
	sets, _, _ := unstructured.NestedSlice(admission, "podSetAssignments")
	for _, one := range sets {
		set, _ := one.(map[string]any)
		w.assign(set, reclaimable)
	}
	return w
}

// assign adds what a pod set was given, without the pods that need it no more.
func (w *workload) assign(set map[string]any, reclaimable map[string]int64) {
	name, _ := set["name"].(string)
	count, _ := set["count"].(int64)
	flavors, _, _ := unstructured.NestedStringMap(set, "flavors")
	w.admission += fmt.Sprintf(" %s x%d %v", name, count, flavors)
	for what, q := range fromObject(&unstructured.Unstructured{Object: set}, "resourceUsage") {
		left := q.MilliValue()
		if count > 0 {
			left = left / count * max(0, count-reclaimable[name])
		}
		w.usage.add(amounts{flavors[what] + "/" + what: *resource.NewMilliQuantity(left, q.Format)})
	}
}

func (s *quotaState) setWorkload(key string, o *unstructured.Unstructured, rv int64) {
	old := s.workloads[key]
	if o == nil {
		delete(s.workloads, key)
		return
	}
	now := newWorkload(o)
	s.workloads[key] = now
	if old == nil || old.uid != now.uid {
		old = &workload{}
	}
	switch {
	case old.admission == now.admission:
	case old.admission == "":
		s.note(now.ownerName, Reserved, rv)
		s.reserve(key, now)
	case now.admission != "":
		s.breaks("Workload %s: its admission changed from %q to %q", key, old.admission, now.admission)
	case !now.finished:
		s.note(now.ownerName, Released, rv)
		s.release(key, old)
	}
	if now.admitted && !old.admitted {
		s.note(now.ownerName, Admitted, rv)
		s.admissions[now.owner]++
		if now.admission == "" {
			s.breaks("Workload %s is admitted without an admission", key)
		}
	}
	// A Workload that was made before its Job may be admitted before the Job owns it.
	if now.admitted && old.admitted && old.owner == "" && now.owner != "" {
		s.admissions[now.owner]++
	}
	if now.evicted && !old.evicted {
		s.note(now.ownerName, Evicted, rv)
	}
	if now.finished && !old.finished {
		s.note(now.ownerName, Finished, rv)
	}
}

// holds: it counts against quota.
func (w *workload) holds() bool { return w.admission != "" && !w.finished }

func (s *quotaState) reserve(key string, w *workload) {
	if !w.holds() {
		return
	}
	for other, o := range s.workloads {
		if other != key && o.holds() && o.owner != "" && o.owner == w.owner {
			s.breaks("Workloads %s and %s of one Job both have quota", other, key)
		}
	}
	if err := s.checkUsage(w); err != nil {
		s.breaks("Workload %s was given more than there is: %w", key, err)
	}
}

func (s *quotaState) release(key string, w *workload) {
	for name, j := range s.jobs {
		if j.uid == w.owner && !j.over && (!j.suspended || j.active > 0) {
			s.breaks("Workload %s lost its quota, but Job %s is suspended=%v with %d active pods",
				key, name, j.suspended, j.active)
		}
	}
}

func (s *quotaState) setJob(key string, o *unstructured.Unstructured, rv int64) {
	old := s.jobs[key]
	if o == nil {
		delete(s.jobs, key)
		return
	}
	now := &job{uid: string(o.GetUID()), managed: o.GetLabels()[headgate.QueueLabel] != "",
		over: isTrue(o, "Complete") || isTrue(o, "Failed") || o.GetDeletionTimestamp() != nil}
	now.suspended, _, _ = unstructured.NestedBool(o.Object, "spec", "suspend")
	now.active, _, _ = unstructured.NestedInt64(o.Object, "status", "active")
	s.jobs[key] = now
	if old == nil || old.uid != now.uid {
		old = &job{suspended: true}
	}
	now.starts = old.starts
	if old.suspended && !now.suspended {
		now.starts++
		s.note(key, Started, rv)
		if now.managed && now.starts > s.admissions[now.uid] {
			s.breaks("Job %s was started %d times and admitted %d times", key, now.starts, s.admissions[now.uid])
		}
	} else if !old.suspended && now.suspended {
		s.note(key, Stopped, rv)
	}
}

func newNode(o *unstructured.Unstructured, parent string) *node {
	n := &node{nominal: amounts{}, borrowing: amounts{}, lending: amounts{}}
	n.parent, _, _ = unstructured.NestedString(o.Object, "spec", parent)
	groups, _, _ := unstructured.NestedSlice(o.Object, "spec", "resourceGroups")
	for _, g := range groups {
		group, _ := g.(map[string]any)
		flavors, _, _ := unstructured.NestedSlice(group, "flavors")
		for _, f := range flavors {
			flavor, _ := f.(map[string]any)
			resources, _, _ := unstructured.NestedSlice(flavor, "resources")
			for _, r := range resources {
				one, _ := r.(map[string]any)
				n.quota(fmt.Sprintf("%s/%s", flavor["name"], one["name"]), one)
			}
		}
	}
	return n
}

func (n *node) quota(what string, one map[string]any) {
	for field, to := range map[string]amounts{"nominalQuota": n.nominal,
		"borrowingLimit": n.borrowing, "lendingLimit": n.lending} {
		if q, err := resource.ParseQuantity(fmt.Sprint(one[field])); err == nil {
			to[what] = q
		}
	}
}

func setNode(nodes map[string]*node, key string, o *unstructured.Unstructured, parent string) {
	if o == nil {
		delete(nodes, key)
		return
	}
	nodes[key] = newNode(o, parent)
}

// sums of a subtree in one dimension, in thousandths.
type sums struct {
	quota, usage int64 // of the subtree
	own          int64 // what it does not lend
}

func milli(a amounts, what string) int64 {
	q := a[what]
	return q.MilliValue()
}

// sum adds up a node and what is below; over is where the first limit is exceeded, from below.
func (s *quotaState) sum(n *node, name, what string, parts []sums, over *error) sums {
	t := sums{quota: milli(n.nominal, what)}
	for _, p := range parts {
		t.quota += p.quota - p.own
		t.usage += max(0, p.usage-p.own)
	}
	if q, limited := n.lending[what]; limited {
		t.own = max(0, t.quota-q.MilliValue())
	}
	limit, limited := t.quota, n.parent == ""
	if q, there := n.borrowing[what]; there && !limited {
		limit, limited = t.quota+q.MilliValue(), true
	}
	if limited && t.usage > limit && *over == nil {
		*over = fmt.Errorf("%s uses %dm of %s, the limit is %dm", name, t.usage, what, limit)
	}
	return t
}

func (s *quotaState) queueSums(name, what string, over *error) sums {
	used := sums{}
	for _, w := range s.workloads {
		if w.queue == name && w.holds() {
			used.usage += milli(w.usage, what)
		}
	}
	return s.sum(s.queues[name], "ClusterQueue "+name, what, []sums{used}, over)
}

func (s *quotaState) cohortSums(name, what string, depth int, over *error) sums {
	n := s.cohorts[name]
	if n == nil {
		n = &node{}
	}
	var parts []sums
	for _, q := range slices.Sorted(maps.Keys(s.queues)) {
		if s.queues[q].parent == name {
			parts = append(parts, s.queueSums(q, what, over))
		}
	}
	for _, c := range slices.Sorted(maps.Keys(s.cohorts)) {
		if s.cohorts[c].parent == name && depth < maxDepth {
			parts = append(parts, s.cohortSums(c, what, depth+1, over))
		}
	}
	return s.sum(n, "Cohort "+name, what, parts, over)
}

// checkUsage judges the tree of a Workload that was given quota. Only then: lowering
// quota below the usage evicts nothing.
func (s *quotaState) checkUsage(w *workload) error {
	q := s.queues[w.queue]
	if q == nil {
		return fmt.Errorf("there is no ClusterQueue %s", w.queue)
	}
	root := q.parent
	for depth := 0; s.cohorts[root] != nil && s.cohorts[root].parent != "" && depth < maxDepth; depth++ {
		root = s.cohorts[root].parent
	}
	for _, what := range slices.Sorted(maps.Keys(w.usage)) {
		var over error
		if _, there := q.nominal[what]; !there {
			return fmt.Errorf("ClusterQueue %s has no quota for %s", w.queue, what)
		}
		if root == "" {
			s.queueSums(w.queue, what, &over)
		} else {
			s.cohortSums(root, what, 0, &over)
		}
		if over != nil {
			return over
		}
	}
	return nil
}

// check: no Job of a queue runs without an admitted Workload.
func (s *quotaState) check() error {
	if s.broken != nil {
		return s.broken
	}
	for _, key := range slices.Sorted(maps.Keys(s.jobs)) {
		j := s.jobs[key]
		if !j.managed || j.suspended || j.over {
			continue
		}
		admitted := false
		for _, w := range s.workloads {
			admitted = admitted || w.owner == j.uid && w.admitted && w.admission != ""
		}
		if !admitted {
			return fmt.Errorf("Job %s runs without an admitted Workload", key)
		}
	}
	return nil
}

// Moments lists what has happened so far to a Job ("namespace/name") and its Workload, in order.
func (o *Oracle) Moments(job string) []Happening {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.quota.happenings[job])
}
