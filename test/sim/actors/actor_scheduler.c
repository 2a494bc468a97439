/* Another scheduler and its users: pods that opt in and wait at our gate, which it binds to any
 * node with room as soon as they have none, or reports as unschedulable. */
#include <stdio.h>

#include "api/volcano/gate.h"
#include "api/volcano/keys.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/actors/actor_lists.h"
#include "sim/world/sim_pod.h"

#define PODS "/api/v1/namespaces/default/pods"
#define GROUPS "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
#define JSON "application/json"
#define MOST_PODS 55

static const char *name_of(const struct jdoc *object)
{
	return object == NULL ? "default" : jdoc_path_str(object, "metadata.name");
}

/* The controller that owns pods without a PodGroup creates others in the place of those that are
 * deleted, as often as the test's chance wants. */
static const char owner[] =
	"\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":"
	"\"theirs\",\"uid\":\"theirs\",\"controller\":true}],";

static bool create(struct sim_actors *a, const char *key, const char *value)
{
	bool owned = a->world->deletes_overdue && str_streq(key, KEYS_QUEUE_NAME);
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf(
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"theirs%u\",%s"
		"\"annotations\":{\"%s\":\"true\",\"%s\":\"%s\",\"demo.headgate.io/runs-for\":"
		"\"3s\"}},\"spec\":{\"schedulerName\":\"" SIM_POD_THEIRS
		"\",\"containers\":[{\"name\":\"main\",\"image\":\"x\",\"resources\":{\"requests\":"
		"{\"cpu\":\"%um\"}}}]}}",
		a->next++, owned ? owner : "", gate_at(0)->annotation, key, value,
		250u << sim_actors_below(a, 4));

	return sim_actors_send(a, HTTP_POST, PODS, JSON, body) < 300;
}

static bool create_pod(struct sim_actors *a)
{
	return sim_view_count(a->world->view, SIM_PODS) < MOST_PODS &&
	       create(a, KEYS_QUEUE_NAME, name_of(sim_actors_any(a, SIM_QUEUES)));
}

static bool create_gang(struct sim_actors *a)
{
	CLEANUP(xmalloc_freep) char *name = xmalloc_printf("gang%u", a->next++);
	CLEANUP(xmalloc_freep) char *body = NULL;

	if (sim_view_count(a->world->view, SIM_PODS) >= MOST_PODS) {
		return false;
	}
	body = xmalloc_printf("{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":"
			      "\"PodGroup\",\"metadata\":{\"name\":\"%s\"},\"spec\":{\"queue\":"
			      "\"%s\",\"minMember\":2}}",
			      name, name_of(sim_actors_any(a, SIM_QUEUES)));
	return sim_actors_send(a, HTTP_POST, GROUPS, JSON, body) < 300 &&
	       create(a, KEYS_GROUP_NAME, name) && create(a, KEYS_GROUP_NAME, name);
}

/* One of theirs that waits for a node, or NULL. */
static const struct jdoc *any_waiting(struct sim_actors *a)
{
	size_t n = sim_view_count(a->world->view, SIM_PODS);
	size_t from = n == 0 ? 0 : sim_actors_below(a, (unsigned)n);

	for (size_t i = 0; i < n; i++) {
		const struct jdoc *pod = sim_view_at(a->world->view, SIM_PODS, (from + i) % n);

		if (sim_pod_is_theirs(pod) && !sim_pod_is_placed(pod) &&
		    !sim_pod_is_finished(pod) &&
		    jdoc_path(pod, "metadata.deletionTimestamp") == NULL) {
			return pod;
		}
	}
	return NULL;
}

static const struct jdoc *any_ungated(struct sim_actors *a)
{
	const struct jdoc *pod = any_waiting(a);

	return pod == NULL || jdoc_count(jdoc_path(pod, "spec.schedulingGates")) > 0 ? NULL : pod;
}

/* Room does not matter to us: the kubelet of the simulation runs what it gets. */
bool actor_scheduler_bind(struct sim_actors *a)
{
	const struct jdoc *pod = any_ungated(a), *node = sim_actors_any(a, SIM_NODES);
	CLEANUP(xmalloc_freep) char *url = NULL;
	CLEANUP(xmalloc_freep) char *body = NULL;

	if (pod == NULL || node == NULL) {
		return false;
	}
	url = xmalloc_printf(PODS "/%s/binding", name_of(pod));
	body = xmalloc_printf("{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":"
			      "\"%s\"},\"target\":{\"kind\":\"Node\",\"name\":\"%s\"}}",
			      name_of(pod), name_of(node));
	return sim_actors_send(a, HTTP_POST, url, JSON, body) < 300;
}

static bool publish(struct sim_actors *a)
{
	const struct jdoc *pod = any_ungated(a);
	CLEANUP(xmalloc_freep) char *status = NULL;

	if (pod == NULL) {
		return false;
	}
	status = xmalloc_printf("%s/status", name_of(pod));
	return sim_actors_patch(
		a, PODS, status,
		"{\"status\":{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":"
		"\"False\",\"reason\":\"Unschedulable\",\"message\":\"0 nodes\","
		"\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}");
}

static bool take_gate_off(struct sim_actors *a)
{
	const struct jdoc *pod = any_waiting(a);

	return pod != NULL && sim_pod_has_our_gate(pod) &&
	       sim_actors_patch(a, PODS, name_of(pod), "{\"spec\":{\"schedulingGates\":null}}");
}

static bool edit_queue(struct sim_actors *a)
{
	const struct jdoc *pod = any_waiting(a);
	CLEANUP(xmalloc_freep) char *body = NULL;

	if (pod == NULL) {
		return false;
	}
	body = xmalloc_printf("{\"metadata\":{\"annotations\":{\"" KEYS_QUEUE_NAME "\":\"%s\"}}}",
			      name_of(sim_actors_any(a, SIM_QUEUES)));
	return sim_actors_patch(a, PODS, name_of(pod), body);
}

static bool delete_pod(struct sim_actors *a)
{
	const struct jdoc *pod = any_waiting(a);

	return pod != NULL && sim_actors_delete(a, PODS, name_of(pod));
}

static const struct sim_actors_act acts[] = {
	{ "another scheduler's pod is created", create_pod, 6 },
	{ "another scheduler's gang is created", create_gang, 2 },
	{ "another scheduler binds a pod", actor_scheduler_bind, 8 },
	{ "another scheduler finds no node", publish, 3 },
	{ "another scheduler's pod loses its gate to a client", take_gate_off, 1 },
	{ "another scheduler's pod gets another queue", edit_queue, 1 },
	{ "another scheduler's pod is deleted", delete_pod, 2 },
};

const struct sim_actors_actor actor_scheduler = {
	.acts = acts, .n = ARRAY_LEN(acts), .per_mille = 12, .pods = true
};
