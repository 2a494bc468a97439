#include "scheduler/ctl/sim/workload_report.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/json/json_out.h"
#include "scheduler/ctl/sim/quota_lists.h"
#include "scheduler/ctl/sim/workload_waiting.h"
#include "scheduler/workloads/forest/share.h"
#include "scheduler/workloads/model/quota_store.h"

static void write_amount(struct json_out *o, const char *resource, int64_t amount)
{
	char text[WORKLOAD_STEP_AMOUNT_MAX];

	json_out_str(o, workload_step_amount(resource, amount, text));
}

static void write_assignments(const struct workload_step *s, const struct workload *w,
			      struct json_out *o)
{
	json_out_key(o, "podSetAssignments");
	json_out_array(o);
	for (size_t i = 0; i < s->npodsets; i++) {
		const struct workload_step_podset *p = &s->podsets[i];

		json_out_object(o);
		json_out_kv(o, "name", p->name);
		json_out_key(o, "flavors");
		json_out_object(o);
		for (size_t k = 0; k < p->n; k++) {
			json_out_kv(o, p->v[k].resource, p->v[k].flavor);
		}
		json_out_object_end(o);
		json_out_key(o, "resourceUsage");
		json_out_object(o);
		for (size_t k = 0; k < p->n; k++) {
			json_out_key(o, p->v[k].resource);
			write_amount(o, p->v[k].resource, p->v[k].amount);
		}
		json_out_object_end(o);
		json_out_kv_int(o, "count", p->count);
		if (quota_lists_pod_count(w, p->name) > p->count) {
			json_out_kv_int(o, "countRequested", quota_lists_pod_count(w, p->name));
		}
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static void write_tried(const struct workload_step *s, struct json_out *o)
{
	json_out_key(o, "assignment");
	json_out_object(o);
	json_out_kv(o, "mode", s->mode);
	json_out_kv_int(o, "borrowing", s->borrowing);
	json_out_key(o, "podSets");
	json_out_array(o);
	for (size_t i = 0; i < s->npodsets; i++) {
		const struct workload_step_podset *p = &s->podsets[i];

		json_out_object(o);
		json_out_kv(o, "name", p->name);
		json_out_kv_int(o, "count", p->count);
		json_out_key(o, "flavors");
		json_out_object(o);
		for (size_t k = 0; k < p->n; k++) {
			json_out_key(o, p->v[k].resource);
			json_out_object(o);
			json_out_kv(o, "flavor", p->v[k].flavor);
			json_out_kv(o, "mode", p->v[k].mode);
			json_out_object_end(o);
		}
		json_out_object_end(o);
		json_out_object_end(o);
	}
	json_out_array_end(o);
	json_out_object_end(o);
}

static void write_step(const struct workload_simulation *sim, const struct workload_step *s,
		       struct json_out *o)
{
	const struct quota_model *q = forest_model(workload_simulation_forest(sim));
	const struct workload *w = quota_workload_find(q, str_of(s->workload));
	static const char *const kinds[] = { [QUOTA_DECIDE_ADMIT] = "Admit",
					     [QUOTA_DECIDE_PREEMPT] = "Preempt",
					     [QUOTA_DECIDE_PENDING] = "Pending" };

	json_out_object(o);
	json_out_kv(o, "kind", kinds[s->kind]);
	json_out_kv_int(o, "cycle", s->cycle);
	json_out_kv(o, "workload", s->workload);
	switch (s->kind) {
	case QUOTA_DECIDE_ADMIT:
		json_out_kv(o, "clusterQueue", s->queue);
		json_out_kv_int(o, "borrowing", s->borrowing);
		write_assignments(s, w, o);
		if (workload_simulation_waits_for_checks(sim, w)) {
			json_out_kv_bool(o, "waitsForChecks", true);
		}
		break;
	case QUOTA_DECIDE_PREEMPT:
		json_out_kv(o, "by", s->by);
		json_out_kv(o, "reason", s->reason);
		if (s->ongoing) {
			json_out_kv_bool(o, "ongoing", true);
		}
		break;
	case QUOTA_DECIDE_PENDING:
		json_out_kv(o, "clusterQueue", s->queue);
		json_out_kv(o, "requeue", s->in_heap ? "heap" : "inadmissible");
		json_out_kv(o, "requeueReason", s->requeue);
		json_out_kv(o, "reason", s->reason);
		json_out_kv(o, "message", s->message);
		if (s->has_assignment) {
			write_tried(s, o);
		}
		break;
	}
	json_out_object_end(o);
}

void workload_report_decisions(const struct workload_simulation *s, unsigned cycle,
			       struct json_out *o)
{
	size_t n;
	const struct workload_step *steps = workload_simulation_steps(s, &n);

	for (size_t i = 0; i < n; i++) {
		if (steps[i].cycle == cycle) {
			write_step(s, &steps[i], o);
		}
	}
}

void workload_report_events(const struct workload_simulation *s, unsigned cycle, struct json_out *o)
{
	size_t n;
	const struct workload_simulation_event *events = workload_simulation_events(s, &n);

	for (size_t i = 0; i < n; i++) {
		if (events[i].cycle != cycle) {
			continue;
		}
		json_out_object(o);
		json_out_kv(o, "type", events[i].warning ? "Warning" : "Normal");
		json_out_kv(o, "object", events[i].workload);
		json_out_kv(o, "reason", events[i].reason);
		json_out_kv(o, "message", events[i].message);
		json_out_object_end(o);
	}
}

static void write_waiting(const struct quota_model *q, const struct cluster_queue *queue, bool heap,
			  struct json_out *o)
{
	size_t n;
	const struct workload **v = quota_lists_waiting(q, queue, heap, &n);

	json_out_key(o, heap ? "heap" : "inadmissible");
	json_out_array(o);
	for (size_t i = 0; i < n; i++) {
		json_out_str(o, v[i]->key);
	}
	json_out_array_end(o);
	free(v);
}

static bool has_waiting(const struct quota_node *n)
{
	return n->is_queue && n->queue->stop == QUOTA_RUN &&
	       n->queue->heap.n + n->queue->inadmissible.n > 0;
}

void workload_report_queues(const struct workload_simulation *s, struct json_out *o)
{
	const struct quota_model *q = forest_model(workload_simulation_forest(s));
	size_t n;
	const struct quota_node **nodes = quota_lists_nodes(q, &n);

	json_out_object(o);
	for (size_t i = 0; i < n; i++) {
		if (has_waiting(nodes[i])) {
			json_out_key(o, nodes[i]->name);
			json_out_object(o);
			write_waiting(q, nodes[i]->queue, true, o);
			write_waiting(q, nodes[i]->queue, false, o);
			json_out_object_end(o);
		}
	}
	json_out_object_end(o);
	free(nodes);
}

static void write_waiting_row(void *ctx, const struct workload_waiting *w)
{
	struct json_out *o = ctx;

	json_out_object(o);
	json_out_kv(o, "workload", w->workload);
	if (w->queue[0] != '\0') {
		json_out_kv(o, "clusterQueue", w->queue);
	}
	if (w->position > 0) {
		json_out_kv_int(o, "position", (int64_t)w->position);
	}
	if (w->inadmissible) {
		json_out_kv_bool(o, "inadmissible", true);
	}
	json_out_kv(o, "reason", w->reason);
	json_out_kv(o, "message", w->message);
	json_out_object_end(o);
}

void workload_report_waiting(const struct workload_simulation *s, struct json_out *o)
{
	json_out_array(o);
	workload_waiting_each(s, write_waiting_row, o);
	json_out_array_end(o);
}

static void write_node_key(const struct quota_node *n, struct json_out *o)
{
	CLEANUP(xmalloc_freep)
	char *key = xmalloc_printf("%s/%s", n->is_queue ? "ClusterQueue" : "Cohort", n->name);

	json_out_key(o, key);
}

void workload_report_shares(const struct workload_simulation *s, struct json_out *o)
{
	const struct forest *f = workload_simulation_forest(s);
	const struct quota_model *q = forest_model(f);
	size_t n;
	const struct quota_node **nodes = quota_lists_nodes(q, &n);

	json_out_object(o);
	for (size_t i = 0; i < n; i++) {
		struct share share = { .resource = MODEL_NONE };

		/* Trees with a cycle are not placed, and have no shares. */
		if (forest_is_placed(f, nodes[i]->id)) {
			share = share_of(f, nodes[i]->id, NULL);
		}
		write_node_key(nodes[i], o);
		json_out_object(o);
		json_out_kv_int(o, "weightedShare", share_status(share));
		json_out_kv(o, "dominantResource",
			    share.resource == MODEL_NONE ? ""
							 : quota_resource_name(q, share.resource));
		json_out_kv_bool(o, "borrowing", share.borrowing);
		json_out_object_end(o);
	}
	json_out_object_end(o);
	free(nodes);
}

static void write_cell(const struct forest *f, uint32_t node, uint32_t pair, struct json_out *o)
{
	const struct quota_model *q = forest_model(f);
	const char *flavor = q->flavors.v[q->pairs.v[pair].flavor]->name;
	const char *resource = quota_resource_name(q, q->pairs.v[pair].resource);
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("%s/%s", flavor, resource);
	int64_t available = forest_available(f, node, pair);

	json_out_key(o, key);
	json_out_object(o);
	json_out_key(o, "available");
	/* Negative where quota was lowered below what is used: nothing is available then. */
	write_amount(o, resource, available > 0 ? available : 0);
	json_out_key(o, "potentiallyAvailable");
	write_amount(o, resource, forest_potential(f, node, pair));
	json_out_key(o, "used");
	write_amount(o, resource, forest_usage(f, node, pair));
	json_out_object_end(o);
}

void workload_report_capacity(const struct workload_simulation *s, struct json_out *o)
{
	const struct forest *f = workload_simulation_forest(s);
	size_t n;
	const struct quota_node **nodes = quota_lists_nodes(forest_model(f), &n);

	json_out_object(o);
	for (size_t i = 0; i < n; i++) {
		if (!nodes[i]->is_queue || !forest_is_placed(f, nodes[i]->id)) {
			continue;
		}
		write_node_key(nodes[i], o);
		json_out_object(o);
		for (size_t k = 0; k < nodes[i]->cells.n; k++) {
			write_cell(f, nodes[i]->id, nodes[i]->cells.v[k].pair, o);
		}
		json_out_object_end(o);
	}
	json_out_object_end(o);
	free(nodes);
}

static void write_admission(const struct quota_model *q, const struct workload_status *status,
			    const char *given, struct json_out *o)
{
	if (!status->has_admission) {
		return;
	}
	json_out_key(o, "admission");
	/* As the manifest has it, with members that the model does not keep. */
	if (given != NULL) {
		json_out_raw(o, str_of(given));
		return;
	}
	json_out_object(o);
	json_out_kv(o, "clusterQueue", status->queue);
	json_out_key(o, "podSetAssignments");
	json_out_array(o);
	for (size_t i = 0; i < status->podsets.n; i++) {
		const struct workload_status_podset *p = &status->podsets.v[i];

		json_out_object(o);
		json_out_kv(o, "name", p->name);
		json_out_key(o, "flavors");
		json_out_object(o);
		for (size_t k = 0; k < p->n; k++) {
			json_out_kv(o, quota_resource_name(q, p->v[k].resource), p->v[k].flavor);
		}
		json_out_object_end(o);
		json_out_key(o, "resourceUsage");
		json_out_object(o);
		for (size_t k = 0; k < p->n; k++) {
			const char *resource = quota_resource_name(q, p->v[k].resource);

			json_out_key(o, resource);
			write_amount(o, resource, p->v[k].amount);
		}
		json_out_object_end(o);
		json_out_kv_int(o, "count", p->count);
		json_out_object_end(o);
	}
	json_out_array_end(o);
	json_out_object_end(o);
}

void workload_report_workloads(const struct workload_simulation *s, struct json_out *o)
{
	const struct quota_model *q = forest_model(workload_simulation_forest(s));
	size_t n;
	const struct workload **v = quota_lists_workloads(q, &n);

	json_out_array(o);
	for (size_t i = 0; i < n; i++) {
		const struct workload_status *status = workload_simulation_status(s, v[i]);

		json_out_object(o);
		json_out_kv(o, "workload", v[i]->key);
		json_out_key(o, "conditions");
		json_out_array(o);
		for (size_t k = 0; k < status->conditions.n; k++) {
			json_out_object(o);
			json_out_kv(o, "type", status->conditions.v[k].type);
			json_out_kv(o, "status", status->conditions.v[k].status);
			json_out_kv(o, "reason", status->conditions.v[k].reason);
			json_out_kv(o, "message", status->conditions.v[k].message);
			json_out_object_end(o);
		}
		json_out_array_end(o);
		write_admission(q, status, workload_simulation_admission(s, v[i]), o);
		json_out_object_end(o);
	}
	json_out_array_end(o);
	free(v);
}
