#include "scheduler/multikueue/fleet/fleet_gates.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/str.h"
#include "scheduler/multikueue/fleet/fleet_report.h"
#include "scheduler/multikueue/fleet/fleet_writes.h"
#include "scheduler/multikueue/records/fleet_clusters.h"
#include "scheduler/multikueue/records/fleet_managed.h"
#include "scheduler/multikueue/records/fleet_workload.h"

int64_t fleet_gates_write(const struct fleet_gates *g, struct fleet_workload *w,
			  struct fleet_replica *r, bool open, int64_t now)
{
	struct fleet_cluster *k = fleet_clusters_find(g->clusters, str_of(r->cluster));

	if (fleet_writes_is_paused(r->pause_until, now)) {
		return r->pause_until;
	}
	if (k != NULL && k->source != 0) {
		fleet_writes_gate(k->link, w, r, open, now);
		fleet_report_gate_sent(g->report, w, r, open);
	}
	return CLOCK_NEVER;
}

/* Kueue's manager and a manager with the same origin have replicas of their own. */
static bool is_ours(const struct fleet_gates *g, const struct fleet_workload *w,
		    const struct fleet_replica *r)
{
	const struct fleet_cluster *k = fleet_clusters_find(g->clusters, str_of(r->cluster));
	const struct fleet_there *t =
		k == NULL || w->managed == NULL ? NULL : fleet_managed_find(w->managed, k);

	return t != NULL && t->replica.object != NULL && !t->replica.foreign;
}

int64_t fleet_gates_open_all(const struct fleet_gates *g, struct fleet_workload *w, int64_t now)
{
	int64_t at = CLOCK_NEVER;

	if (w->local == NULL || fleet_workload_is_waiting(w, now)) {
		return CLOCK_NEVER;
	}
	for (size_t i = 0; i < w->replicas.n; i++) {
		struct fleet_replica *r = w->replicas.v[i];
		const struct replica *seen = &r->seen.replica;

		fleet_workload_open_all(w, r, now);
		if (seen->reachable && seen->uid != NULL && seen->has_gate && !seen->is_open &&
		    !seen->admitted && is_ours(g, w, r)) {
			at = clock_earlier(at, fleet_gates_write(g, w, r, true, now));
		}
	}
	return at;
}
