#include "sim/controllers/sim_collector.h"

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "sim/world/sim_pod.h"
#include "sim/world/sim_view.h"
#include "sim/world/sim_workload.h"

/* Objects of these kinds are deleted when none of their owners is there any more. */
static const struct {
	enum sim_resource resource;
	const char *api, *plural;
} rows[] = {
	{ SIM_PODGROUPS, "/apis/scheduling.volcano.sh/v1beta1", "podgroups" },
	{ SIM_WORKLOADS, "/apis/" KUEUE_API_VERSION, "workloads" },
	{ SIM_PODS, "/api/v1", "pods" },
	{ SIM_CLAIMS, "/api/v1", "persistentvolumeclaims" },
};

/* Whether the owner exists; an owner of a kind that no part of the simulation makes counts as
 * existing. */
static bool exists(const struct sim_world *w, const struct jdoc *one, const struct jdoc *owner)
{
	const char *uid = jdoc_str_or(jdoc_get(owner, "uid"), "");
	const struct jdoc *kind = jdoc_get(owner, "kind"), *found;

	if (!jdoc_is_str(kind, "Pod") && !jdoc_is_str(kind, "Job")) {
		return true;
	}
	found = sim_view_by_uid(w->view, uid);
	return found != NULL && jdoc_equal(jdoc_get(found, "kind"), kind) &&
	       sim_workload_are_neighbours(found, one);
}

static bool is_left_behind(const struct sim_world *w, const struct jdoc *one)
{
	const struct jdoc *owner = jdoc_first(jdoc_path(one, "metadata.ownerReferences"));

	if (owner == NULL || jdoc_path(one, "metadata.deletionTimestamp") != NULL) {
		return false;
	}
	while (owner != NULL && !exists(w, one, owner)) {
		owner = jdoc_next(owner);
	}
	return owner == NULL;
}

static bool collect(struct sim_world *w, size_t row)
{
	for (size_t i = 0; i < sim_view_count(w->view, rows[row].resource); i++) {
		const struct jdoc *one = sim_view_at(w->view, rows[row].resource, i);
		CLEANUP(strbuf_finish) struct strbuf url = STRBUF_INIT;

		if (!is_left_behind(w, one)) {
			continue;
		}
		strbuf_printf(&url, "%s/namespaces/%s/%s/%s", rows[row].api,
			      jdoc_path_str(one, "metadata.namespace"), rows[row].plural,
			      jdoc_path_str(one, "metadata.name"));
		sim_world_call(w, HTTP_DELETE, url.p, NULL, str_of(NULL));
		return true;
	}
	return false;
}

/* Pods of nodes that are gone: the pod garbage collector of Kubernetes deletes them. */
static bool collect_lost(struct sim_world *w)
{
	for (size_t i = 0; i < sim_view_count(w->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(w->view, SIM_PODS, i);
		CLEANUP(strbuf_finish) struct strbuf url = STRBUF_INIT;

		if (!(sim_pod_is_ours(pod) || sim_pod_is_theirs(pod)) || !sim_pod_is_placed(pod) ||
		    sim_view_get(w->view, SIM_NODES, jdoc_path_str(pod, "spec.nodeName")) != NULL) {
			continue;
		}
		strbuf_printf(&url, "/api/v1/namespaces/%s/pods/%s",
			      jdoc_path_str(pod, "metadata.namespace"),
			      jdoc_path_str(pod, "metadata.name"));
		sim_world_call(w, HTTP_DELETE, url.p, "application/json",
			       STR_LIT("{\"gracePeriodSeconds\":0}"));
		return true;
	}
	return false;
}

bool sim_collector_step(struct sim_world *w)
{
	if (w->collected_at == sim_view_changes(w->view)) {
		return false;
	}
	if (!w->plain && collect_lost(w)) {
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if ((w->quota || rows[i].resource < SIM_BASIC_COUNT_) && collect(w, i)) {
			return true;
		}
	}
	w->collected_at = sim_view_changes(w->view);
	return false;
}
