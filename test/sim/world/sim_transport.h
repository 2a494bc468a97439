/* test/sim/world/sim_transport.h: a transport into the server of a world, in virtual time. Every
 * request takes three half steps that the run chooses when to do: it arrives, it is answered, and
 * in between everything else may happen; streams deliver frame by frame. Faults of the world strike
 * the requests of the scheduler only. A transport that is destroyed leaves its requests in flight
 * to the world as orphans. Owner: the run. */
#ifndef TEST_SIM_WORLD_SIM_TRANSPORT_H
#define TEST_SIM_WORLD_SIM_TRANSPORT_H

#include "kube/transport.h"
#include "sim/world/sim_world.h"

struct sim_transport;

/* Requests are sent in the name of the actor. */
struct sim_transport *sim_transport_create(struct sim_world *w, enum sim_actor actor);
/* Destroyed by transport_destroy. */
struct transport *sim_transport_base(struct sim_transport *t);
/* The steps that are possible now, and when time brings new ones. */
void sim_transport_offer(struct sim_transport *t, struct sim_choices *out);
/* Streams that are open and not held up. */
size_t sim_transport_streams(const struct sim_transport *t);
size_t sim_transport_under_way(const struct sim_transport *t); /* requests, streams not counted */
/* Key ("namespace/name") of a pod with a write in flight; false: there is none. */
bool sim_transport_target(const struct sim_transport *t, struct strbuf *ret_key);
/* A paused process: requests that were sent still arrive, nothing is delivered, no timer runs. */
void sim_transport_pause(struct sim_transport *t, bool paused);

#endif
