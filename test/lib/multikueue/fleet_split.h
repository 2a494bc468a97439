/* test/lib/multikueue/fleet_split.h: Kueue with the feature gate ConcurrentAdmission on a
 * worker of a fleet_world, as it changes a replica. One thread. */
#ifndef TEST_LIB_MULTIKUEUE_FLEET_SPLIT_H
#define TEST_LIB_MULTIKUEUE_FLEET_SPLIT_H

struct fleet_world;

#define FLEET_SPLIT_GATE "kueue.x-k8s.io/concurrent-admission"

/* The replica gets the label of a parent. */
void fleet_split_label(struct fleet_world *w, unsigned worker, const char *name);
/* Its variant "NAME-FLAVOR" is made. */
void fleet_split_add(struct fleet_world *w, unsigned worker, const char *name, const char *flavor);
/* Kueue opens its own gate of the variant. */
void fleet_split_open(struct fleet_world *w, unsigned worker, const char *variant);

#endif
