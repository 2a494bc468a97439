#include "sim/sim_collector.h"

#include "api/kueue_keys.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/jdoc.h"
#include "sim/sim_pod.h"
#include "sim/sim_view.h"

/* What is deleted with its owner. */
static const struct {
	enum sim_resource resource, owner;
	const char *kind; /* of the owner */
	const char *api, *plural;
} rows[] = {
	{ SIM_PODGROUPS, SIM_PODS, "Pod", "/apis/scheduling.volcano.sh/v1beta1", "podgroups" },
	{ SIM_WORKLOADS, SIM_JOBS, "Job", "/apis/" KUEUE_API_VERSION, "workloads" },
	{ SIM_PODS, SIM_JOBS, "Job", "/api/v1", "pods" },
};

static bool exists(const struct sim_world *w, enum sim_resource r, const char *uid)
{
	for (size_t i = 0; i < sim_view_count(w->view, r); i++) {
		if (str_streq(sim_pod_uid(sim_view_at(w->view, r, i)), uid)) {
			return true;
		}
	}
	return false;
}

static bool collect(struct sim_world *w, size_t row)
{
	for (size_t i = 0; i < sim_view_count(w->view, rows[row].resource); i++) {
		const struct jdoc *one = sim_view_at(w->view, rows[row].resource, i);
		const struct jdoc *owner = jdoc_at(jdoc_path(one, "metadata.ownerReferences"), 0);
		CLEANUP(strbuf_finish) struct strbuf url = STRBUF_INIT;

		if (!jdoc_is_str(jdoc_get(owner, "kind"), rows[row].kind) ||
		    jdoc_path(one, "metadata.deletionTimestamp") != NULL ||
		    exists(w, rows[row].owner, jdoc_str_or(jdoc_get(owner, "uid"), ""))) {
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

bool sim_collector_step(struct sim_world *w)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if ((w->quota || rows[i].owner < SIM_BASIC_COUNT_) && collect(w, i)) {
			return true;
		}
	}
	return false;
}
