#include "sim/sim_collector.h"

#include "base/xmalloc.h"
#include "enc/jdoc.h"
#include "sim/sim_pod.h"
#include "sim/sim_view.h"

static bool pod_exists(const struct sim_world *w, const char *uid)
{
	for (size_t i = 0; i < sim_view_count(w->view, SIM_PODS); i++) {
		if (str_streq(sim_pod_uid(sim_view_at(w->view, SIM_PODS, i)), uid)) {
			return true;
		}
	}
	return false;
}

bool sim_collector_step(struct sim_world *w)
{
	for (size_t i = 0; i < sim_view_count(w->view, SIM_PODGROUPS); i++) {
		const struct jdoc *group = sim_view_at(w->view, SIM_PODGROUPS, i);
		const struct jdoc *owner = jdoc_at(jdoc_path(group, "metadata.ownerReferences"), 0);
		CLEANUP(xmalloc_freep) char *url = NULL;

		if (!jdoc_is_str(jdoc_get(owner, "kind"), "Pod") ||
		    pod_exists(w, jdoc_str_or(jdoc_get(owner, "uid"), ""))) {
			continue;
		}
		url = xmalloc_printf("/apis/scheduling.volcano.sh/v1beta1/namespaces/%s/podgroups/"
				     "%s",
				     jdoc_path_str(group, "metadata.namespace"),
				     jdoc_path_str(group, "metadata.name"));
		sim_world_call(w, HTTP_DELETE, url, NULL, str_of(NULL));
		return true;
	}
	return false;
}
