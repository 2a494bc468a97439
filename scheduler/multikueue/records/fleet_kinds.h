/* scheduler/multikueue/records/fleet_kinds.h: the kinds of objects that the fleet reads of the
 * manager's API server. Any thread. */
#ifndef SCHEDULER_MULTIKUEUE_RECORDS_FLEET_KINDS_H
#define SCHEDULER_MULTIKUEUE_RECORDS_FLEET_KINDS_H

#include <stdbool.h>

#include "api/kueue/kueue_keys.h"
#include "scheduler/base/sched_kinds.h"

struct reflector_event;
struct sched_msg;

#define FLEET_KINDS_PODS KUEUE_MANAGED "=true" /* label selector */
#define FLEET_KINDS_IDENTITY "kube-system"     /* Namespace; managers differ in its UID */

/* The kinds that are watched; ends with SCHED_RESOURCE_COUNT_. Of Namespaces FLEET_KINDS_IDENTITY
 * alone, of Secrets those of one namespace, of pods those that queue (FLEET_KINDS_PODS). manages:
 * with the manager of MultiKueue; pods: it carries these, too. */
const enum sched_resource *fleet_kinds_watched(bool manages, bool pods);
/* All of these are among the kinds, bits of enum sched_resource. */
bool fleet_kinds_has_all(bool manages, bool pods, unsigned kinds);
/* The message is about an object; or about a kind of the configuration (custom_watch.h). */
bool fleet_kinds_is_object(const struct sched_msg *m);
bool fleet_kinds_is_state(const struct sched_msg *m);
/* The message for an event of such a kind, as fleet_handle needs it; NULL: none. */
struct sched_msg *fleet_kinds_message(bool manages, enum sched_resource r,
				      const struct reflector_event *event);

#endif
