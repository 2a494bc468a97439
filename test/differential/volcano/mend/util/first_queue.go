package util

import "slices"

// PopFirst takes the queue that is first by the shares of the moment. In Volcano a queue keeps its
// place in the heap while others get pods, though the shares above it grow with those.
func PopFirst(q *PriorityQueue) interface{} {
	items := q.queue.items
	first := 0
	for i := range items {
		if q.queue.lessFn(items[i], items[first]) {
			first = i
		}
	}
	out := items[first]
	q.queue.items = slices.Delete(items, first, first+1)
	return out
}
