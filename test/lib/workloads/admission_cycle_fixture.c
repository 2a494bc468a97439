#include "lib/workloads/admission_cycle_fixture.h"

#include "lib/unit.h"
#include "lib/workloads/decided.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "collections/vec.h"
#include "scheduler/workloads/cycle/nofit_reason.h"
#include "scheduler/workloads/pending/pending.h"
#include "scheduler/workloads/pending/pending_heap.h"

static void queue_all(struct admission_cycle_fixture *f)
{
	struct quota_model *q = f->w.q;

	for (size_t i = 0; i < q->workloads.n; i++) {
		struct workload *w = q->workloads.v[i];

		if (w != NULL && w->pending.where == QUOTA_NOWHERE &&
		    w->holding.node == MODEL_NONE) {
			pending_update(q, w, true, f->w.now);
		}
	}
}

void admission_cycle_fixture_init(struct admission_cycle_fixture *f, const char *world)
{
	memset(f, 0, sizeof(*f));
	strbuf_init(&f->text);
	quota_world_init(&f->w, world);
	f->cycle = admission_cycle_create(f->w.f);
	queue_all(f);
}

void admission_cycle_fixture_add(struct admission_cycle_fixture *f, const char *world)
{
	quota_world_add(&f->w, world);
	queue_all(f);
}

void admission_cycle_fixture_finish(struct admission_cycle_fixture *f)
{
	admission_cycle_destroy(f->cycle);
	for (size_t i = 0; i < f->w.q->workloads.n; i++) {
		if (f->w.q->workloads.v[i] != NULL) {
			pending_remove(f->w.q, f->w.q->workloads.v[i]);
		}
	}
	quota_world_finish(&f->w);
	strbuf_finish(&f->text);
}

static const char *short_name(const struct workload *w)
{
	return str_has_prefix(str_of(w->key), "ns/") ? w->key + 3 : w->key;
}

static void print_assignment(struct admission_cycle_fixture *f, const struct workload *w,
			     const struct assignment *a)
{
	for (size_t i = 0; i < a->npodsets; i++) {
		const struct assigned_podset *p = &a->podsets[i];

		for (size_t k = 0; k < p->nflavors; k++) {
			strbuf_printf(&f->text, " %s=%s",
				      quota_resource_name(f->w.q, p->flavors[k].resource),
				      f->w.q->flavors.v[p->flavors[k].flavor]->name);
		}
		if (p->count != w->object.podsets[i].count) {
			strbuf_printf(&f->text, " x%d", p->count);
		}
	}
}

static void print(struct admission_cycle_fixture *f, const struct admission_decision *d)
{
	const struct quota_model *q = f->w.q;
	const struct workload *w = q->workloads.v[d->workload];

	strbuf_add_c(&f->text, f->text.len > 0 ? "; " : "");
	switch (d->kind) {
	case QUOTA_DECIDE_ADMIT:
		strbuf_printf(&f->text, "admit %s to %s", short_name(w), q->nodes.v[d->node]->name);
		print_assignment(f, w, d->assignment);
		break;
	case QUOTA_DECIDE_PREEMPT:
		strbuf_printf(&f->text, "preempt %s for %s %s%s", short_name(w),
			      short_name(q->workloads.v[d->by]),
			      victim_reason_name(d->victim_reason), d->ongoing ? " ongoing" : "");
		break;
	case QUOTA_DECIDE_PENDING:
		strbuf_printf(&f->text, "wait %s %s %s %s", short_name(w),
			      d->where == QUOTA_HEAP ? "heap" : "inadmissible",
			      nofit_reason_requeue(d->requeue), nofit_reason_name(d->reason));
		break;
	}
}

const char *admission_cycle_fixture_run(struct admission_cycle_fixture *f)
{
	f->last = admission_cycle_run(f->cycle, f->w.now);
	strbuf_reset(&f->text);
	for (size_t i = 0; i < f->last->n; i++) {
		print(f, &f->last->v[i]);
	}
	decided_apply(f->w.f, f->last, f->w.now);
	return f->text.p;
}

void admission_cycle_fixture_rows(const struct admission_cycle_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct admission_cycle_fixture f;

		admission_cycle_fixture_init(&f, rows[i].world);
		for (size_t k = 0; k < ARRAY_LEN(rows[i].cycles) && rows[i].cycles[k] != NULL;
		     k++) {
			assert_string_equal(admission_cycle_fixture_run(&f), rows[i].cycles[k]);
		}
		admission_cycle_fixture_finish(&f);
	}
}

static const struct quota_model *sorting;

static int by_rank(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return pending_heap_cmp(sorting, sorting->workloads.v[*x], sorting->workloads.v[*y]);
}

static int by_key(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return strcmp(sorting->workloads.v[*x]->key, sorting->workloads.v[*y]->key);
}

static void print_list(struct admission_cycle_fixture *f, const uint32_t *ids, size_t n,
		       int (*cmp)(const void *, const void *))
{
	struct VEC(uint32_t) sorted = VEC_INIT;

	for (size_t i = 0; i < n; i++) {
		assert_int_equal(f->w.q->workloads.v[ids[i]]->pending.pos, i);
		vec_push(&sorted, ids[i]);
	}
	sorting = f->w.q;
	if (n > 0) {
		qsort(sorted.v, n, sizeof(sorted.v[0]), cmp);
	}
	for (size_t i = 0; i < n; i++) {
		strbuf_printf(&f->text, "%s%s", i > 0 ? " " : "",
			      short_name(f->w.q->workloads.v[sorted.v[i]]));
	}
	vec_finish(&sorted);
}

const char *admission_cycle_fixture_queue(struct admission_cycle_fixture *f, const char *queue)
{
	const struct cluster_queue *cq = quota_world_node(&f->w, queue)->queue;

	strbuf_reset(&f->text);
	if (cq->heap.n > 0) {
		sorting = f->w.q;
		for (size_t i = 1; i < cq->heap.n; i++) {
			assert_true(by_rank(&cq->heap.v[(i - 1) / 2], &cq->heap.v[i]) < 0);
		}
	}
	print_list(f, cq->heap.v, cq->heap.n, by_rank);
	strbuf_add_c(&f->text, " | ");
	print_list(f, cq->inadmissible.v, cq->inadmissible.n, by_key);
	return f->text.p;
}

void admission_cycle_fixture_delete(struct admission_cycle_fixture *f, const char *workload)
{
	struct workload *w = quota_world_workload(&f->w, workload);
	uint32_t node = w->holding.node;

	pending_remove(f->w.q, w);
	if (node != MODEL_NONE) {
		forest_release(f->w.f, w);
		pending_flush(f->w.q, f->w.f, node, f->w.now);
	}
	quota_workload_remove(f->w.q, w);
}

void admission_cycle_fixture_stop(struct admission_cycle_fixture *f, bool costly)
{
	struct quota_model *q = f->w.q;

	for (size_t i = 0; i < q->workloads.n; i++) {
		struct workload *w = q->workloads.v[i];
		uint32_t node;

		if (w == NULL || w->holding.node == MODEL_NONE || !w->flags.evicted) {
			continue;
		}
		node = w->holding.node;
		w->object.has_cost = costly;
		w->object.cost += costly ? 1 : 0;
		forest_release(f->w.f, w);
		pending_update(q, w, true, f->w.now);
		pending_flush(q, f->w.f, node, f->w.now);
	}
}
