#include "sim/oracles/sim_bindings.h"

#include "base/str.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/controllers/sim_volumes.h"
#include "sim/world/sim_pod.h"
#include "sim/world/sim_view.h"

static void check_volume(struct sim_world *w, const char *key, const struct jdoc *claim,
			 const char *node)
{
	const struct jdoc *volume =
		sim_view_get(w->view, SIM_VOLUMES, jdoc_path_str(claim, "spec.volumeName"));
	const char *only = sim_volumes_node_of(volume);

	if (only != NULL && !str_streq(only, node)) {
		sim_world_fail(w, "%s is bound to %s, but its volume is on %s", key, node, only);
	}
}

static void on_change(void *ctx, const struct sim_change *change)
{
	struct sim_world *w = ctx;
	CLEANUP(xmalloc_freep) char *key = NULL;
	const struct jdoc *claim;

	if (change->resource != SIM_PODS || change->actor != SIM_SCHEDULER ||
	    sim_pod_is_placed(change->old) || !sim_pod_is_placed(change->now)) {
		return;
	}
	key = sim_volumes_claim_of(change->now);
	claim = key == NULL ? NULL : sim_view_get(w->view, SIM_CLAIMS, key);
	/* Its user may have deleted the claim meanwhile. */
	if (claim == NULL) {
		return;
	}
	if (!sim_volumes_is_bound(claim)) {
		sim_world_fail(w, "%s is bound before its claim %s", change->key, key);
		return;
	}
	check_volume(w, change->key, claim, jdoc_path_str(change->now, "spec.nodeName"));
}

void sim_bindings_watch(struct sim_world *w)
{
	sim_view_listen(w->view, on_change, w);
}
