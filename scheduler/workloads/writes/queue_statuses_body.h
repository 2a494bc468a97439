/* scheduler/workloads/writes/queue_statuses_body.h: the statuses of ClusterQueues, LocalQueues and
 * Cohorts, as server-side apply takes them. Pure. */
#ifndef SCHEDULER_WORKLOADS_WRITES_QUEUE_STATUSES_BODY_H
#define SCHEDULER_WORKLOADS_WRITES_QUEUE_STATUSES_BODY_H

#include "scheduler/workloads/forest/forest.h"

struct api_local_fair_sharing_status;
struct arena;
struct workload_counts;
struct strbuf;

struct queue_statuses_body {
	const struct forest *forest;
	const struct workload_counts *totals; /* as the model is now */
	int64_t generation;                   /* of the object; 0: unknown */
	int64_t since;                        /* since when it is Active, or not (wall ns) */
};

/* Whether the condition Active is True. */
bool queue_statuses_body_is_active(const struct quota_node *queue);
bool queue_statuses_body_local_is_active(const struct quota_model *q, const struct local_queue *l);

/* The recent usage of a LocalQueue by resource, in the arena; NULL: there is none, or admission
 * fair sharing is off. */
struct api_local_fair_sharing_status *queue_statuses_body_consumed(const struct quota_model *q,
								   const struct local_queue *l,
								   struct arena *arena);

/* Each appends a whole object. */
void queue_statuses_body_queue(const struct queue_statuses_body *b, const struct quota_node *n,
			       struct strbuf *out);
void queue_statuses_body_local(const struct queue_statuses_body *b, const struct local_queue *l,
			       struct strbuf *out);
/* Of a Cohort there is something to say only with fair sharing. */
void queue_statuses_body_cohort(const struct queue_statuses_body *b, const struct quota_node *n,
				struct strbuf *out);

#endif
