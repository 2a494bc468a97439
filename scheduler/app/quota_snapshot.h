/* scheduler/app/quota_snapshot.h: the Workload engine's world as manifests: a v1 List of what it
 * knows of namespaces, flavors, checks, cohorts, queues and Workloads, with the statuses as they
 * should stand. Reading it again gives the same decisions, so that `headgatectl explain` and
 * `simulate` work on it. Requests are those that the engine counts with; classes, owners and pod
 * templates are not in it. Owner: the sched thread. */
#ifndef SCHEDULER_APP_QUOTA_SNAPSHOT_H
#define SCHEDULER_APP_QUOTA_SNAPSHOT_H

#include <stddef.h>

struct conditions;
struct json_out;
struct label;
struct match_expr;
struct quota;
struct quota_cache;
struct strbuf;
struct toleration;
struct workload;

/* The status of a Workload as it should stand. */
typedef const struct conditions *(*quota_snapshot_status_fn)(const void *ctx,
							     const struct workload *w);
/* Appends JSON. */
void quota_snapshot_write(const struct quota *q, quota_snapshot_status_fn status, const void *ctx,
			  struct strbuf *out);
/* The same of a cache and its statuses. */
void quota_snapshot_cache(const struct quota_cache *c, struct strbuf *out);

/* --- its parts ---------------------------------------------------------------------------------*/

/* One Workload. */
void quota_snapshot_workload(struct json_out *o, const struct quota *q, const struct workload *w,
			     const struct conditions *status);
/* Members of the object that is open. */
void quota_snapshot_labels(struct json_out *o, const char *key, const struct label *v, size_t n);
void quota_snapshot_tolerations(struct json_out *o, const struct toleration *v, size_t n);
/* An object with matchExpressions as the next value. */
void quota_snapshot_exprs(struct json_out *o, const struct match_expr *v, size_t n);

#endif
