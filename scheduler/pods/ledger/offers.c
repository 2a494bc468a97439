#include "scheduler/pods/ledger/offers.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/cluster.h"

/* The class with the amounts that have a dimension by now, with one reference; NULL: as before. */
static const struct pod_class *resolved(struct cluster *c, const struct pod_class *old)
{
	const struct pod_class *found = NULL;
	struct pod_class *k;

	if (old == NULL || old->unoffered.n == 0) {
		return NULL;
	}
	k = pod_class_copy(old, "");
	if (unoffered_resolve(&k->unoffered, c->res, &k->request) > 0) {
		pod_class_normalise(k);
		found = cluster_class_intern(c, k);
	}
	pod_class_destroy(k);
	return found;
}

/* 1. Of each class, the one that takes its place: once for all of its pods.
 * 2. The tasks change their class; the account of a node follows with that, those of queues by the
 *    difference in the charge. */
static void resolve_tasks(struct cluster *c)
{
	size_t n = c->class_by_id.n;
	const struct pod_class **now = xmalloc_zero(n + 1, sizeof(*now)); /* by id of the old one */

	for (size_t i = 0; i < n; i++) {
		now[i] = resolved(c, c->class_by_id.v[i]);
	}
	for (size_t i = 0; i < c->tasks.n; i++) {
		struct task *t = c->tasks.v[i];
		struct res old;

		if (t == NULL || t->klass == NULL || t->klass->unoffered.n == 0 ||
		    t->klass->id >= n || now[t->klass->id] == NULL) {
			continue;
		}
		old = *pod_class_charge(t->klass);
		cluster_task_set_class(c, t, cluster_class_ref(c, now[t->klass->id]));
		ledger_recharge(c, t, &old);
	}
	/* The tasks have references of their own by now. */
	for (size_t i = 0; i < n; i++) {
		cluster_class_unref(c, now[i]);
	}
	free(now);
}

void offers_resolve(struct cluster *c)
{
	if (c->res_resolved == res_names_count(c->res)) {
		return;
	}
	/* Names are never removed, so their number shows whether there are new ones. */
	c->res_resolved = res_names_count(c->res);
	resolve_tasks(c);
	for (size_t i = 0; i < c->podgroups.n; i++) {
		struct podgroup *g = c->podgroups.v[i];

		if (g != NULL &&
		    unoffered_resolve(&g->min_unoffered, c->res, &g->min_resources) > 0) {
			cluster_podgroup_changed(c, g);
		}
	}
}
