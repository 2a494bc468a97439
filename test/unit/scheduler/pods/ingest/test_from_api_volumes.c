#include "api/storage/storage.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "lib/unit.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/model/storage_capacity.h"
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
				       arena, &changed, NULL),
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
	assert_false(cl->bound || cl->lost || cl->deleting || cl->form.access != 0);
	cl = claim("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"data\",\"uid\":\"u\","
		   "\"deletionTimestamp\":\"2025-06-15T15:06:40Z\",\"annotations\":{"
		   "\"pv.kubernetes.io/bind-completed\":\"yes\"},\"ownerReferences\":[{\"uid\":"
		   "\"o\",\"controller\":true}]},\"spec\":{\"volumeName\":\"v\",\"accessModes\":["
		   "\"ReadWriteOncePod\"],\"storageClassName\":\"fast\"},\"status\":{\"phase\":"
		   "\"Lost\"}}");
	assert_true(cl->bound && cl->lost && cl->deleting);
	assert_int_equal(cl->form.access, VOLUME_ONCE_POD);
	assert_string_equal(cl->owner, "o");
	assert_string_equal(cl->volume->name, "v");
	assert_string_equal(cl->klass->name, "fast");
	assert_int_equal(
		from_api_volumes_claim(c, api_fixture_decode(arena, &storage_claim_fields, "{}"),
				       arena, &changed, &err),
		-ERR_INVALID);
	assert_string_equal(err.text, "metadata.name: missing");
}

/* Which volume a claim asks for. */
static void test_wishes(void **state)
{
	const struct claim *cl =
		claim("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"data\"},\"spec\":{"
		      "\"accessModes\":[\"ReadWriteOnce\",\"ReadOnlyMany\",\"ReadWriteMany\","
		      "\"unknown\"],\"resources\":{\"requests\":{\"storage\":\"1500m\"}},"
		      "\"volumeMode\":\"Block\",\"volumeAttributesClassName\":\"gold\","
		      "\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}}");

	(void)state;
	assert_int_equal(cl->form.access, VOLUME_ONCE | VOLUME_READ_ONLY_MANY | VOLUME_MANY);
	assert_int_equal(cl->form.bytes, 2);
	assert_true(cl->form.block);
	assert_string_equal(cl->form.attributes, "gold");
	assert_int_equal(cl->selector->nexprs, 1);
	assert_string_equal(cl->selector->exprs[0].key, "a");
	cl = claim("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"data\"},\"spec\":{"
		   "\"resources\":{\"requests\":{\"storage\":\"9000E\"}},\"selector\":{},"
		   "\"volumeAttributesClassName\":\"\"}}");
	assert_int_equal(cl->form.bytes, INT64_MAX);
	assert_false(cl->form.block);
	assert_null(cl->form.attributes);
	assert_int_equal(cl->selector->nexprs, 0);
}

static int read_selector(unsigned n, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
	bool changed;

	strbuf_add_c(&json, "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"data\"},\"spec\":{"
			    "\"selector\":{\"matchLabels\":{\"a\":\"b\"},\"matchExpressions\":[");
	for (unsigned i = 1; i < n; i++) {
		strbuf_printf(&json, "%s{\"key\":\"k%u\",\"operator\":\"Exists\"}",
			      i == 1 ? "" : ",", i);
	}
	strbuf_add_c(&json, "]}}}");
	return from_api_volumes_claim(c, api_fixture_decode(arena, &storage_claim_fields, json.p),
				      arena, &changed, err);
}

static int read_capacity(const char *json, struct err *err)
{
	bool changed = false;

	return from_api_volumes_capacity(
		c, api_fixture_decode(arena, &storage_capacity_fields, json), arena, &changed, err);
}

static void test_capacities(void **state)
{
	static const struct {
		const char *members;
		int64_t bytes;
		size_t nexprs;
		bool nodes;
	} rows[] = {
		{ "", -1, 0, false },
		{ ",\"capacity\":\"5\"", 5, 0, false },
		{ ",\"capacity\":\"1500m\"", 1, 0, false },
		{ ",\"capacity\":\"-5\"", -1, 0, false },
		{ ",\"maximumVolumeSize\":\"3\",\"nodeTopology\":{}", 3, 0, true },
		{ ",\"capacity\":\"9\",\"maximumVolumeSize\":\"3\"", 3, 0, false },
		{ ",\"capacity\":\"3\",\"maximumVolumeSize\":\"9\"", 9, 0, false },
		{ ",\"nodeTopology\":{\"matchLabels\":{\"a\":\"b\"},\"matchExpressions\":[{\"key\":"
		  "\"c\",\"operator\":\"Exists\"}]}",
		  -1, 2, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
		const struct storage_capacity *p;

		unit_row(rows[i].members);
		strbuf_printf(&json,
			      "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\"},"
			      "\"storageClassName\":\"late\"%s}",
			      rows[i].members);
		assert_int_equal(read_capacity(json.p, NULL), 0);
		p = storage_capacity_find(c, STR_LIT("ns/p"));
		assert_string_equal(p->klass->name, "late");
		assert_int_equal(p->bytes, rows[i].bytes);
		assert_int_equal(p->nodes != NULL, rows[i].nodes);
		assert_int_equal(p->nodes == NULL ? 0 : p->nodes->nexprs, rows[i].nexprs);
	}
}

static int read_topology(size_t n, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;

	strbuf_add_c(&json, "{\"metadata\":{\"name\":\"p\"},\"storageClassName\":\"late\","
			    "\"nodeTopology\":{\"matchLabels\":{");
	for (size_t i = 0; i < n; i++) {
		strbuf_printf(&json, "%s\"k%zu\":\"v\"", i == 0 ? "" : ",", i);
	}
	strbuf_add_c(&json, "}}}");
	return read_capacity(json.p, err);
}

static void test_capacities_that_say_nothing(void **state)
{
	static const struct {
		const char *json, *text;
	} rows[] = {
		{ "{\"storageClassName\":\"late\"}", "metadata.name: missing" },
		{ "{\"metadata\":{\"name\":\"p\"}}", "storageClassName: missing" },
		{ "{\"metadata\":{\"name\":\"p\"},\"storageClassName\":\"\"}",
		  "storageClassName: missing" },
	};
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(read_capacity(rows[i].json, &err), -ERR_INVALID);
		assert_string_equal(err.text, rows[i].text);
	}
	assert_int_equal(read_topology(FROM_API_SELECTOR_MAX, NULL), 0);
	assert_int_equal(read_topology(FROM_API_SELECTOR_MAX + 1, &err), -ERR_INVALID);
	assert_string_equal(err.text, "nodeTopology: more than 64 requirements");
}

static void test_drivers(void **state)
{
	bool changed = false;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(from_api_volumes_driver(
				 c,
				 api_fixture_decode(arena, &storage_csi_driver_fields,
						    "{\"metadata\":{\"name\":\"d\"},\"spec\":{"
						    "\"storageCapacity\":true}}"),
				 &changed, NULL),
			 0);
	assert_true(changed);
	assert_true(storage_capacity_has_driver(c, STR_LIT("d")));
	assert_int_equal(
		from_api_volumes_driver(c,
					api_fixture_decode(arena, &storage_csi_driver_fields,
							   "{\"metadata\":{\"name\":\"d\"}}"),
					&changed, NULL),
		0);
	assert_false(storage_capacity_has_driver(c, STR_LIT("d")));
	assert_int_equal(from_api_volumes_driver(
				 c, api_fixture_decode(arena, &storage_csi_driver_fields, "{}"),
				 &changed, &err),
			 -ERR_INVALID);
	assert_string_equal(err.text, "metadata.name: missing");
}

static void test_a_csi_node_without_a_name_is_refused(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(
		from_api_volumes_csi_node(
			c, api_fixture_decode(arena, &storage_csi_node_fields, "{\"spec\":{}}"),
			arena, &err),
		-ERR_INVALID);
	assert_string_equal(err.text, "metadata.name: missing");
}

static void test_selectors_have_a_limit(void **state)
{
	struct err err = ERR_INIT;
	bool changed;

	(void)state;
	assert_int_equal(read_selector(FROM_API_SELECTOR_MAX, NULL), 0);
	assert_int_equal(read_selector(FROM_API_SELECTOR_MAX + 1, &err), -ERR_INVALID);
	assert_string_equal(err.text, "spec.selector: more than 64 requirements");
	assert_int_equal(
		from_api_volumes_claim(
			c,
			api_fixture_decode(arena, &storage_claim_fields,
					   "{\"metadata\":{\"name\":\"data\"},\"spec\":{"
					   "\"selector\":{\"matchExpressions\":[{\"key\":\"a\","
					   "\"operator\":\"Near\"}]}}}"),
			arena, &changed, &err),
		-ERR_INVALID);
	assert_non_null(strstr(err.text, "spec.selector: matchExpressions[0]"));
}

static void test_volumes_that_no_claim_has_got(void **state)
{
	const struct volume *v;

	(void)state;
	assert_int_equal(
		from_api_volumes_volume(
			c,
			api_fixture_decode(
				arena, &storage_volume_fields,
				"{\"metadata\":{\"name\":\"v\",\"uid\":\"u\",\"resourceVersion\":"
				"\"7\",\"labels\":{\"disk\":\"ssd\"}},\"spec\":{\"accessModes\":["
				"\"ReadWriteOnce\"],\"capacity\":{\"storage\":\"1500m\"},"
				"\"storageClassName\":\"local\",\"nodeAffinity\":{\"required\":{"
				"\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":"
				"\"kubernetes.io/hostname\",\"operator\":\"In\",\"values\":["
				"\"n1\"]}]}]}}},\"status\":{\"phase\":\"Available\"}}"),
			arena, NULL),
		0);
	v = volumes_find_volume(c, STR_LIT("v"));
	assert_string_equal(v->klass->name, "local");
	assert_int_equal(v->klass->unclaimed.n, 1);
	assert_string_equal(v->host, "n1");
	assert_int_equal(v->form.bytes, 1);
	assert_int_equal(v->form.access, VOLUME_ONCE);
	assert_string_equal(v->labels.v[0].value, "ssd");
	assert_string_equal(v->uid, "u");
	assert_int_equal(v->resource_version, 7);
	assert_int_equal(
		from_api_volumes_volume(
			c,
			api_fixture_decode(
				arena, &storage_volume_fields,
				"{\"metadata\":{\"name\":\"v\",\"deletionTimestamp\":"
				"\"2025-06-15T15:06:40Z\"},\"spec\":{\"claimRef\":{\"namespace\":"
				"\"ns\",\"name\":\"data\",\"uid\":\"x\"},\"storageClassName\":"
				"\"local\"},\"status\":{\"phase\":\"Bound\"}}"),
			arena, NULL),
		0);
	assert_string_equal(v->ref->key, "ns/data");
	assert_string_equal(v->ref_uid, "x");
	assert_true(v->deleting && !v->available);
	assert_null(v->host);
	assert_int_equal(v->klass->unclaimed.n, 0);
	assert_null(cluster_verify(c));
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
		cmocka_unit_test_setup_teardown(test_wishes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_selectors_have_a_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_capacities, setup, teardown),
		cmocka_unit_test_setup_teardown(test_capacities_that_say_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_drivers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_csi_node_without_a_name_is_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_volumes_that_no_claim_has_got, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_volumes_keep_their_zones_and_terms, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_classes, setup, teardown),
	};

	return cmocka_run_group_tests_name("ingest/from_api_volumes", tests, NULL, NULL);
}
