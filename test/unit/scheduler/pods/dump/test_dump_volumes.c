#include "scheduler/pods/dump/dump_volumes.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/dump/dump.h"
#include "scheduler/pods/model/storage_capacity.h"
#include "scheduler/pods/model/volumes.h"
#include "unit/scheduler/pods/dump/dump_fixture.h"

static struct cluster *make(void)
{
	struct cluster *c = cluster_create();
	struct task *t = cluster_fixture_task(c, "t", NULL, 100);
	struct pod_claim of[] = { { .name = cluster_fixture_name(c, "data"),
				    .owner = cluster_fixture_name(c, "u") },
				  { .name = cluster_fixture_name(c, "other") } };
	struct pod_class k = { .claims = of,
			       .nclaims = 2,
			       .claims_in = cluster_fixture_name(c, "ns") };
	const char *values[] = { cluster_fixture_name(c, "a") };
	struct match_expr e = { .key = cluster_fixture_name(c, "zone"),
				.values = values,
				.nvalues = 1 };
	struct match_term term = { &e, 1, 0 };
	struct volume_limit limit = { cluster_fixture_name(c, "d"), 5 };

	pod_class_normalise(&k);
	cluster_task_set_class(c, t, cluster_class_intern(c, &k));
	(void)cluster_fixture_node(c, "n", 1000);
	volumes_set_limits(c, STR_LIT("n"), &limit, 1);
	volumes_set_class(c,
			  &(struct volumes_class_spec){ .name = STR_LIT("fast"),
							.waits = true,
							.restricted = true,
							.provisioner = cluster_fixture_name(c, "d"),
							.topologies = &term,
							.ntopologies = 1 });
	volumes_set_volume(c,
			   &(struct volumes_volume_spec){ .name = STR_LIT("v"),
							  .restricted = true,
							  .affinity = &term,
							  .naffinity = 1,
							  .zones = &term,
							  .nzones = 1,
							  .driver = cluster_fixture_name(c, "d") });
	(void)volumes_set_claim(
		c, &(struct volumes_claim_spec){
			   .key = STR_LIT("ns/data"),
			   .volume = STR_LIT("v"),
			   .klass = STR_LIT("fast"),
			   .uid = "c",
			   .owner = "u",
			   .bound = true,
			   .lost = true,
			   .deleting = true,
			   .form = { 7, VOLUME_ONCE_POD, true, cluster_fixture_name(c, "gold") },
			   .resource_version = 7 });
	return c;
}

/* A pod that waits for its claim keeps its time and its place. */
static void test_a_pod_that_is_being_bound(void **state)
{
	struct cluster *c = make(), *again;
	struct task *t = c->tasks.v[0];

	(void)state;
	(void)volumes_set_claim(c, &(struct volumes_claim_spec){ .key = STR_LIT("ns/other"),
								 .klass = STR_LIT("fast"),
								 .selected = "x" });
	cluster_task_set_status(c, t, TASK_BINDING, c->nodes.v[0]);
	volumes_wait(c, t, 77);
	volumes_select(c, t);
	volumes_written(volumes_find_claim(c, STR_LIT("ns/data")), true, 9);
	again = dump_fixture_reload(c);
	assert_int_equal(again->tasks.v[0]->bind_by, 77);
	assert_int_equal(again->binding.n, 1);
	assert_true(volumes_find_claim(again, STR_LIT("ns/other"))->writing);
	assert_int_equal(volumes_find_claim(again, STR_LIT("ns/other"))->node, 0);
	assert_int_equal(volumes_find_claim(again, STR_LIT("ns/data"))->written, 9);
	cluster_destroy(again);
	cluster_destroy(c);
}

/* A volume that is being reserved for a claim, and one with a claimRef. */
static void test_volumes_and_their_claims(void **state)
{
	struct cluster *c = make(), *again;
	struct label label = { cluster_fixture_name(c, "disk"), cluster_fixture_name(c, "ssd") };
	struct match_expr e = { .key = label.key, .op = MATCH_EXISTS };
	struct match_term selector = { &e, 1, 0 };
	struct volumes_volume_spec spec = { .name = STR_LIT("free"),
					    .klass = STR_LIT("fast"),
					    .form = { INT64_MAX, VOLUME_ONCE, false, NULL },
					    .labels = &label,
					    .nlabels = 1,
					    .available = true,
					    .uid = "f",
					    .resource_version = 3 };
	const struct volume *v;

	(void)state;
	(void)volumes_set_claim(c, &(struct volumes_claim_spec){ .key = STR_LIT("ns/other"),
								 .klass = STR_LIT("fast"),
								 .uid = "o",
								 .selector = &selector });
	volumes_set_volume(c, &spec);
	spec = (struct volumes_volume_spec){ .name = STR_LIT("named"),
					     .deleting = true,
					     .ref = STR_LIT("ns/other"),
					     .ref_uid = "o" };
	volumes_set_volume(c, &spec);
	volumes_take(volumes_find_claim(c, STR_LIT("ns/other")),
		     volumes_find_volume(c, STR_LIT("free")));
	again = dump_fixture_reload(c);
	v = volumes_find_volume(again, STR_LIT("free"));
	assert_true(v->writing);
	assert_string_equal(v->taker->key, "ns/other");
	assert_ptr_equal(v->taker->taken, v);
	assert_int_equal(v->form.bytes, INT64_MAX);
	assert_string_equal(v->labels.v[0].key, "disk");
	assert_int_equal(v->taker->selector->nexprs, 1);
	assert_int_equal(v->taker->refs.n, 1);
	cluster_destroy(again);
	volumes_claimed(c, volumes_find_volume(c, STR_LIT("free")), true, 9);
	again = dump_fixture_reload(c);
	v = volumes_find_volume(again, STR_LIT("free"));
	assert_int_equal(v->written, 9);
	assert_non_null(v->taker);
	assert_false(v->writing);
	cluster_destroy(again);
	cluster_destroy(c);
}

static void test_round_trip(void **state)
{
	struct cluster *c = make(), *again = dump_fixture_reload(c);

	(void)state;
	assert_int_equal(volumes_find_claim(again, STR_LIT("ns/other"))->users.n, 1);
	assert_false(volumes_find_claim(again, STR_LIT("ns/other"))->exists);
	cluster_destroy(again);
	cluster_destroy(c);
}

static void test_free_storage(void **state)
{
	struct cluster *c = make(), *again;
	const char *values[] = { cluster_fixture_name(c, "a") };
	struct match_expr e = { .key = cluster_fixture_name(c, "zone"),
				.values = values,
				.nvalues = 1 };
	struct match_term term = { &e, 1, 0 }, all = { .nexprs = 0 };
	struct storage_capacity_spec spec = { .key = STR_LIT("ns/p"),
					      .klass = STR_LIT("fast"),
					      .bytes = -1 };

	(void)state;
	(void)storage_capacity_set_driver(c, STR_LIT("d"), true);
	(void)storage_capacity_set(c, &spec);
	spec = (struct storage_capacity_spec){ STR_LIT("ns/q"), STR_LIT("other"), &term,
					       INT64_MAX };
	(void)storage_capacity_set(c, &spec);
	spec = (struct storage_capacity_spec){ STR_LIT("ns/r"), STR_LIT("fast"), &all, 0 };
	(void)storage_capacity_set(c, &spec);
	again = dump_fixture_reload(c);
	assert_true(storage_capacity_has_driver(again, STR_LIT("d")));
	assert_null(storage_capacity_find(again, STR_LIT("ns/p"))->nodes);
	assert_int_equal(storage_capacity_find(again, STR_LIT("ns/q"))->nodes->nexprs, 1);
	assert_int_equal(storage_capacity_find(again, STR_LIT("ns/r"))->nodes->nexprs, 0);
	assert_true(storage_capacity_find(again, STR_LIT("ns/r"))->klass->tracked);
	cluster_destroy(again);
	cluster_destroy(c);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *json, *text;
	} rows[] = {
		{ "{\"claims\":[{\"key\":\"data\",\"rv\":1}]}",
		  "claims[0]: key: not a namespace and a name" },
		{ "{\"claims\":[{\"key\":\"ns/data\",\"rv\":1,\"bound\":true}]}",
		  "claims[0]: volume: absent" },
		{ "{\"volumes\":[{}]}", "volumes[0]: name: absent" },
		{ "{\"volumes\":[{\"name\":\"v\",\"ref\":\"data\"}]}",
		  "volumes[0]: ref: not a namespace and a name" },
		{ "{\"volumes\":[{\"name\":\"v\"},{\"name\":\"w\"}],\"claims\":[{\"key\":\"ns/"
		  "data\","
		  "\"rv\":1,\"taken\":\"v\"},{\"key\":\"ns/data\",\"rv\":1,\"taken\":\"w\"}]}",
		  "claims[1]: taken: not a volume that the claim can get" },
		{ "{\"claims\":[{\"key\":\"ns/data\",\"rv\":1,\"taken\":\"v\"}]}",
		  "claims[0]: taken: not a volume that the claim can get" },
		{ "{\"storageClasses\":[{}]}", "storageClasses[0]: name: absent" },
		{ "{\"capacityDrivers\":[{}]}", "capacityDrivers[0]: name: absent" },
		{ "{\"storageCapacities\":[{\"key\":\"a/b\"}]}",
		  "storageCapacities[0]: key or class: absent" },
		{ "{\"storageCapacities\":[{\"key\":\"a/b\",\"class\":\"c\",\"bytes\":-2}]}",
		  "storageCapacities[0]: bytes: out of range" },
		{ "{\"volumes\":[{\"name\":\"v\",\"affinity\":[{\"weight\":0,\"exprs\":[{}]}]}]}",
		  "volumes[0]: key or op: a text is missing" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
		struct cluster *c = cluster_create();
		struct err err = ERR_INIT;

		unit_row_number(i);
		assert_int_equal(jdoc_parse(str_of(rows[i].json), &d, NULL), 0);
		assert_int_equal(dump_volumes_read(c, d, &err), -ERR_INVALID);
		assert_string_equal(err.text, rows[i].text);
		cluster_destroy(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_a_pod_that_is_being_bound),
		cmocka_unit_test(test_volumes_and_their_claims),
		cmocka_unit_test(test_free_storage),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests_name("dump/dump_volumes", tests, NULL, NULL);
}
