/* The attacks of a tenant who may write pods and PodGroups of one namespace. */
#include <stdio.h>

#include "api/volcano/keys.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/actors/actor_lists.h"
#include "sim/world/sim_pod.h"

#define PODS "/api/v1/namespaces/default/pods"
#define GROUPS "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
#define JSON "application/json"
#define MANY_NAMES 28
#define MOST_PODS 55

static const char *name_of(const struct jdoc *object)
{
	return jdoc_path_str(object, "metadata.name");
}

/* Resources that no node has, on a pod of another scheduler. */
static bool invent_names(struct sim_actors *a)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	if (sim_view_count(a->world->view, SIM_PODS) >= MOST_PODS) {
		return false;
	}
	strbuf_printf(&body,
		      "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"evil%u\"},"
		      "\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"x\",\"resources\":{"
		      "\"limits\":{\"cpu\":\"1\"",
		      a->next);
	for (unsigned i = 0; i < MANY_NAMES; i++) {
		strbuf_printf(&body, ",\"evil.example.com/x%u-%u\":\"1\"", a->next, i);
	}
	strbuf_add_c(&body, "}}}]}}");
	a->next++;
	return sim_actors_send(a, HTTP_POST, PODS, JSON, body.p) < 300;
}

/* An annotation that decoders stumble over. */
static bool write_nul(struct sim_actors *a)
{
	const struct jdoc *pod = sim_actors_any(a, SIM_PODS);

	return pod != NULL && sim_actors_patch(a, PODS, name_of(pod),
					       "{\"metadata\":{\"annotations\":{\"x\":\"\\u0000\""
					       "}}}");
}

/* A pod that names its node itself, and asks for very much. */
static bool place_itself(struct sim_actors *a)
{
	const struct jdoc *node = sim_actors_any(a, SIM_NODES);
	const struct jdoc *group = sim_actors_any(a, SIM_PODGROUPS);
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	bool there = node != NULL && sim_actors_below(a, 2) == 0;

	if (group == NULL || sim_view_count(a->world->view, SIM_PODS) >= MOST_PODS) {
		return false;
	}
	strbuf_printf(&body,
		      "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"placed%u\","
		      "\"annotations\":{\"" KEYS_GROUP_NAME "\":\"%s\","
		      "\"demo.headgate.io/runs-for\":\"5s\"}},\"spec\":{\"schedulerName\":"
		      "\"volcano\",\"nodeName\":\"%s\",\"containers\":[{\"name\":\"main\","
		      "\"image\":\"x\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}}",
		      a->next++, name_of(group), there ? name_of(node) : "no-such-node",
		      there ? "500m" : "1T");
	return sim_actors_send(a, HTTP_POST, PODS, JSON, body.p) < 300;
}

/* In place, up or down. */
static bool resize(struct sim_actors *a)
{
	const struct jdoc *pod = sim_actors_any(a, SIM_PODS);
	CLEANUP(xmalloc_freep) char *url = NULL;
	char body[200];

	if (pod == NULL || !sim_pod_is_ours(pod) || !sim_pod_has_requests(pod) ||
	    !sim_pod_is_placed(pod) || sim_pod_is_finished(pod)) {
		return false;
	}
	url = xmalloc_printf(PODS "/%s/resize", name_of(pod));
	snprintf(body, sizeof(body),
		 "{\"spec\":{\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{"
		 "\"cpu\":\"%um\"}}}]}}",
		 250u << sim_actors_below(a, 4));
	return sim_actors_send(a, HTTP_PATCH, url, "application/strategic-merge-patch+json", body) <
	       300;
}

/* The mark of a reservation that was never made, and the gate away. */
static bool forge_reservation(struct sim_actors *a)
{
	const struct jdoc *pod = sim_actors_any(a, SIM_PODS);

	/* Of another scheduler's pod the mark counts at once: the policy of the chart guards it. */
	return pod != NULL && sim_pod_is_ours(pod) && sim_pod_has_our_gate(pod) &&
	       sim_actors_patch(a, PODS, name_of(pod),
				"{\"metadata\":{\"annotations\":{\"" KEYS_RESERVED
				"\":\"open\"}},\"spec\":{\"schedulingGates\":null}}");
}

static bool edit_gang(struct sim_actors *a)
{
	const struct jdoc *group = sim_actors_any(a, SIM_PODGROUPS);
	char body[80];

	snprintf(body, sizeof(body), "{\"spec\":{\"minMember\":%u}}", sim_actors_below(a, 6));
	return group != NULL && sim_actors_patch(a, GROUPS, name_of(group), body);
}

static bool delete_gang(struct sim_actors *a)
{
	const struct jdoc *group = sim_actors_any(a, SIM_PODGROUPS);

	return group != NULL && sim_actors_delete(a, GROUPS, name_of(group));
}

/* Gated pods may get a narrower selector. A gang with a member that fits no node would be published
 * and withdrawn for ever. */
static bool narrow(struct sim_actors *a)
{
	const struct jdoc *pod = sim_actors_any(a, SIM_PODS);
	bool alone = pod != NULL && name_of(pod)[0] == 'p';

	return pod != NULL && jdoc_count(jdoc_path(pod, "spec.schedulingGates")) > 0 &&
	       sim_actors_patch(a, PODS, name_of(pod),
				alone && sim_actors_below(a, 2) == 0
					? "{\"spec\":{\"nodeSelector\":{\"pool\":\"nowhere\"}}}"
					: "{\"spec\":{\"nodeSelector\":{\"pool\":\"special\"}}}");
}

static const struct sim_actors_act acts[] = {
	{ "tenant invents resource names", invent_names, 1 },
	{ "tenant writes NUL into an annotation", write_nul, 1 },
	{ "tenant places a pod itself", place_itself, 2 },
	{ "tenant resizes a pod", resize, 2 },
	{ "tenant forges a reservation", forge_reservation, 2 },
	{ "tenant edits a gang", edit_gang, 2 },
	{ "tenant deletes a PodGroup", delete_gang, 1 },
	{ "tenant narrows a selector", narrow, 2 },
};

const struct sim_actors_actor actor_tenant = {
	.acts = acts, .n = ARRAY_LEN(acts), .per_mille = 6, .pods = true
};
