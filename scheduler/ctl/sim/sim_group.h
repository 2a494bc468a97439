/* scheduler/ctl/sim/sim_group.h: the PodGroup of a pod that names none, as the PodGroup controller
 * creates it: "podgroup-<UID of the controlling owner, else of the pod>". Manifests may have no
 * UIDs: then names replace them. Pure. */
#ifndef SCHEDULER_CTL_SIM_SIM_GROUP_H
#define SCHEDULER_CTL_SIM_SIM_GROUP_H

struct api_pod;
struct cluster;
struct jdoc;
struct task;

/* A new root, complete. t: the task made of pod. */
struct jdoc *sim_group_make(const struct cluster *c, const struct task *t,
			    const struct api_pod *pod);

#endif
