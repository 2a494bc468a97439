/* test/sim/world/sim_pod.h: the fields of a pod, read from its JSON. Pure. All accept NULL. */
#ifndef TEST_SIM_WORLD_SIM_POD_H
#define TEST_SIM_WORLD_SIM_POD_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_POD_THEIRS "default-scheduler"

struct jdoc;
struct sim_change;
struct sim_world;

const char *sim_pod_uid(const struct jdoc *pod);
bool sim_pod_is_ours(const struct jdoc *pod); /* names our scheduler */
/* It opted in, and another scheduler places it. */
bool sim_pod_is_theirs(const struct jdoc *pod);
bool sim_pod_has_controller(const struct jdoc *pod);
bool sim_pod_has_gate(const struct jdoc *pod, const char *gate);
bool sim_pod_has_our_gate(const struct jdoc *pod);
bool sim_pod_has_foreign_gate(const struct jdoc *pod);
/* By its annotation; sticky (gate.sticky): also by our gate or the annotation of a reservation. */
bool sim_pod_is_opted_in(const struct jdoc *pod, bool sticky);
bool sim_pod_is_placed(const struct jdoc *pod);   /* has a node */
bool sim_pod_is_finished(const struct jdoc *pod); /* Succeeded or Failed */
/* PodScheduled=False/Unschedulable, and nothing that makes autoscalers ignore it. */
bool sim_pod_is_published(const struct jdoc *pod);
bool sim_pod_has_requests(const struct jdoc *pod); /* else it is best effort */
int64_t sim_pod_milli_cpu(const struct jdoc *pod); /* requested */
/* Volcano's reason Schedulable: it would fit a node, but others of its gang would not. */
bool sim_pod_is_short_of_gang(const struct jdoc *pod);
/* Selects nodes that never exist. */
bool sim_pod_is_impossible(const struct jdoc *pod);
/* "namespace/name" of its PodGroup, or NULL; the caller frees it. */
char *sim_pod_group(const struct jdoc *pod);
const char *sim_pod_role(const struct jdoc *pod); /* in its gang; "" without one */
/* One line about the change, unless no traced field changed. */
void sim_pod_trace(struct sim_world *w, const struct sim_change *change);

#endif
