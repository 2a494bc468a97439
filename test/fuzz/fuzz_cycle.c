/* Random clusters and random events between cycles, from bytes: after every cycle the invariants
 * hold, the cluster is unchanged by deciding, and deciding twice gives the same. */
#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "lib/pods/cluster_checksum.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/pods/configurations.h"
#include "lib/pods/cycle_fixture.h"
#include "lib/pods/invariants.h"
#include "lib/pods/term_fixture.h"
#include "scheduler/pods/cycle/known_names.h"
#include "scheduler/pods/ledger/ledger.h"

#define TASKS_MAX 48
#define JOBS_MAX 10
#define QUEUES 5
#define NODES 4

struct input {
	const uint8_t *p;
	size_t n;
};

static uint8_t take(struct input *in)
{
	if (in->n == 0) {
		return 0;
	}
	in->n--;
	return *in->p++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *wrong)
{
	if (wrong != NULL) {
		fprintf(stderr, "%s\n", wrong);
		abort();
	}
}

static struct cycle *make_cycle(struct sched_conf *conf, struct input *in)
{
	struct cycle *cy = NULL;
	uint8_t b = take(in);

	conf->gates_admission = (b & 3) != 3;
	conf->reservation_timeout_ns = (int64_t)(b >> 4) * CYCLE_FIXTURE_S;
	if (cycle_create(conf, &cy, NULL) < 0) {
		abort();
	}
	return cy;
}

static void make_queues(struct cluster *c, struct input *in)
{
	static const char *const names[QUEUES] = { "q0", "q1", "q2", "q3", "q4" };

	for (int i = 0; i < QUEUES; i++) {
		uint8_t b = take(in);
		struct queue *q = cluster_fixture_queue(
			c, names[i], i == 0 || (b & 8) == 0 ? NULL : names[(b >> 4) % i],
			(b & 1) != 0 ? -1 : (b >> 2) * 100);

		q->state = (b & 7) == 6 ? QUEUE_CLOSED : QUEUE_OPEN;
		q->exists = b != 255;
	}
	if (queue_topology_changed(c)) {
		ledger_rebuild_sums(c);
	}
}

/* Labels and terms about other pods, of a third of the pods. */
static void make_neighbour(struct cluster *c, struct task *t, unsigned choice)
{
	static const char *const terms[] = {
		"near zone app=x",
		"away host app=x",
		"spread zone app=x; anyway host app=y",
		"prefer zone app=x weight=100; avoid zone app=y weight=7",
		"near zone app=y; avoid host *",
		"anyway zone app=x skew=3; anyway rack *",
		"",
	};

	if (choice % 3 == 0) {
		term_fixture_labels(c, t, choice % 2 == 0 ? "app=x" : "app=y");
		term_fixture_terms(c, t, terms[choice / 3 % ARRAY_LEN(terms)]);
	}
}

static void make_task(struct cluster *c, struct input *in, unsigned i)
{
	uint8_t a = take(in), b = take(in);
	char name[32], group[32], queue[8];
	struct task *t;
	struct podgroup *g;

	snprintf(name, sizeof(name), "p-w-%u", i);
	snprintf(group, sizeof(group), "j%u", a % JOBS_MAX);
	snprintf(queue, sizeof(queue), "q%u", a % JOBS_MAX % QUEUES);
	g = cluster_fixture_podgroup(c, group, queue, a % JOBS_MAX % 4);
	t = cluster_fixture_task(c, name, g, (b & 7) * 100);
	t->created = i;
	t->flags |= TASK_PREEMPTABLE;
	t->flags |= (b & 8) != 0 ? TASK_OPTED_IN | TASK_OUR_GATE : 0;
	t->flags |= (b & 0x30) == 0x30 ? TASK_FOREIGN_GATE : 0;
	t->flags |= (b & 0xc0) == 0xc0 ? TASK_OPTED_IN : 0;
	t->cond = a > 240 ? POD_COND_UNSCHEDULABLE : POD_COND_NONE;
	make_neighbour(c, t, 31u * a + b);
	cluster_task_changed(c, t);
}

static void acknowledge(struct cluster *c, struct task *t)
{
	if (t->charge == CHARGE_PATCHING || (t->flags & TASK_UNGATING) != 0) {
		t->flags &= ~(uint32_t)(TASK_OUR_GATE | TASK_UNGATING);
	}
	if (t->charge == CHARGE_PATCHING) {
		ledger_advance(c, t, CHARGE_UNGATED);
	}
	if (t->charge == CHARGE_WITHDRAWING) {
		ledger_release(c, t);
	}
	if (t->status == TASK_BINDING) {
		ledger_advance(c, t, CHARGE_BOUND);
		cluster_task_set_status(c, t, TASK_RUNNING, c->nodes.v[t->node]);
	}
	cluster_task_changed(c, t);
}

/* A write fails: the charge goes, or the pod is pending again. */
static void fail_write(struct cluster *c, struct task *t)
{
	if (t->charge == CHARGE_PATCHING) {
		ledger_release(c, t);
		t->flags |= TASK_PARKED;
	} else if (t->status == TASK_BINDING) {
		ledger_release(c, t);
		cluster_task_set_status(c, t, TASK_PENDING, NULL);
	}
	cluster_task_changed(c, t);
}

static void terminate(struct cluster *c, struct task *t)
{
	ledger_set_releasing(c, t, true);
	cluster_task_set_status(c, t, TASK_RELEASING,
				t->node == MODEL_NONE ? NULL : c->nodes.v[t->node]);
}

/* As in cache_charge.c: what has no node, and is not about to get one, keeps no charge. */
static void opt_out(struct cluster *c, struct task *t)
{
	t->flags &= ~(uint32_t)TASK_OPTED_IN;
	if (t->status == TASK_PENDING) {
		ledger_release(c, t);
	}
	cluster_task_changed(c, t);
}

static void set_limit(struct cluster *c, uint8_t b)
{
	char name[32];

	snprintf(name, sizeof(name), "q%u", b % QUEUES);
	cluster_fixture_queue(c, name, NULL, (b >> 3) * 100);
	if (queue_topology_changed(c)) {
		ledger_rebuild_sums(c);
	}
	ledger_rebuild_sums(c);
}

static void disturb(struct cluster *c, struct input *in)
{
	uint8_t what = take(in), which = take(in);
	struct task *t = c->tasks.n == 0 ? NULL : c->tasks.v[which % c->tasks.n];

	if (what % 8 == 7) {
		set_limit(c, which);
	}
	if (t == NULL) {
		return;
	}
	switch (what % 8) {
	case 0:
	case 1:
		for (size_t i = 0; i < c->tasks.n; i++) {
			if (c->tasks.v[i] != NULL) {
				acknowledge(c, c->tasks.v[i]);
			}
		}
		break;
	case 2:
		fail_write(c, t);
		break;
	case 3:
		ledger_release(c, t);
		cluster_task_remove(c, t);
		break;
	case 4:
		terminate(c, t);
		break;
	case 5:
		opt_out(c, t);
		break;
	default:
		acknowledge(c, t);
		break;
	}
}

static void step(struct cycle *cy, struct cluster *c, int64_t now)
{
	uint64_t before = cluster_checksum(c);
	const struct decisions *d = cycle_run(cy, c, now, NULL);
	struct decisions copy = { .v = xmalloc(d->n * sizeof(*d->v) + 1), .n = d->n };

	for (size_t i = 0; i < d->n; i++) {
		copy.v[i] = d->v[i];
	}
	d = cycle_run(cy, c, now, NULL);
	check(d->n == copy.n ? NULL : "deciding twice gives another number of decisions");
	for (size_t i = 0; i < d->n; i++) {
		check(d->v[i].kind == copy.v[i].kind && d->v[i].task == copy.v[i].task &&
				      d->v[i].node == copy.v[i].node
			      ? NULL
			      : "deciding twice gives other decisions");
	}
	free(copy.v);
	check(cluster_checksum(c) == before ? NULL : "the cluster was changed by deciding");
	check(invariants_of_decisions(c, d));
	cycle_assume(c, d, now);
	check(invariants_of_cluster(c));
	check(invariants_of_quota(c));
}

static struct sched_conf *load_conf(unsigned row, enum configurations_evict evict)
{
	const struct known_names_source from = { plugin_registry, plugin_registry_count,
						 action_registry, action_registry_count };
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct conf_options opt = { .warn = NULL };
	struct sched_conf *conf = NULL;
	struct known_names names;

	known_names_init(&names, &from);
	opt.known = known_names_conf(&names);
	configurations_add(row, evict, &text);
	if (conf_parse(strbuf_str(&text), "configuration", &opt, &conf, NULL) < 0) {
		abort();
	}
	known_names_finish(&names);
	return conf;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	/* By the size, so that inputs mean the same under each. */
	struct sched_conf *conf =
		load_conf(size % CONFIGURATIONS_COUNT,
			  (enum configurations_evict)(size % 2 == 0 ? 1 + size / 6 % 3 : 0));
	struct cycle *cy = make_cycle(conf, &in);
	struct cluster *c = cluster_create();
	int64_t now = CYCLE_FIXTURE_START;
	unsigned tasks = 0;

	make_queues(c, &in);
	for (int i = 0; i < NODES; i++) {
		char name[32], labels[64];
		struct node *n;

		snprintf(name, sizeof(name), "n%d", i);
		n = cluster_fixture_node(c, name, take(&in) * 10);
		n->unschedulable = i == 3;
		snprintf(labels, sizeof(labels), "host=%s,zone=z%d", name, i % 2);
		term_fixture_node_labels(c, n, labels);
	}
	while (in.n > 0 && now < CYCLE_FIXTURE_START + 40 * CYCLE_FIXTURE_S) {
		for (uint8_t add = take(&in) % 6; add > 0 && tasks < TASKS_MAX; add--) {
			make_task(c, &in, tasks++);
		}
		disturb(c, &in);
		disturb(c, &in);
		step(cy, c, now);
		now += CYCLE_FIXTURE_S;
	}
	cycle_destroy(cy);
	conf_destroy(conf);
	for (size_t i = 0; i < c->tasks.n; i++) {
		if (c->tasks.v[i] != NULL) {
			ledger_release(c, c->tasks.v[i]);
		}
	}
	cluster_destroy(c);
	return 0;
}
