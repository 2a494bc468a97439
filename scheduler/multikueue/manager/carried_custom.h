/* scheduler/multikueue/manager/carried_custom.h: jobs of kinds that only the configuration names
 * (Kueue: external frameworks). Nothing is known of their spec and status, so that they are copied
 * whole, and how such a job has ended only its Workload says. Pure. */
#ifndef SCHEDULER_MULTIKUEUE_MANAGER_CARRIED_CUSTOM_H
#define SCHEDULER_MULTIKUEUE_MANAGER_CARRIED_CUSTOM_H

#include <stddef.h>

#include "scheduler/multikueue/manager/carried.h"

struct custom_kind;

/* The remote object has all members of the local one but status, and of its metadata name,
 * namespace, labels and annotations. It has no spec.managedBy. A boolean spec.suspend is true,
 * since the worker has not admitted it yet (Kueue copies it as it is).
 * The status there becomes the status here whenever the two differ; one that does not exist, or is
 * no object, or is of an object that is too large, changes nothing. */
extern const struct carried_kind carried_custom_kind;

/* The row of this kind, which is borrowed. */
struct carried_kind carried_custom_row(const struct custom_kind *k);

#endif
