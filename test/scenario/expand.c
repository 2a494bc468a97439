#include "scenario/expand.h"

#include <stddef.h>

#include "base/attrs.h"
#include "base/str.h"
#include "enc/json/jdoc.h"
#include "enc/json/patch_apply.h"
#include "lib/unit.h"

#define GATE "scheduling.volcano.sh/queue-allocation-gate"

static struct jdoc *start(const char *version, const char *kind, const struct jdoc *shape,
			  bool namespaced)
{
	struct jdoc *d = jdoc_new_object(), *meta;

	jdoc_set_str(d, "apiVersion", version);
	jdoc_set_str(d, "kind", kind);
	meta = jdoc_ensure_object(d, "metadata");
	jdoc_set_str(meta, "name", jdoc_str_or(jdoc_get(shape, "name"), ""));
	if (namespaced) {
		jdoc_set_str(meta, "namespace", "ns");
	}
	jdoc_ensure_object(d, "spec");
	jdoc_ensure_object(d, "status");
	return d;
}

static void copy(struct jdoc *to, const char *key, const struct jdoc *shape, const char *from)
{
	const struct jdoc *v = jdoc_get(shape, from);

	if (v != NULL) {
		jdoc_set_take(to, key, jdoc_copy(v));
	}
}

static struct jdoc *expand_queue(const struct jdoc *shape)
{
	struct jdoc *d = start("scheduling.volcano.sh/v1beta1", "Queue", shape, false);
	struct jdoc *spec = jdoc_get_mut(d, "spec");

	copy(spec, "parent", shape, "parent");
	copy(spec, "capability", shape, "capability");
	copy(spec, "deserved", shape, "deserved");
	copy(spec, "reclaimable", shape, "reclaimable");
	if (jdoc_get(shape, "guarantee") != NULL) {
		copy(jdoc_ensure_object(spec, "guarantee"), "resource", shape, "guarantee");
	}
	copy(jdoc_get_mut(d, "status"), "state", shape, "state");
	return d;
}

static struct jdoc *expand_group(const struct jdoc *shape)
{
	struct jdoc *d = start("scheduling.volcano.sh/v1beta1", "PodGroup", shape, true);
	struct jdoc *spec = jdoc_get_mut(d, "spec");

	copy(spec, "queue", shape, "queue");
	copy(spec, "priorityClassName", shape, "class");
	jdoc_set_int(spec, "minMember", jdoc_int(jdoc_get(shape, "min"), 1));
	copy(spec, "minTaskMember", shape, "roles");
	copy(spec, "minResources", shape, "minResources");
	copy(jdoc_get_mut(d, "status"), "phase", shape, "phase");
	return d;
}

static struct jdoc *expand_kube_group(const struct jdoc *shape)
{
	struct jdoc *d = start("scheduling.k8s.io/v1beta1", "PodGroup", shape, true);
	struct jdoc *policy = jdoc_ensure_object(jdoc_get_mut(d, "spec"), "schedulingPolicy");

	if (jdoc_get(shape, "min") != NULL) {
		copy(jdoc_ensure_object(policy, "gang"), "minCount", shape, "min");
	} else {
		jdoc_ensure_object(policy, "basic");
	}
	return d;
}

static struct jdoc *expand_node(const struct jdoc *shape)
{
	struct jdoc *d = start("v1", "Node", shape, false);
	struct jdoc *amounts = jdoc_ensure_object(jdoc_get_mut(d, "status"), "allocatable");

	copy(amounts, "cpu", shape, "cpu");
	jdoc_set_str(amounts, "memory", jdoc_str_or(jdoc_get(shape, "memory"), "64Gi"));
	jdoc_set_str(amounts, "pods", "110");
	copy(jdoc_get_mut(d, "metadata"), "labels", shape, "labels");
	copy(jdoc_get_mut(d, "spec"), "taints", shape, "taints");
	copy(jdoc_get_mut(d, "spec"), "unschedulable", shape, "unschedulable");
	return d;
}

static void add_gate(struct jdoc *spec, const char *name)
{
	struct jdoc *gate =
		jdoc_append_take(jdoc_ensure_array(spec, "schedulingGates"), jdoc_new_object());

	jdoc_set_str(gate, "name", name);
}

static void add_condition(struct jdoc *pod)
{
	struct jdoc *c = jdoc_append_take(
		jdoc_ensure_array(jdoc_get_mut(pod, "status"), "conditions"), jdoc_new_object());

	jdoc_set_str(c, "type", "PodScheduled");
	jdoc_set_str(c, "status", "False");
	jdoc_set_str(c, "reason", "SchedulingGated");
}

static void set_gates(struct jdoc *pod, const struct jdoc *shape)
{
	struct jdoc *spec = jdoc_get_mut(pod, "spec");
	bool gated = jdoc_bool(jdoc_get(shape, "gated"), false);
	bool foreign = jdoc_bool(jdoc_get(shape, "foreign"), false);

	if (!jdoc_bool(jdoc_get(shape, "plain"), false)) {
		jdoc_set_str(jdoc_ensure_object(jdoc_get_mut(pod, "metadata"), "annotations"), GATE,
			     "true");
	}
	if (foreign) {
		add_gate(spec, "example.com/other-gate");
	}
	if (gated) {
		add_gate(spec, GATE);
	}
	if (gated || foreign) {
		add_condition(pod);
	}
}

static struct jdoc *expand_pod(const struct jdoc *shape)
{
	struct jdoc *d = start("v1", "Pod", shape, true);
	struct jdoc *meta = jdoc_get_mut(d, "metadata"), *spec = jdoc_get_mut(d, "spec");
	struct jdoc *annotations = jdoc_ensure_object(meta, "annotations");
	struct jdoc *container =
		jdoc_append_take(jdoc_ensure_array(spec, "containers"), jdoc_new_object());
	struct jdoc *requests =
		jdoc_ensure_object(jdoc_ensure_object(container, "resources"), "requests");

	jdoc_set_str(container, "name", "main");
	copy(requests, "cpu", shape, "cpu");
	copy(requests, "memory", shape, "memory");
	copy(annotations, "scheduling.k8s.io/group-name", shape, "group");
	copy(annotations, "volcano.sh/task-spec", shape, "role");
	copy(annotations, "scheduling.volcano.sh/queue-name", shape, "queue");
	jdoc_set_str(spec, "schedulerName", "volcano");
	copy(spec, "schedulerName", shape, "scheduler");
	copy(spec, "nodeSelector", shape, "selector");
	copy(spec, "priority", shape, "priority");
	if (jdoc_get(shape, "kubeGroup") != NULL) {
		copy(jdoc_ensure_object(spec, "schedulingGroup"), "podGroupName", shape,
		     "kubeGroup");
	}
	copy(spec, "nodeName", shape, "node");
	jdoc_set_str(jdoc_get_mut(d, "status"), "phase",
		     jdoc_get(shape, "node") != NULL ? "Running" : "Pending");
	set_gates(d, shape);
	return d;
}

struct jdoc *expand_object(const char *kind, const struct jdoc *shape)
{
	static const struct {
		const char *kind;
		struct jdoc *(*expand)(const struct jdoc *shape);
	} rows[] = {
		{ "queues", expand_queue }, { "groups", expand_group },
		{ "nodes", expand_node },   { "pods", expand_pod },
		{ "objects", jdoc_copy },   { "kubeGroups", expand_kube_group },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct jdoc *d;

		if (!str_streq(rows[i].kind, kind)) {
			continue;
		}
		d = rows[i].expand(shape);
		if (jdoc_get(shape, "merge") != NULL) {
			patch_apply_merge(&d, jdoc_get(shape, "merge"));
		}
		return d;
	}
	fail_msg("no short form is called %s", kind);
	return NULL;
}
