#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/kueue/preemption_gate.h"
#include "base/arena.h"
#include "scheduler/workloads/ingest/from_kueue.h"
#include "scheduler/workloads/status/workload_status.h"

static enum quota_check_state check_state(const char *name)
{
	for (int i = QUOTA_CHECK_PENDING; i <= QUOTA_CHECK_REJECTED; i++) {
		if (str_streq(name, workload_status_check_name((enum quota_check_state)i))) {
			return (enum quota_check_state)i;
		}
	}
	return QUOTA_CHECK_PENDING; /* not a state that Kueue has: nothing is admitted by it */
}

static const char *text(struct workload_status *to, const char *s)
{
	return arena_dup(to->arena, s == NULL ? "" : s);
}

static void read_list(const struct quota_model *q, const struct api_conditions *from,
		      struct workload_status *to)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct api_condition *c = &from->v[i];
		struct condition one = { .at = c->last_transition,
					 .generation = c->observed_generation };

		/* The API requires both: a condition without them says nothing. */
		if (c->type == NULL || c->status == NULL) {
			continue;
		}
		/* The dialects name this condition differently; inside it has one name. */
		one.type = str_streq(c->type, q->options.gate_signal) ? PREEMPTION_GATE_BLOCKED
								      : text(to, c->type);
		one.status = text(to, c->status);
		one.reason = text(to, c->reason);
		one.message = text(to, c->message);
		vec_push(&to->conditions, one);
	}
}

static void read_checks(const struct api_workload_status *s, struct workload_status *to)
{
	for (size_t i = 0; i < s->admission_checks.n; i++) {
		const struct api_check_state *k = &s->admission_checks.v[i];
		struct workload_status_check one = { .name = text(to, k->name),
						     .message = text(to, k->message),
						     .state = check_state(k->state),
						     .at = k->last_transition };

		one.retries = k->retry_count == FIELD_NO_I32 ? 0 : k->retry_count;
		one.requeue_after = k->requeue_after == FIELD_NO_I32 ? 0 : k->requeue_after;
		/* podSetUpdates are another controller's: whether there are any is enough to empty
		 * them at an eviction. */
		one.has_updates = k->updates.n > 0;
		vec_push(&to->checks, one);
	}
	for (size_t i = 0; i < s->preemption_gates.n; i++) {
		const struct api_preemption_gate_state *g = &s->preemption_gates.v[i];
		struct preemption_gate_reading r = preemption_gate_read(g);
		struct workload_status_gate one = { text(to, g->name), r.open, r.disagree, r.fields,
						    g->last_transition };

		vec_push(&to->gates, one);
	}
	for (size_t i = 0; s->scheduling_stats != NULL && i < s->scheduling_stats->evictions.n;
	     i++) {
		const struct api_eviction_count *e = &s->scheduling_stats->evictions.v[i];
		struct workload_status_eviction one = { text(to, e->reason),
							text(to, e->underlying_cause),
							e->count == FIELD_NO_I32 ? 0 : e->count };

		vec_push(&to->evictions, one);
	}
}

/* Of an admission, or of resourceRequests, which name no flavors (NULL). */
static struct workload_status_podset read_podset(struct quota_model *q, const char *name,
						 const struct field_resources *usage,
						 const struct field_map *flavors,
						 struct arena *arena)
{
	struct workload_status_podset p = { .name = arena_dup(arena,
							      name == NULL ? "main" : name) };

	p.v = arena_zero(arena, usage->n + 1, sizeof(p.v[0]));
	for (size_t i = 0; i < usage->n; i++) {
		struct str resource = str_of(usage->v[i].name);
		struct workload_status_usage *u = &p.v[p.n++];

		u->resource = quota_resource(q, resource);
		u->amount = from_kueue_amount(resource, usage->v[i].amount);
		u->flavor = flavors == NULL
				    ? NULL
				    : arena_dup(arena, field_map_get(flavors, usage->v[i].name));
	}
	return p;
}

static int by_resource(const void *a, const void *b)
{
	const struct workload_status_usage *x = a, *y = b;

	return (x->resource > y->resource) - (x->resource < y->resource);
}

/* Sorts by id of the resource, as workload_status_same compares. */
static void sort_podset(struct workload_status_podset *p)
{
	if (p->n > 1) {
		qsort(p->v, p->n, sizeof(p->v[0]), by_resource);
	}
}

static void read_admission(struct quota_model *q, const struct api_workload_status *s,
			   struct workload_status *to)
{
	to->has_admission = s->admission != NULL;
	to->queue = s->admission == NULL ? NULL : text(to, s->admission->cluster_queue);
	for (size_t i = 0; s->admission != NULL && i < s->admission->assignments.n; i++) {
		const struct api_pod_set_assignment *a = &s->admission->assignments.v[i];
		struct workload_status_podset p =
			read_podset(q, a->name, &a->usage, &a->flavors, to->arena);

		p.count = a->count == FIELD_NO_I32 ? 1 : a->count;
		sort_podset(&p);
		vec_push(&to->podsets, p);
	}
	for (size_t i = 0; i < s->resource_requests.n; i++) {
		const struct api_pod_set_request *r = &s->resource_requests.v[i];
		struct workload_status_podset p =
			read_podset(q, r->name, &r->resources, NULL, to->arena);

		sort_podset(&p);
		vec_push(&to->requests, p);
	}
}

static void read_names(const struct api_workload_status *s, struct workload_status *to)
{
	to->cluster = arena_dup(to->arena, s->cluster_name);
	for (size_t i = 0; i < s->nominated_clusters.n; i++) {
		vec_push(&to->nominated, arena_dup(to->arena, s->nominated_clusters.v[i]));
	}
	for (size_t i = 0; i < s->unhealthy_nodes.n; i++) {
		vec_push(&to->unhealthy, text(to, s->unhealthy_nodes.v[i].name));
	}
}

void from_kueue_status(struct quota_model *q, const struct api_workload *w,
		       struct workload_status *to)
{
	const struct api_workload_status *s = &w->status;
	const struct api_requeue_state *r = s->requeue_state;

	to->generation = w->meta.generation;
	read_names(s, to);
	read_list(q, &s->conditions, to);
	read_checks(s, to);
	read_admission(q, s, to);
	to->has_requeue_count = r != NULL && r->count != FIELD_NO_I32;
	to->requeue_count = to->has_requeue_count ? r->count : 0;
	to->has_requeue_at = r != NULL && r->requeue_at != FIELD_NO_TIME;
	to->requeue_at = to->has_requeue_at ? r->requeue_at : 0;
	to->has_past_seconds = s->past_execution_time != FIELD_NO_I32;
	to->past_seconds = to->has_past_seconds ? s->past_execution_time : 0;
}
