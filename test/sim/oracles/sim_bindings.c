#include "sim/oracles/sim_bindings.h"

#include "base/str.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/controllers/sim_local_volumes.h"
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

static const struct jdoc *get(const struct jdoc *object, const char *map, const char *key)
{
	return jdoc_get(jdoc_path(object, map), key);
}

/* The scheduler reserves volumes that no claim has got, for claims of their class and size, and so
 * that Kubernetes can take them back. */
static void check_reservation(struct sim_world *w, const struct sim_change *change)
{
	const char *name = jdoc_path_str(change->now, "spec.claimRef.name");
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("default/%s", name == NULL ? "" : name);
	const struct jdoc *claim = sim_view_get(w->view, SIM_CLAIMS, key);

	if (change->old == NULL || name == NULL ||
	    jdoc_path(change->old, "spec.claimRef") != NULL ||
	    !jdoc_is_str(jdoc_path(change->old, "status.phase"), "Available") ||
	    get(change->now, "metadata.annotations", SIM_VOLUMES_RESERVED) == NULL) {
		sim_world_fail(w, "volume %s is not reserved as it should be", change->key);
		return;
	}
	/* Its user may have deleted the claim meanwhile, and made another one. */
	if (claim == NULL ||
	    !jdoc_is_str(jdoc_path(change->now, "spec.claimRef.uid"), sim_pod_uid(claim))) {
		return;
	}
	if (!str_streq(jdoc_path_str(claim, "spec.storageClassName"),
		       jdoc_path_str(change->now, "spec.storageClassName")) ||
	    sim_local_volumes_size(claim) > sim_local_volumes_size(change->now)) {
		sim_world_fail(w, "volume %s does not do for its claim %s", change->key, key);
	}
}

/* Nothing is made for a claim without provisioner. */
static void check_selection(struct sim_world *w, const struct sim_change *change)
{
	if (change->old == NULL || change->now == NULL ||
	    jdoc_is_str(jdoc_path(change->now, "spec.storageClassName"), SIM_VOLUMES_LOCAL)) {
		sim_world_fail(w, "claim %s gets a node", change->key);
	}
}

static void on_change(void *ctx, const struct sim_change *change)
{
	struct sim_world *w = ctx;
	CLEANUP(xmalloc_freep) char *key = NULL;
	const struct jdoc *claim;

	if (change->actor != SIM_SCHEDULER) {
		return;
	}
	if (change->resource == SIM_VOLUMES) {
		check_reservation(w, change);
	} else if (change->resource == SIM_CLAIMS) {
		check_selection(w, change);
	}
	if (change->resource != SIM_PODS || sim_pod_is_placed(change->old) ||
	    !sim_pod_is_placed(change->now)) {
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
