/* A client with the right to write the status of Workloads (the controller of an admission check, a
 * batch admin) writes what it should not, or an old status in place of a newer one. */
#include <stdio.h>
#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/actors/actor_lists.h"
#include "sim/controllers/sim_checks.h"
#include "sim/world/sim_workload.h"

#define WORKLOADS "/apis/" KUEUE_API_VERSION "/namespaces/default/workloads"
#define APPLY "application/apply-patch+yaml"
#define MERGE "application/merge-patch+json"

static const struct jdoc *any(struct sim_actors *a)
{
	const struct jdoc *w = sim_actors_any(a, SIM_WORKLOADS);

	return jdoc_is_str(jdoc_path(w, "metadata.namespace"), "default") ? w : NULL;
}

static const char *word(struct sim_actors *a, const char *const *words, unsigned n)
{
	return words[sim_actors_below(a, n)];
}

static void time_in(struct sim_actors *a, int64_t seconds, char ret[CLOCK_RFC3339_MAX])
{
	clock_format_time(clock_wall(&a->world->clock.base) + seconds * CLOCK_NS_PER_S, ret);
}

/* status: members of a JSON object. */
static bool send(struct sim_actors *a, const struct jdoc *w, const char *type, const char *status)
{
	bool apply = str_streq(type, APPLY);
	const char *name = jdoc_path_str(w, "metadata.name");
	CLEANUP(xmalloc_freep)
	char *url = xmalloc_printf(WORKLOADS "/%s/status%s", name,
				   apply ? "?fieldManager=sim-user&force=true" : "");
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"apiVersion\":\"" KUEUE_API_VERSION
				    "\",\"kind\":\"Workload\",\"metadata\":{\"name\":\"%s\"},"
				    "\"status\":{%s}}",
				    name, status);

	a->world->statuses_edited = true;
	return sim_actors_send(a, HTTP_PATCH, url, type, body) < 300;
}

static bool set_condition(struct sim_actors *a)
{
	static const char *const types[] = { KUEUE_QUOTA_RESERVED,
					     KUEUE_ADMITTED,
					     KUEUE_EVICTED,
					     KUEUE_PREEMPTED,
					     KUEUE_REQUEUED,
					     KUEUE_PODS_READY,
					     KUEUE_DEACTIVATION_TARGET,
					     "BlockedOnPreemptionGates" };
	static const char *const statuses[] = { "True", "False", "Unknown" };
	static const char *const reasons[] = { "Preempted", "AdmissionCheck", "Edited" };
	const struct jdoc *w = any(a);
	char at[CLOCK_RFC3339_MAX];
	CLEANUP(xmalloc_freep) char *status = NULL;

	time_in(a, (int64_t)sim_actors_below(a, 3) - 2, at);
	status = xmalloc_printf(
		"\"conditions\":[{\"type\":\"%s\",\"status\":\"%s\",\"reason\":"
		"\"%s\",\"message\":\"" SIM_ACTORS_MESSAGE "\",\"lastTransitionTime\":\"%s\"}]",
		word(a, types, ARRAY_LEN(types)), word(a, statuses, ARRAY_LEN(statuses)),
		word(a, reasons, ARRAY_LEN(reasons)), at);
	return w != NULL && send(a, w, APPLY, status);
}

/* Members of the status are removed. */
static bool remove_members(struct sim_actors *a)
{
	static const char *const edits[] = {
		"\"admission\":null",
		"\"conditions\":null",
		"\"admissionChecks\":null",
		"\"schedulingStats\":null",
		"\"reclaimablePods\":null,\"resourceRequests\":null",
		"\"admission\":null,\"conditions\":null",
	};
	const struct jdoc *w = any(a);

	return w != NULL && send(a, w, MERGE, word(a, edits, ARRAY_LEN(edits)));
}

/* One that waits is given quota by hand, whether there is any or not. An admission cannot be
 * changed into another one. */
static bool give_admission(struct sim_actors *a)
{
	static const char *const queues[] = { "a", "b", "c", "d", "solo" };
	static const char *const flavors[] = { "spot", "on-demand" };
	const struct jdoc *w = any(a), *podset = jdoc_at(jdoc_path(w, "spec.podSets"), 0);
	const char *queue = word(a, queues, ARRAY_LEN(queues));
	const char *flavor = word(a, flavors, ARRAY_LEN(flavors));
	char at[CLOCK_RFC3339_MAX];
	CLEANUP(xmalloc_freep) char *status = NULL;

	if (w == NULL || jdoc_path(w, "status.admission") != NULL) {
		return false;
	}
	time_in(a, 0, at);
	status = xmalloc_printf(
		"\"admission\":{\"clusterQueue\":\"%s\",\"podSetAssignments\":[{\"name\":\"%s\","
		"\"flavors\":{\"cpu\":\"%s\"},\"resourceUsage\":{\"cpu\":\"%u\"},\"count\":%u}]},"
		"\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"True\",\"reason\":"
		"\"Edited\",\"message\":\"" SIM_ACTORS_MESSAGE "\",\"lastTransitionTime\":\"%s\"}]",
		queue, jdoc_str_or(jdoc_get(podset, "name"), ""), flavor,
		(unsigned)jdoc_int(jdoc_get(podset, "count"), 1),
		(unsigned)jdoc_int(jdoc_get(podset, "count"), 1), at);
	return send(a, w, APPLY, status);
}

static bool edit_checks(struct sim_actors *a)
{
	static const char *const names[] = { SIM_CHECKS_NAME, "unknown" };
	static const char *const states[] = { KUEUE_CHECK_PENDING, KUEUE_CHECK_READY,
					      KUEUE_CHECK_RETRY, KUEUE_CHECK_REJECTED };
	const struct jdoc *w = any(a);
	char at[CLOCK_RFC3339_MAX];
	CLEANUP(xmalloc_freep) char *status = NULL;

	time_in(a, -1, at);
	status = xmalloc_printf("\"admissionChecks\":[{\"name\":\"%s\",\"state\":\"%s\","
				"\"message\":\"" SIM_ACTORS_MESSAGE
				"\",\"lastTransitionTime\":\"%s\","
				"\"retryCount\":%u}]",
				word(a, names, ARRAY_LEN(names)),
				word(a, states, ARRAY_LEN(states)), at, sim_actors_below(a, 3));
	return w != NULL && send(a, w, APPLY, status);
}

static bool edit_clusters(struct sim_actors *a)
{
	static const char *const edits[] = {
		"\"clusterName\":\"elsewhere\",\"nominatedClusterNames\":null",
		"\"clusterName\":null",
		"\"nominatedClusterNames\":[\"x\",\"y\"]",
		"\"nominatedClusterNames\":null",
	};
	const struct jdoc *w = any(a);

	return w != NULL && send(a, w, MERGE, word(a, edits, ARRAY_LEN(edits)));
}

static bool edit_gates(struct sim_actors *a)
{
	static const char *const edits[] = {
		"\"preemptionGates\":[{\"name\":\"g\",\"position\":\"Open\"}]",
		"\"preemptionGates\":[{\"name\":\"g\",\"position\":\"Closed\",\"state\":\"Open\"}]",
		"\"preemptionGates\":null",
	};
	const struct jdoc *w = any(a);

	return w != NULL && send(a, w, MERGE, word(a, edits, ARRAY_LEN(edits)));
}

static bool edit_requeue(struct sim_actors *a)
{
	const struct jdoc *w = any(a);
	char at[CLOCK_RFC3339_MAX], status[200];

	time_in(a, (int64_t)sim_actors_below(a, 20) - 5, at);
	snprintf(status, sizeof(status),
		 sim_actors_below(a, 3) == 0
			 ? "\"requeueState\":null"
			 : "\"requeueState\":{\"count\":%u,\"requeueAt\":\"%s\"}",
		 sim_actors_below(a, 4), at);
	return w != NULL && send(a, w, MERGE, status);
}

/* Remembers the status of a Workload, as a patch that writes it back. */
static bool read_one(struct sim_actors *a)
{
	const struct jdoc *w = any(a);
	CLEANUP(jdoc_destroyp) struct jdoc *patch = NULL;

	if (jdoc_get(w, "status") == NULL) {
		return false;
	}
	patch = jdoc_new_object();
	jdoc_set_str(jdoc_ensure_object(patch, "metadata"), "name",
		     jdoc_path_str(w, "metadata.name"));
	jdoc_set_take(patch, "status", jdoc_copy(jdoc_get(w, "status")));
	strbuf_reset(&a->read);
	jdoc_format(patch, &a->read);
	return true;
}

static bool write_back(struct sim_actors *a)
{
	CLEANUP(jdoc_destroyp) struct jdoc *patch = NULL;
	CLEANUP(xmalloc_freep) char *url = NULL;

	if (a->read.len == 0 || jdoc_parse(strbuf_str(&a->read), &patch, NULL) < 0) {
		return false;
	}
	url = xmalloc_printf(WORKLOADS "/%s/status", jdoc_path_str(patch, "metadata.name"));
	a->world->statuses_edited = true;
	return sim_actors_send(a, HTTP_PATCH, url, MERGE, a->read.p) < 300;
}

static const struct sim_actors_act acts[] = {
	{ "status: a condition is set", set_condition, 8 },
	{ "status: members are removed", remove_members, 4 },
	{ "status: an admission is given by hand", give_admission, 3 },
	{ "status: admission checks are edited", edit_checks, 4 },
	{ "status: clusters are edited", edit_clusters, 2 },
	{ "status: preemption gates are edited", edit_gates, 1 },
	{ "status: requeueState is edited", edit_requeue, 3 },
	{ "status: a Workload is read", read_one, 4 },
	{ "status: an old one is written back", write_back, 4 },
};

const struct sim_actors_actor actor_status = {
	.acts = acts, .n = ARRAY_LEN(acts), .per_mille = 20, .quota = true
};
