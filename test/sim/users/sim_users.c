#include "sim/users/sim_users.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/volcano/keys.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/users/sim_contenders.h"
#include "sim/users/sim_manifest.h"
#include "sim/world/sim_pod.h"
#include "sim/world/sim_view.h"

#define MAX_PODS 45
#define FIRST_PODS 6
#define QUEUES "/apis/scheduling.volcano.sh/v1beta1/queues"
#define PODS "/api/v1/namespaces/default/pods"
#define NODES "/api/v1/nodes"
#define CLASSES "/apis/scheduling.k8s.io/v1/priorityclasses"
#define GROUPS "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
#define JSON "application/json"
#define MERGE "application/merge-patch+json"
#define STRATEGIC "application/strategic-merge-patch+json"

struct sim_users {
	struct sim_world *world;
	bool reductions;
	struct sim_contenders *contenders;        /* NULL: the world is not contended */
	unsigned next;                            /* number of the next object or edit */
	struct VEC(struct sim_manifest_pod) late; /* members of gangs that are still to come */
};

static const char *const leaves[] = { "lone", "flat", "team-x", "team-y", "open" };

static const struct {
	const char *name, *parent;
	unsigned cpu_from, cpu_below; /* of the capability; 0: none */
	unsigned guarantee;
	unsigned deserved; /* where there are evictions */
} queues[] = {
	{ "lone", NULL, 2, 6, 0, 2 },     { "flat", NULL, 1, 4, 0, 1 },
	{ "team", NULL, 4, 9, 0, 4 },     { "team-x", "team", 2, 8, 1, 2 },
	{ "team-y", "team", 0, 0, 0, 0 }, { "open", NULL, 0, 0, 0, 4 },
};

static unsigned below(struct sim_users *u, unsigned n)
{
	return (unsigned)sim_world_below(u->world, n);
}

static int send(struct sim_users *u, enum http_method method, const char *url, const char *type,
		const char *body)
{
	return sim_world_call(u->world, method, url, type, str_of(body));
}

struct sim_users *sim_users_create(struct sim_world *w, bool reductions)
{
	struct sim_users *u = xmalloc_zero(1, sizeof(*u));

	u->world = w;
	u->reductions = reductions;
	u->contenders = w->contended ? sim_contenders_create(w) : NULL;
	return u;
}

void sim_users_destroy(struct sim_users *u)
{
	vec_finish(&u->late);
	sim_contenders_destroy(u->contenders);
	free(u);
}

/* ---- pods ---- */

static void create_pod(struct sim_users *u, const struct sim_manifest_pod *p)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	sim_manifest_pod(p, &body);
	send(u, HTTP_POST, PODS, JSON, body.p);
}

/* By the name, so that runs without evictions draw the same numbers. */
static const char *class_of(const struct sim_users *u, const char *name)
{
	static const char *const classes[] = { NULL, "low", "high" };

	return u->world->evicts ? classes[str_hash(str_of(name)) % ARRAY_LEN(classes)] : NULL;
}

static struct sim_manifest_pod any_pod(struct sim_users *u)
{
	static const char *const runs_for[] = { NULL, NULL, "400ms", "5s", "40s" };
	static const char *const pools[] = { NULL, NULL, NULL, "special" };
	struct sim_manifest_pod p = {
		.milli_cpu = 500u << below(u, 3),
		.runs_for = runs_for[below(u, 5)],
		.pool = pools[below(u, 4)],
		.queue = leaves[below(u, ARRAY_LEN(leaves))],
	};

	snprintf(p.name, sizeof(p.name), "p%u", u->next++);
	p.class_ = class_of(u, p.name);
	return p;
}

static void single(struct sim_users *u)
{
	struct sim_manifest_pod p = any_pod(u);
	unsigned kind = below(u, 10);

	p.opted_in = kind < 8;
	p.alias = kind == 0;
	p.foreign_gate = kind == 1;
	p.best_effort = kind == 2;
	if (kind == 3) {
		p.pool = "nowhere";
		p.invented = 12;
	}
	create_pod(u, &p);
}

static void gang(struct sim_users *u)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct sim_manifest_pod p = any_pod(u);
	unsigned members = 2 + below(u, 4), min = below(u, 3) == 0 ? members - 1 : members;
	bool late = below(u, 3) == 0;

	snprintf(p.group, sizeof(p.group), "g%u", u->next++);
	p.opted_in = below(u, 6) != 0;
	p.class_ = class_of(u, p.group);
	sim_manifest_group(p.group, p.queue, p.class_, min, &body);
	send(u, HTTP_POST, GROUPS, JSON, body.p);
	for (unsigned i = 0; i < members; i++) {
		snprintf(p.name, sizeof(p.name), "%s-%u", p.group, i);
		if (late && i + 1 == members) {
			vec_push(&u->late, p);
		} else {
			create_pod(u, &p);
		}
	}
}

static void late_member(struct sim_users *u)
{
	if (u->late.n > 0) {
		struct sim_manifest_pod p = vec_pop(&u->late);

		create_pod(u, &p);
	}
}

/* ---- changes of pods ---- */

static const struct jdoc *any_of(struct sim_users *u, enum sim_resource r)
{
	size_t n = sim_view_count(u->world->view, r);

	return n == 0 ? NULL : sim_view_at(u->world->view, r, below(u, (unsigned)n));
}

static char *url_of(const char *base, const struct jdoc *object)
{
	return xmalloc_printf("%s/%s", base, jdoc_path_str(object, "metadata.name"));
}

static void delete_pod(struct sim_users *u)
{
	const struct jdoc *pod = any_of(u, SIM_PODS);
	CLEANUP(xmalloc_freep) char *url = pod == NULL ? NULL : url_of(PODS, pod);

	if (pod != NULL) {
		send(u, HTTP_DELETE, url, NULL, NULL);
	}
}

/* A user cancels a job: the pod terminates for a while and needs its quota meanwhile. */
static void stop_pod(struct sim_users *u)
{
	size_t n = sim_view_count(u->world->view, SIM_PODS), from = below(u, MAX_PODS);

	for (size_t i = 0; i < n; i++) {
		const struct jdoc *pod = sim_view_at(u->world->view, SIM_PODS, (from + i) % n);

		if (sim_pod_is_placed(pod) && !sim_pod_is_finished(pod) &&
		    jdoc_path(pod, "metadata.deletionTimestamp") == NULL) {
			CLEANUP(xmalloc_freep) char *url = url_of(PODS, pod);

			send(u, HTTP_DELETE, url, NULL, NULL);
			return;
		}
	}
}

/* Replaces a pod by another one with its name, as a StatefulSet does. */
static void recreate(struct sim_users *u, const struct jdoc *pod)
{
	CLEANUP(xmalloc_freep) char *url = pod == NULL ? NULL : url_of(PODS, pod);
	struct sim_manifest_pod p = any_pod(u);

	if (pod == NULL || sim_pod_is_placed(pod)) {
		return;
	}
	snprintf(p.name, sizeof(p.name), "%s", jdoc_path_str(pod, "metadata.name"));
	p.opted_in = below(u, 3) != 0;
	if (send(u, HTTP_DELETE, url, JSON, "{\"gracePeriodSeconds\":0}") < 300) {
		create_pod(u, &p);
	}
}

static void recreate_pod(struct sim_users *u)
{
	recreate(u, any_of(u, SIM_PODS));
}

void sim_users_recreate(struct sim_users *u, const char *key)
{
	recreate(u, sim_view_get(u->world->view, SIM_PODS, key));
}

static void remove_foreign_gate(struct sim_users *u, const struct jdoc *pod)
{
	CLEANUP(xmalloc_freep) char *url = url_of(PODS, pod);

	send(u, HTTP_PATCH, url, STRATEGIC,
	     "{\"spec\":{\"schedulingGates\":[{\"$patch\":\"delete\",\"name\":"
	     "\"" SIM_MANIFEST_FOREIGN_GATE "\"}]}}");
}

static bool has_foreign_gate(const struct jdoc *pod)
{
	const struct jdoc *g = jdoc_first(jdoc_path(pod, "spec.schedulingGates"));

	while (g != NULL && !jdoc_is_str(jdoc_get(g, "name"), SIM_MANIFEST_FOREIGN_GATE)) {
		g = jdoc_next(g);
	}
	return g != NULL;
}

static void ready_foreign_gate(struct sim_users *u)
{
	for (size_t i = 0; i < sim_view_count(u->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(u->world->view, SIM_PODS, i);

		if (has_foreign_gate(pod)) {
			remove_foreign_gate(u, pod);
			return;
		}
	}
}

static const struct jdoc *first_held(const struct sim_users *u)
{
	for (size_t i = 0; i < sim_view_count(u->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(u->world->view, SIM_PODS, i);

		if (has_foreign_gate(pod) && sim_pod_is_opted_in(pod, false)) {
			return pod;
		}
	}
	return NULL;
}

static void opt_out(struct sim_users *u)
{
	const struct jdoc *pod = below(u, 2) == 0 ? first_held(u) : any_of(u, SIM_PODS);
	CLEANUP(xmalloc_freep) char *url = pod == NULL ? NULL : url_of(PODS, pod);

	if (pod != NULL) {
		send(u, HTTP_PATCH, url, MERGE,
		     "{\"metadata\":{\"annotations\":{\"scheduling.volcano.sh/"
		     "queue-allocation-gate\":null,\"volcano.sh/queue-allocation-gate\":null}}}");
	}
}

/* A user removes all gates of a pod without waiting for quota. */
static void force_gates_off(struct sim_users *u)
{
	const struct jdoc *pod = any_of(u, SIM_PODS);
	CLEANUP(xmalloc_freep) char *url = pod == NULL ? NULL : url_of(PODS, pod);

	if (pod != NULL && jdoc_count(jdoc_path(pod, "spec.schedulingGates")) > 0) {
		send(u, HTTP_PATCH, url, MERGE, "{\"spec\":{\"schedulingGates\":null}}");
	}
}

static void touch_pod(struct sim_users *u)
{
	const struct jdoc *pod = any_of(u, SIM_PODS);
	CLEANUP(xmalloc_freep) char *url = pod == NULL ? NULL : url_of(PODS, pod);
	char body[80];

	if (pod != NULL) {
		snprintf(body, sizeof(body), "{\"metadata\":{\"labels\":{\"touched\":\"%u\"}}}",
			 u->next++);
		send(u, HTTP_PATCH, url, MERGE, body);
	}
}

/* ---- queues, groups, nodes ---- */

static void set_capability(struct sim_users *u, size_t i, unsigned cpu)
{
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf(QUEUES "/%s", queues[i].name);
	char body[120];

	snprintf(body, sizeof(body),
		 "{\"spec\":{\"capability\":{\"cpu\":\"%u\",\"memory\":\"%uGi\"}}}", cpu, cpu);
	send(u, HTTP_PATCH, url, MERGE, body);
}

static unsigned present_cpu(const struct sim_users *u, size_t i)
{
	const struct jdoc *queue = sim_view_get(u->world->view, SIM_QUEUES, queues[i].name);
	uint64_t cpu = 0;

	return str_to_u64(str_of(jdoc_path_str(queue, "spec.capability.cpu")), &cpu) ? (unsigned)cpu
										     : 0;
}

static void resize_queue(struct sim_users *u)
{
	size_t i = below(u, ARRAY_LEN(queues));
	unsigned cpu = present_cpu(u, i);

	if (cpu == 0) {
		return;
	}
	if (u->reductions && cpu > 1 && below(u, 2) == 0) {
		set_capability(u, i, cpu - 1 - below(u, cpu - 1));
	} else if (cpu < 12) {
		set_capability(u, i, cpu + 1);
	}
}

static void move_group(struct sim_users *u)
{
	const struct jdoc *group = any_of(u, SIM_PODGROUPS);
	CLEANUP(xmalloc_freep) char *url = group == NULL ? NULL : url_of(GROUPS, group);
	char body[80];

	if (group != NULL && u->reductions) {
		snprintf(body, sizeof(body), "{\"spec\":{\"queue\":\"%s\"}}",
			 leaves[below(u, ARRAY_LEN(leaves))]);
		send(u, HTTP_PATCH, url, MERGE, body);
	}
}

/* A tenant names another group, of any queue, on a pod that has a node. */
static void move_pod(struct sim_users *u)
{
	const struct jdoc *pod = any_of(u, SIM_PODS), *group = any_of(u, SIM_PODGROUPS);
	CLEANUP(xmalloc_freep) char *url = pod == NULL ? NULL : url_of(PODS, pod);
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	if (pod != NULL && group != NULL && u->reductions && sim_pod_is_placed(pod)) {
		strbuf_printf(&body,
			      "{\"metadata\":{\"annotations\":{\"" KEYS_GROUP_NAME "\":\"%s\"}}}",
			      jdoc_path_str(group, "metadata.name"));
		send(u, HTTP_PATCH, url, MERGE, body.p);
	}
}

static void move_queue(struct sim_users *u)
{
	if (u->reductions) {
		send(u, HTTP_PATCH, QUEUES "/flat", MERGE,
		     below(u, 2) == 0 ? "{\"spec\":{\"parent\":\"team\"}}"
				      : "{\"spec\":{\"parent\":\"root\"}}");
	}
}

static void cordon_node(struct sim_users *u)
{
	const struct jdoc *node = any_of(u, SIM_NODES);
	CLEANUP(xmalloc_freep) char *url = node == NULL ? NULL : url_of(NODES, node);

	if (node != NULL) {
		send(u, HTTP_PATCH, url, MERGE,
		     jdoc_bool(jdoc_path(node, "spec.unschedulable"), false)
			     ? "{\"spec\":{\"unschedulable\":null}}"
			     : "{\"spec\":{\"unschedulable\":true}}");
	}
}

static void remove_empty_node(struct sim_users *u)
{
	const struct jdoc *node = any_of(u, SIM_NODES);
	CLEANUP(xmalloc_freep) char *url = node == NULL ? NULL : url_of(NODES, node);

	for (size_t i = 0; i < sim_view_count(u->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(u->world->view, SIM_PODS, i);

		if (str_streq(jdoc_path_str(pod, "spec.nodeName"),
			      jdoc_path_str(node, "metadata.name"))) {
			return;
		}
	}
	if (node != NULL) {
		send(u, HTTP_DELETE, url, NULL, NULL);
	}
}

static void create_classes(struct sim_users *u)
{
	send(u, HTTP_POST, CLASSES, JSON,
	     "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\","
	     "\"metadata\":{\"name\":\"low\"},\"value\":10}");
	send(u, HTTP_POST, CLASSES, JSON,
	     "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\","
	     "\"metadata\":{\"name\":\"high\"},\"value\":100}");
	send(u, HTTP_POST, CLASSES, JSON,
	     "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\","
	     "\"metadata\":{\"name\":\"polite\"},\"value\":100,\"preemptionPolicy\":\"Never\"}");
}

void sim_users_begin(struct sim_users *u)
{
	for (size_t i = 0; i < ARRAY_LEN(queues); i++) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		struct sim_manifest_queue q = { queues[i].name, queues[i].parent,
						queues[i].cpu_from, queues[i].guarantee,
						u->world->evicts ? queues[i].deserved : 0 };

		if (q.cpu > 0) {
			q.cpu += below(u, queues[i].cpu_below - queues[i].cpu_from);
		}
		/* Nodes are full before it is; and it deserves as much as the one without limit. */
		if (u->world->contended && str_streq(q.name, "lone")) {
			q.cpu = 20;
			q.deserved = 4;
		}
		sim_manifest_queue(&q, &body);
		send(u, HTTP_POST, QUEUES, JSON, body.p);
	}
	if (u->world->evicts) {
		create_classes(u);
	}
	if (u->contenders != NULL) {
		sim_contenders_begin(u->contenders);
		return;
	}
	for (unsigned i = 0; i < FIRST_PODS; i++) {
		single(u);
	}
}

void sim_users_act(struct sim_users *u)
{
	static const struct {
		void (*act)(struct sim_users *u);
		unsigned weight;
		bool adds;
	} acts[] = {
		{ single, 10, true },
		{ gang, 5, true },
		{ late_member, 4, true },
		{ delete_pod, 3, false },
		{ stop_pod, 6, false },
		{ recreate_pod, 3, true },
		{ ready_foreign_gate, 2, false },
		{ opt_out, 1, false },
		{ force_gates_off, 1, false },
		{ touch_pod, 1, false },
		{ resize_queue, 3, false },
		{ move_group, 2, false },
		{ move_queue, 1, false },
		{ move_pod, 2, false },
		{ cordon_node, 1, false },
		{ remove_empty_node, 1, false },
	};
	bool full = sim_view_count(u->world->view, SIM_PODS) >= MAX_PODS;
	unsigned weights[ARRAY_LEN(acts)];
	size_t at;

	if (u->contenders != NULL && below(u, 4) != 0) {
		sim_contenders_act(u->contenders);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
		weights[i] = acts[i].weight;
	}
	at = sim_world_weighted(u->world, weights, ARRAY_LEN(acts));
	if (!full || !acts[at].adds) {
		acts[at].act(u);
	}
}

static const struct jdoc *cordoned_node(const struct sim_users *u)
{
	for (size_t i = 0; i < sim_view_count(u->world->view, SIM_NODES); i++) {
		const struct jdoc *node = sim_view_at(u->world->view, SIM_NODES, i);

		if (jdoc_bool(jdoc_path(node, "spec.unschedulable"), false)) {
			return node;
		}
	}
	return NULL;
}

void sim_users_end(struct sim_users *u)
{
	size_t n = sim_view_count(u->world->view, SIM_PODS);
	const struct jdoc *node;

	for (size_t i = 0; i < n; i++) {
		if (below(u, 2) == 0) {
			ready_foreign_gate(u);
		}
	}
	while ((node = cordoned_node(u)) != NULL) {
		CLEANUP(xmalloc_freep) char *url = url_of(NODES, node);

		send(u, HTTP_PATCH, url, MERGE, "{\"spec\":{\"unschedulable\":null}}");
	}
}

void sim_users_burst(struct sim_users *u)
{
	sim_contenders_burst(u->contenders);
}
