/* bench_evict: the decisions of the actions preempt and reclaim, no I/O: a gang of 500 pods in a
 * queue that fills 5,000 nodes, and reclaiming over 1,000 queues with 100,000 running pods. Medians
 * of cycles. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "lib/pods/evict_fixture.h"
#include "scheduler/pods/ledger/ledger.h"

#define NODES 5000
#define PER_NODE 20
#define GANG 500
#define QUEUES 1000
#define STARVING 100
#define ROUNDS 9

static double now_s(void)
{
	return (double)clock_mono(clock_real()) / 1e9;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Cycles over the same cluster: nothing is assumed. */
static void measure(struct cycle_fixture *f, const char *what)
{
	double v[ROUNDS];
	size_t evicted = 0;

	for (int i = 0; i < ROUNDS; i++) {
		double start = now_s();
		const struct decisions *d = cycle_run(f->cycle, f->cluster, f->now, NULL);

		v[i] = (now_s() - start) * 1e3;
		evicted = 0;
		for (size_t k = 0; k < d->n; k++) {
			evicted += d->v[k].kind == DECISION_EVICT;
		}
	}
	qsort(v, ROUNDS, sizeof(v[0]), by_value);
	printf("%s: %zu evicted, %.1f ms\n", what, evicted, v[ROUNDS / 2]);
}

/* Everything that is there has been looked at. */
static void settle(struct cycle_fixture *f)
{
	for (int i = 0; i < 3; i++) {
		cycle_assume(f->cluster, cycle_run(f->cycle, f->cluster, f->now, NULL), f->now);
	}
}

/* Full nodes: pods of PodGroups with 10 members, in turns of the queues. */
static void fill(struct cycle_fixture *f, int queues)
{
	struct podgroup *g = NULL;
	char name[32], queue[32];

	for (int n = 0; n < NODES; n++) {
		struct node *node;

		snprintf(name, sizeof(name), "node-%05d", n);
		node = cluster_fixture_node(f->cluster, name, PER_NODE * 1000);
		for (int i = 0; i < PER_NODE; i++) {
			int pod = n * PER_NODE + i;

			if (pod % 10 == 0) {
				snprintf(name, sizeof(name), "job-%06d", pod / 10);
				snprintf(queue, sizeof(queue), "q-%04d", pod / 10 % queues);
				g = evict_fixture_podgroup(f->cluster, name, queue, 1, 1);
				g->phase = PODGROUP_RUNNING;
			}
			snprintf(name, sizeof(name), "pod-%06d", pod);
			evict_fixture_running(f->cluster, name, g, 1000, node)->created = pod;
		}
	}
}

static void bench_preempt(void)
{
	struct cycle_fixture f;
	struct podgroup *g;
	char name[32];

	cycle_fixture_init(&f, evict_fixture_conf);
	cluster_fixture_queue(f.cluster, "q-0000", NULL, -1);
	fill(&f, 1);
	settle(&f);
	g = evict_fixture_podgroup(f.cluster, "gang", "q-0000", GANG, 9);
	g->phase = PODGROUP_INQUEUE;
	for (int i = 0; i < GANG; i++) {
		snprintf(name, sizeof(name), "gang-%03d", i);
		cluster_fixture_task(f.cluster, name, g, 4000);
	}
	measure(&f, "preempting gang of 500 (4 victims each), 5000 full nodes of 20 pods");
	cycle_fixture_finish(&f);
}

/* The first queues have nothing of what they deserve, and one pod each that waits for it. */
static void bench_reclaim(void)
{
	struct cycle_fixture f;
	char name[32], queue[32];

	cycle_fixture_init(&f, evict_fixture_conf);
	for (int i = 0; i < QUEUES + STARVING; i++) {
		struct queue *q;

		snprintf(queue, sizeof(queue), "q-%04d", i);
		q = queue_get(f.cluster, str_of(queue));
		q->exists = true;
		q->deserved.v[RES_CPU] = 90000;
	}
	(void)queue_topology_changed(f.cluster);
	fill(&f, QUEUES);
	settle(&f);
	measure(&f, "a cycle with reclaim, 1000 queues, 100000 running pods, nothing to do");
	for (int i = QUEUES; i < QUEUES + STARVING; i++) {
		struct podgroup *g;

		snprintf(queue, sizeof(queue), "q-%04d", i);
		snprintf(name, sizeof(name), "waits-%04d", i);
		g = evict_fixture_podgroup(f.cluster, name, queue, 1, 1);
		g->phase = PODGROUP_INQUEUE;
		cluster_fixture_task(f.cluster, name, g, 2000);
	}
	measure(&f, "the same, 100 queues reclaim for a pod each");
	cycle_fixture_finish(&f);
}

int main(void)
{
	bench_preempt();
	bench_reclaim();
	return 0;
}
