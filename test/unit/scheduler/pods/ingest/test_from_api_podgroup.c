#include <stdio.h>

#include "api/volcano/scheduling.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "collections/intern.h"
#include "lib/unit.h"
#include "scheduler/pods/ingest/from_api.h"
#include "unit/scheduler/pods/ingest/api_fixture.h"

static int read_group(struct cluster *c, const char *json, struct err *err)
{
	struct arena *arena = arena_create(0);
	int r = from_api_podgroup(c, api_fixture_decode(arena, &scheduling_pod_group_fields, json),
				  STR_LIT("default"), err);

	arena_destroy(arena);
	return r;
}

#define GROUP(members) "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\"}" members "}"

static void test_queue_and_defaults(void **state)
{
	struct cluster *c = cluster_create();
	const struct podgroup *g;

	(void)state;
	assert_int_equal(read_group(c, GROUP(""), NULL), 0);
	g = cluster_podgroup_find(c, STR_LIT("ns/g"));
	assert_true(g->exists);
	assert_string_equal(intern_name(c->names, g->queue_name), "default");
	assert_int_equal(g->min_member, 0);
	assert_int_equal(g->phase, PODGROUP_PENDING);
	assert_false(g->has_min_resources);
	assert_int_equal(
		read_group(c, GROUP(",\"spec\":{\"queue\":\"q\",\"minResources\":{}}"), NULL), 0);
	assert_string_equal(intern_name(c->names, g->queue_name), "q");
	assert_true(g->has_min_resources); /* there, though empty */
	assert_null(queue_find(c, STR_LIT("default")));
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_phases(void **state)
{
	static const struct {
		const char *json;
		enum podgroup_phase phase;
	} rows[] = {
		{ GROUP(",\"status\":{\"phase\":\"Pending\"}"), PODGROUP_PENDING },
		{ GROUP(",\"status\":{\"phase\":\"Inqueue\"}"), PODGROUP_INQUEUE },
		{ GROUP(",\"status\":{\"phase\":\"Running\"}"), PODGROUP_RUNNING },
		{ GROUP(",\"status\":{\"phase\":\"Unknown\"}"), PODGROUP_UNKNOWN },
		{ GROUP(",\"status\":{\"phase\":\"Completed\"}"), PODGROUP_COMPLETED },
		{ GROUP(",\"status\":{\"phase\":\"\"}"), PODGROUP_PENDING },
	};
	struct cluster *c = cluster_create();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(read_group(c, rows[i].json, NULL), 0);
		assert_int_equal(cluster_podgroup_find(c, STR_LIT("ns/g"))->phase, rows[i].phase);
	}
	cluster_destroy(c);
}

static void test_fields_that_are_not_supported(void **state)
{
	static const struct {
		const char *json;
		enum podgroup_unsupported unsupported;
	} rows[] = {
		{ GROUP(",\"spec\":{\"networkTopology\":{}}"), PODGROUP_HARD_TOPOLOGY },
		{ GROUP(",\"spec\":{\"networkTopology\":{\"mode\":\"hard\"}}"),
		  PODGROUP_HARD_TOPOLOGY },
		{ GROUP(",\"spec\":{\"networkTopology\":{\"mode\":\"soft\"}}"),
		  PODGROUP_SUPPORTED },
		{ GROUP(",\"spec\":{\"subGroupPolicy\":[{\"name\":\"a\"}]}"), PODGROUP_SUB_GROUPS },
		{ GROUP(",\"spec\":{\"subGroupPolicy\":[]}"), PODGROUP_SUPPORTED },
		{ GROUP(",\"spec\":{\"networkTopology\":{},\"subGroupPolicy\":[{\"name\":\"a\"}]}"),
		  PODGROUP_HARD_TOPOLOGY },
		{ GROUP(""), PODGROUP_SUPPORTED },
	};
	struct cluster *c = cluster_create();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].json);
		assert_int_equal(read_group(c, rows[i].json, NULL), 0);
		assert_int_equal(cluster_podgroup_find(c, STR_LIT("ns/g"))->unsupported,
				 rows[i].unsupported);
	}
	cluster_destroy(c);
}

static void test_roles_are_sorted_and_replaced(void **state)
{
	struct cluster *c = cluster_create();
	const struct podgroup *g;

	(void)state;
	/* "z" gets the lower id, though it comes later in the map. */
	assert_int_equal(intern_id(c->names, STR_LIT("z")), 0);
	assert_int_equal(
		read_group(c, GROUP(",\"spec\":{\"minTaskMember\":{\"a\":1,\"z\":2}}"), NULL), 0);
	g = cluster_podgroup_find(c, STR_LIT("ns/g"));
	assert_int_equal(g->role_min.n, 2);
	assert_int_equal(g->role_min.v[0].min, 2);
	assert_int_equal(g->role_min.v[1].min, 1);
	assert_int_equal(read_group(c, GROUP(",\"spec\":{\"minTaskMember\":{\"a\":4}}"), NULL), 0);
	assert_int_equal(g->role_min.n, 1);
	assert_int_equal(g->role_min.v[0].min, 4);
	/* Roles that ask for nothing take no room: there may be 75,000. */
	assert_int_equal(
		read_group(c, GROUP(",\"spec\":{\"minTaskMember\":{\"a\":0,\"b\":0}}"), NULL), 0);
	assert_int_equal(g->role_min.n, 0);
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

enum { NAMES = 2000 };

/* One vector of 16 KB, not one for each name, which would be 16 MB. */
static void test_many_minimum_resources_are_one_vector(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
	struct cluster *c = cluster_create();
	const struct podgroup *g;
	char name[32];

	(void)state;
	strbuf_add_c(&json, "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\"},\"spec\":{"
			    "\"minResources\":{\"requests.cpu\":\"1\",\"none\":\"3\"");
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "x.io/n%d", i);
		(void)res_names_add(c->res, str_of(name));
		strbuf_printf(&json, ",\"%s\":\"2\"", name);
	}
	strbuf_add_c(&json, "}}}");
	res_names_sweep(c->res);
	assert_int_equal(read_group(c, json.p, NULL), 0);
	assert_false(res_names_wants_sweep(c->res));
	g = cluster_podgroup_find(c, STR_LIT("ns/g"));
	assert_int_equal(res_get(&g->min_resources, RES_FIRST_NAMED), 2);
	assert_int_equal(res_get(&g->min_resources, RES_FIRST_NAMED + NAMES - 1), 2);
	assert_int_equal(res_get(&g->min_resources, RES_CPU), 0);
	assert_int_equal(g->min_unoffered.n, 1);
	cluster_destroy(c);
}

static void test_keeps_what_only_we_know(void **state)
{
	struct cluster *c = cluster_create();
	struct podgroup *g;

	(void)state;
	assert_int_equal(read_group(c, GROUP(""), NULL), 0);
	g = cluster_podgroup_find(c, STR_LIT("ns/g"));
	g->status_hash = 7;
	assert_int_equal(read_group(c, GROUP(",\"spec\":{\"minMember\":2}"), NULL), 0);
	assert_int_equal(g->status_hash, 7);
	cluster_destroy(c);
}

static void test_refuses(void **state)
{
	static const struct {
		const char *json, *text;
	} rows[] = {
		{ "{\"metadata\":{\"name\":\"g\"}}", "metadata.name: missing" },
		{ GROUP(",\"spec\":{\"minMember\":-1}"), "spec.minMember: negative" },
		{ GROUP(",\"spec\":{\"minResources\":{\"cpu\":\"-1\"}}"),
		  "spec.minResources: cpu: negative" },
	};
	struct cluster *c = cluster_create();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = ERR_INIT;

		assert_int_equal(read_group(c, rows[i].json, &err), -ERR_INVALID);
		assert_string_equal(err.text, rows[i].text);
		assert_int_equal(c->podgroups.n, 0);
	}
	cluster_destroy(c);
}

/* The queue that it is in is looked at again. */
static void test_an_update_shows_in_its_queue(void **state)
{
	struct cluster *c = cluster_create();
	const struct queue *q;
	uint64_t before;

	(void)state;
	assert_int_equal(read_group(c, GROUP(",\"spec\":{\"queue\":\"q\",\"minMember\":3}"), NULL),
			 0);
	q = queue_find(c, STR_LIT("q"));
	before = q->podgroups_gen;
	assert_int_equal(read_group(c, GROUP(",\"spec\":{\"queue\":\"q\",\"minMember\":2}"), NULL),
			 0);
	assert_true(q->podgroups_gen > before);
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_update_shows_in_its_queue),
		cmocka_unit_test(test_queue_and_defaults),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_fields_that_are_not_supported),
		cmocka_unit_test(test_roles_are_sorted_and_replaced),
		cmocka_unit_test(test_many_minimum_resources_are_one_vector),
		cmocka_unit_test(test_keeps_what_only_we_know),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests_name("pods/ingest/from_api_podgroup", tests, NULL, NULL);
}
