#include "sim/world/sim_model_dump.h"

#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/values/pod_class.h"
#include "scheduler/workloads/model/quota_model.h"
#include "sim/world/sim_world.h"

static void trace_tasks(struct sim_world *w, const struct cluster *c)
{
	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		if (t == NULL) {
			continue;
		}
		sim_world_trace(
			w,
			"  task %s: %lldm, status %u, charge %s on %s, cond %u, flags %x, node %s, "
			"job "
			"%.20s queue %s phase %u min %lldm, retry in %lld ms",
			t->name, (long long)t->klass->request.v[RES_CPU], t->status,
			ledger_state_name((enum charge_state)t->charge),
			t->charge_queue == MODEL_NONE ? "-" : c->queues.v[t->charge_queue]->name,
			t->cond, t->flags, t->node == MODEL_NONE ? "-" : c->nodes.v[t->node]->name,
			t->podgroup == MODEL_NONE ? "-" : c->podgroups.v[t->podgroup]->name,
			t->podgroup == MODEL_NONE ||
					c->podgroups.v[t->podgroup]->queue == MODEL_NONE
				? "-"
				: c->queues.v[c->podgroups.v[t->podgroup]->queue]->name,
			t->podgroup == MODEL_NONE ? 0 : c->podgroups.v[t->podgroup]->phase,
			t->podgroup == MODEL_NONE
				? 0
				: (long long)c->podgroups.v[t->podgroup]->min_resources.v[RES_CPU],
			t->retry_at == MODEL_TIME_NONE
				? 0LL
				: (long long)((t->retry_at - clock_wall(&w->clock.base)) /
					      CLOCK_NS_PER_MS));
	}
}

void sim_model_dump_pods(struct sim_world *w, const struct cluster *c)
{
	trace_tasks(w, c);
	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		if (q != NULL) {
			sim_world_trace(w, "  queue %s: %lldm CPU charged, capability %lldm",
					q->name, (long long)q->charged.v[RES_CPU],
					(long long)q->capability.v[RES_CPU]);
		}
	}
	for (size_t i = 0; i < c->nodes.n; i++) {
		const struct node *n = c->nodes.v[i];

		if (n != NULL) {
			sim_world_trace(w, "  node %s: %lld of %lldm CPU in use", n->name,
					(long long)n->used.v[RES_CPU],
					(long long)n->allocatable.v[RES_CPU]);
		}
	}
}

void sim_model_dump_quota(struct sim_world *w, const struct quota_model *q)
{
	static const char *const places[] = { "nowhere", "heap", "inadmissible", "in flight" };

	for (size_t i = 0; i < q->workloads.n; i++) {
		const struct workload *one = q->workloads.v[i];

		if (one != NULL) {
			sim_world_trace(
				w,
				"  workload %s: %s of %s, holds %s, priority %d, requeue %d%s "
				"%s",
				one->key, places[one->pending.where],
				one->pending.queue == MODEL_NONE
					? "-"
					: q->nodes.v[one->pending.queue]->name,
				one->holding.node == MODEL_NONE
					? "-"
					: q->nodes.v[one->holding.node]->name,
				one->object.priority, one->pending.last_requeue,
				one->flags.requeued_false ? " not requeued" : "",
				one->flags.requeue_at == MODEL_TIME_NONE ? "" : "backing off");
		}
	}
}
