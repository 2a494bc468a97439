/* Random worlds of the Workload engine, cycle after cycle: victims stop, their workloads wait
 * again, some finish. What must hold whatever the world looks like. */
#include "quota/quota_cycle.h"

#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/xmalloc.h"
#include "lib/quota_cycle_fixture.h"
#include "quota/precedence.h"
#include "quota/queues.h"

#define WORLDS 300
#define SETTLED 3000
#define CYCLES 12 /* of one world, with jobs that finish */
#define LATE 10   /* cycles before others come */
#define SETTLE 400

static const char *pick(struct rng *r, const char *const *v, size_t n)
{
	return v[rng_below(r, n)];
}
#define PICK(r, ...)                                                                               \
	pick(r, (const char *const[]){ __VA_ARGS__ },                                              \
	     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

static void add_quota(struct rng *r, struct strbuf *out, const char *node, bool has_parent)
{
	for (int f = 0; f < 2; f++) {
		strbuf_printf(out, "quota %s %c cpu nominal=%u", node, "xy"[f],
			      (unsigned)rng_below(r, 6));
		if (has_parent && rng_below(r, 4) == 0) {
			strbuf_printf(out, " borrow=%u", (unsigned)rng_below(r, 4));
		}
		strbuf_add_c(out, "\n");
	}
}

static void add_queue(struct rng *r, struct strbuf *out, unsigned i, unsigned ncohorts)
{
	char name[32];

	snprintf(name, sizeof(name), "q%u", i);
	strbuf_printf(out, "queue %s within=%s reclaim=%s strategy=%s", name,
		      PICK(r, "Never", "LowerPriority", "LowerOrNewerEqualPriority"),
		      PICK(r, "Never", "LowerPriority", "Any"),
		      PICK(r, "StrictFIFO", "BestEffortFIFO", "BestEffortFIFO"));
	strbuf_printf(out, " whenborrow=%s whenpreempt=%s weight=%s",
		      PICK(r, "MayStopSearch", "TryNextFlavor"),
		      PICK(r, "MayStopSearch", "TryNextFlavor"), PICK(r, "1", "1", "2", "0"));
	if (rng_below(r, 3) == 0) {
		strbuf_add_c(out, " borrow=LowerPriority");
	}
	if (ncohorts > 0) {
		strbuf_printf(out, " cohort=c%u", (unsigned)rng_below(r, ncohorts));
	}
	strbuf_add_c(out, "\n");
	add_quota(r, out, name, ncohorts > 0);
}

static void add_workload(struct rng *r, struct strbuf *out, unsigned i, unsigned nqueues)
{
	unsigned pods = 1 + (unsigned)rng_below(r, 3);

	strbuf_printf(out, "workload w%u queue=q%u prio=%u cpu=%u pods=%u created=-%us", i,
		      (unsigned)rng_below(r, nqueues), (unsigned)rng_below(r, 4),
		      1 + (unsigned)rng_below(r, 2), pods, 1000 - i % 7);
	if (pods > 1 && rng_below(r, 3) == 0) {
		strbuf_add_c(out, " min=1");
	}
	strbuf_add_c(out, "\n");
	if (rng_below(r, 4) == 0) {
		strbuf_printf(out, "podset more pods=1 cpu=%u\n", 1 + (unsigned)rng_below(r, 2));
	}
}

struct shape {
	unsigned queues, workloads;
};

static struct shape make_world(struct rng *r, struct strbuf *out)
{
	unsigned ncohorts = (unsigned)rng_below(r, 4), nqueues = 1 + (unsigned)rng_below(r, 4);
	unsigned n = 2 + (unsigned)rng_below(r, 14);

	strbuf_printf(out,
		      "option fair_sharing=%s lte_final=true lt_initial=true heads=%u "
		      "prioritize_preemptors=%s\n",
		      PICK(r, "true", "false"), 1 + (unsigned)(rng_below(r, 4) == 0),
		      PICK(r, "true", "false"));
	for (unsigned i = 0; i < ncohorts; i++) {
		char name[32];

		strbuf_printf(out, "cohort c%u", i);
		if (i > 0) {
			strbuf_printf(out, " parent=c%u", (unsigned)rng_below(r, i));
		}
		strbuf_add_c(out, "\n");
		snprintf(name, sizeof(name), "cohort/c%u", i);
		add_quota(r, out, name, i > 0);
	}
	for (unsigned i = 0; i < nqueues; i++) {
		add_queue(r, out, i, ncohorts);
	}
	for (unsigned i = 0; i < n; i++) {
		add_workload(r, out, i, nqueues);
	}
	return (struct shape){ nqueues, n };
}

/* Every workload is where it says, and nowhere else. */
static void check_places(const struct quota_cycle_fixture *f)
{
	const struct quota *q = f->w.q;
	size_t listed = 0, waiting = 0;

	for (size_t i = 0; i < q->nodes.n; i++) {
		if (q->nodes.v[i] != NULL && q->nodes.v[i]->is_queue) {
			listed +=
				q->nodes.v[i]->queue->heap.n + q->nodes.v[i]->queue->inadmissible.n;
		}
	}
	for (size_t i = 0; i < q->workloads.n; i++) {
		const struct workload *w = q->workloads.v[i];
		const struct quota_queue *queue;

		if (w == NULL) {
			continue;
		}
		assert_int_not_equal(w->where, QUOTA_IN_FLIGHT);
		assert_int_equal(w->where == QUOTA_NOWHERE, w->holds != MODEL_NONE);
		if (w->where == QUOTA_NOWHERE) {
			continue;
		}
		waiting++;
		queue = q->nodes.v[w->queue]->queue;
		assert_int_equal(w->where == QUOTA_HEAP ? queue->heap.v[w->pos]
							: queue->inadmissible.v[w->pos],
				 w->id);
	}
	assert_int_equal(listed, waiting);
}

/* What all but victims use stays within quota, in every tree and everywhere on the way. */
static void check_quota(const struct quota_cycle_fixture *f)
{
	const struct quota *q = f->w.q;
	size_t mark = forest_mark(f->w.f);

	for (size_t i = 0; i < q->workloads.n; i++) {
		const struct workload *w = q->workloads.v[i];

		if (w != NULL && w->holds != MODEL_NONE && w->evicted) {
			forest_remove(f->w.f, w->holds, &w->usage);
		}
	}
	for (uint32_t n = 0; n < q->nodes.n; n++) {
		for (uint32_t p = 0; q->nodes.v[n] != NULL && p < q->pairs.n; p++) {
			assert_true(forest_available(f->w.f, n, p) >= 0);
		}
	}
	forest_undo(f->w.f, mark);
	assert_int_equal(mark, 0);
}

static void check_decisions(const struct quota_cycle_fixture *f)
{
	const struct quota *q = f->w.q;

	for (size_t i = 0; i < f->last->n; i++) {
		const struct quota_decision *d = &f->last->v[i];
		const struct workload *w = q->workloads.v[d->workload];

		switch (d->kind) {
		case QUOTA_DECIDE_ADMIT:
			assert_int_equal(w->holds, d->node);
			assert_int_equal(d->assignment->mode, ASSIGN_FIT);
			break;
		case QUOTA_DECIDE_PREEMPT:
			assert_int_not_equal(w->holds, MODEL_NONE);
			assert_true(w->evicted);
			assert_int_equal(q->workloads.v[d->by]->holds, MODEL_NONE);
			break;
		case QUOTA_DECIDE_PENDING:
			assert_true(d->where == QUOTA_HEAP || d->where == QUOTA_INADMISSIBLE);
			assert_int_not_equal(d->status, ENTRY_ASSUMED);
			break;
		}
	}
}

/* The jobs of victims stop: their quota is free, they wait again. costly: each time it costs more
 * to preempt them, as the preemption-cost controller has it. */
static void stop_victims(struct quota_cycle_fixture *f, bool costly)
{
	struct quota *q = f->w.q;

	for (size_t i = 0; i < q->workloads.n; i++) {
		struct workload *w = q->workloads.v[i];
		uint32_t node;

		if (w == NULL || w->holds == MODEL_NONE || !w->evicted) {
			continue;
		}
		node = w->holds;
		w->has_cost = costly;
		w->cost += costly ? 1 : 0;
		forest_release(f->w.f, w);
		queues_update(q, w, true, f->w.now);
		queues_flush(q, f->w.f, node, f->w.now);
	}
}

static void finish_one(struct quota_cycle_fixture *f, struct rng *r)
{
	size_t i = rng_below(r, f->w.q->workloads.n);
	const struct workload *w = f->w.q->workloads.v[i];

	if (w != NULL && w->holds != MODEL_NONE) {
		char *key = xmalloc_dup(w->key);

		quota_cycle_fixture_delete(f, key);
		free(key);
	}
}

static bool has_news(const struct quota_cycle_fixture *f)
{
	for (size_t i = 0; i < f->last->n; i++) {
		const struct quota_decision *d = &f->last->v[i];

		if (d->kind == QUOTA_DECIDE_ADMIT ||
		    (d->kind == QUOTA_DECIDE_PREEMPT && !d->ongoing)) {
			return true;
		}
	}
	return false;
}

static void run_world(uint64_t seed, struct strbuf *out)
{
	struct quota_cycle_fixture f;
	struct rng r;

	rng_init(&r, seed);
	strbuf_reset(out);
	(void)make_world(&r, out);
	quota_cycle_fixture_init(&f, out->p);
	for (int i = 0; i < CYCLES; i++) {
		strbuf_printf(out, "%s\n", quota_cycle_fixture_run(&f));
		check_places(&f);
		check_decisions(&f);
		check_quota(&f);
		if (rng_below(&r, 2) == 0) {
			stop_victims(&f, false);
		}
		if (rng_below(&r, 3) == 0) {
			finish_one(&f, &r);
		}
		f.w.now += 1000000000;
	}
	quota_cycle_fixture_finish(&f);
}

static void what_must_hold_after_every_cycle(void **state)
{
	struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;

	(void)state;
	for (uint64_t seed = 1; seed <= WORLDS; seed++) {
		run_world(seed, &first);
		if (seed % 10 == 0) {
			/* Equal input gives equal output. */
			run_world(seed, &second);
			assert_string_equal(first.p, second.p);
		}
	}
	strbuf_finish(&first);
	strbuf_finish(&second);
}

/* --- circles ---*/

#define MOST 32 /* workloads of a world */

/* How often [preemptor] has preempted [victim] since the last change from outside. */
struct turns {
	unsigned of[MOST][MOST];
};

/* Nobody is preempted for one that it has preempted, and not again and again for the same one. */
static void check_turns(const struct quota_cycle_fixture *f, struct turns *t, uint64_t seed,
			const char *text)
{
	for (size_t i = 0; i < f->last->n; i++) {
		const struct quota_decision *d = &f->last->v[i];

		if (d->kind != QUOTA_DECIDE_PREEMPT || d->ongoing) {
			continue;
		}
		t->of[d->by][d->workload]++;
		if (t->of[d->workload][d->by] > 0 ||
		    t->of[d->by][d->workload] > PRECEDENCE_TIMES_MAX) {
			fail_msg("seed %u, %s for %s once more:\n%s", (unsigned)seed,
				 f->w.q->workloads.v[d->workload]->key,
				 f->w.q->workloads.v[d->by]->key, text);
		}
	}
}

/* One cycle after which victims stop. */
static bool run_quiet(struct quota_cycle_fixture *f, bool costly, struct strbuf *text)
{
	bool news;

	strbuf_printf(text, "%s\n", quota_cycle_fixture_run(f));
	news = has_news(f);
	stop_victims(f, costly);
	f->w.now += 1000000000;
	return !news;
}

static void add_late(struct quota_cycle_fixture *f, struct rng *r, struct shape shape,
		     struct strbuf *text)
{
	struct strbuf late = STRBUF_INIT;
	unsigned n = 1 + (unsigned)rng_below(r, 6);

	for (unsigned i = 0; i < n; i++) {
		add_workload(r, &late, shape.workloads + i, shape.queues);
	}
	strbuf_printf(text, "%s", late.p);
	quota_cycle_fixture_add(f, late.p);
	strbuf_finish(&late);
}

/* Returns whether anybody was preempted. */
static bool settle(uint64_t seed)
{
	struct strbuf text = STRBUF_INIT;
	struct turns turns = { 0 };
	struct quota_cycle_fixture f;
	struct shape shape;
	struct rng r;
	int i = 0;
	bool any;

	rng_init(&r, seed);
	shape = make_world(&r, &text);
	quota_cycle_fixture_init(&f, text.p);
	for (int k = 0; k < LATE; k++) {
		(void)run_quiet(&f, seed % 2 == 0, &text);
		check_turns(&f, &turns, seed, text.p);
	}
	add_late(&f, &r, shape, &text);
	memset(&turns, 0, sizeof(turns)); /* the fixture has built the trees anew */
	for (int quiet = 0; quiet < 20 && i < SETTLE; i++) {
		quiet = run_quiet(&f, seed % 2 == 0, &text) ? quiet + 1 : 0;
		check_turns(&f, &turns, seed, text.p);
	}
	if (i == SETTLE) {
		fail_msg("seed %u does not come to rest:\n%s", (unsigned)seed, text.p);
	}
	any = strstr(text.p, "preempt ") != NULL;
	quota_cycle_fixture_finish(&f);
	strbuf_finish(&text);
	return any;
}

/* Without a change from outside, victims that stop and wait again included, nobody preempts back
 * and worlds come to rest, whatever the policies, gates and costs. */
static void worlds_come_to_rest(void **state)
{
	unsigned preempting = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SETTLED; seed++) {
		preempting += settle(seed) ? 1 : 0;
	}
	assert_true(preempting > SETTLED / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_must_hold_after_every_cycle),
		cmocka_unit_test(worlds_come_to_rest),
	};

	return cmocka_run_group_tests_name("cycle_properties", tests, NULL, NULL);
}
