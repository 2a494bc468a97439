#include "sim/users/sim_contenders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/users/sim_manifest.h"
#include "sim/world/sim_pod.h"
#include "sim/world/sim_view.h"
#include "sim/world/sim_world.h"

#define PODS "/api/v1/namespaces/%s/pods"
#define NODES "/api/v1/nodes"
#define GROUPS "/apis/scheduling.volcano.sh/v1beta1/namespaces/%s/podgroups"
#define DEFAULT "default"
#define SIDE "side" /* another namespace, of mixed worlds */
#define JSON "application/json"
#define MERGE "application/merge-patch+json"
#define NODES_COUNT 3
#define FIRST 12    /* pods and gangs */
#define MAX_PODS 40 /* then some are given up */
#define MEMBERS_MAX 4

/* A gang of a mixed world, or a pod without PodGroup. */
struct shape {
	struct sim_manifest_pod pods[MEMBERS_MAX]; /* not named yet */
	char name[20];
	const char *namespace_, *class_; /* class_: of the PodGroup; NULL: none */
	unsigned members, min;
	bool alone; /* one pod without PodGroup */
};

struct sim_contenders {
	struct sim_world *world;
	unsigned next; /* number of the next object */
};

struct sim_contenders *sim_contenders_create(struct sim_world *w)
{
	struct sim_contenders *s = xmalloc_zero(1, sizeof(*s));

	s->world = w;
	return s;
}

void sim_contenders_destroy(struct sim_contenders *s)
{
	free(s);
}

static unsigned below(struct sim_contenders *s, unsigned n)
{
	return (unsigned)sim_world_below(s->world, n);
}

static int post(struct sim_contenders *s, const char *url, const struct strbuf *body)
{
	return sim_world_call(s->world, HTTP_POST, url, JSON, str_of(body->p));
}

static void create_nodes(struct sim_contenders *s)
{
	for (unsigned i = 0; i < NODES_COUNT; i++) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

		strbuf_printf(&body,
			      "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":"
			      "\"full-%u\"},\"spec\":{},\"status\":{\"allocatable\":{\"cpu\":"
			      "\"4\",\"memory\":\"8Gi\",\"pods\":\"40\"},\"conditions\":[{"
			      "\"type\":\"Ready\",\"status\":\"True\"}]}}",
			      i);
		post(s, NODES, &body);
	}
}

/* ---- pods ---- */

/* Some classes are equal in priority, or in what they do not allow. */
static const char *any_class(struct sim_contenders *s, bool important)
{
	static const char *const low[] = { NULL, "low", "low" };
	static const char *const all[] = { "low", "high", "high", "high", "polite" };

	return important ? all[below(s, ARRAY_LEN(all))] : low[below(s, ARRAY_LEN(low))];
}

/* Half of the pods are in the queue without a limit, where nodes are short. */
static struct sim_manifest_pod any_pod(struct sim_contenders *s, bool important)
{
	static const char *const queues[] = { "open", "open",   "open",  "lone",
					      "flat", "team-x", "team-y" };
	static const char *const costs[] = { NULL, NULL, "-5", "7" };
	struct sim_manifest_pod p = {
		.milli_cpu = 500u << below(s, 3),
		.queue = queues[below(s, ARRAY_LEN(queues))],
		.class_ = any_class(s, important),
		.opted_in = below(s, 5) < 2,
		.deletion_cost = costs[below(s, ARRAY_LEN(costs))],
		.kept = below(s, 12) == 0,
	};

	snprintf(p.name, sizeof(p.name), "c%u", s->next++);
	return p;
}

static void create_pod(struct sim_contenders *s, const char *namespace_,
		       const struct sim_manifest_pod *p)
{
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf(PODS, namespace_);
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	sim_manifest_pod(p, &body);
	post(s, url, &body);
}

static void create_gang(struct sim_contenders *s, bool important)
{
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf(GROUPS, DEFAULT);
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct sim_manifest_pod p = any_pod(s, important);
	unsigned members = 1 + below(s, 3), min = members - (members > 1 && below(s, 3) == 0);

	snprintf(p.group, sizeof(p.group), "cg%u", s->next++);
	sim_manifest_group(p.group, p.queue, p.class_, min, &body);
	post(s, url, &body);
	for (unsigned i = 0; i < members; i++) {
		snprintf(p.name, sizeof(p.name), "%s-%u", p.group, i);
		create_pod(s, DEFAULT, &p);
	}
}

/* ---- mixed worlds ---- */

/* The members of a gang differ in size and priority. Volcano's annotation may make them equal in
 * rank, though not in what they may have evicted. */
static struct shape any_shape(struct sim_contenders *s, bool important)
{
	const struct sim_manifest_pod p = any_pod(s, important);
	unsigned members = 1 + below(s, MEMBERS_MAX);
	bool roles = members > 1 && below(s, 4) == 0, ranked = below(s, 3) == 0;
	struct shape g = {
		.namespace_ = below(s, 4) == 0 ? SIDE : DEFAULT,
		.class_ = p.class_,
		.members = members,
		.min = members - (members > 1 && below(s, 3) == 0),
		.alone = members == 1 && below(s, 2) == 0,
	};

	snprintf(g.name, sizeof(g.name), "%s%u", g.alone ? "c" : "cg", s->next++);
	for (unsigned i = 0; i < members; i++) {
		g.pods[i] = p;
		if (below(s, 2) == 0) {
			g.pods[i].milli_cpu = 500u << below(s, 3);
			g.pods[i].class_ = any_class(s, true);
		}
		g.pods[i].role = !roles ? NULL : i == 0 ? "first" : "other";
		if (ranked) {
			g.pods[i].task_priority = "50";
			g.pods[i].class_ = "low";
		}
	}
	g.class_ = ranked ? "high" : g.class_;
	return g;
}

/* One that the scheduler may take for equal: of the same name in another namespace, or with pods of
 * another class and the same rank. */
static struct shape twin_of(struct sim_contenders *s, struct shape g)
{
	if (below(s, 3) == 0) {
		g.namespace_ = str_streq(g.namespace_, SIDE) ? DEFAULT : SIDE;
	} else {
		snprintf(g.name, sizeof(g.name), "%s%u", g.alone ? "c" : "cg", s->next++);
	}
	for (unsigned i = 0; i < g.members && g.pods[0].task_priority != NULL; i++) {
		g.pods[i].class_ = "high";
	}
	return g;
}

static void create_group(struct sim_contenders *s, const struct shape *g)
{
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf(GROUPS, g->namespace_);
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	sim_manifest_group(g->name, g->pods[0].queue, g->class_, g->min, &body);
	if (g->pods[0].role != NULL) {
		strbuf_truncate(&body, body.len - strlen("}}"));
		strbuf_printf(&body, ",\"minTaskMember\":{\"first\":1,\"other\":%u}}}", g->min - 1);
	}
	post(s, url, &body);
}

static void create_shape(struct sim_contenders *s, const struct shape *g)
{
	if (!g->alone) {
		create_group(s, g);
	}
	for (unsigned i = 0; i < g->members; i++) {
		struct sim_manifest_pod p = g->pods[i];

		if (g->alone) {
			snprintf(p.name, sizeof(p.name), "%s", g->name);
		} else {
			snprintf(p.group, sizeof(p.group), "%s", g->name);
			snprintf(p.name, sizeof(p.name), "%s-%u", g->name, i);
		}
		create_pod(s, g->namespace_, &p);
	}
}

static void create_mixed(struct sim_contenders *s, bool important)
{
	struct shape g = any_shape(s, important);

	create_shape(s, &g);
	if (below(s, 3) == 0) {
		g = twin_of(s, g);
		create_shape(s, &g);
	}
}

/* ---- acts ---- */

static void create_any(struct sim_contenders *s, bool important)
{
	if (s->world->mixed) {
		create_mixed(s, important);
	} else if (below(s, 3) == 0) {
		create_gang(s, important);
	} else {
		struct sim_manifest_pod p = any_pod(s, important);

		create_pod(s, DEFAULT, &p);
	}
}

static void important(struct sim_contenders *s)
{
	create_any(s, true);
}

static void ordinary(struct sim_contenders *s)
{
	create_any(s, false);
}

static size_t members_of(const struct sim_contenders *s, const char *group)
{
	size_t n = 0;

	for (size_t i = 0; i < sim_view_count(s->world->view, SIM_PODS); i++) {
		CLEANUP(xmalloc_freep)
		char *of = sim_pod_group(sim_view_at(s->world->view, SIM_PODS, i));

		n += str_streq(of, group);
	}
	return n;
}

/* A gang equal to one that lost its pod, but for those that it lost it to: it may take from these.
 */
static void create_like(struct sim_contenders *s, const struct jdoc *group,
			const struct sim_manifest_pod *p)
{
	CLEANUP(jdoc_destroyp) struct jdoc *g = jdoc_copy(group);
	struct shape of = { .namespace_ = DEFAULT,
			    .class_ = jdoc_path_str(g, "spec.priorityClassName"),
			    .members = 1,
			    .min = 1,
			    .pods = { *p } };

	of.pods[0].queue = jdoc_path_str(g, "spec.queue");
	snprintf(of.name, sizeof(of.name), "cg%u", s->next++);
	create_shape(s, &of);
}

/* A controller replaces a pod that was evicted. */
static void replace(struct sim_contenders *s)
{
	size_t n = sim_view_count(s->world->view, SIM_PODGROUPS);
	size_t from = n == 0 ? 0 : below(s, (unsigned)n);

	for (size_t i = 0; i < n; i++) {
		const struct jdoc *g = sim_view_at(s->world->view, SIM_PODGROUPS, (from + i) % n);
		const char *name = jdoc_str_or(jdoc_path(g, "metadata.name"), "");
		const char *namespace_ = jdoc_path_str(g, "metadata.namespace");
		CLEANUP(xmalloc_freep) char *key = xmalloc_printf("%s/%s", namespace_, name);
		struct sim_manifest_pod p = any_pod(s, false);

		if (!str_has_prefix(str_of(name), "cg") ||
		    (int64_t)members_of(s, key) >= jdoc_int(jdoc_path(g, "spec.minMember"), 0)) {
			continue;
		}
		snprintf(p.group, sizeof(p.group), "%s", name);
		p.class_ = s->world->mixed ? any_class(s, true)
					   : jdoc_path_str(g, "spec.priorityClassName");
		if (jdoc_path(g, "spec.minTaskMember") != NULL) {
			p.role = below(s, 2) == 0 ? "first" : "other";
		}
		create_pod(s, namespace_, &p);
		if (s->world->mixed && jdoc_int(jdoc_path(g, "spec.minMember"), 0) == 1) {
			create_like(s, g, &p);
		}
		return;
	}
}

/* All members of the PodGroup, at most so many, have a node. */
static bool is_placed(const struct sim_contenders *s, const char *key, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < sim_view_count(s->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(s->world->view, SIM_PODS, i);
		CLEANUP(xmalloc_freep) char *of = sim_pod_group(pod);

		if (!str_streq(of, key)) {
			continue;
		}
		if (!sim_pod_is_placed(pod)) {
			return false;
		}
		n++;
	}
	return n > 0 && n <= most;
}

/* A gang of few pods is to have one more, and small important ones come: the pods that run may have
 * to go for them. In a gang with roles, the important one is of a role that has all that it needs.
 */
static void grow_one(struct sim_contenders *s, const struct jdoc *g)
{
	CLEANUP(jdoc_destroyp) struct jdoc *now = jdoc_copy(g);
	const char *name = jdoc_path_str(now, "metadata.name");
	const char *namespace_ = jdoc_path_str(now, "metadata.namespace");
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("%s/%s", namespace_, name);
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf(GROUPS "/%s", namespace_, name);
	bool roles = jdoc_path(now, "spec.minTaskMember") != NULL;
	size_t members = members_of(s, key);
	struct sim_manifest_pod p = any_pod(s, true);
	char body[100];

	snprintf(body, sizeof(body),
		 roles ? "{\"spec\":{\"minMember\":%zu,\"minTaskMember\":{\"other\":%zu}}}"
		       : "{\"spec\":{\"minMember\":%zu}}",
		 members + 1, members);
	sim_world_call(s->world, HTTP_PATCH, url, MERGE, str_of(body));
	snprintf(p.group, sizeof(p.group), "%s", name);
	p.milli_cpu = 500;
	for (unsigned i = 0; i < 2; i++) {
		p.class_ = i == 1 && roles ? any_class(s, false) : "high";
		p.role = !roles ? NULL : i == 0 ? "first" : "other";
		snprintf(p.name, sizeof(p.name), "%s-%u", name, s->next++);
		create_pod(s, namespace_, &p);
	}
}

static void grow(struct sim_contenders *s)
{
	size_t n = sim_view_count(s->world->view, SIM_PODGROUPS);
	size_t from = n == 0 ? 0 : below(s, (unsigned)n);
	unsigned most = 1 + below(s, 3);

	for (size_t i = 0; i < n && most > 0; i++) {
		const struct jdoc *g = sim_view_at(s->world->view, SIM_PODGROUPS, (from + i) % n);
		const char *name = jdoc_path_str(g, "metadata.name");
		CLEANUP(xmalloc_freep)
		char *key = xmalloc_printf("%s/%s", jdoc_path_str(g, "metadata.namespace"), name);

		if (str_has_prefix(str_of(name), "cg") && is_placed(s, key, 2)) {
			grow_one(s, g);
			most--;
		}
	}
}

static void delete_one(struct sim_contenders *s, bool placed)
{
	size_t n = sim_view_count(s->world->view, SIM_PODS);
	size_t from = n == 0 ? 0 : below(s, (unsigned)n);

	for (size_t i = 0; i < n; i++) {
		const struct jdoc *pod = sim_view_at(s->world->view, SIM_PODS, (from + i) % n);

		if (sim_pod_is_placed(pod) == placed &&
		    jdoc_path(pod, "metadata.deletionTimestamp") == NULL) {
			CLEANUP(xmalloc_freep)
			char *url =
				xmalloc_printf(PODS "/%s", jdoc_path_str(pod, "metadata.namespace"),
					       jdoc_path_str(pod, "metadata.name"));

			sim_world_call(s->world, HTTP_DELETE, url, NULL, str_of(NULL));
			return;
		}
	}
}

static void stop(struct sim_contenders *s)
{
	delete_one(s, true);
}

static void give_up(struct sim_contenders *s)
{
	delete_one(s, false);
}

void sim_contenders_begin(struct sim_contenders *s)
{
	create_nodes(s);
	for (unsigned i = 0; i < FIRST; i++) {
		ordinary(s);
	}
}

void sim_contenders_act(struct sim_contenders *s)
{
	static const struct {
		void (*act)(struct sim_contenders *s);
		unsigned weight;
		bool adds;
	} acts[] = {
		{ important, 8, true }, { ordinary, 6, true },
		{ replace, 4, true },   { stop, 3, false },
		{ give_up, 3, false },  { grow, 3, true }, /* in mixed worlds */
	};
	unsigned weights[ARRAY_LEN(acts)];
	size_t n = ARRAY_LEN(acts) - !s->world->mixed, at;

	for (size_t i = 0; i < n; i++) {
		weights[i] = acts[i].weight;
	}
	at = sim_world_weighted(s->world, weights, n);
	if (acts[at].adds && sim_view_count(s->world->view, SIM_PODS) >= MAX_PODS) {
		give_up(s);
		give_up(s);
	} else {
		acts[at].act(s);
	}
}

void sim_contenders_burst(struct sim_contenders *s)
{
	unsigned n = 2 + below(s, 3);

	create_nodes(s);
	for (unsigned i = 0; i < 3; i++) {
		give_up(s);
	}
	if (below(s, 3) == 0) {
		stop(s);
	}
	for (unsigned i = 0; i < n; i++) {
		create_any(s, below(s, 4) != 0);
	}
	if (s->world->mixed) {
		grow(s);
	}
}
