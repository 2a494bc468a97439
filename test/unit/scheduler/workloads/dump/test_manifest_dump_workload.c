/* One Workload as a manifest. test_manifest_dump.c checks that it is read again without loss. */
#include "scheduler/workloads/dump/manifest_dump.h"

#include "api/kueue/kueue_workload.h"
#include "api/meta/meta.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/encode.h"
#include "enc/json/jdoc.h"
#include "lib/unit.h"
#include "lib/workloads/workload_sim_fixture.h"
#include "scheduler/workloads/model/quota_store.h"

#define API QUOTA_SIM_API

static const struct workload_status *status_of(const void *s, const struct workload *w)
{
	return workload_simulation_status(s, w);
}

static const struct api_meta *meta_of(const void *s, const struct workload *w)
{
	static struct api_owner refs[] = { { "batch/v1", "Job", "j", "u-j", 1, -1 },
					   { "v1", "Pod", "p", "u-p", -1, -1 } };
	static const struct api_meta meta = { .owners = { .v = refs, .n = 2 } };

	(void)s;
	(void)w;
	return &meta;
}

/* Returns the manifest that is written; the caller destroys it. */
static struct jdoc *write_one(const char *workload)
{
	CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT, text = STRBUF_INIT;
	CLEANUP(workload_simulation_destroyp) struct workload_simulation *s = NULL;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	const struct quota_model *q;
	const struct workload *w;
	struct jdoc *d = NULL;
	struct manifest_dump_source source = { status_of, meta_of, NULL };
	struct api_workload o;

	strbuf_printf(&yaml, QUOTA_SIM_CLUSTER "%s", workload);
	s = workload_sim_fixture_create(yaml.p, NULL);
	q = forest_model(workload_simulation_forest(s));
	w = quota_workload_find(q, STR_LIT("team/w"));
	assert_non_null(w);
	source.ctx = s;
	manifest_dump_workload(q, w, &source, arena, &o);
	encode_text(&kueue_workload_fields, &o, &text);
	assert_int_equal(jdoc_parse(strbuf_str(&text), &d, NULL), 0);
	return d;
}

static void expect(const struct jdoc *d, const char *path, const char *json)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	jdoc_format(jdoc_path(d, path), &text);
	assert_string_equal(text.p, json);
}

static const struct jdoc *pod_spec(const struct jdoc *d)
{
	return jdoc_path(jdoc_at(jdoc_path(d, "spec.podSets"), 0), "template.spec");
}

static void requests_and_labels(void **state)
{
	CLEANUP(jdoc_destroyp)
	struct jdoc *d = write_one(
		"{" API "kind: Workload, metadata: {name: w, namespace: team, uid: u, generation: "
		"3, labels: {kueue.x-k8s.io/job-uid: j}, annotations: "
		"{kueue.x-k8s.io/priority-boost: '4'}, creationTimestamp: "
		"\"2026-01-15T09:00:00Z\"}, spec: {queueName: lq, priority: 7, podSets: [{name: "
		"main, count: 4, minCount: 2, template: {spec: {nodeSelector: {a: b}, tolerations: "
		"[{key: t, operator: Exists, effect: NoSchedule}], affinity: {nodeAffinity: "
		"{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
		"[{matchExpressions: [{key: z, operator: NotIn, values: [x, y]}]}]}}}, containers: "
		"[{name: c, resources: {requests: {cpu: 500m, memory: 1Gi}}}, {name: d, resources: "
		"{requests: {cpu: 1}}}]}}}]}, status: {reclaimablePods: [{name: main, count: 1}], "
		"preemptionCost: '2500m'}}");
	const struct jdoc *spec = pod_spec(d);

	(void)state;
	expect(d, "metadata.name", "\"w\"");
	expect(d, "metadata.namespace", "\"team\"");
	expect(d, "metadata.uid", "\"u\"");
	expect(d, "metadata.generation", "3");
	expect(d, "metadata.creationTimestamp", "\"2026-01-15T09:00:00Z\"");
	expect(d, "metadata.labels", "{\"kueue.x-k8s.io/job-uid\":\"j\"}");
	expect(d, "metadata.annotations", "{\"kueue.x-k8s.io/priority-boost\":\"4\"}");
	expect(d, "metadata.ownerReferences",
	       "[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"u-j\","
	       "\"controller\":true},{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\","
	       "\"uid\":\"u-p\"}]");
	expect(d, "spec.queueName", "\"lq\"");
	expect(d, "spec.priority", "7");
	/* One of its pods has ended. */
	expect(jdoc_at(jdoc_path(d, "spec.podSets"), 0), "count", "3");
	expect(jdoc_at(jdoc_path(d, "spec.podSets"), 0), "minCount", "2");
	expect(jdoc_at(jdoc_get(spec, "containers"), 0), "resources.requests",
	       "{\"cpu\":\"1500m\",\"memory\":\"1Gi\"}");
	expect(spec, "nodeSelector", "{\"a\":\"b\"}");
	expect(jdoc_at(jdoc_get(spec, "tolerations"), 0), "effect", "\"NoSchedule\"");
	expect(spec, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
	       "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"z\",\"operator\":"
	       "\"NotIn\",\"values\":[\"x\",\"y\"]}]}]}");
	expect(d, "status.preemptionCost", "\"2500m\"");
}

static void admission_and_quota(void **state)
{
	CLEANUP(jdoc_destroyp)
	struct jdoc *d = write_one(QUOTA_SIM_WORKLOAD("w", "3", "0", QUOTA_SIM_HOLDS("3")));

	(void)state;
	expect(d, "status.admission.clusterQueue", "\"cq\"");
	expect(jdoc_at(jdoc_path(d, "status.admission.podSetAssignments"), 0), "flavors",
	       "{\"cpu\":\"f\"}");
	expect(jdoc_at(jdoc_path(d, "status.conditions"), 0), "type", "\"QuotaReserved\"");
}

/* Conditions that others write are part of the state. */
static void conditions_of_others(void **state)
{
	CLEANUP(jdoc_destroyp)
	struct jdoc *d = write_one(QUOTA_SIM_WORKLOAD(
		"w", "3", "0",
		", status: {conditions: [{type: Finished, status: \"True\", reason: Succeeded}]}"));

	(void)state;
	expect(jdoc_at(jdoc_path(d, "status.conditions"), 0), "type", "\"Finished\"");
}

static void unsupported_requests_become_a_gate(void **state)
{
	CLEANUP(jdoc_destroyp)
	struct jdoc *d = write_one(
		"{" API "kind: Workload, metadata: {name: w, namespace: team}, spec: {queueName: "
		"lq, podSets: [{name: main, count: 1, template: {spec: {resourceClaims: [{name: "
		"gpu}], containers: []}}}]}}");

	(void)state;
	expect(d, "metadata.annotations",
	       "{\"kueue.x-k8s.io/admission-gated-by\":\"resource claims of pods are not "
	       "supported yet\"}");
}

/* One that is being deleted gets no quota, so readers of the dump must see that it is. */
static void deletion(void **state)
{
	static const char *const when[] = { "", ", deletionTimestamp: \"2026-01-15T09:00:00Z\"" };
	CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(when); i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

		unit_row_number(i);
		strbuf_reset(&yaml);
		strbuf_printf(&yaml,
			      "{" API "kind: Workload, metadata: {name: w, namespace: team, "
			      "finalizers: [a.b/c]%s}, spec: {queueName: lq, podSets: []}}",
			      when[i]);
		d = write_one(yaml.p);
		assert_int_equal(jdoc_path(d, "metadata.deletionTimestamp") != NULL, i == 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_and_labels),
		cmocka_unit_test(deletion),
		cmocka_unit_test(admission_and_quota),
		cmocka_unit_test(conditions_of_others),
		cmocka_unit_test(unsupported_requests_become_a_gate),
	};

	return cmocka_run_group_tests_name("workloads/dump/manifest_dump_workload", tests, NULL,
					   NULL);
}
