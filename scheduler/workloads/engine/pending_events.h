/* scheduler/workloads/engine/pending_events.h: events about Workloads that are recorded when the
 * write of the status they belong to is done, and dropped when it fails. Owner: the sched thread.
 */
#ifndef SCHEDULER_WORKLOADS_ENGINE_PENDING_EVENTS_H
#define SCHEDULER_WORKLOADS_ENGINE_PENDING_EVENTS_H

#include <stdbool.h>

#include "base/str.h"
#include "scheduler/workloads/status/workload_status.h"

struct pending_events;
struct recorder;

struct pending_events *pending_events_create(struct recorder *recorder); /* borrowed */
void pending_events_destroy(struct pending_events *p);                   /* NULL is fine */
/* Events that belong to the next write of a Workload; copied. */
void pending_events_add(struct pending_events *p, const struct quota_model *q,
			const struct workload *written,
			const struct workload_status_events *events);
/* The write of the Workload ("namespace/name") is done, or (ok false) will not be. */
void pending_events_settle(struct pending_events *p, struct str written, bool ok);

/* Records that a status of w was refused; repetitions are counted in one event. */
void pending_events_refused(struct pending_events *p, const struct workload *w, const char *why);

#endif
