#include "scheduler/multikueue/records/fleet_offers.h"

#include "lib/unit.h"

#include "api/kueue/kueue_workload.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/multikueue/fleet_fixture.h"

#define CHECK(controller, parameters)                                                              \
	"{'spec':{'controllerName':'" controller "','parameters':" parameters "}}"
#define OURS "kueue.x-k8s.io/multikueue"
#define CONFIG(name) "{'apiGroup':'kueue.x-k8s.io','kind':'MultiKueueConfig','name':'" name "'}"

static bool handle(struct fleet_offers *o, struct sched_msg *m)
{
	bool changed = fleet_offers_handle(o, m);

	message_free(m);
	return changed;
}

static bool set(struct fleet_offers *o, enum sched_resource r, const char *key, const char *json)
{
	return handle(o, fleet_fixture_object(r, key, 1, json));
}

static struct fleet_offers *begin(void)
{
	struct fleet_offers *o = fleet_offers_create();

	assert_true(set(o, SCHED_ADMISSION_CHECKS, "mk", CHECK(OURS, CONFIG("all"))));
	assert_true(set(o, SCHED_MULTIKUEUE_CONFIGS, "all", "{'spec':{'clusters':['b','a']}}"));
	return o;
}

static void test_clusters_in_order(void **state UNUSED)
{
	struct fleet_offers *o = begin();
	const struct field_strs *c = fleet_offers_clusters(o, "mk");

	assert_int_equal(c->n, 2);
	assert_string_equal(c->v[0], "b");
	assert_string_equal(c->v[1], "a");
	assert_true(set(o, SCHED_MULTIKUEUE_CONFIGS, "all", "{'spec':{'clusters':['c']}}"));
	c = fleet_offers_clusters(o, "mk");
	assert_int_equal(c->n, 1);
	assert_string_equal(c->v[0], "c");
	fleet_offers_destroy(o);
}

static void test_checks_that_name_no_config(void **state UNUSED)
{
	static const struct {
		const char *name, *check;
	} rows[] = {
		{ "other controller", CHECK("example.com/x", CONFIG("all")) },
		{ "no controller", "{'spec':{'parameters':" CONFIG("all") "}}" },
		{ "no parameters", "{'spec':{'controllerName':'" OURS "'}}" },
		{ "no spec", "{}" },
		{ "other group", CHECK(OURS, "{'apiGroup':'example.com','kind':"
					     "'MultiKueueConfig','name':'all'}") },
		{ "no group", CHECK(OURS, "{'kind':'MultiKueueConfig','name':'all'}") },
		{ "other kind",
		  CHECK(OURS, "{'apiGroup':'kueue.x-k8s.io','kind':'Other','name':'all'}") },
		{ "no kind", CHECK(OURS, "{'apiGroup':'kueue.x-k8s.io','name':'all'}") },
		{ "no name", CHECK(OURS, "{'apiGroup':'kueue.x-k8s.io','kind':"
					 "'MultiKueueConfig'}") },
		{ "missing config", CHECK(OURS, CONFIG("other")) },
	};
	struct fleet_offers *o = begin();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
		assert_true(set(o, SCHED_ADMISSION_CHECKS, "mk", rows[i].check));
		assert_null(fleet_offers_clusters(o, "mk"));
	}
	assert_null(fleet_offers_clusters(o, "missing"));
	assert_null(fleet_offers_clusters(o, NULL));
	fleet_offers_destroy(o);
}

static void test_deleted(void **state UNUSED)
{
	struct fleet_offers *o = begin();

	assert_true(handle(o, fleet_fixture_deleted(SCHED_MULTIKUEUE_CONFIGS, "all")));
	assert_null(fleet_offers_clusters(o, "mk"));
	assert_false(handle(o, fleet_fixture_deleted(SCHED_MULTIKUEUE_CONFIGS, "all")));
	assert_true(set(o, SCHED_MULTIKUEUE_CONFIGS, "all", "{'spec':{'clusters':['a']}}"));
	assert_non_null(fleet_offers_clusters(o, "mk"));
	/* A check and a config of one name are two objects. */
	assert_false(handle(o, fleet_fixture_deleted(SCHED_ADMISSION_CHECKS, "all")));
	assert_true(handle(o, fleet_fixture_deleted(SCHED_ADMISSION_CHECKS, "mk")));
	assert_null(fleet_offers_clusters(o, "mk"));
	fleet_offers_destroy(o);
	fleet_offers_destroy(NULL);
}

static void test_messages_without_effect(void **state UNUSED)
{
	struct fleet_offers *o = begin();
	struct sched_msg *bad = message_new(SCHED_MSG_BAD_OBJECT);

	bad->resource = SCHED_MULTIKUEUE_CONFIGS;
	bad->key = str_of("all");
	assert_false(handle(o, bad));
	assert_non_null(fleet_offers_clusters(o, "mk"));
	assert_false(set(o, SCHED_MULTIKUEUE_CLUSTERS, "all", "{}"));
	assert_false(handle(o, fleet_fixture_deleted(SCHED_MULTIKUEUE_CLUSTERS, "all")));
	assert_int_equal(fleet_offers_clusters(o, "mk")->n, 2);
	fleet_offers_destroy(o);
}

static void test_first_check_counts(void **state UNUSED)
{
	static const struct {
		const char *name, *checks, *want;
	} rows[] = {
		{ "none", "[]", NULL },
		{ "of others alone", "[{'name':'foreign'},{'name':'missing'}]", NULL },
		{ "without a name", "[{'state':'Pending'}]", NULL },
		{ "after others", "[{'name':'foreign'},{'name':'mk'}]", "mk" },
		{ "first", "[{'name':'mk2'},{'name':'mk'}]", "mk2" },
		{ "first, without a config", "[{'name':'bare'},{'name':'mk'}]", "bare" },
	};
	struct fleet_offers *o = begin();

	(void)set(o, SCHED_ADMISSION_CHECKS, "mk2", CHECK(OURS, CONFIG("all")));
	(void)set(o, SCHED_ADMISSION_CHECKS, "bare", "{'spec':{'controllerName':'" OURS "'}}");
	(void)set(o, SCHED_ADMISSION_CHECKS, "foreign", CHECK("example.com/x", CONFIG("all")));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
		const struct api_check_state *found;
		struct sched_msg *m;

		unit_row(rows[i].name);
		strbuf_printf(&json, "{'status':{'admissionChecks':%s}}", rows[i].checks);
		m = fleet_fixture_object(SCHED_WORKLOADS, "ns/w", 1, json.p);
		found = fleet_offers_check(o, m->object);
		if (rows[i].want == NULL) {
			assert_null(found);
		} else {
			assert_string_equal(found->name, rows[i].want);
		}
		message_free(m);
	}
	fleet_offers_destroy(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clusters_in_order),
		cmocka_unit_test(test_checks_that_name_no_config),
		cmocka_unit_test(test_deleted),
		cmocka_unit_test(test_messages_without_effect),
		cmocka_unit_test(test_first_check_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
