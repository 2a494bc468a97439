/* Machines and nodes: nodes are lost with their pods, the webhook is away, and the clocks of the
 * scheduler's machine jump, each for itself. */
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/actors/actor_lists.h"
#include "sim/world/sim_webhook.h"

#define NODES "/api/v1/nodes"

static bool lose_node(struct sim_actors *a)
{
	const struct jdoc *node = sim_actors_any(a, SIM_NODES);

	return node != NULL && sim_actors_delete(a, NODES, jdoc_path_str(node, "metadata.name"));
}

static bool taint_node(struct sim_actors *a)
{
	const struct jdoc *node = sim_actors_any(a, SIM_NODES);

	return node != NULL &&
	       sim_actors_patch(a, NODES, jdoc_path_str(node, "metadata.name"),
				jdoc_path(node, "spec.taints") == NULL
					? "{\"spec\":{\"taints\":[{\"key\":\"broken\",\"effect\":"
					  "\"NoSchedule\"}]}}"
					: "{\"spec\":{\"taints\":null}}");
}

static bool stop_webhook(struct sim_actors *a)
{
	sim_webhook_stop(a->world->webhook,
			 a->world->clock.mono_ns +
				 (int64_t)sim_actors_below(a, 4000) * CLOCK_NS_PER_MS);
	return true;
}

/* As after the migration of a virtual machine: the wall clock stays. */
static bool jump_ahead(struct sim_actors *a)
{
	a->world->machine.ahead_ns += (int64_t)(1 + sim_actors_below(a, 30)) * CLOCK_NS_PER_S;
	return true;
}

static void repair(struct sim_actors *a)
{
	for (size_t i = 0; i < sim_view_count(a->world->view, SIM_NODES); i++) {
		const struct jdoc *node = sim_view_at(a->world->view, SIM_NODES, i);

		if (jdoc_path(node, "spec.taints") != NULL &&
		    sim_actors_patch(a, NODES, jdoc_path_str(node, "metadata.name"),
				     "{\"spec\":{\"taints\":null}}")) {
			i = SIZE_MAX; /* the order has changed */
		}
	}
}

static const struct sim_actors_act acts[] = {
	{ "node lost", lose_node, 2 },
	{ "node tainted or repaired", taint_node, 1 },
	{ "webhook away", stop_webhook, 2 },
	{ "monotonic clock jumps ahead", jump_ahead, 1 },
};

const struct sim_actors_actor actor_nodes = {
	.acts = acts,
	.n = ARRAY_LEN(acts),
	.per_mille = 5,
	.pods = true,
	.quota = true,
	.end = repair,
};
