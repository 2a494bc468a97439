#include "scheduler/multikueue/fleet/fleet_view.h"

#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/clock.h"
#include "base/str.h"
#include "scheduler/multikueue/fleet/fleet_holders.h"
#include "scheduler/multikueue/records/fleet_clusters.h"
#include "scheduler/multikueue/records/fleet_offers.h"
#include "scheduler/multikueue/records/fleet_workload.h"
#include "scheduler/multikueue/worker/link.h"

/* A manager offers to a new connection within that time, or has a reason not to. */
#define OFFER_NS CLOCK_NS_PER_S

struct making {
	struct fleet_view *v;
	struct fleet_workload *w;
	const struct fleet_view_source *source;
	int64_t now;
};

static bool has(const struct fleet_view *v, const char *cluster)
{
	for (size_t i = 0; i < v->of.n; i++) {
		if (strcmp(v->of.v[i]->cluster, cluster) == 0) {
			return true;
		}
	}
	return false;
}

/* A cluster that does not exist is not looked at: its replica is gone for the manager, or was never
 * made. */
static void add(const struct making *m, const char *name)
{
	struct fleet_cluster *k = fleet_clusters_find(m->source->clusters, str_of(name));
	struct fleet_replica *r;

	if (k == NULL || has(m->v, name)) {
		return;
	}
	r = fleet_workload_find(m->w, k->name);
	if (r == NULL) {
		r = fleet_workload_replica(m->w, k->name);
		if (k->source != 0) {
			fleet_workload_observe(m->w, r, NULL, k->source, m->now);
		}
		if (k->is_stalled) {
			observe_unreachable(&r->seen);
		}
	}
	/* Kueue preempts for one head of a ClusterQueue at a time. With more gates open than that,
	 * the others would find that their victims are gone, and lose their time. */
	r->seen.replica.busy =
		fleet_holders_count(m->source->holders, m->w, k, r) >= m->source->max_open;
	m->v->is_busy |= r->seen.replica.busy;
	vec_push(&m->v->of, r);
	vec_push(&m->v->replicas, r->seen.replica);
}

static bool names(const struct field_strs *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++) {
		if (strcmp(list->v[i], name) == 0) {
			return true;
		}
	}
	return false;
}

/* It waits for a cluster to run on: it has the manager's quota, and nothing takes that back. */
static bool is_wanted(const struct api_workload *w, const struct api_check_state *check)
{
	return check != NULL && str_streq(check->state, KUEUE_CHECK_PENDING) &&
	       w->meta.deleted == FIELD_NO_TIME && kueue_workload_is_active(w) &&
	       kueue_workload_is_true(w, KUEUE_QUOTA_RESERVED) &&
	       !kueue_workload_is_true(w, KUEUE_EVICTED) &&
	       !kueue_workload_is_true(w, KUEUE_FINISHED);
}

/* A cluster of the config to which it is not offered yet is about to be, when it makes its first
 * connection or has just made one: managers offer to those that are connected. One that has failed
 * to connect is not waited for. */
static int64_t offers_until(const struct making *m, const struct field_strs *offered,
			    const struct field_strs *order)
{
	int64_t until = m->now;

	for (size_t i = 0; order != NULL && i < order->n; i++) {
		const struct fleet_cluster *k =
			fleet_clusters_find(m->source->clusters, str_of(order->v[i]));

		if (k == NULL || names(offered, order->v[i])) {
			continue;
		}
		if (k->source != 0) {
			until = clock_later(until, k->up_at + OFFER_NS);
		} else if (!link_is_settled(k->link)) {
			until = clock_later(until, m->source->connecting_until);
		}
	}
	return until;
}

/* 1. The clusters to which it was offered (status.nominatedClusterNames), in the order of the
 *    MultiKueueConfig.
 * 2. Those that were offered and are not in the config any more.
 * 3. Those with a replica that is about to be removed, and the one that has the token. */
void fleet_view_make(struct fleet_view *v, struct fleet_workload *w,
		     const struct fleet_view_source *source, int64_t now)
{
	const struct api_workload *local = fleet_workload_local(w);
	const struct field_strs *offered = &local->status.nominated_clusters, *order;
	const struct api_check_state *check = fleet_offers_check(source->offers, local);
	const struct making m = { v, w, source, now };

	vec_clear(&v->of);
	vec_clear(&v->replicas);
	v->is_busy = false;
	order = check == NULL ? NULL : fleet_offers_clusters(source->offers, check->name);
	for (size_t i = 0; order != NULL && i < order->n; i++) {
		if (names(offered, order->v[i])) {
			add(&m, order->v[i]);
		}
	}
	for (size_t i = 0; i < offered->n; i++) {
		add(&m, offered->v[i]);
	}
	for (size_t i = 0, n = w->replicas.n; i < n; i++) {
		if (w->replicas.v[i]->seen.replica.uid != NULL) {
			add(&m, w->replicas.v[i]->cluster);
		}
	}
	if (w->token.phase != TOKEN_FREE) {
		add(&m, w->token.holder);
	}
	v->view = (struct orchestrate_view){ .token = &w->token,
					     .replicas = v->replicas.v,
					     .n = v->replicas.n,
					     .connecting_until = source->connecting_until,
					     .offers_until = offers_until(&m, offered, order),
					     .wanted = is_wanted(local, check),
					     .now = now };
}

void fleet_view_finish(struct fleet_view *v)
{
	vec_finish(&v->of);
	vec_finish(&v->replicas);
}
