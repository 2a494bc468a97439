#include "api/storage/storage.h"
#include "base/arena.h"
#include "base/err.h"
#include "lib/unit.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/model/volumes.h"
#include "unit/scheduler/pods/ingest/api_fixture.h"

static struct cluster *c;
static struct arena *arena;

static int setup(void **state)
{
	(void)state;
	c = cluster_create();
	arena = arena_create(0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	cluster_destroy(c);
	arena_destroy(arena);
	return 0;
}

static const struct claim *claim(const char *json)
{
	bool changed;

	assert_int_equal(
		from_api_volumes_claim(c, api_fixture_decode(arena, &storage_claim_fields, json),
				       &changed, NULL),
		0);
	return volumes_find_claim(c, STR_LIT("ns/data"));
}

static void test_claims(void **state)
{
	const struct claim *cl = claim("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"data\"}}");
	struct err err = ERR_INIT;
	bool changed;

	(void)state;
	assert_true(cl->exists);
	assert_false(cl->bound || cl->lost || cl->deleting || cl->once);
	cl = claim("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"data\",\"uid\":\"u\","
		   "\"deletionTimestamp\":\"2025-06-15T15:06:40Z\",\"annotations\":{"
		   "\"pv.kubernetes.io/bind-completed\":\"yes\"},\"ownerReferences\":[{\"uid\":"
		   "\"o\",\"controller\":true}]},\"spec\":{\"volumeName\":\"v\",\"accessModes\":["
		   "\"ReadWriteOncePod\"],\"storageClassName\":\"fast\"},\"status\":{\"phase\":"
		   "\"Lost\"}}");
	assert_true(cl->bound && cl->lost && cl->deleting && cl->once);
	assert_string_equal(cl->owner, "o");
	assert_string_equal(cl->volume->name, "v");
	assert_string_equal(cl->klass->name, "fast");
	assert_int_equal(
		from_api_volumes_claim(c, api_fixture_decode(arena, &storage_claim_fields, "{}"),
				       &changed, &err),
		-ERR_INVALID);
	assert_string_equal(err.text, "metadata.name: missing");
}

static void test_volumes_keep_their_zones_and_terms(void **state)
{
	const struct volume *v;

	(void)state;
	(void)claim("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"data\"},\"spec\":{"
		    "\"volumeName\":\"v\"}}");
	assert_int_equal(
		from_api_volumes_volume(
			c,
			api_fixture_decode(
				arena, &storage_volume_fields,
				"{\"metadata\":{\"name\":\"v\",\"labels\":{\"x\":\"y\","
				"\"topology.kubernetes.io/zone\":\"b__a\"}},\"spec\":{\"csi\":{"
				"\"driver\":\"d\"},\"nodeAffinity\":{\"required\":{"
				"\"nodeSelectorTerms\":[{}]}}}}"),
			arena, NULL),
		0);
	v = volumes_find_claim(c, STR_LIT("ns/data"))->volume;
	assert_true(v->exists && v->restricted);
	assert_int_equal(v->naffinity, 0);
	assert_int_equal(v->nzones, 1);
	assert_int_equal(v->zones->exprs[0].nvalues, 2);
	assert_string_equal(v->driver, "d");
}

static void test_classes(void **state)
{
	const struct storage_class *k;

	(void)state;
	k = claim("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"data\"},\"spec\":{"
		  "\"storageClassName\":\"fast\"}}")
		    ->klass;
	assert_int_equal(
		from_api_volumes_storage_class(
			c,
			api_fixture_decode(arena, &storage_class_fields,
					   "{\"metadata\":{\"name\":\"fast\"},\"provisioner\":"
					   "\"kubernetes.io/no-provisioner\",\"volumeBindingMode\":"
					   "\"WaitForFirstConsumer\"}"),
			arena, NULL),
		0);
	assert_true(k->exists && k->waits);
	assert_null(k->provisioner);
	assert_false(k->restricted);
	assert_int_equal(
		from_api_volumes_storage_class(
			c,
			api_fixture_decode(arena, &storage_class_fields,
					   "{\"metadata\":{\"name\":\"fast\"},\"provisioner\":"
					   "\"d\",\"volumeBindingMode\":\"Immediate\","
					   "\"allowedTopologies\":[{\"matchLabelExpressions\":[{"
					   "\"key\":\"zone\",\"values\":[\"a\"]}]}]}"),
			arena, NULL),
		0);
	assert_false(k->waits);
	assert_string_equal(k->provisioner, "d");
	assert_true(k->restricted);
	assert_int_equal(k->ntopologies, 1);
	assert_int_equal(k->topologies[0].nexprs, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_claims, setup, teardown),
		cmocka_unit_test_setup_teardown(test_volumes_keep_their_zones_and_terms, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_classes, setup, teardown),
	};

	return cmocka_run_group_tests_name("ingest/from_api_volumes", tests, NULL, NULL);
}
