/* Manifests of any content for `headgatectl simulate`: both engines run cycles over them, and
 * between cycles victims stop and objects are deleted. The accounts hold after each step, and equal
 * manifests give equal reports. Both as they are, and as an API server reads them. */
#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/pods/ledger_verify.h"
#include "scheduler/ctl/manifest/strict_input.h"
#include "scheduler/ctl/sim/sim_input.h"
#include "scheduler/ctl/sim/sim_report.h"
#include "scheduler/ctl/sim/simulation.h"
#include "scheduler/ctl/sim/workload_simulation.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/workloads/forest/forest.h"

#define CYCLES 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct play {
	struct sim_input *in;
	struct simulation *pods;           /* NULL: its manifests are refused */
	struct workload_simulation *quota; /* likewise */
};

static void create(struct play *p)
{
	const int64_t now = sim_input_youngest(p->in);
	struct workload_simulation_options quota = { .now = now };
	struct simulation_options pods = { .now = now };

	if (workload_simulation_create(p->in, &quota, &p->quota, NULL) < 0) {
		quota.lenient = true;
		(void)workload_simulation_create(p->in, &quota, &p->quota, NULL);
	}
	(void)simulation_create(p->in, &pods, &p->pods, NULL);
}

static void check_text(const char *problem)
{
	if (problem != NULL) {
		fprintf(stderr, "%s\n", problem);
		abort();
	}
}

/* Usage is never negative, and nothing of a cycle is left to be undone. */
static void check_forest(const struct forest *f)
{
	const struct quota_model *q = forest_model(f);

	if (forest_mark(f) != 0) {
		check_text("a cycle has left something to be undone");
	}
	for (uint32_t i = 0; i < q->nodes.n; i++) {
		size_t n = 0;
		const uint32_t *pairs;

		if (q->nodes.v[i] == NULL) {
			continue;
		}
		pairs = forest_pairs(f, i, &n);
		for (size_t k = 0; k < n; k++) {
			if (forest_usage(f, i, pairs[k]) < 0) {
				check_text("usage below zero");
			}
		}
	}
}

static void check(const struct play *p)
{
	if (p->pods != NULL) {
		check_text(cluster_verify(simulation_cluster(p->pods)));
		check_text(ledger_verify(simulation_cluster(p->pods)));
	}
	if (p->quota != NULL) {
		check_forest(workload_simulation_forest(p->quota));
	}
}

/* One object of CYCLES goes, another one after each cycle. */
static void delete_some(const struct play *p, unsigned cycle)
{
	size_t n;
	struct sim_object *const *objects = sim_input_objects(p->in, &n);

	for (size_t i = cycle; i < n; i += CYCLES) {
		const struct str key = str_of(objects[i]->key);

		if (p->quota != NULL) {
			(void)workload_simulation_delete(p->quota, objects[i]->kind, key);
		}
		if (p->pods != NULL) {
			(void)simulation_delete(p->pods, objects[i]->kind, key);
		}
		check(p);
	}
}

static void run(const struct play *p, unsigned cycle)
{
	if (p->quota != NULL) {
		(void)workload_simulation_run_cycle(p->quota);
		check(p);
		(void)workload_simulation_stop_victims(p->quota);
	}
	if (p->pods != NULL) {
		(void)simulation_run_cycle(p->pods);
	}
	check(p);
	if (cycle >= 2) { /* the first cycles show the manifests as they are */
		delete_some(p, cycle);
	}
}

static void ignore(void *ctx UNUSED, const char *text UNUSED)
{
}

/* Appends what `simulate --show all` prints; nothing if the API would refuse the manifests. */
static void play(struct str text, bool as_is, struct strbuf *ret)
{
	static const struct strict_input_options quiet = { .problem = ignore, .warn = ignore };
	static const struct sim_report_show all = { true, true, true, true };
	struct play p = { .in = sim_input_create(NULL, NULL) };
	CLEANUP(strict_input_destroyp)
	struct strict_input *strict = as_is ? NULL : strict_input_create(&quiet, p.in);
	bool usable;

	usable = sim_input_add(p.in, "f.yaml", text, NULL) == 0;
	usable = as_is ||
		 (usable && strict_input_finish(strict, NULL, sim_input_youngest(p.in), NULL) == 0);
	if (usable) {
		create(&p);
	}
	for (unsigned i = 0; i < CYCLES; i++) {
		run(&p, i);
	}
	if (p.pods != NULL) {
		const struct sim_report_parts parts = { p.pods, p.quota,
							as_is ? NULL
							      : strict_input_report(strict) };

		sim_report_json(&parts, &all, ret);
	}
	simulation_destroyp(&p.pods);
	workload_simulation_destroyp(&p.quota);
	sim_input_destroyp(&p.in);
}

static void play_twice(struct str text, bool as_is)
{
	CLEANUP(strbuf_finish) struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;

	play(text, as_is, &first);
	play(text, as_is, &second);
	if (!str_eq(strbuf_str(&first), strbuf_str(&second))) {
		fprintf(stderr, "%s\n--- and then:\n%s\n", first.p, second.p);
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct str text = { (const char *)data, size };

	play_twice(text, true);
	play_twice(text, false);
	return 0;
}
