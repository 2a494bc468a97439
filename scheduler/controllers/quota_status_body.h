/* scheduler/controllers/quota_status_body.h: the statuses of ClusterQueues, LocalQueues and
 * Cohorts, as server-side apply takes them. Pure. */
#ifndef SCHEDULER_CONTROLLERS_QUOTA_STATUS_BODY_H
#define SCHEDULER_CONTROLLERS_QUOTA_STATUS_BODY_H

#include "quota/forest.h"

struct quota_totals;
struct strbuf;

struct quota_status_body {
	const struct forest *forest;
	const struct quota_totals *totals; /* as the world is now */
	int64_t generation;                /* of the object; 0: unknown */
	int64_t since;                     /* since when it is Active, or not (wall ns) */
};

/* Whether the condition Active is True. */
bool quota_status_body_is_active(const struct quota_node *queue);
bool quota_status_body_local_is_active(const struct quota *q, const struct quota_local *l);

/* Each appends a whole object. */
void quota_status_body_queue(const struct quota_status_body *b, const struct quota_node *n,
			     struct strbuf *out);
void quota_status_body_local(const struct quota_status_body *b, const struct quota_local *l,
			     struct strbuf *out);
/* Of a Cohort there is something to say only with fair sharing. */
void quota_status_body_cohort(const struct quota_status_body *b, const struct quota_node *n,
			      struct strbuf *out);

#endif
