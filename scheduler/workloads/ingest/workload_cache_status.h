/* scheduler/workloads/ingest/workload_cache_status.h: the status of a Workload as the API has it,
 * as conditions that decisions can change. Owner: the caller. */
#ifndef SCHEDULER_WORKLOADS_INGEST_WORKLOAD_CACHE_STATUS_H
#define SCHEDULER_WORKLOADS_INGEST_WORKLOAD_CACHE_STATUS_H

#include "scheduler/workloads/status/conditions.h"

struct api_workload;

/* Texts go to to->arena, which is set before. */
void workload_cache_status_read(struct quota *q, const struct api_workload *w,
				struct conditions *to);
/* What of struct workload follows from conditions, after a status was taken back. */
void workload_cache_status_flags(const struct conditions *from, struct workload *w);

#endif
