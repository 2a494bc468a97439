#include "api/kueue/multikueue.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "lib/decode_fixture.h"
#include "process/file.h"
#include "schema/rules.h"
#include "schema/schema.h"

#define CRDS "charts/headgate/files/crds/quota/"
#define CONFIGS CRDS "multikueueconfigs.yaml"
#define CLUSTERS CRDS "multikueueclusters.yaml"

static void test_config(void **state)
{
	struct api_multikueue_config c;
	(void)state;

	decode_fixture(&multikueue_config_fields,
		       "{'metadata':{'name':'all'},'spec':{'clusters':['west','east']}}", &c);
	assert_string_equal(c.meta.name, "all");
	assert_int_equal(c.spec.clusters.n, 2);
	assert_string_equal(c.spec.clusters.v[0], "west"); /* the order counts */
	assert_string_equal(c.spec.clusters.v[1], "east");
	decode_fixture(&multikueue_config_fields, "{}", &c);
	assert_int_equal(c.spec.clusters.n, 0);
}

static void test_cluster(void **state)
{
	struct api_multikueue_cluster c;
	(void)state;

	decode_fixture(&multikueue_cluster_fields,
		       "{'spec':{'clusterSource':{'kubeConfig':{'location':'/etc/east',"
		       "'locationType':'Path'}}},'status':{'conditions':[{'type':'Active','status':"
		       "'True','reason':'Active'}]}}",
		       &c);
	assert_string_equal(c.spec.kube_config->location, "/etc/east");
	assert_string_equal(c.spec.kube_config->location_type, MULTIKUEUE_LOCATION_PATH);
	assert_null(c.spec.cluster_profile);
	assert_string_equal(c.status.conditions.v[0].reason, "Active");
	decode_fixture(&multikueue_cluster_fields,
		       "{'spec':{'clusterSource':{'clusterProfileRef':{'name':'east'}}}}", &c);
	assert_string_equal(c.spec.cluster_profile->name, "east");
	assert_null(c.spec.kube_config);
	/* Of v1beta1, in which it had another place. */
	decode_fixture(&multikueue_cluster_fields, "{'spec':{'kubeConfig':{'location':'east'}}}",
		       &c);
	assert_null(c.spec.kube_config);
	assert_int_equal(c.status.conditions.n, 0);
}

static struct jdoc *parse(struct str text)
{
	struct jdoc *d = NULL;

	assert_int_equal(yaml_parse(text, &d, NULL), 0);
	return d;
}

/* The causes for which the first version of a CRD refuses an object, as JSON. */
static void causes_of(const char *crd, const char *spec, struct strbuf *ret)
{
	CLEANUP(strbuf_finish) struct strbuf file = STRBUF_INIT, text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp)
	struct jdoc *definition = NULL, *object = NULL, *causes = jdoc_new_array();
	struct strmap *patterns = schema_patterns_create();
	const struct jdoc *schema;

	assert_int_equal(file_read_all(crd, 1u << 20, &file, NULL), 0);
	definition = parse(strbuf_str(&file));
	schema = jdoc_path(jdoc_first(jdoc_path(definition, "spec.versions")),
			   "schema.openAPIV3Schema");
	strbuf_printf(&text, "metadata: {name: x}\nspec: {%s}\n", spec);
	object = parse(strbuf_str(&text));
	schema_validate(schema, patterns, object, causes);
	rules_check(schema, object, causes);
	jdoc_format(causes, ret);
	strmap_destroy(patterns);
}

/* No webhook looks at these kinds. */
static void test_crds_refuse(void **state)
{
	static const struct {
		const char *name, *crd, *spec, *causes;
	} rows[] = {
		{ "a Secret", CLUSTERS, "clusterSource: {kubeConfig: {location: a}}", "[]" },
		{ "a profile", CLUSTERS, "clusterSource: {clusterProfileRef: {name: a}}", "[]" },
		{ "two sources", CLUSTERS,
		  "clusterSource: {kubeConfig: {location: a}, clusterProfileRef: {name: b}}",
		  "exactly one of the fields in [kubeConfig clusterProfileRef] must be set" },
		{ "no source", CLUSTERS, "clusterSource: {}",
		  "exactly one of the fields in [kubeConfig clusterProfileRef] must be set" },
		{ "no location", CLUSTERS, "clusterSource: {kubeConfig: {location: ''}}",
		  "spec.clusterSource.kubeConfig.location" },
		{ "clusters", CONFIGS, "clusters: [a, b]", "[]" },
		{ "a cluster twice", CONFIGS, "clusters: [a, b, a]", "must be unique" },
		{ "no cluster", CONFIGS, "clusters: []", "spec.clusters" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf causes = STRBUF_INIT;

		unit_row(rows[i].name);
		causes_of(rows[i].crd, rows[i].spec, &causes);
		if (strstr(causes.p, rows[i].causes) == NULL) {
			fail_msg("%s", causes.p);
		}
	}
}

static void test_a_config_has_up_to_100_clusters(void **state)
{
	(void)state;
	for (unsigned n = 100; n <= 101; n++) {
		CLEANUP(strbuf_finish) struct strbuf spec = STRBUF_INIT, causes = STRBUF_INIT;

		unit_row_number(n);
		strbuf_add_c(&spec, "clusters: [");
		for (unsigned i = 0; i < n; i++) {
			strbuf_printf(&spec, "%sc%u", i == 0 ? "" : ", ", i);
		}
		strbuf_add_c(&spec, "]");
		causes_of(CONFIGS, spec.p, &causes);
		assert_int_equal(str_eq_c(strbuf_str(&causes), "[]"), n == 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_cluster),
		cmocka_unit_test(test_crds_refuse),
		cmocka_unit_test(test_a_config_has_up_to_100_clusters),
	};

	return cmocka_run_group_tests_name("multikueue", tests, decode_fixture_open,
					   decode_fixture_close);
}
