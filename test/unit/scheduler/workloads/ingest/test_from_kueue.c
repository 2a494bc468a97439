#include "api/core/namespace.h"
#include "api/kueue/kueue.h"
#include "base/attrs.h"
#include "base/err.h"
#include "lib/decode_fixture.h"
#include "lib/unit.h"
#include "scheduler/workloads/ingest/from_kueue_priv.h"

static void test_flavor(void **state)
{
	struct quota_model *q = quota_create();
	struct api_resource_flavor rf;
	const struct flavor *f;

	(void)state;
	decode_fixture(&kueue_resource_flavor_fields,
		       "{'metadata':{'name':'spot'},'spec':{'nodeLabels':{'b':'2','a':'1'},"
		       "'nodeTaints':[{'key':'t','value':'v','effect':'NoExecute'}],"
		       "'tolerations':[{'key':'x','operator':'Exists'},{'operator':'What'}],"
		       "'topologyName':'racks'}}",
		       &rf);
	assert_int_equal(from_kueue_flavor(q, &rf, NULL), 0);
	/* Once more: what came before is replaced. */
	assert_int_equal(from_kueue_flavor(q, &rf, NULL), 0);
	f = quota_flavor_find(q, STR_LIT("spot"));
	assert_true(f->exists);
	assert_int_equal(f->nlabels, 2);
	assert_string_equal(f->labels[0].key, "a");
	assert_ptr_equal(f->labels[1].value, quota_name(q, STR_LIT("2")));
	assert_int_equal(f->ntaints, 1);
	assert_int_equal(f->taints[0].effect, TAINT_NO_EXECUTE);
	assert_int_equal(f->ntolerations, 1);
	assert_true(f->tolerations[0].exists);
	assert_string_equal(f->topology, "racks");
	quota_destroy(q);
}

static void test_a_bad_flavor_changes_nothing(void **state)
{
	struct quota_model *q = quota_create();
	struct api_resource_flavor rf;
	struct err err = ERR_INIT;

	(void)state;
	decode_fixture(
		&kueue_resource_flavor_fields,
		"{'metadata':{'name':'f'},'spec':{'nodeTaints':[{'key':'t','effect':'NoSchedule'"
		"},{'key':'t','effect':'Maybe'}]}}",
		&rf);
	assert_int_equal(from_kueue_flavor(q, &rf, &err), -ERR_INVALID);
	assert_string_equal(err.text,
			    "ResourceFlavor f: spec.nodeTaints[1].effect: unknown \"Maybe\"");
	assert_null(quota_flavor_find(q, STR_LIT("f")));
	decode_fixture(&kueue_resource_flavor_fields, "{'spec':{}}", &rf);
	assert_int_equal(from_kueue_flavor(q, &rf, &err), -ERR_INVALID);
	assert_string_equal(err.text, "ResourceFlavor : metadata.name: missing");
	quota_destroy(q);
}

static void test_checks_topologies_and_namespaces(void **state)
{
	struct quota_model *q = quota_create();
	struct api_admission_check ac;
	struct api_topology t;
	struct api_namespace ns;
	struct err err = ERR_INIT;

	(void)state;
	decode_fixture(
		&kueue_admission_check_fields,
		"{'metadata':{'name':'c'},'status':{'conditions':[{'type':'Active','status':'"
		"True'}]}}",
		&ac);
	from_kueue_check(q, &ac);
	assert_true(quota_check_find(q, STR_LIT("c"))->active);
	decode_fixture(&kueue_admission_check_fields, "{'metadata':{'name':'c'}}", &ac);
	from_kueue_check(q, &ac);
	assert_false(quota_check_find(q, STR_LIT("c"))->active);
	decode_fixture(&kueue_topology_fields, "{'metadata':{'name':'t'}}", &t);
	from_kueue_topology(q, &t);
	decode_fixture(&namespace_fields, "{'metadata':{'name':'n','labels':{'b':'x','a':'y'}}}",
		       &ns);
	assert_int_equal(from_kueue_namespace(q, &ns, NULL), 0);
	assert_int_equal(from_kueue_namespace(q, &ns, NULL), 0);
	assert_int_equal(quota_namespace_find(q, STR_LIT("n"))->nlabels, 2);
	assert_string_equal(quota_namespace_find(q, STR_LIT("n"))->labels[0].value, "y");
	decode_fixture(&namespace_fields, "{}", &ns);
	assert_int_equal(from_kueue_namespace(q, &ns, &err), -ERR_INVALID);
	assert_string_equal(err.text, "Namespace : metadata.name: missing");
	quota_destroy(q);
}

static void test_local_queue(void **state)
{
	struct quota_model *q = quota_create();
	struct api_local_queue lq;
	const struct local_queue *l;
	struct err err = ERR_INIT;

	(void)state;
	decode_fixture(&kueue_local_queue_fields,
		       "{'metadata':{'name':'lq','namespace':'ns'},'spec':{'clusterQueue':'cq','"
		       "stopPolicy':'HoldAndDrain','fairSharing':{'weight':'500m'}}}",
		       &lq);
	assert_int_equal(from_kueue_local(q, &lq, NULL), 0);
	l = quota_local_find(q, STR_LIT("ns/lq"));
	assert_string_equal(l->queue, "cq");
	assert_int_equal(l->stop, QUOTA_HOLD_AND_DRAIN);
	assert_true(l->weight == 0.5);
	decode_fixture(&kueue_local_queue_fields,
		       "{'metadata':{'name':'lq','namespace':'ns'},'spec':{'clusterQueue':'cq'}}",
		       &lq);
	assert_int_equal(from_kueue_local(q, &lq, NULL), 0);
	assert_int_equal(l->stop, QUOTA_RUN);
	assert_true(l->weight == 1);
	decode_fixture(&kueue_local_queue_fields,
		       "{'metadata':{'name':'lq','namespace':'ns'},'spec':{'stopPolicy':'Pause'}}",
		       &lq);
	assert_int_equal(from_kueue_local(q, &lq, &err), -ERR_INVALID);
	assert_string_equal(err.text, "LocalQueue ns/lq: spec.stopPolicy: unknown \"Pause\"");
	assert_string_equal(l->queue, "cq");
	quota_destroy(q);
}

static void test_usage_of_a_local_queue_comes_from_its_status(void **state)
{
	struct quota_model *q = quota_create();
	struct local_queue *l = quota_local_get(q, STR_LIT("ns/lq"));
	struct api_local_queue lq;

	(void)state;
	decode_fixture(&kueue_local_queue_fields,
		       "{'status':{'fairSharing':{'admissionFairSharingStatus':{'consumedResources'"
		       ":{'cpu':'1500m','gpu':'0','memory':'5Gi'},'lastUpdate':"
		       "'1970-01-01T00:01:00Z'}}}}",
		       &lq);
	from_kueue_local_usage(q, l, &lq);
	assert_int_equal(l->consumed.n, 2);
	assert_int_equal(l->consumed.v[0].resource, quota_resource(q, STR_LIT("cpu")));
	assert_int_equal(l->consumed.v[0].nano, 1500000000);
	assert_int_equal(l->sampled_at, INT64_C(60000000000));
	decode_fixture(&kueue_local_queue_fields, "{}", &lq);
	from_kueue_local_usage(q, l, &lq);
	assert_int_equal(l->consumed.n, 0);
	assert_int_equal(l->sampled_at, MODEL_TIME_NONE);
	quota_destroy(q);
}

static void test_amounts_are_rounded_up(void **state)
{
	static const struct {
		const char *resource, *text;
		int64_t amount;
	} rows[] = {
		{ "cpu", "1", 1000 },
		{ "cpu", "1001u", 2 },
		{ "memory", "1500m", 2 },
		{ "memory", "1Ki", 1024 },
		{ "cpu", "9223372036854776", QUOTA_UNLIMITED },
		{ "memory", "9223372036854775807", QUOTA_UNLIMITED },
		{ "memory", "100E", QUOTA_UNLIMITED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct quantity amount;

		unit_row(rows[i].resource);
		assert_int_equal(quantity_parse(str_of(rows[i].text), &amount, NULL), 0);
		assert_int_equal(from_kueue_amount(str_of(rows[i].resource), amount),
				 rows[i].amount);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flavor),
		cmocka_unit_test(test_a_bad_flavor_changes_nothing),
		cmocka_unit_test(test_checks_topologies_and_namespaces),
		cmocka_unit_test(test_local_queue),
		cmocka_unit_test(test_usage_of_a_local_queue_comes_from_its_status),
		cmocka_unit_test(test_amounts_are_rounded_up),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
