/* test/lib/multikueue/fleet_setup.h: the objects that a fleet_world has from its beginning. One
 * thread. */
#ifndef TEST_LIB_MULTIKUEUE_FLEET_SETUP_H
#define TEST_LIB_MULTIKUEUE_FLEET_SETUP_H

#define FLEET_SETUP_SYSTEM "kueue-system" /* the namespace of Secrets */

struct fleet_world;

/* On the manager's cluster: the AdmissionCheck; the MultiKueueConfig that it names, with so many
 * workers. */
void fleet_setup_check(struct fleet_world *w);
void fleet_setup_config(struct fleet_world *w, unsigned workers);
/* A worker: its MultiKueueCluster there, and its own queues. */
void fleet_setup_cluster(struct fleet_world *w, unsigned i);
/* From now on the definition of Workloads there has these properties of an entry of
 * status.preemptionGates (JSON), besides its name. */
void fleet_setup_gate_entry(struct fleet_world *w, int server, const char *properties);

#endif
