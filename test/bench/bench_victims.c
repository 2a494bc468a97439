/* bench_victims: the search for victims of one Workload, without I/O: one is enough, all are
 * needed, not even all would do; classical and fair sharing; one queue with all candidates, and
 * many. CPU time, the best of some rounds, and how it grows. */
#include <math.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "bench/growth.h"
#include "lib/quota/quota_world.h"
#include "scheduler/workloads/preempt/victims.h"

#define NEEDS 3
#define ROUNDS 10

static const char *const needs[NEEDS] = { "one is enough", "all are needed", "none will do" };

static void add_candidate(struct quota_world *w, unsigned i, uint32_t node, struct rng *rng)
{
	struct workload *wl;
	char key[32];

	snprintf(key, sizeof(key), "ns/w%u", i);
	wl = quota_workload_add(w->q, str_of(key));
	wl->object.uid = arena_dup(wl->object.arena, key);
	wl->object.priority = (int32_t)rng_below(rng, 10);
	wl->flags.reserved_at = w->now - (int64_t)rng_below(rng, 1000000000);
	quota_amounts_add(&wl->holding.usage, quota_world_pair(w, "default", "cpu"), 1000);
	quota_amounts_add(&wl->holding.usage, quota_world_pair(w, "default", "memory"), 1);
	forest_hold(w->f, wl, node);
}

static void make_world(struct quota_world *w, unsigned candidates, unsigned queues, bool fair)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	char name[32];
	struct rng rng;

	rng_init(&rng, 1);
	strbuf_printf(
		&text,
		"option fair_sharing=%s lte_final=true lt_initial=true\n"
		"cohort c\n"
		"quota cohort/c default cpu nominal=%u\n"
		"quota cohort/c default memory nominal=%u\n"
		"queue p cohort=c reclaim=LowerPriority borrow=LowerPriority weight=1000000000\n"
		"quota p default cpu nominal=0\n"
		"quota p default memory nominal=0\n",
		fair ? "true" : "false", candidates, candidates);
	for (unsigned i = 0; i < queues; i++) {
		strbuf_printf(&text,
			      "queue q%u cohort=c\n"
			      "quota q%u default cpu nominal=0\n"
			      "quota q%u default memory nominal=0\n",
			      i, i, i);
	}
	strbuf_add_c(&text, "workload ns/p queue=p cpu=1 memory=1 prio=100\n");
	quota_world_init(w, text.p);
	for (unsigned i = 0; i < candidates; i++) {
		snprintf(name, sizeof(name), "q%u", i % queues);
		add_candidate(w, i, quota_world_id(w, name), &rng);
	}
}

static double search(struct quota_world *w, int64_t amount, size_t *ret_victims)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(arena_destroyp) struct arena *scratch = arena_create(0);
	uint32_t pairs[] = { quota_world_pair(w, "default", "cpu"),
			     quota_world_pair(w, "default", "memory") };
	struct quota_amounts need = { 0 };
	struct victims_request r = { .forest = w->f,
				     .w = quota_world_workload(w, "p"),
				     .node = quota_world_id(w, "p"),
				     .need = &need,
				     .pairs = pairs,
				     .npairs = ARRAY_LEN(pairs),
				     .now = w->now,
				     .scratch = scratch };
	double best = INFINITY;

	quota_amounts_add(&need, pairs[0], amount * 1000);
	quota_amounts_add(&need, pairs[1], amount);
	for (int i = 0; i < ROUNDS; i++) {
		struct victims found;
		double start = growth_now_ms(), ms;

		victims_find(&r, arena, &found);
		ms = growth_now_ms() - start;
		best = ms < best ? ms : best;
		*ret_victims = found.n;
	}
	quota_amounts_finish(&need);
	return best;
}

static void bench(unsigned queues, bool fair)
{
	static const unsigned sizes[] = { 1250, 2500, 5000, 10000, 20000, 40000 };
	struct growth growth[NEEDS] = { 0 };
	char name[64];

	snprintf(name, sizeof(name), "%s, %u queues", fair ? "fair sharing" : "classical", queues);
	for (size_t s = 0; s < ARRAY_LEN(sizes); s++) {
		CLEANUP(quota_world_finish) struct quota_world w;
		const int64_t amounts[NEEDS] = { 1, sizes[s], sizes[s] + 1 };

		make_world(&w, sizes[s], queues, fair);
		for (int i = 0; i < NEEDS; i++) {
			size_t victims = 0;
			double ms = search(&w, amounts[i], &victims);

			growth_add(&growth[i], sizes[s], ms);
			printf("%s, %u candidates, %s: %.3f ms, %zu victims\n", name, sizes[s],
			       needs[i], ms, victims);
		}
	}
	for (int i = 0; i < NEEDS; i++) {
		printf("%s, %s: exponent %.2f\n", name, needs[i], growth_exponent(&growth[i]));
	}
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	bench(1, false);
	bench(100, false);
	bench(1, true);
	bench(100, true);
	bench(1000, true);
	return 0;
}
