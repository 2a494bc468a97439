/* A simulation reads a dump of another one: it must decide as that does. */
#include "scheduler/workloads/dump/manifest_dump.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "lib/unit.h"
#include "lib/workloads/workload_sim_fixture.h"
#include "scheduler/ctl/sim/sim_files.h"
#include "scheduler/ctl/sim/workload_simulation.h"
#include "scheduler/workloads/model/quota_store.h"

#define SCENARIOS "test/scenario/quota"
#define CYCLES 6

static const struct workload_status *status_of(const void *s, const struct workload *w)
{
	return workload_simulation_status(s, w);
}

static const struct quota_model *world_of(const struct workload_simulation *s)
{
	return forest_model(workload_simulation_forest(s));
}

static struct workload_simulation *simulate(struct sim_input *in, int64_t now)
{
	const struct workload_simulation_options opt = { .now = now, .lenient = true };
	struct workload_simulation *s = NULL;
	struct err err = ERR_INIT;

	if (workload_simulation_create(in, &opt, &s, &err) < 0) {
		fail_msg("%s", err.text);
	}
	return s;
}

static struct workload_simulation *read_again(const struct workload_simulation *s, int64_t now)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
	const struct manifest_dump_source source = { .status = status_of, .ctx = s };
	struct err err = ERR_INIT;

	manifest_dump_write(world_of(s), &source, &text);
	if (sim_input_add(in, "snapshot", strbuf_str(&text), &err) < 0) {
		fail_msg("%s in %s", err.text, text.p);
	}
	return simulate(in, now);
}

/* Appends admissions with their flavors and preemptions, in order. */
static void add_steps(struct workload_simulation *s, struct strbuf *out)
{
	const struct workload_step *v;
	size_t n;

	for (unsigned i = 0; i < CYCLES; i++) {
		(void)workload_simulation_run_cycle(s);
		(void)workload_simulation_stop_victims(s);
	}
	v = workload_simulation_steps(s, &n);
	for (size_t i = 0; i < n; i++) {
		if (v[i].kind == QUOTA_DECIDE_PENDING) {
			continue;
		}
		strbuf_printf(out, "%u %d %s %s %s", v[i].cycle, (int)v[i].kind, v[i].workload,
			      v[i].by, v[i].reason);
		for (size_t p = 0; p < v[i].npodsets; p++) {
			strbuf_printf(out, " %s x%d", v[i].podsets[p].name, v[i].podsets[p].count);
			for (size_t k = 0; k < v[i].podsets[p].n; k++) {
				strbuf_printf(out, " %s", v[i].podsets[p].v[k].flavor);
			}
		}
		strbuf_add_ch(out, '\n');
	}
}

static size_t compare(const char *path)
{
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
	CLEANUP(workload_simulation_destroyp) struct workload_simulation *a = NULL, *b = NULL;
	CLEANUP(strbuf_finish) struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;
	struct err err = ERR_INIT;

	if (sim_files_read(&path, 1, in, &err) < 0) {
		fail_msg("%s", err.text);
	}
	a = simulate(in, sim_input_youngest(in));
	b = read_again(a, sim_input_youngest(in));
	add_steps(a, &first);
	add_steps(b, &second);
	if (!str_eq(strbuf_str(&first), strbuf_str(&second))) {
		fail_msg("%s:\n%s\nis not\n%s", path, second.p, first.p);
	}
	return first.len;
}

static void every_scenario_decides_the_same(void **state)
{
	DIR *d = opendir(SCENARIOS);
	size_t files = 0, decided = 0;

	(void)state;
	assert_non_null(d);
	for (const struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
		CLEANUP(xmalloc_freep) char *path = xmalloc_printf(SCENARIOS "/%s", e->d_name);

		if (str_has_suffix(str_of(e->d_name), ".yaml")) {
			files++;
			decided += compare(path) > 0;
		}
	}
	closedir(d);
	assert_true(files > 30 && decided > 25);
}

static void an_evicted_one_keeps_what_it_holds(void **state)
{
	static const char yaml[] =
		QUOTA_SIM_CLUSTER QUOTA_SIM_WORKLOAD("low", "3", "0", QUOTA_SIM_HOLDS("3"))
			QUOTA_SIM_WORKLOAD("high", "4", "9", "");
	CLEANUP(workload_simulation_destroyp) struct workload_simulation *a = NULL, *b = NULL;
	const struct workload *w;

	(void)state;
	a = workload_sim_fixture_create(yaml, NULL);
	(void)workload_simulation_run_cycle(a);
	b = read_again(a, 0);
	w = quota_workload_find(world_of(b), STR_LIT("team/low"));
	assert_true(w->flags.evicted && w->holding.node != MODEL_NONE);
	assert_true(workload_status_is_true(workload_simulation_status(b, w), "Preempted"));
	w = quota_workload_find(world_of(b), STR_LIT("team/high"));
	assert_int_equal(w->object.priority, 9);
	assert_true(w->pending.queue != MODEL_NONE);
}

static struct cluster_queue *only_queue(const struct workload_simulation *s)
{
	const struct quota_model *q = world_of(s);

	for (size_t i = 0; i < q->nodes.n; i++) {
		if (q->nodes.v[i] != NULL && q->nodes.v[i]->is_queue) {
			return q->nodes.v[i]->queue;
		}
	}
	fail();
	return NULL;
}

static void a_queue_that_terminates_still_does(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		CLEANUP(workload_simulation_destroyp)
		struct workload_simulation *a = NULL, *b = NULL;

		a = workload_sim_fixture_create(QUOTA_SIM_CLUSTER, NULL);
		only_queue(a)->terminating = i != 0;
		b = read_again(a, 0);
		assert_int_equal(only_queue(b)->terminating, i != 0);
	}
}

/* Admission fair sharing orders by it. */
static void usage_of_local_queues_is_kept(void **state)
{
	static const char yaml[] = QUOTA_SIM_CLUSTER
		"{" QUOTA_SIM_API
		"kind: LocalQueue, metadata: {name: used, namespace: team}, spec: "
		"{clusterQueue: cq}, status: {fairSharing: {admissionFairSharingStatus: "
		"{consumedResources: {cpu: 3}, lastUpdate: \"2026-01-15T09:00:00Z\"}}}}\n";
	CLEANUP(workload_simulation_destroyp) struct workload_simulation *s = NULL;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct manifest_dump_source source = { .status = status_of };

	(void)state;
	source.ctx = s =
		workload_sim_fixture_create(yaml, "admissionFairSharing: {usageHalfLifeTime: 1h}");
	manifest_dump_write(world_of(s), &source, &text);
	assert_non_null(strstr(text.p, "\"consumedResources\":{\"cpu\":\"3\"}"));
	assert_non_null(strstr(text.p, "\"lastUpdate\":\"2026-01-15T09:00:00Z\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_scenario_decides_the_same),
		cmocka_unit_test(an_evicted_one_keeps_what_it_holds),
		cmocka_unit_test(a_queue_that_terminates_still_does),
		cmocka_unit_test(usage_of_local_queues_is_kept),
	};

	return cmocka_run_group_tests_name("workloads/dump/manifest_dump", tests, NULL, NULL);
}
