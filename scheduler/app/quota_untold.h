/* scheduler/app/quota_untold.h: events about Workloads that are told when the write of the status
 * they belong to is done, and never when it fails. Owner: the sched thread. */
#ifndef SCHEDULER_APP_QUOTA_UNTOLD_H
#define SCHEDULER_APP_QUOTA_UNTOLD_H

#include <stdbool.h>

#include "base/str.h"
#include "quota/conditions.h"

struct quota_untold;
struct recorder;

struct quota_untold *quota_untold_create(struct recorder *recorder); /* borrowed */
void quota_untold_destroy(struct quota_untold *u);                   /* NULL is fine */
/* Events that belong to the next write of a Workload; copied. */
void quota_untold_add(struct quota_untold *u, const struct quota *q, const struct workload *written,
		      const struct conditions_events *events);
/* The write of the Workload ("namespace/name") is done, or (ok false) will not be. */
void quota_untold_settle(struct quota_untold *u, struct str written, bool ok);

/* A status of w was refused: an event of its own, which is counted when it is told again. */
void quota_untold_refused(struct quota_untold *u, const struct workload *w, const char *why);

#endif
