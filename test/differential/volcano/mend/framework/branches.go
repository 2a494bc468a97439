package framework

import (
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"
)

// branches are the queues right below the last one that both have in common: as shares are compared
// there, so is the age where these are equal. In Volcano the two themselves are, which is no order
// among three queues.
func (ssn *Session) branches(a, b *api.QueueInfo) (*api.QueueInfo, *api.QueueInfo) {
	x, y := ssn.pathTo(a), ssn.pathTo(b)
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i], y[i]
		}
	}
	return a, b
}

// pathTo lists the queues above this one, from below the root on, and itself.
func (ssn *Session) pathTo(q *api.QueueInfo) []*api.QueueInfo {
	var path []*api.QueueInfo
	for at := q; at != nil && at.Name != "root" && len(path) < len(ssn.Queues); at = ssn.Queues[api.QueueID(at.Queue.Spec.Parent)] {
		path = append(path, at)
	}
	slices.Reverse(path)
	return path
}
