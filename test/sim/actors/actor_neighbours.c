/* Pods that must be near others, away from them, or spread; nodes get zones, and lose them. */
#include <stdio.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/json/patch_apply.h"
#include "sim/actors/actor_lists.h"
#include "sim/users/sim_manifest.h"

#define PODS "/api/v1/namespaces/default/pods"
#define GROUPS "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
#define NODES "/api/v1/nodes"
#define JSON "application/json"
#define MOST_PODS 40
#define MOST_NODES 4

static const char *name_of(const struct jdoc *object)
{
	return jdoc_path_str(object, "metadata.name");
}

static const char *any_key(struct sim_actors *a)
{
	return sim_actors_below(a, 2) == 0 ? "zone" : "kubernetes.io/hostname";
}

static const char *any_side(struct sim_actors *a)
{
	static const char *const sides[] = { "a", "b", "c" };

	return sides[sim_actors_below(a, ARRAY_LEN(sides))];
}

static char *make_term(struct sim_actors *a, const char *side)
{
	static const char *const namespaces[] = { "", "", ",\"namespaceSelector\":{}",
						  ",\"namespaces\":[\"default\",\"other\"]" };

	return xmalloc_printf(
		"{\"topologyKey\":\"%s\",\"labelSelector\":{\"matchLabels\":{\"side\":"
		"\"%s\"}}%s}",
		any_key(a), side, namespaces[sim_actors_below(a, ARRAY_LEN(namespaces))]);
}

#define PREFERRED "\"preferredDuringSchedulingIgnoredDuringExecution\""
#define REQUIRED "\"requiredDuringSchedulingIgnoredDuringExecution\""

/* side: of the pod, which near-ness to itself and spread are about. */
static char *make_terms(struct sim_actors *a, const char *side)
{
	CLEANUP(xmalloc_freep) char *own = make_term(a, side), *other = make_term(a, any_side(a));

	switch (sim_actors_below(a, 5)) {
	case 0:
		return xmalloc_printf("\"affinity\":{\"podAffinity\":{" REQUIRED ":[%s]}}", own);
	case 1:
		return xmalloc_printf("\"affinity\":{\"podAffinity\":{" REQUIRED ":[%s,%s]}}", own,
				      other);
	case 2:
		return xmalloc_printf("\"affinity\":{\"podAntiAffinity\":{" REQUIRED ":[%s]}}",
				      other);
	case 3:
		return xmalloc_printf(
			"\"topologySpreadConstraints\":[{\"maxSkew\":%u,\"topologyKey\":\"%s\","
			"\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{"
			"\"matchLabels\":{"
			"\"side\":\"%s\"}}}]",
			1 + sim_actors_below(a, 2), any_key(a), side);
	default:
		break;
	}
	return xmalloc_printf(
		"\"affinity\":{\"podAffinity\":{" PREFERRED ":[{\"weight\":60,\"podAffinityTerm\":"
		"%s}]},\"podAntiAffinity\":{" PREFERRED
		":[{\"weight\":20,\"podAffinityTerm\":%s}]}},"
		"\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\","
		"\"whenUnsatisfiable\":\"ScheduleAnyway\",\"labelSelector\":{\"matchLabels\":{"
		"\"side\":\"%s\"}}}]",
		own, other, side);
}

static bool create_pod(struct sim_actors *a, const char *group, const char *queue, const char *side,
		       const char *terms)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT, text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *pod = NULL, *patch = NULL;
	CLEANUP(xmalloc_freep)
	char *merge = xmalloc_printf("{\"metadata\":{\"labels\":{\"side\":\"%s\"}},\"spec\":{%s}}",
				     side, terms);
	struct sim_manifest_pod p = {
		.queue = queue,
		.runs_for = sim_actors_below(a, 2) == 0 ? "20s" : "90s",
		.milli_cpu = 250u << sim_actors_below(a, 2),
		.opted_in = sim_actors_below(a, 3) != 0,
	};

	snprintf(p.name, sizeof(p.name), "side%u", a->next++);
	snprintf(p.group, sizeof(p.group), "%s", group);
	sim_manifest_pod(&p, &body);
	if (jdoc_parse(strbuf_str(&body), &pod, NULL) < 0 ||
	    jdoc_parse(str_of(merge), &patch, NULL) < 0) {
		return false;
	}
	patch_apply_merge(&pod, patch);
	jdoc_format(pod, &text);
	return sim_actors_send(a, HTTP_POST, PODS, JSON, text.p) < 300;
}

static bool has_room(const struct sim_actors *a)
{
	return sim_view_count(a->world->view, SIM_PODS) < MOST_PODS;
}

static const char *any_queue(struct sim_actors *a)
{
	static const char *const queues[] = { "lone", "flat", "team-x", "open" };

	return queues[sim_actors_below(a, ARRAY_LEN(queues))];
}

static bool create_single(struct sim_actors *a)
{
	const char *side = any_side(a);
	CLEANUP(xmalloc_freep) char *terms = make_terms(a, side);

	return has_room(a) && create_pod(a, "", any_queue(a), side, terms);
}

/* A gang of which all members have the same terms. */
static bool create_gang(struct sim_actors *a)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	const char *side = any_side(a), *queue = any_queue(a);
	CLEANUP(xmalloc_freep) char *terms = make_terms(a, side);
	unsigned n = 2 + sim_actors_below(a, 3);
	char group[24];
	bool made;

	if (!has_room(a)) {
		return false;
	}
	snprintf(group, sizeof(group), "sides%u", a->next++);
	sim_manifest_group(group, queue, NULL, n, &body);
	made = sim_actors_send(a, HTTP_POST, GROUPS, JSON, body.p) < 300;
	for (unsigned i = 0; i < n; i++) {
		made &= create_pod(a, group, queue, side, terms);
	}
	return made;
}

static bool set_zone(struct sim_actors *a)
{
	static const char *const zones[] = { "\"a\"", "\"b\"", "\"a\"", "\"b\"", "null" };
	const struct jdoc *node = sim_actors_any(a, SIM_NODES);
	char body[80];

	snprintf(body, sizeof(body), "{\"metadata\":{\"labels\":{\"zone\":%s}}}",
		 zones[sim_actors_below(a, ARRAY_LEN(zones))]);
	return node != NULL && sim_actors_patch(a, NODES, name_of(node), body);
}

/* Without waiting for the autoscaler: most pods would come too late for terms to matter. */
static bool create_node(struct sim_actors *a)
{
	static const char *const zones[] = { "", ",\"zone\":\"a\"", ",\"zone\":\"b\"" };
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	unsigned number = a->next++;

	if (sim_view_count(a->world->view, SIM_NODES) >= MOST_NODES) {
		return false;
	}
	strbuf_printf(
		&body,
		"{\"metadata\":{\"name\":\"zoned-%u\",\"labels\":{\"kubernetes.io/hostname\":"
		"\"zoned-%u\"%s}},\"status\":{\"allocatable\":{\"cpu\":\"2\",\"memory\":\"4Gi\","
		"\"pods\":\"6\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
		number, number, zones[sim_actors_below(a, ARRAY_LEN(zones))]);
	return sim_actors_send(a, HTTP_POST, NODES, JSON, body.p) < 300;
}

static bool change_side(struct sim_actors *a)
{
	const struct jdoc *pod = sim_actors_any(a, SIM_PODS);
	char body[80];

	snprintf(body, sizeof(body), "{\"metadata\":{\"labels\":{\"side\":\"%s\"}}}", any_side(a));
	return pod != NULL && jdoc_path(pod, "metadata.labels.side") != NULL &&
	       sim_actors_patch(a, PODS, name_of(pod), body);
}

static bool starts_with(const char *name, const char *start)
{
	return name != NULL && str_has_prefix(str_of(name), start);
}

/* Where such pods may run at last is not for the judge to say: they go, and so do their groups. */
static void delete_all(struct sim_actors *a, enum sim_resource r, const char *url,
		       const char *start)
{
	for (size_t i = sim_view_count(a->world->view, r); i-- > 0;) {
		const char *name = name_of(sim_view_at(a->world->view, r, i));

		if (starts_with(name, start)) {
			(void)sim_actors_delete(a, url, name);
			i = i < sim_view_count(a->world->view, r)
				    ? i
				    : sim_view_count(a->world->view, r);
		}
	}
}

static void end(struct sim_actors *a)
{
	delete_all(a, SIM_PODS, PODS, "side");
	delete_all(a, SIM_PODGROUPS, GROUPS, "sides");
}

static const struct sim_actors_act acts[] = {
	{ "pod with terms about others created", create_single, 12 },
	{ "gang with terms about others created", create_gang, 6 },
	{ "zone of a node set", set_zone, 4 },
	{ "node with a zone created", create_node, 6 },
	{ "label of a pod edited that others look for", change_side, 1 },
};

const struct sim_actors_actor actor_neighbours = {
	.acts = acts, .n = ARRAY_LEN(acts), .per_mille = 40, .pods = true, .end = end
};
