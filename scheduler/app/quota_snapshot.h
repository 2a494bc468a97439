/* scheduler/app/quota_snapshot.h: the Workload engine's world as manifests: a v1 List of what it
 * knows of namespaces, flavors, checks, cohorts, queues and Workloads, with the statuses as they
 * should stand. Reading it again gives the same decisions, so that `headgatectl explain` and
 * `simulate` work on it. Requests are those that the engine counts with; classes and pod
 * templates are not in it, nor owners of other kinds than Jobs and pods. Owner: the sched thread.
 */
#ifndef SCHEDULER_APP_QUOTA_SNAPSHOT_H
#define SCHEDULER_APP_QUOTA_SNAPSHOT_H

#include <stddef.h>

struct api_meta;
struct conditions;
struct json_out;
struct label;
struct match_expr;
struct owners;
struct quota;
struct quota_cache;
struct strbuf;
struct toleration;
struct workload;

/* What the world does not know of its Workloads. */
struct quota_snapshot_source {
	/* The status as it should stand. */
	const struct conditions *(*status)(const void *ctx, const struct workload *w);
	/* For the owners; may be NULL, and may return it. */
	const struct api_meta *(*meta)(const void *ctx, const struct workload *w);
	const void *ctx;
};
/* Appends JSON. */
void quota_snapshot_write(const struct quota *q, const struct quota_snapshot_source *source,
			  struct strbuf *out);
/* The same of a cache, its statuses, and the owners that are looked after. */
void quota_snapshot_cache(const struct quota_cache *c, const struct owners *owners,
			  struct strbuf *out);

/* --- its parts ---------------------------------------------------------------------------------*/

/* One Workload. */
void quota_snapshot_workload(struct json_out *o, const struct quota *q, const struct workload *w,
			     const struct quota_snapshot_source *source);
/* Members of the object that is open. */
void quota_snapshot_labels(struct json_out *o, const char *key, const struct label *v, size_t n);
void quota_snapshot_tolerations(struct json_out *o, const struct toleration *v, size_t n);
/* An object with matchExpressions as the next value. */
void quota_snapshot_exprs(struct json_out *o, const struct match_expr *v, size_t n);

#endif
