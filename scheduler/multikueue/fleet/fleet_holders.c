#include "scheduler/multikueue/fleet/fleet_holders.h"

#include "base/str.h"
#include "scheduler/multikueue/records/fleet_clusters.h"
#include "scheduler/multikueue/records/fleet_workload.h"

bool fleet_holders_set(struct fleet_holders *h, struct fleet_workload *w, const char *cluster)
{
	const char *before = w->holding;

	w->holding = cluster;
	if (before == NULL && cluster != NULL) {
		vec_push(h, w);
	}
	for (size_t i = 0; before != NULL && cluster == NULL && i < h->n; i++) {
		if (h->v[i] == w) {
			vec_swap_remove(h, i);
		}
	}
	return before != NULL && before != cluster;
}

unsigned fleet_holders_count(const struct fleet_holders *h, const struct fleet_workload *w,
			     const struct fleet_cluster *k, const struct fleet_replica *r)
{
	const char *queue = fleet_clusters_queue_of(k, r->queue);
	unsigned n = 0;

	for (size_t i = 0; i < h->n && queue != NULL; i++) {
		const struct fleet_workload *other = h->v[i];
		const struct fleet_replica *there;

		if (other == w || other->holding != k->name) {
			continue;
		}
		there = fleet_workload_find(other, k->name);
		n += there != NULL && str_streq(fleet_clusters_queue_of(k, there->queue), queue);
	}
	return n;
}
