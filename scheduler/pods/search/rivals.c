#include "scheduler/pods/search/rivals.h"

#include "scheduler/pods/model/cluster.h"

/* Pods of it were evicted in this session. */
static bool lost_pods(const struct session *s, const struct podgroup *g)
{
	return session_podgroup_count(s, g, TASK_RELEASING) > g->by_status[TASK_RELEASING];
}

bool rivals_may_exist(const struct session *s, const struct podgroup *g)
{
	return g->rivals.n > 0 || lost_pods(s, g);
}

/* The cycle's evictions are recorded when it ends. */
static void list_evictors(const struct session *s, const struct podgroup *g,
			  struct predecessors *out)
{
	const struct decisions *d = session_decisions_so_far(s);
	const struct cluster *c = session_cluster(s);

	for (size_t i = 0; i < d->n; i++) {
		if (d->v[i].kind == DECISION_EVICT && d->v[i].by != MODEL_NONE &&
		    c->tasks.v[d->v[i].task]->podgroup == g->id &&
		    c->tasks.v[d->v[i].by]->podgroup != g->id) {
			vec_push(out, c->tasks.v[d->v[i].by]->podgroup);
		}
	}
}

static void list_direct(const void *ctx, uint32_t id, struct predecessors *out)
{
	const struct session *s = ctx;
	const struct cluster *c = session_cluster(s);
	const struct podgroup *g = c->podgroups.v[id];

	for (size_t i = 0; i < g->rivals.n; i++) {
		const struct podgroup *rival = cluster_podgroup_rival(c, &g->rivals.v[i]);

		if (rival != NULL) {
			vec_push(out, rival->id);
		}
	}
	if (lost_pods(s, g)) {
		list_evictors(s, g, out);
	}
}

void rivals_collect(const struct session *s, const struct podgroup *g, struct predecessors *out)
{
	predecessors_collect(list_direct, s, g->id, session_cluster(s)->podgroups.n, out);
}
