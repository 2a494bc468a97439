#include "scheduler/pods/ledger/totals.h"

#include <string.h>

#include "scheduler/base/tree.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/values/pod_class.h"

/* Without terminating pods: Volcano's status.allocated leaves them out. */
static bool holds_node(const struct task *t)
{
	return t->status == TASK_BINDING || t->status == TASK_BOUND || t->status == TASK_RUNNING;
}

static void count_task(const struct task *t, struct queue_totals *q)
{
	const struct res *request = pod_class_charge(t->klass);

	if (holds_node(t) && t->charge == CHARGE_NONE) {
		return; /* on a node that does not exist, or cannot hold it */
	}
	if (holds_node(t)) {
		res_add(&q->allocated, request);
		res_add(&q->request, request);
		return;
	}
	if (t->charge != CHARGE_NONE) {
		res_add(&q->held, request);
	}
	q->stuck += (t->flags & TASK_STUCK) != 0;
	/* A terminating pod holds quota, and asks for none. */
	if (t->status != TASK_PENDING) {
		return;
	}
	res_add(&q->request, request);
	if (ledger_is_unbound(t->charge)) {
		res_add(&q->reserved, request);
	}
	/* The condition of a gated pod is the API server's: autoscalers do not see it. */
	if ((t->flags & TASK_OUR_GATE) != 0) {
		if (t->charge == CHARGE_PATCHING) {
			q->patching++;
		} else {
			q->gated++;
		}
		return;
	}
	if ((t->flags & TASK_OPTED_IN) == 0) {
		return;
	}
	q->ungated += t->charge != CHARGE_NONE;
	q->overdue += (t->flags & TASK_OVERDUE) != 0;
	if (t->cond == POD_COND_UNSCHEDULABLE) {
		res_add(&q->published, request);
		q->published_pods++;
	} else if (t->cond == POD_COND_NOT_READY) {
		q->withdrawn++;
	}
}

static void add_up(struct queue_totals *to, const struct queue_totals *from)
{
	res_add(&to->allocated, &from->allocated);
	res_add(&to->reserved, &from->reserved);
	res_add(&to->held, &from->held);
	res_add(&to->request, &from->request);
	res_add(&to->published, &from->published);
	to->gated += from->gated;
	to->patching += from->patching;
	to->ungated += from->ungated;
	to->published_pods += from->published_pods;
	to->withdrawn += from->withdrawn;
	to->overdue += from->overdue;
	to->stuck += from->stuck;
	for (unsigned i = 0; i < PODGROUP_PHASE_COUNT_; i++) {
		to->podgroups[i] += from->podgroups[i];
	}
}

/* Children first: every queue is added to its parent after all below it have been added to it. */
static void roll_up(const struct cluster *c, struct queue_totals *out)
{
	struct tree *t = queue_topology_tree(c);
	const uint32_t *order;
	size_t n;

	order = tree_order(t, &n);
	for (size_t i = n; i-- > 0;) {
		uint32_t parent = tree_parent(t, order[i]);

		if (parent != TREE_NONE) {
			add_up(&out[parent], &out[order[i]]);
		}
	}
	tree_destroy(t);
}

void totals_compute(const struct cluster *c, struct queue_totals *out)
{
	memset(out, 0, c->queues.n * sizeof(*out));
	for (size_t i = 0; i < c->podgroups.n; i++) {
		const struct podgroup *g = c->podgroups.v[i];

		if (g == NULL || g->queue == MODEL_NONE) {
			continue;
		}
		out[g->queue].podgroups[g->phase] += g->exists && g->kind == PODGROUP_VOLCANO;
		for (size_t k = 0; k < g->tasks.n; k++) {
			const struct task *t = c->tasks.v[g->tasks.v[k]];

			/* A charge counts where it is booked, which may be another queue than the
			 * PodGroup names now. */
			if ((t->flags & TASK_OURS) != 0 && t->klass != NULL) {
				count_task(t, &out[t->charge != CHARGE_NONE ? t->charge_queue
									    : g->queue]);
			}
		}
	}
	roll_up(c, out);
}
