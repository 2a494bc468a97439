/* scheduler/ctl/sim/simulated_api.h: the Workloads of a simulation as an API server would have
 * them: manifests, with the statuses that were written since, and resourceVersions that grow with
 * each write. One thread. */
#ifndef SCHEDULER_CTL_SIM_SIMULATED_API_H
#define SCHEDULER_CTL_SIM_SIMULATED_API_H

#include <stdint.h>

#include "base/str.h"

struct jdoc;
struct simulated_api;

struct simulated_api *simulated_api_create(void);
void simulated_api_destroy(struct simulated_api *a); /* NULL is fine */
/* The object ("namespace/name") is created or updated by its user, or by a controller that owns
 * part of its status: of the status only the members and conditions that it names change. Returns
 * its new resourceVersion. */
int64_t simulated_api_put(struct simulated_api *a, struct str key, const struct jdoc *object);
/* The scheduler's server-side apply of the status: what it applied before and applies no more goes
 * away, and what others own stays. */
int64_t simulated_api_write(struct simulated_api *a, struct str key, const struct jdoc *applied);
void simulated_api_remove(struct simulated_api *a, struct str key);
/* As it stands; NULL: there is none. Lives until the object changes. */
const struct jdoc *simulated_api_get(const struct simulated_api *a, struct str key);

#endif
