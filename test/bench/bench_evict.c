/* bench_evict: the decisions of the actions preempt and reclaim, no I/O: a gang of 500 pods in a
 * queue that fills 5,000 nodes, and reclaiming over 1,000 queues with 100,000 running pods; both
 * also at an eighth, a quarter and a half of that. CPU time, medians of cycles. */
#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "bench/growth.h"
#include "lib/pods/evict_fixture.h"
#include "scheduler/pods/ledger/ledger.h"

#define PER_NODE 20
#define ROUNDS 9

/* Nodes; queues, pods of the gang, and queues that reclaim are in proportion. */
static const int sizes[] = { 625, 1250, 2500, 5000 };

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Cycles over the same cluster: nothing is assumed. Returns the median. */
static double measure(struct cycle_fixture *f, size_t *ret_evicted)
{
	double v[ROUNDS];
	size_t evicted = 0;

	for (int i = 0; i < ROUNDS; i++) {
		double start = growth_now_ms();
		const struct decisions *d = cycle_run(f->cycle, f->cluster, f->now, NULL);

		v[i] = growth_now_ms() - start;
		evicted = 0;
		for (size_t k = 0; k < d->n; k++) {
			evicted += d->v[k].kind == DECISION_EVICT;
		}
	}
	qsort(v, ROUNDS, sizeof(v[0]), by_value);
	*ret_evicted = evicted;
	return v[ROUNDS / 2];
}

/* Everything that is there has been looked at. */
static void settle(struct cycle_fixture *f)
{
	for (int i = 0; i < 3; i++) {
		cycle_assume(f->cluster, cycle_run(f->cycle, f->cluster, f->now, NULL), f->now);
	}
}

/* Full nodes: pods of PodGroups with 10 members, in turns of the queues. */
static void fill(struct cycle_fixture *f, int nodes, int queues)
{
	struct podgroup *g = NULL;
	char name[32], queue[32];

	for (int n = 0; n < nodes; n++) {
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

static double bench_preempt(int nodes)
{
	struct cycle_fixture f;
	struct podgroup *g;
	char name[32];
	size_t evicted;
	double ms;

	cycle_fixture_init(&f, evict_fixture_conf);
	cluster_fixture_queue(f.cluster, "q-0000", NULL, -1);
	fill(&f, nodes, 1);
	settle(&f);
	g = evict_fixture_podgroup(f.cluster, "gang", "q-0000", nodes / 10, 9);
	g->phase = PODGROUP_INQUEUE;
	for (int i = 0; i < nodes / 10; i++) {
		snprintf(name, sizeof(name), "gang-%03d", i);
		cluster_fixture_task(f.cluster, name, g, 4000);
	}
	ms = measure(&f, &evicted);
	printf("preempting gang of %d (4 victims each), %d full nodes of %d pods: %zu evicted, "
	       "%.1f ms\n",
	       nodes / 10, nodes, PER_NODE, evicted, ms);
	cycle_fixture_finish(&f);
	return ms;
}

/* A tenth more queues have nothing of what they deserve, and one pod each that waits for it. */
static double bench_reclaim(int nodes)
{
	int queues = nodes / 5, all = queues + queues / 10;
	struct cycle_fixture f;
	char name[32], queue[32];
	size_t evicted;
	double idle, ms;

	cycle_fixture_init(&f, evict_fixture_conf);
	for (int i = 0; i < all; i++) {
		struct queue *q;

		snprintf(queue, sizeof(queue), "q-%04d", i);
		q = queue_get(f.cluster, str_of(queue));
		q->exists = true;
		q->deserved.v[RES_CPU] = 90000;
	}
	(void)queue_topology_changed(f.cluster);
	fill(&f, nodes, queues);
	settle(&f);
	idle = measure(&f, &evicted);
	for (int i = queues; i < all; i++) {
		struct podgroup *g;

		snprintf(queue, sizeof(queue), "q-%04d", i);
		snprintf(name, sizeof(name), "waits-%04d", i);
		g = evict_fixture_podgroup(f.cluster, name, queue, 1, 1);
		g->phase = PODGROUP_INQUEUE;
		cluster_fixture_task(f.cluster, name, g, 2000);
	}
	ms = measure(&f, &evicted);
	printf("reclaim, %d queues, %d running pods: nothing to do %.1f ms; %d queues reclaim for "
	       "a pod each: %zu evicted, %.1f ms\n",
	       queues, nodes * PER_NODE, idle, all - queues, evicted, ms);
	cycle_fixture_finish(&f);
	return ms;
}

int main(void)
{
	struct growth preempt = { 0 }, reclaim = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		growth_add(&preempt, sizes[i], bench_preempt(sizes[i]));
	}
	printf("preempting gang: exponent %.2f\n", growth_exponent(&preempt));
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		growth_add(&reclaim, sizes[i], bench_reclaim(sizes[i]));
	}
	printf("reclaim: exponent %.2f\n", growth_exponent(&reclaim));
	return 0;
}
