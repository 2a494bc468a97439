/* Random worlds: what price says of a Workload behind a closed gate is what a scheduling cycle of
 * the same world does once the gate is open. */
#include "scheduler/orchestrate/price.h"

#include <stdio.h>

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "lib/quota/quota_random.h"
#include "lib/workloads/admission_cycle_fixture.h"
#include "lib/workloads/victims_fixture.h"
#include "scheduler/workloads/pending/pending.h"

#define WORLDS 3000
#define CYCLES 4 /* before the preemptor comes */

struct seen {
	unsigned verdicts[PRICE_VERDICT_COUNT_], many, leaving;
};

/* Workloads that were admitted, some of them on their way out, and none that waits. */
static void fill(struct admission_cycle_fixture *f, struct quota_random *r)
{
	for (int i = 0; i < CYCLES; i++) {
		(void)admission_cycle_fixture_run(f);
		if (quota_random_below(r, 4) == 0) {
			admission_cycle_fixture_stop(f, quota_random_below(r, 2) == 0);
		}
		f->w.now += CLOCK_NS_PER_S;
	}
	for (size_t i = 0; i < f->w.q->workloads.n; i++) {
		const struct workload *w = f->w.q->workloads.v[i];

		if (w != NULL && w->holding.node == MODEL_NONE) {
			CLEANUP(xmalloc_freep) char *key = xmalloc_dup(w->key);

			admission_cycle_fixture_delete(f, key);
		}
	}
}

static void add_preemptor(struct admission_cycle_fixture *f, struct quota_random *r,
			  unsigned nqueues)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	unsigned queue = quota_random_below(r, nqueues), pods = 1 + quota_random_below(r, 4);

	strbuf_printf(&text, "workload p queue=q%u prio=%u cpu=%u pods=%u created=-%us", queue,
		      1 + quota_random_below(r, 6), 1 + quota_random_below(r, 2), pods,
		      990 + quota_random_below(r, 20));
	strbuf_printf(&text, "%s preemption-gated\n",
		      pods > 1 && quota_random_below(r, 3) == 0 ? " min=1" : "");
	if (quota_random_below(r, 4) == 0) {
		strbuf_printf(&text, "podset more pods=1 cpu=1\n");
	}
	admission_cycle_fixture_add(f, text.p);
}

/* The victims of the last cycle in their order, or what became of p. */
static void list_decisions(const struct admission_cycle_fixture *f, uint32_t p, struct strbuf *out)
{
	for (size_t i = 0; i < f->last->n; i++) {
		const struct admission_decision *d = &f->last->v[i];

		if (d->kind == QUOTA_DECIDE_PREEMPT) {
			assert_int_equal(d->by, p);
			strbuf_printf(out, "%s ", f->w.q->workloads.v[d->workload]->key);
		} else if (d->kind == QUOTA_DECIDE_ADMIT) {
			strbuf_add_c(out, "Fits ");
		} else if (d->status != ENTRY_EVICTED) {
			strbuf_add_c(out, "Cannot ");
		}
	}
}

static void list_price(const struct price *p, struct strbuf *out, struct seen *seen)
{
	for (size_t i = 0; i < p->n; i++) {
		strbuf_printf(out, "%s ", p->victims[i].key);
		seen->leaving += p->victims[i].leaving;
	}
	if (p->verdict != PRICE_PREEMPTS) {
		strbuf_printf(out, "%s ", price_verdict_name(p->verdict));
	}
	seen->verdicts[p->verdict]++;
	seen->many += p->n > 1;
}

static void find(struct admission_cycle_fixture *f, struct workload *w, struct arena *arena,
		 struct price *ret)
{
	const struct price_request r = { .forest = f->w.f, .w = w, .now = f->w.now };
	uint64_t before = victims_fixture_usage(&f->w);

	price_find(&r, arena, ret);
	assert_true(victims_fixture_usage(&f->w) == before);
	assert_true(w->flags.preemption_gated);
}

static void check_world(uint64_t seed, struct seen *seen)
{
	CLEANUP(strbuf_finish) struct strbuf world = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf predicted = STRBUF_INIT, done = STRBUF_INIT;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct admission_cycle_fixture f;
	struct quota_random_shape shape;
	struct quota_random r;
	struct workload *p;
	struct price price;

	quota_random_seed(&r, seed);
	strbuf_add_c(&world, "option preemption_gates=true\n");
	shape = quota_random_world(&r, &world);
	admission_cycle_fixture_init(&f, world.p);
	fill(&f, &r);
	add_preemptor(&f, &r, shape.queues);
	p = quota_world_workload(&f.w, "p");
	find(&f, p, arena, &price);
	list_price(&price, &predicted, seen);

	p->flags.preemption_gated = false;
	pending_update(f.w.q, p, true, f.w.now);
	/* An equal one of an earlier cycle may be known not to fit. */
	(void)pending_flush(f.w.q, f.w.f, p->pending.queue, f.w.now);
	(void)admission_cycle_fixture_run(&f);
	list_decisions(&f, p->id, &done);
	if (!str_eq(strbuf_str(&predicted), strbuf_str(&done))) {
		fail_msg("seed %u: predicted %s, done %s\n%s", (unsigned)seed, predicted.p, done.p,
			 world.p);
	}
	admission_cycle_fixture_finish(&f);
}

static void test_the_cycle_does_what_was_predicted(void **state)
{
	struct seen seen = { .many = 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= WORLDS; seed++) {
		check_world(seed, &seen);
	}
	print_message("preempts %u (%u of several, %u leaving), fits %u, cannot %u\n",
		      seen.verdicts[PRICE_PREEMPTS], seen.many, seen.leaving,
		      seen.verdicts[PRICE_FITS], seen.verdicts[PRICE_CANNOT]);
	assert_true(seen.verdicts[PRICE_PREEMPTS] > WORLDS / 10);
	assert_true(seen.many > WORLDS / 50);
	assert_true(seen.leaving > WORLDS / 300);
	assert_true(seen.verdicts[PRICE_FITS] > WORLDS / 10);
	assert_true(seen.verdicts[PRICE_CANNOT] > WORLDS / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_cycle_does_what_was_predicted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
