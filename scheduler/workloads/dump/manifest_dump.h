/* scheduler/workloads/dump/manifest_dump.h: the Workload engine's model as manifests: a v1 List of
 * what it knows of namespaces, flavors, checks, cohorts, queues and Workloads, with the statuses as
 * they should stand. Reading it again gives the same decisions, so that `headgatectl explain` and
 * `simulate --as-is` work on it. Requests are those that the engine counts with; classes and pod
 * templates are not in it, nor owners of other kinds than Jobs and pods. Owner: the sched thread.
 */
#ifndef SCHEDULER_WORKLOADS_DUMP_MANIFEST_DUMP_H
#define SCHEDULER_WORKLOADS_DUMP_MANIFEST_DUMP_H

#include <stddef.h>

#include "enc/field.h"

struct api_meta;
struct api_toleration;
struct api_workload;
struct arena;
struct workload_status;
struct label;
struct owner_controller;
struct quota_model;
struct workload_cache;
struct strbuf;
struct toleration;
struct workload;

/* Parts of Workloads that the model does not keep. */
struct manifest_dump_source {
	/* The status as it should stand. */
	const struct workload_status *(*status)(const void *ctx, const struct workload *w);
	/* For the owners; may be NULL, and may return it. */
	const struct api_meta *(*meta)(const void *ctx, const struct workload *w);
	const void *ctx;
};
/* Appends JSON. */
void manifest_dump_write(const struct quota_model *q, const struct manifest_dump_source *source,
			 struct strbuf *out);
/* The same of a cache, its statuses, and the owners that are looked after. */
void manifest_dump_cache(const struct workload_cache *c, const struct owner_controller *owners,
			 struct strbuf *out);

/* --- its parts: objects of the API; lists live in the arena, texts are borrowed
 * ------------------*/

/* One Workload. */
void manifest_dump_workload(const struct quota_model *q, const struct workload *w,
			    const struct manifest_dump_source *source, struct arena *arena,
			    struct api_workload *ret);
struct field_map manifest_dump_labels(const struct label *v, size_t n, struct arena *arena);
struct api_toleration *manifest_dump_tolerations(const struct toleration *v, size_t n,
						 struct arena *arena);

#endif
