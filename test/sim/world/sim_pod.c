#include "sim/world/sim_pod.h"

#include <stdio.h>

#include "api/volcano/gate.h"
#include "api/volcano/keys.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/quantity.h"
#include "play/mirror.h"
#include "sim/world/sim_view.h"

const char *sim_pod_uid(const struct jdoc *pod)
{
	return jdoc_str_or(jdoc_path(pod, "metadata.uid"), "");
}

bool sim_pod_is_ours(const struct jdoc *pod)
{
	return jdoc_is_str(jdoc_path(pod, "spec.schedulerName"), "volcano");
}

bool sim_pod_is_theirs(const struct jdoc *pod)
{
	return jdoc_is_str(jdoc_path(pod, "spec.schedulerName"), SIM_POD_THEIRS) &&
	       sim_pod_is_opted_in(pod, true);
}

static const struct jdoc *gates(const struct jdoc *pod)
{
	return jdoc_first(jdoc_path(pod, "spec.schedulingGates"));
}

bool sim_pod_has_controller(const struct jdoc *pod)
{
	const struct jdoc *o = jdoc_first(jdoc_path(pod, "metadata.ownerReferences"));

	while (o != NULL && !jdoc_bool(jdoc_get(o, "controller"), false)) {
		o = jdoc_next(o);
	}
	return o != NULL;
}

bool sim_pod_has_gate(const struct jdoc *pod, const char *gate)
{
	const struct jdoc *g = gates(pod);

	while (g != NULL && !jdoc_is_str(jdoc_get(g, "name"), gate)) {
		g = jdoc_next(g);
	}
	return g != NULL;
}

bool sim_pod_has_our_gate(const struct jdoc *pod)
{
	const struct jdoc *g = gates(pod);

	while (g != NULL && gate_by_name(jdoc_str_or(jdoc_get(g, "name"), "")) == NULL) {
		g = jdoc_next(g);
	}
	return g != NULL;
}

bool sim_pod_has_foreign_gate(const struct jdoc *pod)
{
	const struct jdoc *g = gates(pod);

	while (g != NULL && gate_by_name(jdoc_str_or(jdoc_get(g, "name"), "")) != NULL) {
		g = jdoc_next(g);
	}
	return g != NULL;
}

bool sim_pod_is_opted_in(const struct jdoc *pod, bool sticky)
{
	const struct jdoc *annotations = jdoc_path(pod, "metadata.annotations");
	bool in = sticky &&
		  (sim_pod_has_our_gate(pod) || jdoc_get(annotations, KEYS_RESERVED) != NULL);

	for (size_t i = 0; gate_at(i) != NULL; i++) {
		in |= jdoc_is_str(jdoc_get(annotations, gate_at(i)->annotation), "true");
	}
	return in;
}

bool sim_pod_is_placed(const struct jdoc *pod)
{
	const char *node = jdoc_path_str(pod, "spec.nodeName");

	return node != NULL && node[0] != '\0';
}

bool sim_pod_is_finished(const struct jdoc *pod)
{
	const char *phase = jdoc_path_str(pod, "status.phase");

	return str_streq(phase, "Succeeded") || str_streq(phase, "Failed");
}

bool sim_pod_is_published(const struct jdoc *pod)
{
	return pod != NULL && mirror_pod_triggers_scale_up(pod);
}

bool sim_pod_has_requests(const struct jdoc *pod)
{
	return jdoc_count(jdoc_path(jdoc_at(jdoc_path(pod, "spec.containers"), 0),
				    "resources.requests")) > 0;
}

int64_t sim_pod_milli_cpu(const struct jdoc *pod)
{
	const struct jdoc *c = jdoc_at(jdoc_path(pod, "spec.containers"), 0);
	struct quantity q;

	if (quantity_parse(str_of(jdoc_path_str(c, "resources.requests.cpu")), &q, NULL) < 0) {
		return 0;
	}
	return quantity_milli(q);
}

bool sim_pod_is_short_of_gang(const struct jdoc *pod)
{
	return jdoc_is_str(jdoc_get(mirror_pod_condition(pod, KEYS_CONDITION_SCHEDULED), "reason"),
			   "Schedulable");
}

bool sim_pod_is_impossible(const struct jdoc *pod)
{
	return jdoc_is_str(jdoc_path(pod, "spec.nodeSelector.pool"), "nowhere");
}

char *sim_pod_group(const struct jdoc *pod)
{
	const char *name =
		jdoc_str(jdoc_get(jdoc_path(pod, "metadata.annotations"), KEYS_GROUP_NAME));

	return name == NULL
		       ? NULL
		       : xmalloc_printf("%s/%s", jdoc_path_str(pod, "metadata.namespace"), name);
}

const char *sim_pod_role(const struct jdoc *pod)
{
	return jdoc_str_or(jdoc_get(jdoc_path(pod, "metadata.annotations"), KEYS_TASK_SPEC), "");
}

static void describe(const struct jdoc *pod, char out[160])
{
	const struct jdoc *c = mirror_pod_condition(pod, KEYS_CONDITION_SCHEDULED);

	snprintf(out, 160, "uid %.8s%s%s%s%s node %s %s %s", sim_pod_uid(pod),
		 sim_pod_is_opted_in(pod, false) ? " opted-in" : "",
		 sim_pod_has_our_gate(pod) ? " our-gate" : "",
		 sim_pod_has_foreign_gate(pod) ? " foreign-gate" : "",
		 jdoc_path(pod, "metadata.deletionTimestamp") != NULL ? " terminating" : "",
		 jdoc_str_or(jdoc_path(pod, "spec.nodeName"), "-"),
		 jdoc_str_or(jdoc_path(pod, "status.phase"), "-"),
		 jdoc_str_or(jdoc_get(c, "reason"), "-"));
}

void sim_pod_trace(struct sim_world *w, const struct sim_change *change)
{
	char old[160] = "new", now[160] = "gone";

	if (change->old != NULL) {
		describe(change->old, old);
	}
	if (change->now != NULL) {
		describe(change->now, now);
	}
	if (!str_streq(old, now)) {
		sim_world_trace(w, "  pod %s: %s", change->key, now);
	}
}
