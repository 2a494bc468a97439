package util

import (
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"
)

// PopFirst takes the queue that is first by the shares of the moment, among the first ones of each
// branch of the tree of queues. In Volcano a queue keeps its place in the heap while others get
// pods, though the shares above it grow with those.
func PopFirst(q *PriorityQueue, queues map[api.QueueID]*api.QueueInfo) *api.QueueInfo {
	first := firstBelow(q, queues, q.queue.items, 0)
	i := slices.IndexFunc(q.queue.items, func(item interface{}) bool { return item == first })
	q.queue.items = slices.Delete(q.queue.items, i, i+1)
	return first.(*api.QueueInfo)
}

// pathTo lists the queues above this one, from below the root on, and itself.
func pathTo(item interface{}, queues map[api.QueueID]*api.QueueInfo) []api.QueueID {
	var path []api.QueueID
	for at := item.(*api.QueueInfo); at != nil && len(path) < len(queues); at = queues[api.QueueID(at.Queue.Spec.Parent)] {
		path = append(path, at.UID)
	}
	slices.Reverse(path)
	if len(path) > 1 && path[0] == "root" {
		return path[1:]
	}
	return path
}

// firstBelow finds the first of the items, which have the queues above the depth in common.
func firstBelow(q *PriorityQueue, queues map[api.QueueID]*api.QueueInfo, items []interface{}, depth int) interface{} {
	if !slices.ContainsFunc(items, func(item interface{}) bool { return item != items[0] }) {
		return items[0] // reclaim has a queue there several times
	}
	var ids []api.QueueID
	branches := map[api.QueueID][]interface{}{}
	for _, item := range items {
		path := pathTo(item, queues)
		id := path[min(depth, len(path)-1)]
		if branches[id] == nil {
			ids = append(ids, id)
		}
		branches[id] = append(branches[id], item)
	}
	var first interface{}
	for _, id := range ids {
		f := firstBelow(q, queues, branches[id], depth+1)
		if first == nil || q.queue.lessFn(f, first) {
			first = f
		}
	}
	return first
}
