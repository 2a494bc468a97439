/* bench_quota_cycle: a cycle of the Workload engine without I/O: queues with 50 pending and 100
 * admitted Workloads each, in cohorts of 10 to 1,000; heads that fit, that wait for quota, that
 * preempt. The cycle alone, and applying its decisions: CPU time, the best of some, and how it
 * grows. */
#include <math.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "bench/growth.h"
#include "lib/quota/quota_world.h"
#include "lib/workloads/decided.h"
#include "scheduler/workloads/cycle/admission_apply.h"
#include "scheduler/workloads/pending/pending.h"

#define PENDING 50
#define ADMITTED 100
#define CYCLES 10

enum kind { FITS, WAITS, PREEMPTS, KINDS };

static const char *const kinds[KINDS] = { "heads fit", "heads wait", "heads preempt" };

struct shape {
	unsigned per_cohort; /* queues */
	enum kind kind;
	bool fair;
};

static struct workload *add(struct quota_world *w, unsigned queue, char kind, unsigned i)
{
	char key[64];
	struct workload *wl;

	snprintf(key, sizeof(key), "ns/%c%u-%u", kind, queue, i);
	wl = quota_workload_add(w->q, str_of(key));
	wl->object.namespace_ = quota_name(w->q, STR_LIT("ns"));
	wl->object.uid = arena_dup(wl->object.arena, key);
	snprintf(key, sizeof(key), "l%u", queue);
	wl->object.local_queue = quota_name(w->q, str_of(key));
	return wl;
}

static void add_pending(struct quota_world *w, unsigned queue, unsigned i, struct rng *rng)
{
	struct workload *wl = add(w, queue, 'p', i);
	struct podset *p = arena_zero(wl->object.arena, 1, sizeof(*p));

	p->name = quota_name(w->q, STR_LIT("main"));
	p->count = p->spec_count = 1;
	quota_amounts_add(&p->request, quota_world_resource(w, "cpu"), 1000);
	p->shape = i; /* no two are equal */
	wl->object.podsets = p;
	wl->object.npodsets = 1;
	wl->object.priority = 10 + (int32_t)rng_below(rng, 10);
	wl->object.created = w->now - (int64_t)rng_below(rng, 1000000) * 1000;
	pending_update(w->q, wl, true, w->now);
}

static void add_admitted(struct quota_world *w, unsigned queue, unsigned i, struct rng *rng)
{
	struct workload *wl = add(w, queue, 'a', i);
	char name[32];

	snprintf(name, sizeof(name), "q%u", queue);
	wl->object.priority = (int32_t)rng_below(rng, 10);
	wl->flags.reserved_at = w->now - (int64_t)rng_below(rng, 1000000000);
	quota_amounts_add(&wl->holding.usage, quota_world_pair(w, "default", "cpu"), 1000);
	forest_hold(w->f, wl, quota_world_id(w, name));
}

static void make_world(struct quota_world *w, unsigned queues, const struct shape *shape)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	unsigned nominal = shape->kind == FITS ? ADMITTED + PENDING : ADMITTED;
	struct rng rng;

	rng_init(&rng, 1);
	strbuf_printf(&text, "option fair_sharing=%s lte_final=true lt_initial=true\n",
		      shape->fair ? "true" : "false");
	for (unsigned i = 0; i < queues; i++) {
		strbuf_printf(&text,
			      "queue q%u cohort=c%u %s\nquota q%u default cpu nominal=%u\n"
			      "local ns/l%u queue=q%u\n",
			      i, i / shape->per_cohort,
			      shape->kind == PREEMPTS ? "within=LowerPriority reclaim=Any" : "", i,
			      nominal, i, i);
	}
	strbuf_add_c(&text, "namespace ns\n");
	quota_world_init(w, text.p);
	for (unsigned q = 0; q < queues; q++) {
		for (unsigned i = 0; i < ADMITTED; i++) {
			add_admitted(w, q, i, &rng);
		}
		for (unsigned i = 0; i < PENDING; i++) {
			add_pending(w, q, i, &rng);
		}
	}
}

static void destroy_world(struct quota_world *w)
{
	for (size_t i = 0; i < w->q->workloads.n; i++) {
		struct workload *wl = w->q->workloads.v[i];

		for (size_t k = 0; wl != NULL && k < wl->object.npodsets; k++) {
			quota_amounts_finish(&wl->object.podsets[k].request);
		}
	}
	quota_world_finish(w);
}

static double run(unsigned queues, const struct shape *shape, double *ret_apply, size_t *ret_n)
{
	struct quota_world w;
	struct admission_cycle *c;
	double best = INFINITY;

	make_world(&w, queues, shape);
	c = admission_cycle_create(w.f);
	*ret_apply = INFINITY;
	for (int i = 0; i < CYCLES; i++) {
		double start = growth_now_ms(), decided, middle, end;
		const struct admission_decisions *d = admission_cycle_run(c, w.now);

		decided = growth_now_ms();
		for (size_t k = 0; k < d->n; k++) {
			decided_flags(w.q, &d->v[k], w.now);
		}
		middle = growth_now_ms();
		for (size_t k = 0; k < d->n; k++) {
			admission_apply(w.f, &d->v[k]);
		}
		end = growth_now_ms();
		*ret_n = i == 0 ? d->n : *ret_n;
		best = decided - start < best ? decided - start : best;
		*ret_apply = end - middle < *ret_apply ? end - middle : *ret_apply;
	}
	admission_cycle_destroy(c);
	destroy_world(&w);
	return best;
}

static void bench(const struct shape *shape)
{
	static const unsigned sizes[] = { 125, 250, 500, 1000 };
	struct growth growth = { 0 };
	char name[64];

	snprintf(name, sizeof(name), "%s, %u queues in a cohort, %s",
		 shape->fair ? "fair sharing" : "classical", shape->per_cohort, kinds[shape->kind]);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		double apply;
		size_t n = 0;
		double ms = run(sizes[i], shape, &apply, &n);

		growth_add(&growth, sizes[i], ms);
		printf("%s, %u queues: %.3f ms, %zu decisions, applied in %.3f ms\n", name,
		       sizes[i], ms, n, apply);
	}
	printf("%s: exponent %.2f\n", name, growth_exponent(&growth));
}

int main(void)
{
	static const unsigned per_cohort[] = { 10, 100, 1000 };

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int fair = 0; fair < 2; fair++) {
		for (int kind = 0; kind < KINDS; kind++) {
			for (size_t i = 0; i < ARRAY_LEN(per_cohort); i++) {
				struct shape shape = { per_cohort[i], (enum kind)kind, fair != 0 };

				bench(&shape);
			}
		}
	}
	return 0;
}
