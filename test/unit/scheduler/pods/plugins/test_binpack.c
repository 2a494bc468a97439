#include "scheduler/pods/plugins/binpack.h"

#include <math.h>
#include <stdio.h>

#include "base/attrs.h"
#include "base/err.h"
#include "lib/pods/hooks_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/session/hooks.h"

enum { GPU = RES_FIRST_NAMED, CPU_BIT = 1 << RES_CPU, MEM_BIT = 1 << RES_MEMORY };
enum { GPU_BIT = 1 << RES_FIRST_NAMED };

static const struct {
	const char *what;
	int64_t request[3], used[3], allocatable[3]; /* cpu, memory, gpu */
	double weight[3];
	uint32_t weighted;
	double plugin, expected;
} by_hand[] = {
	{ "the example: (3/4 + 4/16) / 2",
	  { 1, 2, 0 },
	  { 2, 2, 0 },
	  { 4, 16, 0 },
	  { 1, 1, 0 },
	  CPU_BIT | MEM_BIT,
	  1,
	  50 },
	{ "full node",
	  { 2, 8, 0 },
	  { 2, 8, 0 },
	  { 4, 16, 0 },
	  { 1, 1, 0 },
	  CPU_BIT | MEM_BIT,
	  1,
	  100 },
	{ "weights 5 and 1: (5 * 3/4 + 4/16) / 6",
	  { 1, 2, 0 },
	  { 2, 2, 0 },
	  { 4, 16, 0 },
	  { 5, 1, 0 },
	  CPU_BIT | MEM_BIT,
	  1,
	  400.0 / 6 },
	{ "the weight of the plugin multiplies",
	  { 1, 2, 0 },
	  { 2, 2, 0 },
	  { 4, 16, 0 },
	  { 1, 1, 0 },
	  CPU_BIT | MEM_BIT,
	  10,
	  500 },
	{ "weight 0 switches it off",
	  { 1, 2, 0 },
	  { 2, 2, 0 },
	  { 4, 16, 0 },
	  { 1, 1, 0 },
	  CPU_BIT | MEM_BIT,
	  0,
	  0 },
	{ "one dimension too full: 0",
	  { 1, 15, 0 },
	  { 0, 2, 0 },
	  { 4, 16, 0 },
	  { 1, 1, 0 },
	  CPU_BIT | MEM_BIT,
	  1,
	  0 },
	{ "what is not requested does not count",
	  { 1, 0, 0 },
	  { 2, 16, 0 },
	  { 4, 16, 0 },
	  { 1, 1, 0 },
	  CPU_BIT | MEM_BIT,
	  1,
	  75 },
	{ "a resource without weight does not count",
	  { 1, 2, 1 },
	  { 2, 2, 3 },
	  { 4, 16, 4 },
	  { 1, 1, 0 },
	  CPU_BIT | MEM_BIT,
	  1,
	  50 },
	{ "nor does it when it is full",
	  { 1, 2, 5 },
	  { 2, 2, 3 },
	  { 4, 16, 4 },
	  { 1, 1, 0 },
	  CPU_BIT | MEM_BIT,
	  1,
	  50 },
	{ "a listed one does: (3/4 + 4/16 + 2 * 4/4) / 4",
	  { 1, 2, 1 },
	  { 2, 2, 3 },
	  { 4, 16, 4 },
	  { 1, 1, 2 },
	  CPU_BIT | MEM_BIT | GPU_BIT,
	  1,
	  75 },
	{ "quirk: absent on the node, it adds its weight but no score: 1 / 4",
	  { 1, 2, 1 },
	  { 2, 2, 0 },
	  { 4, 16, 0 },
	  { 1, 1, 2 },
	  CPU_BIT | MEM_BIT | GPU_BIT,
	  1,
	  25 },
	{ "quirk: with weight 0 not even being too full counts",
	  { 1, 15, 0 },
	  { 2, 2, 0 },
	  { 4, 16, 0 },
	  { 1, 0, 0 },
	  CPU_BIT | MEM_BIT,
	  1,
	  75 },
	{ "all weights 0",
	  { 1, 2, 0 },
	  { 2, 2, 0 },
	  { 4, 16, 0 },
	  { 0, 0, 0 },
	  CPU_BIT | MEM_BIT,
	  1,
	  0 },
	{ "no request",
	  { 0, 0, 0 },
	  { 2, 2, 0 },
	  { 4, 16, 0 },
	  { 1, 1, 0 },
	  CPU_BIT | MEM_BIT,
	  1,
	  0 },
};

static void test_scores_computed_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(by_hand); i++) {
		static const unsigned dims[3] = { RES_CPU, RES_MEMORY, GPU };
		struct binpack_weight v[3];
		struct binpack_weights w = { by_hand[i].plugin, v, 0 };
		struct res request = { .v = { 0 } }, used = request, allocatable = request;
		double score;

		for (size_t d = 0; d < 3; d++) {
			request.v[dims[d]] = by_hand[i].request[d];
			used.v[dims[d]] = by_hand[i].used[d];
			allocatable.v[dims[d]] = by_hand[i].allocatable[d];
			if ((by_hand[i].weighted & UINT32_C(1) << dims[d]) != 0) {
				v[w.n++] = (struct binpack_weight){ dims[d], by_hand[i].weight[d] };
			}
		}
		score = binpack_score(&w, &request, &used, &allocatable);
		print_message("%s: %f\n", by_hand[i].what, score);
		assert_true(fabs(score - by_hand[i].expected) < 1e-9);
	}
}

static void set(struct hooks_fixture *f, struct res *r, unsigned dim, int64_t amount)
{
	struct res_edit e = res_edit_begin(f->cluster->res, r);

	res_edit_set(&e, dim, amount);
	res_edit_end(&e);
}

/* others: names of resources that the cluster had before. */
static double score_with(const char *arguments, unsigned others)
{
	struct pod_class k = { .request = { .v = { [RES_CPU] = 1, [RES_MEMORY] = 2 } } };
	struct hooks_fixture f;
	struct node *n;
	char tiers[256], name[32];
	double score;
	int gpu;

	snprintf(tiers, sizeof(tiers), "- plugins:\n  - {name: binpack, arguments: {%s}}\n",
		 arguments);
	hooks_fixture_init(&f, tiers, plugin_registry, plugin_registry_count);
	for (unsigned i = 0; i < others; i++) {
		snprintf(name, sizeof(name), "example.com/r%u", i);
		(void)res_names_add(f.cluster->res, str_of(name));
	}
	gpu = res_names_add(f.cluster->res, STR_LIT("nvidia.com/gpu"));
	set(&f, &k.request, (unsigned)gpu, 1);
	n = cluster_fixture_node(f.cluster, "n", 4);
	n->allocatable.v[RES_MEMORY] = 4;
	set(&f, &n->allocatable, (unsigned)gpu, 1);
	hooks_fixture_open(&f);
	score = hooks_node_score(f.s, &k, n);
	hooks_fixture_finish(&f);
	return score;
}

/* An empty node of 4 cpu, 4 memory, 1 gpu; a request of 1, 2, 1: fractions 1/4, 1/2, 1. */
static void test_arguments(void **state)
{
	static const struct {
		const char *arguments;
		double expected;
	} rows[] = {
		{ "", 37.5 },
		{ "binpack.weight: 2", 75 },
		{ "binpack.weight: \"0\"", 0 },
		{ "binpack.cpu: 0", 50 },
		{ "binpack.cpu: 3", (0.75 + 0.5) / 4 * 100 },
		{ "binpack.memory: 3", (0.25 + 1.5) / 4 * 100 },
		{ "binpack.memory: -3", 37.5 },
		{ "binpack.resources: nvidia.com/gpu", 1.75 / 3 * 100 },
		{ "binpack.resources: \"other,, nvidia.com/gpu\"", 1.75 / 3 * 100 },
		{ "binpack.resources: \" nvidia.com/gpu , other \", "
		  "binpack.resources.nvidia.com/gpu: 2",
		  2.75 / 4 * 100 },
		{ "binpack.resources: nvidia.com/gpu, binpack.resources.nvidia.com/gpu: -1",
		  1.75 / 3 * 100 },
		{ "binpack.resources: \"nvidia.com/gpu, nvidia.com/gpu\"", 1.75 / 3 * 100 },
		{ "binpack.resources.nvidia.com/gpu: 2", 37.5 }, /* not listed */
		{ "binpack.resources: \"\"", 37.5 },
		{ "binpack.resources: \",\", binpack.resources.: heavy", 37.5 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		/* The weight is that of the name, however many others there are. */
		for (unsigned others = 0; others <= 40; others += 40) {
			double score = score_with(rows[i].arguments, others);

			print_message("%s: %f\n", rows[i].arguments, score);
			assert_true(fabs(score - rows[i].expected) < 1e-5);
		}
	}
}

static void test_arguments_that_are_no_numbers(void **state)
{
	static const struct {
		const char *key, *list;
	} rows[] = {
		{ "binpack.weight", "" },
		{ "binpack.cpu", "" },
		{ "binpack.memory", "" },
		{ "binpack.resources.gpu", "gpu" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct conf_arg v[] = { { rows[i].key, "heavy" },
					      { "binpack.resources", rows[i].list } };
		const struct plugin_args args = { .v = v, .n = 2 };
		struct err err = ERR_INIT;
		void *s = NULL;

		unit_row(rows[i].key);
		assert_int_equal(binpack_ops.create(&args, &s, &err), -ERR_INVALID);
		assert_null(s);
		assert_non_null(strstr(err.text, rows[i].key));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scores_computed_by_hand),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_arguments_that_are_no_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
