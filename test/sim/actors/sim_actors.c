#include "sim/actors/sim_actors.h"

#include <assert.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "sim/actors/actor_lists.h"
#include "sim/world/sim_webhook.h"

static const struct sim_actors_actor *const actors[] = {
	&actor_tenant,  &actor_queues,       &actor_cluster_queues, &actor_lease,
	&actor_nodes,   &actor_batch_tenant, &actor_operator,       &actor_gangs,
	&actor_status,  &actor_scheduler,    &actor_budgets,        &actor_kube_groups,
	&actor_volumes, &actor_neighbours,
};

#define NEIGHBOURS_EVERY 3 /* seeds */

/* Calls fn for each act of the simulation. The index counts all acts, also of the other one. */
#define FOR_EACH_ACT(actor, act, quota)                                                            \
	for (size_t actor = 0; actor < ARRAY_LEN(actors); actor++)                                 \
		for (size_t act = 0; is_of(actors[actor], quota) && act < actors[actor]->n; act++)

static bool is_of(const struct sim_actors_actor *actor, bool quota)
{
	return quota ? actor->quota : actor->pods;
}

struct sim_actors *sim_actors_create(struct sim_world *w, bool plain)
{
	struct sim_actors *a = xmalloc_zero(1, sizeof(*a));

	a->world = w;
	rng_init(&a->rng, w->seed ^ UINT64_C(0xb4eadf6c5a1d2e37));
	/* The last ones have their own seeds: the others draw what they drew before. */
	a->present |= (uint64_t)w->budgets << (ARRAY_LEN(actors) - 4);
	a->present |= (uint64_t)w->kube_groups << (ARRAY_LEN(actors) - 3);
	a->present |= (uint64_t)w->volumes << (ARRAY_LEN(actors) - 2);
	if (!plain && !w->quota && w->seed % NEIGHBOURS_EVERY == 1) {
		a->present |= UINT64_C(1) << (ARRAY_LEN(actors) - 1);
	}
	for (size_t i = 0; i + 4 < ARRAY_LEN(actors) && !plain; i++) {
		bool chosen = sim_actors_below(a, 2) == 0;

		if (chosen && is_of(actors[i], w->quota)) {
			a->present |= UINT64_C(1) << i;
		}
	}
	return a;
}

void sim_actors_destroy(struct sim_actors *a)
{
	strbuf_finish(&a->read);
	free(a);
}

/* The index of the first act of an actor. */
static size_t first_of(bool quota, size_t which)
{
	size_t n = 0;

	FOR_EACH_ACT(actor, act, quota)
	{
		n += actor < which;
	}
	return n;
}

size_t sim_actors_count(bool quota)
{
	return first_of(quota, ARRAY_LEN(actors));
}

const char *sim_actors_name(bool quota, size_t i)
{
	FOR_EACH_ACT(actor, act, quota)
	{
		if (i-- == 0) {
			return actors[actor]->acts[act].name;
		}
	}
	return "";
}

void sim_actors_add(const struct sim_actors *a, uint64_t done[SIM_ACTORS_ACTS_MAX])
{
	for (size_t i = 0; i < SIM_ACTORS_ACTS_MAX; i++) {
		done[i] += a->done[i];
	}
}

static const struct sim_actors_act *choose(struct sim_actors *a, const struct sim_actors_actor *of)
{
	unsigned sum = 0, at;
	size_t i = 0;

	for (size_t k = 0; k < of->n; k++) {
		sum += of->acts[k].weight;
	}
	at = sim_actors_below(a, sum);
	while (at >= of->acts[i].weight) {
		at -= of->acts[i++].weight;
	}
	return &of->acts[i];
}

/* The index of the actor that acts now; ARRAY_LEN(actors): none. */
static size_t next(struct sim_actors *a)
{
	unsigned at = sim_actors_below(a, 1000);
	size_t i;

	for (i = 0; i < ARRAY_LEN(actors); i++) {
		unsigned per_mille = (a->present >> i & 1) != 0 ? actors[i]->per_mille : 0;

		if (at < per_mille) {
			break;
		}
		at -= per_mille;
	}
	return i;
}

bool sim_actors_act(struct sim_actors *a)
{
	size_t at = a->present == 0 ? ARRAY_LEN(actors) : next(a);
	const struct sim_actors_act *act;

	if (at == ARRAY_LEN(actors)) {
		return false;
	}
	act = choose(a, actors[at]);
	sim_world_trace(a->world, "actor: %s", act->name);
	if (act->run(a)) {
		size_t i = first_of(a->world->quota, at) + (size_t)(act - actors[at]->acts);

		assert(i < SIM_ACTORS_ACTS_MAX);
		a->done[i]++;
	}
	return true;
}

void sim_actors_end(struct sim_actors *a)
{
	sim_webhook_stop(a->world->webhook, 0);
	for (size_t i = 0; i < ARRAY_LEN(actors); i++) {
		if ((a->present >> i & 1) != 0 && actors[i]->end != NULL) {
			actors[i]->end(a);
		}
	}
}

/* --- for actors --------------------------------------------------------------------------------*/

unsigned sim_actors_below(struct sim_actors *a, unsigned n)
{
	return (unsigned)rng_below(&a->rng, n);
}

const struct jdoc *sim_actors_any(struct sim_actors *a, enum sim_resource r)
{
	size_t n = sim_view_count(a->world->view, r);

	return n == 0 ? NULL : sim_view_at(a->world->view, r, sim_actors_below(a, (unsigned)n));
}

int sim_actors_send(struct sim_actors *a, enum http_method method, const char *url,
		    const char *type, const char *body)
{
	return sim_world_call(a->world, method, url, type, str_of(body));
}

bool sim_actors_patch(struct sim_actors *a, const char *url, const char *name, const char *body)
{
	CLEANUP(xmalloc_freep) char *at = xmalloc_printf("%s/%s", url, name);

	return sim_actors_send(a, HTTP_PATCH, at, "application/merge-patch+json", body) < 300;
}

bool sim_actors_delete(struct sim_actors *a, const char *url, const char *name)
{
	CLEANUP(xmalloc_freep) char *at = xmalloc_printf("%s/%s", url, name);

	return sim_actors_send(a, HTTP_DELETE, at, NULL, NULL) < 300;
}
