/* Users of kube-scheduler with PodGroups of Kubernetes: gangs that are created before their pods or
 * after them, grow, shrink, get another minimum, and are deleted while pods wait or run. */
#include <stdio.h>

#include "api/volcano/gate.h"
#include "api/volcano/keys.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/actors/actor_lists.h"
#include "sim/world/sim_pod.h"

#define PODS "/api/v1/namespaces/default/pods"
#define GROUPS "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups"
#define JSON "application/json"
#define MOST_PODS 55

static const char *name_of(const struct jdoc *object)
{
	return jdoc_path_str(object, "metadata.name");
}

static const char *any_queue(struct sim_actors *a)
{
	const struct jdoc *queue = sim_actors_any(a, SIM_QUEUES);

	return queue == NULL ? "default" : name_of(queue);
}

/* {"gang":{"minCount":3},"basic":null}: the null takes the other one away in a merge. */
static void put_policy(struct sim_actors *a, char *out, size_t size)
{
	if (sim_actors_below(a, 4) == 0) {
		snprintf(out, size, "{\"basic\":{},\"gang\":null}");
	} else {
		snprintf(out, size, "{\"gang\":{\"minCount\":%u},\"basic\":null}",
			 1 + sim_actors_below(a, 4));
	}
}

static bool create_group(struct sim_actors *a, const char *name)
{
	CLEANUP(xmalloc_freep) char *body = NULL;
	char policy[80];

	put_policy(a, policy, sizeof(policy));
	body = xmalloc_printf("{\"apiVersion\":\"scheduling.k8s.io/v1beta1\",\"kind\":\"PodGroup\","
			      "\"metadata\":{\"name\":\"%s\"},\"spec\":{\"priority\":%u,"
			      "\"schedulingPolicy\":%s}}",
			      name, sim_actors_below(a, 3), policy);
	return sim_actors_send(a, HTTP_POST, GROUPS, JSON, body) < 300;
}

static bool create_pod(struct sim_actors *a, const char *group, const char *queue)
{
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf(
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s-%u\","
		"\"annotations\":{\"%s\":\"true\",\"" KEYS_QUEUE_NAME
		"\":\"%s\",\"demo.headgate.io/runs-for\":\"3s\"}},\"spec\":{\"schedulerName\":"
		"\"" SIM_POD_THEIRS "\",\"schedulingGroup\":{\"podGroupName\":\"%s\"},"
		"\"containers\":[{\"name\":\"main\",\"image\":\"x\",\"resources\":{"
		"\"requests\":{\"cpu\":\"%um\"}}}]}}",
		group, a->next++, gate_at(0)->annotation, queue, group,
		250u << sim_actors_below(a, 3));

	return sim_actors_send(a, HTTP_POST, PODS, JSON, body) < 300;
}

/* Not always as many as its minimum; one in eight names another queue. */
static bool create_pods(struct sim_actors *a, const char *group)
{
	CLEANUP(xmalloc_freep) char *queue = xmalloc_dup(any_queue(a));
	unsigned n = 1 + sim_actors_below(a, 4);
	bool made = true;

	for (unsigned i = 0; i < n; i++) {
		CLEANUP(xmalloc_freep)
		char *other = sim_actors_below(a, 8) == 0 ? xmalloc_dup(any_queue(a)) : NULL;

		made &= create_pod(a, group, other == NULL ? queue : other);
	}
	return made;
}

static bool is_full(const struct sim_actors *a)
{
	return sim_view_count(a->world->view, SIM_PODS) >= MOST_PODS;
}

static bool create_group_first(struct sim_actors *a)
{
	CLEANUP(xmalloc_freep) char *name = xmalloc_printf("kube%u", a->next++);

	return !is_full(a) && create_group(a, name) && create_pods(a, name);
}

static bool create_pods_first(struct sim_actors *a)
{
	CLEANUP(xmalloc_freep) char *name = xmalloc_printf("kube%u", a->next++);

	return !is_full(a) && create_pods(a, name);
}

/* A member that is not being deleted, or NULL. */
static const struct jdoc *any_member(struct sim_actors *a)
{
	size_t n = sim_view_count(a->world->view, SIM_PODS);
	size_t from = n == 0 ? 0 : sim_actors_below(a, (unsigned)n);

	for (size_t i = 0; i < n; i++) {
		const struct jdoc *pod = sim_view_at(a->world->view, SIM_PODS, (from + i) % n);

		if (jdoc_path(pod, "spec.schedulingGroup") != NULL &&
		    jdoc_path(pod, "metadata.deletionTimestamp") == NULL) {
			return pod;
		}
	}
	return NULL;
}

static bool create_missing(struct sim_actors *a)
{
	const char *group = jdoc_path_str(any_member(a), "spec.schedulingGroup.podGroupName");
	CLEANUP(xmalloc_freep) char *key = NULL;

	if (group == NULL) {
		return false;
	}
	key = xmalloc_printf("default/%s", group);
	return sim_view_get(a->world->view, SIM_KUBE_PODGROUPS, key) == NULL &&
	       create_group(a, group);
}

static bool grow(struct sim_actors *a)
{
	const struct jdoc *member = any_member(a);
	const char *queue =
		jdoc_str(jdoc_get(jdoc_path(member, "metadata.annotations"), KEYS_QUEUE_NAME));

	return member != NULL && queue != NULL && !is_full(a) &&
	       create_pod(a, jdoc_path_str(member, "spec.schedulingGroup.podGroupName"), queue);
}

static bool shrink(struct sim_actors *a)
{
	const struct jdoc *member = any_member(a);

	return member != NULL && sim_actors_delete(a, PODS, name_of(member));
}

static bool edit_policy(struct sim_actors *a)
{
	const struct jdoc *group = sim_actors_any(a, SIM_KUBE_PODGROUPS);
	CLEANUP(xmalloc_freep) char *body = NULL;
	char policy[80];

	if (group == NULL) {
		return false;
	}
	put_policy(a, policy, sizeof(policy));
	body = xmalloc_printf("{\"spec\":{\"schedulingPolicy\":%s}}", policy);
	return sim_actors_patch(a, GROUPS, name_of(group), body);
}

static bool delete_group(struct sim_actors *a)
{
	const struct jdoc *group = sim_actors_any(a, SIM_KUBE_PODGROUPS);

	return group != NULL && sim_actors_delete(a, GROUPS, name_of(group));
}

static const struct sim_actors_act acts[] = {
	{ "PodGroup of Kubernetes created, then its pods", create_group_first, 5 },
	{ "pods created for a PodGroup of Kubernetes to come", create_pods_first, 2 },
	{ "PodGroup of Kubernetes created for its pods", create_missing, 5 },
	{ "PodGroup of Kubernetes grows", grow, 3 },
	{ "PodGroup of Kubernetes shrinks", shrink, 2 },
	{ "policy of a PodGroup of Kubernetes edited", edit_policy, 2 },
	{ "PodGroup of Kubernetes deleted", delete_group, 1 },
	{ "kube-scheduler binds a pod", actor_scheduler_bind, 8 },
};

const struct sim_actors_actor actor_kube_groups = {
	.acts = acts, .n = ARRAY_LEN(acts), .per_mille = 14, .pods = true
};
