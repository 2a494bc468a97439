/* bench_core: figures of the core alone, no I/O: placing pods on nodes, an idle cycle over many
 * gated pods, the decision for a gang. Prints one line per figure. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "lib/pods/cycle_fixture.h"
#include "scheduler/pods/ledger/ledger.h"

#define PODS 50000
#define NODES 5000
#define GATED 100000
#define QUEUES 1000
#define ROUNDS 100

static double now_s(void)
{
	return (double)clock_mono(clock_real()) / 1e9;
}

static void add_nodes(struct cycle_fixture *f, int n)
{
	char name[32];

	for (int i = 0; i < n; i++) {
		struct res old;
		struct node *node;

		snprintf(name, sizeof(name), "node-%05d", i);
		node = cluster_fixture_node(f->cluster, name, 16000);
		old = node->allocatable;
		node->allocatable.v[RES_MEMORY] = INT64_C(64) << 30;
		cluster_node_changed(f->cluster, node, &old, false);
	}
}

/* pods in jobs of `per_podgroup`, of `shapes` different sizes. */
static void add_pods(struct cycle_fixture *f, int pods, int per_podgroup, int shapes)
{
	struct podgroup *g = NULL;
	char name[32];

	for (int i = 0; i < pods; i++) {
		struct task *t;

		if (i % per_podgroup == 0) {
			snprintf(name, sizeof(name), "job-%06d", i / per_podgroup);
			g = cluster_fixture_podgroup(f->cluster, name, "q", per_podgroup);
			g->phase = PODGROUP_INQUEUE;
			g->created = i;
		}
		snprintf(name, sizeof(name), "pod-w-%06d", i);
		t = cluster_fixture_task(f->cluster, name, g, 1000 + 10 * (i % shapes));
		t->created = i;
	}
}

static size_t count_kind(const struct decisions *d, enum decision_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		n += d->v[i].kind == kind;
	}
	return n;
}

static void bench_place(int per_podgroup, int shapes)
{
	struct cycle_fixture f;
	const struct decisions *d;
	double start, end;

	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "q", NULL, -1);
	add_nodes(&f, NODES);
	add_pods(&f, PODS, per_podgroup, shapes);
	start = now_s();
	d = cycle_run(f.cycle, f.cluster, f.now, NULL);
	end = now_s();
	printf("place %d pods in gangs of %d, %d shapes, onto %d nodes: %zu bound, %.0f pods/s\n",
	       PODS, per_podgroup, shapes, NODES, count_kind(d, DECISION_BIND),
	       (double)count_kind(d, DECISION_BIND) / (end - start));
	cycle_fixture_finish(&f);
}

static void add_gated(struct cycle_fixture *f, int queues, int per_queue)
{
	char name[48];

	for (int q = 0; q < queues; q++) {
		snprintf(name, sizeof(name), "q-%04d", q);
		queue_get(f->cluster, str_of(name))->exists = true;
		queue_get(f->cluster, str_of(name))->capability.v[RES_CPU] = 1000;
	}
	(void)queue_topology_changed(f->cluster);
	for (int i = 0; i < queues * per_queue; i++) {
		struct podgroup *g;

		snprintf(name, sizeof(name), "q-%04d", i % queues);
		char *podgroup = xmalloc_printf("job-%06d", i);

		g = cluster_fixture_podgroup(f->cluster, podgroup, name, 1);
		g->phase = PODGROUP_INQUEUE;
		g->created = i;
		free(podgroup);
		snprintf(name, sizeof(name), "pod-w-%06d", i);
		cycle_fixture_gated(f, name, g, 1000 + i % 7)->created = i;
	}
}

static void run_and_assume(struct cycle_fixture *f, const char *what)
{
	double start = now_s(), end;
	const struct decisions *d = cycle_run(f->cycle, f->cluster, f->now, NULL);

	end = now_s();
	printf("%s: %zu ungated, %zu decisions, %.3f ms\n", what, count_kind(d, DECISION_UNGATE),
	       d->n, (end - start) * 1e3);
	cycle_assume(f->cluster, d, f->now);
	f->now += CYCLE_FIXTURE_S;
}

static void bench_idle(void)
{
	struct cycle_fixture f;
	struct mallinfo2 before, after;
	double start, end;
	size_t n = 0;

	cycle_fixture_init(&f, NULL);
	add_gated(&f, QUEUES, GATED / QUEUES);
	run_and_assume(&f, "first cycle over 100000 gated pods in 1000 queues");
	run_and_assume(&f, "second cycle");
	run_and_assume(&f, "third cycle");
	before = mallinfo2();
	start = now_s();
	for (int i = 0; i < ROUNDS; i++) {
		n += cycle_run(f.cycle, f.cluster, f.now, NULL)->n;
	}
	end = now_s();
	after = mallinfo2();
	printf("idle cycle over %d gated pods in %d queues: %.4f ms, %zu decisions, %zd bytes more "
	       "held\n",
	       GATED, QUEUES, (end - start) * 1e3 / ROUNDS, n,
	       (ssize_t)(after.uordblks - before.uordblks));
	cycle_fixture_finish(&f);
}

/* One queue that holds everything and has no room, looked at again because something changed. */
static void bench_full_queue(void)
{
	struct cycle_fixture f;

	cycle_fixture_init(&f, NULL);
	add_gated(&f, 1, GATED);
	run_and_assume(&f, "first cycle over 100000 gated pods in one queue");
	run_and_assume(&f, "second cycle");
	f.cluster->queues_gen++;
	run_and_assume(&f, "the same queue after a change elsewhere");
	cycle_fixture_finish(&f);
}

static void bench_gang(int size)
{
	struct cycle_fixture f;
	struct podgroup *g;
	char name[32];

	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "q", NULL, -1);
	add_nodes(&f, NODES);
	g = cluster_fixture_podgroup(f.cluster, "gang", "q", size);
	for (int i = 0; i < size; i++) {
		snprintf(name, sizeof(name), "pod-w-%06d", i);
		cycle_fixture_gated(&f, name, g, 1000)->created = i;
	}
	snprintf(name, sizeof(name), "gang of %d: quota", size);
	run_and_assume(&f, name);
	cycle_fixture_acknowledge(&f);
	snprintf(name, sizeof(name), "gang of %d: nodes", size);
	run_and_assume(&f, name);
	cycle_fixture_finish(&f);
}

int main(void)
{
	static const int gangs[] = { 1, 10, 512 }, shapes[] = { 1, 10, 50 };

	for (size_t g = 0; g < ARRAY_LEN(gangs); g++) {
		for (size_t s = 0; s < ARRAY_LEN(shapes); s++) {
			bench_place(gangs[g], shapes[s]);
		}
	}
	bench_idle();
	bench_full_queue();
	bench_gang(3);
	bench_gang(512);
	return 0;
}
