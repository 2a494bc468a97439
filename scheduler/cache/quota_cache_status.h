/* scheduler/cache/quota_cache_status.h: the status of a Workload as the API has it, as conditions
 * that decisions can change. Owner: the caller. */
#ifndef SCHEDULER_CACHE_QUOTA_CACHE_STATUS_H
#define SCHEDULER_CACHE_QUOTA_CACHE_STATUS_H

#include "quota/conditions.h"

struct api_workload;

/* Texts go to to->arena, which is set before. */
void quota_cache_status_read(struct quota *q, const struct api_workload *w, struct conditions *to);
/* What of struct workload follows from conditions, after a status was taken back. */
void quota_cache_status_flags(const struct conditions *from, struct workload *w);

#endif
