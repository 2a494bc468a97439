/* Users of gangs: with roles, by a minimum of members for each (minTaskMember), and such as move
 * from queue to queue. */
#include <stdio.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "sim/actors/actor_lists.h"
#include "sim/users/sim_manifest.h"

#define PODS "/api/v1/namespaces/default/pods"
#define GROUPS "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
#define JSON "application/json"
#define MOST_PODS 50

static bool create_member(struct sim_actors *a, struct sim_manifest_pod *p, const char *role,
			  unsigned i)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	snprintf(p->name, sizeof(p->name), "%s-%u", p->group, i);
	p->role = role;
	sim_manifest_pod(p, &body);
	return sim_actors_send(a, HTTP_POST, PODS, JSON, body.p) < 300;
}

static const char *any_queue(struct sim_actors *a)
{
	static const char *const queues[] = { "lone", "flat", "team-x", "team-y", "open" };

	return queues[sim_actors_below(a, ARRAY_LEN(queues))];
}

/* One ps, and some workers of which all but one may be missing. */
static bool create_gang(struct sim_actors *a)
{
	static const char *const runs_for[] = { NULL, "5s", "40s" };
	unsigned workers = 1 + sim_actors_below(a, 3);
	unsigned least = 1 + sim_actors_below(a, workers);
	struct sim_manifest_pod p = {
		.queue = any_queue(a),
		.runs_for = runs_for[sim_actors_below(a, ARRAY_LEN(runs_for))],
		.milli_cpu = 500u << sim_actors_below(a, 2),
		.opted_in = sim_actors_below(a, 5) != 0,
	};
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	bool made;

	if (sim_view_count(a->world->view, SIM_PODS) >= MOST_PODS) {
		return false;
	}
	snprintf(p.group, sizeof(p.group), "roles%u", a->next++);
	strbuf_printf(&body,
		      "{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"PodGroup\","
		      "\"metadata\":{\"name\":\"%s\"},\"spec\":{\"queue\":\"%s\",\"minMember\":%u,"
		      "\"minTaskMember\":{\"ps\":1,\"worker\":%u}}}",
		      p.group, p.queue, 1 + least, least);
	made = sim_actors_send(a, HTTP_POST, GROUPS, JSON, body.p) < 300;
	for (unsigned i = 0; i < workers; i++) {
		made &= create_member(a, &p, "worker", i);
	}
	return create_member(a, &p, "ps", workers) && made;
}

static const struct jdoc *any_gang(struct sim_actors *a)
{
	const struct jdoc *group = sim_actors_any(a, SIM_PODGROUPS);

	return jdoc_path(group, "spec.minTaskMember") == NULL ? NULL : group;
}

static bool edit_roles(struct sim_actors *a)
{
	const struct jdoc *group = any_gang(a);
	unsigned workers = sim_actors_below(a, 3);
	char body[120];

	snprintf(body, sizeof(body),
		 "{\"spec\":{\"minMember\":%u,\"minTaskMember\":{\"ps\":1,\"worker\":%u}}}",
		 1 + workers, workers);
	return group != NULL &&
	       sim_actors_patch(a, GROUPS, jdoc_path_str(group, "metadata.name"), body);
}

static bool move_gang(struct sim_actors *a)
{
	const struct jdoc *group = sim_actors_any(a, SIM_PODGROUPS);
	char body[80];

	snprintf(body, sizeof(body), "{\"spec\":{\"queue\":\"%s\"}}", any_queue(a));
	return group != NULL &&
	       sim_actors_patch(a, GROUPS, jdoc_path_str(group, "metadata.name"), body);
}

static const struct sim_actors_act acts[] = {
	{ "gang with roles created", create_gang, 5 },
	{ "roles of a gang edited", edit_roles, 2 },
	{ "PodGroup moved to another Queue", move_gang, 4 },
};

const struct sim_actors_actor actor_gangs = {
	.acts = acts, .n = ARRAY_LEN(acts), .per_mille = 8, .pods = true
};
