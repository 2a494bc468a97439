/* Random worlds of the Workload engine, cycle after cycle: victims stop, their workloads wait
 * again, some finish. The invariants hold in every world. */
#include "scheduler/workloads/cycle/admission_cycle.h"

#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "lib/quota/quota_invariants.h"
#include "lib/quota/quota_random.h"
#include "lib/workloads/admission_cycle_fixture.h"
#include "scheduler/workloads/forest/precedence.h"
#include "scheduler/workloads/pending/pending.h"

#define WORLDS 300
#define SETTLED 3000
#define SHUFFLED 1500
#define CYCLES 12 /* of one world, with jobs that finish */
#define LATE 10   /* cycles before further workloads are added */
#define SETTLE 400

static void finish_one(struct admission_cycle_fixture *f, struct quota_random *r)
{
	size_t i = quota_random_below(r, (unsigned)f->w.q->workloads.n);
	const struct workload *w = f->w.q->workloads.v[i];

	if (w != NULL && w->holding.node != MODEL_NONE) {
		char *key = xmalloc_dup(w->key);

		admission_cycle_fixture_delete(f, key);
		free(key);
	}
}

static bool has_news(const struct admission_cycle_fixture *f)
{
	for (size_t i = 0; i < f->last->n; i++) {
		const struct admission_decision *d = &f->last->v[i];

		if (d->kind == QUOTA_DECIDE_ADMIT ||
		    (d->kind == QUOTA_DECIDE_PREEMPT && !d->ongoing)) {
			return true;
		}
	}
	return false;
}

static void run_checked(struct admission_cycle_fixture *f, struct strbuf *out)
{
	CLEANUP(quota_invariants_excess_finish) struct quota_excess before;
	CLEANUP(strbuf_finish) struct strbuf problems = STRBUF_INIT;

	quota_invariants_excess(f, &before);
	strbuf_printf(out, "%s\n", admission_cycle_fixture_run(f));
	quota_invariants_check(f, &problems);
	quota_invariants_check_run(f, &before, &problems);
	if (problems.len > 0) {
		fail_msg("%s%s", problems.p, out->p); /* a long message is cut */
	}
}

static void run_world(uint64_t seed, struct strbuf *out)
{
	struct admission_cycle_fixture f;
	struct quota_random r;

	quota_random_seed(&r, seed);
	strbuf_reset(out);
	(void)quota_random_world(&r, out);
	admission_cycle_fixture_init(&f, out->p);
	for (int i = 0; i < CYCLES; i++) {
		run_checked(&f, out);
		if (quota_random_below(&r, 2) == 0) {
			admission_cycle_fixture_stop(&f, false);
		}
		if (quota_random_below(&r, 3) == 0) {
			finish_one(&f, &r);
		}
		f.w.now += 1000000000;
	}
	admission_cycle_fixture_finish(&f);
}

static void invariants_after_every_cycle(void **state)
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

/* --- the order of objects ----------------------------------------------------------------------*/

#define BLOCKS_MAX 64

/* Where the objects of a world begin, each with the lines that belong to it; behind the last one
 * its end. */
static size_t find_objects(const char *text, const char *at[BLOCKS_MAX])
{
	size_t n = 0;

	for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
		struct str s = str_of(line);

		if (str_has_prefix(s, "cohort ") || str_has_prefix(s, "queue ") ||
		    str_has_prefix(s, "workload ")) {
			assert_true(n + 1 < BLOCKS_MAX);
			at[n++] = line;
		}
	}
	at[n] = text + strlen(text);
	return n;
}

/* The same objects, inserted in another order. */
static void shuffle(const char *text, struct quota_random *r, struct strbuf *out)
{
	const char *at[BLOCKS_MAX];
	size_t order[BLOCKS_MAX], n = find_objects(text, at);

	strbuf_reset(out);
	strbuf_printf(out, "%.*s", (int)(at[0] - text), text);
	for (size_t i = 0; i < n; i++) {
		size_t k = quota_random_below(r, (unsigned)i + 1);

		order[i] = order[k];
		order[k] = i;
	}
	for (size_t i = 0; i < n; i++) {
		strbuf_printf(out, "%.*s", (int)(at[order[i] + 1] - at[order[i]]), at[order[i]]);
	}
}

/* The same events, independent of ids. */
static void run_by_keys(const char *world, unsigned nworkloads, uint64_t seed, struct strbuf *out)
{
	struct admission_cycle_fixture f;
	struct quota_random r;

	strbuf_reset(out);
	quota_random_seed(&r, seed);
	admission_cycle_fixture_init(&f, world);
	for (int i = 0; i < CYCLES; i++) {
		char key[32];
		const struct workload *w;

		strbuf_printf(out, "%s\n", admission_cycle_fixture_run(&f));
		if (quota_random_below(&r, 2) == 0) {
			admission_cycle_fixture_stop(&f, seed % 2 == 0);
		}
		snprintf(key, sizeof(key), "ns/w%u", quota_random_below(&r, nworkloads));
		w = quota_workload_find(f.w.q, str_of(key));
		if (w != NULL && w->holding.node != MODEL_NONE) {
			admission_cycle_fixture_delete(&f, key);
		}
		f.w.now += 1000000000;
	}
	admission_cycle_fixture_finish(&f);
}

/* Ids are given out in the order in which objects come, and decide nothing. */
static void the_order_of_objects_does_not_matter(void **state)
{
	struct strbuf world = STRBUF_INIT, other = STRBUF_INIT;
	struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;

	(void)state;
	for (uint64_t seed = 1; seed <= SHUFFLED; seed++) {
		struct quota_random_shape shape;
		struct quota_random r;

		quota_random_seed(&r, seed);
		strbuf_reset(&world);
		shape = quota_random_world(&r, &world);
		/* Where it comes first the flavors have each other's ids. */
		strbuf_printf(&world, "queue z\nquota z y cpu nominal=1\n"
				      "quota z x cpu nominal=1\n");
		shuffle(world.p, &r, &other);
		run_by_keys(world.p, shape.workloads, seed, &first);
		run_by_keys(other.p, shape.workloads, seed, &second);
		if (!str_streq(first.p, second.p)) {
			fail_msg("seed %u:\n%s%s\n%s%s", (unsigned)seed, world.p, first.p, other.p,
				 second.p);
		}
	}
	strbuf_finish(&world);
	strbuf_finish(&other);
	strbuf_finish(&first);
	strbuf_finish(&second);
}

/* --- circles ---*/

#define MOST 32 /* workloads of a world */

/* How often [preemptor] has preempted [victim] since the last change from outside. */
struct fair_tournament {
	unsigned of[MOST][MOST];
};

/* No workload is preempted for its own former victim, nor repeatedly for the same one. */
static void check_turns(const struct admission_cycle_fixture *f, struct fair_tournament *t,
			uint64_t seed, const char *text)
{
	for (size_t i = 0; i < f->last->n; i++) {
		const struct admission_decision *d = &f->last->v[i];

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
static bool run_quiet(struct admission_cycle_fixture *f, bool costly, struct strbuf *text)
{
	bool news;

	strbuf_printf(text, "%s\n", admission_cycle_fixture_run(f));
	news = has_news(f);
	admission_cycle_fixture_stop(f, costly);
	f->w.now += 1000000000;
	return !news;
}

static void add_late(struct admission_cycle_fixture *f, struct quota_random *r,
		     struct quota_random_shape shape, struct strbuf *text)
{
	struct strbuf late = STRBUF_INIT;
	unsigned n = 1 + quota_random_below(r, 6);

	for (unsigned i = 0; i < n; i++) {
		quota_random_workload(r, &late, shape.workloads + i, shape.queues);
	}
	strbuf_printf(text, "%s", late.p);
	admission_cycle_fixture_add(f, late.p);
	strbuf_finish(&late);
}

/* Returns whether a workload was preempted. */
static bool settle(uint64_t seed)
{
	struct strbuf text = STRBUF_INIT;
	struct fair_tournament turns = { 0 };
	struct admission_cycle_fixture f;
	struct quota_random_shape shape;
	struct quota_random r;
	int i = 0;
	bool any;

	quota_random_seed(&r, seed);
	shape = quota_random_world(&r, &text);
	admission_cycle_fixture_init(&f, text.p);
	for (int k = 0; k < LATE; k++) {
		(void)run_quiet(&f, seed % 2 == 0, &text);
		check_turns(&f, &turns, seed, text.p);
	}
	add_late(&f, &r, shape, &text);
	memset(&turns, 0, sizeof(turns)); /* the fixture has built the trees again */
	for (int quiet = 0; quiet < 20 && i < SETTLE; i++) {
		quiet = run_quiet(&f, seed % 2 == 0, &text) ? quiet + 1 : 0;
		check_turns(&f, &turns, seed, text.p);
	}
	if (i == SETTLE) {
		fail_msg("seed %u does not come to rest:\n%s", (unsigned)seed, text.p);
	}
	any = strstr(text.p, "preempt ") != NULL;
	admission_cycle_fixture_finish(&f);
	strbuf_finish(&text);
	return any;
}

/* Without a change from outside, except that victims stop and wait again, no victim preempts its
 * preemptor and worlds come to rest, whatever the policies, gates and costs. */
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
		cmocka_unit_test(invariants_after_every_cycle),
		cmocka_unit_test(the_order_of_objects_does_not_matter),
		cmocka_unit_test(worlds_come_to_rest),
	};

	return cmocka_run_group_tests_name("workloads/cycle/cycle_properties", tests, NULL, NULL);
}
