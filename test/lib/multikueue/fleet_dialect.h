/* test/lib/multikueue/fleet_dialect.h: the spelling of preemption gates on the worker clusters of a
 * fleet_world (api/kueue/preemption_gate.h), so that a scenario can be played in each. One thread.
 */
#ifndef TEST_LIB_MULTIKUEUE_FLEET_DIALECT_H
#define TEST_LIB_MULTIKUEUE_FLEET_DIALECT_H

#include <stdbool.h>

#include "api/kueue/preemption_gate.h"

struct fleet_world;

/* Of worlds that are made from now on. AUTO, as at first: definitions as the chart has them, which
 * serve the fields of all, and workers that ask as Kueue does. */
void fleet_dialect_set(enum preemption_gate_dialect d);
const char *fleet_dialect_name(enum preemption_gate_dialect d);
/* The definition of Workloads on a worker serves the dialect's field alone. */
void fleet_dialect_define(struct fleet_world *w, unsigned worker);
const char *fleet_dialect_field(void);  /* of an entry of status.preemptionGates: "position" */
const char *fleet_dialect_signal(void); /* the condition by which a worker asks */
/* A merge patch of a status, in which the manager's gate is open or closed. */
const char *fleet_dialect_gate(bool open);

#endif
