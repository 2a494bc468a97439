/* bench_domains: placing pods of which some must be near others, away from them or spread, and the
 * same pods without such terms. Prints one line per figure. */
#include <stdio.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "lib/pods/cycle_fixture.h"
#include "lib/pods/term_fixture.h"

#define PODS 50000
#define NODES 5000
#define ZONES 10
#define GANG 10

static double now_s(void)
{
	return (double)clock_mono(clock_real()) / 1e9;
}

static void add_nodes(struct cycle_fixture *f)
{
	char name[32], labels[80];

	for (int i = 0; i < NODES; i++) {
		struct node *n;

		snprintf(name, sizeof(name), "node-%05d", i);
		snprintf(labels, sizeof(labels), "host=%s,zone=z%d", name, i % ZONES);
		n = cluster_fixture_node(f->cluster, name, 16000);
		term_fixture_node_labels(f->cluster, n, labels);
	}
}

/* Gangs of GANG pods with a label of their own; of every `every`th gang each pod has a term. */
static void add_pods(struct cycle_fixture *f, const char *terms, int every)
{
	struct podgroup *g = NULL;
	char name[32], app[32], text[160];

	for (int i = 0; i < PODS; i++) {
		int gang = i / GANG;
		struct task *t;

		if (i % GANG == 0) {
			snprintf(name, sizeof(name), "job-%06d", gang);
			g = cluster_fixture_podgroup(f->cluster, name, "q", GANG);
			g->phase = PODGROUP_INQUEUE;
			g->created = i;
		}
		snprintf(name, sizeof(name), "pod-%06d", i);
		snprintf(app, sizeof(app), "app=job-%06d", gang);
		snprintf(text, sizeof(text), "%s %s", terms, app);
		t = cluster_fixture_task(f->cluster, name, g, 1000);
		term_fixture_labels(f->cluster, t, app);
		if (every > 0 && gang % every == 0) {
			term_fixture_terms(f->cluster, t, text);
		}
		t->created = i;
	}
}

static void bench(const char *conf, const char *about, const char *terms, int every)
{
	struct cycle_fixture f;
	const struct decisions *d;
	double start, end;
	size_t bound = 0;

	cycle_fixture_init(&f, conf);
	cluster_fixture_queue(f.cluster, "q", NULL, -1);
	add_nodes(&f);
	add_pods(&f, terms, every);
	start = now_s();
	d = cycle_run(f.cycle, f.cluster, f.now, NULL);
	end = now_s();
	for (size_t i = 0; i < d->n; i++) {
		bound += d->v[i].kind == DECISION_BIND;
	}
	printf("place %d pods in gangs of %d onto %d nodes in %d zones, %s: %zu bound, "
	       "%.0f pods/s\n",
	       PODS, GANG, NODES, ZONES, about, bound, (double)bound / (end - start));
	cycle_fixture_finish(&f);
}

int main(void)
{
	static const char scored[] =
		"actions: \"enqueue, allocate, backfill\"\n"
		"tiers:\n"
		"- plugins: [{name: priority}, {name: gang}]\n"
		"- plugins: [{name: predicates}, {name: capacity, enableHierarchy: true}, "
		"{name: nodeorder}]\n";

	bench(NULL, "without terms", "", 0);
	bench(NULL, "a tenth near each other by zone", "near zone", 10);
	bench(NULL, "a tenth away from each other by host", "away host", 10);
	bench(NULL, "a tenth spread over zones", "spread zone", 10);
	bench(NULL, "all spread over zones", "spread zone", 1);
	bench(scored, "scored, without terms", "", 0);
	bench(scored, "all prefer each other by zone", "prefer zone", 1);
	bench(scored, "a tenth avoid each other by host", "avoid host", 10);
	bench(scored, "all spread over zones anyway", "anyway zone", 1);
	return 0;
}
