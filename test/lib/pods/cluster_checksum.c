#include "lib/pods/cluster_checksum.h"

#include "base/mix.h"
#include "collections/intern.h"
#include "scheduler/pods/model/selectors.h"

static uint64_t mix_text(uint64_t h, const char *text)
{
	return mix(h, text == NULL ? 1 : str_hash(str_of(text)));
}

static uint64_t mix_res(uint64_t h, const struct res *r)
{
	for (unsigned i = 0; i < res_width(r); i++) {
		h = mix(h, (uint64_t)res_get(r, i));
	}
	return h;
}

static uint64_t mix_ids(uint64_t h, const uint32_t *v, size_t n)
{
	h = mix(h, n);
	for (size_t i = 0; i < n; i++) {
		h = mix(h, v[i]);
	}
	return h;
}

static uint64_t mix_task(uint64_t h, const struct task *t)
{
	h = mix(h, (uint64_t)t->podgroup << 32 | t->podgroup_pos);
	h = mix(h, (uint64_t)t->node << 32 | t->node_pos);
	h = mix(h, (uint64_t)t->nominated << 32 | t->role);
	h = mix(h, t->klass == NULL ? UINT64_MAX : t->klass->id);
	h = mix_text(h, t->namespace_);
	h = mix_text(h, t->name);
	h = mix_text(h, t->uid);
	h = mix(h, (uint64_t)(uint32_t)t->priority << 32 | t->flags);
	h = mix(h, (uint64_t)t->gate_row << 24 | (uint64_t)t->status << 16 |
			   (uint64_t)t->cond << 8 | t->charge);
	h = mix(h, (uint64_t)t->charge_queue << 32 | t->write_failures);
	h = mix(h, (uint64_t)(uint32_t)t->granted_priority << 32 | t->attempts);
	h = mix(h, (uint32_t)t->deletion_cost);
	h = mix(h, (uint64_t)t->refused_queue << 32 | t->reserved);
	h = mix(h, (uint64_t)t->created);
	h = mix(h, (uint64_t)t->published_at);
	h = mix(h, (uint64_t)t->retry_at);
	h = mix(h, (uint64_t)t->resource_version);
	h = mix(h, (uint64_t)t->awaits << 32 | t->victims);
	h = mix(h, (uint64_t)t->in_vain << 32 | t->budget);
	h = mix(h, (uint64_t)t->preempt_at);
	h = mix(h, (uint64_t)t->ends_by);
	h = mix(h, (uint64_t)t->cools_until);
	h = mix(h, (uint64_t)t->bind_by);
	for (size_t i = 0; t->labels != NULL && i < t->labels->n; i++) {
		h = mix_text(h, t->labels->v[i].key);
		h = mix_text(h, t->labels->v[i].value);
	}
	h = mix(h, t->labels == NULL ? UINT64_MAX : idset_count(&t->labels->selectors));
	return mix(h, t->cond_message);
}

static uint64_t mix_podgroup(uint64_t h, const struct podgroup *g)
{
	h = mix_text(h, g->namespace_);
	h = mix_text(h, g->name);
	h = mix_text(h, g->uid);
	h = mix(h, (uint64_t)g->queue << 32 | g->queue_pos);
	h = mix(h, (uint64_t)g->queue_name << 32 | g->priority_class);
	h = mix(h, (uint64_t)g->changed << 32 | g->barred_by);
	h = mix(h, g->unsupported);
	h = mix(h, (uint64_t)g->exists << 16 | (uint64_t)g->has_min_resources << 8 | g->phase);
	h = mix(h, (uint64_t)(uint32_t)g->min_member << 32 | (uint32_t)g->priority);
	h = mix_res(h, &g->min_resources);
	for (size_t i = 0; i < g->min_unoffered.n; i++) {
		h = mix_text(h, g->min_unoffered.v[i].name);
		h = mix(h, (uint64_t)g->min_unoffered.v[i].amount);
	}
	for (size_t i = 0; i < g->role_min.n; i++) {
		h = mix(h, (uint64_t)g->role_min.v[i].role << 32 | (uint32_t)g->role_min.v[i].min);
	}
	for (size_t i = 0; i < g->rivals.n; i++) {
		h = mix(mix(h, g->rivals.v[i].name), g->rivals.v[i].queues_gen);
		h = mix(h, g->rivals.v[i].podgroup);
	}
	h = mix_ids(h, g->tasks.v, g->tasks.n);
	h = mix_ids(h, g->by_status, TASK_STATUS_COUNT_);
	h = mix(h, (uint64_t)g->created);
	h = mix(h, (uint64_t)g->resource_version);
	h = mix(h, (uint64_t)(uint32_t)g->status_running << 32 | (uint32_t)g->status_succeeded);
	h = mix(h, (uint32_t)g->status_failed);
	return mix(h, g->status_hash);
}

static uint64_t mix_queue(uint64_t h, const struct queue *q)
{
	h = mix_text(h, q->name);
	h = mix_text(h, q->uid);
	h = mix_text(h, q->parent_name);
	h = mix_text(h, q->hierarchy);
	h = mix_text(h, q->hierarchy_weights);
	h = mix_text(h, q->broken);
	h = mix(h, (uint64_t)q->parent << 32 | q->depth);
	h = mix_ids(h, q->children.v, q->children.n);
	h = mix_ids(h, q->podgroups.v, q->podgroups.n);
	h = mix_ids(h, q->waiting.v, q->waiting.n);
	h = mix(h, (uint64_t)q->exists << 16 | (uint64_t)q->reclaimable << 8 | q->state);
	h = mix(h, (uint64_t)(uint32_t)q->weight << 32 | (uint32_t)q->priority);
	h = mix(h, (uint64_t)q->created);
	h = mix_res(h, &q->capability);
	h = mix_res(h, &q->guarantee);
	h = mix_res(h, &q->deserved);
	h = mix_res(h, &q->charged);
	h = mix_res(h, &q->releasing);
	h = mix(h, q->podgroups_gen);
	h = mix(h, q->room_gen);
	h = mix(h, q->scan.podgroups_gen);
	h = mix(h, q->scan.chain_gen);
	h = mix(h, q->scan.queues_gen);
	h = mix(h, q->scan.nodes_gen);
	h = mix(h, q->scan.demand_gen);
	h = mix(h, (uint64_t)q->scan.holds << 24 | (uint64_t)q->scan.done << 16 |
			   (uint64_t)q->scan.waits_podgroups << 8 | q->scan.waits_nodes);
	h = mix(h, (uint64_t)q->scan.timer_at);
	return mix(h, (uint64_t)q->resource_version);
}

static uint64_t mix_node(uint64_t h, const struct node *n)
{
	h = mix_text(h, n->name);
	h = mix(h, (uint64_t)n->exists << 8 | n->unschedulable);
	for (size_t i = 0; i < n->labels.n; i++) {
		h = mix_text(h, n->labels.v[i].key);
		h = mix_text(h, n->labels.v[i].value);
	}
	for (size_t i = 0; i < n->taints.n; i++) {
		h = mix_text(h, n->taints.v[i].key);
		h = mix_text(h, n->taints.v[i].value);
		h = mix(h, n->taints.v[i].effect);
	}
	h = mix_res(h, &n->allocatable);
	h = mix_res(h, &n->used);
	h = mix_res(h, &n->releasing);
	h = mix_ids(h, n->tasks.v, n->tasks.n);
	h = mix_ids(h, n->images.v, n->images.n);
	return mix(h, n->spec_gen);
}

static uint64_t mix_budget(uint64_t h, const struct budget *b)
{
	h = mix_text(h, b->key);
	return mix(h, (uint64_t)b->allowed << 32 | b->granted);
}

uint64_t cluster_checksum(const struct cluster *c)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < c->budgets.n; i++) {
		h = c->budgets.v[i] == NULL ? mix(h, 0) : mix_budget(mix(h, 1), c->budgets.v[i]);
	}

	for (size_t i = 0; i < c->tasks.n; i++) {
		h = c->tasks.v[i] == NULL ? mix(h, 0) : mix_task(mix(h, 1), c->tasks.v[i]);
	}
	for (size_t i = 0; i < c->podgroups.n; i++) {
		h = c->podgroups.v[i] == NULL ? mix(h, 0)
					      : mix_podgroup(mix(h, 1), c->podgroups.v[i]);
	}
	for (size_t i = 0; i < c->queues.n; i++) {
		h = c->queues.v[i] == NULL ? mix(h, 0) : mix_queue(mix(h, 1), c->queues.v[i]);
	}
	for (size_t i = 0; i < c->nodes.n; i++) {
		h = c->nodes.v[i] == NULL ? mix(h, 0) : mix_node(mix(h, 1), c->nodes.v[i]);
	}
	for (size_t i = 0; i < c->class_by_id.n; i++) {
		const struct pod_class *k = c->class_by_id.v[i];

		h = k == NULL ? mix(h, 0) : mix_text(mix(h, k->refs), k->signature);
	}
	for (size_t i = 0; i < c->images.n; i++) {
		const struct image *m = c->images.v[i];

		h = m == NULL ? mix(h, 0)
			      : mix(mix_text(mix(h, (uint64_t)m->nodes << 32 | m->uses), m->name),
				    (uint64_t)m->bytes);
	}
	for (unsigned i = 0; i < res_names_count(c->res); i++) {
		h = mix_text(h, res_names_get(c->res, i));
	}
	h = mix(h, intern_count(c->names));
	h = mix(h, (uint64_t)c->root_queue << 32 | c->default_queue);
	h = mix_res(h, &c->total);
	h = mix_res(h, &c->used);
	h = mix(h, c->queues_gen);
	h = mix(h, c->demand_gen);
	return mix(mix(h, c->nodes_gen), c->drift);
}
