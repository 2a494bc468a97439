/* The operator of the programs changes configurations, and takes our gate from all pods. */
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"
#include "scheduler/pods/writes/gate_removal.h"
#include "sim/actors/actor_lists.h"
#include "sim/world/sim_pod.h"

/* The configuration is read anew while writes are in flight; in a world of Workloads the scheduler
 * is started anew besides, with another one of Kueue's. */
static bool change_configuration(struct sim_actors *a)
{
	a->world->configuration = SIM_CONFIGURATION_CHANGED;
	return true;
}

static bool break_configuration(struct sim_actors *a)
{
	a->world->configuration = SIM_CONFIGURATION_BROKEN;
	return true;
}

/* As `headgatectl drain` does. */
static bool drain(struct sim_actors *a)
{
	struct VEC(struct jdoc *) pods = VEC_INIT;

	for (size_t i = 0; i < sim_view_count(a->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(a->world->view, SIM_PODS, i);

		if (sim_pod_has_our_gate(pod)) {
			vec_push(&pods, jdoc_copy(pod));
		}
	}
	for (size_t i = 0; i < pods.n; i++) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		CLEANUP(xmalloc_freep)
		char *url = xmalloc_printf("/api/v1/namespaces/%s/pods/%s",
					   jdoc_path_str(pods.v[i], "metadata.namespace"),
					   jdoc_path_str(pods.v[i], "metadata.name"));

		gate_removal_body(sim_pod_uid(pods.v[i]), NULL, &body);
		(void)sim_actors_send(a, HTTP_PATCH, url, "application/strategic-merge-patch+json",
				      body.p);
		jdoc_destroy(pods.v[i]);
	}
	vec_finish(&pods);
	return true;
}

static const struct sim_actors_act acts[] = {
	{ "configuration changed", change_configuration, 4 },
	{ "configuration broken", break_configuration, 1 },
	{ "gates drained", drain, 1 },
};

const struct sim_actors_actor actor_operator = {
	.acts = acts, .n = ARRAY_LEN(acts), .per_mille = 2, .pods = true, .quota = true
};
