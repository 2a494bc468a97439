/* scheduler/ctl/manifest/manifest_check.h: reads manifests as the API server would: kinds,
 * versions, unknown fields, schemas and rules of our own kinds, metadata, and amounts of pods. An
 * object with a uid has been in a cluster, which accepted it: unknown fields of it are warnings,
 * since its API may be newer. One thread. */
#ifndef SCHEDULER_CTL_MANIFEST_MANIFEST_CHECK_H
#define SCHEDULER_CTL_MANIFEST_MANIFEST_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "scheduler/base/sched_kinds.h"

struct ignored_kinds;
struct jdoc;
struct manifest_check;

struct manifest_check_options {
	struct ignored_kinds *ignored; /* left out without a warning; NULL: none */
	/* One text each; a problem means that the API would refuse the object. */
	void (*problem)(void *ctx, const char *text);
	void (*warn)(void *ctx, const char *text);
	/* A Deployment, ReplicaSet or StatefulSet that has not been in a cluster, which is left
	 * out: whether it plays a part is decided by the caller. NULL: it plays none. */
	void (*controller)(void *ctx, const struct jdoc *object, const char *where);
	void *ctx;
};

struct manifest_check *manifest_check_create(const struct manifest_check_options *opt);
void manifest_check_destroyp(struct manifest_check **pm); /* for CLEANUP */
/* ctx: a struct manifest_check. Completes the object with the defaults of its schema, and reports
 * its problems. 0: it is of kind *ret_kind; 1: it is left out. */
int manifest_check_object(void *ctx, struct jdoc *object, const char *where,
			  enum sched_resource *ret_kind);
/* Checks an object that was given to controller, and gives it a name. False: there are problems. */
bool manifest_check_controller(struct manifest_check *m, struct jdoc *object, const char *where);
/* Counts an object as one that plays no part. */
void manifest_check_leave_out(struct manifest_check *m, const struct jdoc *object,
			      const char *where);
/* Warns once of each kind that was left out, with the number of objects. */
void manifest_check_warn_ignored(struct manifest_check *m);
/* The number of problems reported. */
size_t manifest_check_problems(const struct manifest_check *m);
/* Reports one that another check has found. */
void manifest_check_problem(struct manifest_check *m, const char *text);

#endif
