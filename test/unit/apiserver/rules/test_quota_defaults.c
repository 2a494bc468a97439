/* The defaults of the chart's CRDs of kueue.x-k8s.io/v1beta2 are those of Kueue's CRDs; what those
 * of MultiKueue refuse, which no webhook looks at. */
#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "unit/apiserver/apiserver_fixture.h"

#define KUEUE "/apis/kueue.x-k8s.io/v1beta2"
#define CRDS "charts/headgate/files/crds/quota/"

/* Without a fairSharing there is nowhere for the API server to write a weight. */
static const struct {
	const char *crd, *kind, *url, *spec;
	const char *after; /* NULL: what is set stays */
} rows[] = {
	{ CRDS "clusterqueues.yaml", "ClusterQueue", KUEUE "/clusterqueues", "{\"fairSharing\":{}}",
	  "{\"fairSharing\":{\"weight\":1},\"queueingStrategy\":\"BestEffortFIFO\","
	  "\"flavorFungibility\":{\"whenCanBorrow\":\"MayStopSearch\","
	  "\"whenCanPreempt\":\"TryNextFlavor\"},\"preemption\":{"
	  "\"reclaimWithinCohort\":\"Never\",\"withinClusterQueue\":\"Never\","
	  "\"borrowWithinCohort\":{\"policy\":\"Never\"}},\"stopPolicy\":\"None\"}" },
	{ CRDS "clusterqueues.yaml", "ClusterQueue", KUEUE "/clusterqueues",
	  "{\"fairSharing\":{\"weight\":\"0\"},\"queueingStrategy\":\"StrictFIFO\","
	  "\"flavorFungibility\":{\"whenCanBorrow\":\"TryNextFlavor\","
	  "\"whenCanPreempt\":\"MayStopSearch\"},\"preemption\":{"
	  "\"reclaimWithinCohort\":\"Any\",\"withinClusterQueue\":\"LowerOrNewerEqualPriority\","
	  "\"borrowWithinCohort\":{\"policy\":\"LowerPriority\"}},\"stopPolicy\":\"Hold\"}",
	  NULL },
	{ CRDS "cohorts.yaml", "Cohort", KUEUE "/cohorts", "{\"fairSharing\":{}}",
	  "{\"fairSharing\":{\"weight\":1}}" },
	{ CRDS "localqueues.yaml", "LocalQueue", KUEUE "/namespaces/default/localqueues",
	  "{\"fairSharing\":{}}", "{\"fairSharing\":{\"weight\":1},\"stopPolicy\":\"None\"}" },
	{ CRDS "multikueueclusters.yaml", "MultiKueueCluster", KUEUE "/multikueueclusters",
	  "{\"clusterSource\":{\"kubeConfig\":{\"location\":\"east\"}}}",
	  "{\"clusterSource\":{\"kubeConfig\":{\"location\":\"east\",\"locationType\":\"Secret\"}}"
	  "}" },
	{ CRDS "workloads.yaml", "Workload", KUEUE "/namespaces/default/workloads",
	  "{\"podSets\":[{\"template\":{}}]}",
	  "{\"active\":true,\"podSets\":[{\"count\":1,\"name\":\"main\",\"template\":{}}]}" },
};

static void check_spec(const struct jdoc *object, const char *expected)
{
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct jdoc *want CLEANUP(jdoc_destroyp) = NULL;

	assert_int_equal(jdoc_parse(str_of(expected), &want, NULL), 0);
	if (!jdoc_equal(jdoc_get(object, "spec"), want)) {
		jdoc_format(jdoc_get(object, "spec"), &text);
		fail_msg("%s, not %s", text.p, expected);
	}
}

static void test_defaults(void **state)
{
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strbuf body CLEANUP(strbuf_finish) = STRBUF_INIT;
		struct apiserver_fixture f;

		unit_row(rows[i].crd);
		apiserver_fixture_start(&f, NULL, NULL);
		apiserver_fixture_load(&f, rows[i].crd);
		strbuf_printf(&body,
			      "{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"%s\","
			      "\"metadata\":{\"name\":\"x\"},\"spec\":%s}",
			      rows[i].kind, rows[i].spec);
		assert_int_equal(apiserver_fixture_do(&f, HTTP_POST, rows[i].url,
						      APISERVER_FIXTURE_JSON, body.p),
				 201);
		check_spec(f.doc, rows[i].after == NULL ? rows[i].spec : rows[i].after);
		apiserver_fixture_stop(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
	};

	return cmocka_run_group_tests_name("quota_defaults", tests, NULL, NULL);
}
