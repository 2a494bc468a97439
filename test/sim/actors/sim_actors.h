/* test/sim/actors/sim_actors.h: actors of a run besides the ordinary users: hostile tenants,
 * administrators who edit queues, lost nodes, outages, clocks that jump. A run has some of these
 * actors, by its seed, and draws their choices from a generator of its own: a plain run has none
 * and stays as it was before there were any. Each act is counted; over all seeds none may be left
 * out. Owner: the run. */
#ifndef TEST_SIM_ACTORS_SIM_ACTORS_H
#define TEST_SIM_ACTORS_SIM_ACTORS_H

#include "base/strbuf.h"
#include "sim/world/sim_view.h"

#define SIM_ACTORS_ACTS_MAX 64
#define SIM_ACTORS_MESSAGE "edited" /* of conditions and checks that an actor has set */

struct sim_actors;
struct sim_scheduler;

struct sim_actors_act {
	const char *name; /* for statistics */
	/* False: there was nothing to do it to. */
	bool (*run)(struct sim_actors *a);
	unsigned weight;
};

struct sim_actors_actor {
	const struct sim_actors_act *acts;
	size_t n;
	unsigned per_mille;                /* of the half steps of a run that has it */
	bool pods, quota;                  /* in which simulation */
	void (*end)(struct sim_actors *a); /* undoes what keeps things from settling; may be NULL */
};

struct sim_actors {
	struct sim_world *world;
	struct rng rng;
	uint64_t present;   /* bits of the actors of this run */
	unsigned next;      /* number of the next object */
	struct strbuf read; /* an object that may be written back */
	uint64_t done[SIM_ACTORS_ACTS_MAX];
};

/* plain: none is present. */
struct sim_actors *sim_actors_create(struct sim_world *w, bool plain);
void sim_actors_destroy(struct sim_actors *a);
/* Perhaps one act. True: something was done. */
bool sim_actors_act(struct sim_actors *a);
/* Faults and users have stopped. */
void sim_actors_end(struct sim_actors *a);

/* The acts of all actors of the simulation: their names and, added up, how often. */
size_t sim_actors_count(bool quota);
const char *sim_actors_name(bool quota, size_t i);
void sim_actors_add(const struct sim_actors *a, uint64_t done[SIM_ACTORS_ACTS_MAX]);

/* For actors. */
unsigned sim_actors_below(struct sim_actors *a, unsigned n);
const struct jdoc *sim_actors_any(struct sim_actors *a, enum sim_resource r); /* NULL: none */
int sim_actors_send(struct sim_actors *a, enum http_method method, const char *url,
		    const char *type, const char *body);
/* PATCH of a merge, of the object url/name. True: it was carried out. */
bool sim_actors_patch(struct sim_actors *a, const char *url, const char *name, const char *body);
bool sim_actors_delete(struct sim_actors *a, const char *url, const char *name);

#endif
