/* scheduler/multikueue/records/fleet_offers.h: to which worker clusters a Workload can be sent: its
 * AdmissionCheck of MultiKueue, and the MultiKueueConfig that this names. Objects are kept as they
 * were read. Owner: the fleet thread. */
#ifndef SCHEDULER_MULTIKUEUE_RECORDS_FLEET_OFFERS_H
#define SCHEDULER_MULTIKUEUE_RECORDS_FLEET_OFFERS_H

#include <stdbool.h>

#include "base/str.h"

#define FLEET_OFFERS_CONTROLLER "kueue.x-k8s.io/multikueue" /* AdmissionCheck, controllerName */

struct api_admission_check;
struct api_check_state;
struct api_workload;
struct field_strs;
struct fleet_offers;
struct sched_msg;

struct fleet_offers *fleet_offers_create(void);
void fleet_offers_destroy(struct fleet_offers *o); /* NULL is fine */
/* UPSERT and DELETE of AdmissionChecks and MultiKueueConfigs. True: offers have changed. */
bool fleet_offers_handle(struct fleet_offers *o, struct sched_msg *m);
/* The state of the Workload's check of MultiKueue; NULL: it has none. As in Kueue, the first one
 * counts. */
const struct api_check_state *fleet_offers_check(const struct fleet_offers *o,
						 const struct api_workload *w);
/* Each check of MultiKueue. */
void fleet_offers_each(const struct fleet_offers *o,
		       void (*fn)(void *ctx, const struct api_admission_check *check), void *ctx);
/* The clusters of the MultiKueueConfig of this name; NULL: there is none. Lives as the next. */
const struct field_strs *fleet_offers_config(const struct fleet_offers *o, const char *name);
/* The clusters that the check's MultiKueueConfig names, in order; NULL: the config is missing.
 * Lives until the next message. */
const struct field_strs *fleet_offers_clusters(const struct fleet_offers *o, const char *check);

#endif
