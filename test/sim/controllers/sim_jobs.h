/* test/sim/controllers/sim_jobs.h: the Job controller of a cluster: pods of Jobs that are not
 * suspended, their numbers in the Job's status, and its end. Kubelets run the pods; pods that do
 * not name our scheduler have a node from the start. Owner: the run. */
#ifndef TEST_SIM_CONTROLLERS_SIM_JOBS_H
#define TEST_SIM_CONTROLLERS_SIM_JOBS_H

#include "sim/world/sim_world.h"

struct jdoc;

#define SIM_JOBS_FAILS "sim.example.com/fails" /* annotation: the first pod that runs fails */

struct sim_jobs;

/* Listens to the view of the world. */
struct sim_jobs *sim_jobs_create(struct sim_world *w);
void sim_jobs_destroy(struct sim_jobs *j);
void sim_jobs_offer(struct sim_jobs *j, struct sim_choices *out);
/* Pods of the Job that run or may run: neither finished nor being deleted. */
unsigned sim_jobs_live(const struct sim_world *w, const struct jdoc *job);

#endif
