/* Queues that deserve more of one resource each, PodGroups with priorities, and controllers that
 * replace what was evicted: as long as nothing changes from outside, evictions come to an end, and
 * PodGroups evict each other in no circle. */
#include <inttypes.h>
#include <stdio.h>

#include "base/attrs.h"
#include "base/rng.h"
#include "lib/pods/evict_fixture.h"
#include "lib/seeds.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

enum { WORLDS = 300, QUEUES_MAX = 4, GROUPS_MAX = 8, PODS_MAX = 2, ROUNDS = 200, QUIET = 12 };

struct world {
	struct cycle_fixture f;
	struct rng rng;
	size_t nqueues, ngroups;
	struct podgroup *g[GROUPS_MAX];
	size_t want[GROUPS_MAX]; /* pods */
	struct res request[GROUPS_MAX];
	unsigned created;
	/* Pods of the first one were evicted for the second one, or it goes after that one by way
	 * of others. */
	bool after[GROUPS_MAX][GROUPS_MAX];
	size_t evictions, longer;
};

static size_t below(struct world *w, size_t n)
{
	return (size_t)rng_below(&w->rng, n);
}

static void add_queue(struct world *w, size_t i)
{
	char name[24];
	struct queue *q;

	snprintf(name, sizeof(name), "q%zu", i);
	q = cluster_fixture_queue(w->f.cluster, name, NULL, -1);
	for (size_t r = 0; r < w->nqueues; r++) {
		q->deserved.v[RES_FIRST_NAMED + r] = r == i ? 4 : 1 + (int64_t)below(w, 2);
	}
	q->deserved.v[RES_PODS] = 100;
	(void)queue_topology_changed(w->f.cluster);
}

static void add_node(struct world *w, size_t i)
{
	char name[24];
	struct node *n;
	struct res old;

	snprintf(name, sizeof(name), "n%zu", i);
	n = cluster_fixture_node(w->f.cluster, name, 0);
	old = n->allocatable;
	for (size_t r = 0; r < w->nqueues; r++) {
		n->allocatable.v[RES_FIRST_NAMED + r] = 4;
	}
	cluster_node_changed(w->f.cluster, n, &old, true);
}

static void add_group(struct world *w, size_t i)
{
	char name[24], queue[24];

	snprintf(name, sizeof(name), "g%zu", i);
	snprintf(queue, sizeof(queue), "q%zu", i % w->nqueues);
	w->g[i] = evict_fixture_podgroup(w->f.cluster, name, queue, 1, (int32_t)below(w, 3));
	w->g[i]->phase = PODGROUP_INQUEUE;
	w->want[i] = 1 + below(w, PODS_MAX);
	for (size_t r = 0; r < w->nqueues; r++) {
		w->request[i].v[RES_FIRST_NAMED + r] = below(w, 4) == 0 ? 2 : 4;
	}
}

static void start(struct world *w, uint64_t seed)
{
	*w = (struct world){ .evictions = 0 };
	rng_init(&w->rng, seed);
	cycle_fixture_init(&w->f, evict_fixture_conf);
	for (size_t i = 0; i < QUEUES_MAX; i++) {
		char name[16];

		/* The dimensions that count: of resources by name. */
		snprintf(name, sizeof(name), "example.com/r%zu", i);
		assert_true(res_names_add(w->f.cluster->res, str_of(name)) > 0);
	}
	w->nqueues = 2 + below(w, QUEUES_MAX - 1);
	w->ngroups = w->nqueues + below(w, GROUPS_MAX - w->nqueues + 1);
	for (size_t i = 0; i < w->nqueues; i++) {
		add_queue(w, i);
	}
	for (size_t i = 1 + below(w, 2); i > 0; i--) {
		add_node(w, i);
	}
	for (size_t i = 0; i < w->ngroups; i++) {
		add_group(w, i);
	}
}

static void add_pod(struct world *w, size_t i)
{
	struct pod_class k = { .request = w->request[i] };
	char name[16];
	struct task *t;

	snprintf(name, sizeof(name), "p%u", w->created++);
	t = cluster_fixture_task(w->f.cluster, name, w->g[i], 0);
	pod_class_normalise(&k);
	cluster_task_set_class(w->f.cluster, t, cluster_class_intern(w->f.cluster, &k));
	t->flags |= TASK_PREEMPTABLE;
	t->created = w->f.now;
	t->priority = w->g[i]->priority;
	cluster_task_changed(w->f.cluster, t);
}

static size_t index_of(const struct world *w, uint32_t task)
{
	size_t i = 0;

	while (w->g[i]->id != w->f.cluster->tasks.v[task]->podgroup) {
		i++;
	}
	return i;
}

/* All that go after the victim go after `by` and all before that one. */
static void note(struct world *w, size_t victim, size_t by)
{
	if (victim == by) {
		return;
	}
	assert_false(w->after[by][victim]);
	for (size_t i = 0; i < w->ngroups; i++) {
		for (size_t k = 0; k < w->ngroups; k++) {
			if ((i == victim || w->after[i][victim]) && (k == by || w->after[by][k])) {
				w->longer += !w->after[i][k] && (i != victim || k != by);
				w->after[i][k] = true;
			}
		}
	}
}

/* One cycle, the answers to its writes, and the end of its victims. True: it decided something. */
static bool play_round(struct world *w)
{
	struct cluster *c = w->f.cluster;
	bool decided = false;

	for (size_t i = 0; i < w->ngroups; i++) {
		while (w->g[i]->tasks.n < w->want[i]) {
			add_pod(w, i);
		}
	}
	(void)cycle_fixture_run(&w->f);
	for (size_t i = 0; i < w->f.decisions->n; i++) {
		const struct decision *d = &w->f.decisions->v[i];

		decided = decided || d->kind == DECISION_EVICT || d->kind == DECISION_BIND;
		if (d->kind == DECISION_EVICT) {
			w->evictions++;
			note(w, index_of(w, d->task), index_of(w, d->by));
		}
	}
	cycle_fixture_acknowledge(&w->f);
	for (size_t i = 0; i < c->tasks.n; i++) {
		if (c->tasks.v[i] != NULL && c->tasks.v[i]->status == TASK_RELEASING) {
			evict_fixture_end(c, c->tasks.v[i]->name);
		}
	}
	w->f.now += CYCLE_FIXTURE_S;
	return decided;
}

static void evictions_end(void **state)
{
	const struct seeds seeds = seeds_of_run(WORLDS);
	size_t evictions = 0, longer = 0;

	(void)state;
	for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
		struct world w;
		int quiet = 0, rounds = 0;

		print_message("seed %" PRIu64 "\n", seed);
		start(&w, seed);
		for (; rounds < ROUNDS && quiet < QUIET; rounds++) {
			quiet = play_round(&w) ? 0 : quiet + 1;
		}
		assert_int_equal(quiet, QUIET);
		evictions += w.evictions;
		longer += w.longer;
		cycle_fixture_finish(&w.f);
	}
	/* The worlds are such that circles would be made, also longer ones. */
	assert_true(!seeds.usual || (evictions > WORLDS && longer > WORLDS / 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(evictions_end),
	};

	return cmocka_run_group_tests_name("pods/cycle/evictions", tests, NULL, NULL);
}
