#include "scheduler/ctl/manifest/core_values.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"

#define C "containers: [{name: c}]"

static const struct row {
	const char *kind, *object; /* YAML; of a Pod, the members of its spec */
	const char *causes;        /* "field: message" each, joined by "; " */
} table[] = {
	{ "Pod", C, "" },
	{ "Pod", "containers: []", "spec.containers: Required value" },
	{ "Pod", "containers: [{}]", "" },
	{ "Pod", "containers: [{name: A}]",
	  "spec.containers[0].name: Invalid value: \"A\": is not a DNS label (RFC 1123)" },
	{ "Pod", "containers: [{name: c}, {name: d}, {name: c}]",
	  "spec.containers[2].name: Duplicate value: \"c\"" },
	{ "Pod", C ", initContainers: [{name: s, restartPolicy: always}]",
	  "spec.initContainers[0].restartPolicy: Unsupported value: \"always\": supported values: "
	  "\"Always\", \"Never\", \"OnFailure\"" },
	{ "Pod", C ", overhead: {cpu: -1, memory: 1x, pods: 1}",
	  "spec.overhead[cpu]: Invalid value: -1: must be greater than or equal to 0; "
	  "spec.overhead[memory]: Invalid value: \"1x\": is no amount" },
	{ "Pod", C ", nodeName: n, schedulingGates: [{name: a.b/c}]",
	  "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared" },
	{ "Pod", C ", schedulingGates: [{name: a b}, {name: x}, {name: x}, {}]",
	  "spec.schedulingGates[0].name: Invalid value: \"a b\": is not a qualified name; "
	  "spec.schedulingGates[3].name: Required value; "
	  "spec.schedulingGates[2].name: Duplicate value: \"x\"" },
	{ "Pod", C ", priorityClassName: Hi, preemptionPolicy: never",
	  "spec.priorityClassName: Invalid value: \"Hi\": is not a DNS subdomain (RFC 1123); "
	  "spec.preemptionPolicy: Unsupported value: \"never\": supported values: \"Never\", "
	  "\"PreemptLowerPriority\"" },
	{ "Pod",
	  C ", tolerations: [{operator: Exists}, {key: k, value: v, effect: "
	    "NoExecute}]",
	  "" },
	{ "Pod", C ", tolerations: [{key: k, operator: Equals, effect: Noschedule}]",
	  "spec.tolerations[0].operator: Unsupported value: \"Equals\": supported values: "
	  "\"Equal\", \"Exists\"; spec.tolerations[0].effect: Unsupported value: \"Noschedule\": "
	  "supported values: \"NoExecute\", \"NoSchedule\", \"PreferNoSchedule\"" },
	{ "Pod", C ", tolerations: [{value: v}, {key: k, operator: Exists, value: v}]",
	  "spec.tolerations[0].operator: Invalid value: null: operator must be Exists when `key` "
	  "is "
	  "empty, which means \"match all values and all keys\"; "
	  "spec.tolerations[1].operator: Invalid value: \"v\": value must be empty when `operator` "
	  "is 'Exists'" },
	{ "Pod",
	  C ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
	    "{}}}",
	  "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
	  "nodeSelectorTerms: Required value" },
	{ "Pod",
	  C ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
	    "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}, {key: a, operator: "
	    "Exists, values: [b]}, {key: a, operator: Gt, values: []}, {key: a, operator: In, "
	    "values: [b]}]}]}}}",
	  "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
	  "nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified when "
	  "`operator` is 'In' or 'NotIn'; "
	  "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
	  "nodeSelectorTerms[0].matchExpressions[1].values: Forbidden: may not be specified when "
	  "`operator` is 'Exists' or 'DoesNotExist'; "
	  "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
	  "nodeSelectorTerms[0].matchExpressions[2].values: Required value: must be specified "
	  "single "
	  "value when `operator` is 'Lt' or 'Gt'" },
	{ "Pod",
	  C ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{}], "
	    "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0}]}}",
	  "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
	  "topologyKey: Required value; "
	  "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
	  "weight: Invalid value: 0: must be greater than zero" },
	{ "Pod",
	  C ", topologySpreadConstraints: [{maxSkew: 0, topologyKey: z, "
	    "whenUnsatisfiable: no}]",
	  "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero; "
	  "spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: \"no\": "
	  "supported "
	  "values: \"DoNotSchedule\", \"ScheduleAnyway\"" },
	{ "Job", "spec: {template: {spec: {restartPolicy: Never, " C "}}}", "" },
	{ "Job", "spec: {parallelism: 1}", "spec.template: Required value" },
	{ "Job", "spec: {template: {spec: {" C "}}}",
	  "spec.template.spec.restartPolicy: Required value" },
	{ "Job",
	  "spec: {parallelism: -1, completionMode: Indexed, template: {spec: {restartPolicy: "
	  "Always, "
	  "tolerations: [{effect: x, operator: Exists}], " C "}}}",
	  "spec.template.spec.restartPolicy: Unsupported value: \"Always\": supported values: "
	  "\"Never\", \"OnFailure\"; spec.parallelism: Invalid value: -1: must be greater than or "
	  "equal to 0; spec.template.spec.tolerations[0].effect: Unsupported value: \"x\": "
	  "supported "
	  "values: \"NoExecute\", \"NoSchedule\", \"PreferNoSchedule\"; spec.completions: Required "
	  "value: when completion mode is Indexed" },
	{ "Node",
	  "{spec: {taints: [{key: k, effect: No}]}, status: {allocatable: {cpu: -4}, conditions: "
	  "[{type: Ready, status: yes}]}}",
	  "spec.taints[0].effect: Unsupported value: \"No\": supported values: \"NoExecute\", "
	  "\"NoSchedule\", \"PreferNoSchedule\"; status.allocatable[cpu]: Invalid value: -4: "
	  "must be "
	  "greater than or equal to 0; status.conditions[0].status: Unsupported value: \"yes\": "
	  "supported values: \"False\", \"True\", \"Unknown\"" },
	{ "Namespace", "status: {phase: Gone}",
	  "status.phase: Unsupported value: \"Gone\": supported values: \"Active\", "
	  "\"Terminating\"" },
	{ "PriorityClass", "metadata: {name: a}", "value: Required value" },
	{ "PriorityClass", "{metadata: {name: a}, value: 0}", "" },
	{ "PriorityClass", "{metadata: {name: a}, value: 0, preemptionPolicy: Never}", "" },
	{ "PriorityClass", "{metadata: {name: a}, value: 0, preemptionPolicy: never}",
	  "preemptionPolicy: Unsupported value: \"never\": supported values: \"Never\", "
	  "\"PreemptLowerPriority\"" },
	{ "PriorityClass", "{metadata: {name: a}, value: 1000000000}", "" },
	{ "PriorityClass", "{metadata: {name: a}, value: 1000000001}",
	  "value: Forbidden: maximum allowed value of a user defined priority is 1000000000" },
	{ "PriorityClass", "{metadata: {name: system-node-critical}, value: 2000001000}", "" },
	{ "PriorityClass", "{metadata: {name: system-mine}, value: 1}",
	  "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for "
	  "system use only" },
	{ "LimitRange", "spec: {limits: [{type: Container, max: {cpu: 1}}, {default: {cpu: one}}]}",
	  "spec.limits[1].type: Required value; spec.limits[1].default[cpu]: Invalid value: "
	  "\"one\": "
	  "is no amount" },
	{ "RuntimeClass", "overhead: {podFixed: {cpu: 1}}", "handler: Required value" },
	{ "Topology", "spec: {levels: [{nodeLabel: a b}]}",
	  "spec.levels[0].nodeLabel: Invalid value: \"a b\": is not a qualified name" },
	{ "Topology", "spec: {levels: []}", "spec.levels: Required value" },
	{ "Queue", "spec: {weight: -1}", "" },
};

static void join(const struct jdoc *causes, struct strbuf *out)
{
	strbuf_add_c(out, "");
	for (const struct jdoc *c = jdoc_first(causes); c != NULL; c = jdoc_next(c)) {
		strbuf_printf(out, "%s%s: %s", out->len > 0 ? "; " : "",
			      jdoc_str(jdoc_get(c, "field")), jdoc_str(jdoc_get(c, "message")));
	}
}

static void test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct row *row = &table[i];
		CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT, found = STRBUF_INIT;
		CLEANUP(jdoc_destroyp) struct jdoc *object = NULL, *causes = jdoc_new_array();

		strbuf_printf(&yaml, strcmp(row->kind, "Pod") == 0 ? "spec: {%s}" : "%s",
			      row->object);
		assert_int_equal(yaml_parse(strbuf_str(&yaml), &object, NULL), 0);
		core_values_check(row->kind, object, causes);
		join(causes, &found);
		if (strcmp(found.p, row->causes) != 0) {
			fail_msg("%s: %s\n%s\n%s", row->kind, row->object, found.p, row->causes);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
