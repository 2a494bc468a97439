/* test/sim/world/sim_workload.h: fields of a Workload and its Job, read from their JSON. Pure. All
 * accept NULL. */
#ifndef TEST_SIM_WORLD_SIM_WORKLOAD_H
#define TEST_SIM_WORLD_SIM_WORKLOAD_H

#include <stdbool.h>

struct jdoc;
struct sim_change;
struct sim_world;

const char *sim_workload_uid(const struct jdoc *object); /* of any object; "" without one */
/* The key of any object: namespace/name. The caller frees it. */
char *sim_workload_key(const struct jdoc *object);
bool sim_workload_are_neighbours(const struct jdoc *a, const struct jdoc *b); /* one namespace */
bool sim_workload_is_deleting(const struct jdoc *object);
/* A condition of any object is True. */
bool sim_workload_is(const struct jdoc *object, const char *type);
/* Of a condition, whatever its status; "" without it. */
const char *sim_workload_status(const struct jdoc *object, const char *type);
const char *sim_workload_reason(const struct jdoc *object, const char *type);
const char *sim_workload_message(const struct jdoc *object, const char *type);
bool sim_workload_is_active(const struct jdoc *w); /* spec.active */
/* Quota is charged for it: deactivated and finished ones are charged nothing, as in Kueue. */
bool sim_workload_holds(const struct jdoc *w);
const char *sim_workload_queue(const struct jdoc *w); /* of its admission; NULL */
/* UID of the object that controls this one; "" without one. */
const char *sim_workload_owner(const struct jdoc *object);
/* Its owners are pods: there is no Job. */
bool sim_workload_is_of_pods(const struct jdoc *w);
bool sim_workload_has_finalizer(const struct jdoc *object, const char *name);
const struct jdoc *sim_workload_job(const struct sim_world *world, const struct jdoc *w);
/* The Workload that stands for a Job, if there is one: the one that holds quota first. */
const struct jdoc *sim_workload_of(const struct sim_world *world, const struct jdoc *job);
/* The name of the ClusterQueue behind its LocalQueue; NULL: there is none. */
const char *sim_workload_where(const struct sim_world *world, const struct jdoc *w);

bool sim_workload_job_is_suspended(const struct jdoc *job);
bool sim_workload_job_is_finished(const struct jdoc *job);
/* A part of an object, as a comment of TAP; a line of the trace is too short for it. */
void sim_workload_print(const char *what, const struct jdoc *part);
/* One line about the change, unless no traced field changed. */
void sim_workload_trace(struct sim_world *w, const struct sim_change *change);

#endif
