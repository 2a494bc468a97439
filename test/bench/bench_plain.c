/* bench_plain: CPU time of the deciding thread for one plain pod, in one queue with n PodGroups of
 * one pod each: the cycle that decides all of them, and the cycles after answers that come one at a
 * time. Constant if a cycle costs what has changed, and not what there is. The answers of a sample
 * are measured; all the others are still awaited meanwhile. The number of nodes is the same for all
 * sizes, but where nodes are short. All of it with the built-in configuration and with that of
 * Volcano's chart. A size as argument measures that one alone, for a profiler; a second one, such
 * as 5, one row of it alone. */
#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "bench/growth.h"
#include "lib/pods/configurations.h"
#include "lib/pods/cycle_fixture.h"
#include "scheduler/pods/ledger/ledger.h"

#define SAMPLE 500
#define PODS_OF_NODE 100
#define PODS_MAX 50000

/* Where the pods are when their answers come. */
enum stage {
	STAGE_ROOM,   /* nodes and quota for all of them */
	STAGE_QUOTA,  /* the queue has room for half of them: the others wait to be enqueued */
	STAGE_NODES,  /* nodes for half of them: the others wait for room */
	STAGE_STREAM, /* all run, and more come one at a time */
	STAGE_COUNT_
};

static const char *const stages[STAGE_COUNT_] = { "room for all", "quota for half",
						  "nodes for half", "a stream" };

static const struct {
	const char *name;
	unsigned row; /* of lib/pods/configurations.h */
} confs[] = { { "built in", CONFIGURATIONS_BUILT_IN }, { "Volcano's", CONFIGURATIONS_PROPORTION } };

static struct task *add_pod(struct cycle_fixture *f, size_t i)
{
	char name[32];
	struct podgroup *g;
	struct task *t;

	snprintf(name, sizeof(name), "job-%06zu", i);
	g = cluster_fixture_podgroup(f->cluster, name, "q", 1);
	g->created = (int64_t)i;
	g->has_min_resources = true;
	g->min_resources.v[RES_CPU] = 1000;
	g->min_resources.v[RES_PODS] = 1;
	snprintf(name, sizeof(name), "pod-w-%06zu", i);
	t = cluster_fixture_task(f->cluster, name, g, 1000);
	t->created = (int64_t)i;
	return t;
}

static void step(struct cycle_fixture *f)
{
	cycle_assume(f->cluster, cycle_run(f->cycle, f->cluster, f->now, NULL), f->now);
	f->now += CYCLE_FIXTURE_S / 1000;
}

static void answer(struct cluster *c, struct task *t)
{
	ledger_advance(c, t, CHARGE_BOUND);
	cluster_task_set_status(c, t, TASK_RUNNING, c->nodes.v[t->node]);
}

/* The next pod to be answered, from pods[*i] on; in a stream it is a new one. */
static struct task *next_bound(struct cycle_fixture *f, struct task *const *pods, size_t n,
			       size_t *i, enum stage stage)
{
	struct task *t;

	if (stage == STAGE_STREAM) {
		t = add_pod(f, n + (*i)++);
		step(f);
		return t;
	}
	while (pods[*i]->status != TASK_BINDING) {
		(*i)++;
	}
	return pods[(*i)++];
}

/* Milliseconds for a pod: its part of the first cycles, and what follows from its answer. */
static double measure(size_t n, enum stage stage, unsigned conf)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct task **pods = xmalloc_zero(n, sizeof(*pods));
	size_t nodes = (stage == STAGE_NODES ? n / 2 : PODS_MAX + SAMPLE) / PODS_OF_NODE, at = 0;
	struct cycle_fixture f;
	double first, rest;

	configurations_add(conf, CONFIGURATIONS_EVICT_NONE, &text);
	cycle_fixture_init(&f, strbuf_str(&text).p);
	cluster_fixture_queue(f.cluster, "q", NULL,
			      stage == STAGE_QUOTA ? (int64_t)n / 2 * 1000 : -1);
	for (size_t i = 0; i < nodes; i++) {
		char name[32];

		snprintf(name, sizeof(name), "node-%05zu", i);
		cluster_fixture_node(f.cluster, name, PODS_OF_NODE * 1000);
	}
	for (size_t i = 0; i < n; i++) {
		pods[i] = add_pod(&f, i);
	}
	first = growth_now_ms();
	step(&f);
	step(&f);
	for (size_t i = 0; stage == STAGE_STREAM && i < n; i++) {
		answer(f.cluster, pods[i]);
	}
	rest = growth_now_ms();
	first = stage == STAGE_STREAM ? 0 : rest - first;
	for (size_t i = 0; i < SAMPLE; i++) {
		answer(f.cluster, next_bound(&f, pods, n, &at, stage));
		step(&f);
	}
	rest = growth_now_ms() - rest;
	cycle_fixture_finish(&f);
	free(pods);
	return first / (double)n + rest / SAMPLE;
}

static void bench(enum stage stage, size_t conf)
{
	static const size_t sizes[] = { 1000, 2000, 5000, 10000, 20000, PODS_MAX };
	struct growth growth = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		double ms = measure(sizes[i], stage, confs[conf].row);

		growth_add(&growth, (double)sizes[i], ms);
		printf("%s, one queue, %zu plain pods, %s: %.4f ms for each pod\n",
		       confs[conf].name, sizes[i], stages[stage], ms);
	}
	printf("%s, one queue, plain pods, %s: exponent %.2f\n", confs[conf].name, stages[stage],
	       growth_exponent(&growth));
}

/* Rows are numbered from 1 on, the stages of one configuration after those of the other. */
static void bench_row(size_t row, size_t n)
{
	enum stage stage = (enum stage)((row - 1) % STAGE_COUNT_);
	size_t conf = (row - 1) / STAGE_COUNT_;

	if (n == 0) {
		bench(stage, conf);
	} else {
		printf("%zu: %s, %s: %.4f ms for each pod\n", row, confs[conf].name, stages[stage],
		       measure(n, stage, confs[conf].row));
	}
}

static bool parse(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	return str_to_u64(str_of(text), ret) && *ret >= min && *ret <= max;
}

int main(int argc, char **argv)
{
	const uint64_t rows = STAGE_COUNT_ * ARRAY_LEN(confs);
	uint64_t n = 0, one = 0;

	if ((argc > 1 && !parse(argv[1], 2 * SAMPLE, PODS_MAX, &n)) ||
	    (argc > 2 && !parse(argv[2], 1, rows, &one))) {
		fprintf(stderr, "usage: bench_plain [PODS [ROW]]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (uint64_t row = 1; row <= rows; row++) {
		if (one == 0 || row == one) {
			bench_row(row, n);
		}
	}
	return 0;
}
