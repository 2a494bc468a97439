/* test/sim/users/sim_contenders.h: users of a contended world (sim_world.contended): a few nodes,
 * full of pods that run for long, and pods and gangs of all priorities that want their room or the
 * quota of their queues. Owner: the run. */
#ifndef TEST_SIM_USERS_SIM_CONTENDERS_H
#define TEST_SIM_USERS_SIM_CONTENDERS_H

struct sim_contenders;
struct sim_world;

struct sim_contenders *sim_contenders_create(struct sim_world *w);
void sim_contenders_destroy(struct sim_contenders *s); /* NULL is fine */
/* After the Queues and priority classes: nodes, and pods that fill them. */
void sim_contenders_begin(struct sim_contenders *s);
void sim_contenders_act(struct sim_contenders *s);
/* When everything is at rest: nodes that were lost are back, and a few more pods come. */
void sim_contenders_burst(struct sim_contenders *s);

#endif
