#include "sim/users/sim_contenders.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/users/sim_manifest.h"
#include "sim/world/sim_pod.h"
#include "sim/world/sim_view.h"
#include "sim/world/sim_world.h"

#define PODS "/api/v1/namespaces/default/pods"
#define NODES "/api/v1/nodes"
#define GROUPS "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
#define JSON "application/json"
#define NODES_COUNT 3
#define FIRST 12    /* pods and gangs */
#define MAX_PODS 40 /* then some are given up */

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

static void create_pod(struct sim_contenders *s, const struct sim_manifest_pod *p)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	sim_manifest_pod(p, &body);
	post(s, PODS, &body);
}

static void create_gang(struct sim_contenders *s, bool important)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct sim_manifest_pod p = any_pod(s, important);
	unsigned members = 1 + below(s, 3), min = members - (members > 1 && below(s, 3) == 0);

	snprintf(p.group, sizeof(p.group), "cg%u", s->next++);
	sim_manifest_group(p.group, p.queue, p.class_, min, &body);
	post(s, GROUPS, &body);
	for (unsigned i = 0; i < members; i++) {
		snprintf(p.name, sizeof(p.name), "%s-%u", p.group, i);
		create_pod(s, &p);
	}
}

static void create_any(struct sim_contenders *s, bool important)
{
	if (below(s, 3) == 0) {
		create_gang(s, important);
	} else {
		struct sim_manifest_pod p = any_pod(s, important);

		create_pod(s, &p);
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

/* A controller replaces a pod that was evicted. */
static void replace(struct sim_contenders *s)
{
	size_t n = sim_view_count(s->world->view, SIM_PODGROUPS);
	size_t from = n == 0 ? 0 : below(s, (unsigned)n);

	for (size_t i = 0; i < n; i++) {
		const struct jdoc *g = sim_view_at(s->world->view, SIM_PODGROUPS, (from + i) % n);
		const char *name = jdoc_str_or(jdoc_path(g, "metadata.name"), "");
		CLEANUP(xmalloc_freep) char *key = xmalloc_printf("default/%s", name);
		struct sim_manifest_pod p = any_pod(s, false);

		if (!str_has_prefix(str_of(name), "cg") ||
		    (int64_t)members_of(s, key) >= jdoc_int(jdoc_path(g, "spec.minMember"), 0)) {
			continue;
		}
		snprintf(p.group, sizeof(p.group), "%s", name);
		p.class_ = jdoc_path_str(g, "spec.priorityClassName");
		create_pod(s, &p);
		return;
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
			char *url = xmalloc_printf(PODS "/%s", jdoc_path_str(pod, "metadata.name"));

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
		{ important, 8, true }, { ordinary, 6, true }, { replace, 4, true },
		{ stop, 3, false },     { give_up, 3, false },
	};
	unsigned weights[ARRAY_LEN(acts)];
	size_t at;

	for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
		weights[i] = acts[i].weight;
	}
	at = sim_world_weighted(s->world, weights, ARRAY_LEN(acts));
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
}
