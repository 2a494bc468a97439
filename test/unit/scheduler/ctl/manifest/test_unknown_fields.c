#include "scheduler/ctl/manifest/unknown_fields.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"

static struct jdoc *parse(const char *text)
{
	struct jdoc *d = NULL;
	int r = yaml_parse(str_of(text), &d, NULL);

	assert_int_equal(r, 0);
	return d;
}

static void note(void *ctx, const char *path, const char *near)
{
	strbuf_printf(ctx, "%s%s%s; ", path, near == NULL ? "" : ">", near == NULL ? "" : near);
}

static const struct {
	const char *kind, *object, *found; /* "path>near; " */
} rows[] = {
	{ "Pod", "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {}}", "" },
	{ "Pod", "{Spec: {}}", "Spec>spec; " },
	{ "Pod", "{spec: {containers: [{}, {resources: {limit: {}}}]}}",
	  "spec.containers[1].resources.limit>limits; " },
	{ "Pod", "{metadata: {annotation: {}}}", "metadata.annotation>annotations; " },
	{ "Pod", "{spec: {affinity: {nodeAffinity: {required: []}}}}",
	  "spec.affinity.nodeAffinity.required>requiredDuringSchedulingIgnoredDuringExecution; " },
	{ "Pod", "{spec: {volumes: [{any: 1}]}}", "" },
	{ "Pod", "{spec: 1}", "" },
	{ "Node", "{status: {allocatables: {}}}", "status.allocatables>allocatable; " },
	{ "Node", "{spec: {x: 1}}", "spec.x; " },
	{ "Job", "{spec: {template: {spec: {toleration: []}}}}",
	  "spec.template.spec.toleration>tolerations; " },
	{ "PriorityClass", "{values: 1}", "values>value; " },
	{ "Topology", "{spec: {levels: [{nodelabel: x}]}}",
	  "spec.levels[0].nodelabel>nodeLabel; " },
	{ "Pod",
	  "{spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
	  "[{labelSelecto: {}, labelSelector: {matchLabel: {}}}]}}}}",
	  "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
	  "labelSelecto>labelSelector; "
	  "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
	  "labelSelector.matchLabel>matchLabels; " },
	{ "Pod",
	  "{spec: {affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
	  "[{podAffinityTerm: {topologykey: x}}]}}}}",
	  "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
	  "podAffinityTerm.topologykey>topologyKey; " },
	{ "Pod",
	  "{spec: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
	  "[{preference: {matchExpression: []}}]}}}}",
	  "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
	  "preference.matchExpression>matchExpressions; " },
	{ "Pod", "{spec: {topologySpreadConstraints: [{labelSelector: {matchLabel: {}}}]}}",
	  "spec.topologySpreadConstraints[0].labelSelector.matchLabel>matchLabels; " },
	{ "PersistentVolumeClaim", "{spec: {storageClass: x, resources: {request: {}}}}",
	  "spec.storageClass>storageClassName; spec.resources.request>requests; " },
	{ "PersistentVolume", "{spec: {nodeAffinity: {require: {}}, hostPath: {any: 1}}}",
	  "spec.nodeAffinity.require>required; " },
	{ "StorageClass",
	  "{volumeBindingmode: x, allowedTopologies: [{matchLabelExpressions: "
	  "[{value: []}]}]}",
	  "volumeBindingmode>volumeBindingMode; "
	  "allowedTopologies[0].matchLabelExpressions[0].value>values; " },
	{ "CSINode", "{spec: {drivers: [{allocatable: {counts: 1}}]}}",
	  "spec.drivers[0].allocatable.counts>count; " },
	{ "CSIDriver", "{spec: {storagecapacity: true}}",
	  "spec.storagecapacity>storageCapacity; " },
	{ "CSIStorageCapacity", "{maximumVolumesize: 1}", "maximumVolumesize>maximumVolumeSize; " },
	{ "PodDisruptionBudget", "{spec: {minavailable: 1}}", "spec.minavailable>minAvailable; " },
	{ "ClusterQueue", "{metadata: {label: {}}, spec: {any: 1}, other: 1}",
	  "metadata.label>labels; " },
	{ "Workload",
	  "{metadata: {annotation: {}}, spec: {any: 1, podSets: [{any: 1, template: {spec: "
	  "{nodeSelecter: {}, tolerations: [{ky: x}]}}}]}}",
	  "metadata.annotation>annotations; spec.podSets[0].template.spec.nodeSelecter>"
	  "nodeSelector; spec.podSets[0].template.spec.tolerations[0].ky>key; " },
	{ "Secret", "{any: 1}", "" },
};

static void test_core_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *object = parse(rows[i].object);
		CLEANUP(strbuf_finish) struct strbuf found = STRBUF_INIT;

		unknown_fields_of_kind(rows[i].kind, object, note, &found);
		if (!str_streq(rows[i].found, found.len > 0 ? found.p : "")) {
			fail_msg("%s %s: %s", rows[i].kind, rows[i].object, found.p);
		}
	}
}

static void test_schemas(void **state)
{
	CLEANUP(jdoc_destroyp)
	struct jdoc *schema =
		parse("{properties: {spec: {properties: {cohortName: {}, list: {items: "
		      "{properties: {weight: {}}}}, labels: {additionalProperties: "
		      "{type: string}}}}}}");
	CLEANUP(jdoc_destroyp)
	struct jdoc *object = parse("{kind: K, other: 1, spec: {cohort: c, list: [{weights: 1}], "
				    "labels: {any.thing/x: y}}}");
	CLEANUP(strbuf_finish) struct strbuf found = STRBUF_INIT;

	(void)state;
	unknown_fields_of_schema(schema, object, note, &found);
	assert_string_equal(found.p,
			    "other; spec.cohort>cohortName; spec.list[0].weights>weight; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_core_kinds),
		cmocka_unit_test(test_schemas),
	};

	return cmocka_run_group_tests_name("ctl/manifest/unknown_fields", tests, NULL, NULL);
}
