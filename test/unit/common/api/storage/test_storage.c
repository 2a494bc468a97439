#include "api/storage/storage.h"

#include "lib/decode_fixture.h"
#include "lib/unit.h"

static void test_claims(void **state)
{
	struct api_persistent_claim c;

	(void)state;
	decode_fixture(&storage_claim_fields,
		       "{'metadata':{'name':'data'},'spec':{'accessModes':['ReadWriteOnce'],"
		       "'resources':{'requests':{'storage':'1Gi'}},'storageClassName':'fast',"
		       "'volumeMode':'Block','volumeAttributesClassName':'gold','selector':{'"
		       "matchLabels':{'a':'b'}}},"
		       "'status':{'phase':'Pending'}}",
		       &c);
	assert_string_equal(c.spec.access_modes.v[0], "ReadWriteOnce");
	assert_int_equal(
		quantity_value(*field_resources_get(&c.spec.resources.requests, "storage")),
		1 << 30);
	assert_string_equal(storage_claim_class(&c), "fast");
	assert_string_equal(c.spec.attributes_class, "gold");
	assert_false(storage_claim_is_bound(&c));
	decode_fixture(&storage_claim_fields,
		       "{'metadata':{'annotations':{'volume.beta.kubernetes.io/storage-class':"
		       "'slow'}},'spec':{'storageClassName':'fast','volumeName':'v'}}",
		       &c);
	assert_string_equal(storage_claim_class(&c), "slow");
	assert_false(storage_claim_is_bound(&c));
	/* The annotation comes first also when it is empty. */
	decode_fixture(&storage_claim_fields,
		       "{'metadata':{'annotations':{'volume.beta.kubernetes.io/storage-class':'',"
		       "'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'storageClassName':"
		       "'fast','volumeName':'v'}}",
		       &c);
	assert_null(storage_claim_class(&c));
	assert_true(storage_claim_is_bound(&c));
	decode_fixture(&storage_claim_fields,
		       "{'metadata':{'annotations':{'pv.kubernetes.io/bind-completed':'yes'}}}",
		       &c);
	assert_false(storage_claim_is_bound(&c));
	assert_null(storage_claim_class(&c));
}

static void test_capacities(void **state)
{
	struct api_storage_capacity p;
	struct api_csi_driver_object d;

	(void)state;
	decode_fixture(&storage_capacity_fields,
		       "{'capacity':'2Gi','metadata':{'name':'p'},'nodeTopology':{'matchLabels':{"
		       "'a':'b'}},'storageClassName':'late'}",
		       &p);
	assert_string_equal(p.storage_class, "late");
	assert_int_equal(p.nodes->match_labels.n, 1);
	assert_int_equal(quantity_value(*storage_capacity_limit(&p)), INT64_C(2) << 30);
	decode_fixture(&storage_capacity_fields, "{'capacity':'2Gi','maximumVolumeSize':'1Gi'}",
		       &p);
	assert_int_equal(quantity_value(*storage_capacity_limit(&p)), 1 << 30);
	decode_fixture(&storage_capacity_fields, "{}", &p);
	assert_null(storage_capacity_limit(&p));
	decode_fixture(&storage_csi_driver_fields, "{'spec':{'storageCapacity':true}}", &d);
	assert_true(d.spec.storage_capacity);
}

static void test_volumes(void **state)
{
	struct api_persistent_volume v;

	(void)state;
	decode_fixture(&storage_volume_fields,
		       "{'spec':{'capacity':{'storage':'2Gi'},'csi':{'driver':'d','volumeHandle':"
		       "'h'},'claimRef':{'namespace':'ns','name':'data','uid':'u'},'nodeAffinity':{"
		       "'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone',"
		       "'operator':'In','values':['a']}]}]}}},'status':{'phase':'Bound'}}",
		       &v);
	assert_string_equal(v.spec.csi->driver, "d");
	assert_string_equal(v.spec.claim->uid, "u");
	assert_string_equal(v.spec.affinity->required->terms.v[0].expressions.v[0].key, "zone");
	assert_null(storage_volume_class(&v));
	decode_fixture(&storage_volume_fields,
		       "{'metadata':{'annotations':{'volume.beta.kubernetes.io/storage-class':"
		       "'slow'}},'spec':{'storageClassName':'fast'}}",
		       &v);
	assert_string_equal(storage_volume_class(&v), "slow");
	decode_fixture(&storage_volume_fields,
		       "{'spec':{'storageClassName':'fast','volumeAttributesClassName':'gold'}}",
		       &v);
	assert_string_equal(storage_volume_class(&v), "fast");
	assert_string_equal(v.spec.attributes_class, "gold");
	decode_fixture(&storage_volume_fields, "{'spec':{'nfs':{}}}", &v);
	assert_null(v.spec.csi);
	assert_null(v.spec.claim);
	assert_null(v.spec.affinity);
}

static void test_classes_and_nodes(void **state)
{
	struct api_storage_class k;
	struct api_csi_node n;

	(void)state;
	decode_fixture(&storage_class_fields,
		       "{'provisioner':'d','volumeBindingMode':'WaitForFirstConsumer',"
		       "'allowedTopologies':[{'matchLabelExpressions':[{'key':'zone','values':['a',"
		       "'b']}]}]}",
		       &k);
	assert_string_equal(k.provisioner, "d");
	assert_string_equal(k.binding_mode, "WaitForFirstConsumer");
	assert_string_equal(k.topologies.v[0].labels.v[0].values.v[1], "b");
	decode_fixture(&storage_csi_node_fields,
		       "{'spec':{'drivers':[{'name':'a','allocatable':{'count':0}},{'name':'b',"
		       "'allocatable':{}},{'name':'c'}]}}",
		       &n);
	assert_int_equal(n.spec.drivers.v[0].allocatable->count, 0);
	assert_int_equal(n.spec.drivers.v[1].allocatable->count, FIELD_NO_I32);
	assert_null(n.spec.drivers.v[2].allocatable);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_volumes),
		cmocka_unit_test(test_capacities),
		cmocka_unit_test(test_classes_and_nodes),
	};

	return cmocka_run_group_tests_name("storage", tests, decode_fixture_open,
					   decode_fixture_close);
}
